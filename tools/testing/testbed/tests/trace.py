#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What the tracepoint, and bpftrace's scripts, say of blocks that are known."""

import json
import os
import re
import socket
import struct
import subprocess
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

import frames
import guest

DUT = guest.DUT
TRACING = Path("/sys/kernel/tracing")
SO_INCOMING_NAPI_ID = 56
SCRIPTS = "blocks", "causes", "flows"
# least packets of a flow in srpic-flows.bt
MANY = 100


def start(script):
    """bpftrace with a script, at work: its child starts then, and ends it."""
    process = subprocess.Popen(
        ["/job/bpftrace/bpftrace", "-I", "/job/bpftrace/include",
         "-f", "json", "-c", "cat", f"/job/srpic/srpic-{script}.bt"],
        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env=os.environ | {"LD_LIBRARY_PATH": "/job/bpftrace"})
    process.stdin.write("attached\n")
    process.stdin.flush()
    for line in process.stdout:
        if line == "attached\n":
            return process
    raise RuntimeError(f"bpftrace does not run {script}")


def end(process):
    """Its maps, as it printed them last."""
    text = process.communicate()[0]
    print(text)
    maps = {}
    for line in filter(None, text.splitlines()):
        maps |= json.loads(line)["data"]
    return maps


def napi_id():
    """The only one that receives."""
    with frames.namespace("rcv"):
        rx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        rx.bind((guest.RCV_V4, 7000))
    with frames.namespace("rtr"):
        tx = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        tx.sendto(b"x", (guest.RCV_V4, 7000))
    with rx, tx:
        rx.recv(1)
        return rx.getsockopt(socket.SOL_SOCKET, SO_INCOMING_NAPI_ID)


def event(cause, prev, curr, after=0, held=0, out_of_order=0, *, port,
          v6=False, vlan=(0, 0)):
    """What the tracepoint prints, but for the NAPI instance."""
    none = "0.0.0.0"
    ends = (frames.SOURCE_V6, frames.NOBODY_V6) if v6 else \
        (frames.SOURCE_V4, frames.NOBODY_V4)
    v6_ends = ends if v6 else [f"::ffff:{address}" for address in ends]
    fields = {
        "dev": DUT, "vlan_proto": f"0x{vlan[0]:04x}", "vlan_id": vlan[1],
        "family": "AF_INET6" if v6 else "AF_INET", "sport": 5201,
        "dport": port, "saddr": none if v6 else ends[0],
        "daddr": none if v6 else ends[1], "saddrv6": v6_ends[0],
        "daddrv6": v6_ends[1], "prev": prev, "curr": curr, "after": after,
        "held": held, "out_of_order": out_of_order, "cause": cause}
    return {key: str(value) for key, value in fields.items()}


def pkts(event):
    return sum(int(event[name]) for name in ("prev", "curr", "after"))


def flow(event):
    """As bpftrace prints a map's key."""
    return ",".join(event[name] for name in (
        "saddrv6", "sport", "daddrv6", "dport"))


def reordered(seqs):
    """How many of them RFC 4737, section 3.3, says are."""
    return sum(seq < max(seqs[:n], default=seq) for n, seq in enumerate(seqs))


class TraceTest(unittest.TestCase):
    """All watch the same bursts, of which each has a flow of its own."""

    @classmethod
    def setUpClass(cls):
        guest.ns("rcv", f"ethtool -K {DUT} gro off")
        # what has VLAN 5 is not filtered out
        guest.ns("rcv", f"ip link add link {DUT} name tagged type vlan id 5")
        guest.coalesce(frames.THROTTLE_US)
        cls.wire = frames.Wire(guest.RTR_DEV, DUT)
        cls.napi_id = str(napi_id())
        guest.switch(True)
        cls.port = 5000
        cls.expected = []       # events
        cls.late = Counter()    # by flow, the truth in each block
        cls.hidden = Counter()  # what of it no event can tell
        running = [start(script) for script in SCRIPTS]
        (TRACING / "events/srpic/srpic_flush/enable").write_text("1")
        before = guest.ethtool_stats("rcv", DUT)
        cls.send_all()
        cls.moved = guest.difference(before, guest.ethtool_stats("rcv", DUT))
        (TRACING / "events/srpic/srpic_flush/enable").write_text("0")
        cls.events = [
            dict(field.split("=") for field in line.split()) for line in
            re.findall(r"srpic_flush: (.*)", (TRACING / "trace").read_text())]
        cls.blocks, cls.causes, cls.flows = map(end, running)

    @classmethod
    def expect(cls, blocks, *events, hidden=0, **kwargs):
        """
        Events, of which each is of a block of packets with such numbers, as they
        arrived.
        """
        cls.expected += [event(*fields, port=cls.port, **kwargs)
                         for fields in events]
        name = flow(cls.expected[-1])
        cls.late[name] += sum(map(reordered, blocks))
        cls.hidden[name] += hidden

    @classmethod
    def burst(cls, blocks, *events, tag=b"", hidden=0, **kwargs):
        """Have packets arrive, in one softirq."""
        cls.wire.burst([cls.frame(seq, tag, **kwargs)
                        for block in blocks for seq in block])
        proto, tci = struct.unpack(">HH", tag) if tag else (0, 0)
        cls.expect(blocks, *events, hidden=hidden, vlan=(proto, tci & 0xFFF),
                   **kwargs)

    @classmethod
    def frame(cls, seq, tag=b"", **kwargs):
        frame = cls.wire.frame(int(100 * seq), 100, port=cls.port, **kwargs)
        return frame[:12] + tag + frame[12:]

    @classmethod
    def settings(cls, block_size=32, full_flush_pkts=0, hold_usecs=0):
        """For the bursts of the next flow."""
        cls.port += 1
        guest.sysctl("rcv", {"net.srpic.block_size": block_size,
                             "net.srpic.full_flush_pkts": full_flush_pkts,
                             "net.srpic.hold_usecs": hold_usecs})

    @classmethod
    def send_all(cls):
        cls.settings()
        cls.burst([[3, 1, 2, 0]], ("poll", 3, 1, 0, 0, 3))
        cls.settings()
        cls.burst([[0, 2, 3]], ("poll", 0, 1, 2, 0, 2), v6=True)
        cls.settings()
        cls.burst([[1, 3, 4, 2, 0]], ("poll", 1, 4, 0, 0, 3))
        cls.settings()
        cls.burst([[0, 3, 1, 2]], ("poll", 0, 4, 0, 0, 1), hidden=1)
        cls.settings()
        cls.burst([[1, 0]], ("poll", 1, 1, 0, 0, 1), tag=b"\x81\0\xe0\5")
        cls.settings()
        cls.burst([[1, 0]], ("poll", 1, 1, 0, 0, 1), tag=b"\x88\xa8\0\7")
        cls.settings(block_size=4)
        cls.burst([[0, 2, 3, 1], [4]], ("block", 0, 4, 0, 0, 2), ("poll", 0, 1))
        cls.settings(full_flush_pkts=3)
        cls.burst([[2, 0, 1], [5, 7, 8], [6]], ("ring", 2, 1, 0, 0, 2),
                  ("ring", 0, 1, 2, 0, 2), ("poll", 0, 1))
        cls.settings()
        cls.wire.burst([cls.frame(2), cls.frame(1),
                        cls.frame(3, flags=frames.URG | frames.ACK), cls.frame(0)])
        cls.expect([[2, 1], [0]], ("barrier", 1, 1, 0, 0, 1), ("poll", 0, 1))
        cls.settings()
        cls.wire.burst([cls.frame(1, tsval=1000), cls.frame(2, tsval=1000),
                        cls.frame(0, tsval=1050)])
        cls.expect([[1, 2], [0]], ("timestamp", 0, 2), ("poll", 0, 1))
        cls.settings()
        cls.burst([[1, 2], [1.5, 0]], ("overlap", 0, 2),
                  ("poll", 1, 1, 0, 0, 1))
        cls.settings()
        for _ in range(MANY // 32 + 1):
            # one of 32 is late by 4
            cls.burst([[*range(8), *range(9, 13), 8, *range(13, 32)]],
                      ("block", 0, 32, 0, 0, 4))
        cls.settings(hold_usecs=100000)
        cls.burst([[0, 2]], ("poll", 0, 1, 0, 1, 1), ("deadline", 0, 1))
        cls.settings(hold_usecs=100000)
        guest.poll_in_a_thread(True)
        for seqs in [0, 2], [1]:
            cls.wire.tx.load([cls.frame(seq) for seq in seqs])
            cls.wire.tx.send()
            time.sleep(0.05)    # longer than the throttle, not than that
        guest.poll_in_a_thread(False)
        cls.expect([[0, 2, 1]], ("poll", 0, 1, 0, 1, 1), ("hole", 0, 2))
        cls.settings()

    def test_events(self):
        self.maxDiff = None
        for seen in self.events:
            self.assertEqual(seen.pop("napi_id"), self.napi_id)
        self.assertNotEqual(self.napi_id, "0")
        self.assertEqual(self.events, self.expected)

    def test_counters(self):
        """ethtool has the sums of all events."""
        sums = Counter("srpic_flush_" + e["cause"] for e in self.expected)
        sums["srpic_blocks"] = len(self.expected)
        sums["srpic_packets_taken"] = sum(map(pkts, self.expected))
        sums["srpic_packets_out_of_order"] = sum(int(e["out_of_order"])
                                                 for e in self.expected)
        for name in sums:
            self.assertEqual(self.moved[name], sums[name], name)

    def test_blocks(self):
        sizes = Counter(1 << pkts(e).bit_length() - 1 for e in self.expected)
        found = {bar["min"]: bar["count"]
                 for bar in self.blocks["@packets"][DUT] if bar["count"]}
        self.assertEqual(found, sizes)

    def test_causes(self):
        by_cause = defaultdict(list)
        for e in self.expected:
            by_cause[f"{DUT},{e['cause']}"].append(pkts(e))
        self.assertEqual(self.causes["@packets"], {
            key: {"count": len(sizes), "average": sum(sizes) // len(sizes),
                  "total": sum(sizes)} for key, sizes in by_cause.items()})

    def test_flows(self):
        taken = Counter()
        for e in self.expected:
            taken[flow(e)] += pkts(e)
        self.assertEqual(self.flows["@packets"], taken)
        late = {name: self.late[name] - self.hidden[name] for name in taken}
        self.assertEqual(self.flows["@late"], late)
        self.assertEqual(self.flows["@late_permille"], {
            name: late[name] * 1000 // taken[name] for name in taken
            if taken[name] >= MANY})


if __name__ == "__main__":
    unittest.main(verbosity=2)
