#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""blocks.py JSON: block sizes at a rate, beside formula (3); leaves row.json.

The paper's block j is what is received from the time at which the ring holds a
packet again to the time at which it is empty: a poll, or as many as it takes,
each but the last of which uses up its budget. Formula (3) says that its size
is (1 + P T_intr) / (1 - P / R_sn). Nothing in it is fitted: P is the packets
in a second, T_intr the mean time from the arrival of a block's first packet to
its first poll, R_sn the packets in all blocks by the duration of their polls.
The formula is linear in T_intr, so the mean stands for all.

One CPU is sender and receiver: what would arrive during a poll arrives after
it. All is measured while each arrival is traced, some 300 instructions.
"""

import bisect
import random
import statistics
import time
from typing import NamedTuple

import busy
import counts
import guest
import polls
import spread

DEFAULTS = {"srpic": False, "seed": 1, "rate_mbit": 250, "rx_usecs": 150,
            "seconds": 1}
BUDGET = 64
WINDOW = "1M"           # what is in flight fits all queues


class Block(NamedTuple):
    """Times in microseconds."""

    start_us: float
    end_us: float
    poll_us: float
    pkts: int


def join(found):
    """The blocks that polls make."""
    blocks, begun = [], []
    for poll in found:
        begun.append(poll)
        if poll.pkts < BUDGET:
            blocks.append(Block(begun[0].start_us, poll.end_us,
                                sum(one.end_us - one.start_us
                                    for one in begun),
                                sum(one.pkts for one in begun)))
            begun = []
    return blocks


def interrupt_delays(blocks, arrived):
    """From the first arrival after a block to the begin of the next."""
    delays = []
    for last, block in zip(blocks, blocks[1:]):
        first = bisect.bisect(arrived, last.end_us)
        if first < len(arrived) and arrived[first] <= block.start_us:
            delays.append(block.start_us - arrived[first])
    return delays


def block_figures():
    found, arrived = polls.seen()
    blocks = join(found)
    sizes = [block.pkts for block in blocks]
    delays = interrupt_delays(blocks, arrived)
    poll_us = sum(block.poll_us for block in blocks)
    per_us = (len(arrived) - 1) / (arrived[-1] - arrived[0])
    served_per_us = sum(sizes) / poll_us
    return {
        "arrivals_pps": round(per_us * 1e6),
        "r_sn_pps": round(served_per_us * 1e6),
        "t_sn_mean_us": round(poll_us / len(blocks), 3),
        "formula_pkts": round((1 + per_us * statistics.fmean(delays))
                                    / (1 - per_us / served_per_us), 3),
        "block_of_a_packet_pkts": round(sum(size ** 2 for size in sizes)
                                        / sum(sizes), 2),
    } | spread.distribution("block", "pkts", sizes) | \
        spread.distribution("t_intr", "us", delays)


def main():
    job = counts.job(DEFAULTS)
    if job["rate_mbit"]:
        guest.set_path(job["rate_mbit"], 0)
    busy.calm_router()
    guest.coalesce(job["rx_usecs"])
    guest.switch(job["srpic"])
    with busy.iperf3(f"-w {WINDOW}"):
        # the only thing that is random: where in a block it begins
        time.sleep(random.Random(job["seed"]).random() / 100)
        before = busy.counts()
        polls.watch(job["seconds"], arrivals=True)
        row = busy.figures(before, busy.counts())
    row |= block_figures()
    counts.leave(row)


main()
