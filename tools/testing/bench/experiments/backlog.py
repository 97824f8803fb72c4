# SPDX-License-Identifier: GPL-2.0
"""Packets that wait for a receiver off the CPU.

The receiver of Wu and Crawford (2007), beside programs that just compute ("hogs").
Time is virtual, and not slowed down, as ticks and the sender's RTO are not: 250
Mbit/s and 0.5 ms each way, one CPU. Sender and router have real-time priority.

backlog: voluntary and full preemption, and sock_grace_usecs. lazy: that of a later
kernel, which has no such setting.
"""

from experiment import Experiment, grid, shorter

HOGS = (0, 1, 2, 5, 10)
FAIRNESS_HOGS = (1, 3, 4, 9)    # of Table VII
GRACE_US = 5000
# Milliseconds of a quota and of its period. The receiver needs 2.6 % of the CPU:
# shares of 10 % are never used up, one of 1 % is.
QUOTAS = ({"quota_ms": 20, "period_ms": 200}, {"quota_ms": 100, "period_ms": 1000},
          {"quota_ms": 10, "period_ms": 1000})
LIMITS = (*grid(hogs=10, nice=(10, 19)), *(quota | {"hogs": 0} for quota in QUOTAS))
RTO_MIN_US = 5000
TRACED = (True, False)      # throughput is that without the module


def jobs(*ways):
    """
    Of each way to preempt, for which nothing is sorted and nothing left to chance
    but when the sender begins.
    """
    return tuple(
        job | {"srpic": False} | way for way in ways for job in (
            *grid(hogs=HOGS, twait=TRACED),
            *grid(hogs=FAIRNESS_HOGS, busy=True, twait=False),
            *grid(hogs=10, busy=True, twait=True),
            *(limit | job for limit in LIMITS for job in grid(twait=TRACED)),
            *grid(hogs=10, rto_min_us=RTO_MIN_US, twait=TRACED)))


VOLUNTARY, FULL, LAZY = ({"preempt": mode} for mode in
                         ("voluntary", "full", "lazy"))
GRACE = FULL | {"grace_us": GRACE_US}
OURS = ("patches/6.12/0015-sock-let-a-reader-release-its-socket-first.patch",
        "include/net/sock_grace.h", "net/core/sock_grace.c", "kernel",
        "tools/testing/testbed/config.preempt", "tools/testing/bench/twait")


def experiment(name, title, kver, *ways):
    every = jobs(*ways)
    return Experiment(
        name, title, "backlog.py", every, run_s=120,
        quick=shorter([job | {"seed": 1} for job in every
                       if job["hogs"] in (0, 10) or "busy" in job], 5),
        kver=kver, variant="preempt", sources=OURS, prepare="twait-module",
        files=(f"out/bench/twait/{kver}/twait.ko",))


EXPERIMENTS = (
    experiment("backlog", "Packets that wait for a receiver off the CPU", "6.12",
               VOLUNTARY, FULL, GRACE),
    experiment("lazy", "The same with lazy preemption", "7.3",
               LAZY, FULL),
)
