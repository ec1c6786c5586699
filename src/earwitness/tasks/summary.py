"""Items of a task -> systems, intervals, comparisons, notes.

Where a task has strata, a number is the mean over them, and two systems are compared on items, and so strata,
that both have a value for. A number that lacks its ceiling in a stratum (see Measures.ceiling) is dropped
there, and so from the mean. The oracle keeps it there, but its means too are over the ceiling's strata, so
that a column of means can be read down. A system without a number in a stratum where the ceiling has one has
no mean: over other strata than the rest, it could not be read beside theirs.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import combinations

import numpy as np

from earwitness.stats.intervals import holm
from earwitness.stats.strata import paired_difference
from earwitness.tasks import strata_notes
from earwitness.tasks.rows import (
    LOW_COVERAGE,
    NOT_APPLICABLE,
    SCORED,
    UNHEARD,
    Comparison,
    ItemRow,
    Measures,
    Metric,
    MetricSpec,
    Summary,
    SystemRow,
)
from earwitness.tasks.tally import WHOLE, Drawn, Tally, joined

Tallies = Mapping[str, Mapping[str, Tally]]
"""By system and stratum."""
Dropped = frozenset[tuple[str, str]]
"""Stratum and metric where the ceiling has no number."""

ALPHA = 0.05
"""A winner is named only when the corrected p lies below this and the paired interval excludes zero."""


def summarise(
    items: Iterable[ItemRow],
    measures: Measures,
    *,
    task: str,
    listener: str,
    measured: str = "",
    manifest_notes: Sequence[str] = (),
    unclaimed: bool = False,
    seed: int = 0,
    level: float = 0.95,
    draws: int = 10_000,
) -> Summary:
    """Systems with intervals, paired comparisons and notes.

    Args:
        items: Scored rows, drawn once.
        task: Name of the task.
        measured: The listener's own accuracy on known truth, in words; empty if not measured.
        unclaimed: Whether phrases outside the labels the listener claims to know were judged too.
        seed: Of the bootstrap and the permutation test.
        level: Confidence level of every interval.
        draws: Bootstrap draws.
    """
    drawn = Drawn(level, draws, seed)
    strata = tuple(name for group in measures.strata.values() for name in group) or (WHOLE,)
    tallies: dict[str, dict[str, Tally]] = {}
    for row in items:
        if row.system not in tallies:
            tallies[row.system] = {name: Tally(measures.specs) for name in strata}
        tallies[row.system][row.stratum if measures.strata else WHOLE].add(row)
    dropped = _without_ceiling(tallies, measures)
    systems = tuple(_system(name, its, measures, drawn, dropped) for name, its in tallies.items())
    return Summary(
        task=task,
        listener=listener,
        measures=measures,
        rows=systems,
        comparisons=_compare(tallies, measures, drawn, dropped),
        notes=_notes(systems, measures, measured, manifest_notes, unclaimed)
        + strata_notes.notes(tallies, systems, measures, dropped)
        + tuple(measures.remarks(systems)),
        marks=tuple(measures.marks(systems)),
    )


def _without_ceiling(tallies: Tallies, measures: Measures) -> Dropped:
    """Where the ceiling has no number, so that nobody's is reported but the oracle's."""
    if not measures.ceiling:
        return frozenset()
    ceiling = tallies.get(measures.ceiling, {})
    strata = next(iter(tallies.values()), {})
    return frozenset(
        (stratum, spec.name)
        for stratum in strata
        for spec in measures.specs
        if stratum not in ceiling or not ceiling[stratum].defined(spec.name)
    )


def _system(
    name: str, strata: Mapping[str, Tally], measures: Measures, drawn: Drawn, dropped: Dropped
) -> SystemRow:
    counts, errors, reasons = (
        sum((getattr(tally, kind) for tally in strata.values()), Counter[str]())
        for kind in ("counts", "errors", "reasons")
    )
    n = sum(counts.values())
    applicable = n - counts[NOT_APPLICABLE]
    oracle, chance = name == measures.oracle, None if name in measures.exact else drawn
    found = {
        stratum: {
            spec.name: Metric(None)
            if (stratum, spec.name) in dropped and not oracle
            else tally.metric(spec, chance)
            for spec in measures.specs
        }
        for stratum, tally in strata.items()
    }
    parts: dict[str, Mapping[str, Metric]] = {}
    for group, members in measures.strata.items():
        parts[group] = _joined(found, members, measures, dropped, oracle, drawn.level)
        parts |= {member: found[member] for member in members}
    return SystemRow(
        system=name,
        n=n,
        not_applicable=counts[NOT_APPLICABLE],
        unheard=counts[UNHEARD],
        scored=counts[SCORED],
        coverage=counts[SCORED] / applicable if applicable else None,
        metrics=_joined(found, tuple(found), measures, dropped, oracle, drawn.level),
        errors={kind: errors[kind] for kind in measures.kinds},
        unheard_reasons=dict(sorted(reasons.items())),
        baseline=name in measures.baselines,
        parts=parts,
    )


def _joined(
    parts: Mapping[str, Mapping[str, Metric]],
    strata: Sequence[str],
    measures: Measures,
    dropped: Dropped,
    oracle: bool,
    level: float,
) -> dict[str, Metric]:
    """Every metric over those of the strata where the ceiling has a number.

    Where it has none at all, nothing stands beside the oracle's number, which is then over all its own.
    """
    found = {}
    for spec in measures.specs:
        its = [parts[name][spec.name] for name in strata if (name, spec.name) not in dropped]
        if oracle and not its:
            its = [own for name in strata if (own := parts[name][spec.name]).value is not None]
        whole = not measures.ceiling or all(metric.value is not None for metric in its)
        found[spec.name] = joined(its, spec, level) if whole else Metric(None)
    return found


def _compare(tallies: Tallies, measures: Measures, drawn: Drawn, dropped: Dropped) -> tuple[Comparison, ...]:
    """Every pair of systems, baselines left out, Holm-corrected over pairs and metrics."""
    specs = {spec.name: spec for spec in measures.specs}
    contestants = [name for name in tallies if name not in measures.baselines]
    found = []
    for metric in measures.compared or (measures.key,):
        values = {
            name: {
                (stratum, *item): value
                for stratum, tally in tallies[name].items()
                if (stratum, metric) not in dropped
                for item, value in tally.defined(metric).items()
            }
            for name in contestants
        }
        found += [_pair(specs[metric], one, two, values, drawn) for one, two in combinations(contestants, 2)]
    corrected = iter(holm([pair.p for pair in found if pair.p is not None]))
    return tuple(
        pair if pair.p is None else decided(pair, next(corrected), specs[pair.metric].better)
        for pair in found
    )


def _pair(
    spec: MetricSpec,
    first: str,
    second: str,
    values: Mapping[str, Mapping[tuple[str, str, str], float]],
    drawn: Drawn,
) -> Comparison:
    """Two systems on the items that both have a value for; p is not corrected yet.

    Were a system compared by all its own items, it would gain by leaving the hard ones unheard. An item is
    the same one if sample_id, cluster and stratum are: clips of different prompts may happen to be called
    alike.
    """
    shared = [item for item in values[first] if item in values[second]]
    clusters = Counter(stratum for stratum, _ in dict.fromkeys(item[:2] for item in shared))
    plain = Comparison(
        spec.name, first, second, clusters.total(), None, None, None, None, None, items=len(shared)
    )
    if not shared:
        return replace(plain, note="no scored item is shared: the same sample_id of one prompt or source")
    if clusters.total() < 2:
        return replace(plain, note=f"all shared items ({len(shared)}) lie in one cluster")
    lone = [stratum for stratum, count in clusters.items() if count < 2]
    note = f"one cluster alone in {', '.join(lone)}" if lone else ""
    one, two = (np.array([values[name][item] for item in shared]) for name in (first, second))
    result = paired_difference(
        one, two, [item[1] for item in shared], [item[0] for item in shared], bounds=spec.scale,
        **asdict(drawn),
    )  # fmt: skip
    if result is None:
        why = note or "all shared clusters differ alike"
        return replace(plain, note=f"{why}, on a scale without limits")
    return replace(
        plain, difference=result.difference, low=result.low, high=result.high, p=result.p, note=note
    )


def decided(pair: Comparison, p_holm: float, better: int = 1) -> Comparison:
    """A tested pair with its corrected p, and the winner if one can be named.

    Args:
        better: 1 if more is better, -1 if less is, 0 if neither: then nobody wins.
    """
    winner = ""
    if better and p_holm < ALPHA and ((pair.low or 0) > 0 or (pair.high or 0) < 0):
        winner = pair.first if (pair.difference or 0) * better > 0 else pair.second
    return replace(pair, p_holm=p_holm, winner=winner)


def _notes(
    systems: Sequence[SystemRow],
    measures: Measures,
    measured: str,
    manifest_notes: Sequence[str],
    unclaimed: bool,
) -> tuple[str, ...]:
    notes = list(manifest_notes)
    notes += [
        f"{row.system} is a baseline: it {measures.baselines[row.system]}." for row in systems if row.baseline
    ]
    if unclaimed:
        notes.append(
            "Exploratory: phrases outside the labels the listener claims to know were judged too, and its "
            "error on them is unknown. Listen before believing."
        )
    if measured:
        notes.append(
            "The listener's own error is not in the intervals, which show sampling alone. "
            f"Measured: {measured}"
        )
    else:
        notes.append("The intervals show sampling alone; this listener's own accuracy has not been measured.")
    unstated = [row.system for row in systems if not row.scored and row.n == row.not_applicable]
    unheard = [
        f"{row.system} ({_reasons(row)})" for row in systems if not row.scored and row.n > row.not_applicable
    ]
    partly = [
        f"{row.system} {row.coverage:.1%} ({_reasons(row)})"
        for row in systems
        if row.scored and row.coverage is not None and row.coverage < LOW_COVERAGE
    ]
    if unstated:
        notes.append(f"Unscored, because no item is applicable: {', '.join(unstated)}.")
    if unheard:
        notes.append(f"Unscored, because every applicable item was unheard: {'; '.join(unheard)}.")
    if partly:
        notes.append(f"Only part of the applicable items were scored: {'; '.join(partly)}.")
    return tuple(notes)


def _reasons(row: SystemRow) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in row.unheard_reasons.items())
