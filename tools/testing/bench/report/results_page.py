# SPDX-License-Identifier: GPL-2.0
"""The page of results, of rows. It does not know where they come from."""

import csv
import io
import json
import re
import textwrap
from collections import Counter, defaultdict
from functools import cached_property
from math import hypot

import figures
import jinja2
import published
from cells import SIDES, account, collect, expand, name_of, run_of, usable
from guests import HERE
from sections import METRICS, SECTIONS, SUMMARY, papers, possible
from tables import NONE, describe, estimate, label, number, place, text

# The keys of jobs that quick runs have less of, and what these are of a run.
LENGTHS = {"seconds": "virtual seconds", "times": "polls", "flows": "flows"}

# Commits whose SRPIC sorts and does not merge yet.
OLDER = "1abc2bf9c866", "3b1d9e3e8644"


class Chapter:
    """An experiment, its rows, and the cells that they make."""

    def __init__(self, experiment, rows, defaults, origin):
        """
        defaults is what the job's script does if a job does not say, those of
        now: rows have those that they are of, but for what was added since, by
        which it does what it did. origin is the commit and the kernel of the
        rows.
        """
        self.name, self.title = experiment.name, experiment.title
        self.commit, self.kernel = origin
        self.section = SECTIONS[self.name]
        self.length = experiment.length
        said = {key for quick in (False, True)
                for run in experiment.runs(quick) for key in run.job}
        rows = [row | {"job": defaults | row["defaults"] | row["job"]}
                for row in rows]
        self.rows = usable(rows, self.length)
        grids = {quick: [(defaults | run.job, run.srpic, run.seed)
                         for run in experiment.runs(quick)]
                 for quick in (False, True)}
        self.count(grids)
        jobs = [job for grid in grids.values() for job, _, _ in grid]
        if self.section.lists:
            self.cells = collect(expand(self.rows, self.section.lists,
                                        self.section.vary))
            jobs = []
        else:
            self.cells = collect(self.rows, jobs, self.section.only_with)
        self.sides = [side for side in SIDES if any(
            side in cell.results for cell in self.cells)]
        self.find_keys([cell.job for cell in self.cells] + jobs, said)
        found = {metric: value for cell in self.cells
                 for side in cell.results.values() for result in side.values()
                 for metric, value in result.items()}
        names = dict.fromkeys((*METRICS, *sorted(found)))
        self.metrics = [
            metric for metric in names
            if not isinstance(found.get(metric), (list, dict, str)) and any(
                cell.values(metric, side) for cell in self.cells
                for side in cell.results)]
        self.main = [metric for metric in self.section.main
                     if metric in self.metrics]

    def count(self, grids):
        """What is there of the whole grid, and what is odd."""
        self.quick = all(row["quick"] for row in self.rows)
        grid = [(name_of(job), srpic, seed)
                for job, srpic, seed in grids[self.quick]]
        found = [row for row in self.rows if row["quick"] == self.quick]
        self.odd = account(found, grid)
        good = {run_of(row) for row in found if "error" not in row}
        self.done, self.all = len(good.intersection(grid)), len(grid)
        self.short = len(self.rows) - len(found)
        self.lacks = self.short or self.done < self.all
        self.seeds = sorted({row["seed"] for row in self.rows})
        self.lengths = sorted({row["job"].get(self.length)
                               for row in self.rows} - {None})

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

    def like_papers(self, cell):
        """Is a cell what comes closest to the paper's own?"""
        return all(cell.job.get(key) == value
                   for key, value in self.section.like)

    @cached_property
    def judged(self):
        """(metric, cell, its change) of all that has a better and a worse."""
        return [(metric, cell, cell.change(metric))
                for metric, meta in METRICS.items()
                if metric in self.metrics and meta.better and meta.ratio
                for cell in self.cells if cell.change(metric)]

    def verdicts(self):
        """A line on each of the main metrics, the telling one first."""
        return [verdict(self, metric) for metric in self.main]

    def table(self):
        """The lines of the table of the page, the headings first."""
        heads = [label(key) for key in self.keys]
        for metric in self.main:
            said = METRICS[metric].label
            heads += [f"{said}, {SIDES[side]}" if self.sides[1:] else said
                      for side in self.sides]
            heads += ["with / without"] * self.compares(metric)
            heads += ["the paper's"] * self.of_paper(metric)
        blocks = "mean_block" in self.metrics
        yield heads + ["mean block"] * blocks
        for cell in self.cells:
            if not any(cell.values(metric, side) for metric in self.main
                       for side in self.sides):
                continue
            line = [text(cell.job[key]) if key in cell.job else NONE
                    for key in self.keys]
            for metric in self.main:
                line += [shown(cell, metric, side) for side in self.sides]
                line += [number(cell.ratio(metric))] * self.compares(metric)
                theirs = papers(self.name, cell.job, metric)
                value = ratio(theirs) if self.sides[1:] or not theirs else \
                    theirs[self.sides[0]][0]
                line += [number(value)] * self.of_paper(metric)
            line += [shown(cell, "mean_block", True)] * blocks
            line[0] += " (quick)" * (cell.quick and not self.quick)
            yield line

    def compares(self, metric):
        return bool(self.sides[1:]) and METRICS[metric].ratio

    def file(self):
        """The lines of a file with all that was measured, headings first."""
        sides = [SIDES[side] for side in self.sides]
        yield [*self.keys, "quick", *(
            f"{metric} {side}{what}" for metric in self.metrics
            for side in sides for what in ("", " from", " to")), *(
            f"{metric} {side} in the paper" for metric in self.metrics
            for side in SIDES.values() if self.of_paper(metric))]
        for cell in self.cells:
            values = [value for metric in self.metrics for side in self.sides
                      for value in possible(metric, cell, side)
                      or (None, None, None)]
            values += [side and side[0] for metric in self.metrics
                       if self.of_paper(metric) for side in
                       papers(self.name, cell.job, metric) or (None, None)]
            yield [*(text(cell.job[key]) if key in cell.job else ""
                     for key in self.keys), cell.quick,
                   *("" if value is None else f"{value:.6g}"
                     for value in values)]

    def of_paper(self, metric):
        return any(papers(self.name, cell.job, metric) for cell in self.cells)


def shown(cell, metric, side):
    return estimate(possible(metric, cell, side))


def better(change, metric):
    """1 or -1 where that is for certain, else 0."""
    by, half, _ = change
    return 0 if abs(by) <= (half or 0) else \
        METRICS[metric].better * (1 if by > 0 else -1)


def span(values):
    """
    The least and the largest of values, in words.

    >>> span([0.5, 2.0]), span([1, 1])
    ('0.50 to 2.00', '1')
    """
    return " to ".join(dict.fromkeys((number(min(values)),
                                      number(max(values)))))


def verdict(chapter, metric):
    """How a metric is with SRPIC, in all cells that it was compared in."""
    changes = [better(change, metric) for name, _, change in chapter.judged
               if name == metric]
    ratios = [cell.ratio(metric) for cell in chapter.cells
              if cell.ratio(metric) is not None]
    if not changes or not ratios:
        return f"{METRICS[metric].label}: " + span(
            [found[0] for cell in chapter.cells
             if (found := possible(metric, cell, chapter.sides[-1]))])
    theirs = [ratio(papers(chapter.name, cell.job, metric))
              for cell in chapter.cells if chapter.like_papers(cell)]
    theirs = [value for value in theirs if value is not None]
    return (f"{METRICS[metric].label}: {span(ratios)} times with SRPIC; "
            f"better {changes.count(1)}, worse {changes.count(-1)}, no proof "
            f"{changes.count(0)}"
            + (f"; in the paper {span(theirs)} times" if theirs else ""))


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


def run_name(run, keys):
    """A run of account() in words."""
    name, srpic, seed = run
    job = json.loads(name)
    return (describe(job, [key for key in keys if key in job]),
            SIDES[srpic], seed)


def odd(chapters):
    """The lines of a file: what is missing, failed or does not belong."""
    yield "experiment", "job", "SRPIC", "seed", "what"
    for chapter in chapters:
        for what in "missing", "strange", "repeated", "error":
            for run in chapter.odd[what]:
                run, said = run if what == "error" else (run, what)
                yield chapter.name, *run_name(run, chapter.keys), said


def worse(chapters):
    """[(chapter, metric, cell, change)], how many comparisons there were"""
    found = [(chapter, *one) for chapter in chapters
             for one in chapter.judged]
    return [one for one in found if better(one[3], one[1]) < 0], len(found)


def worse_table(lines):
    yield ("experiment", "job", "what", "without", "with", "with / without",
           "seeds")
    for chapter, metric, cell, (_, _, seeds) in lines:
        yield (chapter.name, describe(cell.job, chapter.keys),
               METRICS[metric].label,
               *(shown(cell, metric, side) for side in SIDES),
               number(cell.ratio(metric)), seeds)


def below(chapters):
    """[line of a table] for each gain that is less than the paper's, and how
    many were compared"""
    found, count = [], 0
    for chapter in chapters:
        for metric, cell, _ in chapter.judged:
            pair = papers(chapter.name, cell.job, metric)
            ours, theirs = cell.ratio(metric), ratio(pair)
            if ours is None or theirs is None or not chapter.like_papers(cell):
                continue
            count += 1
            halves = [spread(pair), spread([cell.interval(metric, side)
                                            for side in SIDES])]
            if (theirs - ours) * METRICS[metric].better > sum(halves):
                found.append((
                    chapter.name, describe(cell.job, chapter.keys),
                    METRICS[metric].label, number(ours), number(theirs),
                    *(shown(cell, "link_percent", side) for side in SIDES),
                    shown(cell, "mean_block", True)))
    return [("experiment", "job", "what", "with / without", "the paper's",
             "% of the link, without", "with", "mean block"), *found], count


def context(chapters):
    """What the template is told of the rows."""
    origins = defaultdict(list)
    for chapter in chapters:
        origins[chapter.commit, chapter.kernel].append(chapter.name)
    lines, compared = worse(chapters)

    def cell(exp, **job):
        """The cell of such a job, if it was measured with SRPIC and without."""
        return next((one for chapter in chapters if chapter.name == exp
                     for one in chapter.cells if job.items() <= one.job.items()
                     and one.results.keys() >= SIDES.keys()), None)

    rows = [row for chapter in chapters for row in chapter.rows]
    return {
        "chapters": chapters, "older": OLDER, "origins": origins,
        "cell": cell, "lengths": LENGTHS,
        "worse": lines, "compared": compared, "worse_table": worse_table(lines),
        "worse_where": Counter(one[0].name for one in lines),
        "worst": sorted(lines, key=lambda one: -abs(
            1 - (one[2].ratio(one[1]) or 1)))[:3],
        "below": below(chapters), "metrics": METRICS, "describe": describe,
        "estimate": shown, "number": number, "said": published.SAID,
        "hours": sum(row.get("real_s") or 0 for row in rows) / 3600}


def line_of(cells):
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def fill(text, indent=0):
    return textwrap.fill(" ".join(text.split()), 79, break_long_words=False,
                         break_on_hyphens=False, subsequent_indent=" " * indent)


def paragraph(text):
    return f"\n{fill(text)}\n\n"


def items(text):
    """Each of a list's items."""
    return "\n" + "\n".join(fill("* " + item, 2) for item in
                            text.strip().split("* ")[1:]) + "\n\n"


def table(lines):
    return ("\n.. csv-table::\n   :header-rows: 1\n   :widths: auto\n\n"
            + textwrap.indent(lines.strip(), "   ") + "\n\n")


def render(chapters, absent, targets, prose, files):
    """
    The page. absent are the names of experiments without rows, prose is {name:
    (commits, text)}; figures and tables go to the directory files.
    """
    by_name = {chapter.name: chapter for chapter in chapters}

    def save(name, panels, caption):
        figures.save(figures.draw(panels), files / f"{name}.svg")
        return f"{files.name}/{name}.svg", caption

    def write(name, lines):
        (files / f"{name}.csv").write_text(
            "".join(f"{line_of(line)}\n" for line in lines))

    drawn = {}
    for chapter in chapters:
        write(chapter.name, chapter.file())
        drawn[chapter.name] = [
            save(f"{chapter.name}-{plot.metric}", panels, plot.caption)
            for plot in chapter.section.plots
            if (panels := figures.panels(chapter, plot))]
    write("runs", odd(chapters))
    summary = [(panels, caption) for caption, *wanted in SUMMARY if (
        panels := [panel for one in wanted if one.name in by_name
                   for panel in figures.some(by_name[one.name], one)])]
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE / "report"), trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined)
    env.filters |= {"csv": line_of, "fill": fill, "items": items,
                    "paragraph": paragraph, "table": table}
    text = env.get_template("results_page.rst.j2").render(
        **context(chapters), absent=absent, targets=targets, prose=prose,
        figures=drawn, where=files.name, summary=[
            save(f"summary-{at}", *one)
            for at, one in enumerate(summary[:3], 1)])
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
