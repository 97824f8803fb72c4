#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
What is not sorted arrives as without SRPIC: each frame once and unaltered, and
in the order in which its flow was sent. The remote sends frames that are built
here, for an address that nobody has; data goes around each of them.
"""

import struct
from collections import Counter
from functools import partial
from socket import IPPROTO_AH, IPPROTO_ESP, IPPROTO_TCP, IPPROTO_UDP

from lib.py import (
    ACK,
    CWR,
    ECE,
    FIN,
    PSH,
    RST,
    SYN,
    URG,
    Builder,
    Frame,
    SrpicEnv,
    case,
    exchange,
    group_mac,
    ksft_eq,
    ksft_ge,
    run,
    set_feature,
    set_mtu,
    set_queues,
)

ROUNDS = 8
LENGTH = 200
JUMBO_MTU = 9000
VXLAN_PORT = 4789
CE = 3

# For benchmarks (RFC 2544, RFC 5180) and for documentation (RFC 6676).
NOBODY = {"4": "198.18.0.1", "6": "2001:2::1"}
GROUP = {"4": "233.252.0.1", "6": "ff0e::db8:0:1"}

TIMESTAMP = struct.pack(">BBBBII", 1, 1, 8, 10, 1000, 0)
SACK = struct.pack(">BBBBII", 1, 1, 5, 10, 7000, 8000)
UNKNOWN = struct.pack(">BBH", 253, 4, 0)
FAST_OPEN = struct.pack(">BBBBQ", 1, 1, 34, 10, 0x123456789ABCDEF)
MD5 = struct.pack(">BBBB16x", 1, 1, 19, 18)
# a data sequence signal: acknowledgment and mapping (RFC 8684, section 3.3)
DSS = struct.pack(">BBBBBBIIIH", 1, 1, 30, 18, 2 << 4, 5, 1, 9, 9, LENGTH)


class Sender:
    """What is sent: data of one TCP connection and what goes between it."""

    def __init__(self, macs, source, ipver):
        self.build = Builder(macs, source, NOBODY[ipver])
        self.group = group_mac(GROUP[ipver])
        self.to_group = Builder((self.group, macs[1]), source, GROUP[ipver])
        self.seq = (1 << 32) - 20 * LENGTH      # it wraps
        self.old = self.seq
        self.frames = []

    def add(self, raw, flow, taken=False):
        self.frames.append(Frame(raw, flow, taken))

    def payload(self, seq, length=LENGTH):
        """No two frames are the same."""
        return struct.pack(">I", seq).ljust(length, b"s")

    def data(self, *, length=LENGTH, tos=0, **kwargs):
        """What comes next in the connection, suitable."""
        segment = self.build.tcp(self.seq, self.payload(self.seq, length),
                                 **kwargs)
        self.add(self.build.ip(IPPROTO_TCP, segment, tos=tos), "tcp", True)
        self.old, self.seq = self.seq, (self.seq + length) % (1 << 32)

    def barrier(self, *, payload=True, **kwargs):
        """
        A segment that is not suitable. It has the sequence number of the last
        data: sorted, or sent up while data is held, it goes before that.
        """
        data = self.payload(self.old, LENGTH // 2) if payload else b""
        segment = self.build.tcp(self.old, data, **kwargs)
        self.add(self.build.ip(IPPROTO_TCP, segment), "tcp")

    def tcp_fragments(self):
        segment = self.build.tcp(self.old, self.payload(self.old))
        for raw in self.build.fragments(IPPROTO_TCP, segment,
                                        len(self.frames)):
            self.add(raw, "tcp")

    def udp_fragments(self):
        datagram = self.build.udp(self.payload(self.seq))
        for raw in self.build.fragments(IPPROTO_UDP, datagram,
                                        len(self.frames)):
            self.add(raw, "udp fragments")

    def udp(self, length=LENGTH):
        datagram = self.build.udp(self.payload(self.seq, length))
        self.add(self.build.ip(IPPROTO_UDP, datagram), "udp")

    def multicast(self):
        datagram = self.to_group.udp(self.payload(self.seq))
        self.add(self.to_group.ip(IPPROTO_UDP, datagram), "multicast")

    def icmp(self):
        self.add(self.build.ip(*self.build.echo(
            len(self.frames), self.payload(self.seq))), "icmp")

    def esp(self):
        """What cannot be read: index, number, and what looks random."""
        body = struct.pack(">II", 256, len(self.frames))
        self.add(self.build.ip(IPPROTO_ESP, body + self.payload(self.seq)),
                 "esp")

    def ah(self):
        """Data of the connection behind an authentication header."""
        head = struct.pack(">BBHII12x", IPPROTO_TCP, 4, 0, 256,
                           len(self.frames))
        segment = self.build.tcp(self.old, self.payload(self.old))
        self.add(self.build.ip(IPPROTO_AH, head + segment), "ah")

    def vxlan(self):
        """Data of the same connection, in a tunnel."""
        segment = self.build.tcp(self.seq, self.payload(self.seq))
        inner = self.build.ip(IPPROTO_TCP, segment)
        datagram = self.build.udp(struct.pack(">II", 8 << 24, 5 << 8) + inner,
                                  VXLAN_PORT)
        self.add(self.build.ip(IPPROTO_UDP, datagram), "vxlan")


# What goes between the data: {family: [what adds frames to a Sender]}.
barrier, data = (partial(partial, method)
                 for method in (Sender.barrier, Sender.data))
FAMILIES = {
    "udp": [Sender.udp],
    "fragments": [Sender.tcp_fragments, Sender.udp_fragments],
    "flags": [barrier(flags=SYN, payload=False),
              barrier(flags=SYN | ACK, payload=False),
              barrier(flags=ACK, payload=False),
              barrier(flags=RST, payload=False),
              barrier(flags=RST | ACK), barrier(flags=FIN | ACK),
              barrier(flags=0), barrier(flags=URG | ACK, urgent=1),
              data(flags=PSH | ACK)],
    "ecn": [data(tos=CE), barrier(flags=ECE | ACK), barrier(flags=CWR | ACK)],
    "options": [barrier(options=SACK), barrier(options=TIMESTAMP + SACK),
                barrier(options=UNKNOWN), barrier(options=MD5),
                barrier(options=FAST_OPEN, flags=SYN),
                data(options=TIMESTAMP)],
    "mptcp": [barrier(options=DSS), barrier(options=TIMESTAMP + DSS)],
    "ipsec": [Sender.esp, Sender.ah],
    "vxlan": [Sender.vxlan],
    "icmp": [Sender.icmp],
    "multicast": [Sender.multicast],
    "jumbo": [partial(Sender.udp, length=JUMBO_MTU - 100),
              data(length=JUMBO_MTU - 100)],
}


def check(sent, arrived, when):
    """Of each flow, just what was sent has arrived, and in that order."""
    number = {frame.raw: n for n, frame in enumerate(sent)}
    ksft_eq(len(number), len(sent), "frames are not unique")
    seen = [number[raw] for raw in arrived if raw in number]
    for flow in sorted({frame.flow for frame in sent}):
        here = [n for n in seen if sent[n].flow == flow]
        lost = [n for n, frame in enumerate(sent)
                if frame.flow == flow and n not in here]
        again = [n for n, count in Counter(here).items() if count > 1]
        early = [n for n, after in zip(here, here[1:]) if n > after]
        ksft_eq({"lost": lost, "again": again, "early": early},
                {"lost": [], "again": [], "early": []},
                f"frames of {flow}, as they arrive {when} SRPIC")


def passthrough(env, ipver, name):
    """One family of frames arrives as it was sent, without and with SRPIC."""
    macs = [bytes.fromhex(dev["address"].replace(":", ""))
            for dev in (env.dev, env.remote_dev)]
    sender = Sender(macs, env.address(ipver, remote=True), ipver)
    for _ in range(ROUNDS):
        for add in FAMILIES[name]:
            sender.data()
            sender.data()
            add(sender)

    # frames arrive one by one, and those without ports beside the others
    for aggregation in "gro", "lro":
        set_feature(env, aggregation, False)
    if name == "fragments":
        set_queues(env, 1)
    if name == "jumbo":
        set_mtu(env, JUMBO_MTU)
    env.coalesce()
    env.keep_switch()
    for on in (False, True):
        env.switch(on)
        before = env.stats()
        arrived = exchange(env, sender.frames, sender.group)
        after = env.stats()
        check(sender.frames, arrived, "with" if on else "without")

    moved = {key: after[key] - before[key] for key in after}
    env.figures(taken=moved["packets_taken"], passed=moved["packets_passed"],
                barriers=moved["flush_barrier"])
    kinds = Counter(frame.taken for frame in sender.frames)
    # others may send to this device as well
    ksft_ge(moved["packets_taken"], kinds[True], "suitable frames")
    ksft_ge(moved["packets_passed"], kinds[False], "frames not suitable")
    if any(f.flow == "tcp" and not f.taken for f in sender.frames):
        env.need(moved["flush_barrier"], "no barrier met data in one block: "
                                         "raise RX_USECS")


def main():
    with SrpicEnv(__file__) as env:
        run(env, [case(f"{name}_v{ipver}", passthrough, ipver, name)
                  for name in FAMILIES for ipver in "46"])


if __name__ == "__main__":
    main()
