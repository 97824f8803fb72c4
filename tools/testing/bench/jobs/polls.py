# SPDX-License-Identifier: GPL-2.0
"""Polls of the device under test, as the kernel's tracepoints show them.

    polls.watch(seconds)
    found, _ = polls.seen()

A poll ends with napi:napi_poll. It began when the poll before it in the same
softirq ended, or when the softirq began. That is cheaper than probes at the
begin and the end of the driver's function, which are two exceptions.

A frame that rtr1 sends is in the ring of rcv0 once rtr1's driver has told its
device, which transmits at once: net:net_dev_xmit of the one is an arrival at
the other.
"""

import re
import time
from pathlib import Path
from typing import NamedTuple

import guest

TRACING = Path("/sys/kernel/tracing")
BUFFER_KB = 65536
SOFTIRQ, POLL, XMIT = "irq/softirq_entry", "napi/napi_poll", "net/net_dev_xmit"
NET_RX = 3
LINE = re.compile(r"(\d+\.\d+): (softirq_entry|napi_poll|net_dev_xmit): "
                  r"(?:.* device (\S+) work (\d+))?")


class Poll(NamedTuple):
    """A poll of the device under test; times in microseconds."""

    start_us: float
    end_us: float
    pkts: int


def write(name, value):
    (TRACING / name).write_text(f"{value}\n")


def watch(seconds, arrivals=False):
    """Trace polls and, if asked for, arrivals."""
    events = [SOFTIRQ, POLL] + [XMIT] * arrivals
    write("buffer_size_kb", BUFFER_KB)
    write("trace", "")
    write(f"events/{SOFTIRQ}/filter", f"vec == {NET_RX}")
    write(f"events/{XMIT}/filter", f'name == "{guest.RTR_DEV}"')
    for event in events:
        write(f"events/{event}/enable", 1)
    time.sleep(seconds)
    for event in events:
        write(f"events/{event}/enable", 0)
    stats = (TRACING / "per_cpu/cpu0/stats").read_text()
    if not re.search(r"^overrun: 0$", stats, re.MULTILINE):
        raise RuntimeError("the trace is too long: watch for less time")


def seen():
    """[Poll, ...] and [time of an arrival, ...] of what was watched."""
    polls, arrived, start = [], [], None
    with open(TRACING / "trace") as lines:
        events = [match.groups() for match in map(LINE.search, lines) if match]
    for when, event, device, work in events:
        when = float(when) * 1e6
        if event == "net_dev_xmit":
            arrived.append(when)
            continue
        # the transmit queue's NAPI has no packets
        if device == guest.DUT and int(work) and start is not None:
            polls.append(Poll(start, when, int(work)))
        start = when
    if not polls:
        raise RuntimeError(f"{guest.DUT} was not polled")
    return polls, arrived
