#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""hooks.py PLACE...: how often these instructions are run while TCP sends.

A kprobe counts at each, for both ends; packets are the sender's. In order, and where
many are late.
"""

import sys
from pathlib import Path

import guest

TRACING = Path("/sys/kernel/tracing")
LIMIT = 4       # for a packet, in the mean


def hits():
    """{place: how often it was run}, so far; none was missed."""
    lines = [line.split() for line in
             (TRACING / "kprobe_profile").read_text().splitlines()]
    if any(int(missed) for _, _, missed in lines):
        sys.exit("hooks: a kprobe missed what it should count")
    return {name: int(count) for name, count, _ in lines}


def main():
    probes = "".join(f"p:hook{n} {place}\n"
                     for n, place in enumerate(sys.argv[1:]))
    (TRACING / "kprobe_events").write_text(probes)
    (TRACING / "events/kprobes/enable").write_text("1")
    guest.set_sender("A")
    # one packet at a time, as the hooks of a long one are run once
    guest.ns("snd", f"ip link set dev {guest.SND_DEV} gso_max_segs 1")
    for jitter_us in (0, 2000):
        guest.set_path(jitter_us=jitter_us)
        before, sent = hits(), guest.counters("snd")
        guest.iperf3(seconds=3)
        sent = guest.difference(sent, guest.counters("snd"))
        ran = sum(guest.difference(before, hits()).values())
        share = ran / sent["TcpOutSegs"]
        print(f"jitter of {jitter_us} us: {share:.2f} NOPs a packet")
        if not 0 < share <= LIMIT:
            sys.exit(f"hooks: {share:.2f} of {LIMIT} for a packet")


if __name__ == "__main__":
    main()
