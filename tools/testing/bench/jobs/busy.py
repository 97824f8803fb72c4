# SPDX-License-Identifier: GPL-2.0
"""Busy connections from snd to rcv, and what the receiver makes of them."""

import contextlib
import os
import time

import guest

FOREVER_S = 10000
FRAME_HEADERS = 66      # Ethernet, IPv4, TCP with timestamps


@contextlib.contextmanager
def running(name, command):
    """A process in a namespace, in the meantime."""
    with guest.spawn(name, command) as process:
        try:
            yield process
        finally:
            process.kill()


def check(*processes):
    """None of them has ended, which all do once the first is killed."""
    for process in processes:
        if process.poll() is not None:
            said = process.stdout.read().strip()
            raise RuntimeError(f"{process.args} ended too early: {said}")


@contextlib.contextmanager
def iperf3(args="", warm_up_s=1):
    """iperf3 sends in the meantime."""
    with running("rcv", "iperf3 -s -1") as server:
        guest.wait_for_listener("rcv", 5201)
        with running("snd", f"iperf3 -c {guest.RCV_V4} -t {FOREVER_S} -i 0 "
                            f"{args}") as client:
            time.sleep(warm_up_s)
            yield
            check(client, server)


def calm_router():
    """Have the router's device keep nothing back that it has received."""
    guest.ns("rtr", f"ethtool -C {guest.RTR_DEV} rx-usecs 0")


def counts():
    """Counters of all kinds, to be compared with later ones."""
    # all at about one time, even if others want the CPU
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    clock = guest.clock_ns()
    tcp = guest.counters("rcv")
    found = {**clock, "irqs": guest.interrupts(guest.DUT),
             "acks": tcp["TcpOutSegs"], "segments": tcp["TcpInSegs"],
             "ofo": tcp["TcpExtTCPOFOQueue"],
             **guest.ethtool_stats("rcv", guest.DUT)}
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    return found


def figures(before, after):
    """What happened between two counts()."""
    did = {key: after[key] - before[key] for key in after}
    packets = did["rx_queue_0_packets"]
    payload = did["rx_queue_0_bytes"] - FRAME_HEADERS * packets
    taken, blocks = did["srpic_packets_taken"], did["srpic_blocks"]
    return {
        "seconds": did["now_ns"] / 1e9,
        "throughput_mbps": round(payload * 8e3 / did["now_ns"], 1),
        "bytes": payload,
        "packets": packets,
        "dropped": did["rx_missed_errors"] + did["rx_no_buffer_count"],
        "interrupts": did["irqs"],
        "segments_seen": did["segments"],
        "acks_sent": did["acks"],
        "ofo_queued": did["ofo"],
        "taken": taken,
        "blocks": blocks,
        "evicted": did["srpic_flush_evict"],
        "mean_block": taken / blocks if blocks else None,
        "busy_percent": round(did["busy_ns"] / did["now_ns"] * 100, 2)
        if "busy_ns" in did else None,
    }
