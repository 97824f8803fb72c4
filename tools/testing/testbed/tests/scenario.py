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
(guest.OUT / "figures.json").write_text(
    json.dumps(guest.measure(seconds=1), indent=1))
