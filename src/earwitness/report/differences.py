"""What a metric is in each of two runs of one task, and how sure the difference is.

Conventions
-----------
A difference is the second run's mean less the first's, over the items that both have a value for; where the
task has strata both are means over strata, and a stratum in which the ceiling of either run has no number
counts in neither, as in the runs' own tables. Intervals and tests are those of
:mod:`earwitness.stats.strata`, paired by cluster, and p values are Holm-corrected over everything tested.
Baselines are no contestants: they are not pooled with systems, and not tested.

An interval says what other clips might have shown. Where both runs have the same hearings of a system's clips
by the same listener, and score them alike, no other clip could differ either: there is none, and no test.
Hearings that differ, or another way of scoring, may agree on these clips and differ on others: then there is.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

import numpy as np

from earwitness.report import build
from earwitness.stats.intervals import holm
from earwitness.stats.strata import paired_difference
from earwitness.tasks.rows import Measures, MetricSpec

OVERALL = ""
"""Stands for all systems together, baselines left out."""
ALIKE = "the same hearings, scored alike: nothing can differ"

Key = tuple[str, str]
"""System and sample_id of an item."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of one system (or :data:`OVERALL`): both means, second less first, and how sure that is.

    Attributes:
        items: Number of items that both runs have a value for; the means are over these.
        note: Why there is no interval, or over which strata the means are, if not over all.
    """

    system: str
    metric: str
    items: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """What is kept of an item of one run; ``heard`` stands for all that was heard of it, and by whom."""

    status: str
    verdict: str
    detail: str
    cluster: str
    stratum: str
    values: Mapping[str, float | None]
    heard: str


def by_system(shared: Sequence[Key], baselines: Collection[str]) -> dict[str, list[Key]]:
    """All systems' items together, those of every system, those of every baseline; a single system is all
    there is."""
    every: dict[str, list[Key]] = {}
    for key in shared:
        every.setdefault(key[0], []).append(key)
    last = {name: every.pop(name) for name in baselines if name in every}
    pooled = {OVERALL: [key for key in shared if key[0] in every]} if len(every) > 1 else {}
    return pooled | every | last


@dataclass(frozen=True, slots=True)
class _Pair:
    """The values of one item in both runs."""

    first: float
    second: float
    cluster: str
    stratum: str


@dataclass(frozen=True, slots=True)
class Scored:
    """Both runs' items, and how numbers are made of them."""

    judged: Sequence[Mapping[Key, Judged]]
    measures: Measures
    scored_alike: bool
    options: build.Options
    seed: int

    def heard_alike(self, keys: Iterable[Key]) -> bool:
        return all(self.judged[0][key].heard == self.judged[1][key].heard for key in keys)

    def strata(self, metric: str) -> tuple[str, ...]:
        """Where the ceiling has a number in both runs; everywhere, if the task has no ceiling."""
        every = tuple(chain.from_iterable(self.measures.strata.values()))
        if not self.measures.ceiling:
            return every
        of_ceiling = [
            {one.stratum for key, one in run.items() if self._defined(key, one, metric)}
            for run in self.judged
        ]
        return tuple(name for name in every if all(name in found for found in of_ceiling))

    def _defined(self, key: Key, one: Judged, metric: str) -> bool:
        return key[0] == self.measures.ceiling and one.values.get(metric) is not None

    def left_out(self, spec: MetricSpec) -> Iterator[str]:
        """The strata that count in no mean, in a sentence."""
        kept = self.strata(spec.name)
        if lost := [name for name in chain.from_iterable(self.measures.strata.values()) if name not in kept]:
            yield (
                f"{spec.title} is over the {self.measures.stratum} in which {self.measures.ceiling} has a "
                f"number in both runs; it has none in: {', '.join(lost)}."
            )

    def differences(self, shared: Sequence[Key], specs: Sequence[MetricSpec]) -> list[Difference]:
        """Every metric of every system, with p corrected."""
        found = []
        every = tuple(chain.from_iterable(self.measures.strata.values()))
        of_ceiling = {spec.name: self.strata(spec.name) for spec in specs}
        for system, keys in by_system(shared, self.measures.baselines).items():
            alike = self.scored_alike and self.heard_alike(keys)
            for spec in specs:
                own = every if system == self.measures.oracle else ()
                found.append(self._difference(system, spec, keys, of_ceiling[spec.name] or own, alike))
        corrected = iter(holm([one.p for one in found if one.p is not None]))
        return [one if one.p is None else replace(one, p_holm=next(corrected)) for one in found]

    def _pairs(self, keys: Sequence[Key], metric: str, strata: Collection[str]) -> list[_Pair]:
        pairs = []
        for key in keys:
            one, other = (run[key] for run in self.judged)
            before, after = one.values.get(metric), other.values.get(metric)
            if (
                before is not None
                and after is not None
                and (one.stratum in strata or not self.measures.strata)
            ):
                pairs.append(_Pair(before, after, one.cluster, one.stratum))
        return pairs

    def _difference(
        self, system: str, spec: MetricSpec, keys: Sequence[Key], strata: Sequence[str], alike: bool
    ) -> Difference:
        """One metric of some items; p is not corrected yet."""
        pairs = self._pairs(keys, spec.name, strata)
        if not pairs:
            nothing = "no item has a number in both runs"
            return Difference(system, spec.name, 0, None, None, None, None, None, None, None, nothing)
        there = {pair.stratum for pair in pairs}
        of_strata = {name: [pair for pair in pairs if pair.stratum == name] for name in sorted(there)}
        notes = []
        if len(of_strata) < len(strata):
            notes.append(f"over the {len(of_strata)} {self.measures.stratum} that both runs have a number in")
        first, second = (
            fmean(fmean(getattr(pair, side) for pair in its) for its in of_strata.values())
            for side in ("first", "second")
        )
        means = first, second, second - first
        plain = Difference(system, spec.name, len(pairs), *means, None, None, None, None)
        why, result = "", None
        if alike:
            why = ALIKE
        elif system in self.measures.exact:
            why = "nothing in it is left to chance"
        else:
            result = paired_difference(
                np.array([pair.second for pair in pairs]),
                np.array([pair.first for pair in pairs]),
                [pair.cluster for pair in pairs],
                [pair.stratum for pair in pairs],
                level=self.options.level,
                draws=max(1, self.options.draws),
                seed=self.seed,
                bounds=spec.scale,
            )
            if result is None:
                why = "too few clusters, or all alike on a scale without limits"
        if why:
            notes.append(f"no interval: {why}")
        plain = replace(plain, note="; ".join(notes))
        if result is None:
            return plain
        p = None if system in self.measures.baselines else result.p
        return replace(plain, low=result.low, high=result.high, p=p)
