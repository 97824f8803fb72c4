# SPDX-License-Identifier: GPL-2.0
"""Frames to the last byte: what the remote sends, and what arrives here."""

import ipaddress
import socket
import struct
import time
from collections import namedtuple

from . import inject

ETH_P_ALL, ETH_P_IP, ETH_P_IPV6 = 3, 0x0800, 0x86DD
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
IPV6_FRAGMENT = 44
MORE_FRAGMENTS = 0x2000
TTL = 1             # no router sends it on
PORTS = 5201, 40001
SOL_PACKET, PACKET_ADD_MEMBERSHIP, PACKET_MR_MULTICAST = 263, 1, 0
SO_RCVBUFFORCE = 33
LATE_S = 0.5        # after the last was sent: what has not come is lost

# A frame, the flow whose order it keeps, and whether SRPIC takes it.
Frame = namedtuple("Frame", ("raw", "flow", "taken"))


def summed(data, at, pseudo=b""):
    """Data with its Internet checksum (RFC 1071: 2^16 is 1) at an offset."""
    whole = pseudo + data + bytes(len(pseudo + data) % 2)
    check = -int.from_bytes(whole, "big") % 0xFFFF
    return data[:at] + struct.pack(">H", check) + data[at + 2:]


def group_mac(address):
    """The MAC that a multicast address has on Ethernet, RFC 1112 and 2464."""
    group = ipaddress.ip_address(address)
    if group.version == 6:
        return b"\x33\x33" + group.packed[-4:]
    return b"\x01\0\x5e" + bytes([group.packed[1] & 0x7F]) + group.packed[2:]


class Builder:
    """Builds frames from one address to another, of IPv4 or of IPv6."""

    def __init__(self, macs, source, destination):
        ends = [ipaddress.ip_address(end) for end in (source, destination)]
        self.macs = b"".join(macs)      # destination, source
        self.addresses = b"".join(end.packed for end in ends)
        self.v6 = ends[0].version == 6

    def ip(self, proto, body, *, tos=0, ident=0, fragment=0):
        """
        A frame. Fragment is the offset of a fragment in units of 8 bytes, and
        its flags; IPv6 has that in a header of its own, see fragments().
        """
        if self.v6:
            kind = ETH_P_IPV6
            head = struct.pack(">IHBB", 6 << 28 | tos << 20, len(body), proto,
                               TTL) + self.addresses
        else:
            kind = ETH_P_IP
            head = summed(struct.pack(
                ">BBHHHBBH", 0x45, tos, 20 + len(body), ident, fragment, TTL,
                proto, 0) + self.addresses, 10)
        frame = self.macs + struct.pack(">H", kind) + head + body
        return frame.ljust(60, b"\0")

    def fragments(self, proto, body, ident):
        """The frames of a packet in two pieces."""
        half = len(body) // 16
        for offset, piece in (0, body[:8 * half]), (half, body[8 * half:]):
            more = offset == 0
            if self.v6:
                head = struct.pack(">BBHI", proto, 0, offset << 3 | more,
                                   ident)
                yield self.ip(IPV6_FRAGMENT, head + piece)
            else:
                yield self.ip(proto, piece, ident=ident,
                              fragment=offset | MORE_FRAGMENTS * more)

    def pseudo(self, proto, length):
        return self.addresses + struct.pack(">II", length, proto)

    def tcp(self, seq, data, *, flags=ACK, options=b"", urgent=0):
        """A TCP segment."""
        head = struct.pack(">HHIIBBHHH", *PORTS, seq, 1,
                           (20 + len(options)) << 2, flags, 512, 0, urgent)
        segment = head + options + data
        return summed(segment, 16,
                      self.pseudo(socket.IPPROTO_TCP, len(segment)))

    def udp(self, data, port=PORTS[1]):
        """A UDP datagram."""
        datagram = struct.pack(">HHHH", PORTS[0], port, 8 + len(data),
                               0) + data
        return summed(datagram, 6,
                      self.pseudo(socket.IPPROTO_UDP, len(datagram)))

    def echo(self, number, data):
        """An echo request of ICMP or ICMPv6, and the protocol's number."""
        kind, proto = (128, socket.IPPROTO_ICMPV6) if self.v6 else \
            (8, socket.IPPROTO_ICMP)
        message = struct.pack(">BBHHH", kind, 0, 0, 1, number & 0xFFFF) + data
        return proto, summed(message, 2, self.pseudo(proto, len(message))
                             if self.v6 else b"")


def exchange(env, frames, group):
    """
    Have the remote send frames; those that the device brings up, in order.
    It hears the multicast group meanwhile.
    """
    packed = inject.pack([frame.raw for frame in frames])
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                       socket.htons(ETH_P_ALL)) as tap:
        tap.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
        tap.bind((env.ifname, ETH_P_ALL))
        tap.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP, struct.pack(
            "=iHH8s", env.ifindex, PACKET_MR_MULTICAST, 6, group))
        sender = env.start_python(inject.__file__,
                                  f"{env.remote_dev['ifname']} {packed}")
        sender.output()
        return list(arrivals(tap))


def arrivals(tap):
    """What came up so far, and what still does."""
    end = time.monotonic() + LATE_S
    while (left := end - time.monotonic()) > 0:
        tap.settimeout(left)
        try:
            yield tap.recv(65536)
        except TimeoutError:
            return
