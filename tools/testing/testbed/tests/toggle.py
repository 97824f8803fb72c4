#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""toggle.py BURSTS: no frame is lost, copied or altered while SRPIC toggles.

The flag, that is, and whether packets are held. So many bursts, and more until
it was switched SWITCHES times. TCP would hide a lost packet by sending it again;
raw frames do not.
"""

import random
import sys
import threading

import guest
from device import Device, Settings
from frames import THROTTLE_US, Wire
from transfer import NIC, blocks, coalesce, statistics

FRAMES = 48
# With three, QEMU's e1000e has blocks below four in a kernel full of checks. By
# their length, some frames have a poll each, and all that remain have one.
FLOWS = 1 if NIC == "e1000e" else 3
SWITCHES = 1000
HOLD_USECS = 2000


def toggle(device, settings, stop, switched):
    """Switch all off and on until told to stop, as often as one can."""
    while not stop.is_set():
        for usecs in HOLD_USECS, 0:
            settings.set("hold_usecs", usecs)
            for on in True, False:
                device.switch(on)
                switched.append(on)


def main():
    bursts = int(sys.argv[1])
    guest.ns("rcv", f"ethtool -K {guest.DUT} gro off")
    # igb makes 33 ms of its longest throttle; a timer goes by what it is told
    coalesce(THROTTLE_US if NIC == "igb" else 33000)
    wire = Wire(guest.RTR_DEV, guest.DUT)
    stop, switched = threading.Event(), []
    thread = threading.Thread(target=toggle, daemon=True,
                              args=(Device(), Settings(), stop, switched))
    before = statistics()
    thread.start()
    wrong = in_order = number = 0
    while number < bursts or len(switched) < SWITCHES and thread.is_alive():
        order = list(range(FRAMES))
        random.Random(number).shuffle(order)
        frames = [wire.frame(1000 * n, 100 + number % 200,
                             port=4000 + n % FLOWS)
                  for n in order]
        got = wire.burst(frames)
        wrong += sorted(got) != sorted(frames)
        in_order += all([f for f in got if f[36:38] == port]
                        == [f for f in frames if f[36:38] == port]
                        for port in {f[36:38] for f in frames})
        number += 1
    stop.set()
    alive = thread.is_alive()
    thread.join()
    mean = blocks(before)[2]
    print(f"{number} bursts, {len(switched)} switches, {wrong} bursts wrong, "
          f"{in_order} not sorted, mean block {mean:.1f}")
    checks = {"frames were lost, copied or altered": not wrong,
              "switching failed": alive,
              "it was not both off and on": 0 < in_order < number,
              "mean block is not above 4": mean > 4}
    sys.exit(not guest.report(checks))


if __name__ == "__main__":
    main()
