#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
An idle connection from a third host beside ten busy ones from the remote: its
round trips take no longer with SRPIC. The third host is a namespace of the
remote, on a macvlan of the remote's device, and its packets do not wait there
behind those of the busy connections.
"""

import contextlib
import json
import math
import socket
import threading

from lib.py import (
    Iperf3,
    SrpicEnv,
    case,
    command,
    idle,
    ksft_ge,
    off_and_on,
    run,
    undo,
    uninterrupted,
)

BUSY = 10

# Half of the round trips meet no busy connection, and take a twentieth of what
# the others do: so the median may be anything between. Other percentiles may
# not be worse by MARGIN, given that those of a sample are uncertain: the 99th of
# less than 900 round trips may be above all of them.
JUDGED = 10, 90, 99
SIGMA = 3
MARGIN = 0.25
ENOUGH = 100

# Subnets for documentation (RFC 5737, RFC 3849): host 1 is here, 2 the third.
SUBNETS = {"4": ("198.51.100.{}", 24), "6": ("2001:db8:1d1e::{}", 64)}

# What the echo says, and with what the round trip counts.
NOTHING, OFF, ON = range(3)


class Idle(Iperf3):
    """Busy connections, and the round trips of one beside them."""

    def __init__(self, env, ipver):
        self.state = NOTHING
        self.client = self.third_host(env, ipver)
        super().__init__(env, ipver, BUSY)

    def third_host(self, env, ipver):
        """Have a third host that connects to here; its program."""
        subnet, bits = SUBNETS[ipver]
        here, there = subnet.format(1), subnet.format(2)
        env.need(not env.here(f"ip -o addr show to {here}/{bits}"),
                 f"{here}/{bits} is in use")
        own = f"{here}/{bits} dev {env.ifname}"
        undo(env.here, f"ip addr del {own}", fail=False)
        env.here(f"ip addr add {own} {'nodad' * (ipver == '6')}")
        family = socket.AF_INET if ipver == "4" else socket.AF_INET6
        server = socket.create_server((here, 0), family=family)
        undo(server.close)

        # the namespace and its device end with the program
        client = env.start_python(
            idle.__file__,
            f"{there}/{bits} {here} {server.getsockname()[1]}")
        if client.proc.stdout.readline() != b"ready\n":
            raise RuntimeError(f"no third host: {client.output()}")
        name = env.remote_dev["ifname"]
        done = command(f"ip link add link {name} name {idle.DEV} "
                       f"netns {client.pid} type macvlan mode bridge",
                       env.remote, fail=False)
        env.need(done.ret == 0,
                 f"no macvlan on the remote's {name}: {done.stderr.strip()}")
        server.settimeout(idle.TIMEOUT_S)
        sock, _ = server.accept()
        undo(sock.close)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        echo = threading.Thread(target=self.echo, args=(sock,), daemon=True)
        with uninterrupted():
            echo.start()
        return client

    def echo(self, sock):
        # the case may have ended before the third host
        with contextlib.suppress(OSError):
            while sock.recv(1):
                sock.sendall(bytes([self.state]))

    def measure(self, seconds):
        self.state = ON if self.env.switched() else OFF
        count = super().measure(seconds)
        self.state = NOTHING
        return count

    def round_trips(self):
        """[microseconds, ...] without SRPIC, and with it."""
        self.client.signal("USR1")
        found = json.loads(self.client.output())
        return [found.get(str(state), []) for state in (OFF, ON)]


def percentile(values, share, sigma=0):
    """
    That of sorted values; or where it is at most, or at least, so many standard
    deviations of its rank away, None if that is beyond all of them.
    """
    off = sigma * math.sqrt(len(values) * share * (100 - share))
    rank = math.ceil((len(values) * share + off) / 100)
    return values[rank - 1] if 1 <= rank <= len(values) else None


def distribution(values):
    """Some percentiles."""
    return {"round_trips": len(values), "max_us": values[-1]} | {
        f"p{share}_us": percentile(values, share)
        for share in (10, 50, 90, 99)}


def latency(env, ipver):
    """Round trips take no longer, while SRPIC takes busy data."""
    env.coalesce()
    env.egress("prio")
    traffic = Idle(env, ipver)
    before = traffic.received()
    off, on = off_and_on(env, traffic)
    after = traffic.received()
    off_us, on_us = map(sorted, traffic.round_trips())
    few = min(len(off_us), len(on_us))
    env.need(few >= ENOUGH, f"{few} round trips are too few for a "
                            "percentile: raise DURATION")
    env.figures(off=off | distribution(off_us), on=on | distribution(on_us))

    moved = sum(after[peer] > before[peer] for peer in before)
    ksft_ge(moved, BUSY, "each busy connection carries data")
    for share in JUDGED:
        most = percentile(off_us, share, SIGMA)
        least = percentile(on_us, share, -SIGMA)
        if most is not None:
            env.expect(least <= (1 + MARGIN) * most,
                       f"the {share}th percentile is at most {most} us "
                       f"without SRPIC, at least {least} with it")


def main():
    with SrpicEnv(__file__) as env:
        run(env, [case(f"latency_v{ipver}_{BUSY}", latency, ipver)
                  for ipver in "46"])


if __name__ == "__main__":
    main()
