#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
A third host with a connection that is all but idle. The remote host runs this
file by itself: idle.py OWN_ADDRESS/PREFIX ADDRESS PORT goes into a network
namespace of its own, says so, waits until it is given a device, and connects.
Until SIGUSR1 it sends a byte now and then and awaits one, whose value says
with what the round trip counts. It prints {value: [microseconds, ...]}.
"""

import collections
import ctypes
import json
import random
import signal
import socket
import subprocess
import sys
import time

DEV = "idle0"
CLONE_NEWNET = 0x40000000   # os.unshare() is there since Python 3.12
PRIORITY = 6                # interactive: to the first band of prio
TIMEOUT_S = 20

# At random, to meet each phase of the device's interrupts.
PAUSE_S = 0.5e-3, 3e-3


def own_namespace():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "no network namespace")


def take_device(address):
    """Wait for the device, and give it the address."""
    end = time.monotonic() + TIMEOUT_S
    while DEV not in dict(socket.if_nameindex()).values():
        if time.monotonic() > end:
            raise TimeoutError(f"no {DEV}")
        time.sleep(0.01)
    nodad = "nodad" if ":" in address else ""
    for change in (f"addr add {address} dev {DEV} {nodad}",
                   f"link set {DEV} up"):
        subprocess.run(["ip", *change.split()], check=True)


def round_trips(sock, enough):
    """{value that came back: [microseconds, ...]}"""
    found = collections.defaultdict(list)
    while not enough:
        time.sleep(random.uniform(*PAUSE_S))
        start = time.perf_counter_ns()
        sock.sendall(b"?")
        value = sock.recv(1)
        if not value:
            break
        found[value[0]].append((time.perf_counter_ns() - start) // 1000)
    return found


def main():
    own, address, port = sys.argv[1:]
    enough = []
    signal.signal(signal.SIGUSR1, lambda *_: enough.append(True))
    own_namespace()
    print("ready", flush=True)
    take_device(own)
    sock = socket.create_connection((address, int(port)), TIMEOUT_S)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_PRIORITY, PRIORITY)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(json.dumps(round_trips(sock, enough)))


if __name__ == "__main__":
    main()
