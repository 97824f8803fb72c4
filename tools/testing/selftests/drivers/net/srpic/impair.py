#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A path that loses, duplicates or corrupts packets, and one that reorders as
well: all bytes arrive, and nothing gets worse with SRPIC.
"""

import time

from lib.py import (
    Iperf3,
    SrpicEnv,
    Stream,
    expect_order,
    expect_throughput,
    flow_cases,
    off_and_on,
    run,
)

# What each of them makes TCP count here.
COUNTERS = {"loss": "out_of_order", "loss_reorder": "out_of_order",
            "duplicate": "duplicates", "corrupt": "corrupt"}

# Worse than without, of the throughput and of what is out of order.
MARGIN, ORDER_MARGIN = 0.2, 0.25


def specs(env, streams):
    """
    {name: what netem does}; the round trip is short, so that much is lost and
    mended in a short time. Connections that share the rate have their packets
    farther apart, so they need more jitter.
    """
    delay = f"delay {env.delay_us // 20}us"
    jitter = f"delay {env.delay_us // 20 * streams}us " \
             f"{env.delay_us // 100 * streams}us distribution normal"
    return {"loss": f"{delay} loss 0.5%",
            "loss_reorder": f"{jitter} loss 0.5%",
            "duplicate": f"{delay} duplicate 1%",
            "corrupt": f"{delay} corrupt 0.5%"}


def impair(env, ipver, streams, name):
    """Bytes are intact with SRPIC on; nothing is worse than without."""
    env.coalesce()
    spec = specs(env, streams)[name]
    env.netem(spec)
    off, on = off_and_on(env, Iperf3(env, ipver, streams))
    env.figures(off=off, on=on)

    env.switch(True)
    traffic = Stream(env, ipver, streams)
    time.sleep(env.duration_s)
    traffic.finish()
    expect_throughput(env, off, on, MARGIN)
    counter = COUNTERS[name]
    env.need(off[counter] + on[counter], f"netem {spec} has no effect here")
    if name == "loss_reorder":
        expect_order(env, off, on, 1 + ORDER_MARGIN)


def main():
    with SrpicEnv(__file__) as env:
        cases = []
        for name in COUNTERS:
            cases += flow_cases(env, name, impair, name)
        run(env, cases)


if __name__ == "__main__":
    main()
