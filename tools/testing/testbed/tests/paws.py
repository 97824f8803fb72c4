#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""PAWS in the real TCP receiver, with SRPIC off and on.

A peer made of raw frames talks to a socket in rcv. In the table, D is data, R
a retransmission with a TSval that is newer than that of all data, N a segment
without the timestamp option, O and F one with a TSval that is 2^30 older and
newer; the number is the segment's, from 0. Each case is a connection of its
own, and all of its arrival order meets in one poll.

What counts is what TCP makes of it: the application's bytes, and the segments
that it rejects as old (TcpExtPAWSEstab). GRO makes one rejected segment of
many, so all is done without it as well.
"""

import os
import random
import socket
import struct
import unittest

import guest
from device import Device
from frames import ACK, ETH_P_ALL, SYN, THROTTLE_US, Wire, namespace, tcp_frame

DUT = guest.DUT
MAC = bytes.fromhex("525400000077")     # nobody's
PORT = 7000
LENGTH = 100                            # of a segment
OPT_TIMESTAMPS, OPT_USEC_TS = 1, 64     # TCPI_OPT_*, of tcp_info
NO_MORE = "no more than plain TCP"


def data(first, last):
    return [f"D{n}" for n in range(first, last + 1)]


def shuffled(names, seed):
    random.Random(seed).shuffle(names)
    return names


def at_every_position(segment, others):
    return [" ".join([*others[:i], segment, *others[i:]])
            for i in range(len(others) + 1)]


ALL_REJECTED = ("", " ".join(["R0", *data(1, 13)]), NO_MORE)

# What TCP has queued, then the arrival order, then what TCP is to reject: the
# last segments, so many of them (off, on), or no more than without SRPIC.
TABLE = [
    ("", "D1 D2 D3 R0", (0, 0)),
    ("", "D2 D1 R0 D3", (1, 1)),
    *[("", order, NO_MORE)
      for order in at_every_position("R0", data(1, 13))],
    *[("", order, NO_MORE)
      for order in at_every_position("R0", shuffled(data(1, 13), seed=1))],
    # a duplicate of the last segment, then older data
    ("D0 D1 D2 D3", "R3 D4 D5", NO_MORE),
    *[("D0 D1 D2 D3", order, NO_MORE)
      for order in at_every_position("R3", data(4, 9))],
    *[("D0 D1 D2 D3", " ".join([*data(4, n), f"R{n}", *data(n + 1, 9)]),
       NO_MORE) for n in range(4, 10)],
    # and with a hole
    ("", "D1 D2 D3 R3 D4 D5", NO_MORE),
    *[("D1 D2 D3", order, NO_MORE)
      for order in at_every_position("R3", data(4, 9))],
    # Sorting D0 to the front is right, but what was sent again then no longer is
    # beyond a hole: TCP takes over its TSval, ahead of all older ones that are
    # yet to come, in this block or later. So more is rejected than without.
    ("D2 D3 D4", "R1 D5 D0", (0, 1)),
    ("D2 D3 D4", "R1 D5 D6 D7 D0", (0, 3)),
    ("D1 D2 D3", "R3 D4 D5 D0", (0, 2)),
    ("D2 D3 D4 R1 D0", "D5 D6 D7", (0, 3)),
    # one for each place where a retransmission could pass older data
    ("", "D0 D2 D3 R1", (0, 0)),        # to curr, past after
    ("", "R1 D3 R0", (0, 0)),           # to prev, past after
    ("", "R3 D1 R0", (0, 0)),           # to prev, past prev
    ("D0 D1", "R0 D4 R2", (0, 0)),      # to after, past after
    ("", "N1 D2 D3 R0", (0, 0)),        # past what cannot be compared,
    ("", "D1 O2 F0", (1, 1)),           # nor this: O2 is not before F0
]
SEGMENTS = 16                           # of each permutation of originals
SEEDS = range(16)


def in_sequence(case):
    """Bytes from the stream's beginning to the first segment not sent."""
    sent = {int(name[1:]) for name in f"{case[0]} {case[1]}".split()}
    return LENGTH * next(n for n in range(len(sent) + 1) if n not in sent)


def permutations():
    """{seed: (arrival order, ticks)} of originals; no TSval decreases."""
    found = {}
    for seed in SEEDS:
        rng = random.Random(seed)
        ticks = [0]
        while len(ticks) < SEGMENTS:
            ticks.append(ticks[-1] + rng.choice((0, 0, 1, 2, 7)))
        found[seed] = (" ".join(shuffled(data(0, SEGMENTS - 1), seed)), ticks)
    return found


class Counters:
    """Two kinds of counters of rcv, read without starting a process."""

    def __init__(self):
        self.device = Device()
        with namespace("rcv"):
            self.netstat = os.open("/proc/net/netstat", os.O_RDONLY)

    def read(self):
        lines = os.pread(self.netstat, 1 << 16, 0).decode().splitlines()
        keys, values = (line.split()[1:] for line in lines
                        if line.startswith("TcpExt:"))
        return self.device.stats() | dict(zip(keys, map(int, values)))


class Peer:
    """The other end of connections, at an address that no stack owns."""

    def __init__(self):
        self.port = 20000
        self.wire = Wire(guest.RTR_DEV, DUT)
        self.macs = (self.wire.macs[0], MAC)
        with namespace("rtr"):
            self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                     socket.htons(ETH_P_ALL))
            self.raw.bind((guest.RTR_DEV, ETH_P_ALL))
            index = socket.if_nametoindex(guest.RTR_DEV)
        # PACKET_ADD_MEMBERSHIP, PACKET_MR_UNICAST: rtr's stack ignores them
        self.raw.setsockopt(263, 1, struct.pack("iHH8s", index, 3, 6, MAC))

    def drain(self):
        self.raw.setblocking(False)
        try:
            while True:
                self.raw.recv(2048)
        except BlockingIOError:
            self.raw.settimeout(2)

    def syn_ack(self, ends):
        """Sequence number and TSval of the answer to a SYN."""
        want = struct.pack(">HH", ends[1][1], ends[0][1])
        while True:
            frame = self.raw.recv(2048)
            tcp = frame[14 + (20 if frame[12:14] == b"\x08\0" else 40):]
            if frame[:6] == MAC and tcp[:4] == want:
                break
        assert tcp[13] == SYN | ACK, f"flags {tcp[13]:#x}, not a SYN-ACK"
        options = tcp[20:tcp[12] >> 2]
        while options[0] != 8:
            options = options[1 if options[0] == 1 else options[1]:]
        return (struct.unpack_from(">I", tcp, 4)[0],
                struct.unpack_from(">I", options, 2)[0])


class Connection:
    """A connection of the peer: segments by name in, bytes out."""

    def __init__(self, peer, server, mode, ticks=None):
        self.peer, self.mode, self.ticks = peer, mode, ticks
        self.got = b""
        peer.port += 1
        self.ends = ((mode.client, peer.port), (mode.server, PORT))
        self.ack, self.tsecr = 0, 0
        self.stream = random.Random(peer.port).randbytes(SEGMENTS * LENGTH)
        peer.drain()
        peer.raw.send(self.frame(-1, SYN, struct.pack(
            ">BBHBBBBII", 2, 4, 1460, 4, 2, 8, 10, mode.tsval, 0)))
        isn, self.tsecr = peer.syn_ack(self.ends)
        self.ack = (isn + 1) & 0xFFFFFFFF
        peer.raw.send(self.frame(0, ACK, self.timestamp(0)))
        self.socket, address = server.accept()
        assert address[:2] == self.ends[0], address
        used = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO,
                                      8)[5] & (OPT_TIMESTAMPS | OPT_USEC_TS)
        assert used == OPT_TIMESTAMPS | OPT_USEC_TS * mode.usec_ts, used
        self.socket.setblocking(False)

    def close(self):
        # by a reset, so that nothing remains
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        self.socket.close()

    def timestamp(self, ticks):
        return struct.pack(">BBBBII", 1, 1, 8, 10,
                           (self.mode.tsval + ticks) & 0xFFFFFFFF, self.tsecr)

    def frame(self, offset, flags, options, payload=b""):
        return tcp_frame(self.peer.macs, (self.mode.seq + offset) & 0xFFFFFFFF,
                         0, ends=self.ends, v6=":" in self.mode.client,
                         df=True, ack=self.ack, flags=flags, options=options,
                         payload=payload)

    def segment(self, name):
        """The frame of D3 and so on, or of L3, which is later than all."""
        kind, number = name[0], int(name[1:])
        ticks = self.ticks[number] if self.ticks else number * self.mode.pace
        ticks += 10 + self.mode.later * {"R": 1, "F": 1, "O": -1,
                                         "L": 10}.get(kind, 0)
        ticks += {"F": 1, "O": -1, "L": 1}.get(kind, 0) << 30
        begin = number * LENGTH
        return self.frame(begin, ACK,
                          b"" if kind == "N" else self.timestamp(ticks),
                          self.stream[begin:begin + LENGTH])

    def send(self, names):
        """One burst; what the application has got so far."""
        self.peer.wire.burst([self.segment(name) for name in names])
        try:
            while some := self.socket.recv(1 << 16):
                self.got += some
        except BlockingIOError:
            pass
        return self.got


class Result:
    """What became of a case: of its burst, and of the whole stream."""

    def __init__(self, connection, counters, queued, arrival):
        queued, arrival = queued.split(), arrival.split()
        if queued:
            connection.send(queued)
        before = counters.read()
        got = connection.send(arrival)
        after = counters.read()
        self.bytes = len(got)
        self.rejects = after["PAWSEstab"] - before["PAWSEstab"]
        self.ofo = after["TCPOFOQueue"] - before["TCPOFOQueue"]
        self.srpic = {k.removeprefix("srpic_"): v for k, v in
                      guest.difference(before, after).items()
                      if k.startswith("srpic_")}
        # as a sender would: all that was not acknowledged, once more
        count = max(int(name[1:]) for name in queued + arrival) + 1
        missing = range(len(got) // LENGTH, count)
        if missing:
            got = connection.send([f"L{n}" for n in missing])
        self.late_rejects = counters.read()["PAWSEstab"] - after["PAWSEstab"]
        self.whole = got == connection.stream[:count * LENGTH]


class Paws:
    """A mode of connections; SRPIC is off in the first half of the runs."""

    client, server = "10.0.2.77", guest.RCV_V4
    usec_ts = False
    gro = "on"
    seq = 1000          # of the first segment
    tsval = 5000        # of the SYN
    pace = 0            # ticks from one segment to the next one
    later = 50          # ticks to a retransmission

    @classmethod
    def setUpClass(cls):
        guest.ns("rcv", f"ethtool -K {DUT} gro {cls.gro}")
        width = 128 if ":" in cls.client else 32
        for command in (
                f"neigh replace {cls.client} lladdr {MAC.hex(':')} "
                f"dev {DUT} nud permanent",
                f"route replace {cls.client}/{width} dev {DUT}"
                f"{' features tcp_usec_ts' if cls.usec_ts else ''}"):
            guest.ns("rcv", f"ip {command}")
        with namespace("rcv"):
            server = socket.create_server(
                (cls.server, PORT), family=socket.AF_INET6
                if ":" in cls.server else socket.AF_INET)
        server.settimeout(2)
        cls.table, cls.originals = {}, {}
        for on in (False, True):
            COUNTERS.device.switch(on)
            for case in TABLE:
                cls.table[case, on] = cls.run_case(server, *case[:2])
            for seed, (order, ticks) in permutations().items():
                cls.originals[seed, on] = cls.run_case(server, "", order,
                                                       ticks)
        server.close()

    @classmethod
    def run_case(cls, server, queued, arrival, ticks=None):
        connection = Connection(PEER, server, cls, ticks)
        try:
            return Result(connection, COUNTERS, queued, arrival)
        finally:
            connection.close()

    def check_run(self, off, on, length):
        """It was one poll, and the stream is what it should be."""
        for result in off, on:
            self.assertTrue(result.whole, "the application's bytes differ")
            self.assertEqual(result.late_rejects, 0, "rejected at the end")
        self.assertEqual(off.srpic, {}, "SRPIC counts while it is off")
        moved = dict(on.srpic)
        for name in ("flush_timestamp", "flush_overlap", "blocks",
                     "packets_out_of_order"):
            moved.pop(name, None)
        self.assertEqual(moved, {"flush_poll": 1, "packets_taken": length,
                                 "packets_passed": 2},      # the primers
                         "not one poll")

    def test_table(self):
        rejected = refused = late = 0
        # segments join the one before them, if they have one TSval
        merged = self.gro == "on" and not self.pace
        for case in TABLE:
            queued, arrival, expected = case
            off, on = (self.table[case, on] for on in (False, True))
            refused += on.srpic.get("flush_timestamp", 0)
            late += on.srpic.get("packets_out_of_order", 0)
            rejected += off.rejects
            name = f"[{queued}] {arrival}" if queued else arrival
            print(f"{type(self).__name__}: {name}: rejected {off.rejects} "
                  f"off, {on.rejects} on; application has {off.bytes} off, "
                  f"{on.bytes} on ({expected})")
            with self.subTest(case=name):
                self.check_run(off, on, len(arrival.split()))
                if expected == NO_MORE:
                    self.assertLessEqual(on.rejects, off.rejects, "rejects")
                    self.assertGreaterEqual(on.bytes, off.bytes, "bytes")
                else:
                    self.assertEqual(
                        (off.rejects, on.rejects),
                        tuple(min(n, 1) if merged else n for n in expected),
                        "rejects off, on")
                    self.assertEqual(
                        (off.bytes, on.bytes),
                        tuple(in_sequence(case) - n * LENGTH
                              for n in expected), "bytes off, on")
        self.assertEqual(self.table[ALL_REJECTED, False].rejects,
                         1 if merged else 13, "GRO is not as it should be")
        self.assertGreater(rejected, 0, "plain TCP rejected nothing")
        self.assertGreater(refused, 0, "SRPIC refused nothing")
        self.assertGreater(late, 0, "SRPIC sorted nothing")

    def test_originals_in_any_order(self):
        for seed, (order, _) in permutations().items():
            off, on = (self.originals[seed, on] for on in (False, True))
            with self.subTest(seed=seed, order=order):
                self.check_run(off, on, SEGMENTS)
                self.assertEqual((off.rejects, on.rejects), (0, 0), "rejects")
                self.assertEqual((off.bytes, on.bytes),
                                 (SEGMENTS * LENGTH,) * 2, "bytes")
                self.assertGreater(off.ofo, 0, "it arrived in order")
                self.assertEqual(on.ofo, 0, "it did not leave sorted")
                self.assertEqual(on.srpic["blocks"], 1)
        print(f"{type(self).__name__}: originals, seeds {SEEDS}: out of order "
              f"for TCP " + ", ".join(
                  f"{sum(self.originals[s, on].ofo for s in SEEDS)} {word}"
                  for on, word in ((False, "off"), (True, "on"))))


class Ipv4(Paws, unittest.TestCase):
    pass


class Ipv6AcrossTheWrap(Paws, unittest.TestCase):
    """Both the sequence number and the TSval pass 2^32."""

    client, server = "fd00:2::77", guest.RCV_V6
    seq, tsval = (1 << 32) - 2 * LENGTH - 50, (1 << 32) - 30


class Ipv4InMicroseconds(Paws, unittest.TestCase):
    client = "10.0.2.78"
    usec_ts = True
    tsval, pace, later = 5_000_000, 12, 50_000


class Ipv4WithoutGro(Ipv4):
    gro = "off"


class Ipv6AcrossTheWrapWithoutGro(Ipv6AcrossTheWrap):
    gro = "off"


class Ipv4InMicrosecondsWithoutGro(Ipv4InMicroseconds):
    gro = "off"


def setUpModule():
    global COUNTERS, PEER
    guest.coalesce(THROTTLE_US)
    COUNTERS, PEER = Counters(), Peer()


if __name__ == "__main__":
    unittest.main(verbosity=2)
