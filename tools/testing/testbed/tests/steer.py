#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""steer.py order MOVES | steer.py cases | steer.py faults: rxfence on igb.

order: frames arrive ahead of each move and behind it. In order and whole with
rxfence, and not in order without. On two CPUs, each queue has one of its own.

cases: the setting, a queue whose thread does not run, tables that swap queues.

faults: flows move all the time, and what happens to the device meanwhile loses
no byte of a transfer, and has no wait expire. Where the device is not reset, it
loses no frame either.
"""

import os
import sys
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import guest
from faults import make_anew, rcv, topology
from frames import Wire, xdp_pass
from steering import ENTRIES, Table, fence, fence_stats
from transfer import MORE, Transfer, set_path

CYCLE = 512             # frames until their numbers begin anew
PIECE = 8               # so many ahead of a move, and as many behind it
MOVES = CYCLE // (2 * PIECE)    # about which frames of one cycle are sent
TOGGLES = 1000
MOVE_S = 0.005
DEADLINE = Path("/proc/sys/net/rxfence/deadline_usecs")


def spread_interrupts():
    """A CPU for each queue, if there are two."""
    for line in Path("/proc/interrupts").read_text().splitlines():
        number, _, name = line.partition(":")
        for queue in range(2):
            if name.endswith(f"{guest.DUT}-TxRx-{queue}"):
                cpu = queue % os.cpu_count()
                Path(f"/proc/irq/{number.strip()}/smp_affinity_list"
                     ).write_text(f"{cpu}\n")


def number(frame):
    return int.from_bytes(frame[38:42], "big")


class Frames:
    """A flow of numbered frames."""

    def __init__(self):
        self.wire = Wire(guest.RTR_DEV, guest.DUT)
        self.frames = [self.wire.frame(n, 20) for n in range(CYCLE)]
        self.next = 0

    def send(self, count=PIECE):
        """The next ones, at once."""
        self.wire.tx.load(self.frames[self.next:self.next + count])
        self.wire.tx.send()
        self.next = (self.next + count) % CYCLE

    def count(self, sent=CYCLE):
        """(late, lost) of so many frames of one cycle."""
        got = [number(frame) for frame in self.wire.drain(0.02)
               if len(frame) == len(self.frames[0])]
        late = sum(n < max(got[:i], default=0) for i, n in enumerate(got))
        return late, sent - len(got)


def moves(table, frames, count):
    """
    What became of the frames about so many moves, a multiple of MOVES:
    (late, lost).
    """
    late = lost = 0
    for _ in range(count // MOVES):
        for _ in range(MOVES):
            frames.send()
            table.move()
            frames.send()
            time.sleep(0.001)
        found = frames.count()
        late, lost = late + found[0], lost + found[1]
    return late, lost


def allow_for_the_host():
    """
    It may leave one of two CPUs out for longer than the default; a busy one even
    for longer than this, and then waits expire.
    """
    if os.cpu_count() > 1:
        DEADLINE.write_text("100000\n")


def order(count):
    count += -count % MOVES
    allow_for_the_host()
    table, frames = Table(), Frames()
    checks = {}
    for on in False, True:
        fence(on)
        before = fence_stats()
        late, lost = moves(table, frames, count)
        found = guest.difference(before, fence_stats())
        print(f"rxfence {'on' if on else 'off'}: {count} moves, {late} late, "
              f"{lost} lost, {found}", flush=True)
        checks |= {f"frames were lost: {lost}": lost == 0}
        if on:
            checks |= {"frames were late": late == 0,
                       "a wait expired, is the host busy?": "expired" not in found,
                       "no queue waited": found.get("waits", 0) > 0,
                       "not all moved": found.get("moves") == (
                           count * ENTRIES)}
        else:
            checks |= {"nothing was late without": late >= count / 100,
                       "it counts while it is off": not found}
    return guest.report(checks)


def setting():
    """Values outside the bounds are refused."""
    refused = 0
    for value in 9, 100001, -1:
        try:
            DEADLINE.write_text(f"{value}\n")
        except OSError as error:
            refused += error.errno == 22
    good = []
    for value in 10, 100000, 1000:
        DEADLINE.write_text(f"{value}\n")
        good.append(int(DEADLINE.read_text()) == value)
    return refused == 3 and all(good)


def queues_swapped(table):
    """Half of the flows to either queue, and then the other way round."""
    now = [n % 2 for n in range(ENTRIES)]
    table.set(now)
    before = fence_stats()
    for _ in range(2):      # the second one moves nothing
        table.set(now[::-1])
    found = guest.difference(before, fence_stats())
    print(f"swapped: {found}")
    swapped = table.get() == now[::-1]
    table.set([0] * ENTRIES)
    return swapped and found == {"moves": ENTRIES}


def hold_up(thread, seconds):
    """Have a thread not run, though this process sleeps not."""
    os.sched_setscheduler(thread, os.SCHED_IDLE, os.sched_param(0))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def thread_that_does_not_run(table, frames):
    """
    The threads of the queues are told apart by what they do: the one that polls
    while all goes to queue 0 is that queue's.
    """
    guest.sysfs("threaded", 1)
    threads = [int(path.name) for path in guest.napi_threads(guest.DUT)]
    before = {pid: guest.ran_ns(Path(f"/proc/{pid}")) for pid in threads}
    frames.send(CYCLE // 4)
    frames.count()
    threads.sort(key=lambda pid: guest.ran_ns(Path(f"/proc/{pid}"))
                 - before[pid])
    other, old = threads[-2:]
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
    os.sched_setscheduler(other, os.SCHED_FIFO, os.sched_param(20))
    stats = fence_stats()
    frames.send(CYCLE // 4)
    table.move()
    frames.send(CYCLE // 4)
    hold_up(old, 0.02)
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    late, lost = frames.count(CYCLE // 2)
    found = guest.difference(stats, fence_stats())
    print(f"thread that does not run: {late} late, {lost} lost, {found}")
    guest.sysfs("threaded", 0)
    return late and not lost and found.get("waits") == 1 and \
        found.get("expired") == ENTRIES


def cases():
    table = Table()
    fence(True)
    return guest.report({
        "the setting has other bounds": setting(),
        "queues are not swapped": queues_swapped(table),
        "no thread was held up": thread_that_does_not_run(table, Frames())})


@contextmanager
def moving(table):
    """All the time; the device may be down or gone."""
    stop = threading.Event()

    def run():
        while not stop.is_set():
            with suppress(OSError):
                table.move()
            time.sleep(MOVE_S)

    mover = threading.Thread(target=run, daemon=True)
    mover.start()
    try:
        yield
    finally:
        stop.set()
        mover.join()


def set_up():
    rcv(f"ethtool -L {guest.DUT} combined 2")
    rcv(f"ethtool -C {guest.DUT} rx-usecs 300")
    guest.wait_for_link()
    fence(True)


def toggles(frames):
    """How many frames are lost while rxfence goes off and on."""
    lost = 0
    for n in range(TOGGLES):
        fence(n % 2)
        frames.send()
        if not frames.next:
            lost += frames.count()[1]
    return lost + frames.count(frames.next)[1]


def counted(table):
    """
    By numbered frames, as a transfer repairs what is lost. Not while a path
    delays them.
    """
    before = table.moves
    with moving(table):
        toggled = toggles(Frames())
    print(f"toggles: {table.moves - before} tables, {toggled} lost", flush=True)
    link = xdp_pass("rcv", guest.DUT)
    guest.wait_for_link()
    late, lost = moves(table, Frames(), 4 * MOVES)
    os.close(link)
    guest.wait_for_link()
    print(f"XDP attached: {late} late, {lost} lost", flush=True)
    return {f"frames were lost by toggles: {toggled}": toggled == 0,
            "nothing moved: toggles": table.moves > before + 4 * MOVES,
            f"frames were lost with XDP: {lost}": lost == 0,
            "frames were late with XDP": late == 0}


def fewer_queues():
    """Refused while the table names the one that goes, which is half of the time."""
    for _ in range(100):
        with suppress(RuntimeError):
            rcv(f"ethtool -L {guest.DUT} combined 1")
            break
    else:
        raise RuntimeError("ethtool -L was always refused")
    rcv(f"ethtool -L {guest.DUT} combined 2")


FAULTS = {
    "down and up": lambda: (rcv(f"ip link set {guest.DUT} down"),
                            topology("add_receiver")),
    "fewer queues": fewer_queues,
    "ring size": lambda: (rcv(f"ethtool -G {guest.DUT} rx 64"),
                          rcv(f"ethtool -G {guest.DUT} rx 256")),
    "XDP": lambda: os.close(xdp_pass("rcv", guest.DUT)),
    "made anew": lambda: (make_anew(), set_up()),
}


def run_faults():
    allow_for_the_host()
    table = Table()
    checks = counted(table)
    guest.set_sender("RACK")
    set_path(rate_mbit=50, slot_ms=1)
    fence(True)
    with Transfer() as transfer, moving(table):
        for name, strike in FAULTS.items():
            before, moved = fence_stats(), table.moves
            strike()
            transfer.wait_for(MORE)
            # what is made anew counts from 0
            found = guest.difference({} if name == "made anew" else before,
                                     fence_stats())
            print(f"{name}: {table.moves - moved} tables, {found}", flush=True)
            checks |= {f"nothing moved: {name}": table.moves > moved,
                       f"a wait expired, is the host busy? {name}":
                       "expired" not in found}
    checks["bytes differ"] = transfer.sound()
    return guest.report(checks)


def main():
    what, *count = sys.argv[1:]
    rcv(f"ethtool -K {guest.DUT} gro off")
    set_up()
    spread_interrupts()
    good = {"order": lambda: order(*map(int, count)), "cases": cases,
            "faults": run_faults}[what]()
    sys.exit(not good)


if __name__ == "__main__":
    main()
