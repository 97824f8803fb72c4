#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""driver.py JSON: what igb's poll costs; leaves row.json.

The job names the driver (igb, which is built in, igb_plain or igb_srpic, see
igb-modules), gro, order (see ORDERS), frames in a poll and times; with fence,
rxfence is on, and nothing moves. A poll
is run by a thread, whose run time is all that a frame costs, from the ring up
to IP, which knows no such address and drops it.
"""

import json
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import guest
from frames import Sender, tcp_frame
from steering import fence

PAYLOAD = 1448
BLOCK = 32
WARM_UP = 5
SETTLE_NS = 1_000_000
PCI = Path("/sys/bus/pci")
TRACING = Path("/sys/kernel/tracing")
RECEIVER = ". /testbed/topology.sh; ip link set $(nic 02) name rcv0 netns rcv"
RECEIVER += " && add_receiver && wait_for links_of_path"


def late(block, by, rnd):
    """One packet of a block arrives so many places late."""
    place = rnd.randrange(len(block) - by)
    block.insert(place + by, block.pop(place))


ORDERS = {"in order": lambda block, rnd: None,
          "late by 1": lambda block, rnd: late(block, 1, rnd),
          "late by 4": lambda block, rnd: late(block, 4, rnd),
          "late by 16": lambda block, rnd: late(block, 16, rnd),
          "shuffled": lambda block, rnd: rnd.shuffle(block),
          "descending": lambda block, rnd: block.reverse()}


def bind(driver):
    """Give the device under test to a driver from a module."""
    link = guest.ns("rcv", f"readlink -f /sys/class/net/{guest.DUT}/device")
    device = Path(link.strip()).name
    subprocess.run(["insmod", f"/job/igb/{driver}.ko"], check=True)
    (PCI / "devices" / device / "driver_override").write_text(driver)
    (PCI / "devices" / device / "driver/unbind").write_text(device)
    (PCI / "drivers_probe").write_text(device)
    subprocess.run(["bash", "-c", RECEIVER], check=True)


def flow(count):
    """Frames of one flow, in order, as Linux sends them."""
    macs = [bytes.fromhex(guest.ns(name, f"cat /sys/class/net/{dev}/address")
                          .strip().replace(":", ""))
            for name, dev in (("rcv", guest.DUT), ("rtr", guest.RTR_DEV))]
    return [tcp_frame(macs, PAYLOAD * n, PAYLOAD, tsval=1000, df=True,
                      ident=n)
            for n in range(count)]


def reorder(frames, order, rnd):
    """The frames as they arrive: blocks of them, each of them reordered."""
    blocks = [frames[i:i + BLOCK] for i in range(0, len(frames), BLOCK)]
    for block in blocks:
        ORDERS[order](block, rnd)
    return [frame for block in blocks for frame in block]


def run_ns(threads):
    """How long the threads have run so far."""
    return sum(map(guest.ran_ns, threads))


def poll(sender, threads):
    """Send what was loaded; how long the threads have run for it.

    The sender's interrupts come before the threads' turn, which they would
    else lengthen.
    """
    before = run_ns(threads)
    sender.send()
    settled = time.monotonic_ns() + SETTLE_NS
    while time.monotonic_ns() < settled:
        pass
    time.sleep(0.002)
    return run_ns(threads) - before


def warm_up(sender, threads, frames):
    """Poll some times, and see that each takes all frames that were sent."""
    event = TRACING / "events/napi/napi_poll/enable"
    event.write_text("1")
    for _ in range(WARM_UP):
        poll(sender, threads)
    event.write_text("0")
    seen = re.findall(rf"for device {guest.DUT} work (\d+)",
                      (TRACING / "trace").read_text())
    taken = [int(work) for work in seen if work != "0"]
    if taken != [frames] * WARM_UP:
        raise RuntimeError(f"polls of {taken} frames instead of {frames}")


def main(job):
    if job["driver"] != "igb":
        bind(job["driver"])
    if job["driver"] != "igb_plain":
        guest.switch(job["srpic"])
    if job.get("fence"):
        fence(True)
    guest.ns("rcv", f"ethtool -K {guest.DUT} gro "
                    f"{'on' if job['gro'] else 'off'}")
    frames = flow(job["frames"])
    rnd = random.Random(job["seed"])
    guest.poll_in_a_thread(True)
    sender = Sender(guest.RTR_DEV)
    threads = guest.napi_threads(guest.DUT)
    if not threads:
        raise RuntimeError(f"no thread polls {guest.DUT}")
    sender.load(reorder(frames, job["order"], rnd))
    warm_up(sender, threads, job["frames"])

    segments = guest.counters("rcv")
    spent = []
    for _ in range(job["times"]):
        sender.load(reorder(frames, job["order"], rnd))
        spent.append(poll(sender, threads))
    segments = guest.difference(segments, guest.counters("rcv"))
    (guest.OUT / "row.json").write_text(json.dumps({
        "frame_ns": sum(spent) / len(spent) / job["frames"],
        "frame_ns_min": min(spent) / job["frames"],
        "frame_ns_max": max(spent) / job["frames"],
        "frame_ns_median": sorted(spent)[len(spent) // 2] / job["frames"],
        "segments_per_poll": segments["IpInReceives"] / len(spent)}))


if __name__ == "__main__":
    try:
        main(json.loads(sys.argv[1]))
    except (OSError, RuntimeError, subprocess.CalledProcessError) as error:
        sys.exit(f"driver.py: {error}")
