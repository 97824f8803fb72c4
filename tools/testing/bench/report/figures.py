# SPDX-License-Identifier: GPL-2.0
"""The figures of the page of results, of panels as sections.py has them."""

import textwrap
from math import log

from cells import SIDES
from matplotlib import colormaps, rcParams
from matplotlib.figure import Figure
from sections import METRICS, Panel, papers, possible
from tables import describe, label, place, text

# Told apart by hue, by lightness and by shape.
STYLE = {False: {"color": "#e08a3c", "marker": "o", "linestyle": "--"},
         True: {"color": "#1c4f9c", "marker": "s", "linestyle": "-"}}
MARKERS = "osv^DPX*"


def who(side):
    return f"{SIDES[side]} SRPIC"


def series(panel):
    """(side, name, style, cells) of each line of a panel."""
    by = panel.plot.by
    values = sorted({cell.job.get(by) or 0 for cell in panel.cells})
    for side in SIDES:
        # without SRPIC, all values of what SRPIC does are alike
        told = side or by == "sender"
        for at, value in enumerate(values if told else values[:1]):
            name, style = who(side), STYLE[side]
            if by == "sender":
                name = f"{describe({by: value}, [by])}, {name}"
                style = style | {"color": colormaps["tab10"](at),
                                 "marker": MARKERS[at]}
            elif value:
                name = describe({by: value}, [by])
                style = style | {"color": colormaps["YlGn"](
                    0.4 + 0.6 * at / len(values))}
            yield side, name, style, [cell for cell in panel.cells if not told
                                      or (cell.job.get(by) or 0) == value]


def errors(found):
    """The two arms of matplotlib's error bars, where there are any."""
    return [[[0 if low is None else mean - low for mean, low, _ in found]],
            [[0 if low is None else high - mean for mean, low, high in found]]]


def lines(axis, panel):
    """A line through the cells of each series; the paper's beside it."""
    plot = panel.plot
    ticks = sorted({text(cell.job.get(plot.x)): cell.job.get(plot.x)
                    for cell in panel.cells}.items(), key=lambda t: place(t[1]))
    places = {tick: at for at, (tick, _) in enumerate(ticks)}

    def points(cells, value):
        found = {}
        for cell in cells:
            if y := value(cell):
                found.setdefault(places[text(cell.job.get(plot.x))], y)
        return dict(sorted(found.items()))

    for side, name, style, cells in series(panel):
        drawn = points(cells, lambda cell, side=side: possible(
            plot.metric, cell, side))
        if not drawn:
            continue
        below, above = errors(drawn.values())
        axis.errorbar(list(drawn), [mean for mean, _, _ in drawn.values()],
                      [*below, *above], capsize=3, label=name, **style)
        over = plot.over and points(cells, lambda cell, side=side:
                                    cell.interval(plot.over, side))
        if over:
            axis.plot(list(over), [mean for mean, _ in over.values()],
                      color=style["color"], linewidth=0.8, linestyle="-.",
                      label=f"{METRICS[plot.over].label}, {name}")
        theirs = plot.paper and points(cells, lambda cell: papers(
            panel.name, cell.job, plot.metric))
        if theirs:
            axis.plot(list(theirs), [pair[side][0] for pair in theirs.values()],
                      label=f"paper, {SIDES[side]}", **style | {
                          "markerfacecolor": "none", "linewidth": 0.7,
                          "linestyle": ":"})
    axis.set_xticks(list(places.values()), list(places), rotation=45 if sum(
        map(len, places)) > 24 else 0)
    axis.set(xlabel=label(plot.x), ylabel=METRICS[plot.metric].label)
    axis.set_ylim(0, 105 if plot.metric.endswith("_percent")
                  and axis.get_ylim()[1] > 90 else None)
    axis.grid(axis="y", alpha=0.3)


def dots(axis, panel):
    """A line of its own for each cell, of what is not 0 in it: no place is empty."""
    jobs = [cell.job for cell in panel.cells]
    keys = [key for key in {key: None for job in jobs for key in job}
            if len({text(job.get(key)) for job in jobs}) > 1]
    keys = [panel.plot.x] if panel.plot.x else keys
    names = [text(cell.job[keys[0]]).replace("_", " ") if len(keys) == 1
             else describe(cell.job, [key for key in keys if cell.job.get(key)])
             or "none of these" for cell in panel.cells]
    for side in SIDES:
        for y, cell in enumerate(panel.cells):
            found = possible(panel.plot.metric, cell, side)
            if found:
                axis.errorbar(found[0], y, xerr=[
                    arm[0] for arm in errors([found])], capsize=3,
                    label=who(side), **STYLE[side])
    axis.set_yticks(range(len(names)), names)
    axis.set(xlabel=METRICS[panel.plot.metric].label, xlim=(0, None))
    axis.set_ylim(len(names) - 0.4, -0.6)
    axis.grid(alpha=0.3)


def cdf(axis, panel):
    """The share of all below a value; a curve for each seed."""
    for side, name, style, cells in series(panel):
        for cell in cells:
            for curve in cell.values(panel.plot.metric, side).values():
                share = [at / (len(curve) - 1) for at in range(len(curve))]
                axis.step(curve, share, label=name, linewidth=1,
                          **style | {"marker": None})
    axis.set(xscale="log", xlabel=METRICS[panel.plot.metric].label,
             ylabel="share")
    axis.grid(axis="y", alpha=0.3)


KINDS = {"lines": lines, "dots": dots, "cdf": cdf}


def measured(cells, metric):
    return [cell for cell in cells if any(
        cell.values(metric, side) for side in cell.results)]


def panels(chapter, plot):
    """
    Those of a plot, that which tells most first: like the paper's, then the
    largest change.
    """
    cells = measured(chapter.cells, plot.metric)
    keys = [key for key in chapter.keys if plot.kind != "dots"
            and key not in (plot.x, plot.by)
            and len({text(cell.job.get(key)) for cell in cells}) > 1]
    found = {}
    for cell in cells:
        found.setdefault(describe(cell.job, keys), []).append(cell)

    def tells(title):
        changes = [abs(log(cell.ratio(plot.metric))) for cell in found[title]
                   if plot.kind != "cdf" and cell.ratio(plot.metric)]
        return any(map(chapter.like_papers, found[title])), \
            sum(changes) / max(len(changes), 1)

    first = max(found, key=tells, default=None)
    return [Panel(chapter.name, plot, title, {}, found[title])
            for title in sorted(found, key=lambda title: title != first)]


def some(chapter, panel):
    """The panel of the summary, if its cells were measured."""
    cells = [cell for cell in measured(chapter.cells, panel.plot.metric)
             if panel.job.items() <= cell.job.items()]
    return [panel._replace(cells=cells)] if cells else []


def draw(shown):
    """A figure of panels, with one legend below them."""
    across = 2 if len(shown) in (2, 4) else min(3, len(shown))
    down = -(-len(shown) // across)
    plot = shown[0].plot
    alike = len({(panel.plot.metric, panel.plot.x) for panel in shown}) == 1
    size = (9, 1 + 0.22 * len(shown[0].cells)) if plot.kind == "dots" else \
        (max(3.2 * across, 7), 1 + 2.5 * down)
    figure = Figure(figsize=size, layout="constrained")
    axes = list(figure.subplots(down, across, squeeze=False, sharey=alike and
                                plot.kind != "dots").flat)
    known = {}
    for at, (axis, panel) in enumerate(zip(axes, shown)):
        KINDS[panel.plot.kind](axis, panel)
        axis.set_title(textwrap.fill(panel.title, 38), fontsize="medium")
        axis.set_axisbelow(True)
        if alike and at % across:
            axis.set_ylabel("")
        for handle, said in zip(*axis.get_legend_handles_labels()):
            known.setdefault(said, handle)
    for axis in axes[len(shown):]:
        axis.remove()
    names = sorted(known, key=lambda name: name.startswith("paper"))
    figure.legend([known[name] for name in names], names,
                  ncols=min(len(names), 4, int(
                      10 * size[0] / max(map(len, names), default=1)) or 1),
                  loc="outside lower center", frameon=False)
    return figure


def save(figure, svg):
    """Leave a figure; the same figure makes the same bytes."""
    rcParams["svg.hashsalt"] = svg.stem
    rcParams["svg.fonttype"] = "none"
    figure.savefig(svg, metadata={"Date": None})
