# SPDX-License-Identifier: GPL-2.0
"""
From rows to cells: a cell is a job, measured with each seed, without SRPIC
and with it. What a cell says of a metric is a mean and half of its 95 %
confidence interval (Student's t over the seeds).
"""

import json
from functools import cache
from math import sqrt
from statistics import fmean, stdev

from scipy import stats

SIDES = {False: "without", True: "with"}


@cache
def quantile(freedom):
    return float(stats.t.ppf(0.975, freedom))


def interval(values):
    """
    Mean and half of the confidence interval; None if one value has none.

    >>> [round(x, 3) for x in interval([1, 2, 3])]
    [2.0, 2.484]
    >>> interval([5])
    (5.0, None)
    """
    if len(values) < 2:
        return fmean(values), None
    return fmean(values), quantile(len(values) - 1) * stdev(values) / sqrt(
        len(values))


def name_of(job):
    """
    A job without its seed and SRPIC: what is to be compared.

    >>> name_of({"streams": 5, "seed": 1, "path": {"b": 1, "a": 2}})
    '{"path": {"a": 2, "b": 1}, "streams": 5}'
    """
    return json.dumps({key: value for key, value in job.items()
                       if key not in ("seed", "srpic")}, sort_keys=True)


# Metrics that follow from others: dividend, divisor, factor. The paper divides
# what it counts in 50 s by the throughput in Mbit/s; this is the count in 6.25
# MB, however long a run is.
QUOTIENTS = {
    "link_percent": ("throughput_mbps", "rate_mbit", 100),
    "wire_late_percent": ("wire_late", "wire_data", 100),
    "packets_per_segment": ("packets", "segments_seen", 1),
    # TCP counts either after GRO, which takes what SRPIC has sorted as one
    "ofo_per_100_segments": ("ofo_queued", "segments_seen", 100),
}
SUFFIXES = {"_per_mbps": 6.25e6, "_per_mb": 1e6}


def derive(result, metric):
    """
    A metric of a result, or what follows from its metrics; None if it has not.

    >>> derive({"acks_sent": 40, "bytes": 12500000}, "acks_sent_per_mbps")
    20.0
    >>> derive({"acks_sent": 40, "bytes": 2000000}, "acks_sent_per_mb")
    20.0
    >>> derive({"throughput_mbps": 225, "rate_mbit": 250}, "link_percent")
    90.0
    >>> derive({"ofo_queued": 3, "segments_seen": 60}, "ofo_per_100_segments")
    5.0
    """
    if metric in result:
        return result[metric]
    above, below, factor = QUOTIENTS.get(metric, (None, None, None))
    for suffix, size in SUFFIXES.items():
        if metric.endswith(suffix):
            above, below, factor = metric.removesuffix(suffix), "bytes", size
    if result.get(above) is None or not result.get(below):
        return None
    return result[above] / result[below] * factor


def kind(job, length):
    """
    What a job is in the whole grid and in quick runs alike.

    >>> kind({"ipv": 6, "seconds": 2}, "seconds")
    {'ipv': 6}
    """
    return {key: value for key, value in job.items() if key != length}


def usable(rows, length):
    """
    The rows that count. A job that has rows of the whole grid, be it that all
    of them failed, needs none of the quick ones: with and without SRPIC, it
    has one length.

    >>> usable([{"job": {"ipv": 6, "seconds": 5}, "quick": False},
    ...         {"job": {"ipv": 6, "seconds": 2}, "quick": True},
    ...         {"job": {"ipv": 4, "seconds": 2}, "quick": True}], "seconds")[1]
    {'job': {'ipv': 4, 'seconds': 2}, 'quick': True}
    """
    whole = {name_of(kind(row["job"], length)) for row in rows
             if not row["quick"]}
    return [row for row in rows if not row["quick"]
            or name_of(kind(row["job"], length)) not in whole]


class Cell:
    """The results of a job, as {srpic: {seed: result}}."""

    def __init__(self, job):
        self.quick = False
        self.job = {key: value for key, value in job.items()
                    if key not in ("seed", "srpic")}
        self.results = {}

    def values(self, metric, srpic):
        """{seed: value}"""
        found = {seed: derive(self.job | result, metric)
                 for seed, result in self.results.get(srpic, {}).items()}
        return {seed: value for seed, value in found.items()
                if value is not None}

    def compared(self, metric):
        """
        {srpic: [value, ...]}: where both sides have values, they are those of
        the seeds that both have.

        >>> cell = Cell({})
        >>> cell.results = {False: {1: {"a": 5}, 2: {"a": 6}, 3: {"a": 9}},
        ...                 True: {3: {"a": 3, "b": 1}, 4: {"a": 8, "b": 2}}}
        >>> cell.compared("a"), cell.compared("b"), cell.ratio("a")
        ({False: [9], True: [3]}, {True: [1, 2]}, 0.3333333333333333)
        """
        sides = {srpic: self.values(metric, srpic) for srpic in self.results}
        sides = {srpic: found for srpic, found in sides.items() if found}
        return {srpic: [value for seed, value in found.items()
                        if all(seed in other for other in sides.values())]
                for srpic, found in sides.items()}

    def interval(self, metric, srpic):
        """Mean and half of the interval, or None."""
        values = self.compared(metric).get(srpic)
        return interval(values) if values else None

    def ratio(self, metric):
        """With SRPIC / without, of the means; None if there is no such."""
        sides = [self.interval(metric, srpic) for srpic in SIDES]
        return sides[1][0] / sides[0][0] if all(sides) and sides[0][0] else None

    def change(self, metric):
        """
        With SRPIC - without: mean, half of the interval, number of seeds; None
        if no seed has both. A seed means the same path to both.

        >>> cell = Cell({})
        >>> cell.results = {False: {1: {"a": 5}, 2: {"a": 6}, 3: {"a": 7}},
        ...                 True: {1: {"a": 8}, 2: {"a": 9}}}
        >>> cell.change("a")
        (3.0, 0.0, 2)
        """
        without, with_ = (self.values(metric, srpic) for srpic in SIDES)
        both = [with_[seed] - without[seed] for seed in without
                if seed in with_]
        return (*interval(both), len(both)) if both else None


def expand(rows, lists, keys):
    """
    Rows for what the rows' results have in a list: such keys of an element
    become a part of the job.

    >>> expand([{"job": {"a": 1}, "seed": 1, "srpic": None, "result":
    ...     {"cases": [{"depth": 2, "instructions": 80}]}}],
    ...     "cases", ["depth"])[0]["job"]
    {'a': 1, 'depth': 2}
    """
    return [row | {"job": row["job"] | {key: element[key] for key in keys
                                        if key in element},
                   "result": {key: value for key, value in element.items()
                              if key not in keys}}
            for row in rows for element in row.get("result", {}).get(lists, [])]


def collect(rows, first=(), only_with=()):
    """
    The cells of rows, those of the jobs in first first, without what failed.
    Of two rows for the same run the later counts.

    Keys in only_with say nothing without SRPIC: what was measured without it
    at one value of theirs is so at the others.

    >>> rows = [{"job": {"a": a}, "seed": 1, "srpic": a > 0, "quick": False,
    ...          "result": {"x": a}} for a in (0, 1, 2)]
    >>> [cell.results[False] for cell in collect(rows, only_with=["a"])]
    [{1: {'x': 0}}, {1: {'x': 0}}]
    """
    found = {name_of(job): Cell(job) for job in first}
    for row in rows:
        if "error" not in row:
            cell = found.setdefault(name_of(row["job"]), Cell(row["job"]))
            cell.quick = row["quick"]
            cell.results.setdefault(row["srpic"], {})[row["seed"]] = \
                row["result"]
    cells = [cell for cell in found.values() if cell.results]
    return share(cells, only_with) if only_with else cells


def share(cells, only_with):
    """Give cells what others have without SRPIC, and leave out those others."""
    def rest(cell):
        return name_of({key: value for key, value in cell.job.items()
                        if key not in only_with})

    without = {rest(cell): cell.results[False] for cell in cells
               if False in cell.results}
    for cell in cells:
        if rest(cell) in without:
            cell.results.setdefault(False, without[rest(cell)])
    shared = {rest(cell) for cell in cells if True in cell.results}
    return [cell for cell in cells
            if True in cell.results or rest(cell) not in shared]


def run_of(row):
    """What makes a row one of a run: (name of the job, srpic, seed)."""
    return name_of(row["job"]), row["srpic"], row["seed"]


def account(rows, grid):
    """
    What is odd about the rows: a dictionary of lists. "missing" runs of the
    grid; rows with an "error"; runs that have rows but are "strange" to the
    grid; runs with "repeated" rows. A run is what run_of() says.
    """
    have = [run_of(row) for row in rows]
    return {
        "missing": [run for run in grid if run not in have],
        "error": [(run, row["error"]) for run, row in zip(have, rows)
                  if "error" in row],
        "strange": [run for run in dict.fromkeys(have) if run not in grid],
        "repeated": [run for run in dict.fromkeys(have)
                     if have.count(run) > 1],
    }
