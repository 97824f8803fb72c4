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
counters = guest.measure(seconds=1)
for name, data in ("iperf3", counters.pop("iperf3")), ("counters", counters):
    (guest.OUT / f"{name}.json").write_text(json.dumps(data, indent=1))
