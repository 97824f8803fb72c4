# SPDX-License-Identifier: GPL-2.0
"""What the page of results shows of each experiment."""

from collections import namedtuple
from dataclasses import dataclass
from math import inf

import published


@dataclass(frozen=True)
class Metric:
    label: str
    better: int = -1        # the sign of a change for the better; 0: neither
    scale: float = 1
    ratio: bool = True      # with / without says something


@dataclass(frozen=True)
class Plot:
    """A panel for each value of the keys that are neither x nor by."""
    metric: str
    x: str = ""
    kind: str = "lines"     # or dots, cdf: see figures.py
    by: str = ""            # a key with a line for each value, with SRPIC
    paper: bool = False     # draw the paper's values too
    over: str = ""          # a metric that is drawn as a bare line

    @property
    def caption(self):
        return (SHOWN[self.metric] + f", {BY.get(self.x)}" * (self.x in BY)
                + "; dotted, the paper's" * self.paper)


# A panel of a figure: those cells of an experiment that have so of their jobs.
Panel = namedtuple("Panel", "name plot title job cells", defaults=[()])


@dataclass(frozen=True)
class Section:
    paper: str              # what it is in the paper
    what: str
    vary: tuple             # keys of the jobs, in the order of the table
    main: tuple             # metrics of the page, the telling one first
    plots: tuple = ()
    lists: str = ""         # the list in a result that has the metrics
    unlike: tuple = ()      # keys of jobs that the paper did not run
    like: tuple = ()        # (key, value) of those that are most like its own
    only_with: tuple = ()   # keys that say nothing without SRPIC
    implied: tuple = ()     # keys that others imply: they are not shown


# What the page shows or judges; the files have all that was measured.
INSTRUCTIONS = {f"{name}_ns_per_mb": Metric(f"10⁶ instructions/MB, {said}", -1,
                                            1e-6)
                for name, said in (
                    ("receiver", "receiver"), ("sender", "sender"),
                    ("busy", "all hosts"), ("napi", "polls"),
                    ("process", "process"))}
TIMES = {f"{name}_{key}_{unit}": Metric(f"{what}, {said}, "
                                        f"{unit.replace('u', 'µ')}")
         for name, what, unit in (("rtt", "round trip", "us"),
                                  ("poll", "poll", "us"),
                                  ("fct", "completion", "ms"))
         for key, said in (("p50", "median"), ("p90", "90 %"), ("p99", "99 %"),
                           ("max", "longest"), ("mean", "mean"))}
METRICS = INSTRUCTIONS | TIMES | {
    "throughput_mbps": Metric("Mbit/s", +1),
    "link_percent": Metric("% of the link", +1, ratio=False),
    "retransmits_per_mbps": Metric("retransmissions by Mbit/s"),
    "wire_dup_acks_per_mbps": Metric("duplicate ACKs by Mbit/s"),
    "wire_sack_blocks_per_mbps": Metric("SACK blocks by Mbit/s"),
    "segments_seen_per_mb": Metric("segments that TCP sees, per MB"),
    "packets_per_segment": Metric("packets in a segment", +1),
    "acks_sent_per_mb": Metric("ACKs sent per MB"),
    "ofo_queued_per_mb": Metric("queued out of order, per MB"),
    "ofo_per_100_segments": Metric("queued out of order, by 100 segments"),
    "paws_rejects": Metric("rejected by PAWS"),
    "retransmitted_percent": Metric("retransmitted, %"),
    "retransmitted_p50_percent": Metric("retransmitted, median, %"),
    "late_percent": Metric("late, %", ratio=False),
    "wait_p99_us": Metric("waits, 99 %, µs", ratio=False),
    "wait_10ms_percent": Metric("waits of 10 ms or more, %", ratio=False),
    "wait_200ms_percent": Metric("of 200 ms or more, %", ratio=False),
    "share_percent": Metric("receiver's share of the CPU, %", ratio=False),
    "expired": Metric("given up", ratio=False),
    "wire_late_percent": Metric("late on the wire, %", 0, ratio=False),
    "block_mean_pkts": Metric("packets in a block", 0, ratio=False),
    "formula_pkts": Metric("formula (3)", 0, ratio=False),
    "frame_ns_median": Metric("instructions by frame"),
    "segments_per_poll": Metric("segments by poll", 0, ratio=False),
    "srpic": Metric("SRPIC, instructions", ratio=False),
    "gro": Metric("GRO, instructions", 0, ratio=False),
    "srpic_and_gro": Metric("both, instructions", ratio=False),
    "rtt_cdf_us": Metric("round trip, µs", 0),
    "poll_cdf_us": Metric("poll, µs", 0),
    "repair_mean_ms": Metric("repair of a loss, mean, ms"),
    "needless_percent": Metric("needless retransmissions, %"),
    "timeouts_percent": Metric("timeouts, % of packets"),
    "rto_mean_ms": Metric("RTO, mean, ms", 0),
    "reordering_mean": Metric("threshold, mean, packets", 0),
    "fast_retransmits_percent": Metric("fast retransmissions, % of packets"),
    "fa_ratio_mean": Metric("FA ratio, mean", 0, ratio=False),
    "fa_ratio": Metric("FA ratio, in the end", 0, ratio=False),
}
# The paper's names for metrics, where it has them per run.
PAPER = {"receiver_ns": "receiver_instructions",
         "sender_ns": "sender_instructions"}

AT_LEAST_1 = "mean_block", "block_mean_pkts", "packets_per_segment"
LOSSES = ("throughput_mbps", "retransmits_per_mbps", "wire_dup_acks_per_mbps")
COSTS = ("receiver_ns_per_mb", "acks_sent_per_mb", "throughput_mbps")
# Captions of what is plotted, and of what it is plotted by.
SHOWN = {
    "throughput_mbps": "Throughput in Mbit/s",
    "link_percent": "How much of the link the sender uses, in per cent",
    "wire_dup_acks_per_mbps": "Duplicate ACKs in 50 s, by Mbit/s",
    "receiver_ns_per_mb": "The receiver's instructions for each MB",
    "sender_ns_per_mb": "The sender's instructions for each MB",
    "busy_ns_per_mb": "Instructions of all hosts for each MB",
    "packets_per_segment": "How many packets the segments have that TCP sees",
    "ofo_queued_per_mb": "Segments of each MB that TCP queues out of order",
    "ofo_per_100_segments": "Segments that TCP queues out of order, of 100",
    "block_mean_pkts": "Packets in a block, as measured and by formula (3)",
    "rtt_cdf_us": "The share of an idle connection's round trips that take no "
                  "longer than so many µs; a line for each seed",
    "poll_cdf_us": "The share of polls that take no longer than so many µs; a "
                   "line for each seed",
    "srpic": "What a packet costs SRPIC, in instructions, GRO not included",
    "frame_ns_median": "What a frame costs in igb's poll, in instructions",
    "fct_p50_ms": "How long the median flow above 1 MB takes, in ms",
    "late_percent": "Packets that TCP queues out of order, in per cent",
    "retransmitted_percent": "What is sent again, in per cent of all packets",
    "timeouts_percent": "Timeouts, in per cent of all packets",
    "wait_10ms_percent": "Packets that wait for 10 ms or more, in per cent",
}
BY = {"jitter_percent": "by the jitter of the path", "flows": "by connections",
      "loss_percent": "by the loss on the path", "rate_mbit": "by the rate",
      "block_size": "by the number of packets that a block may have",
      "skew_us": "by the skew of the two paths"}


SECTIONS = {
    "table4": Section(
        "table 4",
        "Reordering: each packet is delayed by a normal distribution, its "
        "deviation given in per cent of the mean. No SACK. All stand beside "
        "the same line of the paper; most like its own are those with "
        "timestamps, as Linux has them by default, and with rx-usecs 150, "
        "which makes blocks of about 7 packets of this rate, as its figure 2 "
        "has them.",
        ("timestamps", "rx_usecs", "hold_usecs", "sender", "streams",
         "jitter_percent"),
        ("throughput_mbps", "wire_dup_acks_per_mbps"),
        (Plot("link_percent", "jitter_percent", by="hold_usecs", paper=True),
         Plot("wire_dup_acks_per_mbps", "jitter_percent", by="hold_usecs",
              paper=True)),
        like=(("timestamps", True), ("rx_usecs", 150)),
        unlike=("hold_usecs",), only_with=("hold_usecs",)),
    "table5": Section(
        "table 5", "Loss, without reordering. SACK.",
        ("bursts", "hold_usecs", "sender", "loss_percent"), LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),),
        unlike=("bursts", "hold_usecs")),
    "table6": Section(
        "table 6", "Reordering (deviation of 0.4 %) and loss. SACK.",
        ("sender", "streams", "loss_percent"), LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),)),
    "table7": Section(
        "table 7",
        "What loss costs the two hosts. The receiver's instructions are those "
        "of its NAPI thread and of iperf3. Runs at a loss of 0.001 % take four "
        "times as long as the others.",
        ("sender", "loss_percent"),
        ("receiver_ns_per_mb", "sender_ns_per_mb"),
        (Plot("receiver_ns_per_mb", "loss_percent"),)),
    "table8": Section(
        "table 8",
        "Reordering (deviation of 0.4 %) and loss in both directions. SACK.",
        ("sender", "loss_percent"), LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),)),
    "reverse": Section(
        "section 4.2", "Reordering and loss on the way of the ACKs only.",
        ("jitter_percent", "loss_percent", "sender"), LOSSES,
        (Plot("link_percent", kind="dots"),)),
    "fig5": Section(
        "figure 5",
        "What both hosts spend, with and without reordering. SACK for RACK "
        "only.",
        ("sender", "congestion", "rx_usecs", "hold_usecs", "streams",
         "jitter_percent"), COSTS,
        (Plot("receiver_ns_per_mb", "jitter_percent", by="hold_usecs"),
         Plot("sender_ns_per_mb", "jitter_percent", by="hold_usecs")),
        only_with=("hold_usecs",), implied=("sack",)),
    "today": Section(
        "", "The sender of today: RACK and SACK.",
        ("congestion", "ipv", "streams", "jitter_percent"),
        ("receiver_ns_per_mb", "packets_per_segment", "acks_sent_per_mb"),
        (Plot("receiver_ns_per_mb", "jitter_percent"),
         Plot("packets_per_segment", "jitter_percent"))),
    "ablation": Section(
        "section 5", "SRPIC and GRO, each without the other.",
        ("gro", "jitter_percent"), COSTS,
        (Plot("receiver_ns_per_mb", "jitter_percent"),)),
    "blocksize": Section(
        "", "net.srpic.block_size from 1, which sorts nothing, to 128. All "
        "runs are with SRPIC.",
        ("jitter_percent", "block_size"), COSTS,
        (Plot("receiver_ns_per_mb", "block_size"),
         Plot("ofo_queued_per_mb", "block_size")),
        only_with=("block_size",)),
    "fig2": Section(
        "figure 2, formula (3)",
        "Blocks are what is received until the ring is empty. Formula (3) is "
        "(1 + P T_intr) / (1 - P / R_sn), with packets in a second for P, and "
        "as measured: T_intr is the mean time from the arrival of a block's "
        "first packet to its poll, R_sn how many packets polls take in a "
        "second of their own.",
        ("rx_usecs", "rate_mbit"),
        ("block_mean_pkts", "formula_pkts", "throughput_mbps"),
        (Plot("block_mean_pkts", "rate_mbit", over="formula_pkts"),)),
    "fig6": Section(
        "figure 6",
        "Round trips of an idle connection from a third host, beside busy "
        "ones; in runs of their own (polls), how long a poll takes. Mbit/s are "
        "those of the busy ones.",
        ("polls", "rx_usecs", "hold_usecs", "rate_mbit"),
        ("rtt_p99_us", "poll_p50_us", "throughput_mbps"),
        (Plot("rtt_cdf_us", kind="cdf", by="hold_usecs"),
         Plot("poll_cdf_us", kind="cdf")),
        only_with=("hold_usecs",)),
    "flows": Section(
        "", "Connections in order, whose packets arrive in turn.",
        ("flows",),
        ("receiver_ns_per_mb", "packets_per_segment", "throughput_mbps"),
        (Plot("receiver_ns_per_mb", "flows"),
         Plot("packets_per_segment", "flows"))),
    "micro": Section(
        "", "KUnit counts what a packet costs: in srpic_receive(), with its "
        "share of srpic_end(); in GRO without SRPIC; in SRPIC and then GRO. "
        "Pieces are what a poll's packets leave as. In late_by_N, one packet "
        "of each block is late by N places; in deepest, each passes all but "
        "one of its list.",
        ("case", "flows", "block", "timestamp", "ipv6", "pkts"),
        ("srpic", "gro", "srpic_and_gro"),
        (Plot("srpic", "case", "dots"),),
        lists="cases"),
    "driver": Section(
        "", "All that a frame costs in igb's poll, up to IP: what TCP saves is "
        "not in it. Late by N is one frame of each block, by N places. "
        "igb_plain and igb_srpic are modules, without and with the patch.",
        ("gro", "driver", "order", "fence"),
        ("frame_ns_median", "segments_per_poll"),
        (Plot("frame_ns_median", kind="dots"),)),
    "switch": Section(
        "another's table 1",
        "Many flows through a router whose egress sprays the packets of a "
        "flow over 8 queues at random, or does not. Completion times and "
        "medians are of flows above 1 MB; packets are late by so many places "
        "in their flow. Times and rates are the guest's, where time is "
        "stretched 20 times: 100 and 225 Mbit/s stand for 2 and 4.5 Gbit/s, "
        "and 20 s for 1 s; hold_us is the switch's. rx-usecs is 300, which is "
        "60 µs there. "
        "Unlike the paper's, the senders have Reno, as CUBIC's clock cannot "
        "be stretched; nor can that of the timestamps. Flows begin at random, "
        "whatever became of others, and have 10 kB to 10 MB: 6 % of the "
        "paper's flows, with 21 % of the bytes. About 50 of a run are above "
        "1 MB.",
        ("mbps", "sprayed", "hold_us", "sender"),
        ("fct_p50_ms", "retransmitted_percent", "acks_sent_per_mb"),
        (Plot("fct_p50_ms", kind="dots"),
         Plot("retransmitted_percent", kind="dots")),
        only_with=("hold_us",)),
    "paths": Section(
        "Juggler",
        "Each packet of a flow takes one of two paths at random, one of them "
        "longer by the skew. Skews and the time between interrupts are those "
        "of a line of 10 Gbit/s. Throughput and rx-usecs are the guest's, "
        "where time is stretched 40 times and the line has 250 Mbit/s. The "
        "hold is that of a line of 10 Gbit/s, too: 2500 µs are more than any "
        "packet is late. The sender has Reno, as CUBIC's clock cannot be "
        "stretched.",
        ("loss_percent", "rx_usecs", "block_size", "hold_us", "skew_us"),
        ("throughput_mbps", "receiver_ns_per_mb", "busy_ns_per_mb",
         "ofo_per_100_segments"),
        (Plot("throughput_mbps", "skew_us", by="hold_us"),
         Plot("ofo_per_100_segments", "skew_us", by="hold_us"),
         Plot("busy_ns_per_mb", "skew_us", by="hold_us")),
        only_with=("block_size", "hold_us")),
    "steer": Section(
        "another's tables I and II",
        "All flows move to the other one of two receive queues, each so many "
        "milliseconds, or never; without rxfence and with it (fence), always "
        "without SRPIC. Late are the packets that TCP queues out of order. A "
        "wait is the time from a frame that stops the new queue to the end of "
        "the poll of the old one.",
        ("sender", "streams", "rx_usecs", "move_ms", "fence"),
        ("late_percent", "throughput_mbps", "wait_p99_us"),
        (Plot("late_percent", kind="dots"),)),
}


def rr(figure, what, *vary, main=(), implied=(), only_with=()):
    """A section of the experiments with RR-TCP."""
    return Section(
        f"RR-TCP, {figure}", what, (*vary, "sender"),
        ("throughput_mbps", "needless_percent", "timeouts_percent",
         *main, "repair_mean_ms", "reordering_mean", "fa_ratio_mean"),
        (Plot("throughput_mbps", vary[0], by="sender"),
         Plot("timeouts_percent", vary[0], by="sender")),
        only_with=only_with, implied=("spread_ms", *implied))


def waits(preempt):
    """A section of the experiments whose receivers are preempted."""
    return Section(
        "another's tables III to VII",
        f"The receiver, {preempt}, shares its CPU with hogs, which just compute; "
        "always without SRPIC. Packets wait in the socket's backlog; those "
        "that do not count as well. A busy receiver reads all 40 times.",
        ("preempt", "grace_us", "busy", "hogs", "nice", "quota_ms", "period_ms",
         "rto_min_us", "twait"),
        ("wait_10ms_percent", "wait_200ms_percent", "throughput_mbps",
         "share_percent"),
        (Plot("wait_10ms_percent", kind="dots"),))


SECTIONS |= {
    "backlog": waits("with voluntary or full preemption"),
    "lazy": waits("with lazy or full preemption"),
    "rr4": rr("figures 4 and 5", "Some packets are late by 25 ms, 8 the "
              "deviation (normal).", "late_percent", main=("fa_ratio",)),
    "rr6": rr("figure 6", "Likewise, 5 % of the packets, and loss.",
              "loss_percent"),
    "rr7": rr("figure 7", "1.4 % of the packets are late by up to two round "
              "trips (uniform), 0.6 % are lost.", "p_ms", implied=("late_ms",)),
    "rr8": rr("figure 8", "That path with P = 100 ms, at fixed FA ratios.",
              "fa_percent"),
    "rr10": rr("figures 10 and 11, table 3", "4 % of the packets are late by a "
               "mean of k P, a third of it the deviation (normal); P = 200 ms.",
               "late_ms", "max_reordering", main=("rto_mean_ms",)),
    "rr12": rr("figures 12 and 13", "That path with k = 6, at fixed FA ratios.",
               "fa_percent", "max_reordering", main=("rto_mean_ms",)),
    "rr14": rr("figure 14", "Late packets, late ACKs and loss.",
               "late_acks_percent"),
    "rr15": rr("figure 15", "The path of rr4 with other shapes of lateness.",
               "late_percent"),
    "rr16": rr("figure 16", "Half of the packets take a longer path.",
               "late_ms"),
    "rr17": rr("figures 17 and 18", "1 % of the packets are late by a mean of "
               "k P.", "late_ms", main=("fast_retransmits_percent",)),
    "rrburst": rr("table 4", "Rows of lost packets, of 350 ms in the mean.",
                  "loss_percent", main=("fast_retransmits_percent",)),
    "rrblocks": rr("and sorting", "The path of rr4, and at 40 Mbit/s, with and "
                   "without sorting at the receiver, which holds for up to 60 ms; "
                   "or packets are late by 3 ms, most of them within blocks of 17. "
                   "At 250 Mbit/s a window that was halved would take 100 s to be "
                   "whole again, at 40 it takes 17.",
                   "rx_usecs", "loss_percent", implied=("late_ms", "max_reordering"),
                   only_with=("hold_usecs",)),
}


def possible(metric, cell, side):
    """
    A mean and the ends of its interval in the metric's unit, less what cannot
    be: no count is below 0, no share above 100 %, and no link faster than it is.

    >>> from cells import Cell
    >>> cell = Cell({"rate_mbit": 250})
    >>> cell.results = {True: {1: {"throughput_mbps": 240, "retransmits": 0},
    ...                        2: {"throughput_mbps": 230, "retransmits": 2}}}
    >>> [possible(metric, cell, True)[2] for metric in (
    ...     "throughput_mbps", "link_percent")]
    [250, 100]
    >>> possible("retransmits", cell, True)[:2]
    (1.0, 0)
    """
    found = cell.interval(metric, side)
    if found is None:
        return None
    scale = METRICS[metric].scale if metric in METRICS else 1
    mean, half = (x if x is None else x * scale for x in found)
    least = 1 if metric in AT_LEAST_1 else 0
    most = 100 if metric.endswith("_percent") else inf
    if metric == "throughput_mbps":
        most = cell.job.get("rate_mbit") or inf
    return (mean, None, None) if half is None else \
        (mean, max(mean - half, min(mean, least)),
         min(mean + half, max(mean, most)))


JITTER = "jitter_percent"
ONE = {"timestamps": True, "rx_usecs": 300, "sender": "S", "streams": 1}
LINUX = {"congestion": "cubic", "ipv": 4, "streams": 1}
# Of these, the first three that there are rows for.
SUMMARY = (
    ("Throughput of a sender that counts duplicate ACKs, and the segments that "
     "TCP sees of Linux's own, by the jitter of the path",
     Panel("table4", Plot("link_percent", JITTER, by="hold_usecs"),
           "S: counts three duplicate ACKs", ONE),
     Panel("today", Plot("segments_seen_per_mb", JITTER),
           "Linux's own: RACK, CUBIC", LINUX)),
    ("The receiver's instructions for each MB: of one connection, in order and "
     "reordered, and of many in order",
     Panel("fig5", Plot("receiver_ns_per_mb", JITTER, by="hold_usecs"),
           "RACK, CUBIC", {"sender": "RACK", "congestion": "cubic"}),
     Panel("flows", Plot("receiver_ns_per_mb", "flows"), "in order", {})),
    ("One connection over two paths, one of them longer by the skew",
     Panel("paths", Plot("throughput_mbps", "skew_us", by="hold_us"),
           "rx-usecs 300", {"rx_usecs": 300, "block_size": 32,
                            "loss_percent": 0}),
     Panel("paths", Plot("busy_ns_per_mb", "skew_us", by="hold_us"),
           "rx-usecs 300", {"rx_usecs": 300, "block_size": 32,
                            "loss_percent": 0})),
    ("What a frame costs in igb's poll, in instructions",
     Panel("driver", Plot("frame_ns_median", kind="dots"), "",
           {"driver": "igb"})),
)


def papers(name, job, metric):
    """
    What the paper has for a metric of a job: (without, with), or None.

    >>> job = {"sender": "S", "streams": 1, "jitter_percent": 0.2}
    >>> papers("table4", job, "link_percent")
    ((22.5, 1.44), (47.2, 0.41))
    >>> job = {"hogs": 0, "busy": False, "nice": 0, "rto_min_us": 200000}
    >>> papers("backlog", job | {"preempt": "full", "grace_us": 0}, "link_percent")
    ((50.4, None), None)
    """
    if any(job.get(key) for key in SECTIONS[name].unlike):
        return None
    found = published.find(name, job)
    if metric == "link_percent" and "throughput_mbps" in found:
        # of 1000 Mbit/s
        return tuple(pair and tuple(one and round(one / 10, 3) for one in pair)
                     for pair in found["throughput_mbps"])
    return found.get(PAPER.get(metric, metric))
