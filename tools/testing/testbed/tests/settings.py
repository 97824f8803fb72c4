#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The flag: what it does, and what it survives."""

import os
import unittest

import guest
from frames import THROTTLE_US, Wire, xdp_pass

DUT = guest.DUT


class FlagTest(unittest.TestCase):
    """The flag stays on, sorting goes on, and counters only count up."""

    def setUp(self):
        guest.ns("rcv", f"ethtool -K {DUT} gro off")
        guest.coalesce(THROTTLE_US)

    def tearDown(self):
        guest.switch(False)
        guest.ns("rcv", f"ethtool -K {DUT} gro on")

    def flag(self):
        return "srpic    : on" in " ".join(
            line.replace("\t", " ") for line in guest.ns(
                "rcv", f"ethtool --show-priv-flags {DUT}").splitlines())

    def sorts(self):
        wire = Wire(guest.RTR_DEV, DUT)
        frames = [wire.frame(seq, 100) for seq in (300, 100, 200, 0)]
        got = wire.burst(frames)
        wire.close()
        self.assertEqual(sorted(got), sorted(frames))
        return got == [frames[i] for i in (3, 1, 2, 0)]

    def test_off_by_default_and_without_reset(self):
        self.assertFalse(self.flag())
        resets = guest.ns("rcv", f"cat /sys/class/net/{DUT}/carrier_changes")
        guest.switch(True)
        self.assertTrue(self.flag())
        self.assertTrue(self.sorts())
        guest.switch(False)
        self.assertFalse(self.flag())
        self.assertFalse(self.sorts())
        self.assertEqual(resets, guest.ns(
            "rcv", f"cat /sys/class/net/{DUT}/carrier_changes"))

    def attach_xdp(self):
        self.xdp = xdp_pass("rcv", DUT)

    def detach_xdp(self):
        os.close(self.xdp)

    def test_survives(self):
        guest.switch(True)
        self.assertTrue(self.sorts())
        before = guest.ethtool_stats("rcv", DUT)
        for command in (
                f"ip link set {DUT} down", f"ip link set {DUT} up",
                f"ethtool -G {DUT} rx 128", f"ethtool -G {DUT} rx 256",
                f"ethtool -L {DUT} combined 2",
                f"ethtool -L {DUT} combined 8",
                f"ethtool -L {DUT} combined 1",
                f"ip link set {DUT} mtu 3000", f"ip link set {DUT} mtu 1500",
                self.attach_xdp, self.detach_xdp,
                f"ethtool --set-priv-flags {DUT} legacy-rx on",
                f"ethtool --set-priv-flags {DUT} legacy-rx off",
                # igb's removal leaks vectors that it had, but has no more
                f"ethtool -L {DUT} combined 8"):
            with self.subTest(command=command):
                if callable(command):
                    command()
                else:
                    guest.ns("rcv", command)
                self.assertTrue(self.flag())
                if "down" not in str(command):
                    guest.wait_for_link()
                    guest.coalesce(THROTTLE_US)
                    self.assertTrue(self.sorts())
                after = guest.ethtool_stats("rcv", DUT)
                for name, value in before.items():
                    if name.startswith("srpic_") and \
                            name != "srpic_packets_held":
                        self.assertGreaterEqual(after[name], value)
                before = after


if __name__ == "__main__":
    unittest.main(verbosity=2)
