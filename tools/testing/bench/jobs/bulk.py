#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""bulk.py send|receive FLOWS: many connections, one process at each end.

Cheap for their number: the one end sends a file, the other one discards what
has come without a copy.
"""

import os
import resource
import select
import socket
import sys

import guest

PORT = 5400
CHUNK = 1 << 18


def receive(flows):
    discard, ready = {}, select.epoll()
    with socket.create_server((guest.RCV_V4, PORT), backlog=flows) as server:
        for _ in range(flows):
            sock, _ = server.accept()
            discard[sock.fileno()] = sock.recv_into
            ready.register(sock, select.EPOLLIN)
    buffer = bytearray(1 << 20)
    while True:
        for fd, _ in ready.poll():
            discard[fd](buffer, 0, socket.MSG_TRUNC)


def send(flows):
    ready, socks = select.epoll(), []
    for _ in range(flows):
        socks.append(socket.create_connection((guest.RCV_V4, PORT)))
        socks[-1].setblocking(False)
    for sock in socks:
        ready.register(sock, select.EPOLLOUT)
    zeros = os.memfd_create("zeros")
    os.truncate(zeros, CHUNK)
    while True:
        for fd, _ in ready.poll():
            os.sendfile(fd, zeros, 0, CHUNK)


end, count = sys.argv[1], int(sys.argv[2])
resource.setrlimit(resource.RLIMIT_NOFILE, (count + 64, count + 64))
send(count) if end == "send" else receive(count)
