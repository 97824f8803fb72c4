#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The flag is switched under traffic: no byte is lost, counters obey it."""

import time

from lib.py import (
    SETTLE_S,
    SrpicEnv,
    Stream,
    flow_cases,
    ksft_eq,
    ksft_ge,
    run,
)

SWITCHES = 20


def toggle(env, ipver, streams):
    """Bytes arrive intact, and counters move when SRPIC is on, only then."""
    env.keep_switch()
    env.switch(False)
    traffic = Stream(env, ipver, streams)
    moved = {}
    for on in (False, True):
        env.switch(on)
        time.sleep(SETTLE_S)
        ksft_eq(env.switched(), on)
        moved[on] = traffic.measure(env.duration_s)
    for on in [False, True] * (SWITCHES // 2):
        env.switch(on)
        time.sleep(env.duration_s / SWITCHES)
    total = traffic.finish()
    env.figures(bytes=total, off=moved[False], on=moved[True])

    counters = set(env.stats())
    ksft_eq({name: moved[False][name] for name in counters},
            dict.fromkeys(counters, 0), "SRPIC was off")
    for name in "packets_taken", "blocks":
        ksft_ge(moved[True][name], 1, f"SRPIC was on: {name}")
    # none of these bytes came by any other way
    ksft_ge(moved[False]["bytes"], 1, "data came while SRPIC was off")


def main():
    with SrpicEnv(__file__) as env:
        run(env, flow_cases(env, "toggle", toggle))


if __name__ == "__main__":
    main()
