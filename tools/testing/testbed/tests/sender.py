#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""sender.py [--acks N] [--seed N]: RR-TCP, at a receiver made of raw frames.

A socket in snd sends to an address that no stack owns, and this plays the
receiver there: it sees each frame, and says what it has got, be that so or not.
What counts is what the sender makes of it: its threshold of duplicate ACKs, what
it retransmits and how far it sends past a hole. At the end a hostile receiver
plays N ACKs at random.
"""

import argparse
import contextlib
import ctypes
import errno
import fcntl
import os
import random
import re
import socket
import struct
import sys
import time
import unittest
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import guest
from faults import FAILSLAB, fail_below, symbols
from frames import ACK, ETH_P_ALL, SYN, namespace, tcp_frame

TRACING = Path("/sys/kernel/tracing")
IPV4 = Path("/proc/sys/net/ipv4")
MAC = bytes.fromhex("525400000078")     # nobody's
PEER, PORT = "10.0.1.77", 7000
ISN = 1 << 20                           # the receiver's
MSS = 1000
CWND = 10                               # Linux's first
RTT = 0.05                              # so long an ACK takes, unless told
OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
FA, TA, ES = 1, 2, 4
MASK = 0xFFFFFFFF
OPTIONS = {"acks": 2000, "seed": 1}

# of struct tcp_info, the 32-bit ones
INFO = ("rto ato snd_mss rcv_mss unacked sacked lost retrans fackets"
        " last_data_sent last_ack_sent last_data_recv last_ack_recv pmtu"
        " rcv_ssthresh rtt rttvar snd_ssthresh snd_cwnd advmss reordering"
        " rcv_rtt rcv_space total_retrans").split()


def sysctl(**settings):
    """Of snd, without a process."""
    with namespace("snd"):
        for name, value in settings.items():
            file = os.open(IPV4 / name, os.O_WRONLY)
            try:
                os.write(file, b"%b\n" % str(value).encode())
            except OSError as error:
                raise OSError(error.errno, f"{name}={value}") from None
            finally:
                os.close(file)


class Trace:
    """The tracepoint's events since the last time."""

    def __init__(self):
        (TRACING / "events/tcp_rr/enable").write_text("1")
        self.pipe = (TRACING / "trace_pipe").open("rb", buffering=0)
        os.set_blocking(self.pipe.fileno(), False)
        self.read()

    def lines(self):
        text = b""
        while some := self.pipe.read(1 << 16):
            text += some
        return text.decode().splitlines()

    def read(self):
        return [dict(re.findall(r"(\w+)=(\S+)", line))
                for line in self.lines() if " tcp_rr: " in line]


class Receiver:
    """
    The other end of a connection. Sequence numbers of data count from 0, be they
    sent or acknowledged; those on the wire wrap with the fifth packet.
    """

    port = 30000

    def __init__(self, timestamps=False, window=1 << 20, again=None):
        """again: a socket that was used before, with the last one's port"""
        with namespace("rtr"):
            self.raw = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                     socket.htons(ETH_P_ALL))
            self.raw.bind((guest.RTR_BACK, ETH_P_ALL))
        self.raw.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)    # RCVBUFFORCE
        Receiver.port += not again
        self.window, self.timestamps = window, timestamps
        self.tsval = {}     # of the data at an offset: all that were sent
        with namespace("snd"):
            self.socket = again or socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, 32, 1 << 20)  # SNDBUFFORCE
        if not again:
            self.socket.bind((guest.SND_V4, Receiver.port))
            # TCP_REPAIR on, of TCP_SEND_QUEUE the TCP_QUEUE_SEQ, and off
            for option, value in (19, 1), (20, 2), (21, -5 * MSS), (19, -1):
                self.socket.setsockopt(socket.IPPROTO_TCP, option, value)
        self.socket.connect_ex((PEER, PORT))
        self.base = None
        syn = self.wait(lambda frame: frame.flags & SYN)
        self.base = syn.seq + 1 & MASK
        self.mac = syn.source
        options = struct.pack(">BBHBBBBBBBB", 2, 4, MSS + 12 * timestamps,
                              1, 1, 4, 2, 1, 3, 3, 7)
        if timestamps:
            options += struct.pack(">BBBBII", 1, 1, 8, 10, 1, syn.tsval)
        self.transmit(SYN | ACK, self.base, options, seq=ISN, window=65535)
        self.wait(lambda frame: not frame.flags & SYN)

    def close(self):
        """By a reset, so that nothing remains."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                               struct.pack("ii", 1, 0))
        self.socket.close()
        self.raw.close()

    def transmit(self, flags, ack, options, seq=ISN + 1, window=None):
        ends = ((PEER, PORT), (guest.SND_V4, Receiver.port))
        self.raw.send(tcp_frame(
            (self.mac, MAC), seq, 0, ends=ends, df=True, ack=ack, flags=flags,
            options=options, payload=b"",
            window=self.window >> 7 if window is None else window))

    def parse(self, raw):
        """A frame of the sender's; None for others."""
        if raw[12:14] != b"\x08\0" or raw[23] != 6 or raw[:6] != MAC:
            return None
        length = int.from_bytes(raw[16:18], "big")
        tcp = raw[34:14 + length]
        sport, _, seq, _, offset, flags = struct.unpack_from(">HHIIBB", tcp)
        if sport != Receiver.port:
            return None
        tsval = re.search(rb"\x08\x0a(....)", tcp[20:(offset >> 4) * 4],
                          re.DOTALL)
        return SimpleNamespace(
            source=raw[6:12], seq=seq, flags=flags,
            payload=tcp[(offset >> 4) * 4:],
            tsval=int.from_bytes(tsval[1], "big") if tsval else 0)

    def frames(self):
        """What has come, without waiting."""
        self.raw.setblocking(False)
        try:
            while True:
                if frame := self.parse(self.raw.recv(65536)):
                    yield frame
        except BlockingIOError:
            return

    def wait(self, fits, seconds=5):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for frame in self.frames():
                if fits(frame):
                    return frame
            time.sleep(0.001)
        raise TimeoutError("the sender does not send what it should")

    def data(self):
        """[(offset, payload)] that has come, in its order."""
        found = []
        for frame in self.frames():
            if frame.payload:
                offset = frame.seq - self.base & MASK
                self.tsval.setdefault(offset, []).append(frame.tsval)
                found.append((offset, frame.payload))
        return found

    def packets(self):
        """The numbers of the packets that have come."""
        return [offset // MSS for offset, _ in self.data()]

    def ack(self, ack, *blocks, echo=0, unit=MSS):
        """Acknowledge packets up to one, and SACK [first, behind)."""
        options = b""
        if self.timestamps:
            options += struct.pack(">BBBBII", 1, 1, 8, 10, 1, echo)
        if blocks:
            options += struct.pack(">BBBB", 1, 1, 5, 2 + 8 * len(blocks))
            for block in blocks:
                options += struct.pack(">II", *(
                    self.base + n * unit & MASK for n in block))
        self.transmit(ACK, self.base + ack * unit & MASK, options)

    def info(self):
        raw = self.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        values = struct.unpack_from(f"={len(INFO)}I", raw, 8)
        return SimpleNamespace(ca_state=raw[1], **dict(zip(INFO, values)))

    def send(self, packets):
        self.socket.send(bytes(MSS) * packets)


class RrTest(unittest.TestCase):
    """
    Connections that wait for 20 duplicate ACKs until they know better, unless
    told, so that holes of any length are filled before something is sent again.
    """

    def setUp(self):
        self.settings()
        TRACE.read()

    def settings(self, **settings):
        sysctl(**{
            "tcp_recovery": 0, "tcp_early_retrans": 0, "tcp_frto": 0,
            "tcp_no_metrics_save": 1, "tcp_timestamps": 0, "tcp_sack": 1,
            # in this order: the one bounds the other
            "tcp_max_reordering": 64, "tcp_reordering": 20, "tcp_rr": FA,
            "tcp_rr_fa_percent": 90, "tcp_limited_transmit": 0,
            "tcp_limit_output_bytes": 1 << 20, "tcp_rto_min_us": 200000,
            "tcp_congestion_control": "reno"} | settings)

    def connect(self, packets=CWND, **how):
        """A receiver that was sent so many packets, which took RTT to it."""
        receiver = Receiver(**how)
        self.addCleanup(receiver.close)
        if packets:
            receiver.send(packets)
            time.sleep(RTT)
            self.assertEqual(receiver.packets(),
                             list(range(min(packets, CWND))))
        return receiver

    def events(self, *names):
        return [(event["event"], int(event["value"]), int(event["reordering"]))
                for event in TRACE.read()
                if not names or event["event"] in names]

    def retransmitting(self, holes=1, sacked=3, **how):
        """The first packets have been sent again, as those behind are SACKed."""
        receiver = self.connect(**how)
        for n in range(holes + 1, holes + sacked + 1):
            receiver.ack(0, (holes, n))
        self.assertEqual(receiver.packets(), list(range(holes)))
        time.sleep(RTT)
        return receiver


class Settings(RrTest):
    def test_values(self):
        for name, good, bad in (
                ("tcp_rr", (0, 1, 2, 5, 6), (-1, 3, 4, 7, 8, 256)),
                ("tcp_rr_fa_percent", (0, 90, 99), (-1, 100, 256)),
                ("tcp_limited_transmit", (0, 1, 255), (-1, 256))):
            for value in good:
                sysctl(**{name: value})
                self.assertEqual(int(guest.ns(
                    "snd", f"sysctl -n net.ipv4.{name}")), value)
            for value in bad:
                with self.subTest(name=name, value=value), \
                        self.assertRaises(OSError) as refused:
                    sysctl(**{name: value})
                self.assertEqual(refused.exception.errno, errno.EINVAL)
            self.assertEqual(int(guest.ns(
                "snd", f"sysctl -n net.ipv4.{name}")), good[-1])

    def test_namespaces(self):
        sysctl(tcp_rr=TA, tcp_limited_transmit=3)
        for name in "tcp_rr", "tcp_limited_transmit":
            self.assertEqual(guest.ns("rcv", f"sysctl -n net.ipv4.{name}"),
                             "0\n")


class Samples(RrTest):
    def test_late_packet(self):
        """Its length is what was ahead; ss says what came of it."""
        receiver = self.connect()
        for n in range(2, 8):
            receiver.ack(0, (1, n))
        receiver.ack(7)
        self.assertEqual(self.events(), [("late", 6, 7)])
        self.assertEqual(receiver.info().reordering, 7)
        self.assertIn(" reordering:7 ", guest.ns(
            "snd", f"ss -Htino sport = :{Receiver.port}") + " ")

    def test_middle_of_the_window(self):
        """Of several holes, each filled alone, each counts by itself."""
        receiver = self.connect(20)
        receiver.ack(0, (1, 9))
        receiver.ack(9)
        time.sleep(RTT)
        receiver.ack(10, (11, 13), (14, 17))
        receiver.ack(10, (11, 17))
        receiver.ack(17)
        self.assertEqual(self.events(), [("late", 8, 9), ("late", 3, 9),
                                         ("late", 6, 9)])

    def test_one_ack_for_many(self):
        """It fills several holes: against the highest SACK before it."""
        receiver = self.connect()
        receiver.ack(0, (1, 2), (3, 6))
        receiver.ack(10)
        self.assertEqual(self.events(), [("late", 5, 6), ("late", 3, 6)])

    def test_one_ack_for_all(self):
        """What is SACKed with what was behind it was not late, or not by that."""
        receiver = self.connect()
        receiver.ack(0, (1, 5))
        receiver.ack(5, (6, 9))
        receiver.ack(10)
        self.assertEqual([value for _, value, _ in self.events()], [4, 3])

    def test_ratio(self):
        self.settings(tcp_rr_fa_percent=50)
        receiver = self.connect()
        receiver.ack(0, (1, 2), (3, 6))
        receiver.ack(10)
        self.assertEqual(receiver.info().reordering, 4)

    def test_bounds(self):
        sysctl(tcp_max_reordering=5)
        receiver = self.connect()
        receiver.ack(0, (1, 9))
        receiver.ack(9)
        self.assertEqual(receiver.info().reordering, 5)
        receiver = self.connect()
        receiver.ack(0, (1, 2))
        receiver.ack(2)
        self.assertEqual(receiver.info().reordering, 3)

    def test_in_order(self):
        receiver = self.connect()
        for n in range(1, 11):
            receiver.ack(n)
        self.assertEqual(self.events(), [])
        self.assertEqual(receiver.info().reordering, 20)

    def test_allocation(self):
        """One with the first late packet, 2 KiB at most, for the memcg to pay."""
        def allocations():
            return re.findall(r"call_site=_*tcp_rr_.* bytes_req=(\d+) .*"
                              r"gfp_flags=(\S+)", "\n".join(TRACE.lines()))

        event = TRACING / "events/kmem/kmalloc/enable"
        self.addCleanup(event.write_text, "0")
        event.write_text("1")
        receiver = self.connect()
        receiver.ack(3)
        self.assertEqual(allocations(), [])
        receiver.ack(3, (4, 7))
        receiver.ack(7, (8, 10))
        receiver.ack(10)
        (size, flags), = allocations()
        self.assertLessEqual(int(size), 2048)
        self.assertIn("__GFP_ACCOUNT", flags.split("|"))

    def test_racks_own(self):
        """With RACK it observes, and TCP goes by what it knows."""
        self.settings(tcp_recovery=1)
        receiver = self.connect()
        receiver.ack(0, (1, 7))
        receiver.ack(7)
        self.assertEqual(self.events(), [("late", 6, 20)])

    def test_after_rack(self):
        """What it has observed counts a round trip later, as settings do."""
        self.settings(tcp_recovery=1)
        receiver = self.connect()
        receiver.ack(0, (1, 7))
        receiver.ack(7)
        self.assertEqual(receiver.info().reordering, 20)
        sysctl(tcp_recovery=0)
        receiver.ack(10)
        self.assertEqual(receiver.info().reordering, 7)
        sysctl(tcp_max_reordering=5)
        receiver.send(1)
        time.sleep(RTT)
        receiver.ack(11)
        self.assertEqual(receiver.info().reordering, 5)

    def test_off(self):
        self.settings(tcp_rr=0)
        receiver = self.connect()
        receiver.ack(0, (1, 7))
        receiver.ack(7)
        self.assertEqual(self.events(), [])
        self.assertEqual(receiver.info().reordering, 20)

    def test_off_and_on(self):
        """All begins anew, as numbers may have been used twice meanwhile."""
        self.settings(tcp_reordering=3)
        receiver = self.connect()
        receiver.ack(0, (1, 3))
        receiver.ack(3, (4, 7))
        self.assertEqual(self.events(), [("late", 2, 3)])
        self.assertEqual(receiver.packets(), [3])
        for mode in 0, FA:
            sysctl(tcp_rr=mode)
        receiver.ack(7)
        receiver.ack(7, (3, 4))
        self.assertEqual(self.events(), [])
        receiver.ack(7, (8, 10))
        receiver.ack(10)
        event, = TRACE.read()
        self.assertEqual((event["value"], event["samples"]), ("2", "1"))

    def test_without_sack(self):
        self.settings(tcp_sack=0)
        receiver = self.connect()
        for _ in range(25):
            receiver.ack(0)
        receiver.ack(10)
        self.assertEqual(self.events(), [])

    def test_disconnect(self):
        """All is forgotten, and the socket may be used again."""
        receiver = self.connect()
        receiver.ack(0, (1, 7))
        receiver.ack(7)
        self.assertEqual(TRACE.read()[-1]["samples"], "1")
        self.assertEqual(receiver.info().reordering, 7)
        receiver.socket.setblocking(True)
        address = struct.pack("=H14x", 0)       # AF_UNSPEC
        libc = ctypes.CDLL(None, use_errno=True)
        self.assertEqual(libc.connect(receiver.socket.fileno(), address, 16),
                         0)
        receiver = self.connect(again=receiver.socket.dup())
        self.assertEqual(receiver.info().reordering, 20)
        receiver.ack(0, (1, 4))
        receiver.ack(4)
        self.assertEqual(TRACE.read()[-1]["samples"], "1")

    def test_too_old(self):
        """Nothing was late for 80 s: then three are enough again."""
        receiver = self.connect()
        receiver.ack(0, (1, 7))
        receiver.ack(10)
        self.assertEqual(receiver.info().reordering, 7)
        time.sleep(81)
        receiver.send(1)
        time.sleep(RTT)
        receiver.ack(11)
        self.assertEqual(receiver.info().reordering, 3)

    def test_no_window(self):
        """A receiver that has closed its window has lost nothing."""
        receiver = self.connect()
        receiver.ack(1, (2, 5))
        receiver.transmit(ACK, receiver.base + MSS & MASK, b"", window=0)
        time.sleep(3 * receiver.info().rto / 1e6)
        self.assertGreaterEqual(receiver.info().total_retrans, 1)
        self.assertEqual(self.events(), [])


class Retransmissions(RrTest):
    def setUp(self):
        super().setUp()
        self.settings(tcp_reordering=3)

    def test_false_fast_retransmit(self):
        """The mean of both lengths: 3 at the first ACK, 9 at the DSACK."""
        receiver = self.retransmitting()
        receiver.ack(4)
        receiver.ack(10, (0, 1))
        self.assertEqual(self.events("twice"), [("twice", (3 + 9) // 2, 7)])
        self.assertEqual(receiver.info().ca_state, OPEN)
        self.assertGreaterEqual(receiver.info().snd_cwnd, CWND)

    def test_true_fast_retransmit(self):
        """What was lost is sent again, counts for nothing, and all goes on."""
        receiver = self.retransmitting()
        receiver.ack(10)
        self.assertEqual(self.events(), [])
        receiver.send(3)
        self.assertEqual(receiver.packets(), [10, 11, 12])
        self.assertLess(receiver.info().snd_cwnd, CWND)

    def test_original_by_its_timestamp(self):
        """No need for a DSACK: its length counts, not the mean."""
        self.settings(tcp_reordering=3, tcp_timestamps=1)
        receiver = self.retransmitting(timestamps=True)
        receiver.ack(4, echo=receiver.tsval[0][0])
        self.assertEqual(self.events("twice"), [("twice", 3, 4)])
        receiver.ack(10, (0, 1), echo=receiver.tsval[0][0])
        self.assertEqual(self.events("twice"), [])

    def test_retransmission_by_its_timestamp(self):
        self.settings(tcp_reordering=3, tcp_timestamps=1)
        receiver = self.retransmitting(timestamps=True)
        receiver.ack(10, echo=receiver.tsval[0][1])
        self.assertEqual(self.events(), [])

    def test_repeated(self):
        receiver = self.retransmitting(holes=2, sacked=8)
        receiver.ack(10)
        for _ in range(5):
            receiver.ack(10, (0, 1))
        self.assertEqual(len(self.events("twice")), 1)

    def test_overlapping(self):
        """Two at once, then one of these."""
        receiver = self.retransmitting(holes=3, sacked=7)
        receiver.ack(10)
        receiver.ack(10, (0, 2))
        receiver.ack(10, (1, 2))
        self.assertEqual(len(self.events("twice")), 2)

    def test_part(self):
        """Of one retransmission, then of another part of it."""
        receiver = self.retransmitting(holes=2, sacked=8)
        receiver.ack(10)
        receiver.ack(10 * MSS, (100, 200), unit=1)
        receiver.ack(10 * MSS, (300, 400), unit=1)
        self.assertEqual(len(self.events("twice")), 1)

    def test_forged(self):
        """Of what was sent once; TCP itself takes no more than were sent again."""
        for n in range(1, 10):
            receiver = self.retransmitting()
            receiver.ack(4)
            receiver.ack(10, (n, n + 1))
            self.assertEqual(self.events("twice"), [])
            self.assertEqual(receiver.info().reordering, 3)

    def test_wrapped(self):
        for block in ((-5 * MSS, -4 * MSS), (1, 0), (-(1 << 31), MSS),
                      (1 << 31, 0), (-(1 << 30), 1 << 30), (MSS, -MSS)):
            receiver = self.retransmitting()
            self.assertLess(-receiver.base & MASK, CWND * MSS)
            receiver.ack(4)
            receiver.ack(4 * MSS, block, unit=1)
            self.assertEqual(self.events("twice"), [])
            self.assertEqual(receiver.info().ca_state, RECOVERY)

    def test_first_of_many(self):
        """A timeout sends the first packet once more, and the rest counts as well."""
        receiver = self.connect()
        receiver.ack(0, (4, 10))
        self.assertEqual(receiver.packets(), [0, 1, 2, 3])
        time.sleep(1.5 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets(), [0])
        receiver.ack(1, (4, 10))
        time.sleep(RTT)
        self.assertEqual(receiver.packets()[:1], [1])
        receiver.ack(10)
        receiver.ack(10, (1, 2))
        self.assertEqual(len(self.events("twice")), 1)

    def test_the_last_ones_are_remembered(self):
        """Of 40 that are sent again, the first eight are forgotten."""
        receiver = self.connect()
        for n in range(30):
            receiver.ack(n + 1)
            for _ in range(2):      # so that none is sent with another
                time.sleep(0.001)
                receiver.send(1)
        time.sleep(RTT)
        self.assertEqual(receiver.packets()[-1], 69)
        time.sleep(1.5 * receiver.info().rto / 1e6)
        again = receiver.packets()
        for _ in range(40):
            receiver.ack(again[-1] + 1)
            again += receiver.packets()
        self.assertEqual(again, list(range(30, 70)))
        receiver.ack(70)
        for n in (30, 37, 38, 60):
            receiver.ack(70, (n, n + 1))
        self.assertEqual([late for _, late, _ in self.events("twice")],
                         [31 // 2, 9 // 2])

    def test_far_behind(self):
        """Forgotten 2^30 bytes later, before others have these numbers."""
        receiver = self.retransmitting(holes=2, sacked=8)
        # it need not hear a million packets
        receiver.raw.setsockopt(socket.SOL_SOCKET, 33, 0)   # RCVBUFFORCE
        written, acked, chunk = CWND * MSS, 0, bytes(1 << 20)
        end = time.monotonic() + 300
        for n, size, found in ((0, (1 << 30) - (4 << 20), 1),
                               (1, (1 << 30) + (4 << 20), 0)):
            while acked < size:
                self.assertLess(time.monotonic(), end)
                with contextlib.suppress(BlockingIOError):
                    written += receiver.socket.send(chunk)
                unsent = struct.unpack("i", fcntl.ioctl(
                    receiver.socket, 0x894B, bytes(4)))[0]      # SIOCOUTQNSD
                acked = written - unsent
                receiver.ack(acked, unit=1)
            receiver.ack(acked, (n * MSS, (n + 1) * MSS), unit=1)
            self.assertEqual(len(self.events("twice")), found)

    def test_threshold_survives_a_timeout(self):
        receiver = self.retransmitting()
        receiver.ack(4)
        receiver.ack(10, (0, 1))
        self.assertEqual(receiver.info().reordering, 7)
        receiver.send(8)
        time.sleep(RTT)
        receiver.packets()
        receiver.ack(10, (11, 15))
        self.assertEqual(receiver.packets(), [])
        time.sleep(2 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets()[0], 10)
        self.assertEqual(receiver.info().reordering, 7)

    def test_timeout_without_samples(self):
        """A threshold that nothing speaks for is three again, as without."""
        self.settings(tcp_reordering=20)
        receiver = self.connect()
        sysctl(tcp_reordering=3)
        receiver.ack(0, (1, 5))
        self.assertEqual(receiver.packets(), [])
        self.assertEqual(receiver.info().reordering, 20)
        time.sleep(2 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets()[0], 0)
        self.assertEqual(receiver.info().reordering, 3)

    def assert_sampled(self, receiver, before, trips):
        """The smoothed RTT has moved by one sample of so many round trips."""
        self.assertAlmostEqual(
            receiver.info().rtt,
            before + (1e6 * RTT * trips - before) / 8, delta=1500)

    def test_enhanced_sampling(self):
        """The mean of both round trips is one more sample."""
        for mode in FA, FA + ES:
            self.settings(tcp_reordering=3, tcp_rr=mode)
            receiver = self.retransmitting()
            receiver.ack(4)
            time.sleep(3 * RTT)
            # 2 and 4 from the transmissions to their ACKs; the next has taken 5
            before = receiver.info().rtt
            receiver.ack(4, (0, 1))
            if mode == FA:
                self.assertEqual(receiver.info().rtt, before)
            else:
                self.assert_sampled(receiver, before, (2 + 4) / 2)
            before = receiver.info().rtt
            receiver.ack(5)
            self.assert_sampled(receiver, before, 5)

    def test_no_enhanced_sample(self):
        """An ACK was lost, nothing is outstanding, or it was sent three times."""
        self.settings(tcp_reordering=3, tcp_rr=FA + ES)
        receiver = self.retransmitting()
        before = receiver.info().rtt
        receiver.ack(4, (0, 1))
        self.assertEqual(receiver.info().rtt, before)

        receiver = self.retransmitting()
        receiver.ack(10)
        time.sleep(3 * RTT)
        receiver.ack(10, (0, 1))
        receiver.send(1)
        time.sleep(RTT)
        before = receiver.info().rtt
        receiver.ack(11)
        self.assert_sampled(receiver, before, 1)

        receiver = self.retransmitting()
        time.sleep(2 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets()[0], 0)
        receiver.ack(4)
        before = receiver.info().rtt
        receiver.ack(4, (0, 1))
        self.assertEqual(receiver.info().rtt, before)
        self.assertEqual(len(self.events("twice")), 3)

    def test_no_enhanced_sample_of_a_probe(self):
        """A tail that a probe and then a timeout sent once more."""
        self.settings(tcp_reordering=3, tcp_rr=FA + ES, tcp_early_retrans=3)
        probes = guest.counters("snd").get("TcpExtTCPLossProbes", 0)
        receiver = self.connect(1)
        while receiver.info().total_retrans < 2:
            time.sleep(0.01)
        self.assertEqual(receiver.packets(), [0, 0])
        self.assertEqual(guest.counters("snd")["TcpExtTCPLossProbes"], probes + 1)
        receiver.ack(1)
        receiver.send(1)
        before = receiver.info().rtt
        receiver.ack(1, (0, 1))
        self.assertEqual(receiver.info().rtt, before)


class TimeoutAvoidance(RrTest):
    def setUp(self):
        super().setUp()
        self.settings(tcp_rr=TA, tcp_reordering=3)

    def ratios(self):
        return [(event["event"], int(event["ratio"]))
                for event in TRACE.read()]

    def test_false(self):
        receiver = self.retransmitting()
        receiver.ack(4)
        receiver.ack(4, (0, 1))
        self.assertEqual(self.ratios(), [("twice", 9000), ("false", 9100)])

    def test_false_before_a_timeout(self):
        """The retransmission is late by an RTO, and all turns out to have come."""
        receiver = self.retransmitting()
        time.sleep(1.5 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets(), [0])
        receiver.ack(10)
        for _ in range(2):
            receiver.ack(10, (0, 1))
        self.assertEqual([ratio for _, ratio in self.ratios()], [9000, 9100])

    def test_false_by_a_timestamp(self):
        """Before a timeout: the original has come."""
        self.settings(tcp_rr=TA, tcp_reordering=3, tcp_timestamps=1)
        receiver = self.retransmitting(timestamps=True)
        time.sleep(1.5 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets(), [0])
        receiver.ack(4, echo=receiver.tsval[0][0])
        self.assertEqual(self.ratios(), [("twice", 9000), ("false", 9100)])

    def assert_undone(self, counter, receiver, *ack):
        """For another cause than a false fast retransmit."""
        before = guest.counters("snd").get(f"TcpExtTCP{counter}", 0)
        receiver.ack(*ack)
        self.assertEqual(guest.counters("snd")[f"TcpExtTCP{counter}"], before + 1)
        self.assertEqual(self.events("false"), [])

    def held_back(self):
        """Recovery sends nothing again, as the device has enough to send."""
        sysctl(tcp_rto_min_us=1000000)
        guest.ns("snd", f"tc qdisc add dev {guest.SND_DEV} root tbf rate 8kbit "
                        "burst 2kb limit 1mb")
        self.addCleanup(guest.ns, "snd", f"tc qdisc del dev {guest.SND_DEV} root")
        receiver = self.connect(0)
        receiver.send(CWND)
        self.assertEqual(receiver.info().unacked, CWND)
        sysctl(tcp_limit_output_bytes=1)
        receiver.ack(0, (1, 4))
        now = receiver.info()
        self.assertEqual((now.ca_state, now.total_retrans), (RECOVERY, 0))
        return receiver

    def test_nothing_sent_again(self):
        receiver = self.held_back()
        self.assert_undone("PartialUndo", receiver, 4)

    def test_nothing_sent_again_before_a_timeout(self):
        receiver = self.held_back()
        time.sleep(1.5 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.info().total_retrans, 1)
        receiver.ack(CWND)
        self.assert_undone("DSACKUndo", receiver, CWND, (0, 1))

    def test_forward_rto_recovery(self):
        """The second timeout was false: that tells nothing of what was before."""
        self.settings(tcp_rr=TA, tcp_reordering=3, tcp_frto=2)
        receiver = self.retransmitting()
        time.sleep(4 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets(), [0, 0])
        self.assert_undone("SpuriousRTOs", receiver, 0, (1, 5))

    def test_false_timeout(self):
        """Not a false fast retransmit, though there was a true one before."""
        receiver = self.retransmitting()
        receiver.ack(10)
        receiver.send(1)
        time.sleep(RTT)
        self.assertEqual(receiver.packets(), [10])
        time.sleep(1.5 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.packets(), [10])
        receiver.ack(11)
        self.assert_undone("DSACKUndo", receiver, 11, (10, 11))

    def test_timeout(self):
        """It costs once, however often it repeats."""
        self.settings(tcp_rr=TA)
        receiver = self.connect()
        receiver.ack(1, (2, 5))
        time.sleep(5 * receiver.info().rto / 1e6)
        self.assertGreaterEqual(receiver.info().total_retrans, 2)
        (event, ratio), = self.ratios()
        self.assertEqual(event, "timeout")
        self.assertLess(ratio, 9000)

    def test_not_to_blame(self):
        """
        A tail that is lost, a receiver that takes back what it SACKed, and a
        retransmission that is lost.
        """
        receiver = self.connect()
        receiver.ack(1, (2, 4))
        time.sleep(5 * receiver.info().rto / 1e6)
        self.assertGreaterEqual(receiver.info().total_retrans, 1)
        self.settings(tcp_rr=TA)
        receiver = self.connect()
        receiver.ack(0, (1, 5))
        receiver.ack(1)
        time.sleep(5 * receiver.info().rto / 1e6)
        self.assertGreaterEqual(receiver.info().total_retrans, 1)
        self.settings(tcp_rr=TA, tcp_reordering=3)
        receiver = self.retransmitting()
        time.sleep(2 * receiver.info().rto / 1e6)
        self.assertEqual(receiver.info().ca_state, LOSS)
        self.assertEqual(self.events("timeout"), [])

    def test_fixed(self):
        self.settings(tcp_rr=FA)
        receiver = self.connect()
        receiver.ack(1, (2, 5))
        time.sleep(5 * receiver.info().rto / 1e6)
        self.assertEqual(self.ratios(), [("timeout", 9000)])

    def test_idle(self):
        """Two windows are out, and what is late stays so for three RTT."""
        self.settings(tcp_rr=TA, tcp_reordering=64, tcp_limited_transmit=1)
        receiver = self.connect(100)
        receiver.ack(0, (1, 10))
        receiver.ack(0, (1, 19))
        receiver.ack(19)        # late by 18: from now on it waits for 19
        time.sleep(RTT)
        end = 1 + max(receiver.packets())
        TRACE.read()
        for n in range(5):      # a burst may wait for the next ACK
            receiver.ack(19, (20, end + n))
        now = receiver.info()
        self.assertEqual(now.unacked, 2 * now.snd_cwnd)
        time.sleep(3 * RTT)
        receiver.ack(end + 4)
        (late, _), (event, ratio) = self.ratios()
        self.assertEqual((late, event), ("late", "idle"))
        self.assertLess(ratio, 9000)

    def test_idle_until_there_is_room(self):
        """Half a window was too little, and then it is whole again."""
        self.settings(tcp_rr=TA, tcp_reordering=3, tcp_limited_transmit=1)
        receiver = self.retransmitting()
        receiver.send(100)
        end = CWND
        while end < 30:
            receiver.ack(end)
            time.sleep(RTT)
            end = 1 + max(receiver.packets())
        receiver.ack(end, (0, 1))           # from now on it waits for half as many
        time.sleep(RTT)
        lost, *_, last = receiver.packets()
        receiver.ack(lost, (lost + 1, last + 1))
        time.sleep(RTT)
        again, *new = receiver.packets()
        self.assertEqual(again, lost)
        hole = 1 + max([last, *new])
        receiver.ack(hole)
        time.sleep(RTT)
        receiver.packets()
        TRACE.read()
        for n in range(2, receiver.info().reordering):
            receiver.ack(hole, (hole + 1, hole + n))
        now = receiver.info()
        self.assertEqual((now.ca_state, now.unacked),
                         (DISORDER, 2 * now.snd_cwnd), now)
        receiver.ack(hole, (lost, lost + 1), (hole + 1, hole + 6))
        self.assertGreater(receiver.info().snd_cwnd, now.snd_cwnd)
        self.assertEqual([event for event, _ in self.ratios()],
                         ["twice", "idle", "false"])


class LimitedTransmit(RrTest):
    """Any sender's: without RR-TCP here."""

    def past_a_hole(self, windows):
        """How many packets are outstanding if packet 0 never comes."""
        self.settings(tcp_rr=0, tcp_reordering=300, tcp_max_reordering=300,
                      tcp_limited_transmit=windows)
        receiver = self.connect(200)
        sysctl(tcp_reordering=3)    # so that Linux lets the window grow by SACKs
        got = CWND
        while True:
            receiver.ack(0, (1, got))
            time.sleep(0.001)
            new = receiver.packets()
            if not new:
                return got
            got = max(new) + 1
            self.assertEqual(receiver.info().unacked, got)

    def test_bound(self):
        self.assertEqual(self.past_a_hole(1), 2 * CWND)
        self.assertEqual(self.past_a_hole(2), 3 * CWND)

    def test_window_grows(self):
        """After slow start, by what is SACKed, as without a bound."""
        self.settings(tcp_rr=0, tcp_reordering=300, tcp_max_reordering=300,
                      tcp_limited_transmit=1)
        receiver = self.connect(300)
        time.sleep(1.5 * receiver.info().rto / 1e6)     # a window of 5 to begin with
        first = 0
        while receiver.info().snd_cwnd < CWND:
            first = 1 + max([first - 1, *receiver.packets()])
            receiver.ack(first)
            time.sleep(RTT)
        sysctl(tcp_reordering=3)
        before = receiver.info().snd_cwnd
        for n in range(first + 2, first + 2 + before):
            receiver.ack(first, (first + 1, n))
        now = receiver.info()
        self.assertEqual((now.snd_cwnd, now.ca_state), (before + 1, DISORDER))

    def test_no_bound(self):
        self.assertEqual(self.past_a_hole(0), 200)

    def test_recovery_is_none(self):
        """What recovery sends is not held back."""
        self.settings(tcp_rr=0, tcp_reordering=3, tcp_limited_transmit=1)
        receiver = self.connect(200)
        got = 4
        for _ in range(40):
            receiver.ack(0, (1, got))
            got = max([got, *(n + 1 for n in receiver.packets())])
        self.assertEqual(receiver.info().ca_state, RECOVERY)
        self.assertGreater(receiver.info().unacked, 2 * CWND)


@unittest.skipUnless(FAILSLAB.exists(), "the kernel has no failslab")
class NoMemory(RrTest):
    def test_plain_tcp(self):
        """Without state it is plain TCP, which knows the longest."""
        self.settings(tcp_reordering=3)
        code = symbols(r" T __tcp_rr_\w+$")
        self.addCleanup((FAILSLAB / "probability").write_text, "0")
        fail_below(FAILSLAB, code[0] - 4096, code[-1] + 4096, tasks="N")
        receiver = self.retransmitting()
        receiver.ack(4)
        receiver.ack(10, (0, 1))
        self.assertEqual(self.events(), [])
        self.assertEqual(receiver.info().ca_state, OPEN)
        (FAILSLAB / "probability").write_text("0")
        receiver = self.retransmitting()
        receiver.ack(4)
        receiver.ack(10, (0, 1))
        self.assertEqual(len(self.events("twice")), 1)


class Hostile(RrTest):
    """
    A receiver that never says that it has what it has not, as no sender could
    repair that, but anything else of DSACKs, and SACKs that cannot be. Of the
    data one packet in 20 is lost.
    """

    WINDOWS = 1
    LOSS = 1 / 20
    MAX = 64
    ACKS = 250              # of a connection: who lies often is not believed

    def setUp(self):
        super().setUp()
        self.settings(tcp_rr=TA + ES, tcp_reordering=3,
                      tcp_max_reordering=self.MAX,
                      tcp_limited_transmit=self.WINDOWS)
        self.rng = random.Random(OPTIONS["seed"])
        self.events, self.ratios = Counter(), []
        self.worst = 0

    def begin(self):
        self.have = set()       # packets
        self.first = 0          # that is missing
        self.top = 0            # not sent yet
        self.again = []         # packets that have been retransmitted
        self.named = set()      # those of which a DSACK was
        self.since, self.rto = time.monotonic(), 0

    def receive(self, receiver, lossy=True):
        """All that has come, and what must be so while it comes."""
        sent = False
        for offset, payload in receiver.data():
            self.assertEqual((offset % MSS, len(payload) % MSS), (0, 0))
            for n in range(offset // MSS, (offset + len(payload)) // MSS):
                sent |= n >= self.top
                if n < self.top:
                    self.again.append(n)
                self.top = max(self.top, n + 1)
                if not lossy or self.rng.random() >= self.LOSS:
                    self.have.add(n)
        now = receiver.info()
        self.assertTrue(3 <= now.reordering <= self.MAX, now)
        if sent and now.sacked and now.ca_state < RECOVERY:
            self.assertLessEqual(now.unacked,
                                 (1 + self.WINDOWS) * now.snd_cwnd, now)
        # The hole at the front has its timeout, and that doubles: all of them
        # are less than two of the last, and a SACK may begin the first anew.
        # An RTT takes back the doubling, but not from the timer that runs.
        self.rto = max(self.rto, now.rto / 1e6)
        age = time.monotonic() - self.since
        self.worst = max(self.worst, age / self.rto)
        self.assertLess(self.worst, 3, f"not repaired: {now}")
        if self.first in self.have or self.first == self.top:
            self.since, self.rto = time.monotonic(), 0
        while self.first in self.have:
            self.have.remove(self.first)
            self.first += 1
        self.have = {n for n in self.have if n > self.first}

    def offer(self, receiver):
        try:
            receiver.send(100)
        except BlockingIOError:
            pass

    def block(self):
        """Of what it has got beyond the hole, at random."""
        if not self.have:
            return None
        begin = end = self.rng.choice(sorted(self.have))
        while end in self.have and self.rng.random() < 0.9:
            end += 1
        return begin * MSS, max(end, begin + 1) * MSS

    def lie(self, seen):
        """
        A DSACK: of what was retransmitted, whether it came twice or not; forged,
        repeated, of a part or of too much, wrapped.
        """
        kind = self.rng.randrange(10)
        begin = MSS * self.rng.randrange(max(0, self.first - 40),
                                         self.first + 20)
        if kind >= 5 and self.again:
            begin = MSS * self.rng.choice(self.again[-10:])
            block = begin, begin + MSS
        elif kind == 0:
            block = begin, begin + MSS * self.rng.randrange(1, 40)
        elif kind == 1 and seen:
            block = self.rng.choice(seen)
        elif kind == 2:
            block = begin + 100, begin + 600
        elif kind == 3:
            block = begin + MSS, begin
        else:
            block = self.rng.randrange(1 << 32), self.rng.randrange(1 << 32)
        seen.append(block)
        del seen[:-20]
        return block

    def connection(self):
        """One, of ACKS random ones; then it is honest, and all comes."""
        self.begin()
        receiver = Receiver(window=1 << 19)
        seen, credits = [], 0
        eager = self.rng.choice((0.03, 0.1, 0.5))
        for step in range(self.ACKS):
            if step % 4 == 0:
                self.offer(receiver)
            time.sleep(self.rng.choice((0, 0, 0, 0.001, 0.01)))
            self.receive(receiver)
            blocks = [self.lie(seen)] if self.rng.random() < eager else []
            while len(blocks) < 3 and self.rng.random() < 0.7:
                if block := self.block():
                    blocks.append(block)
            for begin, end in blocks[:1]:       # within another, it is one too
                if 0 <= begin < end < begin + (1 << 20):
                    self.named.update(range(begin // MSS, -(-end // MSS)))
            ack = max(0, self.first - self.rng.choice((0, 0, 0, 0, 1, 9)))
            receiver.ack(ack * MSS, *blocks, unit=1)
            self.receive(receiver)
            for event in TRACE.read():
                self.events[event["event"]] += 1
                credits += event["event"] == "twice"
                self.ratios.append(int(event["ratio"]))
            self.assertLessEqual(credits, sum(
                n in self.named for n in self.again))
        self.events["retransmissions"] += receiver.info().total_retrans
        enough = self.top + 200
        while self.first < enough:
            self.offer(receiver)
            time.sleep(0.005)
            self.receive(receiver, lossy=False)
            block = self.block()
            receiver.ack(self.first * MSS, *[block] * bool(block), unit=1)
        self.events["packets"] += self.first
        receiver.close()
        TRACE.read()

    def test_random_acks(self):
        for _ in range(OPTIONS["acks"] // self.ACKS):
            self.connection()
        least, most = min(self.ratios), max(self.ratios)
        print(f"hostile: {OPTIONS['acks']} ACKs, seed {OPTIONS['seed']}: "
              f"{dict(self.events)}, FA ratio {least} to {most}, a hole at the "
              f"front for {self.worst:.1f} RTO at the most")
        self.assertLessEqual(most, 9900)
        rare = ("false",) * (OPTIONS["acks"] >= 20000)  # one to four in 2000
        for event in "late", "twice", "timeout", *rare:
            self.assertGreater(self.events[event], 0, event)


def setUpModule():
    global TRACE
    guest.ns("snd", f"ip neigh replace {PEER} lladdr {MAC.hex(':')} "
                    f"dev {guest.SND_DEV} nud permanent")
    guest.ns("snd", f"ethtool -K {guest.SND_DEV} tx off", check=False)
    TRACE = Trace()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in OPTIONS.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    told, rest = parser.parse_known_args()
    OPTIONS.update(vars(told))
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
