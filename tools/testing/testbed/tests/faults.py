#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""faults.py [NAME...]: what happens to a device under traffic harms no byte.

Each fault strikes while TCP sends over a path that reorders. Its bytes must
arrive, sorting must have gone on with blocks that are long enough to matter,
and traffic must flow afterwards. For a kernel with config.faults, on two
CPUs in real time.
"""

import errno
import os
import random
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from pathlib import Path

import guest
from device import Device
from frames import Wire, namespace, xdp_pass
from transfer import Transfer, blocks

DUT = guest.DUT
MORE = 300_000          # bytes that prove that traffic flows
TOGGLES = 1000
FAULTS = {}


def fault(function):
    """A test; true if the device is a new one afterwards."""
    FAULTS[function.__name__] = function
    return function


def rcv(command, **kwargs):
    return guest.ns("rcv", command, **kwargs)


def sysfs(path, value):
    """Write to a file below the device, as its namespace sees it."""
    rcv(["sh", "-c", f"echo {value} > /sys/class/net/{DUT}/{path}"])


def sh(*command):
    """Run a command, in no namespace."""
    done = subprocess.run(command, check=False, capture_output=True,
                          text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")


def set_up_device():
    """What a device does not keep when it is made anew."""
    guest.coalesce(10000)
    guest.switch(True)


def topology(command):
    """Run shell commands that may use the functions of topology.sh."""
    sh("bash", "-ec", f". /testbed/topology.sh; {command}")


def wait_for_path(path, seconds=30):
    end = time.monotonic() + seconds
    while not Path(path).exists():
        if time.monotonic() > end:
            raise RuntimeError(f"{path} does not come")
        time.sleep(0.1)


@fault
def toggle(transfer):
    """The flag goes off and on a thousand times."""
    device, arrived = Device(), transfer.arrived
    for _ in range(TOGGLES // 2):
        device.switch(False)
        time.sleep(0.005)
        device.switch(True)
        time.sleep(0.015)
    print(f"  {TOGGLES} toggles, {transfer.arrived - arrived} bytes")


@fault
def down_and_up(transfer):
    for _ in range(3):
        rcv(f"ip link set {DUT} down")
        topology("add_receiver")
        transfer.wait_for(MORE)


@fault
def ring_size(transfer):
    for size in 64, 4096, 64, 256:
        rcv(f"ethtool -G {DUT} rx {size}")
        transfer.wait_for(MORE)


@fault
def channels(transfer):
    for number in 1, 2, 1, 2:
        rcv(f"ethtool -L {DUT} combined {number}")
        transfer.wait_for(MORE)


@fault
def coalescing(transfer):
    for usecs in 100, 0, 3, 5000, 10000:
        rcv(f"ethtool -C {DUT} rx-usecs {usecs}")
        transfer.wait_for(MORE // 3)


@fault
def mtu(transfer):
    for size in 9000, 1400, 1500:
        rcv(f"ip link set {DUT} mtu {size}")
        transfer.wait_for(MORE)


@fault
def xdp(transfer):
    for _ in range(2):
        program = xdp_pass("rcv", DUT)
        transfer.wait_for(MORE)
        os.close(program)
        transfer.wait_for(MORE)


@fault
def threaded_napi(transfer):
    for value in 1, 0, 1, 0:
        sysfs("threaded", value)
        transfer.wait_for(MORE)


@fault
def busy_polling(transfer):
    """Another connection polls the device, its interrupts deferred."""
    before = guest.counters("rcv")
    busy_read = Path("/proc/sys/net/core/busy_read")    # of all namespaces
    busy_read.write_text("200000")
    sysfs("napi_defer_hard_irqs", 2)
    sysfs("gro_flush_timeout", 50000000)
    with Transfer(port=7001) as polling:
        polling.wait_for(MORE)
        transfer.wait_for(MORE)
    sysfs("gro_flush_timeout", 0)
    sysfs("napi_defer_hard_irqs", 0)
    busy_read.write_text("0")
    polled = guest.difference(before, guest.counters("rcv")).get(
        "TcpExtBusyPollRxPackets", 0)
    print(f"  {polled} packets by busy polling")
    assert polled and polling.sound()


@fault
def settings(transfer):
    choose = random.Random(1)
    for _ in range(40):
        guest.sysctl("rcv", {
            "net.srpic.block_size": choose.randint(8, 128),
            "net.srpic.full_flush_pkts": choose.choice((0, 16, 300, 65536))})
        time.sleep(0.02)
    guest.sysctl("rcv", {"net.srpic.block_size": 32,
                         "net.srpic.full_flush_pkts": 0})


@fault
def other_namespace(transfer):
    """There and back, by a move and by the end of the other namespace."""
    for ended in False, True:
        sh("ip", "netns", "add", "away")
        rcv(f"ip link set {DUT} netns away")
        # what is sent again meanwhile is sorted by the settings of away
        guest.ns("away", f"ip link set {DUT} up")
        time.sleep(1)
        if ended:
            sh("ip", "netns", "del", "away")
            wait_for_path(f"/sys/class/net/{DUT}")
            sh("ip", "link", "set", DUT, "netns", "rcv")
        else:
            guest.ns("away", f"ip link set {DUT} netns rcv")
            sh("ip", "netns", "del", "away")
        topology("add_receiver")
        transfer.wait_for(MORE)


@fault
def removed_and_found(transfer):
    """The PCI device goes, and a rescan finds it."""
    device = rcv(["readlink", "-f", f"/sys/class/net/{DUT}/device"]).strip()
    Path(device, "remove").write_text("1")
    assert not Path(device).exists()
    Path("/sys/bus/pci/rescan").write_text("1")
    topology(f"ip link set $(igb 02) name {DUT} netns rcv; add_receiver")
    transfer.wait_for(MORE)
    set_up_device()
    transfer.wait_for(MORE)
    return True


@fault
def library_in_use(transfer):
    done = subprocess.run(["modprobe", "-r", "srpic"], check=False,
                          capture_output=True, text=True)
    assert done.returncode and "in use" in done.stderr, done
    transfer.wait_for(MORE)


def library_text():
    """The range of the library's code."""
    symbols = sorted(int(line.split()[0], 16)
                     for line in Path("/proc/kallsyms").open()
                     if re.search(r" [tT] \S+\t\[srpic\]$", line))
    return symbols[0], symbols[-1] + 4096


@contextmanager
def no_memory_for_library():
    """Allocations of this process below a function of the library fail."""
    first, last = library_text()
    injectors = [Path("/sys/kernel/debug", name)
                 for name in ("failslab", "fail_page_alloc")]
    (injectors[1] / "min-order").write_text("0")
    for path in injectors:
        # the probability comes last: until then, it is 0
        for name, value in {
                "verbose": 0, "task-filter": "Y", "interval": 1, "times": -1,
                "stacktrace-depth": 32, "require-start": first,
                "require-end": last, "ignore-gfp-wait": "N",
                "probability": 100}.items():
            (path / name).write_text(f"{value}")
    me = Path("/proc/self/make-it-fail")
    try:
        me.write_text("1")
        yield
    finally:
        me.write_text("0")
        for path in injectors:
            (path / "probability").write_text("0")


def log_of(action):
    """What the kernel says while action runs."""
    log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
    os.lseek(log, 0, os.SEEK_END)
    action()
    said = ""
    with suppress(BlockingIOError):
        while True:
            said += os.read(log, 8192).decode(errors="replace")
    os.close(log)
    return said


@fault
def no_memory(transfer):
    """
    Without memory, switching on fails and changes nothing; a queue that
    is made anew is not sorted; and switching on again sorts.
    """
    device = Device()

    def new_queues():
        with no_memory_for_library():
            rcv(f"ethtool -L {DUT} combined 1")

    said = log_of(new_queues)
    assert "a queue is not sorted" in said, said
    time.sleep(0.1)
    before = guest.ethtool_stats("rcv", DUT)
    transfer.wait_for(MORE)
    assert blocks(before)[0] == 0

    def switch_on():
        with no_memory_for_library():
            try:
                device.switch(True)
            except OSError as error:
                assert error.errno == errno.ENOMEM
                return
        raise AssertionError("switched on without memory")

    device.switch(False)
    said = log_of(switch_on)
    assert "no memory to switch SRPIC on" in said, said
    assert device.flags() == device.private_flags[False]
    transfer.wait_for(MORE)
    assert blocks(before)[0] == 0

    device.switch(True)
    rcv(f"ethtool -L {DUT} combined 2")


@fault
def netconsole(transfer):
    """The kernel's log leaves by the device."""
    with namespace("rtr"):
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.bind(("10.0.2.1", 6666))
    target = "/sys/kernel/config/netconsole/dut"
    mount = "mountpoint -q /sys/kernel/config || " \
            "mount -t configfs configfs /sys/kernel/config"
    rcv(["sh", "-ec", f"""{mount}; mkdir {target}; cd {target}
         echo {DUT} > dev_name; echo 10.0.2.1 > remote_ip
         echo {guest.RCV_V4} > local_ip
         echo 52:54:00:00:00:01 > remote_mac; echo 1 > enabled"""])
    lines = 100
    Path("/proc/sys/kernel/printk_devkmsg").write_text("on\n")
    with open("/dev/kmsg", "w") as log:
        for number in range(lines):
            log.write(f"<3>netconsole line {number}\n")
            log.flush()
            time.sleep(0.002)
    transfer.wait_for(MORE)
    rcv(["sh", "-ec", f"{mount}; echo 0 > {target}/enabled; rmdir {target}"])
    listener.setblocking(False)
    heard = 0
    with suppress(BlockingIOError):
        while listener.recv(2048):
            heard += 1
    print(f"  {heard} of {lines} lines heard")
    assert heard > lines / 2


@fault
def exhausted_budget(transfer):
    """Polls that use up their budget of 64 packets, and are polled again."""
    tracing = Path("/sys/kernel/tracing")
    event = tracing / "events/napi/napi_poll/enable"
    wire = Wire(guest.RTR_DEV, DUT)
    wire.tx.load([wire.frame(100 * number, 100) for number in range(200)])
    set_path(slot_ms=1000)
    (tracing / "trace").write_text("")
    event.write_text("1")
    for _ in range(3):
        wire.tx.send()
        transfer.wait_for(1)
    time.sleep(1)
    event.write_text("0")
    wire.close()
    polls = (tracing / "trace").read_text()
    exhausted = len(re.findall(rf"device {DUT} work 64\b", polls))
    set_path()
    print(f"  {exhausted} polls used up their budget")
    assert exhausted >= 3


@fault
def suspend(transfer):
    """As far as the devices, and back."""
    Path("/sys/power/pm_test").write_text("devices")
    Path("/sys/power/state").write_text("freeze")
    Path("/sys/power/pm_test").write_text("none")
    transfer.wait_for(MORE)


def set_path(slot_ms=100):
    """
    What gathers in a slot leaves the router at once: so blocks are long
    even if a kernel full of checks can take only a hundred packets a second.
    """
    guest.set_path(rate_mbit=12, delay_us=5000, jitter_us=5000)
    guest.ns("rtr", f"tc qdisc replace dev {guest.RTR_DEV} root netem "
                    "limit 100000 delay 5ms 5ms distribution normal "
                    f"slot {slot_ms}ms {slot_ms}ms")


def sorting(before):
    """What was sorted since before, and what is wrong about that."""
    taken, late, mean = blocks(before)
    said = (f"{taken} packets taken, {late} out of order, "
            f"mean block {mean:.1f}")
    return said, [f"too little was sorted: {said}"] * (mean <= 4 or late < 20)


def run(name):
    """One fault; True if nothing was harmed."""
    start = time.monotonic()
    set_path()
    set_up_device()
    before, during = guest.ethtool_stats("rcv", DUT), ""
    complaints = []
    with Transfer() as transfer:
        try:
            transfer.wait_for(MORE)
            new_device = FAULTS[name](transfer)
            during, wrong = sorting({} if new_device else before)
            # and it goes on afterwards
            after = guest.ethtool_stats("rcv", DUT)
            transfer.wait_for(MORE)
            complaints += wrong + sorting(after)[1]
        except (AssertionError, RuntimeError, OSError) as error:
            complaints.append(f"{type(error).__name__}: {error}")
    if not transfer.sound():
        complaints.append(f"bytes differ: {transfer.sent} was sent, "
                          f"{transfer.received} arrived")
    if not re.search(r"srpic\s*: on",
                     rcv(f"ethtool --show-priv-flags {DUT}")):
        complaints.append("the flag went off")
    print(f"{'not ok' if complaints else 'ok'} {name}: {transfer.arrived} "
          f"bytes, {during}, {time.monotonic() - start:.0f} s", flush=True)
    for complaint in complaints:
        print(f"  {complaint}", flush=True)
    return not complaints


def main():
    names = sys.argv[1:] or list(FAULTS)
    guest.set_sender("RACK")
    set_path()
    failed = sum(not run(name) for name in names)
    print(f"{len(names) - failed} of {len(names)} faults harmed nothing")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
