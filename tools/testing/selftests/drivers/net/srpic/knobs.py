#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The sysctls net.srpic.*: ranges, errors, namespaces and what they do."""

import errno
from pathlib import Path

from lib.py import (
    Iperf3,
    NetNS,
    SrpicEnv,
    case,
    ksft_eq,
    ksft_ge,
    ksft_true,
    run,
    undo,
    uninterrupted,
)

DEFAULTS = {"block_size": 32, "full_flush_pkts": 0}
RANGES = {"block_size": (1, 128), "full_flush_pkts": (0, 65536)}


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


def blocks_under(env, **settings):
    """How counters move with these settings, under traffic in order."""
    for name, value in settings.items():
        env.sysctl(name, value)
    env.keep_switch()
    env.switch(True)
    env.coalesce()
    ipver = "4" if env.find_address("4") else "6"
    count = Iperf3(env, ipver, 1).measure(env.duration_s)
    env.figures(settings=settings, **count)
    ksft_ge(count["packets_taken"], 1)
    return count


def block_size(env, size):
    """No block is longer than that."""
    count = blocks_under(env, block_size=size)
    # one block may be on its way while the counters are read
    ksft_true(count["packets_taken"] <= size * (count["blocks"] + 1),
              f"blocks of more than {size} packets")
    ksft_ge(count["flush_block"], 1, "a block becomes full")
    return count


def block_size_1(env):
    """Nothing is sorted."""
    count = block_size(env, 1)
    ksft_eq(count["packets_out_of_order"], 0)


def full_flush_pkts(env):
    """All blocks are flushed after so many packets."""
    count = blocks_under(env, block_size=128, full_flush_pkts=3)
    ksft_ge(count["flush_ring"], 1)
    ksft_eq(count["flush_block"], 0)
    ksft_true(count["packets_taken"] <= 3 * (count["blocks"] + 1),
              "blocks of more than 3 packets")


def main():
    with SrpicEnv(__file__) as env:
        run(env, [case("ranges", ranges), case("namespaces", namespaces),
                  case("block_size_1", block_size_1),
                  case("block_size_4", block_size, 4),
                  case("full_flush_pkts", full_flush_pkts)])


if __name__ == "__main__":
    main()
