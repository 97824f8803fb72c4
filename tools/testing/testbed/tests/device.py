# SPDX-License-Identifier: GPL-2.0
"""The device under test and its settings, without a process for each request."""

import array
import fcntl
import os
import socket
import struct

import guest
from frames import namespace

SIOCETHTOOL = 0x8946
ETHTOOL_GSTATS, ETHTOOL_GPFLAGS, ETHTOOL_SPFLAGS = 0x1D, 0x27, 0x28
ETHTOOL_SGRO = 0x2C


class Device:
    """Leaves SRPIC on; the device must keep its statistics' names."""

    def __init__(self):
        with namespace("rcv"):
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.names = list(guest.ethtool_stats("rcv", guest.DUT))
        self.private_flags = {}
        for on in False, True:
            guest.switch(on)
            self.private_flags[on] = self.flags()

    def request(self, buffer):
        address, _ = buffer.buffer_info()
        fcntl.ioctl(self.socket, SIOCETHTOOL,
                    struct.pack("16sQ16x", guest.DUT.encode(), address))
        return buffer

    def flags(self):
        """The private flags, as a bit map."""
        return self.request(array.array("I", [ETHTOOL_GPFLAGS, 0]))[1]

    def set_flags(self, flags):
        """All private flags, by a bit map."""
        self.request(array.array("I", [ETHTOOL_SPFLAGS, flags]))

    def switch(self, on):
        """As guest.switch()."""
        self.set_flags(self.private_flags[on])

    def set_gro(self, on):
        self.request(array.array("I", [ETHTOOL_SGRO, on]))

    def stats(self):
        """As guest.ethtool_stats()."""
        stats = self.request(array.array("Q", [ETHTOOL_GSTATS] + [0] * 1000))
        assert stats[0] >> 32 == len(self.names), "ethtool has other names"
        return dict(zip(self.names, stats[1:]))


class Settings:
    """net.srpic of the device's namespace."""

    def __init__(self):
        with namespace("rcv"):
            # an open file stays with the namespace that it was opened in
            self.files = {
                name: open(f"/proc/sys/net/srpic/{name}", "r+b", buffering=0)
                for name in ("block_size", "full_flush_pkts", "hold_usecs")}
        self.now = {}

    def set(self, name, value):
        if self.now.get(name) != value:
            os.pwrite(self.files[name].fileno(), b"%d\n" % value, 0)
            self.now[name] = value
