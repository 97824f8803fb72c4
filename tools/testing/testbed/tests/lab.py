#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
The lab as somebody with two machines uses it: "check" names what is missing,
"run" runs the tests that are named here and keeps what they print; ended in
its middle, it leaves nothing behind. These hosts have no compiler, and no way
to matplotlib.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import guest
import suite
from interrupt import PROCESSES, differences, state, wait_for_change

TREE = Path("/tmp/srpic")
LAB = TREE / "out/lab"
# It must find them by itself.
ADDRESSES = [os.environ.pop(f"{where}_V{version}")
             for where in ("LOCAL", "REMOTE") for version in (4, 6)]
NOT_HERE = [f"this host: no {tool}: on Debian, apt install {package}"
            for tool, package in (("make", "make"), ("gcc", "gcc libc6-dev"),
                                  ("rsync", "rsync"))]


def install(files):
    """What "make lab" would have put in its tree, with just these tests."""
    shutil.copytree("/job/scripts", TREE / "scripts")
    (TREE / "tools/testing").mkdir(parents=True)
    shutil.copy("/job/lab", TREE / "tools/testing")
    shutil.copytree("/job/selftests", LAB / "selftests")
    (LAB / "selftests/kselftest-list.txt").write_text(
        "".join(f"{suite.NAME}:{file}\n" for file in files))


def start(what, remote, **settings):
    return subprocess.Popen(
        [TREE / "tools/testing/lab", what, "eth0", remote], text=True,
        env=os.environ | suite.SETTINGS | {"QUICK": "yes"} | settings,
        start_new_session=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)


def finish(lab):
    """What it prints from here on; it has ended then."""
    output = lab.communicate()[0]
    print(output, end="")
    return output


def check(remote):
    lab = start("check", remote)
    lines = finish(lab).splitlines()
    return {"check names what is missing": lines[:-1] == NOT_HERE,
            "check fails": lab.returncode == 1 and "see above" in lines[-1]}


def run(remote, files):
    lab = start("run", remote)
    output = finish(lab)
    for file in LAB.glob("*.*"):
        shutil.copy(file, guest.OUT)
    passed = sum((LAB / f"{file}.ktap").read_text().count("\nok ")
                 for file in files)
    about = json.loads((LAB / "host.json").read_text())
    return {
        "run succeeds": lab.returncode == 0,
        "the tests pass": passed and f"\npass {passed}\n" in output,
        "it says why there is no report": "no report without" in output,
        "it knows the addresses":
            sorted(about["hosts"].split()[2:]) == sorted(ADDRESSES),
        "it knows both kernels":
            about["kernel"] == about["kernel of the remote"] ==
            os.uname().release,
        "it knows the driver": about["driver"].startswith(f"{suite.NIC} ")}


def interrupt(remote):
    """Ctrl-C in the middle of the first test, when it has changed something."""
    before = state()
    # a case must not end while the hosts are looked at
    lab = start("run", remote, DURATION="5")
    for line in lab.stdout:
        print(line, end="")
        if line.startswith("  ok 1 "):
            break
    changed = wait_for_change(before)
    os.killpg(lab.pid, signal.SIGINT)
    output = finish(lab)
    (ktap,) = LAB.glob("*.ktap")
    shutil.copy(ktap, guest.OUT / f"interrupted-{ktap.name}")
    return {"it was in its middle":
                changed and "KeyboardInterrupt" in ktap.read_text(),
            "it ends by the signal": lab.returncode == 128 + signal.SIGINT,
            "it says where the results are": "stopped; what" in output}


def main():
    remote, files = os.environ["REMOTE_ARGS"], sys.argv[1:]
    install(files)
    before, processes = state(), state(PROCESSES)
    checks = check(remote) | run(remote, files) | interrupt(remote)
    left = [*differences(before, state()),
            *differences(processes, state(PROCESSES))]
    for line in left:
        print(line)
    passed = guest.report(checks | {"nothing is left behind": not left})
    print(f"{len(files)} files, {len(checks) + 1} checks")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
