# SPDX-License-Identifier: GPL-2.0
"""A burst for each family of mutants and each cause of a flush."""

import struct
from functools import partial
from types import SimpleNamespace

from frames import ACK, FIN, IPV6, SYN, TCP, URG, frame
from mutate import (
    CTAG,
    CWR,
    DESTINATION,
    NOBODY_V4,
    NOBODY_V6,
    POOL,
    PSH,
    SOURCE,
    STAG,
    Burst,
)

ECE, RESERVED = 0x040, 0x400
UDP, GRE = 17, 47
HOP_BY_HOP, ROUTING, FRAGMENT, OPTIONS = 0, 43, 44, 60
NOPS, PADDING = 40 * b"\1", bytes([0, 1, 4, 0, 0, 0, 0])
MORE_FRAGMENTS = struct.pack(">BHI", 0, 1, 7)


def flow(v6=False, tags=(), port=5201, host=112):
    addresses = NOBODY_V6[:15] + bytes([host]) + NOBODY_V6 if v6 else \
        bytes([10, 0, 2, host]) + NOBODY_V4
    return SimpleNamespace(
        macs=DESTINATION + SOURCE, v6=v6, addresses=addresses, tags=tags,
        ports=struct.pack(">HH", port, 4000),
        pseudo=int.from_bytes(addresses, "big") + TCP)


def segment(of, n, size=20, cut=None, **fields):
    """The nth 20 bytes of a flow, or what fields make of them."""
    fields = {"seq": 1000 + 20 * n,
              "payload": POOL[20 * n:20 * n + size]} | fields
    return frame(of, **fields)[:cut]


V4, V6, TAGGED = flow(), flow(True), flow(tags=((CTAG, 0x2005),))
v4, v6 = partial(segment, V4), partial(segment, V6)
other = partial(segment, flow(port=5202))
STAMPED = {"tsval": 70000}

# The third segment of a flow, behind the second and the first one, and spoilt: of
# which flow, what all of its segments have, what just this one has.
BARRIERS = (
    ("wrong TCP checksum", V4, {}, {"check": 0x1234}),
    ("FIN", V4, STAMPED, {"flags": FIN | ACK}),
    ("SYN, no ACK", V6, {}, {"flags": SYN}),
    ("ECE and CWR", TAGGED, {}, {"flags": ECE | CWR | ACK}),
    ("URG", V4, {}, {"flags": URG | ACK}),
    ("reserved bit", V4, {}, {"flags": RESERVED | ACK}),
    ("data offset 4", V4, {}, {"doff": 4}),
    ("data offset 15, behind the end", V6, {}, {"doff": 15}),
    ("data offset 0", V4, STAMPED, {"doff": 0}),
    ("timestamp cut short", V4, STAMPED,
     {"options": struct.pack(">II", 0x0101080A, 70000)}),
    ("timestamp, then NOPs", V4, STAMPED,
     {"options": struct.pack(">HIIH", 0x080A, 70000, 0, 0x0101)}),
    ("end of options, then a timestamp", V4, STAMPED,
     {"options": struct.pack(">III", 0x0001080A, 70000, 0)}),
    ("40 bytes of NOPs", V6, {}, {"options": NOPS}),
    ("SACK in data", V4, {}, {"options": b"\1\1\5\x0a" + bytes(8)}),
    ("MD5 option", V4, {}, {"options": b"\x13\x12" + bytes(16) + b"\1\1"}),
    ("router alert", V4, {}, {"ip_options": b"\x94\4\0\0"}),
    ("40 bytes of IP options", V4, {}, {"ip_options": NOPS}),
    ("IP length a byte too small, frame above the least length", V4, {},
     {"length": 59}),
    ("trailer behind an IPv6 packet", V6, {}, {"trailer": 7 * b"\xff"}),
    ("no payload", V4, {}, {"size": 0}))
# Likewise, but it passes: IP or TCP will drop it.
DROPPED = (
    ("IP length a byte too large", V4, {"length": 61}),
    ("IP length 0", V4, {"length": 0}),
    ("IPv6 length 19: not even a TCP header", V6, {"length": 19}),
    ("last byte missing", V4, {"cut": -1}))
# The third one ahead of the first, and no business of the flow.
STRANGERS = (
    ("UDP with the ports of the flow", V4, {"proto": UDP}),
    ("GRE", V6, {"proto": GRE}),
    ("version 5", V4, {"version": 5}),
    ("IPv4 in an IPv6 frame", V4, {"ethertype": IPV6}),
    ("another ethertype", TAGGED, {"ethertype": b"\x88\x64"}),
    ("two tags", TAGGED, {"tags": ((STAG, 5), (CTAG, 5))}),
    ("three tags", V6, {"tags": 3 * ((CTAG, 5),)}),
    ("cut after the tag", TAGGED, {"ethertype": b"\x88\x64", "cut": 18}),
    ("TTL, TOS, DF, window, urgent pointer and PSH", V4,
     {"ttl": 0, "tos": 255, "frag": 0, "window": 0, "urgent": 9,
      "flags": PSH | ACK}))
# What flushes all flows of its hosts.
OF_HOSTS = (
    ("first fragment", V4, {"frag": 0x2000}),
    ("last fragment", V4, {"frag": 2}),
    ("IPv6 fragment header", V6, {"extensions": [(FRAGMENT, MORE_FRAGMENTS)]}),
    ("IPv6 hop-by-hop, routing and destination options", V6,
     {"extensions": [(HOP_BY_HOP, PADDING), (ROUTING, bytes(7)),
                     (OPTIONS, PADDING)]}))
# What flushes no flow of V4 or V6: it is of another one's hosts.
OF_OTHERS = (
    ("fragment of strangers", V4, flow(host=113), {"frag": 0x2000}),
    ("fragment of another VLAN", V4, flow(tags=((CTAG, 5),)),
     {"frag": 0x2000}),
    ("extension header of strangers", V6, flow(True, host=113),
     {"extensions": [(HOP_BY_HOP, PADDING)]}))


def udp(*headers):
    """A packet behind extension headers."""
    return v6(4, extensions=headers, proto=UDP)


def wrapped(n):
    """A segment of a flow whose sequence number soon begins anew."""
    return segment(flow(True, ((STAG, 5),)), n, seq=20 * n - 30, tsval=1)


# Frames, settings that are not the default, and why how many blocks left.
OTHERS = (
    ("reordered, nothing wrong", [v4(2), v4(0), v4(1)], {"poll": 1}),
    ("the sequence number wraps, behind an 802.1ad tag",
     [wrapped(2), wrapped(0), wrapped(1)], {"poll": 1}),
    ("VLAN 0 is no VLAN, a priority no other flow",
     [v4(2), v4(1, tags=((CTAG, 0xA000),)), v4(0, tags=((CTAG, 0),))],
     {"poll": 1}),
    ("UDP behind seven headers, and eight",
     [v6(1), v6(0), udp((HOP_BY_HOP, PADDING), *6 * [(OPTIONS, PADDING)]),
      v6(3), v6(2), udp((HOP_BY_HOP, PADDING), *7 * [(OPTIONS, PADDING)])],
     {"barrier": 1}),
    ("fragments of IPv6: of UDP, and of an extension header",
     [v6(1), v6(0), udp((FRAGMENT, MORE_FRAGMENTS)), v6(3), v6(2),
      udp((FRAGMENT, MORE_FRAGMENTS), (OPTIONS, PADDING))],
     {"barrier": 1}),
    ("TCP header behind the end of the frame",
     [v4(1), other(1), v4(0), v4(2, size=0, ip_options=NOPS, cut=80),
      other(0)], {"poll": 2}),
    ("wrong IP checksum: the NIC vouches for nothing",
     [v4(1), v4(2, ip_check=0x101), v4(0)], {"barrier": 1, "poll": 1}),
    ("sequence number 2^31 away",
     [v4(0), v4(1), v4(2, seq=1040 + (1 << 31)), v4(3)],
     {"overlap": 2, "poll": 1}),
    ("sequence number 2^30 away",
     [v6(0), v6(1, seq=1000 + (1 << 30)), v6(2, seq=1000)],
     {"overlap": 2, "poll": 1}),
    ("duplicate", [v4(0), v4(1), v4(1, ttl=3)], {"overlap": 1, "poll": 1}),
    ("reaches into what is held above", [v4(0), v4(2), v4(1, size=21)],
     {"poll": 1}),
    ("newer timestamp below an older one",
     [v4(1, **STAMPED), v4(0, tsval=70050)], {"timestamp": 1, "poll": 1}),
    ("timestamp 2^31 away, then none",
     [v4(0, **STAMPED), v4(1, tsval=70000 + (1 << 31)), v4(2)],
     {"timestamp": 2, "poll": 1}),
    ("blocks of 2", [v4(1), v4(0), v4(3), v4(2)],
     {"block_size": 2, "block": 2}),
    ("a limit of 3 packets in two flows", [v4(1), other(0), v4(0), other(1)],
     {"full_flush_pkts": 3, "ring": 2, "poll": 1}))


def burst(frames, block_size=32, full_flush_pkts=0, **flushes):
    return Burst(frames, [None] * len(frames), set(), set(), block_size,
                 full_flush_pkts,
                 {f"flush_{cause}": num for cause, num in flushes.items()})


def third(of, common, change):
    return [segment(of, 1, **common), segment(of, 0, **common),
            segment(of, 2, **common | change), segment(of, 3, **common)]


def bursts():
    """[(what it is, burst)]"""
    found = [(name, burst(frames, **how)) for name, frames, how in OTHERS]
    found += [(name, burst(third(of, common, change), barrier=1, poll=1))
              for name, of, common, change in BARRIERS]
    found += [(name, burst(third(of, {}, change), barrier=0, poll=1))
              for name, of, change in DROPPED]
    found += [(name, burst([segment(of, 1), segment(of, 2, **change),
                            segment(of, 0)], poll=1))
              for name, of, change in STRANGERS]
    for name, of, change in OF_HOSTS:
        one = flow(of.v6, port=5202)
        found += [(name, burst(
            [segment(of, 1), segment(one, 1), segment(of, 0),
             segment(of, 2, **change), segment(one, 0)], barrier=2, poll=1))]
    found += [(name, burst([segment(of, 1), segment(of, 0),
                            segment(stranger, 1, **change), segment(of, 3),
                            segment(of, 2)], poll=1))
              for name, of, stranger, change in OF_OTHERS]
    return found
