#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The selftests leave nothing behind when they are ended in their middle: what
can be seen of both hosts is as before.
"""

import re
import signal
import sys
import time

import suite
from suite import PROCESSES, differences, state, wait_for_change

# The signal, whether it comes twice, and the seconds into the second case; None
# for when it has changed something.
ENDS = ((signal.SIGINT, True, None), (signal.SIGTERM, False, None),
        (signal.SIGHUP, False, 0.3))

# Of QUICK's cases, more that are ended, by SIGTERM, as they change what a second
# one does not: {file: {the case before: what can be seen of the change}}.
LATER = {
    "knobs.py": {"block_size_1_v6_10": "net.srpic.block_size = 4"},
    "offloads.py": {"rxhash_off_v6_10": "vlan protocol",
                    "one_queue_v6_10": "Combined:"},
    "passthrough.py": {"multicast_v6": "mtu 9000"},
}


def interrupt(file, number, twice=False, middle_s=None, after="", what=""):
    """
    End a file after its first case, or the one that is named, in the middle of
    the next: like Ctrl-C, which goes to all processes, or like kill(1). What is
    wrong then.
    """
    name = f"{file} and {signal.Signals(number).name}" + \
        f" after {after}" * bool(after)
    before, processes = state(), state(PROCESSES)
    test = suite.start([f"{suite.NAME}/{file}"], QUICK="yes")
    output = ""
    for line in test.stdout:
        output += line
        if re.match(rf"(not )?ok \d+ \w+\.{after}", line):
            break
    if middle_s is None:
        changed = wait_for_change(before, what)
    else:
        changed = True      # or not: that must do no harm
        time.sleep(middle_s)
    for _ in range(1 + twice):
        suite.interrupt(test, number)
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
        for after, what in LATER.get(file, {}).items():
            complaints += interrupt(file, signal.SIGTERM, after=after,
                                    what=what)
            count += 1
    for text in complaints:
        print(f"not ok: {text}")
    print(f"{count} interrupted, {len(complaints)} complaints")
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
