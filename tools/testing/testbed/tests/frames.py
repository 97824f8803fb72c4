# SPDX-License-Identifier: GPL-2.0
"""Raw TCP frames from the router to the device under test, and what comes up.

What is asserted needs the exact order of arrival within one poll, which no
TCP socket gives.
"""

import ctypes
import os
import socket
import struct
from contextlib import contextmanager
from ipaddress import ip_address
from itertools import accumulate, chain
from types import SimpleNamespace

ETH_P_ALL = 3
CLONE_NEWNET = 0x40000000
IPV4, IPV6 = b"\x08\x00", b"\x86\xdd"
TCP = 6
FIN, SYN, ACK, URG = 0x01, 0x02, 0x10, 0x20

# The longest rx-usecs that igb's register holds: of 10000, the driver drops the
# highest bit. The testbed's device makes 33 ms of it.
THROTTLE_US = 8191

# Nobody has this address: the frames end in the device's own namespace.
SOURCE_V4, NOBODY_V4 = "10.0.2.1", "10.0.2.99"
SOURCE_V6, NOBODY_V6 = "fd00:2::1", "fd00:2::99"


@contextmanager
def namespace(name):
    """What is opened inside belongs to the network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)

    def enter(fd):
        if libc.setns(fd, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"setns {name}")

    home = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        enter(there)
        yield
    finally:
        enter(home)
        os.close(there)
        os.close(home)


def bpf(command, layout, *fields):
    """The bpf() system call, as linux/bpf.h has its attributes."""
    libc = ctypes.CDLL(None, use_errno=True)
    attr = ctypes.create_string_buffer(struct.pack(layout, *fields), 128)
    fd = libc.syscall(321, command, attr, 128)
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"bpf {command}")
    return fd


def xdp_pass(netns, device):
    """Attach an XDP program that passes all; closing the result detaches."""
    code = ctypes.create_string_buffer(bytes.fromhex(
        "b700000002000000" "9500000000000000"))     # r0 = XDP_PASS; exit
    name = ctypes.create_string_buffer(b"GPL")
    program = bpf(5, "=IIQQ", 6, 2, ctypes.addressof(code),
                  ctypes.addressof(name))           # BPF_PROG_LOAD
    with namespace(netns):
        index = socket.if_nametoindex(device)
        link = bpf(28, "=IIII", program, index, 37, 0)  # BPF_LINK_CREATE
    os.close(program)
    return link


def checksum(data, start=0):
    """The Internet checksum: 2^16 is 1, modulo 65535."""
    total = int.from_bytes(data, "big")
    if len(data) & 1:
        total <<= 8
    return -(total + start) % 65535


def frame(flow, seq, payload, tsval=None, tsecr=0, options=None, tags=None,
          ethertype=None, version=None, ihl=None, tos=0, label=0, length=None,
          ident=1, frag=0x4000, ttl=64, proto=TCP, ip_options=b"",
          extensions=(), ip_check=0, doff=None, flags=ACK, ack=1, window=512,
          check=0, urgent=0, trailer=b""):
    """
    A frame of a flow: macs, v6, addresses and ports as they are sent, their sum for
    the checksum (pseudo), and (type, number) of its VLAN tags. What is None is as
    it ought to be; checks are an error.
    """
    if options is None:
        options = b"" if tsval is None else struct.pack(
            ">III", 0x0101080A, tsval & 0xFFFFFFFF, tsecr)
    if doff is None:
        doff = 5 + len(options) // 4
    tcp = flow.ports + struct.pack(
        ">IIHHHH", seq & 0xFFFFFFFF, ack, (doff & 15) << 12 | flags, window,
        0, urgent) + options + payload
    good = checksum(tcp, flow.pseudo + len(tcp))
    tcp = b"%b%b%b" % (tcp[:16], (good ^ check).to_bytes(2, "big"), tcp[18:])
    if flow.v6:
        chain = b""
        for kind, body in reversed(extensions):
            chain = bytes([proto]) + body + chain
            proto = kind
        ip = struct.pack(
            ">IHBB",
            (6 if version is None else version) << 28 | tos << 20 | label,
            len(chain) + len(tcp) if length is None else length, proto,
            ttl) + flow.addresses + chain
    else:
        if ihl is None:
            ihl = 5 + len(ip_options) // 4
        ip = struct.pack(
            ">BBHHHBBH", (4 if version is None else version) << 4 | ihl, tos,
            20 + len(ip_options) + len(tcp) if length is None else length,
            ident, frag, ttl, proto, 0) + flow.addresses + ip_options
        ip = b"%b%b%b" % (
            ip[:10], (checksum(ip) ^ ip_check).to_bytes(2, "big"), ip[12:])
    tag = b"".join(t + tci.to_bytes(2, "big")
                   for t, tci in (flow.tags if tags is None else tags))
    if ethertype is None:
        ethertype = IPV6 if flow.v6 else IPV4
    return b"%b%b%b%b%b%b" % (flow.macs, tag, ethertype, ip, tcp, trailer)


def tcp_frame(macs, seq, length, *, port=4000, fragment=False, df=False, v6=False,
              hop_by_hop=False, ends=None, payload=None, **fields):
    """A frame with TCP payload; macs is (destination, source), 6 bytes each.

    A connection is named by its ends, (address, port) of source and
    destination; the default leads nowhere. hop_by_hop puts an extension
    header of IPv6 in between. The other fields are frame()'s.
    """
    if ends is None:
        ends = (((SOURCE_V6, 5201), (NOBODY_V6, port)) if v6 else
                ((SOURCE_V4, 5201), (NOBODY_V4, port)))
    addresses = b"".join(ip_address(address).packed for address, _ in ends)
    flow = SimpleNamespace(
        macs=b"".join(macs), tags=(), v6=v6, addresses=addresses,
        ports=struct.pack(">HH", ends[0][1], ends[1][1]),
        pseudo=int.from_bytes(addresses, "big") + TCP)
    if payload is None:
        payload = bytes((seq + i) & 0xFF for i in range(length))
    return frame(flow, seq, payload, frag=0x2000 if fragment else 0x4000 * df,
                 extensions=[(0, bytes([0, 1, 4, 0, 0, 0, 0]))] * hop_by_hop,
                 **fields).ljust(60, b"\0")


class Sender:
    """Sends frames with one system call, faster than Python could."""

    SLOTS = 512

    def __init__(self, device):
        with namespace("rtr"):
            self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            self.socket.bind((device, 0))
        self.socket.setsockopt(socket.SOL_SOCKET, 32, 8 << 20)  # SNDBUFFORCE
        self.send_all = ctypes.CDLL(None, use_errno=True).sendmmsg
        self.data = b""     # what the vectors point to
        self.vectors = ctypes.create_string_buffer(16 * self.SLOTS)
        self.headers = ctypes.create_string_buffer(64 * self.SLOTS)
        for n in range(self.SLOTS):
            # struct mmsghdr: name, its length, iov, their number, ...
            struct.pack_into("QQQQ", self.headers, 64 * n, 0, 0,
                             ctypes.addressof(self.vectors) + 16 * n, 1)
        self.pkts = 0

    def load(self, frames):
        """Take frames; send() sends them, as often as it is called."""
        self.data = b"".join(frames)
        sizes = [len(raw) for raw in frames]
        base = ctypes.cast(self.data, ctypes.c_void_p).value
        starts = accumulate(sizes, initial=base)
        struct.pack_into(f"{2 * len(frames)}Q", self.vectors, 0,
                         *chain.from_iterable(zip(starts, sizes)))
        self.pkts = len(frames)

    def send(self):
        """Send what load() took."""
        sent = self.send_all(self.socket.fileno(), self.headers, self.pkts, 0)
        if sent != self.pkts:
            raise OSError(ctypes.get_errno(), f"sent {sent} of {self.pkts}")


class Wire:
    """Sends frames so that they meet in one poll; returns what came up."""

    def __init__(self, sender, receiver):
        self.tx = Sender(sender)
        with namespace("rcv"):
            self.rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                                    socket.htons(ETH_P_ALL))
            self.rx.bind((receiver, ETH_P_ALL))
        self.rx.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
        self.macs = (self.rx.getsockname()[4],
                     self.tx.socket.getsockname()[4])
        self.primer = self.frame(0, 0)
        # igb writes a new rx-usecs to the device at the next interrupt
        self.tx.socket.send(self.primer)
        self.drain()

    def close(self):
        self.tx.socket.close()
        self.rx.close()

    def frame(self, *args, **kwargs):
        return tcp_frame(self.macs, *args, **kwargs)

    def drain(self, quiet=0.1):
        """All frames that come up until it is quiet for so many seconds."""
        frames = []
        self.rx.settimeout(quiet)
        while True:
            try:
                data, address = self.rx.recvfrom(65536)
            except TimeoutError:
                return frames
            if address[2] == socket.PACKET_HOST:
                frames.append(data)

    def burst(self, frames):
        """
        Sends frames and returns what came up.

        After an interrupt, the device holds the next one back until its
        throttle has run down, and the burst gathers. A primer, a pure ACK,
        causes one. But the driver's watchdog may have caused one just before:
        then the primer is held back, and the testbed's device holds nothing
        back after that, so a second primer takes the next interrupt. Else that
        one is the first of the burst.
        """
        self.tx.load(frames)
        self.drain(0.05)
        self.tx.socket.send(self.primer)
        self.rx.settimeout(1)
        while self.rx.recv(65536) != self.primer:
            pass
        self.tx.socket.send(self.primer)
        self.tx.send()
        return [f for f in self.drain() if f != self.primer]
