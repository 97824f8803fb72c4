# SPDX-License-Identifier: GPL-2.0
"""All experiments, by name, in the order in which they are run."""

from . import backlog, delay, flows, micro, paper, rr, spray, steer, today

GROUPS = micro, paper, delay, today, flows, spray, steer, rr, backlog
EXPERIMENTS = {experiment.name: experiment for group in GROUPS
               for experiment in group.EXPERIMENTS}
# the file that each is written in
SOURCES = {experiment.name: group.__name__.split(".")[-1] + ".py"
           for group in GROUPS for experiment in group.EXPERIMENTS}
