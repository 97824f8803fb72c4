#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rr.py JSON: one long flow, some of whose packets are late; leaves row.json.

The path of RR-TCP's paper (Zhang, Karp, Floyd, Peterson, 2002), not dilated: P
each way, and a link that carries 50 packets in two of them, which is what the
sender's window is locked to. Of the data, some packets are late by a random time,
some are lost; ACKs may be late as well. Both are told by what leaves sender and
router: the IP identification tells a retransmission from what was sent first.

The JSON has what differs from DEFAULTS; with rate_mbit, the link has that rate, and
above 10 Mbit/s a window to match.
"""

import random
import re
import struct
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import chance
import counts
import guest

DEFAULTS = {
    "srpic": False, "seed": 1, "sender": "TA",
    "seconds": 300, "p_ms": 50, "rate_mbit": 0,
    "late_percent": 0, "late_ms": 0, "spread_ms": 0, "late": "normal",
    "late_acks_percent": 0, "loss_percent": 0, "burst_ms": 0,
    "fa_percent": 90, "max_reordering": 64, "rx_usecs": 150,
    "block_size": 32, "hold_usecs": 0,
}
WINDOW_PKTS = 50
FRAME, MSS = 1514, 1460
BURST = "6kb"
QUEUE_PKTS = 100000
CLASSIC = {"tcp_recovery": 0, "tcp_early_retrans": 0, "tcp_frto": 0,
           "tcp_reordering": 3, "tcp_timestamps": 0, "tcp_min_tso_segs": 1,
           "tcp_congestion_control": "reno"}
OWN_MAX_REORDERING = 300        # at least, where the stack's own rule is at work
# FA with a threshold of three at the most is that of SACK and of R, and with RACK
# it only observes: so all are traced but A. That goes by the longest lateness of
# what it never sent again. A1 has the bound alone, which lets no window grow by SACKs
# in slow start.
PLAIN = {"tcp_rr": 1, "tcp_max_reordering": 3, "tcp_limited_transmit": 1}
SENDERS = {
    "SACK": PLAIN, "R": PLAIN,
    "FA": {"tcp_rr": 1, "tcp_limited_transmit": 1},
    "FAES": {"tcp_rr": 5, "tcp_limited_transmit": 1},
    "TA": {"tcp_rr": 2, "tcp_limited_transmit": 1},
    "TAES": {"tcp_rr": 6, "tcp_limited_transmit": 1},
    "A": {},
    "A1": {"tcp_limited_transmit": 1},
    "RACK": {"tcp_recovery": 1, "tcp_rr": 1},
}
# of the sender, beside those of all experiments
COUNTERS = {"fast_retransmits": "FastRetrans", "recoveries": "SackRecovery",
            "dsack_undos": "DSACKUndo", "full_undos": "FullUndo",
            "partial_undos": "PartialUndo", "loss_undos": "LossUndo"}
MANY_BYTES = 100_000        # more than iperf3 says beside the data
TRACING = Path("/sys/kernel/tracing")
LOSS = 4                    # the state of a connection after a timeout
DATA = "tcp dst port 5201 and ip[2:2] > 1000"
# Of pcap, 54 bytes of each packet: s, us, the IP identification and the sequence
# number, which are names here, and not turned to the host's order.
RECORD = struct.Struct("<II26xH18xI12x")


def rate_mbit(job):
    return job["rate_mbit"] or \
        WINDOW_PKTS * FRAME * 8 / (2000 * job["p_ms"])


def window_pkts(job):
    """What fills the path, and 50 on those of the paper."""
    fits = round(rate_mbit(job) * 2000 * job["p_ms"] / (8 * FRAME))
    return fits if rate_mbit(job) > 10 else WINDOW_PKTS


def set_sender(job):
    """Its least RTO is a second: Linux adds what is told to the smoothed RTT."""
    least = OWN_MAX_REORDERING if job["sender"] in ("A", "A1", "RACK") else 0
    guest.sysctl("snd", CLASSIC | {
        "tcp_max_reordering": max(least, job["max_reordering"]),
        "tcp_rr_fa_percent": job["fa_percent"],
        "tcp_rto_min_us": 1_000_000 - 2000 * job["p_ms"],
        } | SENDERS[job["sender"]])
    guest.sysctl("rcv", {"tcp_timestamps": 0,
                         "tcp_dsack": int(job["sender"] != "SACK")})
    guest.ns("snd", "ip route replace default via 10.0.1.2 "
                    f"cwnd lock {window_pkts(job)}")


def lock_window(job):
    """
    A connection takes the route's window from what TCP noted of another one to
    the same host. That is made on a path on which there is nothing else to note,
    and nothing is noted of the one that is measured.
    """
    guest.ns("snd", "ip tcp_metrics flush all")
    guest.sysctl("snd", {"tcp_no_metrics_save": 0})
    guest.iperf3(0, "-n 100K")
    guest.sysctl("snd", {"tcp_no_metrics_save": 1})
    noted = guest.ns("snd", "ip tcp_metrics show")
    if f" cwnd {window_pkts(job)} " not in noted + " ":
        sys.exit(f"rr: the window is not locked: {noted}")


def delays(dev, job, percent, loss):
    """
    The commands that have packets wait for P, and some of them for more. Of netem's
    seeds, those near each other or twice as large have chances that are alike.
    """
    seeds = random.Random(f"{job['seed']} {dev}")
    p_us, late_us = 1000 * job["p_ms"], round(1000 * job["late_ms"])
    late = f"delay {p_us + late_us}us"
    if job["spread_ms"]:
        late += f" {round(1000 * job['spread_ms'])}us"
        if job["late"] != "uniform":
            late += f" distribution {job['late']}"
    match = f"'meta(random mask 0xffffffff lt {int(percent / 100 * 2**32)})'"
    netem = f"netem limit {QUEUE_PKTS}"
    yield (f"qdisc replace dev {dev} root handle 1: prio bands 2 priomap"
           + 16 * " 1")
    yield (f"qdisc add dev {dev} parent 1:1 {netem} {late} {loss} "
           f"seed {seeds.getrandbits(32)}")
    yield (f"qdisc add dev {dev} parent 1:2 {netem} delay {p_us}us {loss} "
           f"seed {seeds.getrandbits(32)}")
    if percent:
        yield (f"filter add dev {dev} parent 1: protocol all prio 1 "
               f"basic match {match} classid 1:1")


def losses(job):
    """netem's words, for packets that are lost one by one."""
    return f"loss {job['loss_percent']}%" \
        if job["loss_percent"] and not job["burst_ms"] else ""


@contextmanager
def meanwhile(work, *args):
    """Beside what is within, work(stop, ...) runs until stop is set."""
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        worker = pool.submit(work, stop, *args)
        try:
            yield
        finally:
            stop.set()
    worker.result()     # or what ended it


def lose_rows(stop, job):
    """
    All packets of burst_ms, 50 more or less, are lost. loss_percent are the first
    of such a row, if the link is full.
    """
    if not job["burst_ms"] or not job["loss_percent"]:
        return
    chances = random.Random(job["seed"])
    rows_a_second = rate_mbit(job) * 1e6 / (8 * FRAME) \
        * job["loss_percent"] / 100
    route = f"blackhole {guest.RCV_V4}/32"
    while not stop.wait(chances.expovariate(rows_a_second)):
        guest.ns("rtr", f"ip route add {route}")
        stop.wait((job["burst_ms"] + chances.uniform(-50, 50)) / 1000)
        guest.ns("rtr", f"ip route del {route}")


def watch(stop, job, said):
    """What ss says of the connection with the data, some 50 times."""
    while not stop.wait(job["seconds"] / 50):
        told = guest.ns("snd", "ss -Htin state established dport = :5201")
        said += [line for line in told.splitlines()
                 if number(line, "bytes_sent", 0) > MANY_BYTES]


def number(line, name, default=None):
    found = re.search(rf" {name}:([\d.]+)", line)
    return float(found[1]) if found else default


def patience(said):
    """The threshold, and the RTO that is doubled by timeouts, of any sender."""
    thresholds = [number(line, "reordering", 3) for line in said]
    rtos_ms = [number(line, "rto", 3000) / 2 ** number(line, "backoff", 0)
               for line in said]        # ss leaves out 3 s
    return {"reordering": thresholds[-1],
            "reordering_mean": sum(thresholds) / len(said),
            "rto_mean_ms": sum(rtos_ms) / len(said)}


def set_path(job):
    guest.ns("snd", f"tc qdisc replace dev {guest.SND_DEV} root tbf "
                    f"rate {rate_mbit(job):.6f}mbit burst {BURST} limit 16mb")
    for dev, percent, loss in (
            (guest.RTR_DEV, job["late_percent"], losses(job)),
            (guest.RTR_BACK, job["late_acks_percent"], "")):
        guest.ns("rtr", "tc -batch -", input="\n".join(
            delays(dev, job, percent, loss)))


@contextmanager
def captured(**places):
    """The data that leaves a device of a namespace; what names it is a file."""
    dumps = [guest.spawn(name.split("_")[0], [
        "tcpdump", "-Z", "root", "-i", dev, "-Q", "out", "-s", 54, "-B", 8192,
        "-w", f"/tmp/{name}.pcap", DATA]) for name, dev in places.items()]
    for name in places:
        while not Path(f"/tmp/{name}.pcap").exists():
            time.sleep(0.05)
    try:
        yield
    finally:
        time.sleep(2)       # what it has not read yet
        for dump in dumps:
            dump.terminate()
            said = dump.communicate()[0]
            if not re.search(r"^0 packets dropped by kernel", said,
                             re.MULTILINE):
                raise RuntimeError(f"tcpdump: {said}")


def transmissions(name):
    """(us, sequence number, which of those that have it) of each."""
    text = Path(f"/tmp/{name}.pcap").read_bytes()[24:]
    for s, us, ident, seq in RECORD.iter_unpack(text):
        yield s * 1_000_000 + us, seq, seq << 16 | ident


def repairs():
    """
    How long it took from when something was sent first, and lost, to when it left
    the router, where nothing is held yet; and how many retransmissions were of what
    was not lost.
    """
    arrived, arrivals = set(), {}
    for us, seq, which in transmissions("rtr_out"):
        arrived.add(which)
        arrivals.setdefault(seq, us)
    left = list(transmissions("snd_out"))
    times = Counter(seq for _, seq, _ in left)
    first, sent, needless = {}, {}, 0
    for us, seq, which in left:
        if times[seq] == 1:
            continue        # it arrived, or never did
        first.setdefault(seq, (us, which))
        before = sent.setdefault(seq, [])
        needless += any(other in arrived for other in before)
        before.append(which)
    took = sorted((arrivals[seq] - us) / 1000
                  for seq, (us, which) in first.items()
                  if which not in arrived and seq in arrivals)
    packets = times.total()
    row = {"needless_percent": 100 * needless / packets,
           "retransmitted_percent": 100 * (packets - len(times)) / packets,
           "data_packets": packets}
    if took:
        row |= {"repair_mean_ms": sum(took) / len(took),
                "repair_p50_ms": took[len(took) // 2],
                "repair_p95_ms": took[len(took) * 95 // 100],
                "repairs": len(took)}
    return row


def parsed(line):
    """A line of the tracepoint, and when it was."""
    return dict(re.findall(r"(\w+)=(\S+)", line)) | {
        "s": float(re.search(r" ([\d.]+): tcp_rr: ", line)[1])}


def traced(port):
    """What was of the connection with the data; iperf3's other one has some too."""
    return [line for line in (TRACING / "trace").read_text().splitlines()
            if f" sport={port} " in line]


def learnt(lines):
    """
    What the tracepoint said: the FA ratio, last and on the average of time. Packets
    that are late, which may be very many, leave it.
    """
    lines = [line for line in lines if " tcp_rr: " in line]
    if not lines:
        return {}
    lines = [parsed(line) for n, line in enumerate(lines)
             if n in (0, len(lines) - 1)
             or not re.search(r" event=(late|twice) ", line)]
    spans = [(int(line["ratio"]), then["s"] - line["s"])
             for line, then in pairwise(lines)]
    lasted = sum(span for _, span in spans)
    mean = sum(ratio * span for ratio, span in spans) / lasted \
        if lasted else int(lines[-1]["ratio"])
    return {"fa_ratio": int(lines[-1]["ratio"]) / 10000,
            "fa_ratio_mean": mean / 10000,
            "idles": sum(line["event"] == "idle" for line in lines),
            "false_recoveries": sum(line["event"] == "false"
                                    for line in lines)}


def main():
    job = counts.job(DEFAULTS)
    chance.seed(job["seed"])
    set_sender(job)
    lock_window(job)
    set_path(job)
    guest.coalesce(job["rx_usecs"])
    guest.sysctl("rcv", {f"net.srpic.{name}": job[name]
                         for name in ("block_size", "hold_usecs")})
    guest.switch(job["srpic"])
    size = "-w 1M" if window_pkts(job) == WINDOW_PKTS else "-w 8M"
    (TRACING / "buffer_size_kb").write_text("32768")
    (TRACING / "events/tcp/tcp_cong_state_set/filter").write_text(
        f"cong_state == {LOSS}")
    for event in "tcp_rr", "tcp/tcp_cong_state_set":
        (TRACING / "events" / event / "enable").write_text("1")
    said = []
    with captured(snd_out=guest.SND_DEV, rtr_out=guest.RTR_DEV), \
            meanwhile(lose_rows, job), meanwhile(watch, job, said):
        found = guest.measure(job["seconds"], size)
    lines = traced(found["iperf3"]["start"]["connected"][0]["local_port"])
    row = counts.transfer(found, threaded=False) | repairs() | learnt(lines) \
        | patience(said) | {name: found["snd"].get(f"TcpExtTCP{counter}", 0)
                            for name, counter in COUNTERS.items()}
    row["timeouts"] = sum(" tcp_cong_state_set: " in line for line in lines)
    for name in ("timeouts", "fast_retransmits"):
        row[f"{name}_percent"] = 100 * row[name] / row["data_packets"]
    row["window_max_pkts"] = found["iperf3"]["end"]["streams"][0]["sender"][
        "max_snd_cwnd"] / MSS
    if row["window_max_pkts"] > window_pkts(job):
        sys.exit(f"rr: the window was {row['window_max_pkts']} packets")
    if not job["burst_ms"]:     # what a route loses, nothing counts
        row["lost_on_path"] = guest.lost(guest.RTR_DEV)
    counts.leave(row)


main()
