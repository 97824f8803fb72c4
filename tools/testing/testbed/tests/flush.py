#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Frames in, frames out: order, integrity and every cause of a flush on igb."""

import random
import unittest
from itertools import repeat

import guest
from device import Settings
from frames import ACK, NOBODY_V4, THROTTLE_US, URG, Wire
from transfer import is_on

DUT = guest.DUT
STRANGERS = ("10.0.2.77", 5201), (NOBODY_V4, 4000)      # with the same ports


class FlushTest(unittest.TestCase):
    """Each test sends one burst that a single softirq receives."""

    @classmethod
    def setUpClass(cls):
        guest.ns("rcv", f"ethtool -K {DUT} gro off")
        guest.coalesce(THROTTLE_US)
        cls.wire = Wire(guest.RTR_DEV, DUT)
        cls.settings = Settings()
        cls.was_on = is_on()

    def setUp(self):
        self.settings.set("block_size", 32)
        self.settings.set("full_flush_pkts", 0)
        self.settings.set("hold_usecs", 0)
        guest.switch(True)

    def burst(self, frames, order, **moved):
        """
        Send frames; expect them in an order, to the byte, and that the
        counters named have moved by so much, all other causes not at all.
        """
        before = guest.ethtool_stats("rcv", DUT)
        got = self.wire.burst(frames)
        after = guest.ethtool_stats("rcv", DUT)
        self.assertEqual([frames.index(f) if f in frames else None
                          for f in got], order)
        delta = {k.removeprefix("srpic_"): v for k, v in
                 guest.difference(before, after).items()
                 if k.startswith("srpic_")}
        causes = {k.removeprefix("flush_"): v for k, v in delta.items()
                  if k.startswith("flush_")}
        self.assertEqual(causes, moved)
        self.assertEqual(delta.get("blocks", 0), sum(moved.values()))
        self.assertEqual(delta.get("packets_taken", 0)
                         + delta.get("packets_passed", 0),
                         len(frames) + 2)       # and the primers

    def frames(self, seqs, **kwargs):
        return [self.wire.frame(seq, 100, **kwargs) for seq in seqs]

    def test_poll(self):
        self.burst(self.frames([300, 100, 200, 0]), [3, 1, 2, 0], poll=1)

    def test_poll_ipv6(self):
        self.burst(self.frames([300, 100, 200, 0], v6=True), [3, 1, 2, 0],
                   poll=1)

    def test_off_leaves_order_and_counters(self):
        before = guest.ethtool_stats("rcv", DUT)
        guest.switch(False)
        frames = self.frames([300, 100, 200, 0])
        self.assertEqual(self.wire.burst(frames), frames)
        after = guest.ethtool_stats("rcv", DUT)
        self.assertFalse([k for k in guest.difference(before, after)
                          if k.startswith("srpic_")])

    def test_switching_resets_nothing(self):
        self.assertFalse(self.was_on)       # by default
        read_changes = f"cat /sys/class/net/{DUT}/carrier_changes"
        before = guest.ns("rcv", read_changes)
        for on in False, True:
            guest.switch(on)
            self.assertEqual(is_on(), on)
        self.assertEqual(guest.ns("rcv", read_changes), before)

    def test_used_up_budget(self):
        """A poll takes 64 packets at the most; what it took waits for more."""
        self.settings.set("block_size", 512)
        self.burst(self.frames(range(9900, -1, -100)),
                   list(reversed(range(100))), poll=1)

    def in_a_thread(self):
        """To send so many can take longer than the throttle lasts."""
        guest.poll_in_a_thread(True)
        self.addCleanup(guest.poll_in_a_thread, False)

    def test_used_up_budget_in_a_thread(self):
        """
        Four polls of a list that becomes a tree, with two equal numbers, and
        across 2^32.
        """
        self.in_a_thread()
        self.settings.set("block_size", 512)
        late = list(range(2, 240))
        random.Random(1).shuffle(late)
        order = [0, *late, late[0], 1]
        frames = self.frames([(0xFFFFD000 + 100 * n) & 0xFFFFFFFF
                              for n in order])
        frames[-2] = self.wire.frame(
            (0xFFFFD000 + 100 * late[0]) & 0xFFFFFFFF, 100, payload=bytes(100))
        self.burst(frames, sorted(range(len(order)), key=lambda i: order[i]),
                   poll=1)

    def test_more_than_the_ring_holds(self):
        """
        With default settings: what waits behind a busy flow leaves then. The
        ring takes 16 more once there is room again, and then QEMU drops.
        """
        self.in_a_thread()
        self.burst([self.wire.frame(0, 100, port=4001),
                    *self.frames(range(0, 26500, 100))],
                   [*range(1, 225), 0, *range(225, 266)],
                   block=7, ring=2, poll=1)

    def test_gro_keeps_nothing(self):
        """
        All leaves GRO in the same poll. No other poll follows, so what came
        after napi_complete_done() would stay there.
        """
        guest.ns("rcv", f"ethtool -K {DUT} gro on")
        got = self.wire.burst(self.frames([300, 100, 200, 0], v6=True))
        guest.ns("rcv", f"ethtool -K {DUT} gro off")
        self.assertEqual([len(f) for f in got], [74 + 400])

    def test_blocks_leave_merged(self):
        """GRO alone makes one of them all, and does not merge aggregates."""
        guest.ns("rcv", f"ethtool -K {DUT} gro on")
        self.addCleanup(guest.ns, "rcv", f"ethtool -K {DUT} gro off")
        self.settings.set("block_size", 4)
        frames = [self.wire.frame(1000 * n, 1000, df=True, ident=n)
                  for n in range(12)]
        for on, sizes in (True, 3 * [54 + 4000]), (False, [54 + 12000]):
            guest.switch(on)
            got = self.wire.burst(frames)
            self.assertEqual([len(f) for f in got], sizes)

    def test_block(self):
        self.settings.set("block_size", 4)
        self.burst(self.frames([300, 200, 100, 0, 900, 800, 700, 600, 500]),
                   [3, 2, 1, 0, 7, 6, 5, 4, 8], block=2, poll=1)

    def test_block_size_1_sorts_nothing(self):
        self.settings.set("block_size", 1)
        self.burst(self.frames([300, 200, 100, 0]), [0, 1, 2, 3], block=4)

    def test_ring(self):
        self.settings.set("full_flush_pkts", 3)
        one = self.frames([200, 0, 100, 500, 300, 400, 600], port=4000)
        self.burst(one, [1, 2, 0, 4, 5, 3, 6], ring=2, poll=1)

    def test_ring_flushes_all_managers(self):
        self.settings.set("full_flush_pkts", 4)
        one, two = (self.frames([100, 0], port=p) for p in (4000, 4001))
        self.burst([one[0], two[0], one[1], two[1]], [2, 0, 3, 1], ring=2)

    def test_barrier(self):
        frames = self.frames([200, 100]) + [
            self.wire.frame(300, 10, flags=URG | ACK)] + self.frames([0])
        self.burst(frames, [1, 0, 2, 3], barrier=1, poll=1)

    def test_fragment_is_a_barrier_of_its_hosts(self):
        one, two = (self.frames([100, 0], port=p) for p in (4000, 4001))
        other = self.frames([100, 0], ends=STRANGERS)
        middle = self.wire.frame(500, 100, port=4002, fragment=True)
        self.burst([*one, *other, *two, middle], [1, 0, 5, 4, 6, 3, 2],
                   barrier=2, poll=1)

    def test_fragment_of_strangers_flushes_nothing(self):
        middle = self.wire.frame(500, 100, ends=STRANGERS, fragment=True)
        self.burst([*self.frames([200, 100]), middle, *self.frames([0])],
                   [2, 3, 1, 0], poll=1)

    def test_flood_of_strangers(self):
        """With one of their frames for each packet, blocks are as long."""
        data = self.frames(range(3000, 0, -100))
        in_order = list(reversed(range(len(data))))
        self.burst(data, in_order, poll=1)
        fragment, extension, whole = (
            self.wire.frame(500, 100, **kwargs) for kwargs in (
                {"ends": STRANGERS, "fragment": True},
                {"v6": True, "hop_by_hop": True}, {"ends": STRANGERS}))
        cut = whole[:40].ljust(60, b"\0")
        runt = cut[:16] + bytes((0, 32)) + cut[18:]
        for stranger in fragment, extension, cut, runt:
            with self.subTest(stranger=stranger.hex()):
                both = [frame for pair in zip(data, repeat(stranger))
                        for frame in pair]
                self.burst(both, [1] * len(data) + [2 * n for n in in_order],
                           poll=1)

    def test_timestamp(self):
        frames = self.frames([100, 200, 300], tsval=1000)
        frames += self.frames([0], tsval=1050)
        self.burst(frames, [0, 1, 2, 3], timestamp=1, poll=1)

    def test_overlap(self):
        self.burst(self.frames([100, 200, 150, 0]), [0, 1, 3, 2],
                   overlap=1, poll=1)

    def test_evict(self):
        """More flows in a poll than a set of managers holds."""
        before = guest.ethtool_stats("rcv", DUT)
        for seed in range(20):
            ports = random.Random(seed).sample(range(1024, 65536), 60)
            frames = [self.wire.frame(0, 10, port=port) for port in ports]
            got = self.wire.burst(frames)
            self.assertEqual(sorted(got), sorted(frames))
            moved = guest.difference(before,
                                     guest.ethtool_stats("rcv", DUT))
            if moved.get("srpic_flush_evict"):
                break
        self.assertGreater(moved.get("srpic_flush_evict", 0), 0)
        self.assertEqual(moved["srpic_blocks"], moved["srpic_packets_taken"])

    def test_random_permutations(self):
        """Any order of a block leaves sorted, also across 2^32."""
        for seed in range(20):
            order = list(range(32))
            random.Random(seed).shuffle(order)
            sorted_order = sorted(range(32), key=lambda i, o=order: o[i])
            with self.subTest(seed=seed):
                self.burst(self.frames([(0xFFFFFA00 + 100 * n) & 0xFFFFFFFF
                                        for n in order]),
                           sorted_order, block=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
