# SPDX-License-Identifier: GPL-2.0
"""RR-TCP (Zhang, Karp, Floyd, Peterson, 2002): a sender that survives reordering.

The numbers are those of the paper's figures, times are real ones: see jobs/rr.py.
A is 6.12's own adaptive threshold, which puts no bound on limited transmit; A1 has
that of the paper's senders, one window. rrblocks asks whether a receiver that sorts
makes such a sender needless.

Where a delay is so much per cent of packets late by a normal distribution of k P,
its standard deviation is a third of that.
"""

from experiment import Experiment, grid

SENDERS = ("SACK", "R", "FA", "TA", "A", "A1", "RACK")
QUICK_S = 30

MILD = {"p_ms": 50, "late_ms": 25, "spread_ms": 8}
PLAIN = {"srpic": False}
# A block is one packet at the paper's rates, and here two with rx-usecs of 300: what
# is late by 25 ms is sorted if it is held. With 8191 it is 56 packets, of 17 ms. It
# lasts four times as long as a window that was halved takes to be whole again; with
# loss it never is.
FAST = MILD | {"rate_mbit": 40, "max_reordering": 1023, "late_percent": 5}
NEAR = FAST | {"late_ms": 3, "spread_ms": 1, "rx_usecs": 8191, "block_size": 64}
WHOLE = {"loss_percent": 0, "seconds": 60}
LOSING = {"loss_percent": 0.2, "seconds": 200}


def times(jobs, *varied):
    """Each of the jobs with each of varied, which are dicts."""
    return tuple(PLAIN | job | more for job in jobs for more in varied)


def path(p_ms):
    """For 1250 round trips, or 300 s."""
    return {"p_ms": p_ms, "seconds": max(300, p_ms * 5 // 2)}


def uniform(p_ms):
    """Late by 0 to 4 P."""
    return path(p_ms) | {
        "late": "uniform", "late_ms": 2 * p_ms, "spread_ms": 2 * p_ms,
        "late_percent": 1.4, "loss_percent": 0.6}


def severe(k):
    return path(200) | {"late_percent": 4, "late_ms": 200 * k,
                        "spread_ms": round(200 * k / 3, 1)}


def experiment(number, title, jobs, quick):
    return Experiment(f"rr{number}", title, "rr.py", jobs=jobs, run_s=110,
                      quick=tuple(job | {"seconds": QUICK_S} for job in quick))


def some(jobs, **values):
    """Those that have one of the values of each key."""
    return [job for job in jobs
            if all(job[key] in those for key, those in values.items())]


LATE = times(grid(sender=SENDERS), *(MILD | {"late_percent": percent}
                                     for percent in (5, 10, 30)))
LOSSY = times(grid(sender=("SACK", "R", "FA", "TA", "RACK")),
              *(MILD | {"late_percent": 5, "loss_percent": percent}
                for percent in (0.5, 1, 2)))
FAR = times(grid(sender=SENDERS), *map(uniform, (40, 80, 120, 160, 200)))
RATIOS = times(grid(sender="FA", fa_percent=(5, 20, 35, 50, 60, 70, 80, 90, 95)),
               uniform(100))
# On this path most senders are as patient as they may be with 64, the paper's bound
# of the threshold: so 300 as well, which is that of none.
SEVERE = (*times(grid(sender=("SACK", "R", "FA", "TA", "TAES", "RACK")),
                 *map(severe, (4.5, 5.5, 6, 7, 8))),
          *times(grid(sender=("TA", "TAES"), max_reordering=300),
                 *map(severe, (6, 8))))
SEVERE_RATIOS = times(grid(sender=("FA", "FAES"), fa_percent=(5, 35, 65, 95)),
                      severe(6), severe(6) | {"max_reordering": 300})
ACKS = times(grid(sender=("R", "FA", "TA", "RACK")),
             *(path(200) | {"late_percent": 3.5, "late_ms": 100,
                            "spread_ms": 33, "loss_percent": 0.5,
                            "late_acks_percent": percent}
               for percent in (0, 5, 10, 20)))
# of what netem's tables have, what is late by the least is so by 0 to 2 ms
SHAPES = times(grid(sender=("SACK", "TA", "RACK"), late_percent=(5, 30)),
               *(MILD | {"late": late, "spread_ms": spread_ms}
                 for late, spread_ms in (("uniform", 25), ("pareto", 36),
                                         ("paretonormal", 16))))
TWO_PATHS = times(grid(sender=("SACK", "TA", "A", "A1", "RACK")),
                  *({"p_ms": 50, "late_percent": 50, "late_ms": late_ms}
                    for late_ms in (25, 50, 100, 200)))
RARE = times(grid(sender=("SACK", "R", "TA", "A", "A1", "RACK")),
             *(path(50) | {"late_percent": 1, "late_ms": 50 * k,
                           "spread_ms": round(50 * k / 3, 1)}
               for k in (0.1, 1, 2, 4)))
BURSTS = times(grid(sender=("TA", "A", "A1", "RACK")),
               *({"p_ms": 200, "late_percent": 2, "late_ms": 100,
                  "spread_ms": 33, "loss_percent": percent, "burst_ms": 350,
                  "seconds": 600}   # 15 rows
                 for percent in (0, 0.02)))
# Of one packet; then of more, held for longer than packets are late
BLOCKS = (
    *times(grid(sender="TA", srpic=(False, True)), MILD | {"late_percent": 5}),
    *(job | loss for loss in (WHOLE, LOSING) for job in (
        *(FAST | {"rx_usecs": 300, "sender": sender} | sorts
          for sender in ("SACK", "TA", "A", "RACK")
          for sorts in (PLAIN, {"srpic": True, "hold_usecs": 60000})),
        *(NEAR | {"sender": sender} for sender in ("SACK", "TA", "RACK")))))


# The quick ones are what the targets look at, or one of a kind.
EXPERIMENTS = (
    experiment(4, "Throughput by how many packets are late",
               (PLAIN | MILD | {"sender": "SACK"}, *LATE),
               [PLAIN | MILD | {"sender": "SACK"},
                *some(LATE, sender=("SACK", "R", "FA", "TA", "RACK"))]),
    experiment(6, "Throughput by loss, 5 % of packets late", LOSSY,
               some(LOSSY, sender=("SACK", "TA", "RACK"))),
    experiment(7, "Throughput by the path's delay, late by up to 2 RTT", FAR,
               some(FAR, sender=("R", "FA", "TA"))
               + some(FAR, sender=("A", "A1"), p_ms=(40,))),
    experiment(8, "Throughput by a fixed FA ratio",
               (*times(grid(sender=("R", "TA", "RACK")), uniform(100)), *RATIOS),
               (*times(grid(sender=("R", "TA")), uniform(100)), *RATIOS)),
    experiment(10, "Throughput and timeouts by how late packets are", SEVERE,
               some(SEVERE, sender=("TA", "TAES"))
               + some(SEVERE, sender=("SACK", "R"), late_ms=(1200,))),
    experiment(12, "Timeouts and throughput by a fixed FA ratio", SEVERE_RATIOS,
               some(SEVERE_RATIOS, fa_percent=(95,))),
    experiment(14, "Throughput by how many ACKs are late", ACKS, ACKS),
    experiment(15, "Throughput by the shape of lateness", SHAPES,
               some(SHAPES, sender=("TA", "RACK"))),
    experiment(16, "Throughput on two paths by how much longer one is",
               TWO_PATHS, some(TWO_PATHS, late_ms=(25, 50, 200),
                               sender=("SACK", "TA", "RACK"))),
    experiment(17, "Throughput by how late 1 % of the packets are", RARE,
               some(RARE, sender=("TA", "RACK"), late_ms=(5, 50))),
    experiment("burst", "Rows of lost packets (Table 4)", BURSTS,
               some(BURSTS, sender=("TA", "RACK"))),
    experiment("blocks", "Sorting at the receiver, patience at the sender",
               BLOCKS, some(BLOCKS, sender=("TA", "RACK"))),
)
