#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The sysctls net.srpic.*: ranges, errors, namespaces and what they do."""

import errno
import time
from pathlib import Path

from lib.py import (
    Iperf3,
    NetNS,
    SrpicEnv,
    case,
    flow_cases,
    ksft_eq,
    ksft_ge,
    run,
    undo,
    uninterrupted,
)

DEFAULTS = {"block_size": 32, "full_flush_pkts": 0, "hold_usecs": 0}
RANGES = {"block_size": (1, 65536), "full_flush_pkts": (0, 65536),
          "hold_usecs": (0, 100000)}


def error_of(name, value):
    """The errno that writing a setting gives, or 0."""
    try:
        Path("/proc/sys/net/srpic", name).write_text(str(value))
    except OSError as error:
        return error.errno
    return 0


def ranges(env):
    """What is in range is taken; the rest is refused and changes nothing."""
    for name, (low, high) in RANGES.items():
        env.sysctl(name, DEFAULTS[name])
        for value in (low, high, DEFAULTS[name]):
            ksft_eq(error_of(name, value), 0, f"{name}={value}")
            ksft_eq(env.sysctl(name), value)
        for value in (low - 1, high + 1, 1 << 40, "x"):
            ksft_eq(error_of(name, value), errno.EINVAL, f"{name}={value}")
            ksft_eq(env.sysctl(name), DEFAULTS[name])


def namespaces(env):
    """A new namespace has the defaults, and ours does not follow it."""
    env.sysctl("block_size", 9)
    with uninterrupted():
        other = NetNS()
        undo(other.__del__)
    inside = f"ip netns exec {other.name} sysctl"
    for name, default in DEFAULTS.items():
        ksft_eq(int(env.here(f"{inside} -n net.srpic.{name}")), default)
    env.here(f"{inside} -qw net.srpic.block_size=5")
    ksft_eq(env.sysctl("block_size"), 9)


def blocks_under(env, ipver, streams, size, **settings):
    """
    How counters move with these settings, under traffic in order; no block is
    longer than size.
    """
    for name, value in settings.items():
        env.sysctl(name, value)
    env.keep_switch()
    env.switch(True)
    env.coalesce()
    count = Iperf3(env, ipver, streams).measure(env.duration_s)
    env.figures(settings=settings, **count)
    ksft_ge(count["packets_taken"], 1)
    # some may be on their way while the counters are read
    ksft_ge(size * (count["blocks"] + streams), count["packets_taken"],
            f"blocks of more than {size} packets")
    return count


def block_size(env, ipver, streams, size):
    """No block is longer than that, and with 1 nothing is sorted."""
    count = blocks_under(env, ipver, streams, size, block_size=size)
    # of many slow connections, a poll may have few packets each
    env.expect(count["flush_block"], "no block becomes full")
    if size == 1:
        ksft_eq(count["packets_out_of_order"], 0)


def full_flush_pkts(env, ipver, streams):
    """All blocks are flushed after so many packets."""
    count = blocks_under(env, ipver, streams, 3, block_size=65536,
                         full_flush_pkts=3)
    ksft_ge(count["flush_ring"], 1)
    ksft_eq(count["flush_block"], 0)


def hold_usecs(env, ipver, streams):
    """
    Nothing of what comes in order waits, but for what the network loses; and
    nothing is held any more once it is off.
    """
    count = blocks_under(env, ipver, streams, DEFAULTS["block_size"],
                         hold_usecs=1000)
    for name in "flush_hole", "flush_deadline":
        env.expect(count[name] * 100 <= count["blocks"],
                   f"{name} of traffic in order: {count[name]}")
    env.sysctl("hold_usecs", 0)
    env.switch(False)
    time.sleep(0.1)
    ksft_eq(env.stats()["packets_held"], 0)


def main():
    with SrpicEnv(__file__) as env:
        run(env, [case("ranges", ranges), case("namespaces", namespaces),
                  *flow_cases(env, "block_size_1", block_size, 1),
                  *flow_cases(env, "block_size_4", block_size, 4),
                  *flow_cases(env, "full_flush_pkts", full_flush_pkts),
                  *flow_cases(env, "hold_usecs", hold_usecs)])


if __name__ == "__main__":
    main()
