# SPDX-License-Identifier: GPL-2.0
"""The seed of what the kernel itself chooses at random."""

import fcntl
import os
import struct

RNDRESEEDCRNG = 0x5207


def seed(number):
    """
    netem has a seed of its own; tc's meta(random) asks the kernel. Until that
    one's generator is ready, each number costs it far more, so wait for it.
    """
    os.getrandom(1)
    with open("/dev/urandom", "wb", buffering=0) as pool:
        pool.write(struct.pack("Q", number))
        fcntl.ioctl(pool, RNDRESEEDCRNG)
