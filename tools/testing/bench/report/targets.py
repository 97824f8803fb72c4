# SPDX-License-Identifier: GPL-2.0
"""What SRPIC is to reach, and whether the rows say that it does."""

import json
from dataclasses import dataclass

import rows
from cells import SIDES, derive, kind, usable
from experiment import grid
from experiments import EXPERIMENTS
from experiments.backlog import (
    FAIRNESS_HOGS,
    FULL,
    GRACE,
    LAZY,
    LAZY_GRACE,
    NICE,
    QUOTAS,
    VOLUNTARY,
)
from experiments.flows import FLOWS
from experiments.rr import MILD
from experiments.steer import JOBS as STEERED
from experiments.steer import RX_USECS
from tables import describe

ENOUGH_US = 2500        # longer than any packet is late, see paths
LINK_MBPS = 225         # 90 % of the link: a gain is bound by it
SENDERS = ({"sender": "S", "sack": False}, {"sender": "A", "sack": False},
           {"sender": "RACK", "congestion": "cubic"},
           {"sender": "RACK", "congestion": "bbr"})


class Lacking(Exception):
    """Rows that were asked for are not there, in words."""


class Measured:
    """The rows that count, and whether some that were asked for are quick ones."""

    def __init__(self, usable):
        self.rows = usable
        self.quick = False

    def mean(self, exp, srpic, job, figure):
        """A metric's mean over all seeds, or figure(result)'s."""
        experiment = EXPERIMENTS[exp]

        def asked_for(run):
            return run["srpic"] == srpic and \
                kind(run["job"], experiment.length) == job

        found = [row for row in self.rows.get(exp, []) if asked_for(row)]
        quick = any(row["quick"] for row in found)
        self.quick |= quick
        seeds = {run.seed for run in experiment.runs(quick)
                 if asked_for(vars(run))}
        values = {row["seed"]: figure(row["result"]) if callable(figure)
                  else derive(row["result"], figure)
                  for row in found if "error" not in row}
        values = {seed: value for seed, value in values.items()
                  if seed in seeds and value is not None}
        if not values or values.keys() != seeds:
            raise Lacking(
                f"{describe(job, job) or exp}, {SIDES[srpic]} SRPIC ({len(values)} "
                f"of {len(seeds)} seeds): make bench EXP={exp}")
        return sum(values.values()) / len(values)


@dataclass(frozen=True)
class Target:
    exp: str                    # whose rows say it
    name: str
    limit: float
    unit: str
    value: object               # of Measured: the figure
    cause: str                  # known one for which it may be missed
    at_least: bool = False
    mbps: object = None         # of Measured: LINK_MBPS meet it as well

    def judge(self, measured):
        limit = f"at {'least' if self.at_least else 'most'} {self.limit:g}" + \
            f", or {LINK_MBPS} Mbit/s" * bool(self.mbps)
        value = mbps = None
        met, cause = False, f"known cause: {self.cause}"
        try:
            value = self.value(measured)
            mbps = self.mbps and self.mbps(measured)
            met = value >= self.limit if self.at_least else value <= self.limit
            met |= (mbps or 0) >= LINK_MBPS
        except Lacking as lacking:
            cause = f"not measured: {lacking}"
        except ZeroDivisionError:
            cause = f"not measured: there is no ratio to 0: make bench EXP={self.exp}"
        return {"name": self.name,
                "target": limit, "value": value, "unit": self.unit,
                "met": met, "mbps": mbps, "cause": None if met else cause,
                "experiment": self.exp, "quick": measured.quick}


def receiver_cost(measured, srpic, sender, jitter, **more):
    """The receiver's instructions for each MB; fig5."""
    job = sender | {"jitter_percent": jitter, "threaded": True} | more
    return measured.mean("fig5", srpic, job, "receiver_ns_per_mb")


def worst(pairs):
    """The highest of their ratios."""
    return max(above / below for above, below in pairs)


def least(pairs):
    """The lowest of their ratios."""
    return min(above / below for above, below in pairs)


def ratio(pair):
    """Of the first one to the second."""
    return worst([pair])


def difference(pair):
    """By how much the first one is more."""
    above, below = pair
    return above - below


def in_order(measured, senders, **more):
    return worst([receiver_cost(measured, srpic, sender, 0, **more)
                  for srpic in (True, False)] for sender in senders)


def reordered(measured, **hold):
    return worst((receiver_cost(measured, True, sender, jitter, **hold),
                  receiver_cost(measured, False, sender, 0))
                 for sender in SENDERS for jitter in (0.2, 1))


def skewed(measured, figure, skew_us, hold_us):
    """A figure of paths, in order without SRPIC, or with what is held."""
    job = {"skew_us": skew_us, "hold_us": hold_us, "block_size": 32,
           "rx_usecs": 300}
    return measured.mean("paths", bool(hold_us), job, figure)


def of_skews(measured, figure):
    """Pairs of a figure: with a skew and what is held, and in order without."""
    return [(skewed(measured, figure, skew_us, ENOUGH_US),
             skewed(measured, figure, 0, 0)) for skew_us in (250, 500, 750)]


def sprayed(measured):
    """What RACK retransmits, held to without SRPIC."""
    job = {"mbps": 100, "sprayed": True, "sender": "RACK"}
    return ratio(measured.mean("switch", bool(hold_us),
                               job | {"hold_us": hold_us},
                               "retransmitted_percent")
                 for hold_us in (5000, 0))


def steered(measured, figure, **wanted):
    """Such figures of steer, of the jobs that have what is wanted."""
    return [measured.mean("steer", False, {
        key: value for key, value in job.items()
        if key not in ("seed", "srpic")}, figure)
        for job in STEERED if wanted.items() <= job.items()]


def off_cpu(measured, figure, way, exp="backlog", twait=True, **cell):
    """A figure of the receiver that shares its CPU, with 10 hogs if not told."""
    return measured.mean(exp, False, way | {"hogs": 10, "twait": twait} | cell,
                         figure)


def without_hogs(measured, exp, *ways):
    return max(off_cpu(measured, "wait_10ms_percent", way, exp, hogs=0)
               for way in ways)


def needless_timeouts(row):
    """Those of a sender of which nothing is lost."""
    lost = row["lost_on_path"] + row["lost_in_ring"] + row["backlog_drops"]
    return 0 if lost else row["timeouts"]


def unhelped(measured, figure):
    """The least of two receivers that wait long."""
    return min(off_cpu(measured, figure, FULL, **cell)
               for cell in (NICEST, LONG_QUOTA))


def traced(measured):
    """What is left of the throughput beside twait."""
    return 100 * least([off_cpu(measured, "throughput_mbps", way, twait=twait, **cell)
                        for twait in (True, False)]
                       for way in (VOLUNTARY, FULL, GRACE)
                       for cell in ({}, *({"nice": nice} for nice in NICE),
                                    LONG_QUOTA))


def rr(measured, exp, sender, figure="throughput_mbps", **where):
    """A figure of RR-TCP's experiments, of the job that is there."""
    job = next(job for job in EXPERIMENTS[exp].jobs
               if (job | where | {"sender": sender}) == job)
    job = {key: value for key, value in job.items()
           if key not in ("srpic", "seconds")}
    return measured.mean(exp, False, job, figure)


def of_senders(exp, *pairs, figure="throughput_mbps", **places):
    """A target's value: the lowest ratio of the pairs of senders, at each place."""
    return lambda measured: least(
        [rr(measured, exp, sender, figure, **place) for sender in pair]
        for pair in pairs for place in grid(**places))


def undelayed(measured):
    """What is left of the throughput if nearly a third of the packets are late."""
    whole = measured.mean("rr4", False, MILD | {"sender": "SACK"},
                          "throughput_mbps")
    return 100 * rr(measured, "rr4", "TA", late_percent=30) / whole


def with_more_loss(measured):
    """TA's gain over SACK, held to that with less loss."""
    gains = [ratio(rr(measured, exp, sender, late_percent=5, **loss)
                   for sender in ("TA", "SACK"))
             for exp, loss in (("rr4", {}), ("rr6", {"loss_percent": 0.5}),
                               ("rr6", {"loss_percent": 1}),
                               ("rr6", {"loss_percent": 2}))]
    return worst(zip(gains[1:], gains, strict=False))


def nearing(measured):
    """How much farther TA is from FA on the longest path than on the shortest."""
    return difference(abs(ratio(rr(measured, "rr7", sender, p_ms=p_ms)
                                for sender in ("TA", "FA")) - 1)
                      for p_ms in (200, 40))


def timed_out(measured):
    """By how much more often TAES's packets time out than TA's, at the worst."""
    return max(difference(
        rr(measured, "rr10", sender, "timeouts_percent", late_ms=late_ms)
        for sender in ("TAES", "TA")) for late_ms in (1200, 1400, 1600))


def mean_rtos(measured):
    """Table 3's order, by how close the closest two are; FA's ratio is 95 % there."""
    fixed, sack, r, ta, taes = (
        rr(measured, exp, sender, "rto_mean_ms", late_ms=1200, **more)
        for exp, sender, more in (
            ("rr12", "FA", {"fa_percent": 95}), ("rr10", "SACK", {}),
            ("rr10", "R", {}), ("rr10", "TA", {}), ("rr10", "TAES", {})))
    return least(((fixed, ta), (taes, ta), (ta, r), (ta, sack)))


def own_ratio(measured):
    return rr(measured, "rr8", "TA", "fa_ratio_mean")


def patience(measured):
    """The lowest FA ratio that TA has in the end."""
    return min(rr(measured, "rr4", "TA", "fa_ratio", late_percent=late)
               for late in (5, 10, 30))


def of_fixed(measured):
    """TA's throughput, held to that with the best FA ratio that is fixed."""
    best = max(rr(measured, "rr8", "FA", fa_percent=job["fa_percent"])
               for job in EXPERIMENTS["rr8"].jobs if job["sender"] == "FA")
    return 100 * rr(measured, "rr8", "TA") / best


def of_late_acks(measured):
    """What late ACKs leave of the throughput, worst of the paper's senders."""
    return 100 * least([rr(measured, "rr14", sender, late_acks_percent=late)
                        for late in (some, 0)]
                       for sender in ("R", "FA", "TA") for some in (5, 10, 20))


def one_packet_blocks(measured):
    """How far from 1 SRPIC takes TA's throughput at the paper's rate."""
    return 100 * abs(ratio(measured.mean(
        "rrblocks", srpic, MILD | {"sender": "TA", "late_percent": 5},
        "throughput_mbps") for srpic in (True, False)) - 1)


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
                    if found["block"] == 32 and found["flows"] == 1
                    and not found["case"].endswith("_hold")),
                   default=None)

    return measured.mean("micro", True, {}, dearest)


def polled(measured, srpic, driver, **more):
    """What a packet in order costs, by igb's whole poll."""
    job = {"driver": driver, "gro": True, "order": "in order", "frames": 63,
           **more}
    return measured.mean("driver", srpic, job, "frame_ns_median")


def round_trips(measured, **hold):
    job = {"rate_mbit": 250, "rx_usecs": 150, "polls": False}
    return difference(measured.mean("fig6", srpic, which, "rtt_p99_us")
                      for srpic, which in ((True, job | hold), (False, job)))


def throughput(measured, srpic, jitter, **hold):
    job = {"sender": "S", "jitter_percent": jitter, "sack": False} | hold
    return measured.mean("table4", srpic, job, "throughput_mbps")


def gain(jitter, limit, **hold):
    """The paper's gain for one stream of an S sender (its table 4)."""
    def value(measured):
        return throughput(measured, True, jitter, **hold) / \
            throughput(measured, False, jitter)

    return Target(
        "table4", f"S sender, 1 stream, jitter of {jitter} %, rx-usecs 300"
        f"{', held' if hold else ''}: gain in throughput", limit, "times",
        value,
        "what is late by more than it is waited for makes three duplicate "
        "ACKs as before, and the sender halves its window", at_least=True,
        mbps=lambda measured: throughput(measured, True, jitter, **hold))


HOGS_CAUSE = "the receiver is off the CPU with its socket locked"
DEBT_CAUSE = "what the receiver ran too long is taken back later"
RR_CAUSE = "Linux is not the simulator of the paper: see the results page"
RACK_CAUSE = ("traced, RACK was false in slow start alone, as it learns how late "
              "packets are; a window not undone grows by a packet a round trip")
ES_CAUSE = "TA has hardly a timeout that more samples could avoid"
BOUND_CAUSE = "FA's threshold and TA's are the bound of 64: they are one sender"

NICEST, LONG_QUOTA = {"nice": 19}, QUOTAS[1]
BUSY = {"busy": True}


def remedies(exp, way, name, than, who, *cells):
    """The targets of what helps those that wait longest."""
    def held(figure, cells, choose=worst, twait=True):
        return lambda measured: 100 * choose(
            [off_cpu(measured, figure, one, exp, twait, **cell)
             for one in (way, FULL)] for cell in cells)

    return (
        Target(exp, f"nice 19 or busy beside 10 hogs, or a quota, {name}: "
               "packets that wait 200 ms or more, worst of them", 0, "%",
               lambda measured: max(
                   off_cpu(measured, "wait_200ms_percent", way, exp, **cell)
                   for cell in (NICEST, BUSY, *QUOTAS)), HOGS_CAUSE),
        Target(exp, f"{who}: packets that wait 10 ms or more", 5,
               f"% of those {than}", held("wait_10ms_percent", (*cells, BUSY)),
               HOGS_CAUSE),
        Target(exp, "the same, but none that is busy beside hogs: timeouts", 5,
               f"% of those {than}", held("timeouts", cells), HOGS_CAUSE),
        Target(exp, "the same: throughput", 100, f"% of that {than}",
               held("throughput_mbps", cells, least, twait=False), HOGS_CAUSE,
               at_least=True))


def fairness(exp, way, without, name):
    """The targets of what grace leaves to the others, 1 to 9 hogs."""
    def busy(measured, way, hogs, figure="share_percent"):
        return off_cpu(measured, figure, way, exp, busy=True, hogs=hogs)

    def work(row):
        return row["hogs_ns"] / row["now_ns"]

    return (
        Target(exp, f"a busy receiver's share of the CPU, 1 to 9 hogs, {name}", 1,
               "points above that without", lambda measured: max(
                   difference(busy(measured, one, hogs) for one in (way, without))
                   for hogs in FAIRNESS_HOGS), DEBT_CAUSE),
        Target(exp, "the same", 3.86, "points above an equal share",
               lambda measured: max(busy(measured, way, hogs) - 100 / (hogs + 1)
                                    for hogs in FAIRNESS_HOGS), DEBT_CAUSE),
        Target(exp, "the same: what the hogs do", 99,
               "% of that without sock_grace", lambda measured: 100 * least(
                   [busy(measured, one, hogs, work) for one in (way, without)]
                   for hogs in FAIRNESS_HOGS), DEBT_CAUSE, at_least=True))


def bystanders(exp, way, without, name, whose="busy"):
    """The target of what it costs where nobody competes."""
    return Target(
        exp, f"no hogs, {name}: instructions by MB", 1.005, "times those without",
        lambda measured: ratio(off_cpu(measured, f"{whose}_ns_per_mb", one, exp,
                                       twait=False, hogs=0)
                               for one in (way, without)),
        "it is asked where a task would be preempted, and at the release")


TARGETS = (
    Target("driver", "feature off, a packet in igb's poll, above the "
           "unpatched driver", 4, "instructions", lambda measured:
           difference(polled(measured, False, driver)
                      for driver in ("igb_srpic", "igb_plain")),
           "beside the test for each packet, each poll reads the context at "
           "its begin and tests it at its end"),
    Target("driver", "in order, 1 flow, a packet in igb's poll, up to IP", 0.78,
           "times that without SRPIC", lambda measured:
           ratio(polled(measured, srpic, "igb") for srpic in (True, False)),
           "the ring's part of it stays: a packet is refilled, unmapped and "
           "parsed as without"),
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
           lambda measured: 100 * ratio(case(measured, name, "srpic")
                                        for name in ("flows_64", "in_order")) - 100,
           "a flow with one packet in the poll pays alone for its manager, "
           "which is looked for, opened and flushed; in one flow, all packets "
           "of a block share that"),
    Target("fig5", "in order, receiver's instructions in all, worst of the "
           "senders", 0.93, "times those without SRPIC", lambda measured:
           in_order(measured, SENDERS),
           "most of them are those of the ring, TCP and the socket, which stay"),
    Target("fig5", "the same, 10 streams, rx-usecs 150", 1,
           "times those without SRPIC", lambda measured:
           in_order(measured, SENDERS[1:2], streams=10, rx_usecs=150),
           "of each stream there are few packets in a poll, which are parsed "
           "as many are and save little"),
    Target("flows", "in order, 100 to 2,000 connections interleaved, "
           "receiver's instructions, worst of them", 1.01,
           "times those without SRPIC", lambda measured: worst([
               measured.mean("flows", srpic, {"flows": flows}, "receiver_ns_per_mb")
               for srpic in (True, False)] for flows in FLOWS if flows >= 100),
           "a packet alone in its poll is merged with none, and pays for its "
           "manager: see flows_64 in micro"),
    Target("fig5", "reordered within blocks (jitter of 0.2 and 1 %), "
           "receiver's instructions, worst of the senders", 1,
           "times those in order without SRPIC", reordered,
           "what is late by more than its block is queued out of order by "
           "TCP, and ends a batch of GRO's"),
    Target("fig5", "reordered within what is waited for (the same), "
           "receiver's instructions, worst of the senders", 1.05,
           "times those in order without SRPIC", lambda measured:
           reordered(measured, hold_usecs=10000),
           "what is early or late costs the sorter more than twice as much, "
           "see paths_hold in micro"),
    gain(0.2, 2.10),
    gain(1, 1.65),
    gain(2, 1.34),
    gain(10, 3, hold_usecs=10000),
    gain(2, 1.34, hold_usecs=10000),
    Target("paths", "skew of 250, 500 and 750 us, held: throughput, worst of "
           "the skews", 97, "% of that without skew", lambda measured:
           100 * least(of_skews(measured, "throughput_mbps")),
           "slow start takes longer, as does the round trip", at_least=True),
    Target("paths", "the same: queued out of order by TCP", 1,
           "% of the packets", lambda measured: max(
               above for above, _ in of_skews(
                   measured, lambda row: 100 * row["ofo_queued"] / row["packets"])),
           "of a new connection, it may be seen late what comes first"),
    Target("paths", "the same: receiver's instructions", 1.05,
           "times those without skew and SRPIC", lambda measured:
           worst(of_skews(measured, "receiver_ns_per_mb")),
           "what is early or late costs the sorter more than twice as much, "
           "see paths_hold in micro"),
    Target("paths", "skew of 250 us, without SRPIC: TA", 2,
           "times RACK's throughput", lambda measured: ratio(
               measured.mean("paths", False, job, "throughput_mbps")
               for job in ({"skew_us": 250, "sender": "TA"},
                           {"skew_us": 250, "hold_us": 0, "block_size": 32,
                            "rx_usecs": 300})), RR_CAUSE, at_least=True),
    Target("micro", "in order, what is early is held, above what it costs "
           "if not", 5, "instructions a packet", lambda measured:
           difference(case(measured, name, "srpic")
                      for name in ("in_order_hold", "in_order")),
           "a packet in order takes the same way with hold"),
    Target("table5", "loss of 0.1 %, RACK, waited for half a round trip: "
           "throughput", 98, "% of that without waiting", lambda measured:
           100 * ratio(measured.mean(
               "table5", True, {"sender": "RACK", "loss_percent": 0.1,
                                "bursts": False, "hold_usecs": hold_usecs},
               "throughput_mbps") for hold_usecs in (10000, 0)),
           "the first losses of a connection are waited for", at_least=True),
    Target("switch", "sprayed at 2 Gbit/s, RACK, held: retransmissions", 1,
           "times those without SRPIC", sprayed,
           "a connection counts three duplicate ACKs until it has seen "
           "reordering, which SRPIC hides"),
    Target("driver", "rxfence on and nothing moves, a packet in igb's poll, above "
           "rxfence off", 4, "instructions", lambda measured:
           difference(polled(measured, False, "igb", **more)
                      for more in ({"fence": True}, {})),
           "each packet is tested either way"),
    Target("steer", "flows that move, with rxfence: packets out of order, "
           "worst of all", 0, "%", lambda measured:
           max(steered(measured, "late_percent", fence=True)),
           "what the new queue has is not held back for longer than "
           "net.rxfence.deadline_usecs"),
    Target("steer", "the same, each 5 ms, S sender: throughput", 99,
           "% of that without moves", lambda measured: 100 * ratio(steered(
               measured, "throughput_mbps", sender="S", fence=True,
               move_ms=move_ms)[0] for move_ms in (5, 0)),
           "a packet out of order costs the sender half of its window",
           at_least=True),
    Target("steer", "the same, each 5 ms: waits, 99th percentile, worst of all",
           100, "% of rx-usecs", lambda measured: 100 * worst(
               (wait, rx_usecs) for rx_usecs in RX_USECS for wait in
               steered(measured, "wait_p99_us", fence=True, rx_usecs=rx_usecs,
                       move_ms=5)),
           "the old queue is polled on a CPU that has other things to do"),
    Target("fig6", "idle connection beside 10 busy ones, 99th percentile of "
           "its round trips, above that without SRPIC", 50, "us",
           round_trips,
           "the busy connections' polls take longer by what the sorter "
           "costs"),
    Target("fig6", "the same, held", 50, "us", lambda measured:
           round_trips(measured, hold_usecs=10000),
           "the busy connections' polls take longer by what the sorter "
           "costs"),
    Target("backlog", "no hogs: packets that wait 10 ms or more, worst of all "
           "ways to preempt", 0, "%", lambda measured:
           without_hogs(measured, "backlog", VOLUNTARY, FULL, GRACE), HOGS_CAUSE),
    Target("backlog", "10 hogs, voluntary preemption: packets that wait 10 ms "
           "or more, busy receiver or not", 0.1, "%", lambda measured: max(
               off_cpu(measured, "wait_10ms_percent", VOLUNTARY, **cell)
               for cell in ({}, BUSY)), HOGS_CAUSE),
    Target("backlog", "nice 19 beside 10 hogs or the long quota, full preemption: "
           "packets that wait 200 ms or more, least", 0.001, "%",
           lambda measured: unhelped(measured, "wait_200ms_percent"),
           "EEVDF runs the receiver often enough", at_least=True),
    Target("backlog", "the same: timeouts with nothing lost, least", 1, "",
           lambda measured: unhelped(measured, needless_timeouts),
           "EEVDF runs the receiver often enough", at_least=True),
    *remedies("backlog", GRACE, "full preemption, sock_grace",
              "without sock_grace", "the same, but the short quota", NICEST,
              LONG_QUOTA),
    bystanders("backlog", GRACE, FULL, "full preemption, sock_grace"),
    Target("backlog", "10 hogs, full preemption, busy receiver: waits, 99th "
           "percentile", 5000, "us away from 10 ms", lambda measured: abs(
               off_cpu(measured, "wait_p99_us", FULL, busy=True) - 10000),
           "an absence takes as many ms as there are hogs, but a reader that copies "
           "for longer than a tick has several before it releases its socket"),
    *fairness("backlog", GRACE, FULL, "sock_grace"),
    Target("backlog", "10 hogs or the long quota: throughput beside twait, worst of "
           "all", 98, "% of that without twait", traced,
           "its probes run with each packet, on CPU time that a nice receiver lacks",
           at_least=True),
    Target("lazy", "no hogs, lazy preemption: packets that wait 10 ms or more", 0,
           "%", lambda measured: without_hogs(measured, "lazy", LAZY, LAZY_GRACE),
           HOGS_CAUSE),
    # a quota ends there as the receiver leaves the kernel
    *(target for way, name in ((LAZY, "lazy preemption"),
                               (LAZY_GRACE, "lazy preemption, sock_grace"))
      for target in remedies("lazy", way, name, "with full preemption",
                             "the same, but a quota", NICEST)),
    # later kernels do not tell of all, see guest.clock_ns()
    bystanders("lazy", LAZY_GRACE, LAZY, "lazy preemption, sock_grace, receiver",
               "receiver"),
    *fairness("lazy", LAZY_GRACE, LAZY, "lazy preemption, sock_grace"),
    Target("rr4", "5, 10 and 30 % late: TA above FA above R above SACK, the "
           "closest two", 1, "times the next one's throughput",
           of_senders("rr4", ("TA", "FA"), ("FA", "R"), ("R", "SACK"),
                      late_percent=(5, 10, 30)), RR_CAUSE, at_least=True),
    Target("rr4", "the same: TA", 4, "times SACK's throughput",
           of_senders("rr4", ("TA", "SACK"), late_percent=(5, 10, 30)),
           RR_CAUSE, at_least=True),
    Target("rr4", "30 % late: TA", 71, "% of SACK's throughput if none is late",
           undelayed, RR_CAUSE, at_least=True),
    Target("rr4", "5, 10 and 30 % late: TA's FA ratio in the end, lowest", 0.97,
           "", patience, RR_CAUSE, at_least=True),
    Target("rr6", "5 % late, 2 % lost: TA", 1.6, "times SACK's throughput",
           of_senders("rr6", ("TA", "SACK"), loss_percent=(2,)), RR_CAUSE),
    Target("rr6", "5 % late: TA's gain over SACK with 0.5, 1 and 2 % lost", 1,
           "times that with less", with_more_loss, RR_CAUSE),
    *(Target(exp, f"late by less than a round trip, {which}: RACK", 0.98,
             "times TA's throughput",
             of_senders(exp, ("RACK", "TA"), **places),
             RACK_CAUSE if exp == "rrblocks" else RR_CAUSE, at_least=True)
      for exp, which, places in (
          ("rr4", "5, 10 and 30 % of them", {"late_percent": (5, 10, 30)}),
          ("rr6", "with loss", {"loss_percent": (0.5, 1, 2)}),
          ("rr14", "and ACKs as well", {"late_acks_percent": (0, 5, 10, 20)}),
          ("rr15", "other shapes", {"late": ("uniform", "paretonormal"),
                                    "late_percent": (5, 30)}),
          ("rr16", "half of them", {"late_ms": (25, 50)}),
          ("rr17", "1 % of them", {"late_ms": (5, 50)}),
          ("rrburst", "2 % of them", {"loss_percent": (0,)}),
          ("rrblocks", "at 40 Mbit/s", {"rx_usecs": (300, 8191),
                                        "loss_percent": (0, 0.2)}))),
    Target("rr7", "late by up to two round trips, P of 40 to 200 ms: TA, lowest",
           1, "times the throughput of R or FA",
           of_senders("rr7", ("TA", "R"), ("TA", "FA"),
                      p_ms=(40, 80, 120, 160, 200)), RR_CAUSE, at_least=True),
    Target("rr7", "the same, P of 40 ms: TA", 1.05,
           "times the throughput of A with that bound",
           of_senders("rr7", ("TA", "A1"), p_ms=(40,)), RR_CAUSE,
           at_least=True),
    Target("rr7", "the same: TA", 0.85,
           "times the throughput of A, which has no bound",
           of_senders("rr7", ("TA", "A"), p_ms=(40,)), RR_CAUSE,
           at_least=True),
    Target("rr7", "the same: TA's repair of a loss", 0.6, "times as long as A's",
           of_senders("rr7", ("TA", "A"), figure="repair_mean_ms", p_ms=(40,)),
           "A's threshold is no higher than TA's on the mean, and A has hardly a "
           "timeout"),
    Target("rr7", "how far TA is from FA, as a ratio, P of 200 ms", 0,
           "more than with P of 40 ms", nearing, RR_CAUSE),
    Target("rr8", "late by up to two round trips, P of 100 ms: TA", 1,
           "times R's throughput", of_senders("rr8", ("TA", "R"), p_ms=(100,)),
           RR_CAUSE, at_least=True),
    Target("rr8", "the same: TA", 1, "times that with a fixed FA ratio of 90 %",
           lambda measured: ratio([rr(measured, "rr8", "TA"),
                                   rr(measured, "rr8", "FA", fa_percent=90)]),
           RR_CAUSE, at_least=True),
    Target("rr8", "TA's own FA ratio, mean over time", 0.5, "", own_ratio,
           RR_CAUSE, at_least=True),
    Target("rr8", "the same, at the most", 0.8, "", own_ratio, RR_CAUSE),
    Target("rr8", "TA's throughput", 95, "% of that with the best fixed FA ratio",
           of_fixed, RR_CAUSE, at_least=True),
    Target("rr10", "late by 4.5 to 8 P: TAES, lowest", 1,
           "times TA's throughput",
           of_senders("rr10", ("TAES", "TA"),
                      late_ms=(900, 1100, 1200, 1400, 1600)),
           ES_CAUSE, at_least=True),
    Target("rr10", "late by 6 P and more: packets that time out, TAES", 0,
           "points of a per cent more than TA", timed_out, ES_CAUSE),
    Target("rr10", "late by 6 P: mean RTO of TAES and FA (95 %) above TA's, that "
           "above R's and SACK's, the closest two", 1, "times the next one's",
           mean_rtos, BOUND_CAUSE, at_least=True),
    Target("rr14", "5, 10 and 20 % of the ACKs late: throughput, worst of R, FA "
           "and TA", 95, "% of that if none is", of_late_acks, RR_CAUSE,
           at_least=True),
    Target("rr16", "half of the packets late by 200 ms: TA", 7,
           "times SACK's throughput",
           of_senders("rr16", ("TA", "SACK"), late_ms=(200,)), RR_CAUSE,
           at_least=True),
    Target("rr16", "the same: TA", 2, "times RACK's throughput",
           of_senders("rr16", ("TA", "RACK"), late_ms=(200,)), RR_CAUSE,
           at_least=True),
    Target("rrblocks", "5 % late, blocks of one packet: TA with SRPIC", 1,
           "% away from its throughput without", one_packet_blocks,
           "the path's delays are drawn anew for each run"),
)


def targets(by_experiment):
    """Each target, with its value in these rows."""
    found = {name: usable(lines, EXPERIMENTS[name].length)
             for name, lines in by_experiment.items()}
    return [target.judge(Measured(found)) for target in TARGETS]


def report():
    """Print the targets by the rows of this tree; write targets.json."""
    found = targets(rows.of_now(rows.load(rows.BENCH)))
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
