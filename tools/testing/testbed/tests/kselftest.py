#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Run the selftests, all or those that are named; SETTING=value goes to them.
A case that is skipped must be on the short list below, and a file leaves both
hosts as it found them.
"""

import re
import sys

import guest
import suite
from suite import PROCESSES, STATE, differences, state

# What this testbed's devices cannot do: case, and what it says then.
MAY_SKIP = {r"offloads\.lro_on_.*": "has large-receive-offload fixed"} | {
    "igb": {
        r"offloads\.stamp_all_.*": "cannot stamp all packets: ERANGE"},
    "e1000e": {
        r"offloads\.several_queues_.*": "has its number of queues fixed"},
    "virtio_net": {
        r"offloads\.rx_off_.*": "has rx-checksumming fixed",
        r"offloads\.several_queues_.*": "has its number of queues fixed",
        r"offloads\.stamp_all_.*": "cannot stamp all packets: ENOTSUP"},
}[suite.NIC]
# A poll of 64 packets of ten connections has 6.4 of each; virtio's are full.
if suite.IN_REAL_TIME or suite.NIC == "virtio_net":
    MAY_SKIP |= {r"reorder\.jitter_1_percent_v\d_10": "too short for the limit"}


def complaint(case, verdict, comment):
    """Why a verdict is not as it should be, or None."""
    if verdict == "fail":
        return f"{case} fails"
    if verdict == "skip" and not any(
            re.fullmatch(name, case) and reason in comment
            for name, reason in MAY_SKIP.items()):
        return f"{case} is skipped: {comment}"
    return None


def main():
    settings = dict(arg.split("=") for arg in sys.argv[1:] if "=" in arg)
    files = [arg for arg in sys.argv[1:] if "=" not in arg] or suite.FILES
    complaints, count = [], {}
    for file in files:
        before = state(STATE + PROCESSES)
        run = ["run_kselftest.sh", "-t", f"{suite.NAME}:{file}"]
        with suite.start(run, **settings) as test, \
                open(guest.OUT / f"{file}.ktap", "w") as log:
            for line in test.stdout:
                print(line, end="", flush=True)
                log.write(line)
        output = (guest.OUT / f"{file}.ktap").read_text()
        found = suite.verdicts(output)
        if not found or not re.search("^(not )?ok 1 selftests: ", output,
                                      re.MULTILINE):
            complaints.append(f"{file} did not come to its end")
        if "\nok 1 selftests: " not in output:
            complaints.append(f"{file} fails")
        complaints += [f"{file}: {text}" for text in re.findall(
            r"^(?:# )*(Check failed .*|(?:Defer )?Exception\| "
            r"(?!Traceback|During|The above)\w.*)$", output, re.MULTILINE)]
        complaints += [f"{file} leaves behind {text}" for text in
                       differences(before, state(STATE + PROCESSES))]
        for case, verdict, comment in found or []:
            count[verdict] = count.get(verdict, 0) + 1
            complaints.append(complaint(case, verdict, comment))
    complaints = list(filter(None, complaints))
    for text in complaints:
        print(f"not ok: {text}")
    print(f"{len(files)} files, " + ", ".join(
        f"{number} {verdict}" for verdict, number in sorted(count.items())))
    sys.exit(bool(complaints))


if __name__ == "__main__":
    main()
