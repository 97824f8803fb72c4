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

TREE = Path("/tmp/srpic")
LAB = TREE / "out/lab"
# It must find them by itself.
ADDRESSES = [os.environ.pop(f"{where}_V{version}")
             for where in ("LOCAL", "REMOTE") for version in (4, 6)]
NOT_HERE = [f"this host: no {tool}: on Debian, apt install {package}"
            for tool, package in (("make", "make"), ("gcc", "gcc libc6-dev"),
                                  ("rsync", "rsync"))]
# What "check" is to find missing: a tool, the kernel's SRPIC.
NO_IPERF3 = suite.path_without("iperf3")
NO_SYSCTLS = ["unshare", "-m", "sh", "-c",
              'mount -t tmpfs none /proc/sys/net && exec "$@"', "sh"]


def install(files):
    """What "make lab" would have put in its tree, with just these tests."""
    shutil.copytree("/job/scripts", TREE / "scripts")
    (TREE / "tools/srpic").mkdir(parents=True)
    shutil.copy("/job/lab", TREE / "tools/srpic")
    shutil.copytree("/job/selftests", LAB / "selftests")
    (LAB / "selftests/kselftest-list.txt").write_text(
        "".join(f"{suite.NAME}:{file}\n" for file in files))


def start(what, remote, netif="eth0", within=(), **settings):
    return subprocess.Popen(
        [*within, TREE / "tools/srpic/lab", what, netif, remote], text=True,
        env=os.environ | suite.SETTINGS | {"QUICK": "yes"} | settings,
        start_new_session=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)


def finish(lab):
    """What it prints from here on; it has ended then."""
    output = lab.communicate()[0]
    print(output, end="")
    return output


def check(remote):
    """Each thing that is missing is named, and nothing else."""
    def lacks(**how):
        lab = start("check", remote, **how)
        *lines, last = finish(lab).splitlines()
        if lab.returncode != 1 or "see above" not in last:
            return None
        return [line for line in lines if line not in NOT_HERE]

    def there(command):
        subprocess.run([*suite.THERE, command], check=True)

    tc = shutil.which("tc")
    found = {
        # which has no global address, either
        "this host: no srpic flag at lo": lacks(netif="lo")[:1],
        "this host: no iperf3": lacks(**NO_IPERF3),
        "this host: no SRPIC in kernel": lacks(within=NO_SYSCTLS)}
    there(f"mv {tc} /root/tc")
    found[f"{remote}: no tc"] = lacks()
    there(f"ln -s /bin/false {tc}")
    found[f"{remote}: no netem"] = lacks()
    there(f"mv /root/tc {tc}")
    return {"check says no more": lacks() == []} | {
        f"check says {text}": lines and len(lines) == 1 and
        lines[0].startswith(text) for text, lines in found.items()}


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


def interrupt(remote, number):
    """
    Like Ctrl-C, which goes to all processes, or like kill(1), in the middle of
    the first test, when it has changed something.
    """
    before = suite.state()
    # a case must not end while the hosts are looked at
    lab = start("run", remote, DURATION="5")
    for line in lab.stdout:
        print(line, end="")
        if line.startswith(("  ok 1 ", "  not ok 1 ")):
            break
    changed = suite.wait_for_change(before)
    suite.interrupt(lab, number)
    output = finish(lab)
    (ktap,) = LAB.glob("*.ktap")
    shutil.copy(ktap, guest.OUT / f"interrupted-{ktap.name}")
    name = signal.Signals(number).name
    return {f"{name}: it was in its middle":
                changed and "KeyboardInterrupt" in ktap.read_text(),
            f"{name}: the status is the signal's":
                lab.returncode == 128 + number,
            f"{name}: it says where the results are":
                "stopped; what" in output}


def main():
    remote, files = os.environ["REMOTE_ARGS"], sys.argv[1:]
    install(files)
    before = suite.state(suite.STATE + suite.PROCESSES)
    checks = check(remote) | run(remote, files)
    for number in signal.SIGINT, signal.SIGTERM:
        checks |= interrupt(remote, number)
    left = [*suite.differences(before, suite.state(suite.STATE + suite.PROCESSES))]
    for line in left:
        print(line)
    passed = guest.report(checks | {"nothing is left behind": not left})
    print(f"{len(files)} files, {len(checks) + 1} checks")
    sys.exit(not passed)


if __name__ == "__main__":
    main()
