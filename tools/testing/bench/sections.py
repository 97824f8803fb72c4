# SPDX-License-Identifier: GPL-2.0
"""What the page of results shows of each experiment."""

from dataclasses import dataclass

import published


@dataclass(frozen=True)
class Metric:
    label: str
    better: int = -1        # the sign of a change for the better; 0: neither
    scale: float = 1
    ratio: bool = True      # show with / without
    paper: bool = True      # the paper's has the same unit


@dataclass(frozen=True)
class Plot:
    """A plot for each value of the keys that are not on the x axis."""
    metric: str
    x: str
    kind: str = "lines"     # or bars, cdf, ranks: see figures.py
    paper: bool = False     # draw the paper's values too
    over: str = ""          # a metric that is drawn as a bare line


@dataclass(frozen=True)
class Section:
    what: str
    vary: tuple             # keys of the jobs, in the order of the table
    tables: tuple           # of tuples of metrics
    plots: tuple = ()
    lists: str = ""         # the list in a result that has the metrics
    unlike: tuple = ()      # keys of jobs that the paper did not run
    like: tuple = ()        # (key, value) of those that are most like its own
    only_with: tuple = ()   # keys that say nothing without SRPIC
    implied: tuple = ()     # keys that others imply: they are not shown


METRICS = {
    "throughput_mbps": Metric("Mbit/s", +1, paper=False),
    "link_percent": Metric("% of the link", +1, ratio=False),
    "retransmits": Metric("retransmissions", 0, paper=False),
    "retransmits_per_mbps": Metric("retransmissions by Mbit/s"),
    "wire_dup_acks": Metric("duplicate ACKs", 0, paper=False),
    "wire_dup_acks_per_mbps": Metric("duplicate ACKs by Mbit/s"),
    "wire_sack_blocks": Metric("SACK blocks", 0, paper=False),
    "wire_sack_blocks_per_mbps": Metric("SACK blocks by Mbit/s"),
    "lost_on_path": Metric("lost on the path", 0, ratio=False),
    "segments_seen_per_mb": Metric("segments that TCP sees, per MB"),
    "packets_per_segment": Metric("packets in a segment", +1),
    "acks_sent_per_mb": Metric("ACKs sent per MB"),
    "ofo_queued_per_mb": Metric("queued out of order, per MB"),
    "paws_rejects": Metric("rejected by PAWS"),
    "busy_ns_per_mb": Metric("10⁶ instructions/MB, all hosts",
                             scale=1e-6),
    "receiver_ns_per_mb": Metric("10⁶ instructions/MB, receiver",
                             scale=1e-6),
    "sender_ns_per_mb": Metric("10⁶ instructions/MB, sender",
                             scale=1e-6),
    "receiver_ns": Metric("10⁶ instructions, receiver", scale=1e-6,
                          paper=False),
    "sender_ns": Metric("10⁶ instructions, sender", scale=1e-6,
                        paper=False),
    "mean_block": Metric("mean block", 0, ratio=False),
    "interval_us": Metric("µs between interrupts", 0, ratio=False),
    "wire_late_percent": Metric("late on the wire, %", 0, ratio=False),
    "ofo_per_100_segments": Metric("queued out of order, by 100 segments"),
    "retransmitted_percent": Metric("retransmitted, %"),
    "retransmitted_p50_percent": Metric("retransmitted, median, %"),
    "utilisation_percent": Metric("use of the link, %", 0, ratio=False),
    "napi_ns_per_mb": Metric("10⁶ instructions/MB, polls", scale=1e-6),
    "process_ns_per_mb": Metric("10⁶ instructions/MB, process", scale=1e-6),
    "evicted": Metric("evictions", 0),
    "block_mean_pkts": Metric("packets in a block", 0, ratio=False),
    "formula_pkts": Metric("formula (3)", 0, ratio=False),
    "block_p50_pkts": Metric("median block", 0, ratio=False),
    "block_p90_pkts": Metric("90 % of blocks", 0, ratio=False),
    "t_intr_mean_us": Metric("T_intr, µs", 0, ratio=False),
    "r_sn_pps": Metric("R_sn, packets/s", 0, ratio=False),
    "frame_ns_median": Metric("instructions by frame"),
    "segments_per_poll": Metric("segments by poll", 0, ratio=False),
    "srpic": Metric("SRPIC, instructions", ratio=False),
    "srpic_min": Metric("SRPIC, cheapest poll", ratio=False),
    "srpic_max": Metric("SRPIC, costliest poll", ratio=False),
    "gro": Metric("GRO, instructions", 0, ratio=False),
    "srpic_and_gro": Metric("both, instructions", ratio=False),
    "gro_skbs": Metric("pieces after GRO", 0, ratio=False),
    "srpic_and_gro_skbs": Metric("pieces after both", 0, ratio=False),
    "rtt_cdf_us": Metric("round trip, µs", 0),
    "poll_cdf_us": Metric("poll, µs", 0),
}
METRICS |= {f"{name}_{key}_{unit}":
            Metric(f"{what}, {said}, {unit.replace('u', 'µ')}")
            for name, what, unit in (("rtt", "round trip", "us"),
                                     ("there", "one way", "us"),
                                     ("poll", "poll", "us"),
                                     ("fct", "completion", "ms"))
            for key, said in (("p50", "median"), ("p90", "90 %"),
                              ("p99", "99 %"), ("max", "longest"),
                              ("mean", "mean"))}
METRICS["poll_mean_pkts"] = Metric("packets in a poll, mean", 1, ratio=False)
METRICS |= {f"rd_{places}_percent": Metric(f"late by > {places}, %", 0,
                                           ratio=False)
            for places in (0, 3, 30, 300)}
# The paper's names for metrics, where it has them per run.
PAPER = {"receiver_ns": "receiver_instructions",
         "sender_ns": "sender_instructions"}

SPEED = ("throughput_mbps", "link_percent")
COST = ("receiver_ns_per_mb", "sender_ns_per_mb", "busy_ns_per_mb")
EFFORT = ("segments_seen_per_mb", "acks_sent_per_mb", "ofo_queued_per_mb")


def both(*metrics):
    """Tables of what the paper counts, and of how many there were at all."""
    return (SPEED, *((f"{metric}_per_mbps", metric) for metric in metrics))


LOSSES = (*both("retransmits", "wire_dup_acks", "wire_sack_blocks"),
          ("lost_on_path",))

SECTIONS = {
    "table4": Section(
        "Reordering: each packet is delayed by a normal distribution, its "
        "deviation given in per cent of the mean. No SACK. All stand beside "
        "the same line of the paper; most like its own are those with "
        "timestamps, as Linux has them by default, and with rx-usecs 150, "
        "which makes blocks of about 7 packets of this rate, as its figure 2 "
        "has them.",
        ("timestamps", "rx_usecs", "hold_usecs", "sender", "streams",
         "jitter_percent"),
        (*both("retransmits", "wire_dup_acks"),
         ("wire_late_percent", "ofo_queued_per_mb")),
        (Plot("link_percent", "jitter_percent", paper=True),
         Plot("wire_dup_acks_per_mbps", "jitter_percent", paper=True)),
        like=(("timestamps", True), ("rx_usecs", 150)),
        unlike=("hold_usecs",), only_with=("hold_usecs",)),
    "table5": Section(
        "Loss, without reordering. SACK.",
        ("bursts", "hold_usecs", "sender", "loss_percent"),
        LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),),
        unlike=("bursts", "hold_usecs")),
    "table6": Section(
        "Reordering (deviation of 0.4 %) and loss. SACK.",
        ("sender", "streams", "loss_percent"),
        LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),)),
    "table7": Section(
        "What loss costs the two hosts. The receiver's instructions are those "
        "of its NAPI thread and of iperf3. Runs at a loss of 0.001 % take four "
        "times as long as the others.",
        ("sender", "loss_percent"),
        (("receiver_ns", "sender_ns"), COST, ("lost_on_path",)),
        (Plot("receiver_ns_per_mb", "loss_percent"),)),
    "table8": Section(
        "Reordering (deviation of 0.4 %) and loss in both directions. SACK.",
        ("sender", "loss_percent"),
        LOSSES,
        (Plot("link_percent", "loss_percent", paper=True),)),
    "reverse": Section(
        "Reordering and loss on the way of the ACKs only.",
        ("jitter_percent", "loss_percent", "sender"),
        LOSSES,
        (Plot("link_percent", "sender", "bars"),)),
    "fig5": Section(
        "What both hosts spend, with and without reordering. SACK for RACK "
        "only.",
        ("sender", "congestion", "rx_usecs", "hold_usecs", "streams",
         "jitter_percent"),
        (SPEED, COST, EFFORT),
        (Plot("receiver_ns_per_mb", "jitter_percent", "bars"),
         Plot("sender_ns_per_mb", "jitter_percent", "bars")),
        only_with=("hold_usecs",), implied=("sack",)),
    "today": Section(
        "The sender of today: RACK and SACK.",
        ("congestion", "ipv", "streams", "jitter_percent"),
        (SPEED, COST, EFFORT, ("packets_per_segment", "retransmits_per_mbps"),
         ("wire_late_percent",)),
        (Plot("receiver_ns_per_mb", "jitter_percent"),
         Plot("packets_per_segment", "jitter_percent"))),
    "ablation": Section(
        "SRPIC and GRO, each without the other.",
        ("gro", "jitter_percent"),
        (SPEED, COST, EFFORT),
        (Plot("receiver_ns_per_mb", "jitter_percent"),)),
    "blocksize": Section(
        "net.srpic.block_size from 1, which sorts nothing, to 128. All "
        "runs are with SRPIC.",
        ("jitter_percent", "block_size"),
        (SPEED, COST, EFFORT),
        (Plot("receiver_ns_per_mb", "block_size"),
         Plot("ofo_queued_per_mb", "block_size")),
        only_with=("block_size",)),
    "fig2": Section(
        "Blocks are what is received until the ring is empty. Formula (3) is "
        "(1 + P T_intr) / (1 - P / R_sn), with packets in a second for P, and "
        "as measured: T_intr is the mean time from the arrival of a block's "
        "first packet to its poll, R_sn how many packets polls take in a "
        "second of their own.",
        ("rx_usecs", "rate_mbit"),
        (("block_mean_pkts", "formula_pkts"),
         ("block_p50_pkts", "block_p90_pkts"),
         ("t_intr_mean_us", "r_sn_pps", "throughput_mbps")),
        (Plot("block_mean_pkts", "rate_mbit", over="formula_pkts"),)),
    "fig6": Section(
        "Round trips of an idle connection from a third host, beside busy "
        "ones; in runs of their own (polls), how long a poll takes. Mbit/s are "
        "those of the busy ones.",
        ("polls", "rx_usecs", "hold_usecs", "rate_mbit"),
        (("rtt_p50_us", "rtt_p90_us"), ("rtt_p99_us", "rtt_max_us"),
         ("poll_p50_us", "poll_p99_us"), ("throughput_mbps",)),
        (Plot("rtt_cdf_us", "", "cdf"), Plot("poll_cdf_us", "", "cdf")),
        only_with=("hold_usecs",)),
    "flows": Section(
        "Connections in order, whose packets arrive in turn.",
        ("flows",),
        (("receiver_ns_per_mb", "napi_ns_per_mb", "process_ns_per_mb"),
         ("packets_per_segment", "acks_sent_per_mb", "evicted"),
         ("throughput_mbps", "poll_mean_pkts")),
        (Plot("receiver_ns_per_mb", "flows"),
         Plot("packets_per_segment", "flows"))),
    "micro": Section(
        "KUnit counts what a packet costs: in srpic_receive(), with its share "
        "of srpic_end(); in GRO without SRPIC; in SRPIC and then GRO. "
        "Pieces are what a poll's packets leave as. In late_by_N, one packet "
        "of each block is late by N places; in deepest, each passes all but "
        "one of its list.",
        ("case", "flows", "block", "timestamp", "ipv6", "pkts"),
        (("srpic", "srpic_max", "gro", "srpic_and_gro"),
         ("gro_skbs", "srpic_and_gro_skbs")),
        (Plot("srpic", "case", "ranks"),),
        lists="cases"),
    "driver": Section(
        "All that a frame costs in igb's poll, up to IP: what TCP saves is not "
        "in it. Late by N is one frame of each block, by N places. igb_plain "
        "and igb_srpic are modules, without and with the patch.",
        ("gro", "driver", "order"),
        (("frame_ns_median", "segments_per_poll"),),
        (Plot("frame_ns_median", "order", "bars"),)),
    "switch": Section(
        "Many flows through a router whose egress sprays the packets of a "
        "flow over 8 queues at random, or does not. Completion times and "
        "medians are of flows above 1 MB; packets are late by so many places "
        "in their flow. Times and rates are the guest's, where time is "
        "stretched 20 times: 50, 100 and 225 Mbit/s stand for 1, 2 and 4.5 "
        "Gbit/s, and 20 s for 1 s. rx-usecs is 300, which is 60 µs there. "
        "Unlike the paper's, the senders have Reno, as CUBIC's clock cannot "
        "be stretched; nor can that of the timestamps. Flows begin at random, "
        "whatever became of others, and have 10 kB to 10 MB: 6 % of the "
        "paper's flows, with 21 % of the bytes. About 100 of a run are above "
        "1 MB.",
        ("mbps", "sprayed", "hold_us", "sender"),
        (("fct_p50_ms", "fct_p90_ms"), ("fct_mean_ms",),
         ("retransmitted_p50_percent", "retransmitted_percent"),
         tuple(f"rd_{places}_percent" for places in (0, 3, 30, 300)),
         ("utilisation_percent",), (*EFFORT, "busy_ns_per_mb")),
        (Plot("fct_p50_ms", "sender", "bars"),
         Plot("retransmitted_percent", "sender", "bars")),
        only_with=("hold_us",)),
    "paths": Section(
        "Each packet of a flow takes one of two paths at random, one of them "
        "longer by the skew. Skews and the time between interrupts are those "
        "of a line of 10 Gbit/s. Throughput and rx-usecs are the guest's, "
        "where time is stretched 40 times and the line has 250 Mbit/s. The "
        "hold is that of a line of 10 Gbit/s, too: 2500 µs are more than any "
        "packet is late. The sender has Reno, as CUBIC's clock cannot be "
        "stretched.",
        ("loss_percent", "rx_usecs", "block_size", "hold_us", "skew_us"),
        (("throughput_mbps", "ofo_per_100_segments"),
         ("receiver_ns_per_mb", "busy_ns_per_mb", "interval_us"), EFFORT),
        (Plot("throughput_mbps", "skew_us"),
         Plot("ofo_per_100_segments", "skew_us"),
         Plot("busy_ns_per_mb", "skew_us")),
        only_with=("block_size", "hold_us")),
}


def papers(name, job, metric):
    """
    What the paper has for a metric of a job: (without, with), or None.

    >>> job = {"sender": "S", "streams": 1, "jitter_percent": 0.2}
    >>> papers("table4", job, "link_percent")
    ((22.5, 1.44), (47.2, 0.41))
    """
    if any(job.get(key) for key in SECTIONS[name].unlike):
        return None
    found = published.find(name, job)
    if metric == "link_percent" and "throughput_mbps" in found:
        # of 1000 Mbit/s
        return tuple((round(mean / 10, 3), round(half / 10, 3))
                     for mean, half in found["throughput_mbps"])
    return found.get(PAPER.get(metric, metric))
