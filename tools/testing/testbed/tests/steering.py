# SPDX-License-Identifier: GPL-2.0
"""Moves flows between the two queues of the device under test."""

import array
import fcntl
import socket
import struct

import guest
from frames import namespace

SIOCETHTOOL = 0x8946
ETHTOOL_GRXFHINDIR, ETHTOOL_SRXFHINDIR = 0x38, 0x39
ENTRIES = 128


def fence(on):
    """Switch rxfence on the device under test."""
    guest.ns("rcv", f"ethtool --set-priv-flags {guest.DUT} rxfence "
                    f"{'on' if on else 'off'}")


def fence_stats():
    """{"moves", "waits", "refused", "expired"}"""
    return {key.removeprefix("rxfence_"): value
            for key, value in guest.ethtool_stats("rcv", guest.DUT).items()
            if key.startswith("rxfence_")}


class Table:
    """The device's indirection table, without a process for each request."""

    def __init__(self):
        with namespace("rcv"):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.queue = self.moves = 0

    def request(self, command, queues):
        buffer = array.array("I", [command, ENTRIES, *queues])
        address, _ = buffer.buffer_info()
        fcntl.ioctl(self.socket, SIOCETHTOOL,
                    struct.pack("16sQ16x", guest.DUT.encode(), address))
        return list(buffer[2:])

    def get(self):
        """To which queue each entry leads."""
        return self.request(ETHTOOL_GRXFHINDIR, [0] * ENTRIES)

    def set(self, queues):
        self.request(ETHTOOL_SRXFHINDIR, queues)

    def move(self):
        """All flows go to the other queue."""
        self.set([1 - self.queue] * ENTRIES)
        self.queue = 1 - self.queue
        self.moves += 1
