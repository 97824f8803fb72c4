# SPDX-License-Identifier: GPL-2.0
"""Bulk data from the remote host, and what becomes of it here."""

import re
import socket
import statistics
import time
from pathlib import Path

from lib.py import ksft_eq, ksft_ge, rand_port, wait_port_listen

from . import stream
from .run import undo, uninterrupted

TCP_COUNTERS = {"TcpInSegs": "segments", "TcpOutSegs": "acks",
                "TcpRetransSegs": "retransmits",
                "TcpExtTCPOFOQueue": "out_of_order",
                "TcpExtTCPDSACKOldSent": "duplicates",
                "TcpInCsumErrors": "corrupt",
                "TcpExtPAWSEstab": "paws"}
TIMEOUT_S = 20      # of connections that do not begin
SETTLE_S = 0.06     # after a change

# Four measurements each way, in turns, so that what drifts hits both alike.
TURNS = (False, True, True, False) * 2

# What the difference of two means of those is uncertain by, in standard errors.
SIGMA = 3

# And at most so many times what is without SRPIC: what differs by more tells
# little, not that all is well.
UNCERTAIN = 0.25


def tcp_counters(text):
    """The counters of TCP that matter here, of /proc/net/snmp or netstat."""
    found, lines = {}, text.splitlines()
    for keys, values in zip(lines[::2], lines[1::2]):
        group = keys.split(":")[0]
        for key, value in zip(keys.split()[1:], values.split()[1:]):
            if group + key in TCP_COUNTERS:
                found[TCP_COUNTERS[group + key]] = int(value)
    return found


class Traffic:
    """What the connections to one port of this host do."""

    def __init__(self, env, port):
        env.require_cmd("ss")
        self.env = env
        self.port = port

    def received(self):
        """{the other end: bytes received} of all connections."""
        text = self.env.here(f"ss -tinHO sport = :{self.port}")
        return {peer: int(count) for peer, count in re.findall(
            r"^\S+ +\d+ +\d+ +\S+ +(\S+) .*bytes_received:(\d+)", text,
            re.MULTILINE)}

    def wait(self, streams, client):
        """Return when so many connections carry data."""
        def flows():
            return sum(count > 1 << 16 for count
                       in self.received().values()) >= streams

        end = time.monotonic() + TIMEOUT_S
        while not flows():
            if client.proc.poll() is not None:
                raise RuntimeError(f"no data any more: {client.output()}")
            if time.monotonic() > end:
                raise RuntimeError(f"no data comes to port {self.port}")
            time.sleep(0.05)

    def sample(self):
        return {"ns": time.monotonic_ns(),
                "bytes": sum(self.received().values()),
                **tcp_counters(Path("/proc/net/snmp").read_text()),
                **tcp_counters(Path("/proc/net/netstat").read_text()),
                **self.env.stats()}

    def measure(self, seconds):
        """How the counters move in the next seconds."""
        before = self.sample()
        time.sleep(seconds)
        after = self.sample()
        return {key: after[key] - before[key] for key in after}


class Iperf3(Traffic):
    """
    Connections of iperf3 from the remote host, until the case ends. If
    RATE_MBIT limits them, they are paced; over a path with a round trip,
    many are limited by their windows instead, since one packet of each now and
    then would never be out of order. One has Reno: CUBIC may leave slow start
    at any window, as HyStart takes the spacing of its ACKs for a sign of a full
    link, and carry little for seconds.
    """

    def __init__(self, env, ipver, streams, round_trip_us=0):
        env.require_cmd("iperf3", remote=True)
        address = env.address(ipver)
        super().__init__(env, rand_port())
        env.start(f"iperf3 -J -s -1 -p {self.port}")
        wait_port_listen(self.port)
        rate = env.rate_mbit / streams
        limit = f"--fq-rate {rate}M" if rate else ""
        if rate and streams == 1:
            limit += " -C reno"
        elif rate and round_trip_us:
            limit = f"-w {rate * round_trip_us / 8:.0f}"
        client = env.start(f"iperf3 -J -c {address} -p {self.port} "
                           f"-P {streams} -t 86400 {limit}", remote=True)
        self.wait(streams, client)


class Stream(Traffic):
    """
    Connections that carry known bytes from the remote host, and back if
    "both" is set, until finish(); to another address than env's if there is
    one.
    """

    def __init__(self, env, ipver, streams, both=False, address=None):
        address = address or env.address(ipver)
        family = socket.AF_INET if ipver == "4" else socket.AF_INET6
        # of both directions together, as one CPU may have all the work
        rate = int(env.rate_mbit * 125000 / streams / (1 + both))
        server = socket.create_server((address, 0), family=family)
        undo(server.close)
        super().__init__(env, server.getsockname()[1])
        self.client = env.start_python(
            stream.__file__,
            f"{address} {self.port} {streams} {rate} {int(both)}")
        self.halves = []
        server.settimeout(stream.TIMEOUT_S)
        for _ in range(streams):
            sock, _ = server.accept()
            undo(sock.close)
            sock.settimeout(stream.TIMEOUT_S)
            number = int.from_bytes(sock.recv(2, socket.MSG_WAITALL), "big")
            self.halves.append(stream.Receiving(sock, number))
            if both:
                self.halves.append(
                    stream.Sending(sock, stream.BACK + number, rate))
        stream.Sending.enough.clear()
        with uninterrupted():
            for half in self.halves:
                half.start()
        self.wait(streams, self.client)

    def finish(self):
        """Both ends have seen the same bytes to the end; their number."""
        self.client.signal("USR1")
        stream.Sending.enough.set()
        sent, received = stream.totals(self.halves)
        there = [int(count) for count in self.client.output().split()]
        ksft_eq([received, sent], there, "bytes here and there")
        return received


def off_and_on(env, traffic, turns=TURNS):
    """
    Measure under one and the same traffic, in turns, with SRPIC off and on:
    ({figure: value} off, the same on). It takes packets when it is on, only
    then.
    """
    counts = {False: [], True: []}
    env.keep_switch()
    for on in turns:
        env.switch(on)
        time.sleep(SETTLE_S)
        counts[on].append(traffic.measure(env.duration_s))
    off, on = (summary(counts[on]) for on in (False, True))
    ksft_eq(off["taken"], 0, "SRPIC takes nothing when it is off")
    ksft_ge(on["taken"], 1, "SRPIC takes packets when it is on")
    return off, on


def summary(counts):
    """
    The figures of a report, of all measurements, per second where that makes
    sense; and the standard error of the throughput.
    """
    count = {key: sum(one[key] for one in counts) for key in counts[0]}
    seconds = count["ns"] / 1e9
    rates = [one["bytes"] * 8e3 / one["ns"] for one in counts]
    out = {"mbps": round(count["bytes"] * 8e-6 / seconds, 1),
           "mbps_error": round(statistics.stdev(rates) / len(rates) ** 0.5, 1),
           "seconds": round(seconds, 3)}
    for name in TCP_COUNTERS.values():
        out[name] = round(count[name] / seconds, 1)
    out["taken"], out["passed"] = (
        count["packets_taken"], count["packets_passed"])
    out["block"] = round(count["packets_taken"] / max(count["blocks"], 1), 1)
    return out


def expect_throughput(env, off, on, margin):
    """
    With SRPIC as much data comes, less a margin, and what measurements without
    SRPIC differ by, within limits: losses and the like make them.
    """
    uncertain = min(SIGMA * 2 ** 0.5 * off["mbps_error"],
                    UNCERTAIN * off["mbps"])
    env.expect(on["mbps"] >= (1 - margin) * off["mbps"] - uncertain,
               f"throughput falls from {off['mbps']} ({off['mbps_error']}) to "
               f"{on['mbps']} ({on['mbps_error']}) Mbit/s")


def expect_order(env, off, on, limit):
    """
    With SRPIC at most so many times as many packets are out of order, of as
    much data: what a connection carries may change with time.
    """
    env.need(off["out_of_order"], "nothing is out of order here")
    env.expect(on["out_of_order"] * off["mbps"] <=
               limit * off["out_of_order"] * on["mbps"],
               f"{on['out_of_order']} packets a second are out of order at "
               f"{on['mbps']} Mbit/s, {off['out_of_order']} at {off['mbps']} "
               f"without SRPIC: of as much data, more than {limit} times")


def expect_no_more(env, off, on, name, margin):
    """
    With SRPIC there is no more of something, of as much data, but for a margin
    and what counts of such a size differ by.
    """
    count, less = (side[name] * side["seconds"] for side in (on, off))
    usual = less * on["mbps"] * on["seconds"] / (off["mbps"] * off["seconds"])
    env.expect(count <= (1 + margin) * usual + SIGMA * (usual + count) ** 0.5,
               f"{name}: {count:.0f}, and {usual:.0f} for as much data "
               "without SRPIC")
