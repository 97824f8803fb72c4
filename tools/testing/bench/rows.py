# SPDX-License-Identifier: GPL-2.0
"""The rows of the experiments: JSON lines, to which lines are only added."""

import hashlib
import json
import os
import subprocess
import sys

from runs import HERE, KVER, OUT, TOP

BENCH = OUT / "bench"       # where make bench leaves them
KEPT = HERE / "rows"        # those that the repository holds
# What a row follows from. The rest may change: other tests, what is written of
# the rows, the page that is made of them.
MEASURED = ("Kconfig", "drivers", "include", "patches", "scripts",
            "tools/testing/testbed",
            *(f"tools/testing/bench/{name}" for name in (
                "bench", "density.py", "experiment.py", "experiments",
                "igb-modules", "jobs", "runs.py", "wire.py")))


def git(*args):
    done = subprocess.run(["git", "-c", "safe.directory=*", *args], cwd=TOP,
                          capture_output=True, check=False)
    if done.returncode:
        sys.exit("bench: rows say of which commit they are, and git says: "
                 + done.stderr.decode().strip().split("\n")[0])
    return done.stdout


def commit():
    """
    The last commit that changed what is measured, with a mark of its own for
    each state that is none.
    """
    last = git("log", "-1", "--format=%H", "--", *MEASURED).decode()[:12]
    changed = git("diff", "HEAD", "--", *MEASURED)
    names = git("ls-files", "-o", "--exclude-standard", "-z", "--", *MEASURED)
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


def origin(found, where):
    """The commit and the kernel that rows are of: a page has those of one."""
    every = [row for lines in found.values() for row in lines]
    commits = sorted({row["commit"] for row in every})
    # a guest that did not boot has none
    kernels = sorted({row["kernel"] for row in every if row.get("kernel")})
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
                sys.exit(f"{path}:{number}: not a row: remove the line")
    return found


def of_commit(commit):
    """The rows in out/bench of a commit, and of the kernel that KVER names."""
    found = {name: [row for row in lines if row["commit"] == commit
                    and row["kver"] == KVER]
             for name, lines in load(BENCH).items()}
    return {name: lines for name, lines in found.items() if lines}


def of_the_grid(found):
    """How many runs of the whole grid did not fail."""
    return len({identity(row) for lines in found.values() for row in lines
                if "error" not in row and not row["quick"]})


def refusal(every, found, now):
    """Why the repository's rows are kept, and not replaced by those found."""
    if not found:
        others = {f"{row['commit']} (kernel {row['kver']})"
                  for lines in every.values() for row in lines}
        return (f"out/bench has none of {now} (kernel {KVER}), only of "
                f"{', '.join(sorted(others))}")
    ours, theirs = of_the_grid(found), of_the_grid(load(KEPT))
    if ours < theirs:
        return (f"they are of {theirs} runs of the whole grid, those of {now} "
                f"in out/bench of {ours}")
    return None


def keep():
    """Have the repository hold those of this commit, unless it has more."""
    every = load(BENCH)
    if not every:
        return
    now = commit()
    found = of_commit(now)
    why = refusal(every, found, now)
    if why:
        print(f"results: the rows in the repository are kept: {why}")
        return
    origin(found, BENCH)
    KEPT.mkdir(exist_ok=True)
    for name, lines in found.items():
        (KEPT / f"{name}.jsonl.new").write_text(
            "".join(f"{json.dumps(row)}\n" for row in lines))
    for name in found:
        (KEPT / f"{name}.jsonl.new").replace(KEPT / f"{name}.jsonl")
    for old in KEPT.glob("*.jsonl"):
        if old.stem not in found:
            old.unlink()
