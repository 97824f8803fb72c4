# SPDX-License-Identifier: GPL-2.0
"""What the frames to and from the receiver's device say."""

import dpkt
from density import density

RECEIVER = bytes.fromhex("525400000002")
FLAGS = dpkt.tcp.TH_SYN | dpkt.tcp.TH_FIN | dpkt.tcp.TH_RST


def segments(path):
    """
    (whether it was sent by the receiver, connection, TCP header, length of its
    payload, number that puts it in the order of sending) of each TCP segment
    in a capture.
    """
    with open(path, "rb") as capture:
        for _, data in dpkt.pcap.Reader(capture):
            frame = dpkt.ethernet.Ethernet(data)
            ip = frame.data
            if not isinstance(getattr(ip, "data", None), dpkt.tcp.TCP):
                continue
            tcp = ip.data
            size, order = (ip.plen, tcp.seq) \
                if frame.type == dpkt.ethernet.ETH_TYPE_IP6 \
                else (ip.len - 4 * ip.hl, ip.id << 16)
            yield (frame.src == RECEIVER, (ip.src, tcp.sport, tcp.dport),
                   tcp, size - 4 * tcp.off, order)


def sack_blocks(tcp):
    """The number of blocks in a segment's SACK option (RFC 2018)."""
    return sum(len(value) // 8 for kind, value in
               dpkt.tcp.parse_opts(tcp.opts) if kind == dpkt.tcp.TCP_OPT_SACK)


def counts(path):
    """
    dup_acks: segments from the receiver without payload that acknowledge what
    the one before has acknowledged (RFC 5681's condition on the window is
    left out: Linux moves the window with every segment it takes).
    sack_blocks: of all segments from the receiver. late: data that arrived
    after data with a higher sequence number (RFC 4737), retransmissions
    included; data: all segments with payload. And their reorder density, see
    density.py.
    """
    acked, highest, arrivals = {}, {}, []
    found = dict.fromkeys(("dup_acks", "sack_blocks", "late", "data"), 0)
    for from_receiver, connection, tcp, size, order in segments(path):
        if tcp.flags & FLAGS:
            continue
        if from_receiver:
            found["sack_blocks"] += sack_blocks(tcp)
            found["dup_acks"] += not size and acked.get(connection) == tcp.ack
            acked[connection] = tcp.ack
        elif size:
            found["data"] += 1
            arrivals.append((0, connection, order, size))
            first = highest.setdefault(connection, tcp.seq)
            ahead = (tcp.seq - first) & 0xFFFFFFFF
            if ahead < 1 << 31:
                highest[connection] = tcp.seq
            else:
                found["late"] += 1
    return {f"wire_{key}": value for key, value in found.items()} | \
        density(arrivals)
