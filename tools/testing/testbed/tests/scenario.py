#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""scenario.py SEED: a second of reordered traffic, sorted; writes all figures."""

import json
import sys

import guest

guest.set_sender("RACK")
guest.set_path(jitter_us=100, loss_percent=0.1, seed=int(sys.argv[1]))
guest.coalesce(300)
guest.switch(True)
found = guest.measure(seconds=1)
# The clocks can differ by some nanoseconds between two runs on a busy host;
# what they time must not.
clocks = {key: found.pop(key) for key in ("now_ns", "busy_ns")}
for name, data in (("iperf3.json", found.pop("iperf3")),
                   ("counters.json", found), ("clocks.txt", clocks)):
    (guest.OUT / name).write_text(json.dumps(data, indent=1))
