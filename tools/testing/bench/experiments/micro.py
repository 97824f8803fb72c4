# SPDX-License-Identifier: GPL-2.0
"""What a packet costs, in instructions.

micro: the sorter alone, and GRO beside it, by KUnit (srpic_cost). driver: all
of igb's poll, of the driver as it is built in, and of modules with and without
SRPIC (igb-modules).
"""

import json
import re

from experiment import Experiment

COSTS = ("srpic", "srpic_min", "srpic_max", "gro", "srpic_and_gro")
ORDERS = ("late by 1", "late by 4", "late by 16", "shuffled")   # at random


def parse(console):
    """What srpic_cost said, with its sums made instructions per packet."""
    found = (re.search(r"# cost_case_test: cost: (\{.*\})", line)
             for line in console)
    cases = [json.loads(match[1]) for match in found if match]
    if not cases:
        raise ValueError("srpic_cost said nothing")
    for case in cases:
        for cost in COSTS:
            polls = 1 if cost in ("srpic_min", "srpic_max") else case["polls"]
            case[cost] /= polls * case["pkts"]
        for pieces in "gro_skbs", "srpic_and_gro_skbs":
            case[pieces] /= case["polls"]
    return {"cases": cases}


def polls(driver="igb", gro=True, order="in order", count=200, **more):
    """63 frames: one more, and the poll would use up its budget."""
    return {"driver": driver, "gro": gro, "order": order, "frames": 63,
            "times": count, **more}


EXPERIMENTS = (
    Experiment(
        name="micro",
        title="Instructions a packet costs in the sorter",
        script="",
        kunit="srpic_cost",
        append="srpic.cost_polls=64",
        parse=parse,
        jobs=({"seed": 1, "srpic": True},),
        run_s=30),
    Experiment(
        name="driver",
        title="Instructions a packet costs in igb's poll",
        script="driver.py",
        prepare="igb-modules",
        files=("out/bench/igb", "tools/testing/testbed/tests/steering.py"),
        length="times",
        jobs=(*(polls(gro=gro, seed=1) for gro in (True, False)),
              *(polls(order=order) for order in ORDERS),
              polls(order="descending", seed=1),
              polls(fence=True, srpic=False, seed=1),
              *(polls("igb_plain", gro, srpic=False, seed=1)
                for gro in (True, False)),
              *(polls("igb_srpic", gro, srpic=srpic, seed=1)
                for gro in (True, False) for srpic in (False, True))),
        quick=(polls(count=50), polls(order="shuffled", count=50),
               polls(fence=True, srpic=False, count=50, seed=1),
               polls("igb_plain", srpic=False, count=50, seed=1),
               polls("igb_srpic", srpic=False, count=50, seed=1)),
        run_s=40),
)
