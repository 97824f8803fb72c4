# SPDX-License-Identifier: GPL-2.0
"""What SRPIC makes of delay (the paper's section 4.4), and of blocks (3.1)."""

from experiment import Experiment

# The paper's ten connections share a link of 1 Gbit/s and 2.5 ms each way,
# and its receiver has blocks of about 7 packets then: at a time dilation of 4,
# that is 250 Mbit/s, 10 ms and rx-usecs 150. The other two: what the one CPU
# of the testbed carries at most, and 70 % of it.
LINK = {"rate_mbit": 250, "rx_usecs": 150}
SHAPED = {"rate_mbit": 550, "rx_usecs": 150}
UNLIMITED = {"rate_mbit": None, "rx_usecs": 150}
LONG_BLOCKS = {"rate_mbit": 250, "rx_usecs": 300}
TRIPS = tuple(load | {"polls": False}
              for load in (LINK, SHAPED, UNLIMITED, LONG_BLOCKS))
HOLDING = tuple(load | {"polls": False, "hold_usecs": 10000, "srpic": True}
                for load in (LINK, SHAPED))
POLLS = tuple(job | {"polls": True} for job in TRIPS)

RATES_MBIT = (25, 50, 100, 200, 400, 700, 1000, None)
RX_USECS = (0, 150, 300)

EXPERIMENTS = (
    Experiment(
        name="fig6",
        title="Round trips of an idle connection beside ten busy ones, and "
              "the duration of polls",
        script="delay.py",
        jobs=TRIPS + HOLDING + POLLS,
        quick=tuple(job | {"seconds": 3} for job in (*TRIPS[:1], *HOLDING[:1])),
        run_s=60),
    Experiment(
        name="fig2",
        title="Block size against rate, and formula (3)",
        script="blocks.py",
        jobs=tuple({"rate_mbit": rate, "rx_usecs": usecs}
                   for usecs in RX_USECS for rate in RATES_MBIT),
        quick=tuple({"rate_mbit": rate, "rx_usecs": 150,
                     "srpic": False} for rate in (50, 200, None)),
        run_s=45),
)
