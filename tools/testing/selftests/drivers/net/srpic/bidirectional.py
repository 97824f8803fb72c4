#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Bulk data both ways on one connection, on a path that reorders. A pure ACK is
not suitable and ends its flow's block; here most ACKs travel with data. What
is left of the gain is measured.
"""

from lib.py import (
    SrpicEnv,
    Stream,
    expect_order,
    flow_cases,
    off_and_on,
    run,
)

# Of those without SRPIC, so many packets may be out of order.
LIMIT = 1.1


def bidirectional(env, ipver, streams):
    """Bytes are intact both ways, and no more packets are out of order."""
    env.coalesce()
    # 1 % for one connection; of many, packets come the more rarely
    env.netem(f"delay {env.delay_us}us {env.delay_us / 100 * streams:g}us "
              "distribution normal")
    traffic = Stream(env, ipver, streams, both=True)
    off, on = off_and_on(env, traffic)
    traffic.finish()
    passed = on["passed"] / max(on["taken"] + on["passed"], 1)
    env.figures(off=off, on=on, passed_share=round(passed, 3))

    expect_order(env, off, on, LIMIT)


def main():
    with SrpicEnv(__file__) as env:
        run(env, flow_cases(env, "bidirectional", bidirectional))


if __name__ == "__main__":
    main()
