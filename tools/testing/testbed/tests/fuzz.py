#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fuzz.py MUTANTS SEED: mutants among valid flows, with SRPIC off and on.

So many are rough: each is spoilt in a way that SRPIC may have to refuse it for.
Gentle ones, which stay suitable segments, come on top.

Each burst of mutate.py goes over the wire several times and is received in one
poll, which the counters confirm where blocks are not cut short otherwise. First
with neither SRPIC nor GRO: it must keep its order then. The same must come up
with SRPIC, and with SRPIC while packets are held. With GRO, what comes up is
segmented again first, and the same must come up with GRO alone. With SRPIC, the
order and the counters must be what mutate.py says; with hold, none may newly
overtake another. A burst that fails is shrunk and printed as an entry for
found.txt, which is replayed first, behind families.py.

Whether identifiers grow or are the same in an aggregate, no tap can tell: one of
both must give what was sent. forward.py has the kernel segment them.

How long blocks are, and how many mutants meet held packets, wait, or are merged,
is left to chance: it is printed always, but judged from ENOUGH rough mutants on
only.
"""

import argparse
import ctypes
import mmap
import socket
import struct
import sys
import time
from collections import Counter
from pathlib import Path

import families
import guest
import mutate
from device import Device, Settings
from frames import ETH_P_ALL, Sender, namespace

DUT = guest.DUT
FOUND = Path(__file__).with_name("found.txt")
QUIET_S = 0.1           # virtual time, so free
HOLD_USECS = 5000       # what is held then comes up within that
REPORTS_MAX = 5
ENOUGH, MANY = 1000, 10000     # rough mutants
PROGRESS_BURSTS = 100
VNET_HDR = 10           # struct virtio_net_hdr


def gso(header):
    """
    How a frame with this struct virtio_net_hdr is to be segmented, and given
    its checksum, as mutate.segments() has it, or None.
    """
    flags, kind, _, size, start, _ = struct.unpack("BBHHHH", header)
    return (kind, start, size) if kind or flags & 1 else None


def segmented(records, sent):
    """
    (records of the frames as they were on the wire, how many of these were
    merged), by those that were sent.
    """
    found, merged = [], 0
    for (data, *rest), how in records:
        parts = mutate.parts(data, how, lambda raw, rest=rest: (
            mutate.without_urgent(raw), *rest) in sent)
        found += [(raw, *rest) for raw in parts]
        merged += len(parts) if len(parts) > 1 else 0
    return found, merged


class Tap:
    """
    What comes up, through a PACKET_RX_RING: one copy and no system call.

    A record is what a tap can know of a frame: its bytes from the MAC header
    on, the VLAN tag that was taken out, protocol, and where IP begins.
    """

    SLOT, SLOTS = 128 << 10, 256        # a slot holds the longest aggregate

    def __init__(self, netns="rcv", device=DUT, source=mutate.SOURCE):
        # The last one to take a frame gets it in a list with some that follow,
        # when others have got those: let that be a socket that wants none.
        self.source = source
        with namespace(netns):
            self.other = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            none = ctypes.create_string_buffer(
                struct.pack("HBBI", 6, 0, 0, 0))        # BPF: return 0
            self.other.setsockopt(socket.SOL_SOCKET, 26, struct.pack(
                "HQ", 1, ctypes.addressof(none)))       # SO_ATTACH_FILTER
            self.other.bind((device, ETH_P_ALL))
        packet = 263                                    # SOL_PACKET
        self.socket.setsockopt(packet, 10, 1)           # TPACKET_V2
        self.socket.setsockopt(packet, 23, 1)           # IGNORE_OUTGOING
        self.socket.setsockopt(packet, 15, 1)           # VNET_HDR
        self.socket.setsockopt(packet, 5, struct.pack(  # RX_RING
            "IIII", self.SLOT, self.SLOTS, self.SLOT, self.SLOTS))
        self.ring = mmap.mmap(self.socket.fileno(), self.SLOT * self.SLOTS)
        self.next = 0
        with namespace(netns):
            self.socket.bind((device, ETH_P_ALL))

    def records(self):
        """
        All that have come up by now, of the fuzzer's own, and how each one is
        to be segmented: mutate.segments()'s arguments, or None.
        """
        ring, found = self.ring, []
        while True:
            at = self.next * self.SLOT
            status, length, kept, mac, net, _, _, tci, tpid = \
                struct.unpack_from("IIIHHIIHH", ring, at)
            if not status & 1:
                return found
            if status & 2 or kept != length:
                raise RuntimeError(f"frame of {length} bytes was cut")
            data = ring[at + mac:at + mac + kept]
            if data[6:12] == self.source:
                tag = struct.pack(">HH", tpid, tci) if status & 16 else b""
                found.append(((data, tag, ring[at + 34:at + 36], net - mac),
                              gso(ring[at + mac - VNET_HDR:at + mac])))
            struct.pack_into("I", ring, at, 0)
            self.next = (self.next + 1) % self.SLOTS

    def dropped(self):
        """Frames that found no slot since the last call."""
        return struct.unpack("II", self.socket.getsockopt(263, 6, 8))[1]


def wire_bytes(record):
    """The frame as it was on the wire."""
    data, tag, _, _ = record
    return data[:12] + tag + data[12:]


def set_mtu(mtu):
    """Of both ends of the path to the device under test."""
    # A change that takes the link away while a frame is sent makes igb reset,
    # with an error message: so take the devices down.
    ends = ("rtr", guest.RTR_DEV), ("rcv", DUT)
    for name, dev in ends:
        guest.ns(name, f"ip link set {dev} down")
    guest.ns("rcv", f"ethtool -G {DUT} rx 4096")
    for name, dev in ends:
        guest.ns(name, f"ip link set {dev} mtu {mtu}")
        guest.ns(name, f"ip link set {dev} up")
    time.sleep(3)       # for the link


class Fuzzer:
    """Sends bursts off and on, judges, sums up."""

    def __init__(self):
        guest.ns("rcv", f"ip link set {DUT} promisc on")    # and any VLAN
        guest.poll_in_a_thread(True)
        self.device, self.settings = Device(), Settings()
        self.tap, self.sender = Tap(), Sender(guest.RTR_DEV)
        self.mtu, self.nic_checks, self.gro = 1500, True, False
        self.sums, self.failed, self.differ = Counter(), 0, None

    def configure(self, part):
        """Set up the device under test for what follows: see PARTS."""
        self.part = part
        mtu, gro, rx, rxvlan = PARTS[part][1]
        guest.ns("rcv", f"ethtool -K {DUT} gro {gro} rx {rx} "
                        f"rxvlan {rxvlan}")
        self.nic_checks, self.gro = rx == "on", gro == "on"
        if mtu != self.mtu:
            set_mtu(mtu)
            self.mtu = mtu
        self.sender.load([])
        self.exchange(False)        # whatever the above has sent
        self.last = self.counters()

    def counters(self):
        """SRPIC's counters."""
        return {name.removeprefix("srpic_"): value
                for name, value in self.device.stats().items()
                if name.startswith("srpic_")}

    def exchange(self, on):
        """Send what is loaded; the records that come up."""
        self.device.switch(on)
        self.sender.send()
        time.sleep(QUIET_S)
        return self.tap.records()

    def up(self, on, sent):
        """As exchange(), as they were on the wire; and how many were merged."""
        found, merged = segmented(self.exchange(on), sent)
        return [self.known(record) for record in found], merged

    def known(self, record):
        """What must be the same of a record."""
        if not self.gro:
            return record
        return mutate.without_urgent(record[0]), *record[1:]

    def same(self, off, up, what):
        """What is wrong, unless the same came up as without SRPIC and GRO."""
        if sorted(off) == sorted(up):
            return []
        self.differ = Counter(off), Counter(up)
        return [f"{len(off)} frames came up without and {len(up)} with "
                f"{what}, and they differ"]

    def complaints(self, burst):
        """Send a burst without and with SRPIC: ([what is wrong], figures)."""
        self.settings.set("block_size", burst.block_size)
        self.settings.set("full_flush_pkts", burst.full_flush_pkts)
        self.sender.load(burst.frames)
        self.differ = None
        if self.gro:
            self.device.set_gro(False)
        off = [self.known(record) for record, _ in self.exchange(False)]
        sent, wrong = Counter(off), []
        if self.gro:
            self.device.set_gro(True)
            wrong += self.same(off, self.up(False, sent)[0], "GRO alone")
        on, merged = self.up(True, sent)
        now = self.counters()
        moved = Counter(guest.difference(self.last, now))
        self.last = now
        figures = Counter(moved)

        came = mutate.places(burst.frames, map(wire_bytes, off))
        if came != sorted(n for n in came if n is not None):
            wrong.append("frames came up in another order without SRPIC")
            return wrong, figures
        arrived = [None] * len(burst.frames)
        for n, record in zip(came, off):
            arrived[n] = wire_bytes(record)
        if not all(raw for n, raw in enumerate(arrived)
                   if n not in burst.mutants):
            wrong.append("a frame that must come up did not, or not whole")
        told = mutate.forecast(burst, arrived, self.nic_checks, self.gro)
        wrong += self.same(off, on, "SRPIC") or \
            self.order(burst, arrived, on, told, moved)
        wrong += self.held(burst, arrived, off, told)
        expected = {"packets_taken": told.taken,
                    "packets_passed": told.passed}
        if told.exact:
            expected |= {"flush_barrier": told.barrier,
                         "flush_poll": told.poll}
        # the corpus says what is so where the NIC checks the sums
        if burst.expected and all(
                mutate.read(raw, True, False) == told.verdicts[n]
                for n, raw in enumerate(arrived) if raw):
            expected |= burst.expected
        wrong += [f"{name} is {moved[name]}, not {value}"
                  for name, value in expected.items() if moved[name] != value]
        figures.update(mutants=len(burst.mutants), met=told.met,
                       rough=len(burst.mutants - burst.gentle),
                       met_rough=told.met_rough, merged=merged,
                       arrived=sum(arrived[n] is not None
                                    for n in burst.mutants))
        return wrong, figures

    def order(self, burst, arrived, on, told, moved):
        """What is wrong with the order of what came up with SRPIC."""
        left = mutate.places(burst.frames, map(wire_bytes, on))
        if not self.gro:
            whole = moved["blocks"] == \
                moved["flush_barrier"] + moved["flush_poll"]
            found = mutate.disorder(arrived, told.verdicts, left, whole)
        else:
            found = mutate.overtaken(arrived, told.verdicts, left, True) or \
                mutate.gro_disorder(arrived, told.verdicts, left,
                                    moved["blocks"] == moved["flush_poll"])
        return [found] if found else []

    def held(self, burst, arrived, off, told):
        """What is wrong while packets are held beyond the poll."""
        self.settings.set("hold_usecs", HOLD_USECS)
        on, _ = self.up(True, Counter(off))
        self.settings.set("hold_usecs", 0)
        self.last, before = self.counters(), self.last
        self.sums["waited"] += self.last["flush_deadline"] - \
            before["flush_deadline"]
        if wrong := self.same(off, on, "SRPIC and hold"):
            return wrong
        # told is of the polls without hold, and judged by their counters
        by_hold = {n: mutate.read(arrived[n], self.nic_checks, self.gro,
                                  hold=True)
                   for n, (verdict, _) in told.verdicts.items()
                   if verdict == mutate.BARRIER}
        found = mutate.overtaken(
            arrived, told.verdicts | by_hold,
            mutate.places(burst.frames, map(wire_bytes, on)), self.gro)
        return [f"with hold, {found}"] if found else []

    def judge(self, burst, name):
        """Send a burst; report it if it is wrong."""
        wrong, figures = self.complaints(burst)
        self.sums.update(figures, bursts=1, frames=len(burst.frames))
        if wrong:
            self.failed += 1
            print(f"not ok: {name}: {'; '.join(wrong)}", flush=True)
            if self.failed <= REPORTS_MAX:
                self.report(burst, name)

    def report(self, burst, name):
        """Print the least part of a burst that is wrong, for found.txt."""
        size = len(burst.frames) // 2
        while size:
            for at in range(0, len(burst.frames), size):
                less = burst.without(at, size)
                if less.frames and self.complaints(less)[0]:
                    burst = less
                    break
            else:
                size //= 2
        wrong, _ = self.complaints(burst)
        print(f"# {name}: {'; '.join(wrong) or 'not wrong again'}")
        if self.differ:
            off, on = self.differ
            for text, records in (("without", off - on), ("with", on - off)):
                for data, tag, proto, network in records:
                    print(f"# only {text}: tag {tag.hex()}, protocol "
                          f"{proto.hex()}, IP at {network}: {data.hex()}")
        print(burst.text(self.part) + "\n", flush=True)


# share of the mutants; MTU, gro, rx, rxvlan
PARTS = [
    (0.30, (1500, "off", "on", "on")),
    (0.10, (1500, "off", "on", "off")),
    (0.03, (1500, "off", "off", "on")),
    (0.02, (1500, "off", "off", "off")),
    (0.25, (1500, "on", "on", "on")),
    (0.12, (1500, "on", "off", "on")),
    (0.08, (1500, "on", "off", "off")),
    (0.05, (9000, "off", "on", "on")),
    (0.05, (9000, "on", "on", "on")),
]
CORPUS_PARTS = range(5)     # where an entry that names no part is replayed


def run(fuzzer, mutants, seed):
    """Replay the corpus, then fuzz."""
    entries = [(text, None, burst) for text, burst in families.bursts()]
    entries += mutate.corpus(FOUND.read_text())
    for part in range(len(PARTS)):
        mine = [(text, burst) for text, at, burst in entries
                if at == part or at is None and part in CORPUS_PARTS]
        if mine:
            fuzzer.configure(part)
        for comment, burst in mine:
            fuzzer.judge(burst, f"corpus, part {part}: {comment}")
    print(f"corpus: {fuzzer.sums['bursts']} bursts", flush=True)
    fuzzer.sums.clear()
    number = 0
    for part, (share, settings) in enumerate(PARTS):
        fuzzer.configure(part)
        sums, begin, first = fuzzer.sums, fuzzer.sums["rough"], number
        while sums["rough"] - begin < share * mutants:
            if number - first > 100 + share * mutants:
                raise RuntimeError(f"part {part}: too few mutants are judged")
            if not number % PROGRESS_BURSTS:
                print(f"burst {number} of fuzz.py {mutants} {seed}", flush=True)
            # GRO sorts what is around a barrier: some have none
            burst = mutate.burst(seed, number, settings[0] > 1500,
                                 settings[1] == "on" and not number % 4)
            fuzzer.judge(burst, f"burst {number} of seed {seed}")
            number += 1
        print("mtu %d, gro %s, rx %s, rxvlan %s: " % settings
              + f"{sums['rough'] - begin} rough mutants, {number} bursts so "
              f"far, mean block "
              f"{sums['packets_taken'] / max(sums['blocks'], 1):.1f}",
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("mutants", type=int)
    parser.add_argument("seed", type=int)
    args = parser.parse_args()
    # a guest that does not live to the end has said what repeats it
    print(f"fuzz.py {args.mutants} {args.seed}", flush=True)
    fuzzer, log = Fuzzer(), guest.KernelLog()
    run(fuzzer, args.mutants, args.seed)
    messages = [text for level, text in log.read() if level <= 4]
    sums = fuzzer.sums
    mean = sums["packets_taken"] / max(sums["blocks"], 1)
    met = sums["met"] / max(sums["mutants"], 1)
    rough = sums["met_rough"] / max(sums["rough"], 1)
    few = sums["rough"] < ENOUGH
    least = 0.3 if sums["rough"] >= MANY else 0.25
    lost = fuzzer.tap.dropped()
    print(f"{sums['rough']} rough mutants, {sums['mutants']} in all "
          f"({sums['arrived']} came up), "
          f"{sums['frames']} frames, {sums['bursts']} bursts, "
          f"mean block {mean:.1f}, {rough:.0%} of the rough mutants met held "
          f"packets of their flow ({met:.0%} of all), {sums['waited']} blocks "
          f"waited for nothing, {sums['merged']} frames came up merged, "
          f"seed {args.seed}")
    checks = {
        f"{fuzzer.failed} bursts were wrong": not fuzzer.failed,
        f"too few rough mutants: {sums['rough']}":
            sums["rough"] >= args.mutants,
        f"mean block is below 8: {mean:.2f}": mean >= 8 or few,
        f"below {least:.0%} met held packets: {met:.3f}, {rough:.3f}":
            min(met, rough) >= least or few,
        "nothing was held": sums["waited"] > 0 or few,
        "nothing was merged": sums["merged"] > 0 or few,
        f"the tap lost {lost} frames": not lost,
        f"the kernel complained: {messages[:5]}": not messages}
    sys.exit(not guest.report(checks))


if __name__ == "__main__":
    main()
