#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""faults.py [NAME...]: what happens to a device under traffic harms no byte.

Each fault strikes while TCP sends over a path that reorders. Its bytes must
arrive, and in each phase of it, and afterwards, sorting must go on with blocks
that are long enough to matter. On two CPUs in real time; a kernel without
config.faults cannot run all of them.
"""

import argparse
import ctypes
import errno
import os
import random
import re
import socket
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import guest
from device import Device
from frames import Wire, namespace, xdp_pass
from transfer import (
    MORE,
    NIC,
    Transfer,
    blocks,
    coalesce,
    is_on,
    set_path,
    statistics,
)

DUT = guest.DUT
USECS = 10000           # gathers blocks; 7.4 ms, see frames.THROTTLE_US
DELETE_MODULE = 176     # the system call
# A private flag that can be changed; that of QEMU's e1000e is for later NICs.
LEGACY_RX = {"igb": 1}
RING = {"virtio_net": 256}.get(NIC, 4096)       # descriptors, at most
NICS = "igb", "e1000e", "virtio_net"
FAULTS = {}             # {name: (function, the devices, files that it needs)}
SUMS = Counter()
CHANCE = random.Random()

# What not every kernel has
MODULE = Path("/sys/module/srpic/initstate")
FAILSLAB = Path("/sys/kernel/debug/failslab")
FAIL_PAGE_ALLOC = Path("/sys/kernel/debug/fail_page_alloc")
NETCONSOLE = Path("/sys/kernel/config/netconsole")
PM_TEST = Path("/sys/power/pm_test")


def fault(*needs, nics=NICS):
    """
    A test of a transfer, for these devices. What it gives to undo, an
    ExitStack, is done at its end, whichever way it ends.
    """
    def add(function):
        FAULTS[function.__name__] = function, nics, needs
        return function
    return add


class Traffic(Transfer):
    """A transfer that is to be sorted."""

    def must_be_sorted(self, phase, before=None):
        """From now on, or since statistics were before, in long blocks."""
        if before is None:
            self.wait_for(MORE)     # what was lost, in short blocks
            before = statistics()
            self.wait_for(MORE)
        taken, late, mean = blocks(before)
        print(f"  {phase}: {taken} packets taken, {late} out of order, "
              f"mean block {mean:.1f}", flush=True)
        assert late >= 20 and mean > 4, f"{phase}: too little was sorted"


def rcv(command):
    return guest.ns("rcv", command)


def sh(*command):
    """Run a command, in no namespace."""
    subprocess.run(command, check=True)


def set_up_device():
    """What a device does not keep when it is made anew."""
    coalesce(USECS)
    guest.switch(True)


def topology(command):
    """Run shell commands that may use the functions of topology.sh."""
    sh("bash", "-ec", f". /testbed/topology.sh; {command}")


@fault()
def down_and_up(transfer, undo):
    for _ in range(3):
        rcv(f"ip link set {DUT} down")
        topology("add_receiver")
        transfer.must_be_sorted("up again")


def setting(name, command, *values, nics=NICS):
    """A fault: a command with each of these values; the last one undoes them."""
    def run(transfer, undo):
        undo.callback(rcv, command.format(values[-1]))
        for value in values[:-1]:
            rcv(command.format(value))
            transfer.must_be_sorted(f"{name} {value}")

    FAULTS[name] = run, nics, ()


setting("ring_size", f"ethtool -G {DUT} rx {{}}", 64, RING, 64, 256)
setting("channels", f"ethtool -L {DUT} combined {{}}", 1, 2, 1, 2, nics=["igb"])
setting("legacy_rx", f"ethtool --set-priv-flags {DUT} legacy-rx {{}}", "on", "off",
        "off", nics=["igb"])
setting("mtu", f"ip link set {DUT} mtu {{}}", 9000, 1400, 1500)
setting("threaded_napi", f"sh -c 'echo {{}} > /sys/class/net/{DUT}/threaded'", 1, 0, 1,
        0)


@fault(nics=["igb", "e1000e"])
def coalescing(transfer, undo):
    was = re.search(r"^rx-usecs:\s+(\d+)$", rcv(f"ethtool -c {DUT}"),
                    re.MULTILINE)[1]
    undo.callback(rcv, f"ethtool -C {DUT} rx-usecs {was}")
    for usecs in 100, 0, 3, 5000:
        rcv(f"ethtool -C {DUT} rx-usecs {usecs}")
        transfer.must_be_sorted(f"rx-usecs {usecs}")


@fault()
def xdp(transfer, undo):
    for _ in range(2):
        with ExitStack() as attached:
            attached.callback(os.close, xdp_pass("rcv", DUT))
            transfer.must_be_sorted("XDP attached")
        transfer.must_be_sorted("XDP detached")


@fault()
def busy_polling(transfer, undo):
    """Another connection polls the device, its interrupts deferred."""
    before = guest.counters("rcv")
    busy_read = Path("/proc/sys/net/core/busy_read")    # of all namespaces
    undo.callback(busy_read.write_text, "0")
    busy_read.write_text("200000")
    for path, value in (("napi_defer_hard_irqs", 2),
                        ("gro_flush_timeout", 50000000)):
        was = rcv(f"cat /sys/class/net/{DUT}/{path}").strip()
        undo.callback(guest.sysfs, path, was)
        guest.sysfs(path, value)
    with Transfer(port=7001) as polling:
        transfer.must_be_sorted("busy polling")
        polling.wait_for(MORE)
    polled = guest.difference(before, guest.counters("rcv")).get(
        "TcpExtBusyPollRxPackets", 0)
    print(f"  {polled} packets by busy polling")
    assert polled and polling.sound()


@fault()
def settings(transfer, undo):
    undo.callback(guest.sysctl, "rcv", {"net.srpic.block_size": 32,
                                        "net.srpic.full_flush_pkts": 0,
                                        "net.srpic.hold_usecs": 0})
    before = statistics()
    for _ in range(40):
        guest.sysctl("rcv", {
            "net.srpic.block_size": CHANCE.choice((CHANCE.randint(1, 128),
                                                   65536)),
            "net.srpic.full_flush_pkts": CHANCE.choice((0, 16, 300, 65536)),
            "net.srpic.hold_usecs": CHANCE.choice((0, 1, 2000, 100000))})
        time.sleep(0.02)
    transfer.must_be_sorted("40 settings", before)


def end_of_away():
    """Its device goes to the first namespace."""
    if Path("/run/netns/away").exists():
        sh("ip", "netns", "del", "away")
        topology(f"wait_for test -e /sys/class/net/{DUT}")
        sh("ip", "link", "set", DUT, "netns", "rcv")
        topology("add_receiver")


@fault()
def other_namespace(transfer, undo):
    """There and back, by a move and by the end of the other namespace."""
    undo.callback(end_of_away)
    for ended in False, True:
        sh("ip", "netns", "add", "away")
        rcv(f"ip link set {DUT} netns away")
        # what is sent again meanwhile is sorted by the settings of away
        guest.ns("away", f"ip link set {DUT} up")
        time.sleep(1)
        if ended:
            end_of_away()
        else:
            guest.ns("away", f"ip link set {DUT} netns rcv")
            sh("ip", "netns", "del", "away")
            topology("add_receiver")
        transfer.must_be_sorted("after its end" if ended else "after a move")


def make_anew():
    """The PCI device goes, and a rescan finds it."""
    device = Path(rcv(f"readlink -f /sys/class/net/{DUT}/device").strip())
    if NIC == "virtio_net":
        device = device.parent
    (device / "remove").write_text("1")
    assert not device.exists()
    Path("/sys/bus/pci/rescan").write_text("1")
    topology(f"ip link set $(nic 02) name {DUT} netns rcv; add_receiver")


@fault()
def removed_and_found(transfer, undo):
    make_anew()
    transfer.wait_for(MORE)
    set_up_device()
    transfer.must_be_sorted("found")


@fault(MODULE)
def library_in_use(transfer, undo):
    # modprobe would not even ask the kernel
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.syscall(DELETE_MODULE, b"srpic", os.O_NONBLOCK) == -1
    assert ctypes.get_errno() == errno.EWOULDBLOCK, ctypes.get_errno()
    transfer.must_be_sorted("still there")


def symbols(pattern):
    """The addresses of those whose line in kallsyms has this, in order."""
    return sorted(int(line.split()[0], 16)
                  for line in Path("/proc/kallsyms").open()
                  if re.search(pattern, line))


def fail_below(injector, first, last, tasks):
    """Have allocations fail below code from here to there."""
    # the probability comes last: until then, it is 0
    for name, value in {
            "verbose": 0, "task-filter": tasks, "interval": 1, "times": -1,
            "stacktrace-depth": 32, "require-start": first,
            "require-end": last, "ignore-gfp-wait": "N",
            "probability": 100}.items():
        (injector / name).write_text(f"{value}")


@contextmanager
def no_memory_for_library():
    """
    Allocations of this process below a function of the library fail. The
    allocator's complaints of that are not for the console.
    """
    code = symbols(r" [tT] \S+\t\[srpic\]$")
    printk = Path("/proc/sys/kernel/printk")
    levels = printk.read_text()
    injectors = FAILSLAB, FAIL_PAGE_ALLOC
    (FAIL_PAGE_ALLOC / "min-order").write_text("0")
    for path in injectors:
        fail_below(path, code[0], code[-1] + 4096, tasks="Y")
    me = Path("/proc/self/make-it-fail")
    try:
        printk.write_text("4")
        me.write_text("1")
        yield
    finally:
        me.write_text("0")
        printk.write_text(levels)
        for path in injectors:
            (path / "probability").write_text("0")


@fault(MODULE, FAILSLAB, FAIL_PAGE_ALLOC)
def no_memory(transfer, undo):
    """
    Without memory, switching on fails and changes nothing, no other flag
    that is to be changed with it either; a queue that is made anew is not
    sorted; and switching on again sorts.
    """
    device = Device()

    if NIC != "igb":        # its queues stay, with the memory that they have
        make_anew()
        coalesce(USECS)
    else:
        undo.callback(rcv, f"ethtool -L {DUT} combined 2")
        with no_memory_for_library():
            rcv(f"ethtool -L {DUT} combined 1")
        time.sleep(0.1)
        before = statistics()
        transfer.wait_for(MORE)
        assert blocks(before)[0] == 0

    device.switch(False)
    before = statistics()
    for other in {0, LEGACY_RX.get(NIC, 0)}:
        failed = None
        with no_memory_for_library():
            try:
                device.set_flags(device.private_flags[True] ^ other)
            except OSError as error:
                failed = error.errno
        assert failed == errno.ENOMEM, "switched on without memory"
        assert device.flags() == device.private_flags[False]
    transfer.wait_for(MORE)
    assert blocks(before)[0] == 0

    device.switch(True)
    transfer.must_be_sorted("memory again")


@fault(NETCONSOLE)
def netconsole(transfer, undo):
    """The kernel's log leaves by the device."""
    with namespace("rtr"):
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("10.0.2.1", 6666))
    listener.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)     # RCVBUFFORCE
    undo.callback(listener.close)
    target = NETCONSOLE / "dut"
    target.mkdir()
    undo.callback(target.rmdir)     # disables it as well
    with namespace("rcv"):
        for name, value in {
                "dev_name": DUT, "remote_ip": "10.0.2.1",
                "local_ip": guest.RCV_V4, "remote_mac": "52:54:00:00:00:01",
                "enabled": 1}.items():
            (target / name).write_text(f"{value}")
    devkmsg = Path("/proc/sys/kernel/printk_devkmsg")
    undo.callback(devkmsg.write_text, devkmsg.read_text())
    devkmsg.write_text("on\n")
    before, goal = statistics(), transfer.arrived + MORE
    heard = lines = 0
    with open("/dev/kmsg", "w") as log:
        while lines < 100 or transfer.arrived < goal:
            log.write(f"<3>netconsole line {lines}\n")
            log.flush()
            lines += 1
            time.sleep(0.002)
    transfer.must_be_sorted("netconsole sends", before)
    listener.setblocking(False)
    with suppress(BlockingIOError):
        while listener.recv(2048):
            heard += 1
    print(f"  {heard} of {lines} lines heard")
    assert heard > lines / 2


@fault()
def exhausted_budget(transfer, undo):
    """Polls that use up their budget of 64 packets, and are polled again."""
    tracing = Path("/sys/kernel/tracing")
    event = tracing / "events/napi/napi_poll/enable"
    undo.callback(set_path)
    set_path(slot_ms=1000)
    wire = Wire(guest.RTR_DEV, DUT)     # waits for silence
    undo.callback(wire.close)
    wire.tx.load([wire.frame(100 * number, 100)
                  for number in random.Random(1).sample(range(200), 200)])
    (tracing / "trace").write_text("")
    undo.callback(event.write_text, "0")
    event.write_text("1")
    before = statistics()
    for _ in range(3):
        wire.tx.send()
        transfer.wait_for(1)
    time.sleep(1)
    transfer.must_be_sorted("exhausted budgets", before)
    polls = (tracing / "trace").read_text()
    exhausted = len(re.findall(rf"device {DUT} work 64\b", polls))
    print(f"  {exhausted} polls used up their budget")
    assert exhausted >= 3


@fault(PM_TEST)
def suspend(transfer, undo):
    """As far as the devices, and back."""
    undo.callback(PM_TEST.write_text, "none")
    PM_TEST.write_text("devices")
    Path("/sys/power/state").write_text("freeze")
    transfer.must_be_sorted("resumed")


def strike(name):
    """One fault; (bytes that arrived, complaints)."""
    function, *_ = FAULTS[name]
    transfer, complaints = Traffic(), []
    try:
        set_path()
        set_up_device()
        with transfer:
            transfer.wait_for(MORE)
            with ExitStack() as undo:
                function(transfer, undo)
            transfer.must_be_sorted("afterwards")
        if not is_on():
            complaints.append("the flag went off")
    except (AssertionError, RuntimeError, OSError,
            subprocess.SubprocessError) as error:
        # where it is stuck
        for name, dev in (("rtr", guest.RTR_DEV), ("rcv", DUT)):
            print(guest.ns(name, f"ip -s link show {dev}", check=False))
        while error:        # also what failed before it was not undone
            complaints.append(f"{type(error).__name__}: {error}")
            error = error.__context__
    if not transfer.sound():
        complaints.append(f"bytes differ: {transfer.sent} was sent, "
                          f"{transfer.received} arrived")
    return transfer.arrived, complaints


def run(name, may_skip):
    """One fault; SUMS has what became of it."""
    start = time.monotonic()
    _, nics, needs = FAULTS[name]
    if NIC not in nics:
        print(f"skip {name}: {NIC} cannot", flush=True)
        SUMS["skipped"] += 1
        return
    absent = [path for path in needs if not path.exists()]
    if absent:
        print(f"skip {name}: there is no {absent[0]}", flush=True)
        if name not in may_skip:
            print("  not ok: this kernel must be able to run it")
            SUMS["failed"] += 1
        SUMS["skipped"] += 1
        return
    size, complaints = strike(name)
    print(f"{'not ok' if complaints else 'ok'} {name}: {size} bytes, "
          f"{time.monotonic() - start:.0f} s", flush=True)
    for complaint in complaints:
        print(f"  {complaint}", flush=True)
    SUMS["ran"] += 1
    SUMS["failed" if complaints else "harmless"] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--may-skip", nargs="+", default=[], metavar="NAME",
                        help="what this kernel need not be able to run")
    args = parser.parse_args()
    CHANCE.seed(args.seed)
    if Path("/sys/kernel/config").exists():
        sh("mount", "-t", "configfs", "configfs", "/sys/kernel/config")
    guest.set_sender("RACK")
    set_path()
    for name in args.names or FAULTS:
        run(name, args.may_skip)
    print(f"{SUMS['harmless']} of {SUMS['ran']} faults harmed nothing, "
          f"{SUMS['skipped']} skipped")
    sys.exit(bool(SUMS["failed"]))


if __name__ == "__main__":
    main()
