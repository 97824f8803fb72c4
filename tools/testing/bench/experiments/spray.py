# SPDX-License-Identifier: GPL-2.0
"""Packets of a flow that take different ways.

switch: the load balanced switch of Usubutun, Fund and Panwar (2023) at 2 and
4.5 Gbit/s. The guest carries about 2 Gbit/s in all, so its time is 20 times
slower: 100 and 225 Mbit/s, a path of 400 ms for 20. Queues, windows and flows
have the bytes that they have there. Times in the rows are the
guest's. Of the paper's flows, these are the ones from 10 kB to 10 MB: 6 % of
them, with 21 % of the bytes.

paths: two paths with a skew, the shape of Juggler's experiment, at 10 Gbit/s.
Time is 40 times slower: 250 Mbit/s, and a skew of 1 ms is one of 40. The jobs'
skew_us and hold_us and the rows' interval_us, between two interrupts, are those
at 10 Gbit/s; rx_usecs is what igb was told.

hold_us is net.srpic.hold_usecs, in the time of the line or switch that the guest
stands for. The longest is more than any skew or queue: who does not know how
late packets are would take it.

The senders have Reno: CUBIC's clock cannot be slowed down, see jobs/spray.py.
That of the timestamps cannot either: a skew of 1 ms is 40 of its ticks.
"""

from experiment import Experiment, grid

MBPS = (100, 225)
SENDERS = ("S", "A", "TA", "RACK")
FLOWS = 1000                # 250 MB; about 50 of them above 1 MB
SWITCH_HOLDS_US = (1000, 5000)
# Juggler absorbs 750. With rx-usecs 8191 a softirq has some 400 packets, 480 us.
SKEWS_US = (0, 125, 250, 500, 750, 1000)
PATHS_S = 8                 # a fifth of a second there
HOLDS_US = (50, 100, 300, 700, 2500)
# (block_size, rx_usecs): the default, and the longest interval that igb has
SETTINGS = ((32, 300), (512, 8191))


def paths(skews_us, holds_us, seconds):
    """Without SRPIC, there is nothing to hold."""
    for skew_us in skews_us:
        for block_size, rx_usecs in SETTINGS:
            job = {"skew_us": skew_us, "block_size": block_size,
                   "rx_usecs": rx_usecs, "hold_us": 0, "seconds": seconds}
            yield job
            if block_size == 32:
                yield from (job | {"hold_us": hold_us, "srpic": True}
                            for hold_us in holds_us)


EXPERIMENTS = (
    Experiment(
        "switch", "Many flows through a switch that sprays their packets over "
        "8 queues (time 20 times slower)", "spray.py",
        jobs=(*grid(mbps=MBPS, sprayed=(False, True), sender=SENDERS,
                    flows=FLOWS, hold_us=0),
              *grid(mbps=MBPS, sprayed=True, sender=SENDERS, flows=FLOWS,
                    hold_us=SWITCH_HOLDS_US, srpic=True)),
        quick=(*grid(mbps=100, sprayed=True, sender=("S", "RACK"), flows=300,
                     hold_us=0),
               *grid(mbps=100, sprayed=True, sender="RACK", flows=300,
                     hold_us=SWITCH_HOLDS_US[-1], srpic=True)),
        length="flows", run_s=170, capture=True),
    Experiment(
        "paths", "One flow over two paths at random (time 40 times slower)",
        "paths.py",
        jobs=(*paths(SKEWS_US, HOLDS_US, PATHS_S),
              *grid(skew_us=(0, 250), loss_percent=0.1, seconds=PATHS_S,
                    hold_us=(0, *HOLDS_US[-2:]), srpic=True),
              *grid(skew_us=SKEWS_US[:4], seconds=PATHS_S, sender=("A", "TA"))),
        quick=(*(job for job in paths((0, 250, 500, 750), HOLDS_US[-1:], 8)
                 if job["block_size"] == 32
                 and (job["skew_us"] <= 250 or job["hold_us"])),
               *grid(skew_us=250, seconds=8, sender="TA", srpic=False)),
        run_s=90),
)
