# SPDX-License-Identifier: GPL-2.0
"""Packets that wait for a receiver off the CPU.

The receiver of Wu and Crawford (2007), beside programs that just compute ("hogs").
Time is virtual, and not slowed down, as ticks and the sender's RTO are not: 250
Mbit/s and 0.5 ms each way, one CPU. Sender and router have real-time priority.

backlog: voluntary and full preemption, and the latter with sock_grace_usecs. lazy:
that of a later kernel, with and without it, and full.
"""

from experiment import Experiment, grid, shorter

HOGS = (0, 1, 2, 5, 10)
FAIRNESS_HOGS = (1, 3, 4, 9)    # of Table VII
GRACE_US = 5000
NICE = (10, 19)
# Milliseconds, and of which period. A receiver that just reads needs 4 % of the CPU,
# so that none is ever used up: this one is busy.
QUOTAS = tuple({"hogs": 0, "busy": True, "quota_ms": ms, "period_ms": 10 * ms}
               for ms in (20, 100))
RTO_MIN_US = 5000


def jobs(busy_hogs, *ways):
    """
    Of each way to preempt, for which nothing is sorted and nothing left to chance
    but when the sender begins. Throughput is that without the module.
    """
    traced = (*grid(hogs=HOGS), *grid(hogs=busy_hogs, busy=True),
              *grid(hogs=10, nice=NICE), *QUOTAS,
              *grid(hogs=10, busy=True, rto_min_us=RTO_MIN_US))
    others = (*grid(hogs=(0, 10)), *grid(hogs=10, nice=NICE), QUOTAS[1])
    return tuple(job | {"srpic": False, "twait": twait} | way for way in ways
                 for twait, cells in ((True, traced), (False, others))
                 for job in cells)


VOLUNTARY, FULL, LAZY = ({"preempt": mode} for mode in
                         ("voluntary", "full", "lazy"))
GRACE, LAZY_GRACE = (way | {"grace_us": GRACE_US} for way in (FULL, LAZY))
OURS = ("include/net/sock_grace.h", "net/core/sock_grace.c", "kernel",
        "tools/testing/testbed/config.preempt", "tools/testing/bench/twait")


def experiment(name, title, kver, number, every):
    patch = f"patches/{kver}/{number}-sock-let-a-reader-release-its-socket-first.patch"
    return Experiment(
        name, title, "backlog.py", every, run_s=120,
        quick=shorter([job | {"seed": 1} for job in every
                       if job["hogs"] in (0, 10) or "busy" in job], 5),
        kver=kver, variant="preempt", sources=(patch, *OURS), prepare="twait-module",
        files=(f"out/bench/twait/{kver}/twait.ko",))


# Table VII is held to what grace changes and to what that is compared with; voluntary
# has one busy cell. Of 7.3 with full preemption there is what waits beside ten hogs.
EXPERIMENTS = (
    experiment("backlog", "Packets that wait for a receiver off the CPU", "6.12",
               "0015", jobs(10, VOLUNTARY) + jobs((*FAIRNESS_HOGS, 10), FULL, GRACE)),
    experiment("lazy", "The same with lazy preemption", "7.3", "0014",
               jobs((*FAIRNESS_HOGS, 10), LAZY, LAZY_GRACE) + tuple(
                   job for job in jobs(10, FULL) if job["hogs"] == 10)),
)
