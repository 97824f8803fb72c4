#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""backlog.py JSON: one transfer whose receiver shares its CPU; leaves row.json.

The JSON has what differs from DEFAULTS. Sender, router and ksoftirqd have real-time
priority, so that the receiver competes with the hogs alone.
"""

import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

import counts
import guest

DEFAULTS = {
    "srpic": False, "seed": 1, "seconds": 20,
    "preempt": "voluntary", "grace_us": 0,
    "hogs": 0,                              # programs that just compute
    "nice": 0,                              # the receiver
    "busy": False,                          # it always has something to do
    "quota_ms": 0, "period_ms": 0,          # of CPU time: the receiver's cgroup
    "rto_min_us": 200000,
    "twait": True,                          # measure how long packets wait
    "rate_mbit": 250, "delay_us": 500,      # one way, each way
    "buffer_mb": 32,
}
DEBUG = Path("/sys/kernel/debug")
PORT = 5201
# Instead of iperf3, which needs little CPU time: one that nearly always owns its
# socket. It has read all 40 times before it takes it.
BUSY = f"""import socket, sys
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, int(sys.argv[1]))
listener.bind(("", {PORT}))
listener.listen()
reader, _ = listener.accept()
buffer = bytearray(1 << 20)
while True:
    for _ in range(40):
        reader.recv_into(buffer, 0, socket.MSG_PEEK)
    reader.recv_into(buffer)
"""
FEEDS = f"""import socket, sys
sender = socket.socket()
sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, int(sys.argv[1]))
sender.connect(("{guest.RCV_V4}", {PORT}))
while True:
    sender.sendall(bytes(1 << 20))
"""
LOWAT = 1 << 17           # bytes
SETTLE_S = 0.2            # what waited while all was counted is gone
MANY_BYTES = 1 << 20      # more than iperf3 says ahead of the data
CLASSES = "1ms", "10ms", "100ms", "200ms", "1s", "more"     # below that, twait's


def set_preempt(mode):
    try:
        (DEBUG / "sched/preempt").write_text(mode)
    except OSError:
        sys.exit(f"backlog: kernel {os.uname().release} cannot preempt={mode}: "
                 "that needs CONFIG_PREEMPT_DYNAMIC, and for lazy 6.13 or later")


def prepare(job):
    """Make the hosts and the path between them as the job has it."""
    for name in ("snd", "rcv"):
        guest.sysctl(name, {"net.ipv4.tcp_rto_min_us": job["rto_min_us"]})
    # its real-time sender copies a little at a time, not a third of its buffer
    guest.sysctl("snd", {"net.ipv4.tcp_notsent_lowat": LOWAT})
    most = job["buffer_mb"] << 20
    Path("/proc/sys/net/core/rmem_max").write_text(str(most))
    Path("/proc/sys/net/core/wmem_max").write_text(str(most))
    guest.set_sender("RACK")
    guest.set_path(job["rate_mbit"], job["delay_us"], seed=job["seed"])
    guest.switch(job["srpic"])
    set_preempt(job["preempt"])
    if job["grace_us"]:
        Path("/proc/sys/net/core/sock_grace_usecs").write_text(
            str(job["grace_us"]))
    for comm in Path("/proc").glob("[0-9]*/comm"):
        if comm.read_text().startswith("ksoftirqd/"):
            os.sched_setscheduler(int(comm.parent.name), os.SCHED_FIFO,
                                  os.sched_param(10))
    if job["twait"]:
        subprocess.run(["insmod", "/job/twait.ko", f"port={PORT}"], check=True)


def bytes_read():
    """
    What was acknowledged, less what is in the receiver's queue. Its socket is not
    asked for more: that would wait for the lock, which is what is measured.
    """
    told = guest.ns("snd", f"ss -Htin state established dport = :{PORT}")
    queues = guest.ns("rcv", f"ss -Htn state established sport = :{PORT}")
    return sum(map(int, re.findall(r"bytes_acked:(\d+)", told))) - sum(
        int(line.split()[0]) for line in queues.splitlines())


def until_it_flows():
    for _ in range(1000):
        if bytes_read() > MANY_BYTES:
            return
        time.sleep(0.01)
    sys.exit("backlog: nothing flows")


def times_throttled(cgroup):
    stat = (cgroup / "cpu.stat").read_text() if cgroup else "nr_throttled 0"
    return int(re.search(r"nr_throttled (\d+)", stat)[1])


def transfer(job):
    """
    What the hosts counted while hogs ran and data flowed, how many bytes, and how
    long receiver and hogs ran. Neither the beginning of a transfer nor its end is
    looked at, where iperf3 waits for a receiver that hardly runs.
    """
    size = job["buffer_mb"] << 20
    reads = ["python3", "-c", BUSY, size] if job["busy"] else \
        ["iperf3", "-s", "-1", "-p", PORT]
    sends = ["python3", "-c", FEEDS, size] if job["busy"] else \
        ["iperf3", "-c", guest.RCV_V4, "-p", PORT, "-t", 0, "-w", size]
    server = guest.spawn("rcv", ["chrt", "-o", 0, "nice", "-n", job["nice"],
                                 *reads], stdout=subprocess.DEVNULL)
    guest.wait_for_listener("rcv", PORT)
    client = guest.spawn("snd", sends, stdout=subprocess.DEVNULL)
    until_it_flows()
    cgroup = None
    if job["quota_ms"]:
        cgroup = guest.make_cgroup(job["quota_ms"], job["period_ms"])
        (cgroup / "cgroup.procs").write_text(str(server.pid))
    hogs = [subprocess.Popen(["chrt", "-o", "0", "sh", "-c", "while :; do :; done"])
            for _ in range(job["hogs"])]
    # nothing else is left to chance
    time.sleep(1 + random.Random(job["seed"]).random() / 10)
    processes = [Path(f"/proc/{process.pid}") for process in (server, *hogs)]
    before, began = counts.snapshot(), list(map(guest.ran_ns, processes))
    had, throttled = bytes_read(), times_throttled(cgroup)
    time.sleep(SETTLE_S)
    if job["twait"]:
        (DEBUG / "twait").write_text("0")
    time.sleep(job["seconds"])
    # before what follows takes the CPU from the receiver
    waits = (DEBUG / "twait").read_text() if job["twait"] else ""
    found = counts.since(before) | {
        "bytes": bytes_read() - had,
        "throttled": times_throttled(cgroup) - throttled, "twait": waits}
    ran = [guest.ran_ns(process) - then
           for process, then in zip(processes, began)]
    for process in (*hogs, client, server):
        process.kill()
        process.wait()
    return found, ran


def figures(job, found, ran):
    """The row."""
    sender, receiver = found["snd"], found["rcv"]
    row = counts.row(found) | {
        "throughput_mbps": found["bytes"] * 8000 / found["now_ns"],
        "bytes": found["bytes"],
        "spurious_rtos": sender.get("TcpExtTCPLossUndo", 0),
        "dsack_undos": sender.get("TcpExtTCPDSACKUndo", 0),
        "loss_probes": sender.get("TcpExtTCPLossProbes", 0),
        "window_probes": sender.get("TcpExtTCPWinProbe", 0),
        "zero_windows": receiver.get("TcpExtTCPToZeroWindowAdv", 0),
        "backlog_drops": receiver.get("TcpExtTCPBacklogDrop", 0),
        "lost_on_path": guest.lost(guest.RTR_DEV),
        "throttled": found["throttled"],
        "receiver_ns": ran[0], "hogs_ns": sum(ran[1:]),
        "share_percent": 100 * ran[0] / sum(ran),
    }
    if job["twait"]:
        lines = found["twait"].split("\n")[:-1]
        row |= {name: int(value) for name, value in map(str.split, lines)}
        if row.pop("lost"):
            sys.exit("backlog: twait could not follow all packets")
        classes = [row[f"wait_{name}"] for name in CLASSES]
        row |= {f"wait_{ms}ms_percent": 100 * sum(classes[n:]) / sum(classes)
                for ms, n in ((10, 2), (200, 4))}
    return row


def main():
    job = counts.job(DEFAULTS)
    # what measures is not what is measured; it has the sender's priority, too
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    prepare(job)
    counts.leave(figures(job, *transfer(job)))


if __name__ == "__main__":
    main()
