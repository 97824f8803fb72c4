# SPDX-License-Identifier: GPL-2.0
"""The page of results as text. It knows rows, not where they come from."""

import json
import textwrap
from collections import defaultdict
from math import hypot
from typing import NamedTuple

import published
from cells import SIDES, account, collect, expand, name_of, run_of, usable
from sections import METRICS, SECTIONS, papers
from tables import (
    NONE,
    describe,
    estimate,
    label,
    number,
    place,
    table,
    text,
)

# The keys of jobs that quick runs have less of, and what these are of a run.
LENGTHS = {"seconds": "virtual seconds", "times": "polls", "flows": "flows"}


class Extent(NamedTuple):
    """Rows of the whole grid, or of quick runs, and how many runs there are."""

    rows: list
    done: int
    failed: int
    all: int


class Chapter:
    """An experiment, its rows, and the cells that they make."""

    def __init__(self, experiment, rows, defaults, origin):
        """
        defaults is what the job's script does if a job does not say, those of
        now: rows have those that they are of, but for what was added since, by
        which it does what it did. origin is the commit and the
        kernel of the rows.
        """
        self.name, self.title = experiment.name, experiment.title
        self.origin = origin
        self.section = SECTIONS[self.name]
        self.length = experiment.length
        said = {key for quick in (False, True)
                for run in experiment.runs(quick) for key in run.job}
        rows = [row | {"job": defaults | row["defaults"] | row["job"]}
                for row in rows]
        self.rows = usable(rows, self.length)
        self.unused = len(rows) - len(self.rows)
        self.grids = [[(defaults | run.job, run.srpic, run.seed)
                       for run in experiment.runs(quick)]
                      for quick in (False, True)]
        self.count()
        jobs = [job for grid in self.grids for job, _, _ in grid]
        if self.section.lists:
            self.cells = collect(expand(self.rows, self.section.lists,
                                        list(METRICS)))
            jobs = []
        else:
            self.cells = collect(self.rows, jobs, self.section.only_with)
        self.sides = [side for side in (False, True, None) if any(
            side in cell.results for cell in self.cells)]
        self.find_keys([cell.job for cell in self.cells] + jobs, said)

    def count(self):
        """What is there of the whole grid, and of quick runs; what is odd."""
        self.odd = defaultdict(list)
        self.extents = {}
        for quick, grid in enumerate(self.grids):
            found = [row for row in self.rows if row["quick"] == quick]
            if not found:
                continue
            names = [(name_of(job), srpic, seed) for job, srpic, seed in grid]
            odd = account(found, names)
            if self.extents:    # quick runs fill up what lacks of the grid
                odd["missing"] = []
            for what, runs in odd.items():
                self.odd[what] += runs
            good = {run_of(row) for row in found if "error" not in row}
            failed = {run for run, _ in odd["error"]} - good
            self.extents[bool(quick)] = Extent(
                found, len(good.intersection(names)), len(failed), len(names))
        self.quick = False not in self.extents
        self.complete = self.extents.keys() == {False} and \
            self.extents[False].done == self.extents[False].all

    def find_keys(self, jobs, said):
        """
        What the jobs differ in, those of the whole grid included, and what all
        of them have alike. What a script does of itself, but none of them says,
        is left out where it is nothing: no loss.
        """
        names = dict.fromkeys((*self.section.vary,
                               *(key for job in jobs for key in job)))
        names = [key for key in names if key not in
                 ("seed", "srpic", self.length, *self.section.implied)]
        various = {key: len({text(job.get(key)) for job in jobs}) > 1
                   for key in names}
        self.keys = [key for key in names if various[key]]
        self.job = jobs[0] if jobs else {}
        self.constant = [key for key in names if not various[key]
                         and (key in said or self.job.get(key))]
        words = {key: [job.get(key) for job in jobs] for key in self.keys}
        self.cells.sort(key=lambda cell: [
            place(cell.job.get(key), words[key]) for key in self.keys])

    def start(self, cell):
        """What tables of several chapters begin a line with."""
        return [named(self.name, cell.quick), describe(cell.job, self.keys)
                or "all"]


def mark(cells):
    """What is said of a table or a figure of such cells."""
    kinds = {cell.quick for cell in cells}
    return (f"{'in part ' * (False in kinds)}quick runs, one seed"
            if True in kinds else "")


def named(name, quick):
    return f"{name} (quick)" if quick else name


def has(cell, metric):
    return any(cell.values(metric, side) for side in cell.results)


def heading(title, mark):
    return f"{title}\n{mark * len(title)}"


def filled(said, indent=""):
    """Text of any length in lines of 80 columns."""
    return textwrap.fill(said, 79, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def listed(items, most=12):
    """
    Items as a list; if there are many, the number of the others.

    >>> print(listed(["a", "b", "c"], 2))
    * a
    * b
    * and 1 more
    """
    more = [f"and {len(items) - most} more"] if len(items) > most else []
    return "\n".join(filled(f"* {item}", "  ")
                     for item in [*items[:most], *more])


def run_name(run, keys):
    """A run of account() in words."""
    name, srpic, seed = run
    job = json.loads(name)
    how = f"{SIDES[srpic]} SRPIC, " if srpic in SIDES else ""
    which = describe(job, [key for key in keys if key in job])
    return f"{which or 'all'}: {how}seed {seed}"


def odd(chapter):
    """What is missing, failed or does not belong: never left out silently."""
    said, keys = [], chapter.keys
    for kind, what in (
            ("missing", "Runs of the grid that have no row"),
            ("strange", "Runs that have rows and are not in the grid"),
            ("repeated", "Runs with more than one row (the last one that did "
                         "not fail counts)")):
        if chapter.odd[kind]:
            said += [f"{what}: {len(chapter.odd[kind])}.",
                     listed([run_name(run, keys) for run in chapter.odd[kind]])]
    if chapter.odd["error"]:
        failed = [f"{run_name(run, keys)}: ``{error}``"
                  for run, error in chapter.odd["error"]]
        said += [f"Runs that failed: {len(failed)}.",
                 listed(failed, len(failed))]
    if chapter.unused:
        said += [f"Rows of quick runs, not used here: {chapter.unused}."]
    return said


def scaled(metric, found):
    """An estimate in the metric's unit."""
    if found is None:
        return NONE
    scale = METRICS[metric].scale
    return estimate([x if x is None else x * scale for x in found[:2]])


def ratio(pair):
    """
    With / without, of the paper's pair; None if one of them is rounded to 0.

    >>> ratio(((0.04, 0.002), (0.0, 0.0)))
    """
    return pair[1][0] / pair[0][0] if pair and all(
        side and side[0] for side in pair) else None


def spread(pair):
    """
    Half of the interval of a ratio, which follows from those of its sides.

    >>> round(spread(((100, 3), (200, 8))), 6), spread(((100, None), (0, None)))
    (0.1, 0.0)
    """
    (below, off), (above, on) = pair
    return hypot(on or 0, (off or 0) * above / below) / below


def like_papers(chapter, cell):
    """Is a cell what comes closest to the paper's own?"""
    return all(cell.job.get(key) == value
               for key, value in chapter.section.like)


def columns(chapter, cells, metric):
    """The groups of columns that a metric has, each with the cells' texts."""
    meta, groups = METRICS[metric], []
    names = [SIDES.get(side, "") for side in chapter.sides]
    values = [[scaled(metric, cell.interval(metric, side))
               for side in chapter.sides] for cell in cells]
    if chapter.sides == list(SIDES) and meta.ratio:
        names.append("with / without")
        values = [[*row, number(cell.ratio(metric))]
                  for row, cell in zip(values, cells)]
    groups.append((meta.label, names, values))
    theirs = [papers(chapter.name, cell.job, metric) or (None, None)
              for cell in cells]
    sides = [at for at in (0, 1) if any(pair[at] for pair in theirs)]
    names = [SIDES[at] for at in sides if meta.paper]
    values = [[estimate(pair[at]) for at in sides if meta.paper]
              for pair in theirs]
    if len(sides) == 2 and meta.ratio:
        names.append("with / without")
        values = [[*row, number(ratio(pair))]
                  for row, pair in zip(values, theirs)]
    if names:
        groups.append(("the paper's", names, values))
    return groups


def metrics_table(chapter, metrics):
    """A table of metrics, a line for each cell that has one, if any has."""
    cells = [cell for cell in chapter.cells if any(
        has(cell, metric) for metric in metrics)]
    if not cells:
        return []
    groups = [group for metric in metrics
              if any(has(cell, metric) for cell in cells)
              for group in columns(chapter, cells, metric)]
    if any(has(cell, "mean_block") for cell in cells):
        groups.append(("mean block", [], [
            [scaled("mean_block", cell.interval("mean_block", True))]
            for cell in cells]))
    heads = [(label(key), ()) for key in chapter.keys]
    mixed = len({cell.quick for cell in cells}) > 1
    heads += [("runs", ())] * mixed
    heads += [("like the paper's", ())] * bool(chapter.section.like)
    heads += [(what, names) for what, names, _ in groups]
    marked = mark(cells)
    return [f"*{marked.capitalize()}:*"] * bool(marked) + [table(heads, [
        [text(cell.job[key]) if key in cell.job else NONE
         for key in chapter.keys] +
        ["quick" if cell.quick else "grid"] * mixed +
        [text(like_papers(chapter, cell))] * bool(chapter.section.like) +
        [part for _, _, values in groups for part in values[at]]
        for at, cell in enumerate(cells)])]


def dilution(chapter):
    """By how much time is stretched: the paper's link has 1000 Mbit/s."""
    if not any("link_percent" in names for names in chapter.section.tables):
        return []
    rates = {cell.job["rate_mbit"] for cell in chapter.cells}
    return [f"The link has {rate} Mbit/s: time is stretched "
            f"{1000 / rate:g} times." for rate in sorted(rates)]


def extent(chapter, quick):
    """How many runs such rows are of, and how long these are."""
    found, done, failed, count = chapter.extents[quick]
    said = [f"{done} of {count} runs of the grid" if not quick else
            f"{done} of {count} quick runs" if chapter.quick else
            f"{done} quick run{'s' * (done != 1)}, where there are none of the "
            "grid"]
    said[0] += f", {failed} failed" * bool(failed)
    seeds = sorted({row["seed"] for row in found})
    said += [f"seed{'s' * (len(seeds) > 1)} {', '.join(map(str, seeds))}"]
    lengths = {row["job"].get(chapter.length) for row in found} - {None}
    if lengths:
        said += [" or ".join(f"{length:,}" for length in sorted(lengths))
                 + f" {LENGTHS[chapter.length]} each"]
    return filled(f"Rows of ``make bench EXP={chapter.name}"
                  f"{' QUICK=1' * quick}``: {'; '.join(said)}.")


def incomplete(chapters):
    """What there is of the experiments of which runs lack; "" if none do."""
    quick = [chapter.name for chapter in chapters if chapter.quick]
    some = [f"{chapter.name} ({done} of {count}"
            f"{', and quick ones' * (True in chapter.extents)})"
            for chapter in chapters
            if not (chapter.quick or chapter.complete)
            for _, done, _, count in [chapter.extents[False]]]
    said = [f"{what} {', '.join(names)}" for what, names in (
        ("not all runs of", some), ("only quick runs of", quick)) if names]
    return f"**Not the whole grid**: {'; '.join(said)}." if said else ""


def chapter_text(chapter, prose, figures):
    """The part of the page on an experiment."""
    said = [chapter.section.what]
    if chapter.constant:
        said.append("In all runs: "
                    f"{describe(chapter.job, chapter.constant)}.")
    parts = [heading(chapter.title, "-"),
             filled(" ".join([*said, *dilution(chapter)])),
             *(extent(chapter, quick) for quick in chapter.extents),
             *odd(chapter)]
    for metrics in chapter.section.tables:
        found = metrics_table(chapter, metrics)
        if found:
            parts += found
    for file, caption in figures:
        marked = mark(chapter.cells)
        caption += f", {marked}" * bool(marked)
        parts.append(f".. figure:: {file}\n   :alt: {caption}\n\n   {caption}")
    if chapter.name in published.SAID:
        parts.append(filled(f"The paper: {published.SAID[chapter.name]}"))
    # conclusions are of the whole grid; what lacks of it is said above
    return parts + ([prose] if prose and True not in chapter.extents else [])


def judged(chapter):
    """Metrics that have a better and a worse."""
    names = dict.fromkeys(metric for table in chapter.section.tables
                          for metric in table)
    return [metric for metric in names
            if METRICS[metric].better and METRICS[metric].ratio]


def worse(chapters):
    """[line of a table], how many comparisons there were"""
    found, count = [], 0
    for chapter in chapters:
        for metric in judged(chapter):
            for cell in chapter.cells:
                change = cell.change(metric)
                if change is None:
                    continue
                count += 1
                by, half, seeds = change
                if by * METRICS[metric].better < -(half or 0):
                    found.append([
                        *chapter.start(cell),
                        METRICS[metric].label,
                        *(scaled(metric, cell.interval(metric, side))
                          for side in SIDES),
                        number(cell.ratio(metric)),
                        scaled(metric, (by, half)), str(seeds)])
    return found, count


def below(chapters):
    """[line of a table] for each gain that is less than the paper's, and how
    many were compared"""
    found, count = [], 0
    for chapter in chapters:
        for metric in judged(chapter):
            for cell in chapter.cells:
                pair = papers(chapter.name, cell.job, metric)
                ours, theirs = cell.ratio(metric), ratio(pair)
                if ours is None or theirs is None or \
                        not like_papers(chapter, cell):
                    continue
                count += 1
                halves = [spread(pair), spread([cell.interval(metric, side)
                                                for side in SIDES])]
                if (theirs - ours) * METRICS[metric].better > sum(halves):
                    found.append([
                        *chapter.start(cell),
                        METRICS[metric].label, number(ours), number(theirs),
                        *(estimate(cell.interval("link_percent", side))
                          for side in SIDES),
                        scaled("mean_block",
                               cell.interval("mean_block", True))])
    return found, count


def worse_text(chapters):
    """The section on where SRPIC is worse than nothing, or than the paper."""
    lines, count = worse(chapters)
    parts = [heading("Where SRPIC is worse", "="),
             filled(f"Of {count} comparisons, {len(lines)} are worse with "
                    "SRPIC than without by more than half of the 95 % "
                    "confidence interval of the difference, which is taken "
                    "seed by seed. With one seed there is no interval, and "
                    "any difference counts. Where SRPIC changes nothing, one "
                    "comparison in 40 is to be expected here by chance.")]
    if lines:
        parts.append(table([(name, ()) for name in (
            "experiment", "job", "what", "without", "with", "with / without",
            "difference", "seeds")], lines))
    lines, count = below(chapters)
    parts += [heading("Where the gain is below the paper's", "="),
              filled(f"Of {count} ratios that the paper has too, of the runs "
                     "that are most like its own, "
                     f"{len(lines)} are better there by more than the 95 % "
                     "confidence intervals, which do not overlap; that of a "
                     "ratio follows from those of its two sides. With one "
                     "seed there is only the paper's. There is no ratio where "
                     "there was nothing without SRPIC, or where the paper has "
                     "a number that is rounded to 0. A full link cannot gain "
                     "more: see its use.")]
    if lines:
        parts.append(table([
            ("experiment", ()), ("job", ()), ("what", ()),
            ("with / without", ("here", "paper")),
            ("% of the link", tuple(SIDES.values())), ("mean block", ())],
            lines))
    return parts


def reached(target):
    """What was measured, with the throughput where that meets it as well."""
    return number(target["value"]) + (
        f" ({number(target['mbps'])} Mbit/s)" if target["mbps"] else "")


def targets_text(targets, chapters):
    """The table of targets."""
    names = {target["experiment"] for target in targets}
    commits = {chapter.origin for chapter in chapters if chapter.name in names}
    missed = [f"{target['name']}: {target['cause']}" for target in targets
              if not target["met"]]
    return [heading("Targets", "="),
            filled(f"Met: {len(targets) - len(missed)} of {len(targets)}. "
                   "Means are compared; what the seeds prove is said with the "
                   "tables." + " The rows are of several commits, see above: "
                   "``make bench`` takes those of one only."
                   * (len(commits) > 1)),
            table([(name, ()) for name in (
                "what", "measured", "target", "unit", "met", "rows of")],
                [[target["name"], reached(target), target["target"],
                  target["unit"], "yes" if target["met"] else "**no**",
                  named(target["experiment"], target["quick"])]
                 for target in targets]),
            "Not met:" * bool(missed), listed(missed, len(missed))]


def template(commands):
    """
    What command lines have in common; "..." where they differ.

    >>> template([["qemu", "-seed", "1"], ["qemu", "-seed", "2"]])
    ['qemu -seed ...']
    """
    found = []
    for size in dict.fromkeys(len(command) for command in commands):
        words = zip(*(c for c in commands if len(c) == size))
        found.append(" ".join(word[0] if len(set(word)) == 1 else "..."
                              for word in words))
    return found


def machine(chapters):
    """What ran the guests, and for how long."""
    rows = [row for chapter in chapters for row in chapter.rows]
    parts = [heading("The virtual machine", "=")]
    hours = sum(row.get("real_s") or 0 for row in rows) / 3600
    parts.append(f"The elapsed times of all runs add up to {hours:.1f} hours.")
    lines = template([row["qemu"] for row in rows if row.get("qemu")])
    if lines:
        parts.append("QEMU::\n\n" + "\n\n".join(map(wrapped, lines)))
    return parts


def wrapped(command, width=76):
    r"""
    A command as a literal block.

    >>> print(wrapped("qemu -m 1 -smp 2", 14))
      qemu -m 1 \
      -smp 2
    """
    lines = [" "]
    for word in command.split():
        if len(lines[-1]) + len(word) + 3 > width:
            lines.append(" ")
        lines[-1] += f" {word}"
    return " \\\n".join(lines)


def origins(chapters):
    """Which commit and which kernel the rows are of."""
    found = defaultdict(list)
    for chapter in chapters:
        found["commit ``{}`` and kernel ``{}``".format(*chapter.origin)] += [
            chapter.name]
    if len(found) == 1:
        return f"All rows are of {next(iter(found))}."
    said = [f"those of {', '.join(names)} of {origin}"
            for origin, names in found.items()]
    return f"Rows are of several commits or kernels: {'; '.join(said)}."


def page(chapters, absent, targets, prose, figures):
    """
    The page. absent are the names of experiments without rows, prose is {name:
    text}, figures {name: [(file, caption)]}.
    """
    parts = [".. SPDX-License-Identifier: GPL-2.0\n\n"
             ".. Made by make results from tools/testing/bench/rows: do not "
             "edit. Its prose\n   is in tools/testing/bench/results.d.",
             "=============\nSRPIC results\n=============",
             prose.get("about", ""),
             filled(origins(chapters))]
    parts.append(filled(incomplete(chapters)))
    if any(True in chapter.extents for chapter in chapters):
        parts.append(filled(
            "Quick runs have one seed, and so no confidence interval. What "
            "follows from them is marked as such."))
    if absent:
        parts.append(filled(
            f"Experiments that were not run: {', '.join(absent)}."))
    parts += targets_text(targets, chapters) + worse_text(chapters)
    parts.append(heading("Experiments", "="))
    for chapter in chapters:
        parts += chapter_text(chapter, prose.get(chapter.name),
                              figures.get(chapter.name, []))
    parts += machine(chapters)
    return "\n\n".join(part for part in parts if part) + "\n"
