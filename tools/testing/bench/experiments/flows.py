# SPDX-License-Identifier: GPL-2.0
"""Many connections in order: has SRPIC something to give there?"""

from experiment import Experiment, grid, shorter

FLOWS = (10, 30, 100, 300, 1000, 2000)

EXPERIMENTS = (
    Experiment(
        name="flows",
        title="Connections in order, interleaved on one queue",
        script="flows.py",
        jobs=grid(flows=FLOWS),
        quick=shorter(grid(flows=FLOWS), 1),
        run_s=60),
)
