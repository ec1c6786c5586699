"""What a reader must know of means over strata: which strata they are over, and what was dropped."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from earwitness.manifest.table import listing
from earwitness.tasks.rows import Measures, SystemRow
from earwitness.tasks.tally import Tally


def notes(
    tallies: Mapping[str, Mapping[str, Tally]],
    systems: Sequence[SystemRow],
    measures: Measures,
    dropped: AbstractSet[tuple[str, str]],
) -> tuple[str, ...]:
    """Sentences; none for a task without strata.

    Args:
        dropped: Stratum and metric where the ceiling has no number.
    """
    return (
        (*_dropped(tallies, measures, dropped), *_missing(systems, measures, dropped))
        if measures.strata
        else ()
    )


def _dropped(
    tallies: Mapping[str, Mapping[str, Tally]], measures: Measures, dropped: AbstractSet[tuple[str, str]]
) -> Iterator[str]:
    """What systems have that is not reported, by metric; metrics that lack the same strata together."""
    others = [its for name, its in tallies.items() if name not in (measures.ceiling, measures.oracle)]
    titles: dict[tuple[str, ...], list[str]] = {}
    for spec in measures.specs:
        strata = tuple(
            stratum
            for stratum in _strata(measures)
            if (stratum, spec.name) in dropped and any(its[stratum].defined(spec.name) for its in others)
        )
        if strata:
            titles.setdefault(strata, []).append(spec.title)
    for strata, its in titles.items():
        yield (
            f"Not reported without their ceiling: {', '.join(its)} in {', '.join(strata)}, where the clips "
            f"of {measures.ceiling} have no such number."
        )


def _missing(
    systems: Sequence[SystemRow], measures: Measures, dropped: AbstractSet[tuple[str, str]]
) -> Iterator[str]:
    """Systems whose ranking number is not over all strata, or that have none for that reason."""
    every = _strata(measures)
    groups: dict[tuple[str, ...], list[str]] = {}
    alone: dict[tuple[str, ...], list[str]] = {}
    for row in systems:
        lacking = tuple(name for name in every if row.parts[name][measures.key].value is None)
        own = tuple(name for name in lacking if (name, measures.key) not in dropped)
        if row.metrics[measures.key].value is not None:
            without = tuple(name for name in every if (name, measures.key) in dropped or name in lacking)
            # the oracle's mean is over its own strata where the ceiling has none at all
            groups.setdefault(without if len(without) < len(every) else lacking, []).append(row.system)
        elif own and len(lacking) < len(every):
            alone.setdefault(own, []).append(row.system)
    for lacking, names in alone.items():
        yield (
            f"{listing(names)}: no mean over all {measures.stratum}, since no clip has a number in: "
            f"{', '.join(lacking)}. See the {measures.stratum} one by one, and the comparisons, which are "
            "made on what two systems share."
        )
    for lacking, names in groups.items():
        if lacking:
            yield (
                f"The means of {listing(names)} are over {len(every) - len(lacking)} of {len(every)} "
                f"{measures.stratum}; left out: {', '.join(lacking)}."
            )
    ranked = [names for names in groups.values() if not measures.baselines.keys() >= set(names)]
    if len(ranked) > 1:
        yield (
            f"These systems' means are not over the same {measures.stratum} and cannot be read side by side; "
            f"the comparisons are, since they are made on the {measures.stratum} that two systems share."
        )


def _strata(measures: Measures) -> list[str]:
    return [name for group in measures.strata.values() for name in group]
