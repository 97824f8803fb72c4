#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The counters of ethtool -S: complete, in agreement, and never backwards."""

from lib.py import Iperf3, SrpicEnv, case, flow_cases, ksft_eq, ksft_ge, run

CAUSES = {f"flush_{cause}" for cause in (
    "block", "ring", "poll", "barrier", "timestamp", "overlap", "evict",
    "hole", "deadline")}
NAMES = CAUSES | {"blocks", "packets_taken", "packets_passed",
                  "packets_out_of_order", "packets_held", "held_usecs_max"}


def agree(count):
    """What holds for the counters at any time."""
    ksft_eq(sum(count[name] for name in CAUSES), count["blocks"],
            "the causes add up to the blocks")
    ksft_ge(count["packets_taken"], count["packets_out_of_order"])


def names(env):
    """Each counter is there, in whichever state SRPIC is."""
    env.keep_switch()
    for on in (True, False):
        env.switch(on)
        ksft_eq(set(env.stats()), NAMES)
        agree(env.stats())


def causes(env, ipver, streams):
    """Under traffic that is out of order, causes add up to the blocks."""
    env.keep_switch()
    env.coalesce()
    env.netem(f"delay {env.delay_us}us {env.delay_us * streams / 100:g}us "
              "distribution normal")
    env.switch(True)
    moved = Iperf3(env, ipver, streams).measure(env.duration_s)
    env.figures(**moved)
    agree(env.stats())
    ksft_ge(moved["packets_taken"], moved["blocks"], "no block is empty")
    # some may be on their way while the counters are read
    size = env.sysctl("block_size")
    ksft_ge(size * (moved["blocks"] + streams), moved["packets_taken"],
            f"blocks of more than {size} packets")
    for name in ("packets_out_of_order", "flush_poll"):
        ksft_ge(moved[name], 1, f"{name} under jitter")


def monotonic(env):
    """Switching resets nothing."""
    before = env.stats()
    env.keep_switch()
    for on in (True, False, True):
        env.switch(on)
        after = env.stats()
        for key in before.keys() - {"packets_held"}:
            value = before[key]
            ksft_ge(after[key], value, f"{key} after switching")
        before = after


def main():
    with SrpicEnv(__file__) as env:
        run(env, [case("names", names),
                  *flow_cases(env, "causes", causes),
                  case("monotonic", monotonic)])


if __name__ == "__main__":
    main()
