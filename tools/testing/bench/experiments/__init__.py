# SPDX-License-Identifier: GPL-2.0
"""All experiments, by name, in the order in which they are run."""

from . import delay, flows, micro, paper, rr, spray, steer, today

EXPERIMENTS = {experiment.name: experiment
               for group in (micro, paper, delay, today, flows, spray, steer,
                             rr)
               for experiment in group.EXPERIMENTS}
