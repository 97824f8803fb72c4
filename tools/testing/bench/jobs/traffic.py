#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""traffic.py JSON: one run of iperf3 in the guest; leaves row.json.

The JSON has what differs from DEFAULTS. The path is the paper's (its section
4.1) with time diluted by four: 250 Mbit/s and 10 ms for 1 Gbit/s and 2.5 ms.
"""

import random
import time

import counts
import guest

DEFAULTS = {
    "srpic": False, "seed": 1, "block_size": 32, "hold_usecs": 0,
    "seconds": 5, "bytes": 0,               # bytes: until so many are sent
    "sender": "RACK", "sack": True, "timestamps": True,
    "congestion": "cubic", "ipv": 4, "streams": 1,
    "rate_mbit": 250, "delay_us": 10000,    # one way, each way
    "jitter_percent": 0,                    # of the delay: sigma, normal
    "loss_percent": 0, "bursts": False,     # see guest.netem()
    "where": "there",                       # jitter and loss: or back, both
    "rx_usecs": 300, "gro": True,
    "threaded": False,                      # receiver's and sender's NAPI
}


def prepare(job):
    """Make the hosts and the path between them as the job has it."""
    guest.set_sender(job["sender"], job["sack"], job["timestamps"])
    trouble = {"jitter_us": round(job["delay_us"] * job["jitter_percent"]
                                  / 100),
               "loss_percent": job["loss_percent"], "bursts": job["bursts"]}
    there = trouble if job["where"] != "back" else {}
    back = trouble if job["where"] != "there" else {}
    guest.set_path(job["rate_mbit"], job["delay_us"], seed=job["seed"],
                   back=back, **there)
    guest.coalesce(job["rx_usecs"])
    if not job["gro"]:
        guest.ns("rcv", f"ethtool -K {guest.DUT} gro off")
    if job["threaded"]:
        guest.poll_in_threads()
    guest.sysctl("rcv", {f"net.srpic.{name}": job[name]
                         for name in ("block_size", "hold_usecs")})
    guest.switch(job["srpic"])


def figures(found, job):
    """The row: what measure() found, by the names that the field has."""
    return counts.transfer(found, job["threaded"]) | {"lost_on_path": sum(
        guest.lost(dev) for dev in (guest.RTR_DEV, guest.RTR_BACK))}


def main():
    job = counts.job(DEFAULTS)
    prepare(job)
    # a path that has no jitter and no loss leaves nothing else to chance
    time.sleep(random.Random(job["seed"]).random() / 100)
    limit = f"-n {job['bytes']}" if job["bytes"] else ""
    found = guest.measure(
        0 if limit else job["seconds"],
        f"{limit} -P {job['streams']} -C {job['congestion']}",
        guest.RCV_V6 if job["ipv"] == 6 else guest.RCV_V4)
    counts.leave(figures(found, job))


if __name__ == "__main__":
    main()
