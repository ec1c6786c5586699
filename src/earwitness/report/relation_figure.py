"""A figure of the best systems by stratum: for RiTTA the counterpart of the paper's Figure 6.

One panel a metric, the strata down in the order and groups of the tables; of each system value and interval.
A dark bar stands for the ceiling: what the listener hears of the reference clips, beyond which a system's
number says little.
"""

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from earwitness.report import relation_tables
from earwitness.report.cells import one_line
from earwitness.report.drawing import COLOURS, HOLLOW, MARKERS, short
from earwitness.report.tables import TableOptions, head, key_spec, low_coverage
from earwitness.tasks.rows import MetricSpec, Summary, SystemRow

MOST_SYSTEMS, MOST_PANELS = 3, 4
_WIDTH_IN, _FRAME_IN, _LINE_IN = 7.0, 0.95, 0.27  # the width of two columns of a paper
_GAP = 0.5  # between groups of strata, in lines
_APART = 0.24  # between systems, in lines
_CEILING = "#333333"
_LONGEST_LINE = 95  # characters of a legend that fit the width


def relations(summary: Summary, names: Mapping[str, str]) -> Figure:
    """The figure: the best systems by the key metric, at most :data:`MOST_SYSTEMS`.

    Args:
        names: Display name by system; a system without one keeps its own.
    """
    rows = [row for row in relation_tables.across(summary) if not row.baseline][:MOST_SYSTEMS]
    ceiling = next((row for row in summary.rows if row.system == summary.measures.ceiling), None)
    places, strata = _places(summary)
    panels = _panels(summary)
    lines = max(places, default=0.0) + 1
    shift = [_APART * (index - (len(rows) - 1) / 2) for index in range(len(rows))]
    figure = Figure(figsize=(_WIDTH_IN, _FRAME_IN + _LINE_IN * lines), layout="constrained")
    every = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for axes, spec in zip(every, panels, strict=True):
        for index, row in enumerate(rows):
            _draw(axes, spec, row, index, [place + shift[index] for place in places], strata)
        if ceiling is not None:
            _draw_ceiling(axes, spec, ceiling, places, strata)
        axes.set_title(head(spec, TableOptions()), fontsize=9, parse_math=False)
        axes.set_xlim(-0.03, 1.03)
        axes.set_xticks([0, 0.5, 1], labels=["0", "0.5", "1"])
        axes.grid(axis="x", color="0.9")
        axes.set_axisbelow(True)
        axes.tick_params(axis="both", length=0, labelsize=8)
        for place in _rules(summary):
            axes.axhline(place, color="0.8", lw=0.6)
        for side in ("top", "right", "left"):
            axes.spines[side].set_visible(False)
    every[0].set_yticks(places, labels=[one_line(s.replace("_", " ")) for s in strata], parse_math=False)
    every[0].set_ylim(lines - 0.4, -0.6)
    if summary.rows:
        _legend(figure, rows, names, ceiling is not None)
    return figure


def _panels(summary: Summary) -> list[MetricSpec]:
    """Shares among the usual metrics, the key metric last."""
    key = key_spec(summary)
    shares = [spec for spec in relation_tables.specs(summary, TableOptions()) if spec.scale == (0.0, 1.0)]
    return [*[spec for spec in shares if spec is not key][: MOST_PANELS - 1], key]


def _places(summary: Summary) -> tuple[list[float], list[str]]:
    """The line of every stratum, groups set apart."""
    places: list[float] = []
    strata: list[str] = []
    for group, its in enumerate(summary.measures.strata.values()):
        for stratum in its:
            places.append(len(strata) + _GAP * group)
            strata.append(stratum)
    return places, strata


def _rules(summary: Summary) -> list[float]:
    """Lines between the groups."""
    sizes = [len(its) for its in summary.measures.strata.values()]
    return [sum(sizes[:group]) + _GAP * group - 0.5 - _GAP / 2 for group in range(1, len(sizes))]


def _draw(
    axes: Axes, spec: MetricSpec, row: SystemRow, index: int, places: list[float], strata: list[str]
) -> None:
    colour, face = COLOURS[index], _face(row, index)
    for place, stratum in zip(places, strata, strict=True):
        metric = relation_tables.metric_of(row, stratum, spec.name)
        if metric.value is None:
            continue
        if metric.low is not None and metric.high is not None:
            axes.plot([metric.low, metric.high], [place, place], color=colour, lw=1.1)
        axes.plot([metric.value], [place], MARKERS[index], color=colour, markerfacecolor=face, markersize=3.6)


def _draw_ceiling(
    axes: Axes, spec: MetricSpec, ceiling: SystemRow, places: list[float], strata: list[str]
) -> None:
    for place, stratum in zip(places, strata, strict=True):
        value = relation_tables.metric_of(ceiling, stratum, spec.name).value
        if value is not None:
            axes.plot([value, value], [place - 0.42, place + 0.42], color=_CEILING, lw=1.6, zorder=1)


def _legend(figure: Figure, rows: list[SystemRow], names: Mapping[str, str], ceiling: bool) -> None:
    handles, labels = [], []
    for index, row in enumerate(rows):
        mark = Line2D([], [], color=COLOURS[index], marker=MARKERS[index], linestyle="", markersize=5)
        mark.set_markerfacecolor(_face(row, index))
        handles.append(mark)
        labels.append(short(names.get(row.system, row.system)) + (" †" if low_coverage(row) else ""))
    if ceiling:
        handles.append(Line2D([], [], color=_CEILING, marker="|", linestyle="", markersize=9, mew=1.6))
        labels.append("ceiling: the reference clips, through the same listener")
    abreast = len(labels) if sum(map(len, labels)) <= _LONGEST_LINE else 2
    legend = figure.legend(
        handles, labels, loc="outside upper center", ncols=abreast, frameon=False, fontsize=8
    )
    for text, label in zip(legend.get_texts(), labels, strict=True):  # set here, any name shows as it is
        text.set_parse_math(False)
        text.set_text(label)
    if any(map(low_coverage, rows)):
        figure.supxlabel(HOLLOW, fontsize=8)


def _face(row: SystemRow, index: int) -> str:
    return "white" if low_coverage(row) else COLOURS[index]
