# SPDX-License-Identifier: GPL-2.0
"""The figures of the page of results: one for each Plot of sections.py."""

import sys
import textwrap
from math import nan

from cells import SIDES
from sections import METRICS, papers
from tables import describe, label, place, text

try:
    from matplotlib import rcParams
    from matplotlib.figure import Figure
except ModuleNotFoundError:
    sys.exit("results: this Python has no matplotlib; run make results")

# Told apart by hue, by lightness and by shape.
COLOR = {False: "#e08a3c", True: "#1c4f9c", None: "#444444"}
LINE = {False: {"marker": "o", "linestyle": "--"},
        True: {"marker": "s", "linestyle": "-"}, None: {"marker": "d"}}
HATCH = {False: "///", True: "", None: ""}


def who(side):
    return {None: "measured"}.get(side) or f"{SIDES[side]} SRPIC"


def scaled(metric, found):
    """A mean and half of its interval, if it has one, in the metric's unit."""
    scale = METRICS[metric].scale
    return found[0] * scale, nan if found[1] is None else found[1] * scale


def lines(axis, plot, cells, places, side, name):
    """A line through the cells of a panel; the paper's beside it."""
    points = [(places[text(cell.job.get(plot.x))],
               *scaled(plot.metric, cell.interval(plot.metric, side)))
              for cell in cells if cell.interval(plot.metric, side)]
    if not points:
        return
    xs, ys, halves = zip(*sorted(points))
    axis.errorbar(xs, ys, halves, color=COLOR[side], capsize=3,
                  label=who(side), **LINE[side])
    if plot.over:
        axis.plot(*zip(*sorted(
            (places[text(cell.job.get(plot.x))],
             cell.interval(plot.over, side)[0]) for cell in cells
            if cell.interval(plot.over, side))), color=COLOR[side],
            linewidth=0.8, linestyle="-.",
            label=f"{METRICS[plot.over].label}, {SIDES[side]}")
    theirs = sorted((places[text(cell.job.get(plot.x))],
                     papers(name, cell.job, plot.metric)[side][0])
                    for cell in cells if plot.paper
                    and papers(name, cell.job, plot.metric))
    if theirs:
        axis.plot(*zip(*theirs), color=COLOR[side], markerfacecolor="none",
                  linewidth=0.7, alpha=0.8, label=f"paper, {SIDES[side]}",
                  marker=LINE[side]["marker"], linestyle=":")


def bars(axis, plot, cells, places, side, name):
    """A bar for each cell of a panel."""
    for cell in cells:
        found = cell.interval(plot.metric, side)
        if found:
            value, half = scaled(plot.metric, found)
            x = places[text(cell.job.get(plot.x))]
            axis.bar(x + (0 if side is None else 0.4 * side - 0.2), value, 0.4,
                     yerr=half, capsize=3, color=COLOR[side],
                     hatch=HATCH[side], edgecolor="white", label=who(side))


def cdf(axis, plot, cells, _places, side, _name):
    """The share of all below a value; a curve for each seed."""
    for cell in cells:
        for curve in cell.values(plot.metric, side).values():
            share = [at / (len(curve) - 1) for at in range(len(curve))]
            axis.step(curve, share, color=COLOR[side], label=who(side),
                      linestyle=LINE[side].get("linestyle"), linewidth=1)


KINDS = {"lines": lines, "bars": bars, "cdf": cdf}


def legend(figure, axes):
    """One legend for all panels, below them."""
    known = {}
    for axis in axes:
        for handle, said in zip(*axis.get_legend_handles_labels()):
            known.setdefault(said, handle)
    names = sorted(known, key=lambda name: name.startswith("paper"))
    figure.legend([known[name] for name in names], names, ncols=len(names),
                  loc="outside lower center", frameon=False)


def ranks(plot, cells):
    """A bar for each cell, one below the other."""
    figure = Figure(figsize=(8, 1 + 0.2 * len(cells)), layout="constrained")
    axis = figure.subplots()
    names = [text(cell.job.get(plot.x)).replace("_", " ") for cell in cells]
    values = [scaled(plot.metric, cell.interval(plot.metric, side))
              for cell in cells for side in cell.results]
    axis.barh(range(len(values)), [value for value, _ in values],
              xerr=[half for _, half in values], color=COLOR[True])
    axis.set(yticks=range(len(values)), yticklabels=names,
             xlabel=METRICS[plot.metric].label)
    axis.invert_yaxis()
    axis.grid(axis="x", alpha=0.3)
    axis.set_axisbelow(True)
    return figure


def draw(name, plot, cells, keys):
    """The figure of a plot, or None if nothing was measured for it."""
    cells = [cell for cell in cells if any(
        cell.values(plot.metric, side) for side in cell.results)]
    if not cells:
        return None
    return ranks(plot, cells) if plot.kind == "ranks" else \
        panels(name, plot, cells, keys)


def panels(name, plot, cells, keys):
    """A panel for each value of the keys that are not on the x axis."""
    keys = [key for key in keys if key != plot.x and
            len({text(cell.job.get(key)) for cell in cells}) > 1]
    titles = {}
    for cell in cells:
        titles.setdefault(describe(cell.job, keys), []).append(cell)
    ticks = sorted({text(cell.job.get(plot.x)): cell.job.get(plot.x)
                    for cell in cells}.items(), key=lambda t: place(t[1]))
    places = {tick: at for at, (tick, _) in enumerate(ticks)}
    columns = 2 if len(titles) in (2, 4) else min(3, len(titles))
    rows = -(-len(titles) // columns)
    figure = Figure(figsize=(max(1 + 3 * columns, 6), 0.8 + 2.5 * rows),
                    layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, sharey=True,
                           sharex=True)
    for at, (title, members) in enumerate(titles.items()):
        axis = axes.flat[at]
        for side in (False, True, None):
            KINDS[plot.kind](axis, plot, members, places, side, name)
        axis.set_title(textwrap.fill(title, 36), fontsize="medium")
        dress(axis, plot, places, at % columns == 0,
              at >= len(titles) - columns)
    # of all, and after all is drawn
    axes[0, 0].set_ylim(0, 1.05 * axes[0, 0].get_ylim()[1])
    for axis in axes.flat[len(titles):]:
        axis.remove()
    legend(figure, figure.axes)
    return figure


def dress(axis, plot, places, leftmost, lowest):
    """Scales of a panel, and labels where it is at the edge."""
    names = METRICS[plot.metric].label, "share"
    if plot.kind == "cdf":
        axis.set_xscale("log")
    else:
        names = label(plot.x), names[0]
        long = sum(map(len, places)) > 28
        axis.set_xticks(list(places.values()), list(places),
                        rotation=45 if long else 0)
    axis.tick_params(labelbottom=lowest)
    axis.set(xlabel=names[0] if lowest else "",
             ylabel=names[1] if leftmost else "")
    axis.set_axisbelow(True)
    axis.grid(axis="y", alpha=0.3)


def save(figure, svg, png):
    """Leave a figure in two files; the same figure makes the same bytes."""
    rcParams["svg.hashsalt"] = svg.stem
    rcParams["svg.fonttype"] = "none"
    figure.savefig(svg, metadata={"Date": None})
    figure.savefig(png, dpi=100)
