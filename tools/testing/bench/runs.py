# SPDX-License-Identifier: GPL-2.0
"""Runs of traffic.py in the testbed, one guest each, as many as there are CPUs."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

OUT = Path(__file__).resolve().parents[3] / "out"
VM = OUT.parent / "tools/testing/testbed/vm"
TRAFFIC = OUT.parent / "tools/testing/bench/traffic.py"


def run(name, job, timeout_s=900):
    """One run; its row. Its files go to out/NAME; a failure ends the program."""
    began = time.monotonic()
    done = subprocess.run(
        [VM, "--quiet", "--kver", os.environ.get("KVER", "6.12"),
         "--out", OUT / name, "--timeout", str(timeout_s),
         "--script", TRAFFIC, json.dumps(job)],
        capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout + done.stderr, end="", file=sys.stderr)
        sys.exit(f"the run {name} failed, see out/{name}/console.log")
    print(f"  {name}: done in {time.monotonic() - began:.0f} s", flush=True)
    return json.loads((OUT / name / "row.json").read_text())


def run_all(jobs, timeout_s=900):
    """The rows of {name: job}, in order."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda item: run(*item, timeout_s),
                             jobs.items()))
