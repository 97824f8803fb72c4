#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""traffic.py JSON: one run of iperf3 in the guest; leaves row.json.

The JSON names sender, sack, timestamps, srpic, rx_usecs, seconds, args (of
iperf3) and path (of guest.set_path()); what is not named has its default.
"""

import json
import sys

import guest

DEFAULTS = {"sender": "RACK", "sack": True, "timestamps": True, "srpic": False,
            "rx_usecs": 300, "seconds": 5, "args": "", "path": {}}


def main():
    job = DEFAULTS | json.loads(sys.argv[1])
    guest.set_sender(job["sender"], job["sack"], job["timestamps"])
    guest.set_path(**job["path"])
    guest.coalesce(job["rx_usecs"])
    guest.switch(job["srpic"])
    found = guest.measure(job["seconds"], job["args"])
    device, receiver = found["device"], found["rcv"]
    row = {
        "sender": job["sender"],
        "srpic": job["srpic"],
        "throughput_mbps": round(found["throughput_mbps"], 1),
        "bytes": found["iperf3"]["end"]["sum_received"]["bytes"],
        "retransmits": found["retransmits"],
        "acks_sent": receiver["TcpOutSegs"],
        "segments_seen": receiver["TcpInSegs"],
        "ofo_queued": receiver.get("TcpExtTCPOFOQueue", 0),
        "paws_rejects": receiver.get("TcpExtPAWSEstab", 0),
        "mean_block": round(device["srpic_packets_taken"]
                            / device["srpic_blocks"], 1)
        if job["srpic"] else None,
        "busy_ms": round(found["busy_ns"] / 1e6, 3),
    }
    (guest.OUT / "row.json").write_text(json.dumps(row))


main()
