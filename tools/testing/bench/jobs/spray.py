#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""spray.py JSON: many flows through a switch that may spray their packets.

The JSON has what differs from DEFAULTS; times are the paper's.

The switch is rtr's egress: 8 queues, each packet in one of them at random, or
fq, which has the packets of a flow in one queue. Round robin serves either
with a quantum of two packets, at the line's rate, and their buffer is twice
what the line carries in T. T, the path's delay without queues, is all on the
way back. Time is 20 times slower than in the paper on the switch: it has T
20 ms and lines of 1, 2 and 4.5 Gbit/s, this has 400 ms and 50, 100, 225 Mbit/s.
So the queues are as long as there, in packets. The shortest time to a
retransmission is slowed down with it. CUBIC's clock cannot be, so this is Reno,
which has none: CUBIC grows as Reno does at 20 ms with less than 700 packets
(RFC 9438, 4.3), and its HyStart, which looks for 16 ms here, not for 80, would
end slow start at any queue (100 Mbit/s, RACK: 90 % of the large flows complete
in 9.4 s, with Reno in 3.9).
"""

import json
import statistics

import chance
import counts
import guest
from load import Load, trace

DEFAULTS = {
    "srpic": False, "seed": 1, "sender": "RACK", "hold_us": 0,
    "mbps": 100, "flows": 300,      # the line's rate, and how many on it
    "sprayed": True,
}
SLOWER = 20
T_US = 20_000 * SLOWER
QUEUES = 8
QUANTUM = 2 * 1514
BURST = "6kb"           # of tbf: the packets of a line are spaced evenly
UTILISATION = 0.5
INBOUND = 2.5           # lines: three of 5/3 come in, for two such switches
RX_USECS = 300          # 1.2 ms from igb, 60 us in the paper's time
LARGE = 1_000_000       # bytes of the flows that the paper looks at

# What the paper's senders are, where it differs from guest.SENDERS.
SENDERS = {"S": {"tcp_early_retrans": 3}, "A": {"tcp_max_reordering": 300},
           "TA": {}, "RACK": {}}


def set_sender(name):
    guest.set_sender(name)
    guest.sysctl("snd", SENDERS[name] | {
        "tcp_congestion_control": "reno",
        "tcp_rto_min_us": 200_000 * SLOWER})


def spray(parent, queues, limit):
    """Queues below a qdisc, one for each packet at random; of limit bytes."""
    yield f"qdisc add dev {guest.RTR_DEV} parent {parent} handle 2: drr"
    for n in range(1, queues + 1):
        yield (f"class add dev {guest.RTR_DEV} parent 2: classid 2:{n} "
               f"drr quantum {QUANTUM}")
        yield (f"qdisc add dev {guest.RTR_DEV} parent 2:{n} handle {n + 9}: "
               f"bfifo limit {limit}")
        # of what comes so far, one packet in as many as there are queues left
        match = ("basic match 'meta(random mask 0xffffffff lt "
                 f"{2**32 // (queues + 1 - n)})'")
        yield (f"filter add dev {guest.RTR_DEV} parent 2: protocol all "
               f"prio {n} {match if n < queues else 'matchall'} classid 2:{n}")


def set_path(mbps, sprayed):
    """The switch, and the lines to it and from it."""
    buffer = int(2 * mbps * T_US / 8)
    guest.ns("snd", f"tc qdisc add dev {guest.SND_DEV} root tbf "
                    f"rate {INBOUND * mbps}mbit burst {BURST} limit 64mb")
    guest.ns("rtr", f"tc qdisc add dev {guest.RTR_BACK} root netem "
                    f"delay {T_US}us limit 100000")
    guest.ns("rtr", f"tc qdisc add dev {guest.RTR_DEV} root handle 1: tbf "
                    f"rate {mbps}mbit burst {BURST} limit {buffer}")
    packets = buffer // 1514
    below = spray("1:1", QUEUES, buffer // QUEUES) if sprayed else [
        f"qdisc add dev {guest.RTR_DEV} parent 1:1 handle 2: fq nopacing "
        f"limit {packets} flow_limit {packets} quantum {QUANTUM}"]
    for command in below:
        guest.ns("rtr", f"tc {command}")


def quantiles(name, values):
    """A distribution's row: the paper has it as a curve."""
    tenths = statistics.quantiles(values, n=20, method="inclusive")
    return {name.format("mean"): statistics.fmean(values)} | {
        name.format(f"p{5 * n}"): tenths[n - 1] for n in (2, 5, 10, 15, 18)}


def of_flows(flows):
    """What the flows say, in the guest's time."""
    large = [flow for flow in flows if flow["bytes"] >= LARGE]
    return {
        "flows": len(flows), "large_flows": len(large),
        "bytes": sum(flow["bytes"] for flow in flows),
        **quantiles("fct_{}_ms", [1000 * flow["seconds"] for flow in large]),
        **quantiles("retransmitted_{}_percent",
                    [100 * flow["retransmits"] / flow["packets"]
                     for flow in large]),
        "retransmitted_percent":
            100 * sum(flow["retransmits"] for flow in flows)
            / sum(flow["packets"] for flow in flows),
    }


def of_switch(mbps, now_ns):
    """What the switch says: its line's use, and how even it sprayed."""
    qdiscs = json.loads(guest.ns("rtr", "tc -s -j qdisc show "
                                        f"dev {guest.RTR_DEV}"))
    root = next(qdisc for qdisc in qdiscs if qdisc.get("root"))
    row = {"utilisation_percent":
               100 * root["bytes"] * 8000 / (now_ns * mbps),
           "dropped": root["drops"]}
    packets = [qdisc["packets"] for qdisc in qdiscs
               if qdisc["kind"] == "bfifo"]
    if packets:
        share = 100 / sum(packets)
        row["queue_min_percent"] = share * min(packets)
        row["queue_max_percent"] = share * max(packets)
        print("packets of each queue:", *packets)
    return row


def main():
    job = counts.job(DEFAULTS)
    chance.seed(job["seed"])
    set_sender(job["sender"])
    set_path(job["mbps"], job["sprayed"])
    guest.coalesce(RX_USECS)
    guest.sysctl("rcv", {"net.srpic.hold_usecs": job["hold_us"] * SLOWER})
    guest.switch(job["srpic"])
    load = Load(trace(job["seed"], job["flows"], UTILISATION * job["mbps"]))
    before = counts.snapshot()
    flows = load.run()
    found = counts.since(before)
    counts.leave(of_flows(flows) | of_switch(job["mbps"], found["now_ns"])
                 | counts.row(found))


main()
