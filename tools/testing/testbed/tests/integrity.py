#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""integrity.py SECONDS: TCP over a reordering path, while SRPIC toggles.

Fails if a byte is wrong, if nothing was sorted, or if blocks were too short
for the test to mean anything.
"""

import sys
import time
from collections import Counter

import guest
from device import Device, Settings
from transfer import MORE, Transfer, blocks, coalesce, set_path, statistics

TOGGLE_S = 0.05         # between two, so that there are polls without SRPIC
HOLD_USECS = 30000      # more than a slot: what is early does not pass for lost


def run(address, seconds):
    """One transfer; True if it was sound."""
    device, settings = Device(), Settings()
    before, toggles = statistics(), 0
    with Transfer(address) as transfer:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for usecs in 0, HOLD_USECS:
                settings.set("hold_usecs", usecs)
                for on in False, True:
                    device.switch(on)
                    time.sleep(TOGGLE_S)
                    toggles += 1
        last = statistics()
        transfer.wait_for(MORE)
        still = blocks(last)[1]
    taken, late, mean = blocks(before)
    moved = Counter(guest.difference(before, statistics()))
    off = moved["received"] - taken - moved["srpic_packets_passed"]
    guest.switch(False)

    print(f"{address}: {transfer.arrived} bytes, {toggles} toggles, "
          f"{off} packets while off, {taken} taken, {late} out of order, "
          f"mean block {mean:.1f}", flush=True)
    checks = {"bytes differ": transfer.sound(),
              "too few toggles": toggles >= 10,
              "it was hardly off": off > 100,
              "nothing was sorted": late > 100,
              "nothing was sorted in the end": still > 0,
              "nothing was held": moved["srpic_flush_hole"] > 0,
              "mean block is not above 4": mean > 4}
    return guest.report(checks)


def main():
    seconds = float(sys.argv[1])
    guest.set_sender("RACK")
    set_path(rate_mbit=100, slot_ms=20)
    coalesce(1000)
    # both, even if the first one fails
    results = [run(address, seconds)
               for address in (guest.RCV_V4, guest.RCV_V6)]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
