#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""backlog.py: readers that run on with a socket, see sock-grace.rst.

One CPU, a reader in rcv, and a program that just computes. What the scheduler does
is seen by its tracepoint. It takes a kernel of the variant preempt.
"""

import errno
import fcntl
import mmap
import os
import signal
import socket
import sys
import termios
import time
import unittest
from pathlib import Path

import guest
from frames import namespace
from transfer import Transfer

GRACE = Path("/proc/sys/net/core/sock_grace_usecs")
TRACING = Path("/sys/kernel/tracing")
PREEMPT = Path("/sys/kernel/debug/sched/preempt")
SIZE = 16 << 20
SLICE_MS = 3        # no fair task runs for longer beside another one


def real_time(priority):
    os.sched_setscheduler(0, os.SCHED_FIFO if priority else os.SCHED_OTHER,
                          os.sched_param(priority))


def fork(run):
    """The process that runs a function."""
    pid = os.fork()
    if not pid:
        try:
            run()
        finally:
            os._exit(0)
    return pid


def end(*pids):
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def compute():
    while True:
        pass


def compute_for(seconds):
    stop = time.process_time() + seconds
    while time.process_time() < stop:
        pass


class Connection:
    """From snd to rcv; what the receiver can hold is there before it reads."""

    def __init__(self, size=SIZE):
        with namespace("rcv"):
            server = socket.create_server((guest.RCV_V4, 7100))
            server.setsockopt(socket.SOL_SOCKET, 33, 4 * SIZE)  # RCVBUFFORCE
        with namespace("snd"):
            self.client = socket.create_connection((guest.RCV_V4, 7100))
        self.socket, _ = server.accept()
        server.close()
        self.client.sendall(bytes(size))
        while self.waiting() < size:
            time.sleep(0.01)

    def waiting(self):
        there = fcntl.ioctl(self.socket, termios.FIONREAD, bytes(4))
        return int.from_bytes(there, sys.byteorder)

    def close(self):
        self.socket.close()
        self.client.close()


def runs_ms(pid):
    """How long a task ran each time, longest first."""
    found, began = [], None
    for line in (TRACING / "trace").read_text().splitlines():
        if "sched_switch" not in line or line.startswith("#"):
            continue
        stamp = next(word for word in line.split() if word.endswith(":")
                     and word[0].isdigit())
        at_ms = float(stamp.rstrip(":")) * 1000
        if f"next_pid={pid} " in line:
            began = at_ms
        elif f"prev_pid={pid} " in line and began is not None:
            found.append(at_ms - began)
    return sorted(found, reverse=True)


class Backlog(unittest.TestCase):
    def setUp(self):
        GRACE.write_text("0")
        PREEMPT.write_text("full")
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("16384")

    def tearDown(self):
        GRACE.write_text("0")
        (TRACING / "events/sched/sched_switch/enable").write_text("0")

    def read(self, grace_us, run):
        """The runs of a reader beside one that computes."""
        GRACE.write_text(str(grace_us))
        connection = Connection()
        hog = fork(compute)
        (TRACING / "events/sched/sched_switch/enable").write_text("1")
        reader = fork(lambda: run(connection.socket))
        os.waitpid(reader, 0)
        (TRACING / "events/sched/sched_switch/enable").write_text("0")
        end(hog)
        connection.close()
        return runs_ms(reader)

    def test_setting(self):
        for value in (0, 1, 10000):
            GRACE.write_text(str(value))
            self.assertEqual(GRACE.read_text(), f"{value}\n")
        for value in (-1, 10001):
            with self.assertRaises(OSError) as raised:
                GRACE.write_text(str(value))
            self.assertEqual(raised.exception.errno, errno.EINVAL)

    @staticmethod
    def read_at_once(connection):
        """Each page of the buffer is a fault; it takes some 30 ms."""
        connection.recv_into(mmap.mmap(-1, SIZE), SIZE, socket.MSG_WAITALL)

    def test_limit(self):
        """It runs on once for so long, and not again with that socket owned."""
        plain = self.read(0, self.read_at_once)
        self.assertLess(plain[0], SLICE_MS)
        for grace_us in (2000, 8000):
            runs = self.read(grace_us, self.read_at_once)
            self.assertGreater(runs[0], grace_us / 1000)
            self.assertLess(runs[0], grace_us / 1000 + SLICE_MS)
            self.assertLess(runs[1], SLICE_MS)

    def test_debt(self):
        """The other one gets as much of the CPU as without."""
        def shares(grace_us):
            GRACE.write_text(str(grace_us))
            connection, hog = Connection(), fork(compute)
            began = guest.ran_ns(Path(f"/proc/{hog}"))
            reader = fork(lambda: (self.read_at_once(connection.socket),
                                   compute()))
            time.sleep(0.3)
            ran = [guest.ran_ns(Path(f"/proc/{pid}")) for pid in (hog, reader)]
            end(hog, reader)
            connection.close()
            return (ran[0] - began) / ran[1]

        self.assertGreater(shares(10000), 0.97 * shares(0))

    def test_gives_way_when_released(self):
        def read(connection):
            for _ in range(20):
                connection.recv(SIZE // 20, socket.MSG_WAITALL)
                compute_for(0.01)

        self.assertLess(self.read(10000, read)[0],
                        self.read(0, read)[0] + SLICE_MS)

    def test_child(self):
        """What a reader forks has no grace."""
        noted = Path("/tmp/child")

        def read(connection):
            connection.recv(SIZE, socket.MSG_WAITALL)
            child = fork(lambda: compute_for(0.1))
            noted.write_text(str(child))
            os.waitpid(child, 0)

        self.read(10000, read)
        self.assertLess(runs_ms(int(noted.read_text()))[0], SLICE_MS)

    def test_asleep(self):
        """Who waits for data that do not come keeps nobody from the CPU."""
        GRACE.write_text("10000")
        connection, hog = Connection(0), fork(compute)
        reader = fork(lambda: connection.socket.recv(
            SIZE, socket.MSG_WAITALL))
        began = guest.ran_ns(Path(f"/proc/{hog}"))
        for _ in range(50):
            connection.client.send(bytes(1000))
            time.sleep(0.01)
        self.assertGreater(guest.ran_ns(Path(f"/proc/{hog}")) - began,
                           0.95 * 0.5e9)
        end(hog, reader)
        connection.close()

    def test_killed_and_stopped(self):
        GRACE.write_text("10000")
        for _ in range(20):
            connection, hog = Connection(SIZE // 4), fork(compute)
            reader = fork(lambda end=connection.socket: end.recv(
                SIZE, socket.MSG_WAITALL))
            time.sleep(0.005)
            os.kill(reader, signal.SIGSTOP)
            time.sleep(0.005)
            os.kill(reader, signal.SIGCONT)
            time.sleep(0.005)
            end(hog, reader)
            connection.close()

    def late_us(self, grace_us):
        """How late a real-time task runs that wakes beside a reader."""
        GRACE.write_text(str(grace_us))
        late = []
        hogs = [fork(compute) for _ in range(3)]
        with Transfer():
            real_time(50)
            due = time.monotonic()
            for _ in range(1000):
                due += 0.001
                time.sleep(max(0, due - time.monotonic()))
                late.append(1e6 * (time.monotonic() - due))
            real_time(0)
            end(*hogs)
        return sorted(late)

    def test_real_time_comes_first(self):
        without, late = self.late_us(0), self.late_us(10000)
        self.assertLess(late[990], without[990] + 50)
        self.assertLess(late[-1], without[-1] + 500)

    def test_changes_under_load(self):
        hogs = [fork(compute) for _ in range(3)]
        with Transfer() as transfer:
            for n in range(1000):
                GRACE.write_text(str(n * 7919 % 10001 * (n % 2)))
                time.sleep(0.001)
            transfer.wait_for(1 << 20)
            end(*hogs)
        self.assertTrue(transfer.sound())


if __name__ == "__main__":
    if not GRACE.exists():
        sys.exit("backlog: this kernel has no CONFIG_SOCK_GRACE")
    unittest.main(verbosity=2)
