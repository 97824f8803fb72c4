# SPDX-License-Identifier: GPL-2.0
"""What both hosts, the device under test and the guest count, as a row."""

import json
import sys
from pathlib import Path

import guest


def job(defaults):
    """What the program was told to do, a JSON object, in place of defaults."""
    told = json.loads(sys.argv[1])
    unknown = told.keys() - defaults.keys()
    if unknown:
        sys.exit(f"{Path(sys.argv[0]).stem}: a job has no "
                 f"{', '.join(sorted(unknown))}")
    return defaults | told


def snapshot():
    """All counters as they are."""
    return {"time": guest.clock_ns(),
            "device": guest.ethtool_stats("rcv", guest.DUT),
            "irq": {"interrupts": guest.interrupts(guest.DUT)},
            **{name: guest.counters(name) for name in ("snd", "rcv")}}


def since(before):
    """What has moved since a snapshot, in the shape of guest.measure()."""
    now = {name: guest.difference(before[name], counters)
           for name, counters in snapshot().items()}
    return now | now.pop("time") | now.pop("irq")


def row(found):
    """The figures of what since() or guest.measure() found."""
    sender, receiver, device = found["snd"], found["rcv"], found["device"]
    srpic = {key.removeprefix("srpic_"): value
             for key, value in device.items() if key.startswith("srpic_")}
    blocks = srpic.get("blocks")
    return {
        "retransmits": sender.get("TcpRetransSegs", 0),
        "timeouts": sender.get("TcpExtTCPTimeouts", 0),
        "dsacks": sender.get("TcpExtTCPDSACKRecv", 0),
        "segments_seen": receiver["TcpInSegs"],
        "acks_sent": receiver["TcpOutSegs"],
        "ofo_queued": receiver.get("TcpExtTCPOFOQueue", 0),
        "paws_rejects": receiver.get("TcpExtPAWSEstab", 0),
        "packets": device["rx_packets"],
        "lost_in_ring": device.get("rx_no_buffer_count", 0)
        + device.get("rx_fifo_errors", 0),
        "interrupts": found["interrupts"],
        "mean_block": srpic["packets_taken"] / blocks if blocks else None,
        "busy_ns": found.get("busy_ns"), "now_ns": found["now_ns"],
    } | srpic


def transfer(found, threaded):
    """
    The figures of a guest.measure(), with what iperf3 says; with what either
    host spent if it polls in threads.
    """
    spent = {f"{host}_ns": found["iperf3"]["ran_ns"][ns]
             + found["threads_ns"][ns]
             for host, ns in (("receiver", "rcv"), ("sender", "snd"))}
    return row(found) | (spent if threaded else {}) | {
        "throughput_mbps": found["throughput_mbps"],
        "bytes": found["iperf3"]["end"]["sum_received"]["bytes"],
        "retransmits": found["retransmits"],    # of the data alone
    }


def leave(figures):
    """Leave the row for the host."""
    (guest.OUT / "row.json").write_text(json.dumps(
        {name: round(value, 4) if isinstance(value, float) else value
         for name, value in figures.items()}))
