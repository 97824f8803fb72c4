#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Upstream's own tests, with SRPIC off and on: they must say the same.

/job/tree has what they need of the kernel's source; tools/testing/checks/upstream on
the host puts it there. Each test runs once in each mode, none is tried again.
"""

import functools
import os
import subprocess
import sys
import time

import guest
from faults import topology
from suite import SETTINGS, verdicts
from transfer import is_on

DUT, PEER = guest.DUT, guest.RTR_DEV
TESTS = "/job/tree/tools/testing/selftests"
MODES = {"off": False, "on": True}

FAMILIES = "ipv4", "ipv6"

# Later kernels have split the gro program's cases, and have it elsewhere.
LATER = os.path.exists(f"{TESTS}/net/lib/gro")
GRO = f"{TESTS}/net/{'lib/' * LATER}gro"
GRO_CASES = dict.fromkeys(
    FAMILIES, ["data", "ack", "flags", "tcp", "ip", "large"])
if LATER:
    both = ["data_same", "data_lrg_sml", "data_sml_lrg", "data_lrg_1byte",
            "data_burst", "ack", "flags_psh", "flags_syn", "flags_rst",
            "flags_urg", "flags_cwr", "tcp_csum", "tcp_seq", "tcp_ts",
            "tcp_opt", "ip_ecn", "ip_tos", "large_max", "large_rem"]
    GRO_CASES = {
        "ipv4": [*both, "ip_csum", "ip_ttl", "ip_opt", "ip_frag4",
                 "ip_id_df1_inc", "ip_id_df1_fixed", "ip_id_df0_inc",
                 "ip_id_df0_fixed", "ip_id_df1_inc_fixed",
                 "ip_id_df1_fixed_inc"],
        "ipv6": [*both, "ip_frag6", "ip_v6ext_same", "ip_v6ext_diff"]}

# What SRPIC must have passed on, not taken.
GRO_PASSED = {"ack", "ip_v6ext_same", "ip_v6ext_diff"}

# What fails on igb in later kernels, without SRPIC as well.
GRO_FAILS = {"gro ipv4 data_lrg_1byte"}

# The files of drivers/net, in an order which has traffic on the queues that
# queues.py made: what SRPIC must count meanwhile, and the cases that must pass
# on igb. csum.py sends TCP without ACK, which is passed by. Not here is what
# says nothing of this igb: hw/devlink_port_split.py (it has no devlink),
# hw/pp_alloc_fail.py (no page pool), hw/rss_ctx.py (no statistics by queue, no
# contexts); and what is for other drivers or for two ports side by side. Of
# stats.py no case need pass: igb has no statistics by queue, of pause frames or
# of FEC.
DRIVER_TESTS = {
    "queues.py": (None, {"get_queues", "addremove_queues"}),
    "ping.py": ("taken", {"test_default_v4", "test_default_v6"} if LATER
                else {"test_v4", "test_v6", "test_tcp"}),
    "hw/csum.py": ("passed", {f"{family}_{case}" for family in FAMILIES
                              for case in ("rx_tcp", "rx_tcp_invalid")}),
    "stats.py": (None, set()),
}

# Runs a file of upstream's as it is, but sets remote_ifname, which csum.py
# reads and the library beside it does not set in 6.12; and has libyaml parse
# what Python's own parser takes eight times as long for.
RUN = """
import os, runpy, sys, yaml
yaml.safe_load = lambda stream: yaml.load(stream, yaml.CSafeLoader)
path = sys.argv[1]
sys.argv = [path]
sys.path[0] = os.path.dirname(path)
from lib.py import NetDrvEpEnv
NetDrvEpEnv.remote_ifname = os.environ["REMOTE_IFNAME"]
runpy.run_path(path, run_name="__main__")
"""
ENVIRONMENT = os.environ | SETTINGS | {"REMOTE_IFNAME": PEER}


class Judge:
    """Collects verdicts, and complaints that fail the run."""

    def __init__(self):
        self.verdicts = {}      # {case: {mode: verdict}}
        self.complaints = []

    def complain(self, text):
        print(f"not ok: {text}", flush=True)
        self.complaints.append(text)

    def run(self, test, *args, must_count):
        """Call test(mode, *args) for {case: verdict}, once in each mode.

        must_count is taken or passed, what SRPIC must have done when on.
        """
        name = " ".join(args)
        for mode, on in MODES.items():
            guest.switch(on)
            before = guest.ethtool_stats("rcv", DUT)
            for case, verdict in test(mode, *args).items():
                self.verdicts.setdefault(case, {})[mode] = verdict
            moved = guest.difference(before,
                                     guest.ethtool_stats("rcv", DUT))
            if is_on() != on:
                self.complain(f"{name}: SRPIC is no longer {mode}")
            seen = {k.removeprefix("srpic_packets_"): v for k, v in
                    moved.items() if k.startswith("srpic_packets_")}
            if on:
                print(f"{name}: {seen}", flush=True)
            if (seen and not on) or (on and must_count
                                     and must_count not in seen):
                self.complain(f"{name}: SRPIC was {mode} and saw {seen}")

    def compare(self, must_pass):
        """The table, and what is wrong in it."""
        passed = same = 0
        print(f"{'case':36}{'off':8}{'on':8}")
        for case, verdict in self.verdicts.items():
            off, on = (verdict.get(mode, "missing") for mode in MODES)
            print(f"{case:36}{off:8}{on:8}")
            if "broken" in (off, on):
                self.complain(f"{case} did not run to its end")
            if case in must_pass and off != "pass":
                self.complain(f"{case} fails without SRPIC")
            # between two barriers, these tests send in ascending order
            if off != on:
                self.complain(f"{case} differs")
            passed += off == on == "pass"
            same += off == on
        for case in must_pass - set(self.verdicts):
            self.complain(f"{case} did not run")
        print(f"{same} equal ({passed} pass), "
              f"{len(self.verdicts) - same} differing")


def set_mtu(mtu):
    for name, dev in ("rtr", PEER), ("rcv", DUT):
        guest.ns(name, f"ip link set {dev} mtu {mtu}")
    topology("wait_for links_of_path")


def gather():
    """Make what the router sends meet in one poll.

    GRO holds a packet from one poll to the next only until jiffies change:
    see where napi_gro_flush() compares its age. The program sends packets one
    by one, and "large" takes 0.85 ms for 18 of them, so it fails if a
    millisecond ends meanwhile, with any gro_flush_timeout. Measured with
    SRPIC off, at gro_flush_timeout 100000, from 16 different moments on: 14
    passed. One delivered 48432 bytes 83 us after a full millisecond, and
    17043 later; the other one 56504 after 6 us, and 8971 in two later.

    So netem keeps the first packet for 20 ms, and all that come meanwhile
    leave with it. The one CPU receives after it has sent the last of them.

    Now "large" brings two packets of 64 KiB at once, more than the receiver's
    socket holds by default: the second one would be there, but not the last.
    """
    set_mtu(9000)
    guest.ns("rtr", f"tc qdisc add dev {PEER} root netem slot 20ms")
    subprocess.run(["sysctl", "-qw", "net.core.rmem_default=8388608"],
                   check=True)


@functools.cache
def mac(name, dev):
    return guest.ns(name, f"cat /sys/class/net/{dev}/address").strip()


def gro(mode, family, case):
    """One case of the gro program, for its verdict."""
    command = [GRO, f"--{family}", "--test", case, "--verbose",
               "--smac", mac("rtr", PEER), "--dmac", mac("rcv", DUT)]
    with guest.spawn("rcv", [*command, "--rx", "--iface", DUT]) as receiver:
        time.sleep(0.5)         # it opens its socket
        guest.ns("rtr", [*command, "--iface", PEER])
        output = receiver.communicate()[0]
    (guest.OUT / f"gro-{family}-{case}-{mode}.log").write_text(output)
    return {f"gro {family} {case}": "fail" if receiver.returncode else "pass"}


def driver_test(mode, file):
    """One file of drivers/net, for the verdicts of its cases."""
    topology("wait_for links_of_path")
    command = ["python3", "-c", RUN, f"{TESTS}/drivers/net/{file}"]
    done = subprocess.run(guest.in_ns("rcv", command), env=ENVIRONMENT,
                          text=True, check=False, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    log = f"{file.replace('/', '-')}-{mode}.log"
    (guest.OUT / log).write_text(done.stdout)
    found = verdicts(done.stdout)
    if not found:
        print(done.stdout)
        return {file: "broken"}
    return {case: verdict for case, verdict, _ in found}


def main():
    judge, must_pass = Judge(), set()
    # a case of queues.py takes the device down
    guest.ns("rcv", f"sysctl -qw net.ipv6.conf.{DUT}.keep_addr_on_down=1")
    gather()
    for family in FAMILIES:
        for case in GRO_CASES[family]:
            judge.run(gro, family, case, must_count="passed" if case in
                      GRO_PASSED else "taken")
            must_pass.add(f"gro {family} {case}")
    must_pass -= GRO_FAILS
    guest.ns("rtr", f"tc qdisc del dev {PEER} root")
    set_mtu(1500)

    guest.ns("rcv", f"ethtool -L {DUT} combined 2")     # one to remove
    for file, (must_count, cases) in DRIVER_TESTS.items():
        judge.run(driver_test, file, must_count=must_count)
        stem = os.path.basename(file).removesuffix(".py")
        must_pass |= {f"{stem}.{case}" for case in cases}
        if cases and not any("pass" in verdict.values()
                             for case, verdict in judge.verdicts.items()
                             if case.startswith(stem + ".")):
            judge.complain(f"{file}: no case passes in either mode")
    judge.compare(must_pass)
    sys.exit(bool(judge.complaints))


if __name__ == "__main__":
    main()
