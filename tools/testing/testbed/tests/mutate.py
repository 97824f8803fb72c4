# SPDX-License-Identifier: GPL-2.0
"""Bursts of TCP segments with mutants of them in between.

This knows frames, and how SRPIC has to read them (read() is written from the
rules, not from the library), but no guest. One number makes one burst.
"""

import random
import struct
from dataclasses import dataclass, field
from functools import lru_cache

from frames import ACK, FIN, IPV4, IPV6, TCP, URG, checksum, frame

DESTINATION = bytes.fromhex("525400000002")     # of topology.sh
SOURCE = bytes.fromhex("5254000000f7")          # nobody else has it
NOBODY_V4 = bytes([10, 0, 2, 99])
NOBODY_V6 = bytes.fromhex("fd000002" + 22 * "0" + "99")
FRAME_MAX = 1514
TAGS = CTAG, STAG = b"\x81\x00", b"\x88\xa8"
PSH, CWR, FLAGS = 0x008, 0x080, 0xFFF

BURST = 63              # below the budget of a poll
JUMBO_BURST = 40
POOL = random.Random(1).randbytes(1 << 16)      # what all flows send
POOL += POOL


class Flow:
    """A connection: what all of its frames have in common."""

    macs = DESTINATION + SOURCE

    def __init__(self, rng, sizes):
        self.v6 = rng.random() < 0.4
        self.tags = rng.choice(
            [(), (), ((CTAG, rng.randrange(1, 4095)),),
             ((CTAG, rng.randrange(8) << 13),),
             ((STAG, rng.randrange(1, 4095)),)])
        host = rng.randrange(100, 250)
        self.addresses = (NOBODY_V6[:15] + bytes([host]) + NOBODY_V6
                          if self.v6 else bytes([10, 0, 2, host]) + NOBODY_V4)
        self.ports = rng.randrange(1 << 32).to_bytes(4, "big")
        self.isn = rng.choice([rng.randrange(1 << 32),
                               (1 << 32) - rng.randrange(5000)])
        self.tsval = rng.choice([None, rng.randrange(1 << 32)])
        self.tick = rng.choice([500, 20000, 1 << 20])   # bytes
        self.offset = rng.randrange(1 << 16)
        vlan = 0
        for tag, tci in self.tags:
            vlan = tci & 0xFFF | (0x1000 if tag == STAG else 0)
        self.key = (vlan, self.addresses), self.ports   # as read() has it
        self.sizes = sizes
        # most are alike, so that they can be merged
        self.size = rng.choice([None, *[rng.randint(*sizes)] * 3])
        self.odd = rng.choice([0, 0.1])         # share of other sizes
        self.label = rng.choice([0, rng.randrange(1 << 20)])
        self.frag = rng.choice([0x4000, 0x4000, 0])
        self.ident = rng.randrange(1 << 16)
        self.step = rng.choice([0, 1, 1, rng.randrange(1 << 16)])
        self.pseudo = int.from_bytes(self.addresses, "big") + TCP
        self.sent = 0

    def segment(self, rng):
        """The next bytes of this flow, as arguments of frame()."""
        size = self.size
        if not size or rng.random() < self.odd:
            size = rng.randint(*self.sizes)
        start = (self.offset + self.sent) & 0xFFFF
        f = {"seq": self.isn + self.sent, "payload": POOL[start:start + size],
             "label": self.label, "frag": self.frag, "ident": self.ident}
        if self.tsval is not None:
            f["tsval"] = self.tsval + self.sent // self.tick
        self.sent += size
        self.ident = self.ident + self.step & 0xFFFF
        return f


# Mutations. The gentle ones leave a segment suitable: it must be sorted.

def m_harmless(rng, flow, f):
    """A field that is no business of a sorter, but of who merges."""
    f |= rng.choice([
        {"tos": rng.randrange(256)}, {"ttl": rng.randrange(256)},
        {"ident": rng.choice([rng.randrange(65536), f["ident"] ^ 1])},
        {"frag": f["frag"] ^ rng.choice([0x4000, 0x8000])},
        {"window": rng.randrange(65536)}, {"ack": rng.randrange(1 << 32)},
        {"urgent": rng.randrange(65536)}, {"flags": ACK | PSH},
        {"tsecr": rng.randrange(1 << 32)}, {"label": rng.randrange(1 << 20)}])


def m_payload(rng, flow, f):
    f["payload"] = rng.randbytes(len(f["payload"]))


def m_priority(rng, flow, f):
    """Another priority in the same VLAN."""
    f["tags"] = tuple((t, tci & 0xFFF | rng.randrange(1, 16) << 12)
                      for t, tci in flow.tags or [(CTAG, 0)])


def m_seq(rng, flow, f):
    f["seq"] += rng.choice([
        rng.randrange(1 << 32), 1 << 31, 1 << 30, -(1 << 30), (1 << 30) - 1,
        1, -1, -rng.randrange(1000), rng.randrange(1000)])


def m_tsval(rng, flow, f):
    now = (f.get("tsval") or 0)
    f["tsval"] = rng.choice([
        now + rng.choice([1, -1, 1 << 31, 1 << 30, -(1 << 30)]),
        rng.randrange(1 << 32), None])


def m_length(rng, flow, f):
    real = len(f["payload"]) + (20 if flow.v6 else 40)
    f["length"] = rng.choice([
        0, 1, 19, 20, 39, 40, 65535, rng.randrange(65536),
        max(real + rng.randrange(-40, 40), 0), max(real - 1, 0), real + 1])


def m_ihl(rng, flow, f):
    f["ihl"] = rng.randrange(16)
    if flow.v6:
        f["version"] = rng.randrange(16)


def m_fragment(rng, flow, f):
    if flow.v6:
        bits = rng.choice([1, rng.randrange(8192) << 3, 0])
        f["extensions"] = ((44, struct.pack(">BHI", 0, bits, 7)),)
    else:
        f["frag"] = rng.choice([0x2000, rng.randrange(1, 8192),
                                0x2000 | rng.randrange(8192)])


def m_ip_options(rng, flow, f):
    if flow.v6:
        f["extensions"] = tuple(
            (rng.choice([0, 43, 60, 135, 139, 140, 50, 51, 59, 253]),
             rng.choice([bytes([0]) + bytes([1, 4, 0, 0, 0, 0]),
                         rng.randbytes(7)]))
            for _ in range(rng.choice([1, 2, 3, 4, 7, 8, 9])))
    else:
        words = rng.randint(1, 10)
        f["ip_options"] = rng.choice([
            b"\1" * 4 * words, b"\x94\x04\0\0", bytes(4 * words),
            rng.randbytes(4 * words)])


def m_tcp_options(rng, flow, f):
    stamp = struct.pack(">II", (f.get("tsval") or 0) & 0xFFFFFFFF, 0)
    f["options"] = rng.choice([
        b"\x08\x0a" + stamp + b"\1\1", b"\1\1\x08\x09" + stamp,
        b"\1\1\x08\x0a", b"\1\1\x08\x0a" + stamp[:4],
        b"\0\1\x08\x0a" + stamp, b"\1\x08\x0a" + stamp + b"\1",
        b"\1\1\x08\x0a" + stamp + b"\0\0\0\0",
        b"\1" * 4 * rng.randint(1, 10), bytes(4 * rng.randint(1, 10)),
        b"\1\1\5\x0a" + rng.randbytes(8), b"\2\4\5\xb4", b"\3\3\7\0",
        b"\x13\x12" + rng.randbytes(16) + b"\1\1",
        b"\x1e\x08" + rng.randbytes(6), b"\1\1\1\1\1\1\x08\x0a" + stamp[:4],
        rng.randbytes(12), rng.randbytes(4 * rng.randint(1, 10))])


def m_check(rng, flow, f):
    """Of TCP, or of IPv4: without GRO, nobody vouches for either."""
    f[rng.choice(["check", "ip_check"])] = rng.choice(
        [1, 0xFFFF, rng.randrange(1, 65536)])


def sets(field, value):
    """A mutation of one field."""
    def change(rng, flow, f):
        f[field] = value(rng)
    return change


m_version = sets("version", lambda rng: rng.randrange(16))
m_doff = sets("doff", lambda rng: rng.randrange(16))
m_flags = sets("flags", lambda rng: rng.choice([
    ACK ^ 1 << rng.randrange(12), rng.randrange(FLAGS + 1)]))
m_tags = sets("tags", lambda rng: tuple(
    (rng.choice([CTAG, CTAG, STAG, b"\x91\x00"]),
     rng.choice([0, 1, 4095, rng.randrange(65536)]))
    for _ in range(rng.randint(0, 3))))
m_trailer = sets("trailer", lambda rng: rng.choice(
    [bytes, rng.randbytes])(rng.randint(1, 40)))
m_empty = sets("payload", lambda rng: b"")
m_proto = sets("proto", lambda rng: rng.choice([
    17, 47, 51, 4, 41, 132, 1, 58, 0, 255, rng.randrange(256)]))
m_ethertype = sets("ethertype", lambda rng: rng.choice([
    IPV4, IPV6, CTAG, STAG, b"\x88\x64", b"\x88\x47", b"\x00\x20",
    b"\x08\x06", rng.randbytes(2)]))
m_large = sets("payload", lambda rng: POOL[:rng.randint(1000, 1380)])


# Mutations of the bytes: they come after the checksums.

def b_truncate(rng, flow, raw):
    head = 14 + 4 * len(flow.tags)
    end = rng.choice([14, head, head + 1, head + 20, head + 40, head + 54,
                      head + 60, len(raw) - 1, rng.randrange(14, len(raw))])
    return raw[:max(end, 14)]


def b_flip(rng, flow, raw):
    raw = bytearray(raw)
    for _ in range(rng.choice([1, 1, 2, 8])):
        raw[rng.randrange(12, min(len(raw), 90))] ^= 1 << rng.randrange(8)
    return bytes(raw)


def b_zero_check(rng, flow, raw):
    head = 14 + 4 * len(flow.tags) + (40 if flow.v6 else 20)
    return raw[:head + 16] + b"\0\0" + raw[head + 18:]


GENTLE = [*[m_harmless] * 4, m_payload, m_priority]
BYTES = [b_truncate, b_flip, b_zero_check]
ROUGH = [
    m_seq, m_tsval, m_length, m_ihl, m_version, m_doff, m_flags, m_fragment,
    m_ip_options, m_tcp_options, m_tags, m_trailer, m_check, m_empty, m_proto,
    m_ethertype, m_large, *BYTES]


def is_repaired(raw):
    """Whether QEMU's igb sends another frame: it fills in a length of 0."""
    at = network(raw)
    return raw[at - 2:at] == IPV6 and raw[at + 4:at + 6] == b"\0\0"


def mutant(rng, flow, segment, sound, kinds):
    """A segment of a flow, spoilt in one or more ways; sound is its frame."""
    raw = sound
    while raw == sound or is_repaired(raw):
        f, spoil = dict(segment), None
        for change in rng.sample(kinds, rng.choice([1, 1, 1, 2, 3])):
            if change in BYTES:
                spoil = change
            else:
                change(rng, flow, f)
        raw = frame(flow, **f)
        if spoil:
            raw = spoil(rng, flow, raw)
    return raw[:max(len(sound) + 4, FRAME_MAX)]     # with a tag


VALID, GENTLE_ONE, ROUGH_ONE = range(3)


@dataclass
class Burst:
    """Frames that arrive in one poll, and the settings that they meet."""

    frames: list
    origin: list        # of each frame: its flow as read() has it
    mutants: set        # indices of frames
    gentle: set = field(default_factory=set)    # those that stay suitable
    block_size: int = 128
    full_flush_pkts: int = 0
    expected: dict = field(default_factory=dict)    # counters, in the corpus

    def without(self, start, number):
        """This burst with fewer frames."""
        keep = [n for n in range(len(self.frames))
                if not start <= n < start + number]
        return Burst([self.frames[n] for n in keep],
                     [self.origin[n] for n in keep],
                     {at for at, n in enumerate(keep) if n in self.mutants},
                     {at for at, n in enumerate(keep) if n in self.gentle},
                     self.block_size, self.full_flush_pkts)

    def text(self, part):
        """
        An entry of the corpus: how the device is set up, settings, then a
        frame on each line, a mutant with an x behind it.
        """
        head = (f"part={part} block_size={self.block_size} "
                f"full_flush_pkts={self.full_flush_pkts}")
        return "\n".join([head, *(
            raw.hex() + " x" * (n in self.mutants)
            for n, raw in enumerate(self.frames))])


def corpus(text):
    """
    [(comment, part, burst)]: entries are as text() makes them, with an empty
    line between two. The part may be left out: None. Flushes may be added to
    the settings, as flush_CAUSE=NUMBER.
    """
    found = []
    for entry in text.strip().split("\n\n"):
        lines = entry.split("\n")
        comment = " ".join(line[1:].strip() for line in lines
                           if line.startswith("#"))
        lines = [line for line in lines if line and line[0] != "#"]
        if not lines:
            continue
        numbers = {name: int(value) for name, value in
                   (pair.split("=") for pair in lines[0].split())}
        expected = {name: value for name, value in numbers.items()
                    if name.startswith("flush_")}
        frames = [bytes.fromhex(line.removesuffix(" x")) for line in lines[1:]]
        mutants = {n for n, line in enumerate(lines[1:])
                   if line.endswith(" x")}
        found.append((comment, numbers.get("part"), Burst(
            frames, [None] * len(frames), mutants, set(),
            numbers["block_size"], numbers["full_flush_pkts"], expected)))
    return found


def shares(rng, total, parts):
    """Total as so many random summands."""
    cuts = sorted(rng.randint(0, total) for _ in range(parts - 1))
    return [b - a for a, b in zip([0, *cuts], [*cuts, total])]


@lru_cache(2)
def valid_flows(seed, jumbo):
    """[(flow, segment, frame)] of one or two flows, enough for a burst."""
    rng = random.Random(seed)
    sizes = rng.choice([(1, 12), (20, 120), (20, 120), (100, 300),
                        (100, 300), (1200, 1380)])
    if jumbo:
        sizes = rng.choice([(1, 8900), (8000, 8900), (1000, 4000)])
    flows = [Flow(rng, sizes) for _ in range(rng.choice([1, 1, 1, 2]))]
    found = []
    for _ in range(JUMBO_BURST if jumbo else BURST):
        flow = rng.choice(flows)
        segment = flow.segment(rng)
        found.append((flow, segment, frame(flow, **segment)))
    return found


def arrival(rng, numbers):
    """In which order they come: some more, some less out of order."""
    depth = rng.choice([2, 10, BURST])
    return sorted(numbers, key=lambda n: n + depth * rng.random())


def burst(seed, number, jumbo=False, is_gentle=False):
    """
    The burst of this seed and number. Valid flows serve for some bursts.

    Rough mutants come in clusters: each of these may end a block. Gentle ones
    lie anywhere; is_gentle says that there are no others.
    """
    segments = valid_flows(seed << 32 | number // 8, jumbo)
    rng = random.Random(seed << 32 | 1 << 31 | number)
    total = len(segments)
    order = rng.sample(range(total), total)
    rough = 0 if is_gentle else rng.randrange(total * 2 // 7)
    gentle = rng.choice([0, *[rng.randrange(total * 2 // 5)] * 2])
    spoilt = [(mutant(rng, *segments[n], ROUGH), segments[n][0], ROUGH_ONE)
              for n in order[:rough]]
    items = [(*segments[n], n in order[rough:rough + gentle])
             for n in arrival(rng, order[rough:])]
    items = [(mutant(rng, flow, segment, sound, GENTLE), flow, GENTLE_ONE)
             if change else (sound, flow, VALID)
             for flow, segment, sound, change in items]
    clusters = rng.randint(1, 4) if jumbo else rng.randint(4, 14)
    for size in shares(rng, rough, clusters):
        at = rng.randint(0, len(items))
        items[at:at] = [spoilt.pop() for _ in range(size)]
    return Burst([raw for raw, _, _ in items],
                 [flow.key for _, flow, _ in items],
                 {n for n, item in enumerate(items) if item[2] != VALID},
                 {n for n, item in enumerate(items) if item[2] == GENTLE_ONE},
                 rng.choice([128, 128, 32, 32, 32, 32, rng.randint(1, 128)]),
                 rng.randint(1, 80) if rng.random() < 0.05 else 0)


# How SRPIC has to read a frame

PASS, BARRIER, BARRIER_ACK, BARRIER_PAIR, TAKE = (
    "pass", "barrier", "barrier_ack", "barrier_pair", "take")
FRAGMENT, AUTHENTICATION, NOTHING = 44, 51, 59
EXTENSIONS = {0, 43, FRAGMENT, AUTHENTICATION, NOTHING, 60}
EXTENSIONS_MAX = 8
PADDED_TO = 46          # from IP on


def word(raw, at):
    return raw[at] << 8 | raw[at + 1]


def leads_to_tcp(raw, at, kind):
    """Whether a header of this kind, which begins there, leads to TCP."""
    for _ in range(EXTENSIONS_MAX):
        if kind == TCP:
            return True
        if kind not in EXTENSIONS or kind == NOTHING or len(raw) < at + 2:
            return False
        if kind == FRAGMENT:
            return raw[at] == TCP or raw[at] in EXTENSIONS
        size = 4 * (raw[at + 1] + 2) if kind == AUTHENTICATION else \
            8 * (raw[at + 1] + 1)
        kind, at = raw[at], at + size
    return True


def read(raw, nic_checks, gro, hold=False):
    """
    (what becomes of a frame, its flow): a flow is (hosts, ports).

    nic_checks says whether the NIC's verdict of the checksum is in use, gro
    whether the host checks what has no verdict, hold whether packets are held
    beyond the poll: a FIN is a byte then, and a pure ACK may be late.
    """
    at, vlan, proto = 14, 0, raw[12:14]
    if proto in TAGS:
        vlan = word(raw, 14) & 0xFFF
        if vlan and proto == STAG:
            vlan |= 0x1000
        at, proto = 18, raw[16:18]
    room = len(raw) - at
    if proto == IPV4 and room >= 20:
        hosts, tcp, size = raw[at + 12:at + 20], at + 20, word(raw, at + 2)
        is_tcp = 0x45 <= raw[at] <= 0x4F and raw[at + 9] == TCP
        whole = not word(raw, at + 6) & 0x3FFF
        has_ports = whole and raw[at] == 0x45
        head = 4 * (raw[at] & 15)
        # the NIC's verdict is one for both sums
        nic_checks = nic_checks and checksum(raw[at:tcp]) == 0
    elif proto == IPV6 and room >= 40:
        hosts, tcp, size = raw[at + 8:at + 40], at + 40, word(raw, at + 4) + 40
        is_tcp = raw[at] >> 4 == 6 and leads_to_tcp(raw, tcp, raw[at + 6])
        whole = has_ports = raw[at + 6] == TCP
        head = 40
    else:
        return PASS, None
    if not is_tcp or size > room or whole and size < head + 20:
        return PASS, None
    if not has_ports or size < room and room > PADDED_TO:
        return BARRIER_PAIR, ((vlan, hosts), None)
    flow = (vlan, hosts), raw[tcp:tcp + 4]
    segment = raw[tcp:at + size]
    doff = segment[12] >> 4
    flags = word(segment, 12) & 0xFFF & ~PSH
    fin = flags & FIN if hold else 0
    usual = flags ^ fin == ACK and (doff == 5 or doff == 8 and
                                    segment[20:24] == b"\1\1\x08\x0a")
    if hold and usual and not fin and len(segment) == 4 * doff:
        return BARRIER_ACK, flow
    suitable = (
        usual and len(segment) + fin > 4 * doff
        and (nic_checks or gro and size == room)
        and checksum(segment, int.from_bytes(hosts, "big") + TCP
                     + len(segment)) == 0)
    return (TAKE if suitable else BARRIER), flow


def network(raw):
    """Where IP begins."""
    at = 14
    while raw[at - 2:at] in TAGS:
        at += 4
    return at


def segments(raw, kind, tcp, size, step):
    """
    The frames that an aggregate is made of, or itself alone if it is none that
    GSO can do this with: headers or checksums differ from what they ought to be.

    kind is virtio's, 0 if just the checksum is to be made; tcp says where TCP
    begins, size is that of the payload of all but the last one, step is what
    IPv4 identifiers grow by.
    """
    at, head = network(raw), tcp + 4 * (raw[tcp + 12] >> 4)
    v4 = raw[at - 2:at] == IPV4
    hosts = raw[at + 12:at + 20] if v4 else raw[at + 8:at + 40]
    pseudo = int.from_bytes(hosts, "big") + TCP
    flags = word(raw, tcp + 12)
    if not kind:
        size = len(raw)
    elif kind != (1 if v4 else 4) | (0x80 if flags & CWR else 0) or \
            not 0 < size < len(raw) - head:
        return [raw]
    if (word(raw, tcp + 16) - pseudo - (len(raw) - tcp)) % 65535 or \
            (checksum(raw[at:at + 20]) or word(raw, at + 2) != len(raw) - at
             if v4 else word(raw, at + 4) != len(raw) - at - 40):
        return [raw]
    found = []
    for n, start in enumerate(range(head, len(raw), size)):
        part = bytearray(raw[:head] + raw[start:start + size])
        first, last = not n, start + size >= len(raw)
        struct.pack_into(">I", part, tcp + 4, int.from_bytes(
            raw[tcp + 4:tcp + 8], "big") + start - head & 0xFFFFFFFF)
        struct.pack_into(">HHH", part, tcp + 12, flags & ~(
            (0 if first else CWR) | (0 if last else PSH | FIN)),
            word(raw, tcp + 14), 0)
        good = checksum(part[tcp:], pseudo + len(part) - tcp)
        struct.pack_into(">H", part, tcp + 16, good)
        if v4:
            struct.pack_into(">HH", part, at + 2, len(part) - at,
                             word(raw, at + 4) + n * step & 0xFFFF)
            part[at + 10:at + 12] = bytes(2)
            struct.pack_into(">H", part, at + 10, checksum(part[at:at + 20]))
        else:
            struct.pack_into(">H", part, at + 4, len(part) - at - 40)
        found.append(bytes(part))
    return found


def parts(raw, how, is_sent):
    """
    The frames that came up as raw; how has segments()'s arguments but the last
    one, or is None. Whether identifiers grow, is_sent() says: of a frame, if it
    was sent.
    """
    if not how:
        return [raw]
    grown = segments(raw, *how, 1)
    return grown if all(map(is_sent, grown)) else segments(raw, *how, 0)


def without_urgent(raw):
    """A frame without an urgent pointer that nobody reads: GRO may lose it."""
    at = network(raw)
    tcp = at + (20 if raw[at - 2:at] == IPV4 else 40)
    proto = raw[at + 9:at + 10] if raw[at - 2:at] == IPV4 else \
        raw[at + 6:at + 7]
    urgent = raw[tcp + 18:tcp + 20]
    if raw[at - 2:at] not in (IPV4, IPV6) or proto != bytes([TCP]) or \
            len(urgent) < 2 or urgent == b"\0\0" or raw[tcp + 13] & URG:
        return raw
    good = (word(raw, tcp + 16) + word(urgent, 0)) % 65535
    return b"%b%b\0\0%b" % (raw[:tcp + 16], good.to_bytes(2, "big"),
                            raw[tcp + 20:])


def padded(raw):
    """
    What frames are told apart by. One is padded to 60 bytes, without its tag
    if that is taken out.
    """
    return without_urgent(raw).ljust(64, b"\0")


def places(frames, came):
    """
    Which of the frames each one is that came, None for one of nobody's. Equal
    ones count as come in order.
    """
    left = {}
    for n in reversed(range(len(frames))):
        left.setdefault(padded(frames[n]), []).append(n)
    stacks = [left.get(padded(raw)) for raw in came]
    return [stack.pop() if stack else None for stack in stacks]


def sequence(raw):
    """The sequence number of a suitable frame."""
    at = network(raw)
    at += 24 if raw[at - 2:at] == IPV4 else 44
    return int.from_bytes(raw[at:at + 4], "big")


def by_flow(verdicts, left):
    """
    Frames by their flow, as they left: a barrier of hosts is in each of their
    flows, and with what passes in one of barriers.
    """
    flows = {None: []} | {flow: [] for verdict, flow in verdicts.values()
                          if verdict != BARRIER_PAIR}
    for n in left:
        verdict, flow = verdicts[n]
        for known, order in flows.items():
            if known == flow or verdict == BARRIER_PAIR and (
                    not known or known[0] == flow[0]):
                order.append(n)
    return flows.values()


@lru_cache(256)
def gro_key(raw):
    """
    What else than SRPIC GRO tells flows apart by: tags and IPv6's flow label.
    None if it does not know the frame for TCP: that overtakes what it keeps.
    """
    at = network(raw)
    if raw[at - 2:at] == IPV4:
        tcp, size, key = at + 20, word(raw, at + 2), raw[12:at]
        hosts, sound = raw[at + 12:tcp], not checksum(raw[at:tcp])
    else:
        tcp, size = at + 40, 40 + word(raw, at + 4)
        key = raw[12:at], raw[at + 1] & 15, raw[at + 2:at + 4], raw[at + 6]
        hosts, sound = raw[at + 8:tcp], True
    segment = raw[tcp:at + size]
    sound = sound and 20 <= 4 * (segment[12] >> 4) <= len(segment) and \
        not checksum(segment, int.from_bytes(hosts, "big") + TCP
                     + len(segment))
    return key if sound else None


def overtaken(frames, verdicts, left, gro):
    """
    Which frame left ahead of one that came before it, and is not above it, if
    any did: what holds even if some wait longer than others. A pure ACK that is
    late need not wait for what was sent behind it. GRO keeps some
    frames, and others overtake them which it does not take for the same flow's:
    it looks at frames as they arrived, with the padding.
    """
    for order in by_flow(verdicts, left):
        for at, n in enumerate(order):
            for later in order[at + 1:]:
                kinds = {verdicts[n][0], verdicts[later][0]}
                if later > n or kinds == {TAKE} and \
                        sequence(frames[n]) - sequence(frames[later]) & 1 << 31:
                    continue
                if verdicts[n][0] == BARRIER_ACK and \
                        verdicts[later][0] == TAKE and not \
                        sequence(frames[later]) - sequence(frames[n]) & 1 << 31:
                    continue
                if gro and (kinds - {TAKE, BARRIER, BARRIER_ACK}
                            or not gro_key(frames[n])
                            or gro_key(frames[n]) != gro_key(frames[later])):
                    continue
                return f"frame {n} left ahead of frame {later}"
    return None


def disorder(frames, verdicts, left, whole):
    """
    What is wrong with the order in which frames left, if anything.

    verdicts are forecast()'s, left has indices of frames. Where all that left
    so far came before all that is to leave, a block may have ended; whole says
    that none did without a barrier. In between a flow must be sorted, equal
    numbers as they came, and there can be no barrier.
    """
    for order in by_flow(verdicts, left):
        last, newest, closed = None, -1, True
        for n, came in zip(order, sorted(order)):
            held = last is not None and \
                verdicts[last][0] == verdicts[n][0] == TAKE
            if held and (whole or not closed):
                above = sequence(frames[n]) - sequence(frames[last])
                wrong = above & 1 << 31 or not above and n < last
            else:
                wrong = not closed
            if wrong:
                return f"frame {last} left ahead of frame {n}"
            last, newest = n, max(newest, n)
            closed = newest == came
    return None


def gro_disorder(frames, verdicts, left, whole, sort=True):
    """
    As disorder(), with GRO: of what SRPIC has taken, and GRO does not take for
    another flow. Or, if it sorts nothing, as they came.
    """
    taken = {n: (TAKE if sort else BARRIER, (flow, gro_key(frames[n])))
             for n, (verdict, flow) in verdicts.items()
             if verdict == TAKE and gro_key(frames[n])}
    return disorder(frames, taken, [n for n in left if n in taken], whole)


@dataclass
class Forecast:
    """What the library must make of a burst."""

    taken: int = 0
    passed: int = 0
    met: int = 0        # mutants that met held packets of their own flow
    met_rough: int = 0  # likewise, without the gentle ones
    barrier: int = 0    # blocks flushed by barriers
    poll: int = 0       # blocks left at the end
    exact: bool = True  # whether barrier and poll are, not just the rest
    verdicts: dict = field(default_factory=dict)    # read(), by index


def forecast(burst, arrived, nic_checks, gro):
    """
    Follows a burst's frames, padded as they arrived; None for one that did
    not.

    A mutant met held packets of its own flow if it still reads as the flow
    it was made from (a fragment: as its hosts), and valid frames or suitable
    mutants of that were held when it came. Blocks that may have been full
    are taken for empty: the count is a lower bound.
    """
    out, held, taken = Forecast(), {}, 0
    limit = burst.full_flush_pkts or 1 << 30
    for n, raw in enumerate(arrived):
        if not raw:
            continue
        verdict = TAKE if nic_checks or gro else BARRIER
        flow = burst.origin[n]
        if not flow or n in burst.mutants or len(raw) <= 64:
            verdict, flow = read(raw, nic_checks, gro)
        out.verdicts[n] = verdict, flow
        if n in burst.mutants and flow:
            met = any(
                pkts and known == burst.origin[n]
                and (known == flow if flow[1] else known[0] == flow[0])
                for known, pkts in held.items())
            out.met += met
            out.met_rough += met and n not in burst.gentle
        if verdict != TAKE:
            out.passed += 1
            if verdict == BARRIER:
                out.barrier += held.pop(flow, None) is not None
            elif verdict == BARRIER_PAIR:
                pair = [known for known in held if known[0] == flow[0]]
                out.barrier += len(pair)
                for known in pair:
                    del held[known]
            continue
        out.taken += 1
        pkts = held.get(flow, 0)
        if pkts is not None:
            pkts += 1
        if pkts is None or pkts >= burst.block_size:
            pkts, out.exact = None, False
        held[flow] = pkts
        taken += 1
        if taken >= limit:
            held, taken = {}, 0
    out.poll = len(held)
    return out
