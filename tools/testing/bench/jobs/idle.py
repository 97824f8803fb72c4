#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""idle.py serve | ask SEED SECONDS: the two ends of an idle connection.

The one asks at random times, so as to meet busy connections in any phase; the
other one answers with the time at which the question was there. Prints
[[nanoseconds there, nanoseconds there and back], ...].

Both run ahead of all other processes. Otherwise they would wait for their turn
on the CPU, which TCP's own round trip, that of the paper, has no part of.
"""

import json
import os
import random
import socket
import sys
import time

import guest

PORT = 5300
PAUSE_S = 0.001         # in the mean, from an answer to the next question
QUESTION = bytes(16)
CLOCK_BYTES = 8


def serve():
    with socket.create_server((guest.RCV_V4, PORT)) as server:
        while True:
            sock, _ = server.accept()
            with sock:
                answer(sock)


def answer(sock):
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while sock.recv(len(QUESTION)):
        now = time.monotonic_ns()
        sock.sendall(now.to_bytes(CLOCK_BYTES, "big"))


def ask(seed, seconds):
    pauses = random.Random(seed)
    trips = []
    with socket.create_connection((guest.RCV_V4, PORT)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        end = time.monotonic_ns() + seconds * 1e9
        while time.monotonic_ns() < end:
            time.sleep(pauses.expovariate(1 / PAUSE_S))
            asked = time.monotonic_ns()
            sock.sendall(QUESTION)
            there = int.from_bytes(sock.recv(CLOCK_BYTES), "big")
            trips.append((there - asked, time.monotonic_ns() - asked))
    print(json.dumps(trips))


os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
if sys.argv[1] == "serve":
    serve()
else:
    ask(int(sys.argv[2]), float(sys.argv[3]))
