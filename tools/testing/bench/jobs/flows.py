#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""flows.py JSON: connections in order, interleaved on one queue; row.json.

They wait for one link in a queue that serves them in turn, a packet each, so
that any packets of one connection are as far apart as there are connections:
no order is finer. The receiver polls in a thread, whose time, with that of the
process that receives, is the cost.
"""

import contextlib
import os
import random
import sys
import time
from pathlib import Path

import busy
import counts
import guest
import polls
import spread

DEFAULTS = {"srpic": False, "seed": 1, "flows": 10, "rate_mbit": 600,
            "rx_usecs": 300, "seconds": 5}
WARM_UP_S = 1
POLLS_S = 0.2
QUEUE_PKTS = 100000
FRAME = 1514


def set_path(rate_mbit):
    for where, command in (
            ("snd", f"dev {guest.SND_DEV} root handle 1: tbf "
                    f"rate {rate_mbit}mbit burst 6kb limit 16mb"),
            ("snd", f"dev {guest.SND_DEV} parent 1: fq nopacing "
                    f"quantum {FRAME} initial_quantum {FRAME} "
                    f"limit {QUEUE_PKTS} flow_limit {QUEUE_PKTS}"),
            ("rtr", f"dev {guest.RTR_DEV} root pfifo limit {QUEUE_PKTS}")):
        guest.ns(where, f"tc qdisc replace {command}")


def poll_in_threads():
    """They run before all processes, busy.counts() too, as a softirq would."""
    guest.sysfs("threaded", 1)
    for thread in guest.napi_threads(guest.DUT):
        os.sched_setscheduler(int(thread.name), os.SCHED_FIFO,
                              os.sched_param(2))


def spent_ns(process):
    """By the threads that poll, and by the receiving process."""
    return {"napi_ns": guest.threads_ns(guest.DUT),
            "process_ns": guest.ran_ns(Path(f"/proc/{process.pid}"))}


@contextlib.contextmanager
def connections(flows):
    """They send in the meantime; yields the receiving process."""
    with busy.running("rcv", f"python3 bulk.py receive {flows}") as receiver:
        guest.wait_for_listener("rcv", 5400)
        with busy.running("snd", f"python3 bulk.py send {flows}") as sender:
            # it stops listening when it has all of them
            while guest.ns("rcv", "ss -Hltn sport = :5400"):
                time.sleep(0.1)
            time.sleep(WARM_UP_S)
            yield receiver
            busy.check(sender, receiver)


def main():
    job = counts.job(DEFAULTS)
    set_path(job["rate_mbit"])
    busy.calm_router()
    guest.coalesce(job["rx_usecs"])
    guest.switch(job["srpic"])
    poll_in_threads()
    with connections(job["flows"]) as receiver:
        # the only thing that is random: where in their turns it begins
        time.sleep(random.Random(job["seed"]).random() / 10)
        before, spent = busy.counts(), spent_ns(receiver)
        time.sleep(job["seconds"])
        row = busy.figures(before, busy.counts())
        spent = guest.difference(spent, spent_ns(receiver))
        polls.watch(POLLS_S)
    found, _ = polls.seen()
    row |= spent | {"receiver_ns": sum(spent.values())}
    megabytes = row["bytes"] / 1e6
    for name in "napi", "process", "receiver":
        row[f"{name}_ns_per_mb"] = round(row[f"{name}_ns"] / megabytes)
    row |= spread.distribution("poll", "pkts", [one.pkts for one in found])
    if row["ofo_queued"]:
        sys.exit(f"flows: the path reorders, or loses packets: {row}")
    counts.leave(row)


main()
