# SPDX-License-Identifier: GPL-2.0
"""What an experiment is, and the runs that it is made of."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from guests import HERE, KVER

# Declared before anything was measured. QUICK=1 has the first one only.
SEEDS = (1, 2, 3)


@dataclass(frozen=True)
class Run:
    """One guest. The job is what its script is told, seed and SRPIC apart."""

    exp: str
    job: dict
    seed: int
    srpic: bool
    quick: bool

    def __str__(self):
        varied = " ".join(f"{key}={value}" for key, value in self.job.items())
        return (f"{self.exp}: {varied} seed={self.seed} "
                f"srpic={'on' if self.srpic else 'off'}")


@dataclass(frozen=True)
class Experiment:
    """
    Runs of one script in the guest, a file of jobs/. Each job is run for each
    seed, without and with SRPIC, unless the job names "srpic" or "seed" itself.
    """

    name: str               # EXP=name, out/bench/name.jsonl
    title: str
    script: str
    jobs: tuple             # of dicts: what the script is told
    quick: tuple = ()       # what QUICK=1 runs in their place, if anything
    length: str = "seconds"         # the key of which quick jobs have less
    run_s: int = 60         # real seconds that a run takes on a CPU of its own
    capture: bool = False   # count what is on the wire, see wire.py
    kunit: str = ""         # in place of a script: the suite that is run,
    append: str = ""        # its kernel arguments,
    parse: Callable | None = None   # and what makes the result of its lines
    files: tuple = ()       # what the guest needs beside jobs/
    prepare: str = ""       # the script of this directory that makes these
    kver: str = KVER        # the kernel,
    variant: str = ""       # this one of build-kernel,
    sources: tuple = ()     # and what that has, and those of others have not

    def runs(self, quick):
        quick = quick and bool(self.quick)
        for job in self.quick if quick else self.jobs:
            seeds = (job["seed"],) if "seed" in job else \
                SEEDS[:1] if quick else SEEDS
            states = (job["srpic"],) if "srpic" in job else (False, True)
            rest = {key: value for key, value in job.items()
                    if key not in ("seed", "srpic")}
            for seed, srpic in product(seeds, states):
                yield Run(self.name, rest, seed, srpic, quick)

    def defaults(self):
        """The DEFAULTS of the script, which runs in the guest only."""
        if not self.script:
            return {}
        for node in ast.parse((HERE / "jobs" / self.script).read_text()).body:
            if isinstance(node, ast.Assign) and \
                    ast.unparse(node.targets[0]) == "DEFAULTS":
                return ast.literal_eval(node.value)
        return {}


def grid(**varied):
    """The jobs that have each combination of the values, in order."""
    values = [value if isinstance(value, tuple) else (value,)
              for value in varied.values()]
    return tuple(dict(zip(varied, chosen)) for chosen in product(*values))


def shorter(jobs, seconds=2):
    """The jobs, with fewer virtual seconds each."""
    return tuple(job | {"seconds": seconds} for job in jobs)
