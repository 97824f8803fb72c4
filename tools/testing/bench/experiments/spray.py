# SPDX-License-Identifier: GPL-2.0
"""Packets of a flow that take different ways.

switch: the load balanced switch of Usubutun, Fund and Panwar (2023) at 1, 2
and 4.5 Gbit/s. The guest carries about 2 Gbit/s in all, so its time is 20
times slower: 50, 100 and 225 Mbit/s, a path of 400 ms for 20. Queues, windows
and flows have the bytes that they have there. Times in the rows are the
guest's. Of the paper's flows, these are the ones from 10 kB to 10 MB: 6 % of
them, with 21 % of the bytes.

paths: two paths with a skew, the shape of Juggler's experiment, at 10 Gbit/s.
Time is 40 times slower: 250 Mbit/s, and a skew of 1 ms is one of 40. The jobs'
skew_us and the rows' interval_us, between two interrupts, are those at
10 Gbit/s; rx_usecs is what igb was told.

The senders have Reno: CUBIC's clock cannot be slowed down, see jobs/spray.py.
That of the timestamps cannot either: a skew of 1 ms is 40 of its ticks.
"""

from experiment import Experiment, grid

MBPS = (50, 100, 225)
SENDERS = ("S", "A", "RACK")
FLOWS = 2000                # 500 MB; about 100 of them above 1 MB
# A poll of 64 packets takes 77 us there, what Juggler absorbs is longer.
SKEWS_US = (0, 25, 50, 125, 250, 500, 1000)
PATHS_S = 20                # half a second there: Reno is slow to open up

# (block_size, rx_usecs): default and maximum, in the usual interval and in the
# longest that igb has.
SETTINGS = ((32, 300), (128, 300), (128, 8191))


def paths(skews_us, seconds):
    """Without SRPIC, there is no block size to vary."""
    return tuple({"skew_us": skew_us, "block_size": block_size,
                  "rx_usecs": rx_usecs, "seconds": seconds, "srpic": srpic}
                 for skew_us in skews_us for block_size, rx_usecs in SETTINGS
                 for srpic in (False, True) if srpic or block_size != 32)


EXPERIMENTS = (
    Experiment(
        "switch", "Many flows through a switch that sprays their packets over "
        "8 queues (time 20 times slower)", "spray.py",
        jobs=grid(mbps=MBPS, sprayed=(False, True), sender=SENDERS,
                  flows=FLOWS),
        quick=grid(mbps=100, sprayed=True, sender=("S", "RACK"), flows=300),
        length="flows", run_s=170, capture=True),
    Experiment(
        "paths", "One flow over two paths at random (time 40 times slower)",
        "paths.py",
        jobs=paths(SKEWS_US, PATHS_S), quick=paths((25,), 2), run_s=60),
)
