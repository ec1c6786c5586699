"""Figures for the paper: the key metric with its intervals, the kinds of error per system, and what an
edit wins against what it preserves; for what is broken down by stratum see :mod:`.relation_figure`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from earwitness.report import relation_figure
from earwitness.report.cells import one_line
from earwitness.report.drawing import COLOURS, HOLLOW, MARKERS, save, short, style
from earwitness.report.tables import key_spec, low_coverage, number, ranked, shown_name, spec_of
from earwitness.tasks.rows import Summary, SystemRow

TRADEOFFS = (("nontarget_preservation", "edit_success"), ("others_kept", "target_changed"))
"""Metrics of an edit that pull against each other, across and up: a judge's, and a detector's."""

_WIDTH_IN, _ROW_IN, _FRAME_IN = 6.4, 0.3, 1.1


def write_figures(summary: Summary, folder: Path, names: Mapping[str, str] | None = None) -> list[Path]:
    """Write, as SVG and PDF, ``systems`` and what else the task allows: ``errors``, ``tradeoff``,
    ``relations``.

    The folder is made if it is not there.

    Args:
        names: Display name by system; a system without one keeps its own.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = names or {}
    shown = replace(
        summary,
        rows=tuple(replace(row, system=shown_name(summary, row, names)) for row in summary.rows),
    )
    written = []
    with style():
        written += save(systems(shown), folder / "systems")
        if summary.measures.kinds:
            written += save(errors(shown), folder / "errors")
        if _pulling(summary):
            written += save(tradeoff(shown), folder / "tradeoff")
        if summary.measures.strata:
            written += save(relation_figure.relations(summary, names), folder / "relations")
    return written


def systems(summary: Summary) -> Figure:
    """A forest plot of the key metric: value and interval, best system on top.

    A pale band runs from the value if every unheard item were wrong to that if all were right. A hollow
    mark and a dagger stand for low coverage.
    """
    key = key_spec(summary)
    rows = ranked(summary)
    figure, axes = _axes(rows)
    numbers = list(key.scale or ())
    for place, row in enumerate(rows):
        metric = row.metrics[key.name]
        if metric.value is None:
            axes.text(0.01, place, "unscored", transform=axes.get_yaxis_transform(), va="center", color="0.4")
            continue
        if row.unheard and metric.worst is not None and metric.best is not None:
            axes.plot([metric.worst, metric.best], [place, place], color="0.85", lw=7, solid_capstyle="butt")
            numbers += [metric.worst, metric.best]
        if metric.low is not None and metric.high is not None:
            axes.plot([metric.low, metric.high], [place, place], color=COLOURS[0], lw=1.6)
            numbers += [metric.low, metric.high]
        face = "white" if low_coverage(row) else COLOURS[0]
        axes.plot([metric.value], [place], "o", color=COLOURS[0], markerfacecolor=face, markersize=5)
        numbers.append(metric.value)
        axes.text(
            1.01,
            place,
            number(metric.value, key),
            transform=axes.get_yaxis_transform(),
            va="center",
            fontsize=8,
        )
    axes.set_xlim(*_limits(numbers))
    legend = [key.title]
    if any(row.unheard for row in rows):
        legend.append("pale band: if all that was unheard were wrong, to all right")
    if any(map(low_coverage, rows)):
        legend.append(HOLLOW)
    axes.set_xlabel("\n".join(legend), parse_math=False)
    axes.grid(axis="x", color="0.9")
    return figure


def errors(summary: Summary) -> Figure:
    """Stacked bars: the share of every system's scored items with each kind of error."""
    rows = ranked(summary)
    figure, axes = _axes(rows)
    kinds = list(summary.measures.kinds)
    left = [0.0] * len(rows)
    for index, kind in enumerate(kinds):
        shares = [row.errors.get(kind, 0) / row.scored if row.scored else 0.0 for row in rows]
        colour = COLOURS[index % len(COLOURS)]
        axes.barh(range(len(rows)), shares, left=left, height=0.7, color=colour, label=one_line(kind))
        left = [start + share for start, share in zip(left, shares, strict=True)]
    for place, row in enumerate(rows):
        if not row.scored:
            axes.text(0.01, place, "unscored", transform=axes.get_yaxis_transform(), va="center", color="0.4")
    axes.set_xlim(0, max(0.05, 1.05 * max(left, default=0.0)))
    axes.set_xlabel("share of scored items")
    if rows:
        figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def tradeoff(summary: Summary) -> Figure:
    """Preservation across, success up, a mark for every system with the intervals of both."""
    across, up = (spec_of(summary, name) for name in _pulling(summary))
    rows = ranked(summary)
    figure = Figure(figsize=(_WIDTH_IN, max(3.6, _FRAME_IN + 0.2 * len(rows))), layout="constrained")
    axes = figure.add_subplot()
    labels = []
    for index, row in enumerate(rows):
        x, y = row.metrics[across.name], row.metrics[up.name]
        labels.append(short(row.system) + (" †" if low_coverage(row) else ""))
        if x.value is None or y.value is None:
            axes.plot([], [], " ", label=str(index))
            labels[-1] += ": unscored"
            continue
        colour, marker = COLOURS[index % len(COLOURS)], MARKERS[index // len(COLOURS) % len(MARKERS)]
        if x.low is not None and x.high is not None:
            axes.plot([x.low, x.high], [y.value, y.value], color=colour, lw=1.2, alpha=0.6)
        if y.low is not None and y.high is not None:
            axes.plot([x.value, x.value], [y.low, y.high], color=colour, lw=1.2, alpha=0.6)
        face = "white" if low_coverage(row) else colour
        axes.plot(
            [x.value], [y.value], marker, color=colour, markerfacecolor=face, markersize=6, label=str(index)
        )
    for spec, limit in ((across, axes.set_xlim), (up, axes.set_ylim)):
        if spec.scale:
            limit(*_limits(spec.scale))
    below = [across.title, *([HOLLOW] if any(map(low_coverage, rows)) else [])]
    axes.set_xlabel("\n".join(below), parse_math=False)
    axes.set_ylabel(up.title, parse_math=False)
    axes.grid(color="0.9")
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if rows:
        legend = figure.legend(loc="outside right upper", frameon=False)
        for text, label in zip(legend.get_texts(), labels, strict=True):  # set here, any name shows as it is
            text.set_parse_math(False)
            text.set_text(label)
    return figure


def _pulling(summary: Summary) -> tuple[str, ...]:
    """Those of :data:`TRADEOFFS` that the task measures; empty if it does not."""
    names = {spec.name for spec in summary.specs}
    return next((pair for pair in TRADEOFFS if names >= set(pair)), ())


def _limits(numbers: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that shows all the numbers, with a little room."""
    low, high = min(numbers, default=0.0), max(numbers, default=1.0)
    room = 0.02 * ((high - low) or 1.0)
    return low - room, high + room


def _axes(rows: Sequence[SystemRow]) -> tuple[Figure, Axes]:
    """Empty axes with one line per system, the first on top."""
    figure = Figure(figsize=(_WIDTH_IN, _FRAME_IN + _ROW_IN * max(1, len(rows))), layout="constrained")
    axes = figure.add_subplot()
    names = [short(row.system) + (" †" if low_coverage(row) else "") for row in rows]
    axes.set_yticks(range(len(rows)), labels=names, parse_math=False)
    axes.set_ylim(max(1, len(rows)) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    return figure, axes
