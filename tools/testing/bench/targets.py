# SPDX-License-Identifier: GPL-2.0
"""What SRPIC is to reach, and whether the rows say that it does."""

import json
from dataclasses import dataclass

import rows
from cells import SIDES, kind, usable
from experiments import EXPERIMENTS
from tables import describe

LINK_MBPS = 225         # 90 % of the link: a gain is bound by it
SENDERS = ({"sender": "S", "sack": False}, {"sender": "A", "sack": False},
           {"sender": "RACK", "congestion": "cubic"},
           {"sender": "RACK", "congestion": "bbr"})


class Measured:
    """The rows that count, and what was found of those that were asked for."""

    def __init__(self, usable):
        self.rows = usable
        self.quick = False      # some were quick ones
        self.lacking = {}       # and these are not there

    def mean(self, exp, srpic, job, figure):
        """The mean over all seeds of figure(result); None if one lacks."""
        experiment = EXPERIMENTS[exp]

        def asked_for(run):
            return run["srpic"] == srpic and \
                kind(run["job"], experiment.length) == job

        found = [row for row in self.rows.get(exp, []) if asked_for(row)]
        quick = any(row["quick"] for row in found)
        self.quick |= quick
        seeds = {run.seed for run in experiment.runs(quick)
                 if asked_for(vars(run))}
        values = {row["seed"]: figure(row["result"]) for row in found
                  if "error" not in row}
        values = {seed: value for seed, value in values.items()
                  if seed in seeds and value is not None}
        if values and values.keys() == seeds:
            return sum(values.values()) / len(values)
        which = f"{describe(job, job) or exp}, {SIDES[srpic]} SRPIC"
        self.lacking[which] = f"{len(values)} of {len(seeds)} seeds"
        return None

    def lack(self):
        """Why there is no value, in words."""
        if not self.lacking:
            return "there is no ratio to 0"
        (which, seeds), *more = self.lacking.items()
        return f"{which} ({seeds})" + f" and {len(more)} more" * bool(more)


@dataclass(frozen=True)
class Target:
    exp: str                    # whose rows say it
    name: str
    limit: float
    unit: str
    value: object               # of Measured: the figure, or None
    cause: str                  # known one for which it may be missed
    at_least: bool = False
    mbps: object = None         # of Measured: LINK_MBPS meet it as well

    def judge(self, measured):
        value = self.value(measured)
        met = value is not None and (
            value >= self.limit if self.at_least else value <= self.limit)
        limit = f"at {'least' if self.at_least else 'most'} {self.limit:g}"
        mbps = None
        if self.mbps:
            limit += f", or {LINK_MBPS} Mbit/s"
            mbps = self.mbps(measured)
            met |= value is not None and mbps >= LINK_MBPS
        cause = None if met else \
            f"known cause: {self.cause}" if value is not None else \
            f"not measured: {measured.lack()}: make bench EXP={self.exp}"
        return {"name": self.name,
                "target": limit, "value": value, "unit": self.unit,
                "met": met, "mbps": mbps, "cause": cause,
                "experiment": self.exp, "quick": measured.quick}


def receiver_cost(measured, srpic, sender, jitter):
    """The receiver's instructions for each byte; fig5, one stream."""
    job = sender | {"jitter_percent": jitter, "threaded": True}
    return measured.mean("fig5", srpic, job,
                         lambda row: row["receiver_ns"] / row["bytes"])


def worst(ratios):
    """The highest of the ratios of pairs; None if one cannot be had."""
    ratios = list(ratios)
    if not all(all(pair) for pair in ratios):
        return None
    return max(above / below for above, below in ratios)


def in_order(measured):
    ratio = worst((receiver_cost(measured, True, sender, 0),
                   receiver_cost(measured, False, sender, 0))
                  for sender in SENDERS)
    return ratio and (ratio - 1) * 100


def reordered(measured):
    return worst((receiver_cost(measured, True, sender, jitter),
                  receiver_cost(measured, False, sender, 0))
                 for sender in SENDERS for jitter in (0.2, 1))


def case(measured, name, figure):
    """A figure of one of micro's cases."""
    def find(result):
        return next((found[figure] for found in result["cases"]
                     if found["case"] == name), None)

    return measured.mean("micro", True, {}, find)


def worst_permutation(measured):
    """The dearest poll of those that reorder within a block of 32."""
    def dearest(result):
        return max((found["srpic_max"] for found in result["cases"]
                    if found["block"] == 32 and found["flows"] == 1),
                   default=None)

    return measured.mean("micro", True, {}, dearest)


def many_flows(measured):
    ratio = worst([(case(measured, "flows_64", "srpic"),
                    case(measured, "in_order", "srpic"))])
    return ratio and (ratio - 1) * 100


def switched_off(measured):
    """By igb's whole poll: what a packet costs above the plain driver."""
    def frame(driver):
        job = {"driver": driver, "gro": True, "order": "in order",
               "frames": 63}
        return measured.mean("driver", False, job,
                             lambda row: row["frame_ns_median"])

    with_srpic, plain = frame("igb_srpic"), frame("igb_plain")
    return None if plain is None or with_srpic is None else with_srpic - plain


def round_trips(measured):
    job = {"rate_mbit": 250, "rx_usecs": 150, "polls": False}
    off, on = (measured.mean("fig6", srpic, job,
                             lambda row: row["rtt_p99_us"])
               for srpic in (False, True))
    return None if off is None or on is None else on - off


def throughput(measured, srpic, jitter):
    job = {"sender": "S", "jitter_percent": jitter, "sack": False}
    return measured.mean("table4", srpic, job,
                         lambda row: row["throughput_mbps"])


def gain(jitter, limit):
    """The paper's gain for one stream of an S sender (its table 4)."""
    def value(measured):
        return worst([(throughput(measured, True, jitter),
                       throughput(measured, False, jitter))])

    return Target(
        "table4", f"S sender, 1 stream, jitter of {jitter} %, rx-usecs 300: "
        "gain in throughput", limit, "times", value,
        "what is late by more than its block makes three duplicate ACKs as "
        "before, and the sender halves its window", at_least=True,
        mbps=lambda measured: throughput(measured, True, jitter))


TARGETS = (
    Target("driver", "feature off, a packet in igb's poll, above the "
           "unpatched driver", 4, "instructions", switched_off,
           "beside the test for each packet, each poll reads the context at "
           "its begin and tests it at its end"),
    Target("micro", "in order, 1 flow, sorter and bookkeeping", 100,
           "instructions a packet", lambda measured:
           case(measured, "in_order", "srpic"),
           "all fields of the headers that tell whether a packet may be "
           "sorted are looked at, see srpic_parse()"),
    Target("micro", "any permutation in a block of 32, the dearest poll "
           "measured", 200, "instructions a packet", worst_permutation,
           "a packet passes, from the tail of its list, all that belong "
           "behind it: deepest_ipv6 has the longest way"),
    Target("micro", "worst case, block of 128: 200 and 10 for half of the "
           "others", 835, "instructions a packet", lambda measured:
           case(measured, "deepest_ipv6_ticked_block_128", "srpic_max"),
           "a packet passes all but one of its list, or goes down a tree"),
    Target("micro", "64 flows in one poll, above 1 flow", 15, "% more",
           many_flows,
           "a flow with one packet in the poll pays alone for its manager, "
           "which is looked for, opened and flushed; in one flow, all packets "
           "of a block share that"),
    Target("fig5", "in order, receiver's instructions in all, worst of the "
           "senders", 1, "% more", in_order,
           "a packet costs the receiver about 4,000 instructions in all, so "
           "that 1 % is 40: less than it takes to look at the headers"),
    Target("fig5", "reordered within blocks (jitter of 0.2 and 1 %), "
           "receiver's instructions, worst of the senders", 1.10,
           "times those in order", reordered,
           "what is late by more than its block is queued out of order by "
           "TCP, and ends a batch of GRO's"),
    gain(0.2, 2.10),
    gain(1, 1.65),
    gain(2, 1.34),
    Target("fig6", "idle connection beside 10 busy ones, 99th percentile of "
           "its round trips, above that without SRPIC", 50, "us",
           round_trips,
           "the busy connections' polls take longer by what the sorter "
           "costs"),
)


def targets(by_experiment):
    """Each target, with its value in these rows."""
    found = {name: usable(lines, EXPERIMENTS[name].length)
             for name, lines in by_experiment.items()}
    return [target.judge(Measured(found)) for target in TARGETS]


def report(commit):
    """Print the targets by the rows of a commit; write targets.json."""
    found = targets(rows.of_commit(commit))
    for target in found:
        value = "not measured" if target["value"] is None else \
            f"{target['value']:.4g}"
        reached = f" ({target['mbps']:.4g} Mbit/s)" if target["mbps"] else ""
        verdict = "met" if target["met"] else "NOT MET"
        print(f"{verdict:7}  {value:>12} {target['unit']}{reached}, target "
              f"{target['target']}: {target['name']}"
              f"{' (quick runs)' * target['quick']}")
        if target["cause"]:
            print(f"{'':9}{target['cause']}")
    (rows.BENCH / "targets.json").write_text(
        json.dumps(found, indent=1) + "\n")
