#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Bytes that both ends know beforehand, over TCP connections. The remote host
runs this file by itself: stream.py ADDRESS PORT STREAMS RATE BOTH connects
and sends until SIGUSR1 tells it to come to the end, at so many bytes per
second for each connection (0: no limit); if BOTH is 1 it also receives. It
prints the bytes sent and received.
"""

import random
import signal
import socket
import sys
import threading

PERIOD = 65521      # a prime: what is lost, or comes twice, shows
SO_MAX_PACING_RATE = 47
BACK = 1000         # seeds of what the receiver sends
TIMEOUT_S = 60      # of a connection that does not move


class Half(threading.Thread):
    """One direction of a connection: the bytes that went through so far."""

    def __init__(self, sock, seed):
        super().__init__(daemon=True)
        self.sock = sock
        self.data = random.Random(seed).randbytes(PERIOD)
        self.count = 0
        self.error = None

    def run(self):
        try:
            self.go()
        except (OSError, ValueError) as error:
            self.error = f"after {self.count} bytes: {error}"


class Sending(Half):
    enough = threading.Event()

    def __init__(self, sock, seed, rate):
        super().__init__(sock, seed)
        if rate:
            sock.setsockopt(socket.SOL_SOCKET, SO_MAX_PACING_RATE, rate)

    def go(self):
        while not self.enough.is_set():
            self.sock.sendall(self.data)
            self.count += PERIOD
        self.sock.shutdown(socket.SHUT_WR)


class Receiving(Half):
    def go(self):
        expected = self.data * 2
        while chunk := self.sock.recv(PERIOD):
            start = self.count % PERIOD
            if chunk != expected[start:start + len(chunk)]:
                raise ValueError("other bytes than were sent")
            self.count += len(chunk)


def totals(halves):
    """[bytes sent, bytes received] when all halves have come to their end."""
    for half in halves:
        half.join()
        if half.error:
            raise RuntimeError(f"{type(half).__name__}: {half.error}")
    return [sum(half.count for half in halves if isinstance(half, kind))
            for kind in (Sending, Receiving)]


def main():
    address, port = sys.argv[1:3]
    streams, rate, both = map(int, sys.argv[3:])
    signal.signal(signal.SIGUSR1, lambda *_: Sending.enough.set())
    halves = []
    for number in range(streams):
        sock = socket.create_connection((address, int(port)), TIMEOUT_S)
        sock.sendall(number.to_bytes(2, "big"))
        halves.append(Sending(sock, number, rate))
        if both:
            halves.append(Receiving(sock, BACK + number))
    for half in halves:
        half.start()
    print(*totals(halves))


if __name__ == "__main__":
    main()
