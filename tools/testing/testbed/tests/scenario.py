#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""scenario.py SEED: a second of reordered traffic, sorted; writes all figures."""

import json
import sys

import guest

guest.set_sender("RACK")
guest.set_path(jitter_us=100, loss_percent=0.1, seed=int(sys.argv[1]))
guest.coalesce(300)
guest.ns("rcv", f"ethtool --set-priv-flags {guest.DUT} srpic on")
found = guest.measure(seconds=1)
results = {"iperf3": found.pop("iperf3"),
           # The clocks can differ by some nanoseconds between two runs on a
           # busy host; what they time must not.
           "clocks.txt": {key: found.pop(key) for key in ("now_ns", "busy_ns")},
           "counters": found}
for name, data in results.items():
    (guest.OUT / (name if "." in name else f"{name}.json")).write_text(
        json.dumps(data, indent=1))
