#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A Debian that was booted by systemd, with the packages installed: the driver is
theirs, udev has switched on what /etc/srpic.conf names, and that sorts. What is
wrong in that file is said in one line of the journal, and nothing is done.

    packages.py BLOCK_SIZE      as it is in that file
"""

import re
import subprocess
import sys
from pathlib import Path

import guest

CONF = Path("/etc/srpic.conf")
# a file, the device it is applied to, and what is said
WRONG = (
    ("devices = rcv0\nblock_sise = 3\n", "rcv0",
     "srpic.conf:2: there is no 'block_sise'"),
    ("devices = rcv0\nblock_size = lots\n", "rcv0",
     "srpic.conf:2: 'lots' is no number"),
    ("devices = rcv0\nblock_size = 99999", "rcv0", "block_size cannot be 99999"),
    ("devices = r* lo\n", "lo", "lo: SRPIC is not on ("))


def run(*command):
    return subprocess.run(command, text=True, check=True,
                          stdout=subprocess.PIPE).stdout


def is_on(name, dev):
    flags = guest.ns(name, f"ethtool --show-priv-flags {dev}")
    return re.search(r"^srpic *: (on|off)$", flags, re.MULTILINE)[1] == "on"


def journal():
    """All of it that is ours: --after-cursor skips the first of what -t finds."""
    run("journalctl", "--sync")
    return run("journalctl", "-q", "-t", "srpic", "-o", "cat").splitlines()


def complaints(text, dev):
    """What the journal has to say of a file."""
    CONF.write_text(text)
    before = len(journal())
    guest.ns("rcv", ["/usr/lib/srpic/srpic-setup", dev], check=False)
    return journal()[before:]


def main():
    block = Path("/proc/sys/net/srpic/block_size").read_text().strip()
    checks = {
        "another igb is loaded": Path("/sys/module/srpic/holders/igb").exists(),
        "modprobe does not prefer that of dkms":
            "/updates/dkms/" in run("modinfo", "-F", "filename", "igb"),
        "what srpic.conf names is off": is_on("rcv", guest.DUT),
        "what it does not name is on": not is_on("rtr", guest.RTR_DEV),
        f"block_size is {block}": block == sys.argv[1]}
    guest.set_path(jitter_us=100)
    guest.coalesce(600)
    counts = guest.sorting()
    print(counts)
    checks["SRPIC does not sort"] = "packets_out_of_order" in counts and \
        counts["packets_taken"] > 2 * counts["blocks"]
    guest.switch(False)
    for text, dev, want in WRONG:
        said = complaints(text, dev)
        print(*said, sep="\n")
        checks[f"it is not said once: {want}"] = \
            len(said) == 1 and want in said[0]
    checks["a file that is wrong was obeyed"] = not is_on("rcv", guest.DUT)
    said = complaints("devices=r*\nrx_usecs=301", "rcv0")
    usecs = re.search(r"^rx-usecs:\s*(\d+)$", guest.ns(
        "rcv", f"ethtool -c {guest.DUT}"), re.MULTILINE)[1]
    checks[f"one that is right was not: {usecs} {said}"] = \
        usecs == "301" and not said and is_on("rcv", guest.DUT)
    guest.switch(False)
    said = complaints("devices = r*\nrx_usecs = 99999", "rcv0")
    checks[f"where rx_usecs cannot be, it is off, or not said: {said}"] = \
        "rcv0: rx_usecs cannot be 99999 (" in " ".join(said) and \
        is_on("rcv", guest.DUT)
    sys.exit(not guest.report(checks))


if __name__ == "__main__":
    main()
