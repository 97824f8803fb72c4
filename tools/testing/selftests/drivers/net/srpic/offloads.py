#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Each offload of the device in the state that is not its default, on a path that
reorders: bytes are intact, and SRPIC sorts as it does otherwise.
"""

import re
from functools import partial

from lib.py import (
    TURNS,
    SrpicEnv,
    Stream,
    add_vlan,
    expect_order,
    flow_cases,
    ksft_ge,
    off_and_on,
    run,
    set_feature,
    set_queues,
    stamp_all,
)

# Of the packets that SRPIC sees, so many are data that it takes.
TAKEN = 0.9

# Of those without SRPIC, so many packets may be out of order.
LIMIT = 1.1

# For documentation: RFC 5737, RFC 3849.
VLAN_ID = 5
VLAN = {"4": ("198.51.100.1/24", "198.51.100.2/24"),
        "6": ("2001:db8:5::1/64", "2001:db8:5::2/64")}

CHANGES = {
    "gro_off": partial(set_feature, name="gro", on=False),
    "lro_on": partial(set_feature, name="lro", on=True),
    "rx_off": partial(set_feature, name="rx", on=False),
    "rxhash_off": partial(set_feature, name="rxhash", on=False),
    "rxvlan_off": partial(set_feature, name="rxvlan", on=False),
    "one_queue": partial(set_queues, count=1),
    "several_queues": partial(set_queues, count=None),
    "stamp_all": stamp_all,
}


def queue_packets(env):
    """{queue: packets received}, if the driver counts them."""
    text = env.here(f"ethtool -S {env.ifname}")
    return {queue: int(count) for queue, count in re.findall(
        r"^\s*rx(?:_queue_|-)?(\d+)[_.]packets: (\d+)$", text, re.MULTILINE)}


def offload(env, ipver, streams, name):
    """Bytes are intact, most is taken, and no more is out of order."""
    CHANGES[name](env)
    env.coalesce()
    # connections that share the rate have their packets farther apart
    env.netem(f"delay {env.delay_us}us {env.delay_us * streams / 100:g}us "
              "distribution normal")
    address = None
    if name == "rxvlan_off":
        add_vlan(env, ipver, VLAN_ID, VLAN[ipver])
        address = VLAN[ipver][0].split("/")[0]
    before, queues = env.stats(), queue_packets(env)
    traffic = Stream(env, ipver, streams, address=address)
    off, on = off_and_on(env, traffic, TURNS[:4] if env.quick else TURNS)
    traffic.finish()
    moved = env.stats()["packets_out_of_order"] - \
        before["packets_out_of_order"]
    env.figures(off=off, on=on, sorted=moved)

    ksft_ge(on["taken"], TAKEN * (on["taken"] + on["passed"]),
            "SRPIC takes what arrives")
    ksft_ge(moved, 1, "SRPIC sees packets out of order")
    expect_order(env, off, on, LIMIT)
    if name == "several_queues" and streams > 1 and queues:
        # each connection has more than one in a hundred
        used = [queue for queue, count in queue_packets(env).items()
                if count - queues[queue] > on["taken"] // 100]
        env.need(len(used) > 1, f"all connections have queue {used}")


def main():
    with SrpicEnv(__file__) as env:
        cases = []
        for name in CHANGES:
            flows = flow_cases(env, name, offload, name)
            # many connections, for several queues
            cases += flows[-1:] if env.quick else flows
        run(env, cases)


if __name__ == "__main__":
    main()
