"""What a paper must say of numbers by relation: the data, the definitions, the ceilings and the floors."""

from collections.abc import Mapping
from typing import Any

from earwitness.report import relation_tables, tables
from earwitness.report.tables import markdown_text
from earwitness.scores.ritta import BOUNDARY_DB, OVERLAP_SHARE
from earwitness.scores.ritta_paper import SIGMA_1, SIGMA_2
from earwitness.scores.ritta_rules import DEFAULT, PAPER, RELEASED, WEIGHT, Rules, rules
from earwitness.tasks.rows import Summary, SystemRow

_MODES = {
    DEFAULT: "Clips were scored by the definitions of earwitness (mode default)",
    PAPER: "Clips were scored by equations 1 to 5 of RiTTA (arXiv 2412.15922), read literally (mode paper)",
    RELEASED: "Clips were scored as the public evaluator of RiTTA does (mode released), for parity alone",
}
_LOUDNESS = "by the loudness of the paper, an L2 norm that grows with duration"


def sentences(summary: Summary, facts: Mapping[str, Any]) -> list[str]:
    """Sentences as markdown.

    Args:
        facts: Of those that :func:`.protocol.paragraph` takes, ``data`` and ``scoring``.
    """
    scoring = facts.get("scoring") or {}
    return [_data(summary, facts.get("data") or ""), *_definitions(rules(scoring)), *_bounds(summary)]


def _data(summary: Summary, name: str) -> str:
    """How many prompts there are of each group: as many as the system has clips that has most."""
    groups, whole = [], 0
    for main, strata in summary.measures.strata.items():
        n = sum(max((_n(row, name) for row in summary.rows), default=0) for name in strata)
        groups.append(f"{markdown_text(main.replace('_', ' '))} {n:,}")
        whole += n
    count = sum(map(len, summary.measures.strata.values()))
    called = f" {markdown_text(name)}" if name else ""
    return (
        f"The data set{called} has {whole:,} prompts of {count} relations ({', '.join(groups)}); "
        "every relation weighs the same in a mean over several."
    )


def _n(row: SystemRow, stratum: str) -> int:
    metrics = row.parts.get(stratum, {}).values()
    return max((metric.n for metric in metrics), default=0)


def _definitions(chosen: Rules) -> list[str]:
    levels = ", ".join(f"{t:g}" for t in chosen.thresholds)
    gap = chosen.merge_gap_s
    joined = "" if gap is None else f" of one sound at most {gap:g} s apart joined and those"
    said = [
        f"{_MODES[chosen.mode]}: presence, relation and parsimony (exp(-{WEIGHT:g} n) for n sounds too many "
        "or too few), and their product MSR for each clip; each is the mean over the confidence thresholds "
        f"{levels}, with events{joined} shorter than {chosen.min_event_s:g} s dropped."
    ]
    if chosen.mode == DEFAULT:
        said.append(
            f"Counting goes by {chosen.counting}, order by {chosen.order_rule}; sounds are together if they "
            f"overlap by {OVERLAP_SHARE:g} of the shorter, and a difference in distance is one of at least "
            f"{BOUNDARY_DB:g} dB."
        )
    elif chosen.mode == PAPER:
        said.append(f"Distances go {_LOUDNESS}, with sigma 1 {SIGMA_1:g} and sigma 2 {SIGMA_2:g}.")
    else:
        said.append(f"Distances go {_LOUDNESS}; no clip can score on or, not and if\\_then\\_else.")
    return said


def _bounds(summary: Summary) -> list[str]:
    """What ceilings and floors measure, of the key metric."""
    key = tables.key_spec(summary)
    told: dict[str, list[str]] = {}
    for row in relation_tables.across(summary):
        if what := tables.role(summary.measures, row):
            metric = row.metrics[key.name]
            bounds = f" [{tables.number(metric.low, key)}, {tables.number(metric.high, key)}]"
            shown = tables.number(metric.value, key) + (bounds if metric.low is not None else "")
            told.setdefault(what, []).append(f"{markdown_text(row.system)} {shown}")
    if not told:
        return []
    sides = "; ".join(f"the {what}s are {', '.join(each)}" for what, each in told.items())
    return [f"Of {markdown_text(key.title)} {sides}; what a system lacks is to be read against its ceilings."]
