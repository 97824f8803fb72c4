# SPDX-License-Identifier: GPL-2.0
"""Flows that move between two receive queues, without rxfence and with it.

One CPU polls both queues, and the device throttles each one's interrupts: after a
move, the queue that was idle is polled at once, and the other one when its time has
come. GRO is off, so that each packet is a segment.
"""

from experiment import Experiment, grid, shorter

MOVES_MS = (5, 20, 100, 0)      # 0: never
RX_USECS = (300, 150, 50)
STREAMS = (1, 4, 16)
# 1,000 moves each 5 ms
ONE = grid(rx_usecs=300, streams=1, move_ms=MOVES_MS, fence=(False, True))
SENDER_S = grid(sender="S", rx_usecs=300, streams=1, move_ms=(5, 0),
                fence=(False, True))
SHORT = grid(rx_usecs=RX_USECS[1:], streams=1, move_ms=5, fence=(False, True))
MANY = grid(rx_usecs=300, streams=STREAMS[1:], move_ms=5, fence=(False, True))

# nothing is left to chance, and nothing sorted
JOBS = tuple(job | {"seed": 1, "srpic": False}
             for job in (*ONE, *SENDER_S, *SHORT, *MANY))

EXPERIMENTS = (
    Experiment(
        "steer", "Flows that move between receive queues", "steer.py",
        jobs=JOBS,
        quick=shorter(JOBS),
        files=("tools/testing/testbed/tests/steering.py",),
        run_s=90),
)
