# SPDX-License-Identifier: GPL-2.0
"""A TCP connection from snd to rcv whose bytes are verified end to end."""

import hashlib
import os
import random
import re
import socket
import threading
import time

import guest
from frames import namespace

CHUNK = random.Random(1).randbytes(1 << 16)
MORE = 300_000                  # bytes that prove that traffic flows
NIC = os.environ["NIC"]         # the device under test; see vm


class Transfer:
    """
    Sends as fast as TCP allows, from the beginning of a with block to its
    end, which waits until all has arrived.

    sent and received are (bytes, sha256); they are there after the block.
    """

    def __init__(self, address=guest.RCV_V4, port=7000):
        self.address = (address, port)
        self.family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.stop = threading.Event()
        self.arrived = 0
        self.sent = self.received = None

    def __enter__(self):
        with namespace("rcv"):
            self.server = socket.create_server(self.address,
                                               family=self.family)
        with namespace("snd"):
            self.client = socket.socket(self.family)
        self.threads = [threading.Thread(target=run, daemon=True)
                        for run in (self._receive, self._send)]
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        for thread in self.threads:
            thread.join(120)
        self.client.close()
        self.server.close()

    def _receive(self):
        digest = hashlib.sha256()
        connection, _ = self.server.accept()
        with connection:
            while data := connection.recv(1 << 16):
                digest.update(data)
                self.arrived += len(data)
        self.received = (self.arrived, digest.hexdigest())

    def _send(self):
        digest, size = hashlib.sha256(), 0
        self.client.connect(self.address)
        while not self.stop.is_set():
            chunk = size.to_bytes(8, "big") + CHUNK     # no two are the same
            self.client.sendall(chunk)
            digest.update(chunk)
            size += len(chunk)
        self.client.shutdown(socket.SHUT_WR)
        self.sent = (size, digest.hexdigest())

    def wait_for(self, size, seconds=60):
        """Return when so many more bytes have arrived."""
        goal, end = self.arrived + size, time.monotonic() + seconds
        while self.arrived < goal:
            if time.monotonic() > end:
                raise RuntimeError(f"{size} bytes did not arrive in "
                                   f"{seconds} s")
            time.sleep(0.02)

    def sound(self):
        """Whether all that was sent arrived, and nothing else."""
        return self.sent is not None and self.sent == self.received


def set_path(rate_mbit=12, slot_ms=100):
    """
    What gathers in a slot leaves the router at once: so blocks are long
    even if a kernel full of checks can take only a hundred packets a second.
    """
    guest.set_path(rate_mbit=rate_mbit, delay_us=5000)
    guest.ns("rtr", f"tc qdisc replace dev {guest.RTR_DEV} root netem "
                    "limit 100000 delay 5ms 5ms distribution normal "
                    f"slot {slot_ms}ms {slot_ms}ms")


def coalesce(usecs):
    """
    As guest.coalesce(). QEMU's virtio cannot, and its e1000e does too little:
    while packets come, a timer polls them.
    """
    if NIC == "igb":
        guest.coalesce(usecs)
    else:
        guest.sysfs("napi_defer_hard_irqs", 1)
        guest.sysfs("gro_flush_timeout", usecs * 1000)


def is_on():
    """Whether SRPIC is, on the device under test."""
    flags = guest.ns("rcv", f"ethtool --show-priv-flags {guest.DUT}")
    return re.search(r"^srpic\s*: (on|off)$", flags, re.MULTILINE)[1] == "on"


def statistics():
    """As guest.ethtool_stats(), and all packets that came up."""
    path = f"/sys/class/net/{guest.DUT}/statistics/rx_packets"
    return guest.ethtool_stats("rcv", guest.DUT) | {
        "received": int(guest.ns("rcv", f"cat {path}"))}


def blocks(before):
    """(taken, out of order, mean block) since statistics() were before."""
    moved = guest.difference(before, statistics())
    taken = moved.get("srpic_packets_taken", 0)
    return (taken, moved.get("srpic_packets_out_of_order", 0),
            taken / max(moved.get("srpic_blocks", 0), 1))
