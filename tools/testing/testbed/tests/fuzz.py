#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""fuzz.py MUTANTS SEED: mutants among valid flows, with SRPIC off and on.

So many are rough: each is spoilt in a way that SRPIC may have to refuse it for.
Gentle ones, which stay suitable segments, come on top.

Each burst of mutate.py goes over the wire twice and is received in one poll,
which the counters confirm where blocks are not cut short otherwise. The same
must come up with SRPIC as without, where it must keep its order; with SRPIC,
the order and the counters must be what mutate.py says. With GRO, the valid
flows' bytes must come up once, and the counters be the same. Without, the burst
goes a third time, while packets are held: the same must come up, and none newly
overtake another. A burst that fails is shrunk and printed as an entry for
corpus/, which is replayed first.

How long blocks are and how many mutants meet held packets is left to chance:
it is printed always, but judged from ENOUGH rough mutants on only.
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

import guest
import mutate
from device import Device, Settings
from frames import ETH_P_ALL, Sender, namespace

DUT = guest.DUT
CORPUS = Path(__file__).parent / "corpus"
QUIET_S = 0.1           # virtual time, so free
HOLD_USECS = 5000       # what is held then comes up within that
REPORTS_MAX = 5
ENOUGH = 10000
PROGRESS_BURSTS = 100


class Tap:
    """
    What comes up, through a PACKET_RX_RING: one copy and no system call.

    A record is what a tap can know of a frame: its bytes from the MAC header
    on, the VLAN tag that was taken out, protocol, and where IP begins.
    """

    SLOT, SLOTS = 128 << 10, 256        # a slot holds the longest aggregate

    def __init__(self):
        # The last one to take a frame gets it in a list with some that follow,
        # when others have got those: let that be a socket that wants none.
        with namespace("rcv"):
            self.other = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            none = ctypes.create_string_buffer(
                struct.pack("HBBI", 6, 0, 0, 0))        # BPF: return 0
            self.other.setsockopt(socket.SOL_SOCKET, 26, struct.pack(
                "HQ", 1, ctypes.addressof(none)))       # SO_ATTACH_FILTER
            self.other.bind((DUT, ETH_P_ALL))
        packet = 263                                    # SOL_PACKET
        self.socket.setsockopt(packet, 10, 1)           # TPACKET_V2
        self.socket.setsockopt(packet, 23, 1)           # IGNORE_OUTGOING
        self.socket.setsockopt(packet, 5, struct.pack(  # RX_RING
            "IIII", self.SLOT, self.SLOTS, self.SLOT, self.SLOTS))
        self.ring = mmap.mmap(self.socket.fileno(), self.SLOT * self.SLOTS)
        self.next = 0
        with namespace("rcv"):
            self.socket.bind((DUT, ETH_P_ALL))

    def records(self):
        """All that have come up by now, of the fuzzer's own."""
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
            if data[6:12] == mutate.SOURCE:
                tag = struct.pack(">HH", tpid, tci) if status & 16 else b""
                found.append((data, tag, ring[at + 34:at + 36], net - mac))
            struct.pack_into("I", ring, at, 0)
            self.next = (self.next + 1) % self.SLOTS

    def dropped(self):
        """Frames that found no slot since the last call."""
        return struct.unpack("II", self.socket.getsockopt(263, 6, 8))[1]


def wire_bytes(record):
    """The frame as it was on the wire."""
    data, tag, _, _ = record
    return data[:12] + tag + data[12:]


def ranges(frames):
    """{flow: [(sequence number, bytes)]} of TCP frames with payload."""
    found = {}
    for flow, seq, data in filter(None, map(mutate.payload, frames)):
        if data:
            found.setdefault(flow, []).append((seq, data))
    return found


def intact(burst, records):
    """
    Whether each valid frame's bytes came up, in an aggregate or alone, and
    its sequence numbers no more often than they were sent.
    """
    up = ranges(map(wire_bytes, records))
    spoilt = ranges(mutate.padded(burst.frames[n]) for n in burst.mutants)

    def touching(flow, seq, data):
        return [(first, have) for first, have in flow
                if (seq + len(data) - 1 - first) & 0xFFFFFFFF
                < len(have) + len(data) - 1]

    for n, raw in enumerate(burst.frames):
        if n in burst.mutants:
            continue
        flow, seq, data = mutate.payload(raw)
        found = touching(up.get(flow, ()), seq, data)
        if not any(have[(seq - first) & 0xFFFFFFFF:][:len(data)] == data
                   for first, have in found):
            return False
        if len(found) > 1 + len(touching(spoilt.get(flow, ()), seq, data)):
            return False
    return True


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
        self.rxvlan = rxvlan == "on"
        if mtu != self.mtu:
            # A change that takes the link away while a frame is sent makes
            # igb reset, with an error message: so take the devices down.
            ends = ("rtr", guest.RTR_DEV), ("rcv", DUT)
            for name, dev in ends:
                guest.ns(name, f"ip link set {dev} down")
            guest.ns("rcv", f"ethtool -G {DUT} rx 4096")
            for name, dev in ends:
                guest.ns(name, f"ip link set {dev} mtu {mtu}")
                guest.ns(name, f"ip link set {dev} up")
            time.sleep(3)       # for the link
            self.mtu = mtu
        self.sender.load([])
        self.exchange(False)        # whatever the above has sent
        self.last = self.counters()

    def counters(self):
        """SRPIC's counters."""
        return {name.removeprefix("srpic_"): value
                for name, value in self.device.stats().items()
                if name.startswith("srpic_")}

    def received(self):
        """How many frames the driver has received."""
        return self.device.stats()["rx_queue_0_packets"]

    def exchange(self, on):
        """Send what is loaded; the records that come up."""
        self.device.switch(on)
        self.sender.send()
        time.sleep(QUIET_S)
        return self.tap.records()

    def complaints(self, burst):
        """Send a burst without and with SRPIC: ([what is wrong], figures)."""
        self.settings.set("block_size", burst.block_size)
        self.settings.set("full_flush_pkts", burst.full_flush_pkts)
        self.sender.load(burst.frames)
        off, received = self.exchange(False), self.received()
        on, received = self.exchange(True), self.received() - received
        now = self.counters()
        moved = Counter(guest.difference(self.last, now))
        self.last = now
        figures = Counter(moved)
        self.differ = None
        if self.gro:
            wrong = [f"bytes of a valid flow differ, SRPIC {name}"
                     for name, records in (("off", off), ("on", on))
                     if not intact(burst, records)]
            counted = moved["packets_taken"] + moved["packets_passed"]
            if counted != received:
                wrong.append(f"{counted} of {received} frames were counted")
            # which ones did not arrive, none of the aggregates says
            if received != len(burst.frames):
                return wrong, figures
            arrived = [self.padded(raw) for raw in burst.frames]
            told = mutate.forecast(burst, arrived, self.nic_checks, True)
        else:
            wrong, told, arrived = self.order(burst, off, on, moved)
            wrong += self.held(burst, off, told)
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
                       met_rough=told.met_rough,
                       arrived=sum(arrived[n] is not None
                                    for n in burst.mutants))
        return wrong, figures

    def padded(self, raw):
        """A frame as it comes up: again if its tag was taken out."""
        is_short = self.rxvlan and raw[12:14] == mutate.CTAG
        return raw.ljust(64 if is_short else 60, b"\0")

    def order(self, burst, off, on, moved):
        """
        Compare what came up, and in which order: ([what is wrong], forecast,
        the burst's frames as they arrived).
        """
        came, left = (mutate.places(burst.frames, map(wire_bytes, records))
                      for records in (off, on))
        arrived = [None] * len(burst.frames)
        for n, record in zip(left, on):
            if n is not None:
                arrived[n] = wire_bytes(record)
        told = mutate.forecast(burst, arrived, self.nic_checks, False)
        wrong = []
        if sorted(off) != sorted(on):
            wrong.append(f"{len(off)} frames came up without and {len(on)} "
                         "with SRPIC, and they differ")
            self.differ = Counter(off), Counter(on)
        elif None in left:
            wrong.append("a frame came up that nobody sent")
        elif came != sorted(came):
            wrong.append("frames came up in another order without SRPIC")
        elif found := mutate.disorder(
                burst.frames, told.verdicts, left, moved["blocks"] ==
                moved["flush_barrier"] + moved["flush_poll"]):
            wrong.append(found)
        if not all(raw for n, raw in enumerate(arrived)
                   if n not in burst.mutants):
            wrong.append("a frame that must come up did not, or not whole")
        return wrong, told, arrived

    def held(self, burst, off, told):
        """What is wrong while packets are held beyond the poll."""
        self.settings.set("hold_usecs", HOLD_USECS)
        on = self.exchange(True)
        self.settings.set("hold_usecs", 0)
        self.last, before = self.counters(), self.last
        self.sums["waited"] += self.last["flush_deadline"] - \
            before["flush_deadline"]
        if sorted(off) != sorted(on):
            self.differ = Counter(off), Counter(on)
            return [f"{len(off)} frames came up without and {len(on)} with "
                    "SRPIC and hold, and they differ"]
        found = mutate.overtaken(burst.frames, told.verdicts, mutate.places(
            burst.frames, map(wire_bytes, on)))
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
        """Print the least part of a burst that is wrong, for corpus/."""
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
                    print(f"# only {text} SRPIC: tag {tag.hex()}, protocol "
                          f"{proto.hex()}, IP at {network}: {data.hex()}")
        print(burst.text(self.part) + "\n", flush=True)


# share of the mutants; MTU, gro, rx, rxvlan
PARTS = [
    (0.45, (1500, "off", "on", "on")),
    (0.15, (1500, "off", "on", "off")),
    (0.03, (1500, "off", "off", "on")),
    (0.02, (1500, "off", "off", "off")),
    (0.05, (1500, "on", "on", "on")),
    (0.15, (1500, "on", "off", "on")),
    (0.10, (1500, "on", "off", "off")),
    (0.05, (9000, "off", "on", "on")),
    (0.01, (9000, "on", "on", "on")),
]
CORPUS_PARTS = range(4)     # where an entry that names no part is replayed


def run(fuzzer, mutants, seed):
    """Replay the corpus, then fuzz."""
    entries = [entry for path in sorted(CORPUS.glob("*.txt"))
               for entry in mutate.corpus(path.read_text())]
    if not entries:
        raise RuntimeError("there is no corpus")
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
            burst = mutate.burst(seed, number, jumbo=settings[0] > 1500)
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
    lost = fuzzer.tap.dropped()
    print(f"{sums['rough']} rough mutants, {sums['mutants']} in all "
          f"({sums['arrived']} came up), "
          f"{sums['frames']} frames, {sums['bursts']} bursts, "
          f"mean block {mean:.1f}, {rough:.0%} of the rough mutants met held "
          f"packets of their flow ({met:.0%} of all), {sums['waited']} blocks "
          f"waited for nothing, seed {args.seed}")
    checks = {
        f"{fuzzer.failed} bursts were wrong": not fuzzer.failed,
        f"too few rough mutants: {sums['rough']}":
            sums["rough"] >= args.mutants,
        f"mean block is below 8: {mean:.2f}": mean >= 8 or few,
        f"below 30 % met held packets: {met:.3f}, {rough:.3f}":
            min(met, rough) >= 0.3 or few,
        "nothing was held": sums["waited"] > 0,
        f"the tap lost {lost} frames": not lost,
        f"the kernel complained: {messages[:5]}": not messages}
    sys.exit(not guest.report(checks))


if __name__ == "__main__":
    main()
