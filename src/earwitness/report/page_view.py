"""What the listening page says of a run, in words and pixels, so that its templates decide nothing."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from earwitness.report import distance_tables, distance_words, relation_tables, tables, unscored
from earwitness.report.comparison_words import sentence
from earwitness.tasks.edit_judged import TIE
from earwitness.tasks.edit_measured import UNKNOWN
from earwitness.tasks.ritta_scored import UNMEASURED
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    NOT_APPLICABLE,
    UNHEARD,
    Metric,
    MetricSpec,
    Summary,
    SystemRow,
)

UNDECIDED = (TIE, UNKNOWN, UNMEASURED)
"""Verdicts that say neither good nor bad."""
_LISTED = 12  # comparisons of a metric shown before the rest folds away
_PLOT_WIDTH, _PLOT_MARGIN = 150, 6  # pixels of the interval plot


def run_data(summary: Summary, names: Mapping[str, str]) -> dict[str, Any]:
    """What the scripts know of the run: systems, verdicts, measures and how each is shown."""
    return {
        "systems": [[row.system, names.get(row.system, row.system)] for row in summary.rows],
        "verdicts": _verdicts(summary),
        "columns": [spec.name for spec in summary.specs if spec.name in summary.measures.columns],
        "measures": {
            spec.name: {
                "title": spec.title,
                "meaning": spec.meaning,
                "decimals": spec.decimals,
                "percent": spec.percent,
            }
            for spec in summary.specs
        },
        "strata": [[p.stratum, p.title] for p in relation_tables.parts(summary.measures) if p.stratum],
    }


def _verdicts(summary: Summary) -> list[tuple[str, str, str]]:
    """Name, title and tone of every verdict.

    Of a task's verdicts, which it lists with the good ones first, the first is good, the last bad and what
    lies between fair. Where more of the key metric is neither better nor worse, no verdict is: the first is
    merely marked.
    """
    titles = summary.measures.verdicts
    decided = [name for name in titles if name not in UNDECIDED]
    tones = dict.fromkeys(decided, "fair")
    if decided:
        tones |= {decided[-1]: "bad"} | {decided[0]: "good"}
    if tables.key_spec(summary).better == 0:
        tones = {name: "marked" if tone == "good" else "plain" for name, tone in tones.items()}
    return [
        *((name, title, tones.get(name, "plain")) for name, title in titles.items()),
        (NOT_APPLICABLE, "Not applicable", "plain"),
        (UNHEARD, "Unheard", "unheard"),
    ]


def view(
    summary: Summary, *, title: str, facts: Mapping[str, Any], names: Mapping[str, str]
) -> dict[str, Any]:
    """What ``page.html`` shows."""
    key, columns = tables.key_spec(summary), summary.measures.columns
    others = [
        spec
        for spec in summary.specs
        if spec is not key
        and "@" not in spec.name  # at a single threshold
        and any(row.metrics[spec.name].value is not None for row in summary.rows)
    ]
    others.sort(key=lambda spec: columns.index(spec.name) if spec.name in columns else len(columns))
    counted = {kind for row in summary.rows for kind, count in row.errors.items() if count}
    kinds = [kind for kind in summary.measures.kinds if kind in counted]
    ends = _ends(key, [row.metrics[key.name] for row in summary.rows])
    shown = tables.ranked(summary)
    leaders = {spec.name: tables.leader(summary, spec) for spec in (key, *others)}
    return {
        "title": title,
        "task": summary.task,
        "listener": summary.listener,
        "date": facts.get("date"),
        "facts": {name: _words(value) for name, value in facts.items() if name != "date"},
        "figures": _figures(summary),
        "key": key,
        "others": others,
        "kinds": [(kind, summary.measures.kinds[kind]) for kind in kinds],
        "plot": {"width": _PLOT_WIDTH, "ticks": _ticks(key, ends)},
        "systems": [_system_view(summary, row, others, kinds, ends, names, leaders) for row in shown],
        "bounded": any(row.metrics[key.name].worst is not None for row in shown),
        "comparisons": _comparisons(summary, names),
        "listed": _LISTED,
        "first": unscored.first(summary),
        "notes": unscored.others(summary),
        "marks": [f"{mark.sign} {mark.meaning}" for mark in summary.marks],
        "bold": tables.BOLD_NOTE if any(leaders.values()) else "",
        "relations": _relations(summary, names) if summary.measures.strata else {},
        "distances": _distances(summary, names),
        "unlisted": _unlisted(summary, names),
    }


def _relations(summary: Summary, names: Mapping[str, str]) -> dict[str, Any]:
    """The usual metrics by stratum: heads of the columns, and a table for each, the key metric's first."""
    heads = [
        {
            "name": names.get(row.system, row.system),
            "signs": tables.signs(summary, row),
            "role": tables.role(summary.measures, row),
        }
        for row in relation_tables.across(summary)
    ]
    sheets = relation_tables.sheets(summary, tables.TableOptions(names=names))
    key = summary.key_metric
    shown = [
        {
            "spec": sheet.spec,
            "lines": sheet.lines,
            "open": sheet.spec.name == key,
            "bold": relation_tables.BOLD_NOTE if relation_tables.has_bold(sheet) else "",
        }
        for sheet in sorted(sheets, key=lambda sheet: sheet.spec.name != key)
    ]
    return {"heads": heads, "sheets": shown}


def _distances(summary: Summary, names: Mapping[str, str]) -> dict[str, Any]:
    """The tables of distances, what they need to be read, and what else is to be known."""
    found = summary.distances
    if found is None:
        return {}
    signed = {
        row.system: names.get(row.system, row.system) + tables.signs(summary, row) for row in summary.rows
    }
    options = tables.TableOptions(names=signed)
    return {
        "sheets": distance_tables.sheets(found, options, tables.roles(summary)),
        "caption": distance_words.caption(found),
        "notes": found.notes,
    }


def _unlisted(summary: Summary, names: Mapping[str, str]) -> str:
    """Which systems have no clips on the page, in a sentence."""
    hidden = [names.get(r.system, r.system) for r in summary.rows if r.system in summary.measures.unlisted]
    if not hidden:
        return ""
    return f"Not listed here: the clips of {', '.join(hidden)}; they are in items.csv and in the tables."


def _comparisons(summary: Summary, names: Mapping[str, str]) -> list[dict[str, Any]]:
    """The pairs of systems by metric: those told apart, those that are not, and how many lack clusters."""
    groups = []
    for spec, pairs in tables.comparisons(summary):
        compared = [pair for pair in pairs if pair.difference is not None]
        sentences = {pair: sentence(pair, spec, names) for pair in compared}
        groups.append(
            {
                "spec": spec,
                "pairs": len(compared),
                "won": sorted(text for pair, text in sentences.items() if pair.winner),
                "open": sorted(text for pair, text in sentences.items() if not pair.winner),
                "apart": len(pairs) - len(compared),
            }
        )
    return groups


def _figures(summary: Summary) -> list[tuple[str, str, bool]]:
    """The counts of the run, for the header: value, name, whether to mark it as low.

    They are those of the contestants: baselines are scored even where nothing is heard. Where there are
    none, those of all.
    """
    contestants = [row for row in summary.rows if not row.baseline]
    n, scored, unheard, not_applicable = (
        sum(getattr(row, name) for row in contestants or summary.rows)
        for name in ("n", "scored", "unheard", "not_applicable")
    )
    coverage = scored / (n - not_applicable) if n > not_applicable else None
    systems = len(contestants)
    baselines = len(summary.rows) - systems
    return [
        (f"{systems:,}", "system" if systems == 1 else "systems", False),
        *([(f"{baselines:,}", "baseline" if baselines == 1 else "baselines", False)] if baselines else []),
        (f"{n:,}", "clip" if n == 1 else "clips", False),
        (f"{scored:,}", "scored", False),
        (f"{unheard:,}", "unheard", False),
        (f"{not_applicable:,}", "not applicable", False),
        (percent(coverage), "coverage", _is_low(coverage)),
    ]


def _system_view(
    summary: Summary,
    row: SystemRow,
    others: list[MetricSpec],
    kinds: list[str],
    ends: tuple[float, float],
    names: Mapping[str, str],
    leaders: Mapping[str, str],
) -> dict[str, Any]:
    unlisted = row.system in summary.measures.unlisted
    address = "" if unlisted else "#system=" + quote(row.system, safe="", errors="replace")
    key, role = tables.key_spec(summary), tables.role(summary.measures, row)
    metric = row.metrics[key.name]
    reasons = sorted(row.unheard_reasons.items(), key=lambda pair: (-pair[1], pair[0]))
    return {
        "row": row,
        "name": names.get(row.system, row.system) + (f" ({role})" if role else ""),
        "signs": tables.signs(summary, row),
        "role": role,
        "address": address,
        "key": metric_view(metric, key, bold=leaders[key.name] == row.system) | {"plot": _plot(metric, ends)},
        "others": [
            metric_view(row.metrics[spec.name], spec, bold=leaders[spec.name] == row.system)
            for spec in others
        ],
        "coverage": {"text": percent(row.coverage), "low": _is_low(row.coverage)},
        "kinds": [(kind, row.errors.get(kind, 0)) for kind in kinds],
        "reasons": ", ".join(f"{reason.replace('_', ' ')} {count:,}" for reason, count in reasons),
    }


def metric_view(metric: Metric, spec: MetricSpec, *, bold: bool = False) -> dict[str, Any]:
    """A number as it is written, with its interval (``bold``: whether its system is tables.leader)."""
    interval = ""
    if metric.low is not None and metric.high is not None:
        interval = f"{_text(metric.low, spec)} to {_text(metric.high, spec)}"
    text = _text(metric.value, spec)
    return {"value": metric.value, "text": text, "interval": interval, "n": metric.n, "best": bold}


def _ends(key: MetricSpec, metrics: list[Metric]) -> tuple[float, float]:
    """The ends of the plots' common scale: the metric's own, else those of what is shown."""
    if key.scale:
        return key.scale
    shown = [
        number
        for metric in metrics
        for number in (metric.value, metric.low, metric.high, metric.worst, metric.best)
        if number is not None
    ]
    return min(shown, default=0.0), max(shown, default=1.0)


def _across(value: float, ends: tuple[float, float]) -> float:
    span = (ends[1] - ends[0]) or 1.0
    return round(_PLOT_MARGIN + (value - ends[0]) / span * (_PLOT_WIDTH - 2 * _PLOT_MARGIN), 2)


def _plot(metric: Metric, ends: tuple[float, float]) -> dict[str, float]:
    """Positions in pixels of the marks that are defined, by name."""
    names = ("value", "low", "high", "worst", "best")
    return {name: _across(number, ends) for name in names if (number := getattr(metric, name)) is not None}


def _ticks(key: MetricSpec, ends: tuple[float, float]) -> list[tuple[float, str]]:
    values = (ends[0], (ends[0] + ends[1]) / 2, ends[1])
    scale, sign = (100, " %") if key.percent else (1, "")
    return [(_across(value, ends), f"{value * scale:.3g}{sign}") for value in dict.fromkeys(values)]


def _text(value: float | None, spec: MetricSpec) -> str:
    return "–" if value is None else tables.number(value, spec)


def percent(share: float | None) -> str:
    """Whole per cent, rounded; but 99.6 % covered is not all of it, and 0.4 % is not nothing."""
    if share is None:
        return "–"
    whole = round(share * 100)
    return f"{whole if share in (0, 1) else min(max(whole, 1), 99)} %"


def _is_low(coverage: float | None) -> bool:
    return coverage is not None and coverage < LOW_COVERAGE


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_words(inner)}" for name, inner in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_words(inner) for inner in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)
