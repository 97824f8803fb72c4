# SPDX-License-Identifier: GPL-2.0
"""Runs of the scripts of jobs/ in the testbed, one guest each."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
TOP = HERE.parents[2]
OUT = TOP / "out"
VM = TOP / "tools/testing/testbed/vm"
TESTS = VM.parent / "tests"
KVER = os.environ.get("KVER", "6.12")


running = set()


class Failed(Exception):
    """A guest that did not do what it was to do, in one line."""


def boot(out, options, timeout_s=900, kver=KVER):
    """Run a guest whose files go to out."""
    with subprocess.Popen(
            [VM, "--quiet", "--kver", kver, "--out", out, "--timeout",
             str(timeout_s), *options], stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True) as process:
        running.add(process)
        said = process.communicate()[0].strip().split("\n")
        running.discard(process)
    if process.returncode:
        raise Failed(f"{said[-1]} (status {process.returncode})")


def script(name, job):
    """The options that run a script of jobs/, with the modules it may use."""
    return ["--files", TESTS / "frames.py", "--files", TESTS / "device.py",
            "--script", HERE / "jobs" / name, json.dumps(job)]


def run(name, job, timeout_s):
    """A transfer; its row. Its files go to out/NAME."""
    began = time.monotonic()
    try:
        boot(OUT / name, script("traffic.py", job), timeout_s)
    except Failed as error:
        sys.exit(f"{Path(sys.argv[0]).name}: the run {name} failed: {error}, see "
                 f"out/{name}/console.log")
    print(f"  {name}: done in {time.monotonic() - began:.0f} s", flush=True)
    return json.loads((OUT / name / "row.json").read_text())


def run_all(jobs, timeout_s=900):
    """The rows of {name: job}, in order; a failure ends the program."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return list(pool.map(lambda item: run(*item, timeout_s),
                             jobs.items()))
