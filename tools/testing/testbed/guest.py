# SPDX-License-Identifier: GPL-2.0
"""Helpers for Python scripts that run in the testbed's guest.

    import guest
    guest.set_sender("RACK")
    guest.set_path(jitter_us=100, seed=7)
    result = guest.iperf3(seconds=5)

Namespaces are given by name: snd, rtr, rcv. See topology.sh for the rest.
"""

import json
import os
import re
import shlex
import subprocess
import time
from pathlib import Path

DUT, SND_DEV, RTR_DEV, RTR_BACK, SND_V4, SND_V6, RCV_V4, RCV_V6 = (
    os.environ.get(name, "") for name in (
        "DUT", "SND_DEV", "RTR_DEV", "RTR_BACK",
        "SND_V4", "SND_V6", "RCV_V4", "RCV_V6"))
OUT = Path(os.environ.get("OUT", "/tmp"))

# The senders that reordering is a matter of: S counts to three duplicate
# ACKs as in RFC 5681, A adapts that threshold to the reordering it sees,
# RACK is what Linux does if nobody tells it otherwise. Later kernels look for
# losses by RACK alone where there is SACK: A is no other sender there. TA is
# RR-TCP, see tcp-rr.rst, which just 6.12 has.
SENDERS = {
    "S": {"tcp_recovery": 0, "tcp_reordering": 3, "tcp_max_reordering": 3,
          "tcp_early_retrans": 0},
    "A": {"tcp_recovery": 0, "tcp_reordering": 3, "tcp_max_reordering": 127,
          "tcp_early_retrans": 3},
    "TA": {"tcp_recovery": 0, "tcp_reordering": 3, "tcp_max_reordering": 300,
           "tcp_early_retrans": 3, "tcp_rr": 2, "tcp_limited_transmit": 1},
    "RACK": {"tcp_recovery": 1, "tcp_reordering": 3,
             "tcp_max_reordering": 300, "tcp_early_retrans": 3},
}


def in_ns(name, command):
    """The argument list that runs command, a string or a list, in name."""
    if isinstance(command, str):
        command = shlex.split(command)
    return ["ip", "netns", "exec", name, *map(str, command)]


def ns(name, command, check=True, **kwargs):
    """Run a command in a namespace and return what it prints."""
    done = subprocess.run(in_ns(name, command), text=True, check=False,
                          capture_output=True, **kwargs)
    if check and done.returncode:
        raise RuntimeError(f"{name}: {command}: status {done.returncode}: "
                           f"{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def spawn(name, command, **kwargs):
    """Start a command in a namespace; a Popen object."""
    kwargs.setdefault("text", True)
    kwargs.setdefault("stdout", subprocess.PIPE)
    kwargs.setdefault("stderr", subprocess.STDOUT)
    return subprocess.Popen(in_ns(name, command), **kwargs)


def sysctl(name, settings):
    """Set {sysctl: value} in a namespace; "tcp_*" may go without prefix."""
    full = {(f"net.ipv4.{key}" if key.startswith("tcp_") else key): value
            for key, value in settings.items()}
    ns(name, ["sysctl", "-qw"] + [f"{k}={v}" for k, v in full.items()])


def set_sender(profile, sack=True, timestamps=True):
    """Make snd's TCP one of SENDERS, without memory of former connections."""
    sysctl("snd", SENDERS[profile] | {
        "tcp_sack": int(sack), "tcp_dsack": int(sack),
        "tcp_timestamps": int(timestamps), "tcp_no_metrics_save": 1})
    sysctl("rcv", {"tcp_sack": int(sack), "tcp_dsack": int(sack),
                   "tcp_timestamps": int(timestamps)})
    ns("snd", "ip tcp_metrics flush all")


def netem(dev, delay_us, jitter_us=0, loss_percent=0, bursts=False, seed=1):
    """Have the router delay, and lose, what it sends by one of its devices.

    With bursts, four packets are lost in a row in the mean (the simple
    Gilbert model), a share of loss_percent all the same.
    """
    how = f"delay {delay_us}us"
    if jitter_us:
        how += f" {jitter_us}us distribution normal"
    if loss_percent:
        to_good = 25
        to_bad = to_good * loss_percent / (100 - loss_percent)
        how += f" loss gemodel {to_bad:.6f}% {to_good}%" if bursts else \
            f" loss {loss_percent}%"
    ns("rtr", f"tc qdisc del dev {dev} root", check=False)
    ns("rtr", f"tc qdisc add dev {dev} root netem limit 100000 "
              f"{how} seed {seed}")


def lost(dev):
    """How many packets netem() has lost of what the router sends by a device."""
    qdiscs = json.loads(ns("rtr", f"tc -s -j qdisc show dev {dev}"))
    return sum(qdisc["drops"] for qdisc in qdiscs if qdisc["kind"] == "netem")


def set_path(rate_mbit=250, delay_us=10000, burst="6kb", seed=1, back=None,
             **there):
    """Set the path from snd to rcv; delay_us is one way, each way.

    What is there, and back, beside the delay is for netem(). Queues are long
    enough not to drop, so that loss is what netem loses alone. The burst is
    short, as a link spaces packets evenly; with a longer one, packets leave
    back to back and jitter reorders them far deeper.
    """
    ns("snd", f"tc qdisc replace dev {SND_DEV} root tbf "
              f"rate {rate_mbit}mbit burst {burst} limit 16mb")
    netem(RTR_DEV, delay_us, seed=seed, **there)
    netem(RTR_BACK, delay_us, seed=seed + 1000, **back or {})


def coalesce(rx_usecs):
    """Set the interval between the device under test's interrupts."""
    now = ns("rcv", f"ethtool -c {DUT}")
    if not re.search(rf"^rx-usecs:\s+{rx_usecs}$", now, re.MULTILINE):
        ns("rcv", f"ethtool -C {DUT} rx-usecs {rx_usecs}")


def sysfs(path, value, name="rcv", dev=DUT):
    """Write to a file of a device, as its namespace sees it."""
    ns(name, ["sh", "-c", f"echo {value} > /sys/class/net/{dev}/{path}"])


def napi_threads(dev):
    """The threads that poll a device, as directories of /proc."""
    return [comm.parent for comm in Path("/proc").glob("[0-9]*/comm")
            if comm.read_text().startswith(f"napi/{dev}-")]


def threads_ns(dev):
    """How long the threads ran that poll a device; 0 if it has none."""
    return sum(map(ran_ns, napi_threads(dev)))


def ran_ns(process):
    """
    How long a process ran by itself: interrupts and softirqs on top of it are
    not counted (IRQ_TIME_ACCOUNTING).
    """
    return int((process / "schedstat").read_text().split()[0])


def poll_in_threads():
    """Have snd's device and the device under test polled in threads."""
    ns("snd", f"ethtool -K {SND_DEV} gro on")   # has it poll
    for name, dev in (("snd", SND_DEV), ("rcv", DUT)):
        sysfs("threaded", 1, name, dev)


def poll_in_a_thread(on):
    """
    Have frames polled by a thread, which cannot run before this process
    sleeps: what it sends is one poll, however long that takes.
    """
    sysfs("threaded", int(on))
    os.sched_setscheduler(0, os.SCHED_FIFO if on else os.SCHED_OTHER,
                          os.sched_param(int(on)))


def switch(on):
    """Switch SRPIC on the device under test."""
    ns("rcv", f"ethtool --set-priv-flags {DUT} srpic {'on' if on else 'off'}")


def wait_for_link(seconds=20):
    """Of the device under test, which some commands take away."""
    end = time.monotonic() + seconds
    while "LOWER_UP" not in ns("rcv", f"ip link show {DUT}"):
        if time.monotonic() > end:
            raise RuntimeError(f"{DUT} has no link after {seconds} s")
        time.sleep(0.05)


def counters(name):
    """What nstat knows of a namespace: {"TcpInSegs": 12, ...}."""
    found = {}
    lines = ns(name, "cat /proc/net/snmp /proc/net/netstat").splitlines()
    for keys, values in zip(lines[::2], lines[1::2]):
        group = keys.split(":")[0]
        for key, value in zip(keys.split()[1:], values.split()[1:]):
            found[group + key] = int(value)
    for line in ns(name, "cat /proc/net/snmp6").splitlines():
        key, value = line.split()
        found[key] = int(value)
    return found


def ethtool_stats(name, dev):
    """ethtool -S as a dictionary."""
    pairs = re.findall(r"^\s*(\S.*?): (\d+)$",
                       ns(name, f"ethtool -S {dev}"), re.MULTILINE)
    return {key: int(value) for key, value in pairs}


def interrupts(dev):
    """The number of receive interrupts of a device so far."""
    total = 0
    for line in Path("/proc/interrupts").read_text().splitlines():
        fields = line.split()
        if re.fullmatch(rf"{dev}-(TxR|r)x-\d+", fields[-1]):
            total += sum(int(n) for n in fields[1:] if n.isdigit())
    return total


def clock_ns():
    """
    {"now_ns", "busy_ns"}, the latter summed over the CPUs; exact. Later kernels
    do not say how long a CPU was idle, but for what a tick finds: just now_ns.
    """
    text = Path("/proc/timer_list").read_text()
    now = int(re.search(r"^now at (\d+) nsecs", text, re.MULTILINE)[1])
    idle = [int(n) for n in re.findall(r"\.idle_sleeptime +: (\d+)", text)]
    busy = {"busy_ns": now * len(idle) - sum(idle)} if idle else {}
    return {"now_ns": now} | busy


def make_cgroup(quota_ms, period_ms):
    """Mounts cgroup2, so once in a guest's life.

    Returns a directory; the processes in it have that much CPU time in a period.
    """
    root = Path("/sys/fs/cgroup")
    subprocess.run(["mount", "-t", "cgroup2", "none", root], check=True)
    (root / "cgroup.subtree_control").write_text("+cpu")
    group = root / "limited"
    group.mkdir()
    (group / "cpu.max").write_text(f"{1000 * quota_ms} {1000 * period_ms}")
    return group


class KernelLog:
    """What the kernel says from now on."""

    def __init__(self):
        self.file = open("/dev/kmsg", "rb", buffering=0)
        os.set_blocking(self.file.fileno(), False)
        self.file.seek(0, os.SEEK_END)

    def read(self):
        """[(level, text)] since the last time."""
        found = []
        while True:
            try:
                record = self.file.read(8192)
            except BrokenPipeError:
                record = b"0;messages were overwritten unread"
            if not record:      # None: there is no more
                break
            head, _, text = record.decode().partition(";")
            found.append((int(head.split(",")[0]) & 7, text.split("\n")[0]))
        return found


def difference(before, after):
    """The counters that moved."""
    return {key: value - before.get(key, 0) for key, value in after.items()
            if value != before.get(key, 0)}


def sorting():
    """How SRPIC's counters move while snd sends to rcv for a second."""
    before = ethtool_stats("rcv", DUT)
    iperf3(seconds=1)
    found = difference(before, ethtool_stats("rcv", DUT))
    return {key.removeprefix("srpic_"): value
            for key, value in found.items() if key.startswith("srpic_")}


def report(checks):
    """Print what is wrong of {complaint: whether it is fine}; True if none."""
    for complaint, fine in checks.items():
        if not fine:
            print(f"not ok: {complaint}")
    return all(checks.values())


def iperf3(seconds=5, args="", port=5201, address=RCV_V4):
    """Send from snd to rcv; iperf3's JSON as a dictionary.

    With seconds=0, args must say when to end (-n). "ran_ns" is added: how long
    the two programs ran.
    """
    with spawn("rcv", f"iperf3 -s -1 -p {port}",
               stdout=subprocess.DEVNULL) as server:
        try:
            wait_for_listener("rcv", port)
            limit = f"-t {seconds}" if seconds else ""
            with spawn("snd", f"iperf3 -J -c {address} -p {port} "
                              f"{limit} {args}") as client:
                text = client.stdout.read()
                ran = {name: run_to_end(process) for name, process in
                       (("snd", client), ("rcv", server))}
        finally:
            server.kill()
    result = json.loads(text)
    if "error" in result:
        raise RuntimeError(f"iperf3: {result['error']}")
    return result | {"ran_ns": ran}


def run_to_end(process):
    """Wait for the end of a process, a Popen object; how long it ran."""
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    ran = ran_ns(Path(f"/proc/{process.pid}"))
    process.wait()
    return ran


def wait_for_listener(name, port, seconds=5):
    """Return when a TCP socket listens on a port."""
    for _ in range(int(seconds / 0.02)):
        if ns(name, f"ss -Hltn sport = :{port}"):
            return
        time.sleep(0.02)
    raise RuntimeError(f"nothing listens on port {port} in {name}")


def measure(seconds=5, args="", address=RCV_V4):
    """Run iperf3 and count: throughput, both hosts' counters, cost."""
    before = {name: counters(name) for name in ("snd", "rcv")}
    stats, irqs = ethtool_stats("rcv", DUT), interrupts(DUT)
    threads = {"snd": threads_ns(SND_DEV), "rcv": threads_ns(DUT)}
    clock = clock_ns()
    result = iperf3(seconds, args, address=address)
    clock = difference(clock, clock_ns())
    return {
        "throughput_mbps":
            result["end"]["sum_received"]["bits_per_second"] / 1e6,
        "retransmits": result["end"]["sum_sent"].get("retransmits", 0),
        **clock,
        "threads_ns": {"snd": threads_ns(SND_DEV) - threads["snd"],
                       "rcv": threads_ns(DUT) - threads["rcv"]},
        "interrupts": interrupts(DUT) - irqs,
        "device": difference(stats, ethtool_stats("rcv", DUT)),
        **{name: difference(before[name], counters(name))
           for name in ("snd", "rcv")},
        "iperf3": result,
    }
