#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""forward.py BURSTS SEED: what is received leaves by another device as it came.

The bursts are those of mutate.py without rough mutants. They meet GRO, with
SRPIC off and on, and are forwarded in three ways: routed to a device, bridged
to it, and bridged to a tap, which takes aggregates as a virtual machine does.
What was merged is segmented on the way by the kernel, by all that it is told of
an aggregate; what the tap gets, by mutate.py. Each frame must come out once,
changed as forwarding changes it, and flows in the order in which they came, or
sorted.
"""

import argparse
import fcntl
import os
import struct
import sys
import time
from collections import Counter

import guest
import mutate
from device import Device, Settings
from frames import NOBODY_V4, NOBODY_V6, Sender, namespace
from fuzz import QUIET_S, VNET_HDR, Tap, gso, set_mtu, wire_bytes

DUT = guest.DUT
OUT, OUT_MAC = "out0", bytes.fromhex("525400000005")       # leads to
FAR, FAR_MAC = "far0", bytes.fromhex("525400000006")
TUNSETIFF, TUNSETOFFLOAD = 0x400454CA, 0x400454D0
MTUS = (1500, 1500, 9000)       # each for a third of the bursts
JUMBO = max(MTUS)
REPORTS_MAX = 5


def run(*commands):
    for command in commands:
        guest.ns("rcv", command)


class Routed:
    """By IP: to hosts that are behind another device."""

    def __init__(self):
        guest.sysctl("rcv", {"net.ipv4.ip_forward": 1,
                             "net.ipv6.conf.all.forwarding": 1})
        for host in NOBODY_V4, NOBODY_V6:
            run(f"ip route add {host} dev {OUT}",
                f"ip neigh replace {host} lladdr {FAR_MAC.hex(':')} dev {OUT}")
        self.tap = Tap("snd", FAR, OUT_MAC)

    def close(self):
        for host in NOBODY_V4, NOBODY_V6:
            run(f"ip route del {host} dev {OUT}")

    def arrives(self, raw):
        """A frame of mutate.py as it is sent: a tag would lead to a VLAN."""
        return raw[:12] + raw[mutate.network(raw) - 2:]

    def leaves(self, raw):
        """It, when it has been forwarded, or None."""
        ip, head = bytearray(raw[14:]), FAR_MAC + OUT_MAC
        v4 = raw[12:14] == mutate.IPV4
        at, size = (8, mutate.word(ip, 2)) if v4 else \
            (7, 40 + mutate.word(ip, 4))
        if ip[at] <= 1:
            return None
        ip[at] -= 1
        if v4:
            ip[10:12] = bytes(2)
            ip[10:12] = mutate.checksum(ip[:20]).to_bytes(2, "big")
        return head + raw[12:14] + bytes(ip[:size])

    def came(self):
        """All that came out: [(frame, as in Tap.records())]."""
        return [(wire_bytes(record), how)
                for record, how in self.tap.records()
                if record[0][:6] == FAR_MAC]


class Bridged(Routed):
    """By MAC address."""

    port = OUT

    def __init__(self):
        self.tap = Tap("snd", FAR)
        run("ip link add br0 type bridge", "ip link set br0 up",
            f"ip link set {DUT} master br0",
            f"ip link set {self.port} master br0")

    def close(self):
        run("ip link del br0")

    def arrives(self, raw):
        return FAR_MAC + raw[6:]

    def leaves(self, raw):
        return raw


class ToTap(Bridged):
    """Likewise, to a tap device that segments by itself."""

    port = "tap0"

    def __init__(self):
        with namespace("rcv"):
            self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
            fcntl.ioctl(self.file, TUNSETIFF, struct.pack(
                "16sH22x", self.port.encode(), 0x5002))     # TAP, VNET_HDR
        fcntl.ioctl(self.file, TUNSETOFFLOAD, 0xF)  # checksums, and TSO
        run(f"ip link set {self.port} mtu {JUMBO} up")
        super().__init__()

    def close(self):
        super().close()
        os.close(self.file)

    def came(self):
        found = []
        while True:
            try:
                data = os.read(self.file, 1 << 17)
            except BlockingIOError:
                return found
            header, raw = data[:VNET_HDR], data[VNET_HDR:]
            if raw[6:12] == mutate.SOURCE:
                found.append((raw, gso(header)))


WAYS = Routed, Bridged, ToTap


class Forwarder:
    """Sends bursts, compares what comes out."""

    def __init__(self):
        run(f"ip link add {OUT} address {OUT_MAC.hex(':')} mtu {JUMBO} type veth "
            f"peer name {FAR} address {FAR_MAC.hex(':')} mtu {JUMBO} netns snd",
            f"ethtool -K {OUT} tx off tso off gso off",
            f"ip link set {OUT} up")
        guest.ns("snd", f"ip link set {FAR} up")
        guest.poll_in_a_thread(True)
        self.device, self.settings = Device(), Settings()
        self.sender, self.sums = Sender(guest.RTR_DEV), Counter()

    def segmented(self, way, frames):
        """The frames that came out, of those expected."""
        found = []
        for raw, how in way.came():
            parts = mutate.parts(
                raw, how if isinstance(way, ToTap) else None,
                lambda part: mutate.padded(part) in frames)
            self.sums["merged"] += len(parts) > 1 and len(parts)
            found += parts
        return found

    def wrong(self, way, burst, on):
        """Send a burst; what is wrong with what comes out."""
        arrive = [way.arrives(raw) for raw in burst.frames]
        leave = [way.leaves(raw) for raw in arrive]
        self.device.switch(on)
        self.settings.set("block_size", burst.block_size)
        before = self.device.stats()
        self.sender.load(arrive)
        self.sender.send()
        time.sleep(QUIET_S)
        moved = Counter(guest.difference(before, self.device.stats()))
        expected = Counter(mutate.padded(raw) for raw in leave if raw)
        came = self.segmented(way, expected)
        self.sums.update(frames=len(arrive), came=len(came))
        found = Counter(map(mutate.padded, came))
        if found != expected:
            lost, new = expected - found, found - expected
            return [f"{lost.total()} frames are missing, {new.total()} came "
                    "out that were not sent",
                    *(f"missing {raw.hex()}" for raw in lost),
                    *(f"new {raw.hex()}" for raw in new)]
        verdicts = {n: mutate.read(raw, True, True)
                    for n, raw in enumerate(arrive)}
        taken = moved["srpic_packets_taken"]
        if taken != on * len(arrive):
            return [f"SRPIC took {taken} of {len(arrive)} frames"]
        left = mutate.places([raw or b"" for raw in leave], came)
        disorder = mutate.gro_disorder(
            arrive, verdicts, left, not on or
            moved["srpic_blocks"] == moved["srpic_flush_poll"], on) or \
            on and mutate.overtaken(arrive, verdicts, left, True)
        return [disorder] if disorder else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bursts", type=int)
    parser.add_argument("seed", type=int)
    args = parser.parse_args()
    print(f"forward.py {args.bursts} {args.seed}", flush=True)
    forwarder, number, failed = Forwarder(), 0, 0
    parts = len(MTUS) * len(WAYS)
    for part, mtu in enumerate(MTUS):
        if part and mtu != MTUS[part - 1]:
            set_mtu(mtu)
        for at, make in enumerate(WAYS, part * len(WAYS) + 1):
            way = make()
            while number < args.bursts * at // parts:
                burst = mutate.burst(args.seed, number, mtu == JUMBO, True)
                for on in False, True:
                    wrong = forwarder.wrong(way, burst, on)
                    failed += bool(wrong)
                    if wrong and failed <= REPORTS_MAX:
                        print(f"not ok: burst {number}, MTU {mtu}, "
                              f"{make.__name__}, SRPIC "
                              f"{'on' if on else 'off'}:", *wrong, sep="\n",
                              flush=True)
                number += 1
            way.close()
    sums = forwarder.sums
    print(f"{number} bursts, {sums['frames']} frames sent, {sums['came']} came "
          f"out, {sums['merged']} of them merged, seed {args.seed}")
    checks = {f"{failed} bursts were wrong": not failed,
              "nothing was merged": sums["merged"] > 0}
    sys.exit(not guest.report(checks))


if __name__ == "__main__":
    main()
