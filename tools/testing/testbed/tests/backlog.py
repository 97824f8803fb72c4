#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""backlog.py: readers that run on with a socket, see sock-grace.rst.

One CPU, a reader in rcv, and a program that just computes. What the scheduler does
is seen by its tracepoint. It takes a kernel of the variant preempt.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import signal
import socket
import struct
import sys
import termios
import time
import traceback
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
LIBC = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_DETACH = 16, 17


def compute():
    while True:
        pass


def compute_for(seconds):
    stop = time.process_time() + seconds
    while time.process_time() < stop:
        pass


def ran_s(pid):
    return guest.ran_ns(Path(f"/proc/{pid}")) / 1e9


def trace(on):
    (TRACING / "events/sched/sched_switch/enable").write_text(str(int(on)))


def switches():
    return [line for line in (TRACING / "trace").read_text().splitlines()
            if "sched_switch" in line and not line.startswith("#")]


def gave_way(pid):
    """How often a task that could run gave way by itself: not R+."""
    return sum(f" prev_pid={pid} " in line and " prev_state=R " in line
               for line in switches())


def runs_ms(pid):
    """How long a task ran each time, longest first."""
    found, began = [], None
    for line in switches():
        stamp = next(word for word in line.split() if word.endswith(":")
                     and word[0].isdigit())
        at_ms = float(stamp.rstrip(":")) * 1000
        if f"next_pid={pid} " in line:
            began = at_ms
        elif f"prev_pid={pid} " in line and began is not None:
            found.append(at_ms - began)
    return sorted(found, reverse=True)


def read_at_once(connection):
    """Each page of the buffer is a fault; it takes some 30 ms."""
    connection.recv_into(mmap.mmap(-1, SIZE), SIZE, socket.MSG_WAITALL)


class Backlog(unittest.TestCase):
    def setUp(self):
        GRACE.write_text("0")
        PREEMPT.write_text("full")
        (TRACING / "trace").write_text("")
        (TRACING / "buffer_size_kb").write_text("16384")
        self.addCleanup(trace, False)
        self.addCleanup(GRACE.write_text, "0")

    def fork(self, run, *args):
        """The process that runs a function, and ends with the test."""
        pid = os.fork()
        if not pid:
            status = 1
            try:
                run(*args)
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        self.addCleanup(self.end, pid)
        return pid

    @staticmethod
    def end(*pids):
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass        # it has ended

    def wait(self, pid):
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)

    def connect(self, size=SIZE, limit_s=30):
        """From snd to rcv: (the reader's end, the other one). The data are there."""
        with namespace("rcv"):
            server = socket.create_server((guest.RCV_V4, 7100))
            server.setsockopt(socket.SOL_SOCKET, 33, 4 * SIZE)  # RCVBUFFORCE
        with namespace("snd"):
            client = socket.create_connection((guest.RCV_V4, 7100), limit_s)
        reader, _ = server.accept()
        server.close()
        for end in reader, client:
            self.addCleanup(end.close)
        client.sendall(bytes(size))
        stop = time.monotonic() + limit_s
        while struct.unpack("i", fcntl.ioctl(reader, termios.FIONREAD,
                                             bytes(4)))[0] < size:
            self.assertLess(time.monotonic(), stop)
            time.sleep(0.01)
        return reader, client

    def read(self, grace_us, run):
        """The runs of a reader beside one that computes."""
        connection, _ = self.connect()
        GRACE.write_text(str(grace_us))
        hog = self.fork(compute)
        trace(True)
        reader = self.fork(run, connection)
        self.wait(reader)
        trace(False)
        self.end(hog)
        self.gave_way = gave_way(reader)
        return runs_ms(reader)

    def test_setting(self):
        for value in (0, 1, 10000):
            GRACE.write_text(str(value))
            self.assertEqual(GRACE.read_text(), f"{value}\n")
        for value in (-1, 10001):
            with self.assertRaises(OSError) as raised:
                GRACE.write_text(str(value))
            self.assertEqual(raised.exception.errno, errno.EINVAL)

    def test_limit(self):
        """It runs on once for so long, and not again with that socket owned."""
        self.assertLess(self.read(0, read_at_once)[0], SLICE_MS)
        for grace_us in (2000, 8000):
            runs = self.read(grace_us, read_at_once)
            self.assertGreater(runs[0], grace_us / 1000)
            self.assertLess(runs[0], grace_us / 1000 + SLICE_MS)
            self.assertLess(runs[1], SLICE_MS)

    def test_debt(self):
        """Who leaves the run queue after each read gets no more of the CPU."""
        def read(connection):
            for _ in range(8):
                connection.recv(SIZE // 8, socket.MSG_WAITALL)
                os.nice(1)
                os.setpriority(os.PRIO_PROCESS, 0, 0)
            compute()

        def others_share(grace_us):
            connection, _ = self.connect()
            GRACE.write_text(str(grace_us))
            hog = self.fork(compute)
            began = ran_s(hog)
            reader = self.fork(read, connection)
            time.sleep(0.3)
            share = (ran_s(hog) - began) / ran_s(reader)
            self.end(hog, reader)
            return share

        without = others_share(0)
        self.assertGreater(others_share(10000), 0.95 * without)

    def test_gives_way_when_released(self):
        def read(connection):
            for _ in range(20):
                connection.recv(SIZE // 20, socket.MSG_WAITALL)
                compute_for(0.01)

        without = self.read(0, read)
        self.assertEqual(self.gave_way, 0)
        self.assertLess(self.read(10000, read)[0], without[0] + SLICE_MS)
        self.assertGreater(self.gave_way, 0)

    def test_child(self):
        """What a reader forks has no grace; it has not begun its own."""
        connection, _ = self.connect(SIZE // 64)
        GRACE.write_text("10000")

        def read():
            connection.recv(SIZE // 64, socket.MSG_WAITALL)
            children = [self.fork(compute_for, 0.1) for _ in range(2)]
            noted.write_text(str(children[0]))
            for child in children:
                self.wait(child)

        noted = Path("/tmp/child")
        trace(True)
        self.wait(self.fork(read))
        trace(False)
        runs = runs_ms(int(noted.read_text()))
        self.assertGreater(len(runs), 20)
        self.assertLess(runs[0], SLICE_MS)

    def test_asleep(self):
        """Who waits for data that do not come keeps nobody from the CPU."""
        connection, client = self.connect(0)
        GRACE.write_text("10000")
        hog = self.fork(compute)
        reader = self.fork(connection.recv, SIZE, socket.MSG_WAITALL)
        began = ran_s(hog)
        for _ in range(50):
            client.send(bytes(1000))
            time.sleep(0.01)
        self.assertGreater(ran_s(hog) - began, 0.95 * 0.5)
        self.assertEqual(os.waitpid(reader, os.WNOHANG), (0, 0))

    def stopped(self, stop, go_on):
        """
        A reader is stopped at any time, and killed: the other one has the CPU
        then, and the next reader finds all as it should be.
        """
        GRACE.write_text("10000")
        for n in range(10):
            connection, _ = self.connect(SIZE // 2)
            hog = self.fork(compute)
            reader = self.fork(connection.recv, SIZE // 2, socket.MSG_WAITALL)
            time.sleep(0.002 + 0.0007 * n)
            stop(reader)
            os.waitpid(reader, os.WUNTRACED)
            began = ran_s(hog)
            time.sleep(0.02)
            self.assertGreater(ran_s(hog) - began, 0.95 * 0.02)
            go_on(reader)
            self.end(hog, reader)
        self.assertGreater(self.read(2000, read_at_once)[0], 2)

    def test_killed(self):
        self.stopped(lambda pid: os.kill(pid, signal.SIGKILL), lambda pid: None)

    def test_stopped(self):
        self.stopped(lambda pid: os.kill(pid, signal.SIGSTOP),
                     lambda pid: os.kill(pid, signal.SIGCONT))

    def test_debugged(self):
        def ptrace(what, pid):
            self.assertEqual(LIBC.ptrace(what, pid, 0, 0), 0)

        self.stopped(lambda pid: ptrace(PTRACE_ATTACH, pid),
                     lambda pid: ptrace(PTRACE_DETACH, pid))

    def late_us(self, grace_us):
        """How late a real-time task runs that wakes beside a reader."""
        def sleep():
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
            late, due = [], time.monotonic()
            for _ in range(1000):
                due += 0.001
                time.sleep(max(0, due - time.monotonic()))
                late.append(1e6 * (time.monotonic() - due))
            os.write(ends[1], struct.pack("1000d", *late))

        GRACE.write_text(str(grace_us))
        ends = os.pipe()
        hogs = [self.fork(compute) for _ in range(3)]
        with Transfer():
            self.wait(self.fork(sleep))
            self.end(*hogs)
        late = struct.unpack("1000d", os.read(ends[0], 8000))
        for end in ends:
            os.close(end)
        return sorted(late)

    def test_real_time_comes_first(self):
        without, late = self.late_us(0), self.late_us(10000)
        self.assertLess(late[990], without[990] + 50)
        self.assertLess(late[-1], without[-1] + 500)

    def test_changes_under_load(self):
        hogs = [self.fork(compute) for _ in range(3)]
        with Transfer() as transfer:
            for n in range(1000):
                GRACE.write_text(str(n * 7919 % 10001 * (n % 2)))
                time.sleep(0.001)
            transfer.wait_for(1 << 20)
            self.end(*hogs)
        self.assertTrue(transfer.sound())


if __name__ == "__main__":
    if not GRACE.exists():
        sys.exit("backlog: this kernel has no CONFIG_SOCK_GRACE")
    unittest.main(verbosity=2)
