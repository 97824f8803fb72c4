# SPDX-License-Identifier: GPL-2.0
"""The rows of the experiments: JSON lines, to which lines are only added."""

import hashlib
import json
import os
import subprocess
import sys

from experiments import EXPERIMENTS, SOURCES
from guests import HERE, OUT, TOP

BENCH = OUT / "bench"       # where make bench leaves them
KEPT = HERE / "rows"        # those that the repository holds
# What any row follows from. The rest may change: other tests, what is written of
# the rows, the page that is made of them; other experiments.
MEASURED = ("Kconfig", "drivers", "include", "net", "patches", "scripts",
            ":(exclude)patches/README.md", ":(exclude)patches/library",
            ":(exclude)scripts/coccinelle", ":(exclude)scripts/make-series",
            *(f":(exclude)scripts/{name}" for name in (
                "*-modules", "apt-suite", "build-*", "host-venv")),
            ":(exclude)tools/testing/testbed/cc",
            ":(exclude)drivers/net/srpic/.kunitconfig",
            ":(exclude,glob)drivers/net/srpic/tests/poll*.h",
            # drivers that the kernel that is measured does not have
            ":(exclude)drivers/net/ethernet/intel/i40e",
            ":(exclude)drivers/net/ethernet/intel/ice",
            ":(exclude)drivers/net/ethernet/mellanox",
            *(f":(exclude,glob)patches/*/*-{name}-*"
              for name in ("i40e", "ice", "mlx5e")),
            ":(glob)tools/testing/testbed/*",
            *(f":(exclude)tools/testing/testbed/config.{name}"
              for name in ("debug", "faults", "kcsan", "rt")),
            "tools/testing/testbed/tests/frames.py",
            "tools/testing/testbed/tests/device.py",
            *(f"tools/testing/bench/{name}" for name in (
                "bench", "density.py", "experiment.py", "guests.py", "jobs",
                "wire.py")))
SCRIPTS = {experiment.script for experiment in EXPERIMENTS.values()} - {""}
KERNELS = {experiment.kver for experiment in EXPERIMENTS.values()}


def git(*args):
    done = subprocess.run(["git", "-c", "safe.directory=*", *args], cwd=TOP,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit("bench: rows say of which commit they are, and git says: "
                 + done.stderr.decode().strip().split("\n")[0])
    return done.stdout


def commit(name):
    """
    The last commit that changed what rows of an experiment follow from, with a
    mark of its own for each state that is none.
    """
    one = EXPERIMENTS[name]
    measured = (*MEASURED, *one.files,
                *one.sources,
                f"tools/testing/bench/experiments/{SOURCES[name]}",
                *[f"tools/testing/bench/{one.prepare}"] * bool(one.prepare),
                *(f":(exclude)tools/testing/bench/jobs/{script}"
                  for script in sorted(SCRIPTS - {one.script})),
                *(f":(exclude){path}{kver}"
                  for kver in sorted(KERNELS - {one.kver})
                  for path in ("patches/", "tools/testing/testbed/config-")),
                *(f":(exclude){path}" for other in EXPERIMENTS.values()
                  for path in other.sources if path not in one.sources))
    last = git("log", "-1", "--format=%H", "--", *measured).decode()[:12]
    changed = git("diff", "HEAD", "--", *measured)
    names = git("ls-files", "-o", "--exclude-standard", "-z", "--", *measured)
    if not changed and not names:
        return last
    digest = hashlib.sha256(changed)
    for name in sorted(filter(None, names.split(b"\0"))):
        digest.update((TOP / name.decode()).read_bytes())
    return f"{last}-dirty-{digest.hexdigest()[:8]}"


def identity(row):
    """What makes a run the one that it is."""
    return json.dumps([row[key] for key in ("exp", "job", "seed", "srpic",
                                            "quick", "commit", "kver")],
                      sort_keys=True)


def append(row):
    with (BENCH / f"{row['exp']}.jsonl").open("a") as lines:
        size = lines.tell()
        try:
            lines.write(json.dumps(row) + "\n")
            lines.flush()
        except OSError:     # no half a row
            os.truncate(lines.name, size)
            raise


def origin(lines, where):
    """The commit and the kernel that an experiment's rows are of: one each."""
    commits = sorted({row["commit"] for row in lines})
    # a guest that did not boot has none
    kernels = sorted({row["kernel"] for row in lines if row.get("kernel")})
    if len(commits) > 1 or len(kernels) > 1:
        sys.exit(f"results: {where} has rows of several commits or kernels "
                 f"({', '.join(commits + kernels)}): remove all but those of "
                 "one")
    return commits[0], kernels[0] if kernels else "none"


def load(directory):
    """All rows of a directory, {experiment: [row, ...]}."""
    found = {}
    for path in sorted(directory.glob("*.jsonl")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            try:
                found.setdefault(path.stem, []).append(json.loads(line))
            except ValueError:
                sys.exit(f"results: {path}:{number}: not a row: remove the line")
    return found


def of_now(every):
    """Those of rows that this tree has made, with the experiment's kernel."""
    now = {name: commit(name) for name in every if name in EXPERIMENTS}
    found = {name: [row for row in every[name] if row["commit"] == now[name]
                    and row["kver"] == EXPERIMENTS[name].kver] for name in now}
    return {name: lines for name, lines in found.items() if lines}


def of_the_grid(lines):
    """How many runs of the whole grid did not fail."""
    return len({identity(row) for row in lines
                if "error" not in row and not row["quick"]})


def keep():
    """
    Have the repository hold those of this tree, but for experiments of which it
    has more of the whole grid.
    """
    every, kept = load(BENCH), load(KEPT)
    found = of_now(every)
    for name, lines in found.items():
        origin(lines, BENCH / f"{name}.jsonl")
    for name, lines in every.items():
        file = KEPT / f"{name}.jsonl"
        ours = of_the_grid(found.get(name, []))
        theirs = of_the_grid(kept.get(name, []))
        if name not in found:
            others = {f"{row['commit']} (kernel {row['kver']})"
                      for row in lines}
            print(f"results: {name} is left as it is in the repository: "
                  f"out/bench has no row of this tree, only of "
                  f"{', '.join(sorted(others))}")
        elif ours < theirs:
            print(f"results: {name} is left as it is in the repository: "
                  f"out/bench has {ours} runs of the whole grid of this tree, "
                  f"{file} has {theirs}; remove that to have them replaced")
        else:
            KEPT.mkdir(exist_ok=True)
            new = file.with_suffix(".new")
            new.write_text("".join(f"{json.dumps(row)}\n"
                                   for row in found[name]))
            new.replace(file)
