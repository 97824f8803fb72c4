#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""integrity.py SECONDS: TCP over a reordering path, while the flag toggles.

Fails if a byte is wrong, if nothing was sorted, or if blocks were too short
for the test to mean anything.
"""

import hashlib
import random
import socket
import sys
import threading
import time

import guest
from frames import namespace

CHUNK = random.Random(1).randbytes(1 << 20)
TOGGLE_S = 0.05


def receive(server, result):
    """Digest all that comes."""
    digest = hashlib.sha256()
    connection, _ = server.accept()
    size = 0
    while data := connection.recv(1 << 16):
        digest.update(data)
        size += len(data)
    result["received"] = (size, digest.hexdigest())


def transfer(address, seconds, result):
    """Send chunks, each a bit different, for so many seconds."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with namespace("rcv"):
        server = socket.create_server((address, 7000), family=family)
    reader = threading.Thread(target=receive, args=(server, result))
    reader.start()
    with namespace("snd"):
        client = socket.socket(family)
    client.connect((address, 7000))
    digest, size = hashlib.sha256(), 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        chunk = size.to_bytes(8, "big") + CHUNK
        client.sendall(chunk)
        digest.update(chunk)
        size += len(chunk)
    client.close()
    reader.join()
    server.close()
    result["sent"] = (size, digest.hexdigest())


def toggle(stop, count):
    """Switch the flag off and on until told to stop; it ends on."""
    while not stop.wait(TOGGLE_S):
        for on in False, True:
            guest.switch(on)
            count[0] += 1
    count[1] = True     # no error ended it


def run(address, seconds):
    """One transfer; True if it was sound."""
    result, count, stop = {}, [0, False], threading.Event()
    guest.switch(True)
    before = guest.ethtool_stats("rcv", guest.DUT)
    switch = threading.Thread(target=toggle, args=(stop, count))
    switch.start()
    transfer(address, seconds, result)
    stop.set()
    switch.join()
    moved = guest.difference(before, guest.ethtool_stats("rcv", guest.DUT))
    guest.switch(False)

    taken = moved.get("srpic_packets_taken", 0)
    late = moved.get("srpic_packets_out_of_order", 0)
    mean = taken / max(moved.get("srpic_blocks", 0), 1)
    print(f"{address}: {result['received'][0]} bytes, {count[0]} toggles, "
          f"{taken} packets taken, {late} out of order, "
          f"mean block {mean:.1f}", flush=True)
    checks = {"bytes differ": result["sent"] == result["received"],
              "switching failed": count[1] and count[0] >= 10,
              "nothing was sorted": late > 100,
              "mean block is not above 4": mean > 4}
    for complaint, fine in checks.items():
        if not fine:
            print(f"not ok: {complaint}")
    return all(checks.values())


def main():
    seconds = float(sys.argv[1])
    guest.set_sender("RACK")
    guest.set_path(rate_mbit=250, delay_us=2000, jitter_us=200)
    guest.coalesce(1000)
    # both, even if the first one fails
    results = [run(address, seconds)
               for address in (guest.RCV_V4, guest.RCV_V6)]
    sys.exit(not all(results))


if __name__ == "__main__":
    main()
