#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""paths.py JSON: one flow whose packets take one of two paths at random.

The JSON has what differs from DEFAULTS; times are those of a line of 10 Gbit/s.
The guest is 40 times slower: its line has 250 Mbit/s, its paths 4 ms there and
back instead of 0.1, and a skew of 1 ms is one of 40. rx_usecs is the guest's own.
The sender has Reno: CUBIC's HyStart looks for 4 ms in either time,
which is more than any skew there and less than any here.
"""

import chance
import counts
import guest

# as patient as TA may be
A = {"tcp_max_reordering": guest.SENDERS["TA"]["tcp_max_reordering"]}
DEFAULTS = {
    "srpic": False, "seed": 1, "block_size": 32, "hold_us": 0,
    "seconds": 8, "sender": "RACK", "rx_usecs": 300, "loss_percent": 0,
    "skew_us": 0,                   # by how much the second path is longer
}
SLOWER = 40
MBPS = 10_000 // SLOWER
DELAY_US = 50 * SLOWER          # one way
BURST = "6kb"
RING_PKTS = 4096                # what comes in the longest interval fits


def set_ring():
    """The driver takes the link down for it."""
    guest.ns("rcv", f"ethtool -G {guest.DUT} rx {RING_PKTS}")
    guest.wait_for_link()


def set_path(skew_us, loss_percent, seed):
    """The line at the sender, two paths below the router's egress."""
    dev = guest.RTR_DEV
    loss = f"loss {loss_percent}% seed {seed}" if loss_percent else ""
    guest.ns("snd", f"tc qdisc add dev {guest.SND_DEV} root tbf "
                    f"rate {MBPS}mbit burst {BURST} limit 16mb")
    for command in (
            f"qdisc add dev {guest.RTR_BACK} root netem limit 100000 "
            f"delay {DELAY_US}us",
            f"qdisc add dev {dev} root handle 1: prio bands 2 "
            "priomap" + 16 * " 1",
            f"qdisc add dev {dev} parent 1:1 netem limit 100000 "
            f"delay {DELAY_US}us {loss}",
            f"qdisc add dev {dev} parent 1:2 netem limit 100000 "
            f"delay {DELAY_US + skew_us * SLOWER}us {loss}",
            f"filter add dev {dev} parent 1: protocol all prio 1 "
            "basic match 'meta(random mask 1 eq 0)' classid 1:1"):
        guest.ns("rtr", f"tc {command}")


def of_flow(found):
    """The figures of one guest.measure()."""
    interval_ns = found["now_ns"] / found["interrupts"]
    return counts.transfer(found, threaded=True) | {
        "interval_us": interval_ns / 1000 / SLOWER}     # at 10 Gbit/s


def main():
    job = counts.job(DEFAULTS)
    chance.seed(job["seed"])
    guest.set_sender(job["sender"])
    guest.sysctl("snd", {"tcp_congestion_control": "reno"} | (
        A if job["sender"] == "A" else {}))
    set_ring()
    set_path(job["skew_us"], job["loss_percent"], job["seed"])
    guest.poll_in_threads()
    guest.coalesce(job["rx_usecs"])
    guest.sysctl("rcv", {"net.srpic.block_size": job["block_size"],
                         "net.srpic.hold_usecs": job["hold_us"] * SLOWER})
    guest.switch(job["srpic"])
    counts.leave(of_flow(guest.measure(job["seconds"])))


main()
