#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""backlog.py: readers that run on with a socket, see sock-grace.rst.

One CPU, a reader in rcv, and a program that just computes. What the scheduler does
is seen by its tracepoint. It takes a kernel of the variant preempt; those that look
for faults have test_asleep and test_changes_under_load, with any number of CPUs.
"""

import ctypes
import errno
import fcntl
import mmap
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import sys
import termios
import threading
import time
import traceback
import unittest
from pathlib import Path

import guest
from frames import namespace
from transfer import MORE, Transfer

GRACE = Path("/proc/sys/net/core/sock_grace_usecs")
TRACING = Path("/sys/kernel/tracing")
SWITCHES = TRACING / "events/sched/sched_switch"
PREEMPT = Path("/sys/kernel/debug/sched/preempt")
SIZE = 16 << 20
QUOTA_MS, PERIOD_MS = 2, 20
BEGINS, ENDS = -1.0, -2.0   # among times
SLICE_MS = 4        # no fair task runs for longer beside another one
LIBC = ctypes.CDLL(None, use_errno=True)
PR_SET_TIMERSLACK = 29
PTRACE_ATTACH, PTRACE_DETACH = 16, 17
SCHED_SETATTR, USERFAULTFD = 314, 323
UFFD_API = 0xAA
UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE = 0xC018AA3F, 0xC020AA00, 0xC020AA04
UFFDIO_REGISTER_MODE_MISSING = 1
# when, who left the CPU and who got it, and in which functions
SWITCH = re.compile(r" ([\d.]+): sched_switch: .* prev_pid=(\d+) .* next_pid=(\d+) .*"
                    r"\n(?:.*<stack trace>\n)?((?: => .*\n)*)")
# what calls schedule() or release_sock() last is not there
BY_ITSELF = re.compile(
    r" => schedule\n(?: => (?:__sock_grace_end|release_sock)\n)* => tcp_recvmsg\n")
# as the return of lock_sock_nested() is traced
LOCKED = re.compile(r" => arch_rethook_trampoline\n => (tcp_recvmsg|sk_wait_data)\n")


def compute():
    while True:
        pass


def compute_for(seconds):
    stop = time.process_time() + seconds
    while time.process_time() < stop:
        pass


def wake_often():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    while True:
        time.sleep(0.0005)


def set_slice(ms):
    """Of this process; EEVDF lets one with a shorter one run first."""
    attributes = struct.pack("2IQiI3Q", 48, os.SCHED_OTHER, 0, 0, 0,
                             int(1e6 * ms), 0, 0)
    if LIBC.syscall(SCHED_SETATTR, 0, attributes, 0):
        raise OSError(ctypes.get_errno(), "sched_setattr")


def wake_first():
    """Often, at any time, and ahead of other fair tasks."""
    set_slice(0.1)
    LIBC.prctl(PR_SET_TIMERSLACK, 1)
    while True:
        time.sleep(0.00023)


def ran_s(pid):
    return guest.ran_ns(Path(f"/proc/{pid}")) / 1e9


def trace(on):
    """Each switch, and in which function of the kernel; from now on."""
    if on:
        (TRACING / "trace").write_text("")
    (SWITCHES / "trigger").write_text("stacktrace" if on else "!stacktrace")
    (SWITCHES / "enable").write_text(str(int(on)))


def traced():
    return SWITCH.finditer((TRACING / "trace").read_text())


def spans_ms(pid, away=False, bridged_ms=0):
    """
    How long a task ran each time, or was off the CPU; longest first. Such times with
    less than bridged_ms between them count as one.
    """
    begins, ends = (2, 3) if away else (3, 2)
    spans, began, ended = [], 0, None
    for switch in traced():
        at_ms = float(switch[1]) * 1000
        if int(switch[begins]) == pid:
            if ended is None or at_ms - ended >= bridged_ms:
                spans.append(0)
            began = at_ms
        elif int(switch[ends]) == pid and spans:
            spans[-1] += at_ms - began
            ended = at_ms
    return sorted(spans, reverse=True)


def gave_way(pid):
    """How often a task did so as it released its socket."""
    return sum(int(switch[2]) == pid and bool(BY_ITSELF.search(switch[4]))
               for switch in traced())


def gave_way_locked(pid, other):
    """Where a task had just got its socket as it gave way to another one."""
    return {locked[1] for switch in traced()
            if (int(switch[2]), int(switch[3])) == (pid, other)
            and (locked := LOCKED.search(switch[4]))}


def read_often(connection):
    for _ in range(5000):
        connection.recv(1, socket.MSG_PEEK)


def send_often(client, size):
    """What is read with it comes, byte by byte."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
    client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(size):
        client.send(b"1")
        time.sleep(0.00004)


def read_at_once(connection):
    """Each page of the buffer is a fault; it takes some 30 ms."""
    connection.recv_into(mmap.mmap(-1, SIZE), SIZE, socket.MSG_WAITALL)


def read_slowly(connection, pages, page_s):
    """Each page of the buffer comes later, and the reader sleeps until then."""
    memory = mmap.mmap(-1, pages * mmap.PAGESIZE, mmap.MAP_PRIVATE)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    faults = LIBC.syscall(USERFAULTFD, os.O_CLOEXEC)
    fcntl.ioctl(faults, UFFDIO_API, struct.pack("3Q", UFFD_API, 0, 0))
    fcntl.ioctl(faults, UFFDIO_REGISTER, struct.pack(
        "4Q", begin, len(memory), UFFDIO_REGISTER_MODE_MISSING, 0))

    def serve():
        try:
            for _ in range(pages):
                page = struct.unpack("4Q", os.read(faults, 32))[2]
                time.sleep(page_s)
                fcntl.ioctl(faults, UFFDIO_ZEROPAGE, struct.pack(
                    "4Q", page & -mmap.PAGESIZE, mmap.PAGESIZE, 0, 0))
        except OSError:     # a fault twice: the reader did not wait
            traceback.print_exc()
            os._exit(1)

    server = threading.Thread(target=serve)
    server.start()
    connection.recv_into(memory, len(memory), socket.MSG_WAITALL)
    server.join()


class Backlog(unittest.TestCase):
    def setUp(self):
        GRACE.write_text("0")
        if PREEMPT.exists():
            PREEMPT.write_text("full")
        (TRACING / "buffer_size_kb").write_text("16384")
        self.addCleanup(trace, False)
        self.addCleanup(GRACE.write_text, "0")

    def be_real_time(self):
        """In this test; what it forks is not."""
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK,
                              os.sched_param(60))
        self.addCleanup(os.sched_setscheduler, 0, os.SCHED_OTHER,
                        os.sched_param(0))

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

    def read(self, grace_us, run, beside=compute, bridged_ms=0):
        """The runs of a reader, and for how long the one beside it was away."""
        connection, _ = self.connect()
        GRACE.write_text(str(grace_us))
        hog = self.fork(beside)
        trace(True)
        reader = self.fork(run, connection)
        self.wait(reader)
        trace(False)
        self.end(hog)
        self.gave_way = gave_way(reader)
        return spans_ms(reader, False, bridged_ms), spans_ms(hog, away=True)

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
        # a kernel has one of the first two
        there = PREEMPT.read_text()
        modes = [mode for mode in ("voluntary", "lazy", "full") if mode in there]
        self.assertEqual(len(modes), 2)
        for mode in modes:
            PREEMPT.write_text(mode)
            self.assertLess(self.read(0, read_at_once)[0][0], SLICE_MS)
            for grace_us in (2000, 8000):
                runs, _ = self.read(grace_us, read_at_once)
                self.assertGreater(runs[0], grace_us / 1000)
                self.assertLess(runs[0], grace_us / 1000 + SLICE_MS)
                self.assertLess(runs[1], SLICE_MS)

    def test_quota(self):
        """
        It is throttled later, and for longer then: it owes what it ran on for. A
        real-time task that wakes now and then makes no difference.
        """
        if " throttle_cfs_rq_work\n" in Path("/proc/kallsyms").read_text():
            self.skipTest("a quota takes the CPU only in user space here")
        group = guest.make_cgroup(QUOTA_MS, PERIOD_MS)
        self.addCleanup(subprocess.run, ["umount", "-l", group.parent], check=True)
        self.addCleanup(group.rmdir)

        def read(connection):
            (group / "cgroup.procs").write_text(str(os.getpid()))
            read_at_once(connection)
            compute_for(0.05)

        def run(grace_us):
            began = time.monotonic()
            runs, _ = self.read(grace_us, read, beside=wake_often, bridged_ms=5)
            return runs[0], time.monotonic() - began

        longest_ms, took_s = run(0)
        # in two periods, one behind the other
        self.assertLess(longest_ms, 2 * QUOTA_MS + SLICE_MS)
        longest_ms, in_all_s = run(10000)
        self.assertGreater(longest_ms, 10)
        self.assertGreater(in_all_s, 0.95 * took_s)

    def test_debt(self):
        """Who is taken out of the run queue after that gets no more of the CPU."""
        def read(connection):
            for _ in range(2):
                connection.recv(SIZE // 2, socket.MSG_WAITALL)
            compute()

        def others_share(grace_us):
            connection, _ = self.connect()
            GRACE.write_text(str(grace_us))
            hog = self.fork(compute)
            began = ran_s(hog)
            reader = self.fork(read, connection)
            for n in range(20):
                time.sleep(0.008)
                os.setpriority(os.PRIO_PROCESS, reader, n % 2)
            share = (ran_s(hog) - began) / ran_s(reader)
            self.end(hog, reader)
            return share

        self.be_real_time()
        without = others_share(0)
        self.assertGreater(others_share(10000), 0.95 * without)

    def test_gives_way_when_released(self):
        def read(connection):
            for _ in range(20):
                connection.recv(SIZE // 20, socket.MSG_WAITALL)
                compute_for(0.01)

        without, _ = self.read(0, read)
        self.assertEqual(self.gave_way, 0)
        runs, _ = self.read(10000, read)
        self.assertLess(runs[0], without[0] + SLICE_MS)
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
        runs = spans_ms(int(noted.read_text()))
        self.assertGreater(len(runs), 20)
        self.assertLess(runs[0], SLICE_MS)

    def test_asleep(self):
        """
        Who sleeps with its socket owned keeps nobody from the CPU. With several
        CPUs, the kernel's complaints are what counts.
        """
        pages, page_s = 200, 0.002
        for _ in range(2):
            connection, _ = self.connect(pages * mmap.PAGESIZE)
            GRACE.write_text("10000")
            others = [self.fork(run) for run in (compute, wake_often)]
            began = ran_s(others[0])
            self.wait(self.fork(read_slowly, connection, pages, page_s))
            self.assertGreater(ran_s(others[0]) - began, 0.7 * pages * page_s)
            self.end(*others)

    def stopped(self, stop, go_on):
        """
        A reader is stopped at any time, and killed: the other one has the CPU
        then, and the next reader finds all as it should be.
        """
        self.be_real_time()
        GRACE.write_text("10000")
        longest_ms = 0
        trace(True)
        for n in range(10):
            connection, _ = self.connect(SIZE // 2)
            hog = self.fork(compute)
            reader = self.fork(read_at_once, connection)
            time.sleep(0.002 + 0.001 * n)
            longest_ms = max(longest_ms, *spans_ms(reader), 0)
            stop(reader)
            os.waitpid(reader, os.WUNTRACED)
            began = ran_s(hog)
            time.sleep(0.02)
            self.assertGreater(ran_s(hog) - began, 0.95 * 0.02)
            go_on(reader)
            self.end(hog, reader)
        trace(False)
        self.assertGreater(longest_ms, SLICE_MS)
        runs, _ = self.read(2000, read_at_once)
        self.assertGreater(runs[0], 2)

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

    def test_goes_on_after_real_time(self):
        """Whoever else is eligible then; without grace, that is the other one."""
        self.fork(wake_often)
        _, away = self.read(0, read_at_once)
        self.assertLess(away[0], SLICE_MS + 1)
        _, away = self.read(8000, read_at_once)
        self.assertGreater(away[0], 8)

    def test_has_it_with_the_lock(self):
        """
        It may be preempted as soon as it has its socket. Tracing that makes it
        take long enough here.
        """
        events = TRACING / "dynamic_events"
        events.write_text("r:locked lock_sock_nested")
        self.addCleanup(events.write_text, "")
        slow = TRACING / "instances/slow"
        slow.mkdir()
        self.addCleanup(slow.rmdir)
        locked = slow / "events/kprobes/locked"
        (locked / "trigger").write_text("stacktrace")
        (locked / "enable").write_text("1")

        def where(grace_us, read, bytes_later=0):
            connection, client = self.connect(SIZE // 1024)
            GRACE.write_text(str(grace_us))
            other = self.fork(wake_first)
            trace(True)
            reader = self.fork(read, connection)
            self.fork(send_often, client, bytes_later)
            self.wait(reader)
            trace(False)
            self.end(other)
            return gave_way_locked(reader, other)

        def read_all(connection):
            connection.recv(SIZE // 1024 + 6000, socket.MSG_WAITALL)

        self.assertEqual(where(0, read_often), {"tcp_recvmsg"})
        self.assertEqual(where(10000, read_often), set())
        if "lazy" in PREEMPT.read_text():   # in 6.12 it does not come to that
            self.assertEqual(where(0, read_all, 6000), {"sk_wait_data"})
        self.assertEqual(where(10000, read_all, 6000), set())

    def late_us(self, grace_us):
        """The median of how late a real-time task runs, beside a reader and a hog."""
        def note(us):
            os.write(ends[1], struct.pack("d", us))

        def wake():
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
            while True:
                due = time.monotonic() + 0.0007
                time.sleep(0.0007)
                note(1e6 * (time.monotonic() - due))

        def compute_little():
            os.nice(19)
            compute()

        def read(connection):       # each time some 5 ms, without faults
            buffer = bytearray(SIZE // 4)
            note(BEGINS)
            for _ in range(40):
                connection.recv_into(buffer, 0, socket.MSG_PEEK)
            note(ENDS)

        ends = os.pipe()
        os.set_blocking(ends[0], False)
        for end in ends:
            self.addCleanup(os.close, end)
        hog = self.fork(compute_little)
        self.read(grace_us, read, wake)
        self.end(hog)
        late = [us for us, in struct.iter_unpack("d", os.read(ends[0], 1 << 16))]
        late = late[late.index(BEGINS) + 1:late.index(ENDS)]
        self.assertGreater(len(late), 40)
        return statistics.median(late)

    def test_real_time_comes_first(self):
        without, late = self.late_us(0), self.late_us(10000)
        self.assertLess(late, without + 100)

    def test_changes_under_load(self):
        hogs = [self.fork(compute) for _ in range(3)]
        with Transfer() as transfer:
            for n in range(1000):
                GRACE.write_text(str(n * 7919 % 10001 * (n % 2)))
                time.sleep(0.001)
            transfer.wait_for(MORE)
            self.end(*hogs)
        self.assertTrue(transfer.sound())


if __name__ == "__main__":
    if not GRACE.exists():
        sys.exit("backlog: this kernel has no CONFIG_SOCK_GRACE")
    unittest.main(verbosity=2)
