#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""steer.py JSON: one run of iperf3 while flows move between two queues.

The JSON has what differs from DEFAULTS; leaves row.json. The path is that of
traffic.py. All entries of the device's indirection table are moved at once.
"""

import threading
import time
from pathlib import Path

import counts
import guest
from steering import Table, fence

DEFAULTS = {
    "srpic": False, "seed": 1, "seconds": 5,
    "fence": False, "move_ms": 0,           # between two moves; 0: never
    "sender": "RACK", "streams": 1, "rx_usecs": 300, "gro": False,
    "rate_mbit": 250, "delay_us": 10000,    # one way, each way
}
TRACING = Path("/sys/kernel/tracing")
EVENTS = """\
r:steer/stop __rxfence_stop hash=$arg2:x32 wait=$retval:u8
r:steer/done __rxfence_complete
"""


def prepare(job):
    """Make the hosts and the path between them as the job has it."""
    guest.ns("rcv", f"ethtool -L {guest.DUT} combined 2")
    guest.wait_for_link()
    guest.set_sender(job["sender"])
    guest.set_path(job["rate_mbit"], job["delay_us"], seed=job["seed"])
    guest.coalesce(job["rx_usecs"])
    if not job["gro"]:
        guest.ns("rcv", f"ethtool -K {guest.DUT} gro off")
    guest.switch(job["srpic"])
    fence(job["fence"])
    if job["fence"]:
        (TRACING / "buffer_size_kb").write_text("8192")
        (TRACING / "kprobe_events").write_text(EVENTS)
        (TRACING / "events/steer/enable").write_text("1")


def keep_moving(job, table, stop):
    """A move at each beginning of an interval."""
    due = time.monotonic()
    while not stop.is_set():
        due += job["move_ms"] / 1000
        time.sleep(max(0, due - time.monotonic()))
        (TRACING / "trace_marker").write_text("move")
        table.move()


def waits_us():
    """
    How long each wait took: from a frame that was not taken to the end of the old
    queue's poll that had it taken. A queue that waits asks of that frame again and
    again. It may settle unasked; then another frame tells, or the next move.
    """
    found, frame, began, done = [], None, None, None
    for line in (TRACING / "trace").read_text().splitlines():
        if line.startswith("#"):
            continue
        stamp, event, *rest = line.split()[3:]
        at = float(stamp.rstrip(":")) * 1e6
        if event == "done:":
            done = done or at
            continue
        of, waits = rest[-2:] if event == "stop:" else (None, None)
        if frame and (of != frame or waits == "wait=0") and (of or done):
            found.append((done or at) - began)
            frame = None
        if waits == "wait=1":
            frame, began, done = of, began if frame else at, None
    return sorted(found)


def figures(job, found, moves):
    """The row."""
    row = counts.transfer(found, False)
    row |= {key: found["device"].get(f"rxfence_{key}", 0)
            for key in ("waits", "refused", "expired")}
    row |= {"moves": moves,
            "late_percent": 100 * row["ofo_queued"] / row["packets"]}
    waits = waits_us() if job["fence"] else []
    if waits:
        row |= {"wait_p50_us": waits[len(waits) // 2],
                "wait_p99_us": waits[len(waits) * 99 // 100],
                "wait_max_us": waits[-1], "waits_traced": len(waits)}
    return row


def main():
    job = counts.job(DEFAULTS)
    prepare(job)
    table, stop = Table(), threading.Event()
    mover = threading.Thread(target=keep_moving, args=(job, table, stop))
    if job["move_ms"]:
        mover.start()
    found = guest.measure(job["seconds"], f"-P {job['streams']}")
    if job["move_ms"]:
        stop.set()
        mover.join()
    counts.leave(figures(job, found, table.moves))


if __name__ == "__main__":
    main()
