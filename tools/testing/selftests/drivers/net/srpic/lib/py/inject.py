#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""
Send frames as they are. The remote host runs this file by itself:
inject.py DEVICE FRAMES; pack() makes one argument of frames.
"""

import base64
import json
import socket
import sys
import zlib


def pack(frames):
    """Many frames of much the same bytes, as text that a shell takes."""
    text = json.dumps([frame.hex() for frame in frames])
    return base64.b64encode(zlib.compress(text.encode())).decode()


def unpack(packed):
    text = zlib.decompress(base64.b64decode(packed))
    return [bytes.fromhex(frame) for frame in json.loads(text)]


def main():
    device, packed = sys.argv[1:]
    frames = unpack(packed)
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.bind((device, 0))
        for frame in frames:
            sock.send(frame)


if __name__ == "__main__":
    main()
