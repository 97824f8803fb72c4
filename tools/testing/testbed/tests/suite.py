# SPDX-License-Identifier: GPL-2.0
"""
The selftests of the kernel tree, as they are installed in /job, and the hosts
that they run on.
"""

import difflib
import os
import re
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

import guest

TREE = Path("/job/selftests")
NAME = "drivers/net/srpic"
FILES = sorted(path.name for path in (TREE / NAME).glob("*.py"))

# The device under test; see vm.
NIC = os.environ["NIC"]

# One guest is two hosts, whose time is virtual and 4 times that of the paper.
# Two guests run in real time, so their figures say little.
IN_REAL_TIME = os.environ.get("REMOTE_TYPE") == "ssh"
if IN_REAL_TIME:
    HERE, THERE = [], ["ssh", "-q", os.environ["REMOTE_ARGS"]]
    DEVICES = "eth0", "eth0"
    SETTINGS = {"KSFT_MACHINE_SLOW": "yes", "DURATION": "0.5",
                "DELAY_US": "100000", "RATE_MBIT": "20", "RX_USECS": "4000"}
else:
    HERE, THERE = guest.in_ns("rcv", []), guest.in_ns("rtr", ["sh", "-c"])
    DEVICES = guest.DUT, guest.RTR_DEV
    SETTINGS = {
        "NETIF": guest.DUT,
        "REMOTE_TYPE": "netns", "REMOTE_ARGS": "rtr",
        "LOCAL_V4": guest.RCV_V4, "REMOTE_V4": "10.0.2.1",
        "LOCAL_V6": guest.RCV_V6, "REMOTE_V6": "fd00:2::1",
        "DURATION": "0.15", "DELAY_US": "10000", "RATE_MBIT": "250",
        # of blocks as long; QEMU's igb takes it for twice the time
        "RX_USECS": {"igb": "300", "e1000e": "600", "virtio_net": "1500"}[NIC]}


def start(command, **settings):
    """Start a command of TREE as a user would; None takes a setting away."""
    env = os.environ | SETTINGS | settings
    return subprocess.Popen(
        [*HERE, TREE / command[0], *command[1:]], text=True,
        env={key: value for key, value in env.items() if value is not None},
        start_new_session=True, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT)


def verdicts(output):
    """
    [(case, pass|fail|skip|xfail, comment)], or None if the output is not that
    of a test that came to its end, by itself or by run_kselftest.sh.
    """
    # the last plan: run_kselftest.sh has one of its own, ahead of it
    plans = re.findall(r"^(?:# )?1\.\.(\d+)$", output, re.MULTILINE)
    found = re.findall(r"^(?:# )?(ok|not ok) \d+ (\w+\.\S+)"
                       r"(?: # (SKIP|XFAIL) ?(.*))?$", output, re.MULTILINE)
    if not plans or int(plans[-1]) != len(found):
        return None
    return [(case, "fail" if status != "ok" else directive.lower() or "pass",
             comment) for status, case, directive, comment in found]


# Of a host, all that tests change, or might. The first namespace makes the
# directory of all, which stays; "ip netns" has what is in there.
STATE = r"""
ip -d link | sed 's/ state [A-Z]* / /; s/numtxqueues.*gso_max_size/gso/'
ip addr | grep inet
ip rule; ip route; ip -6 route; ip maddr
ip netns
tc qdisc; tc filter
sysctl -a 2>&1 --pattern '^net[.]'
ls -I netns /tmp /run /dev/shm
grep . /sys/class/net/DEVICE/napi_defer_hard_irqs \
	/sys/class/net/DEVICE/gro_flush_timeout
for what in -k -c -g -l -x --show-priv-flags; do
	ethtool $what DEVICE 2>&1
done
"""
PROCESSES = "ps -eo comm= | grep -v '^kworker' | sort"
PATIENCE = 30       # times that both hosts are looked at


def lines_of(command):
    return subprocess.run(command, capture_output=True, text=True,
                          check=False).stdout.splitlines()


def state(what=STATE):
    """Both hosts, line by line."""
    here, there = (what.replace("DEVICE", name) for name in DEVICES)
    return {"here": lines_of([*HERE, "sh", "-c", here]),
            "there": lines_of([*THERE, there])}


def differences(before, after):
    """What is there now and was not before, or the other way round."""
    for host, lines in before.items():
        for line in difflib.unified_diff(lines, after[host], n=0,
                                         lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"{host}: {line}"


def wait_for_change(before, what=""):
    """
    Return as soon as a host is not as before, in a line that has what;
    whether that has come.
    """
    return any(what in line for _ in range(PATIENCE)
               for line in differences(before, state()))


def interrupt(process, number):
    """SIGINT as from Ctrl-C, which goes to all processes; others as kill(1)."""
    if number == signal.SIGINT:
        os.killpg(process.pid, number)
    else:
        process.send_signal(number)


# A tc of a kernel that has no netem.
NO_NETEM = f"""#!/bin/sh
case "$*" in *netem*)
	echo 'Error: Specified qdisc kind is unknown.' >&2
	exit 2
esac
exec {shutil.which("tc")} "$@"
"""


def path_without(tool, instead=None):
    """A PATH with all commands but one, or with a script instead of that."""
    directory = Path(tempfile.mkdtemp(prefix=f"no-{tool}."))
    for name in os.environ["PATH"].split(":"):
        for program in Path(name).glob("*"):
            link = directory / program.name
            if program.name != tool and program.exists() and \
                    not link.is_symlink():
                link.symlink_to(program)
    if instead:
        (directory / tool).write_text(instead)
        (directory / tool).chmod(0o755)
    return {"PATH": str(directory)}
