"""What a paper must say of numbers by relation: the data, the definitions, the ceilings and the floors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Said:
    """Sentences as markdown, those that belong in a short paragraph apart from the details."""

    data: Sequence[str] = ()
    scoring: Sequence[str] = ()
    ceilings: Sequence[str] = ()
    details: Sequence[str] = ()


NOTHING = Said()


def said(summary: Summary, facts: Mapping[str, Any]) -> Said:
    """What is said of a run by relation.

    Args:
        facts: Of those that :func:`.protocol.paragraph` takes, ``data`` and ``scoring``.
    """
    chosen = rules(facts.get("scoring") or {})
    data, groups = _data(summary, facts.get("data") or "")
    ceilings, floors = _bounds(summary)
    return Said(data, [f"{_MODES[chosen.mode]}."], ceilings, [*groups, *_definitions(chosen), *floors])


def _data(summary: Summary, name: str) -> tuple[list[str], list[str]]:
    """How many prompts there are, and of each group: as many as the system has clips that has most."""
    groups, whole = [], 0
    for main, strata in summary.measures.strata.items():
        n = sum(max((_n(row, name) for row in summary.rows), default=0) for name in strata)
        groups.append(f"{markdown_text(main.replace('_', ' '))} {n:,}")
        whole += n
    count = sum(map(len, summary.measures.strata.values()))
    called = f" {markdown_text(name)}" if name else ""
    return (
        [f"The data set{called} has {whole:,} prompts of {count} relations, which weigh the same."],
        [
            f"Prompts by main relation: {', '.join(groups)}; "
            "every relation weighs the same in a mean over several."
        ],
    )


def _n(row: SystemRow, stratum: str) -> int:
    metrics = row.parts.get(stratum, {}).values()
    return max((metric.n for metric in metrics), default=0)


def _definitions(chosen: Rules) -> list[str]:
    levels = ", ".join(f"{t:g}" for t in chosen.thresholds)
    gap = chosen.merge_gap_s
    joined = "" if gap is None else f" of one sound at most {gap:g} s apart joined and those"
    said = [
        f"A clip is scored by presence, relation and parsimony (exp(-{WEIGHT:g} n) for n sounds too many "
        "or too few), and their product MSR; each is the mean over the confidence thresholds "
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


def _bounds(summary: Summary) -> tuple[list[str], list[str]]:
    """What ceilings measure, of the key metric, and what floors do."""
    key = tables.key_spec(summary)
    told: dict[str, list[str]] = {}
    for row in relation_tables.across(summary):
        if what := tables.role(summary.measures, row):
            metric = row.metrics[key.name]
            bounds = f" [{tables.number(metric.low, key)}, {tables.number(metric.high, key)}]"
            shown = tables.number(metric.value, key) + (bounds if metric.low is not None else "")
            told.setdefault(what, []).append(f"{markdown_text(row.system)} {shown}")
    of = f"Of {markdown_text(key.title)} the"
    ceilings, floors = (
        [f"{of} {what}s are {', '.join(told[what])}" + end] if what in told else []
        for what, end in ((tables.CEILING, ", against which a system is to be read."), (tables.FLOOR, "."))
    )
    return ceilings, floors
