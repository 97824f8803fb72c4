#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The selftests leave nothing behind when they are ended in their middle: what
can be seen of both hosts is as before.
"""

import difflib
import os
import signal
import subprocess
import sys
import time

import suite

PROCESSES = "ps -eo comm= | grep -v '^kworker' | sort"

# The signal, whether it comes twice, and the seconds into the second case; None
# for when it has changed something.
ENDS = ((signal.SIGINT, True, None), (signal.SIGTERM, False, 0),
        (signal.SIGHUP, False, 0.3))
PATIENCE = 30

# Of a host, all that tests change, or might. The first namespace makes the
# directory of all, which stays; "ip netns" has what is in there.
STATE = """
ip -d link | sed 's/ state [A-Z]* / /; s/numtxqueues.*gso_max_size/gso/'
ip addr | grep inet
ip rule; ip route; ip -6 route; ip maddr
ip netns
tc qdisc; tc filter
sysctl -a 2>&1 --pattern '^net[.]'
ls -I netns /tmp /run /dev/shm
for what in -k -c -g -l --show-priv-flags; do
	ethtool $what DEVICE 2>&1
done
"""


def lines_of(command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=False).stdout.splitlines()


def state(what=STATE):
    """Both hosts, line by line."""
    here, there = (what.replace("DEVICE", name) for name in suite.DEVICES)
    return {"here": lines_of([*suite.HERE, "sh", "-c", here]),
            "there": lines_of([*suite.THERE, there])}


def differences(before, after):
    """What is there now and was not before, or the other way round."""
    for host, lines in before.items():
        for line in difflib.unified_diff(lines, after[host], n=0,
                                         lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"{host}: {line}"


def wait_for_change(before):
    """Return as soon as a host is not as before; whether that has come."""
    return any(state() != before for _ in range(PATIENCE))


def interrupt(file, number, twice, middle_s):
    """
    End a file after its first case, in the middle of the second: like Ctrl-C,
    which goes to all processes, or like kill(1). What is wrong then.
    """
    name = f"{file} and {signal.Signals(number).name}"
    before, processes = state(), state(PROCESSES)
    test = suite.start([f"{suite.NAME}/{file}"])
    output = ""
    for line in test.stdout:
        output += line
        if line.startswith(("ok 1 ", "not ok 1 ")):
            break
    if middle_s is None:
        changed = wait_for_change(before)
    else:
        changed = True      # or not: that must do no harm
        time.sleep(middle_s)
    for _ in range(1 + twice):
        if number == signal.SIGINT:
            os.killpg(test.pid, number)
        else:
            test.send_signal(number)
        time.sleep(0.05)
    output += test.communicate(timeout=60)[0]

    complaints = [*differences(before, state()),
                  *differences(processes, state(PROCESSES))]
    if not changed:
        complaints.append("nothing had changed that could be undone")
    if "KeyboardInterrupt" not in output:
        complaints.append("it was not in its middle")
    print(f"{name}: {len(complaints)} complaints", flush=True)
    if complaints:
        print(output)
    return [f"{name}: {text}" for text in complaints]


def main():
    complaints, count = [], 0
    for file in sys.argv[1:] or suite.FILES:
        for how in ENDS:
            complaints += interrupt(file, *how)
            count += 1
    for text in complaints:
        print(f"not ok: {text}")
    print(f"{count} interrupted, {len(complaints)} complaints")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
