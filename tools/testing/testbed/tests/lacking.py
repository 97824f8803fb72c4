#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Where there is nothing to test, each case of the selftests is skipped and says
why: without a device, a remote, SRPIC in the device's driver, or a tool. With
the argument "unpatched", the kernel is one without SRPIC.
"""

import sys

import suite
from suite import NO_NETEM, path_without

NOWHERE = dict.fromkeys(("LOCAL_V4", "REMOTE_V4", "LOCAL_V6", "REMOTE_V6",
                         "REMOTE_TYPE", "REMOTE_ARGS"))


# what is lacking: (settings, the reason for skipping, the files)
def lacking():
    return {
        "no device": ({"NETIF": None, **NOWHERE},
                      "needs a device: set NETIF", suite.FILES),
        "no remote": (NOWHERE, "needs a remote host", suite.FILES),
        "no flag": ({"NETIF": "lo"}, "lo has no srpic flag", suite.FILES),
        "no iperf3": (path_without("iperf3"), "command: iperf3",
                      ["reorder.py", "impair.py"]),
        "no ethtool": (path_without("ethtool"), "command: ethtool",
                       ["toggle.py"]),
        "no tc": (path_without("tc"), "command: tc",
                  ["reorder.py", "latency.py"]),
        "no netem": (path_without("tc", NO_NETEM), "no netem on the remote's",
                     ["reorder.py", "impair.py"]),
    }


def unpatched():
    return {"unpatched": ({}, "has no srpic flag: its driver or this kernel is"
                              " without SRPIC", suite.FILES)}


def complaints(file, settings, reason):
    """What is wrong with how a file skips its cases."""
    test = suite.start([f"{suite.NAME}/{file}"], **settings)
    output = test.communicate(timeout=60)[0]
    found = suite.verdicts(output) or []
    skipped = [text for _, verdict, text in found if verdict == "skip"]
    if test.returncode or not skipped or len(skipped) < len(found):
        print(output)
        return [f"{len(skipped)} skipped, status {test.returncode}"]
    return [f"skipped as {text!r}" for text in set(skipped)
            if reason not in text]


def main():
    count, failed = 0, 0
    runs = unpatched() if sys.argv[1:] == ["unpatched"] else lacking()
    for name, (settings, reason, files) in runs.items():
        for file in files:
            count += 1
            for text in complaints(file, settings, reason):
                failed += 1
                print(f"not ok: {name}: {file}: {text}")
    print(f"{count} runs, {failed} complaints")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
