#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A path that reorders: less arrives out of order with SRPIC, and nothing gets
worse. The jitters are those of the paper's Table 4, in percent of the delay.
"""

from lib.py import (
    Iperf3,
    SrpicEnv,
    expect_order,
    expect_throughput,
    flow_cases,
    off_and_on,
    run,
)

JITTERS = 0.2, 1, 2, 10

# At this jitter, and with blocks of 8 packets and more, so much of what was
# out of order may still be.
LIMIT_JITTER, LIMIT_BLOCK, LIMIT = 1, 8, 0.25

# The mean block from which on there is something to sort. With 1.1, one
# connection carried 9.3 Mbit/s without SRPIC and 7.3 with it, of 250.
SORTS = 2

# Worse than without, beyond what measurements of one kind differ by. Where
# SRPIC sorts little, both say so. Retransmissions that were not needed rule the
# throughput with gaps, and that of one connection from this jitter on: 52 to
# 120 and 12 to 169 Mbit/s without SRPIC.
MARGIN, RETRANS_MARGIN, ORDER_MARGIN = 0.1, 0.5, 0.25
RETRANS_JITTER = 10


def jitter(env, ipver, streams, percent):
    """A jitter in percent of the delay, from a normal distribution."""
    reorder(env, f"delay {env.delay_us}us "
                 f"{env.delay_us * percent / 100:g}us distribution normal",
            lambda: Iperf3(env, ipver, streams, env.delay_us),
            RETRANS_MARGIN if percent >= RETRANS_JITTER and streams == 1
            else MARGIN,
            LIMIT if percent == LIMIT_JITTER else None)


def gap(env, ipver, streams):
    """
    Packets that go at once overtake those that wait; the more connections
    there are, the longer they must to meet one of their own.
    """
    reorder(env, f"delay {env.delay_us // 50 * streams}us "
                 "reorder 25% 50% gap 5",
            lambda: Iperf3(env, ipver, streams), RETRANS_MARGIN, None)


def reorder(env, spec, start, margin, limit):
    """Fewer packets are queued out of order, and as much data arrives."""
    env.coalesce()
    env.netem(spec)
    off, on = off_and_on(env, start())
    env.figures(off=off, on=on)
    env.need(off["out_of_order"], f"netem {spec} reorders nothing here")

    # without, what a connection carries that lost its window differs by itself
    if on["block"] >= SORTS:
        expect_throughput(env, off, on, margin)
    expect_order(env, off, on, 1 + ORDER_MARGIN)
    if limit:
        env.need(on["block"] >= LIMIT_BLOCK,
                 f"the mean block is {on['block']}, too short for the limit: "
                 "raise RX_USECS")
        expect_order(env, off, on, limit)


def main():
    with SrpicEnv(__file__) as env:
        cases = []
        for percent in JITTERS:
            name = f"jitter_{percent}_percent".replace(".", "_")
            cases += flow_cases(env, name, jitter, percent)
        cases += flow_cases(env, "gap", gap)
        run(env, cases)


if __name__ == "__main__":
    main()
