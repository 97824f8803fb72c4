#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Modules beside those of a distribution's kernel: they are preferred, sort TCP
while the flag is on, and when they are taken away the kernel's own driver is
there again. twait follows what is received meanwhile.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import guest

UPDATES = Path("/lib/modules", os.uname().release, "updates")
NIC = os.environ["NIC"]


def run(command, check=True):
    return subprocess.run(command.split(), text=True, check=check,
                          stdout=subprocess.PIPE).stdout


def moved(on):
    """How SRPIC's counters move under a stream on a path that reorders."""
    guest.switch(on)
    return guest.sorting()


def waits():
    """How many packets twait followed, and how many it could not."""
    lines = Path("/sys/kernel/debug/twait").read_text().splitlines()
    found = {name: int(value) for name, value in map(str.split, lines)}
    return sum(times for name, times in found.items() if name.startswith("wait_")
               and not name.endswith("_us")), found["lost"]


def without():
    """The driver's devices and their flags when our modules are gone."""
    run("ip -all netns delete")
    run(f"modprobe -r igb {NIC} srpic")
    away = shutil.move(UPDATES, "/tmp")
    run("depmod")
    try:
        run(f"modprobe {NIC}")
        devices = [path.parents[1].name for path in
                   Path("/sys/class/net").glob("*/device/driver")
                   if path.resolve().name == NIC]
        return devices, [run(f"ethtool --show-priv-flags {dev}", check=False)
                         for dev in devices]
    finally:
        run(f"modprobe -r {NIC}")
        shutil.move(away, UPDATES.parent)
        run("depmod")
        run(f"modprobe -a srpic igb {NIC}")


def main():
    print(Path("/proc/version").read_text().strip())
    preferred = str(UPDATES) in run(f"modinfo -F filename {NIC}")
    guest.set_path(jitter_us=100)
    if NIC == "virtio_net":
        guest.sysfs("napi_defer_hard_irqs", 1)
        guest.sysfs("gro_flush_timeout", 600000)
    else:
        guest.coalesce(600)
    run("insmod /job/twait.ko")
    on, off = moved(True), moved(False)
    followed, lost = waits()
    run("rmmod twait")
    print(f"on: {on}\noff: {off}\ntwait: {followed}, {lost} lost")
    sorts = "packets_out_of_order" in on and \
        on["packets_taken"] > 2 * on["blocks"]
    print(f"stock: {NIC} {'sorts' if sorts else 'does not sort'}")
    devices, flags = without()
    sys.exit(not guest.report({
        "modprobe does not prefer the installed modules": preferred,
        "SRPIC does not sort": sorts,
        "SRPIC counts while it is off": not off,
        "twait does not follow all packets": followed > 1000 and not lost,
        f"the kernel's own {NIC} finds no device": devices,
        "the kernel's own driver has the flag": "srpic" not in str(flags)}))


if __name__ == "__main__":
    main()
