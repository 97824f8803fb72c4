#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""delay.py JSON: an idle connection beside busy ones; leaves row.json.

The busy ones go from snd to rcv, in order and without loss. The idle one is a
third host's, thd, whose packets leave rtr by the device that the busy ones'
do, but do not wait there behind them, and have no path delay: it would be the
same with and without SRPIC. Either its round trips are measured or, with
"polls", the receiver's polls, as this costs the receiver instructions.
"""

import json
import subprocess
import sys

import busy
import counts
import guest
import polls
import spread

DEFAULTS = {"srpic": False, "seed": 1, "rate_mbit": 250, "delay_us": 10000,
            "rx_usecs": 150, "hold_usecs": 0, "connections": 10, "seconds": 5,
            "polls": False}
WINDOW = "1M"           # of each connection: they fill the path, none is lost
QUEUE_PKTS = 100000
BUSY_BAND = " ".join("1" * 16)
THD_V4, THD_GATEWAY = "10.0.3.1", "10.0.3.2"


def add_third_host():
    subprocess.run(["ip", "netns", "add", "thd"], check=True)
    guest.sysctl("thd", {"net.ipv6.conf.all.disable_ipv6": 1})
    for command in ("link add rtr2 type veth peer name thd0 netns thd",
                    "link set rtr2 up",
                    f"addr add {THD_GATEWAY}/24 dev rtr2"):
        guest.ns("rtr", f"ip {command}")
    for command in ("link set thd0 up",
                    f"addr add {THD_V4}/24 dev thd0",
                    f"route add default via {THD_GATEWAY}"):
        guest.ns("thd", f"ip {command}")


def set_path(rate_mbit, delay_us):
    """The busy connections' path, and a band of its own for thd's packets."""
    if rate_mbit:
        guest.set_path(rate_mbit, delay_us)
    queue = f"netem limit {QUEUE_PKTS} delay {delay_us}us" if rate_mbit \
        else f"pfifo limit {QUEUE_PKTS}"
    dev = guest.RTR_DEV
    for command in (
            f"qdisc replace dev {dev} root handle 1: prio bands 2 "
            f"priomap {BUSY_BAND}",
            f"qdisc add dev {dev} parent 1:2 {queue}",
            f"filter add dev {dev} parent 1: protocol ip u32 "
            f"match ip src {THD_V4}/32 flowid 1:1"):
        guest.ns("rtr", f"tc {command}")


def round_trips(job):
    """The idle connection's, [[there, there and back], ...] in ns."""
    return json.loads(guest.ns("thd", [
        "python3", "idle.py", "ask", job["seed"], job["seconds"]]))


def watch_polls(job):
    """Trace them, with the idle connection beside the busy ones as well."""
    with busy.running("thd", ["python3", "idle.py", "ask", job["seed"],
                              busy.FOREVER_S]) as asking:
        polls.watch(job["seconds"])
        busy.check(asking)


def trip_figures(trips):
    there, both = zip(*trips)
    return spread.distribution("there", "us", [ns / 1e3 for ns in there]) | \
        spread.distribution("rtt", "us", [ns / 1e3 for ns in both])


def poll_figures():
    found, _ = polls.seen()
    return spread.distribution(
        "poll", "us", [poll.end_us - poll.start_us for poll in found]) | \
        spread.distribution("poll", "pkts", [poll.pkts for poll in found])


def main():
    job = counts.job(DEFAULTS)
    add_third_host()
    set_path(job["rate_mbit"], job["delay_us"])
    busy.calm_router()
    guest.coalesce(job["rx_usecs"])
    guest.sysctl("rcv", {"net.srpic.hold_usecs": job["hold_usecs"]})
    guest.switch(job["srpic"])
    with busy.iperf3(f"-P {job['connections']} -w {WINDOW}"), \
            busy.running("rcv", "python3 idle.py serve"):
        guest.wait_for_listener("rcv", 5300)
        before = busy.counts()
        if job["polls"]:
            watch_polls(job)
        else:
            trips = round_trips(job)
        row = busy.figures(before, busy.counts())
    row |= poll_figures() if job["polls"] else trip_figures(trips)
    if row["ofo_queued"]:
        sys.exit(f"delay: the path reorders, or loses packets: {row}")
    counts.leave(row)


main()
