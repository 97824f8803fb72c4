# SPDX-License-Identifier: GPL-2.0
"""Many TCP flows from snd to rcv, at a cost that leaves the guest to TCP.

One process has both ends of all flows. It hands a flow to its socket in one
piece, out of pages that are never copied, and has the receiver discard what
came. So it runs a few times in a flow, not once for each packet.
"""

import math
import os
import random
import select
import socket
import struct
import time
from bisect import bisect
from pathlib import Path

import guest
from frames import namespace

PORT, FIRST_PORT = 5201, 10000      # of the receiver, of the first flow
READ_BYTES = 1 << 18                # that the receiver is woken up for
BUFFER_BYTES = 32 << 20

# (bytes, part of all flows that is longer): campus traffic of 30 days, four
# billion flows, of Jurkiewicz, Rzym and Borylo (the data set agh_201506).
LONGER = ((10_000, 0.059010), (100_000, 0.015970), (1_000_000, 0.003950),
          (10_000_000, 0.000835))


def size(rng):
    """
    The bytes of a flow, drawn from LONGER, a power law between its points.

    What is shorter has 1 % of the bytes and 94 % of the flows; what is longer
    has 78 % of the bytes, but no run is long enough for it.
    """
    (longest, rare), (_, often) = LONGER[-1], LONGER[0]
    part = rng.uniform(rare, often)
    n = bisect([-p for _, p in LONGER], -part, 1, len(LONGER) - 1)
    (low, above_low), (high, above_high) = LONGER[n - 1:n + 1]
    slope = math.log(high / low) / math.log(above_low / above_high)
    return min(int(low * (above_low / part) ** slope), longest)


def trace(seed, flows, mbps):
    """
    Flows as (start in seconds, bytes), which need mbps on average.

    The starts are those of a Poisson process that is known to have had so
    many. A seed has the same flows at any rate, only faster.
    """
    rng = random.Random(seed)
    sizes = [size(rng) for _ in range(flows)]
    seconds = sum(sizes) * 8 / (mbps * 1e6)
    return list(zip(sorted(rng.uniform(0, seconds) for _ in sizes), sizes))


class Load:
    """Plays a trace of flows."""

    def __init__(self, flows):
        self.flows = flows
        self.found = [{"bytes": length} for _, length in flows]
        self.handlers = {}
        self.poll = select.epoll()
        self.open = 2 * len(flows)      # ends of flows that have not ended
        self.waste = bytearray(BUFFER_BYTES)
        self.pages = os.memfd_create("flow")
        os.ftruncate(self.pages, LONGER[-1][0])

    def run(self):
        """
        What became of each flow: its bytes, the seconds from the call to
        connect() until its end was read, data packets and retransmissions.
        """
        self.make_room()
        with namespace("rcv"):
            listener = socket.create_server((guest.RCV_V4, PORT), backlog=4096)
        listener.setblocking(False)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, READ_BYTES)
        self.watch(listener, self.accept)
        with namespace("snd"):
            self.play()
        self.close(listener)
        return self.found

    def make_room(self):
        """No flow waits for a buffer, its own or that of all."""
        room = f"{BUFFER_BYTES} " * 3
        guest.sysctl("snd", {"tcp_wmem": room})
        guest.sysctl("rcv", {"tcp_rmem": room})
        Path("/proc/sys/net/ipv4/tcp_mem").write_text(room)     # pages

    def play(self):
        began, due = time.monotonic(), 0
        while self.open:
            now = time.monotonic() - began
            while due < len(self.flows) and self.flows[due][0] <= now:
                self.start(due)
                due += 1
            wait = self.flows[due][0] - now if due < len(self.flows) else 60
            ready = self.poll.poll(wait)
            if not ready and due == len(self.flows):
                raise RuntimeError(f"nothing moves: {self.open} ends are open")
            for fd, _ in ready:
                handler, *args = self.handlers[fd]
                handler(*args)

    def watch(self, sock, handler, *args, events=select.EPOLLIN):
        self.handlers[sock.fileno()] = (handler, sock, *args)
        self.poll.register(sock, events)

    def close(self, sock):
        del self.handlers[sock.fileno()]
        sock.close()
        self.open -= 1

    def start(self, n):
        sock = socket.socket()
        sock.setblocking(False)
        sock.bind((guest.SND_V4, FIRST_PORT + n))
        self.found[n]["start"] = time.monotonic()
        sock.connect_ex((guest.RCV_V4, PORT))
        self.watch(sock, self.send, n, self.flows[n][1],
                   events=select.EPOLLOUT)

    def send(self, sock, n, left):
        """Hand over what the buffer takes: all, as a rule."""
        while left:
            try:
                left -= os.sendfile(sock.fileno(), self.pages, 0, left)
            except BlockingIOError:
                self.handlers[sock.fileno()] = (self.send, sock, n, left)
                return
        sock.shutdown(socket.SHUT_WR)
        self.handlers[sock.fileno()] = (self.finish, sock, n)
        self.poll.modify(sock, select.EPOLLIN)

    def finish(self, sock, n):
        """The receiver has closed: all was acknowledged."""
        info = sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 160)
        self.found[n]["retransmits"], = struct.unpack_from("I", info, 100)
        self.found[n]["packets"], = struct.unpack_from("I", info, 156)
        self.close(sock)

    def accept(self, listener):
        while True:
            try:
                sock, (_, port) = listener.accept()
            except BlockingIOError:
                return
            sock.setblocking(False)
            self.watch(sock, self.receive, port - FIRST_PORT)

    def receive(self, sock, n):
        """Have the kernel forget what came, with no copy of it."""
        while True:
            try:
                length = sock.recv_into(self.waste, 0, socket.MSG_TRUNC)
            except BlockingIOError:
                return
            if not length:
                break
        self.found[n]["seconds"] = time.monotonic() - self.found[n]["start"]
        self.close(sock)
