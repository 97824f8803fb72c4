# SPDX-License-Identifier: GPL-2.0
"""The paper's path with the senders of today, and what SRPIC's parts buy."""

from experiment import Experiment, grid, shorter

EXPERIMENTS = (
    Experiment(
        "today", "RACK with SACK, CUBIC and BBR, IPv4 and IPv6", "traffic.py",
        jobs=(*grid(congestion=("cubic", "bbr"), ipv=(4, 6),
                    jitter_percent=(10, 2, 1, 0.2), threaded=True),
              *grid(congestion=("cubic", "bbr"), streams=(5, 10),
                    jitter_percent=(1, 0.2), threaded=True)),
        quick=shorter(grid(congestion="bbr", ipv=6, jitter_percent=1,
                           threaded=True)),
        capture=True),
    Experiment(
        "ablation", "SRPIC with and without GRO", "traffic.py",
        jobs=grid(gro=(True, False), jitter_percent=(0, 0.2, 1, 2),
                  threaded=True),
        quick=shorter(grid(gro=False, jitter_percent=1, threaded=True))),
    Experiment(
        "blocksize", "Block sizes", "traffic.py",
        jobs=grid(srpic=True, block_size=(1, 2, 4, 8, 16, 32, 64, 128),
                  jitter_percent=(10, 2, 1, 0.2), threaded=True),
        quick=shorter(grid(srpic=True, block_size=(4, 64), jitter_percent=1,
                           threaded=True))),
)
