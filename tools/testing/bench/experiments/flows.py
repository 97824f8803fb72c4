# SPDX-License-Identifier: GPL-2.0
"""Many connections in order: has SRPIC something to give there?"""

from experiment import Experiment

FLOWS = (10, 30, 100, 300, 1000, 2000)

EXPERIMENTS = (
    Experiment(
        name="flows",
        title="Connections in order, interleaved on one queue",
        script="flows.py",
        jobs=tuple({"flows": flows} for flows in FLOWS),
        quick=tuple({"flows": flows, "seconds": 1} for flows in (10, 300)),
        run_s=60),
)
