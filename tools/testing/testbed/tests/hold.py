#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What waits beyond the poll on igb: for a hole, for a deadline, until a stop."""

import errno
import struct
import time
import unittest

import guest
from device import Device
from frames import ACK, FIN, SYN, THROTTLE_US, URG, Wire

DUT = guest.DUT
HOLD_USECS_MAX = 100000
HELD_PKTS_MAX = 4096
SO_TIMESTAMPNS = 35


class HoldTest(unittest.TestCase):
    """Each test has a flow of its own."""

    port = 6000

    @classmethod
    def setUpClass(cls):
        guest.ns("rcv", f"ethtool -K {DUT} gro off")
        guest.coalesce(30)
        cls.wire = Wire(guest.RTR_DEV, DUT)
        cls.wire.rx.setsockopt(1, SO_TIMESTAMPNS, 1)

    def setUp(self):
        self.hold(HOLD_USECS_MAX)
        # anew: the statistics may have other names
        self.device = Device()
        self.addCleanup(self.device.socket.close)
        self.begin_flow()
        self.before = self.device.stats()

    def tearDown(self):
        self.hold(0)
        self.device.switch(False)
        self.wire.drain()

    def begin_flow(self, pkts=10):
        HoldTest.port += 1
        self.frames = [self.wire.frame(100 * n, 100, port=self.port)
                       for n in range(pkts)]

    def frame(self, seq, length, **kwargs):
        """Another one of the flow, the last of its frames."""
        self.frames.append(self.wire.frame(seq, length, port=self.port,
                                           **kwargs))
        return self.frames[-1]

    def hold(self, usecs):
        guest.sysctl("rcv", {"net.srpic.hold_usecs": usecs,
                             "net.srpic.block_size": 32})

    def send(self, *frames):
        self.wire.tx.load(frames)
        self.wire.tx.send()

    def arrivals(self, quiet=0.01):
        """
        [(which frame, when)] of all that come up until it is quiet for so
        many seconds.
        """
        found = []
        self.wire.rx.settimeout(quiet)
        while True:
            try:
                data, ancillary, _, _ = self.wire.rx.recvmsg(2048, 64)
            except TimeoutError:
                return found
            except OSError as error:    # said once, ahead of what is there
                if error.errno != errno.ENETDOWN:
                    raise
                continue
            seconds, ns = struct.unpack("qq", ancillary[0][2])
            if data in self.frames:
                found.append((self.frames.index(data), seconds + ns / 1e9))

    def up(self, *frames, quiet=0.01):
        """These come up, in this order, and no others."""
        found = self.arrivals(quiet)
        self.assertEqual([n for n, _ in found], list(frames))

    def moved(self, **expected):
        """
        How SRPIC's counters moved: all causes are as expected, and so is how
        many packets are held.
        """
        now = self.device.stats()
        delta = guest.difference(self.before, now)
        self.assertEqual(
            {name.removeprefix("srpic_"): value for name, value in
             delta.items() if name.startswith("srpic_flush_")}
            | {"held": now["srpic_packets_held"]}, {"held": 0} | expected)

    def hold_one(self):
        """Frames 0 and 2 came, and 2 is held."""
        self.send(self.frames[0], self.frames[2])
        self.up(0)
        self.moved(held=1, flush_poll=1)

    def test_hole(self):
        self.hold_one()
        self.send(self.frames[1])
        self.up(1, 2)
        self.moved(flush_poll=1, flush_hole=1)
        self.up(quiet=0.2)
        after = self.device.stats()
        self.assertEqual(guest.difference(self.before, after)[
            "srpic_packets_out_of_order"], 1)
        self.assertGreater(after["srpic_held_usecs_max"], 5000)

    def test_two_holes(self):
        """What is behind the second one waits on."""
        self.send(self.frames[0], self.frames[2], self.frames[4])
        self.up(0)
        self.send(self.frames[1])
        self.up(1, 2)
        self.moved(held=1, flush_poll=1, flush_hole=1)
        self.send(self.frames[3])
        self.up(3, 4)
        self.moved(flush_poll=1, flush_hole=2)

    def test_deadline(self):
        for usecs in 5000, 20000, HOLD_USECS_MAX:
            with self.subTest(usecs=usecs):
                self.hold(usecs)
                self.begin_flow()
                self.before = self.device.stats()
                self.send(self.frames[0], self.frames[2])
                (first, came), (last, left) = self.arrivals(quiet=0.2)
                self.assertEqual((first, last), (0, 2))
                self.assertGreaterEqual(left - came, usecs / 1e6)
                self.assertLess(left - came, 1.5 * usecs / 1e6)
                self.moved(flush_poll=1, flush_deadline=1)
                self.assertGreaterEqual(
                    self.device.stats()["srpic_held_usecs_max"], usecs)

    def test_late(self):
        """What is below all that left does not wait."""
        self.send(self.frames[3])
        self.up(3)
        self.send(self.frames[1])
        self.up(1)
        self.send(self.frames[4])
        self.up(4)
        self.moved(flush_poll=3)

    def test_barrier(self):
        self.hold_one()
        self.send(self.frame(300, 10, flags=URG | ACK))
        self.up(2, len(self.frames) - 1)
        self.moved(flush_poll=1, flush_barrier=1)
        # it may have been what comes next; what is below is late in any case
        self.send(self.frames[1])
        self.up(1)
        self.send(self.frames[5])
        self.up(5)
        self.send(self.frames[7])
        self.up()
        self.moved(held=1, flush_poll=3, flush_barrier=1)

    def test_pure_ack(self):
        """The flow goes on where it did."""
        self.send(self.frames[0])
        self.up(0)
        self.send(self.frame(100, 0), self.frames[2])
        self.up(len(self.frames) - 1)
        self.moved(held=1, flush_poll=1)
        self.send(self.frames[1])
        self.up(1, 2)

    def test_fin(self):
        """It waits for its turn, and ends no waiting."""
        self.send(self.frames[0], self.frames[2],
                  self.frame(300, 10, flags=FIN | ACK))
        self.up(0)
        self.moved(held=2, flush_poll=1)
        self.send(self.frames[1])
        self.up(1, 2, len(self.frames) - 1)

    def test_syn(self):
        """The first data is known, too."""
        self.send(self.frame((1 << 32) - 1, 0, flags=SYN), self.frames[1])
        self.up(len(self.frames) - 1)
        self.moved(held=1)
        self.send(self.frames[0])
        self.up(0, 1)
        self.moved(flush_hole=1)

    def test_in_order(self):
        """Nothing waits, however it falls into polls."""
        self.begin_flow(200)
        for start in range(0, 200, 20):
            self.send(*self.frames[start:start + 20])
            self.up(*range(start, start + 20))
        after = self.device.stats()
        delta = guest.difference(self.before, after)
        for name in "flush_hole", "flush_deadline", "packets_out_of_order", \
                "held_usecs_max":
            self.assertNotIn("srpic_" + name, delta)
        self.assertEqual(after["srpic_packets_held"], 0)

    def test_reordered_within_a_poll(self):
        """It leaves with the poll, as without hold."""
        guest.coalesce(THROTTLE_US)
        self.addCleanup(guest.coalesce, 30)
        self.send(self.wire.primer)     # igb takes the new rx-usecs
        self.wire.drain()
        self.before = self.device.stats()
        order = [0, 3, 1, 2]
        got = self.wire.burst([self.frames[n] for n in order])
        self.assertEqual(got, self.frames[:4])
        self.moved(flush_poll=1)

    def test_a_flow_is_remembered_for_a_second(self):
        self.send(self.frames[0])
        self.up(0)
        time.sleep(0.5)
        self.send(self.frames[2])
        self.up(quiet=0.05)
        self.up(2, quiet=0.2)
        time.sleep(1.5)
        self.send(self.frames[5])
        self.up(5)
        self.moved(flush_poll=2, flush_deadline=1)

    def test_bound(self):
        """More than so many packets wait for nothing."""
        self.begin_flow(HELD_PKTS_MAX + 3)
        self.send(self.frames[0])
        self.up(0)
        began = time.monotonic()
        for start in range(2, len(self.frames), 128):
            self.send(*self.frames[start:start + 128])
        if time.monotonic() - began > 0.9 * HOLD_USECS_MAX / 1e6:
            self.skipTest("this kernel takes too long for them")
        self.up(*range(2, len(self.frames)), quiet=0.02)
        self.moved(flush_poll=1, flush_evict=1)

    def test_off(self):
        self.send(self.frames[0], self.frames[2])
        self.device.switch(False)
        (first, came), (last, left) = self.arrivals(quiet=0.2)
        self.assertEqual((first, last), (0, 2))
        self.assertLess(left - came, 1.5 * HOLD_USECS_MAX / 1e6)
        self.assertEqual(self.device.stats()["srpic_packets_held"], 0)

    def test_stop(self):
        """Whatever stops NAPI lets nothing wait, and loses nothing."""
        for command in (f"ip link set {DUT} down", f"ethtool -G {DUT} rx 128",
                        f"ethtool -G {DUT} rx 256",
                        f"ethtool -L {DUT} combined 2",
                        f"ethtool -L {DUT} combined 8"):
            with self.subTest(command=command):
                self.begin_flow()
                # names change with the queues
                before = guest.ethtool_stats("rcv", DUT)
                self.send(self.frames[0], self.frames[2])
                guest.ns("rcv", command)
                after = guest.ethtool_stats("rcv", DUT)
                self.up(0, 2)
                self.assertEqual(after["srpic_packets_held"], 0)
                self.assertEqual(after["srpic_flush_deadline"],
                                 before["srpic_flush_deadline"])
            guest.ns("rcv", f"ip link set {DUT} up")
            guest.wait_for_link()
            guest.coalesce(30)


if __name__ == "__main__":
    unittest.main(verbosity=2)
