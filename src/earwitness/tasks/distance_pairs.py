"""Which of two sets is nearer: their numbers held against each other.

Conventions
-----------
Two sets are compared by every metric of :data:`COMPARED` that both have a number of, over all clips, the
first less the second. Clips of one name (clip_id and cluster) are of one prompt. Where two sets share names,
the clips that both have are compared, and nothing else: were each taken with all its own, a set would gain by
leaving hard prompts out. Sets that share no name are compared as they are. References stay as they are. Clips
of one prompt, their references, and sounds that are the same bit by bit are one cluster, in both sets.

FAD, FD and KAD rest on influences (:mod:`earwitness.scores.set_differences`); of the Fréchet distances the
bias of few clips is taken off, so that the difference is not quite that of the numbers. KL and CLAP are
means, and compared as the scores of systems are (:mod:`earwitness.stats.intervals`). IS is not compared: its
bias is too large beside its spread. p values are Holm-corrected over the pairs of a metric. How often
intervals hold and tests err: ``benchmarks/nearer.py``.
"""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

from earwitness.scores.set_differences import (
    GROUPS,
    Difference,
    difference,
    jackknifed,
    unbiased_difference,
)
from earwitness.stats.intervals import Paired, holm, paired_difference
from earwitness.tasks.distance_numbers import (
    FEW_CLUSTERS,
    LEAST,
    NONE_OUTSIDE,
    Numbers,
    Side,
    divergences,
    linked,
    summed,
)
from earwitness.tasks.distance_sounds import Sound
from earwitness.tasks.distances import ALL, BETTER, METRICS, Distance, in_clips
from earwitness.tasks.rows import Comparison
from earwitness.tasks.summary import decided
from earwitness.tasks.tally import Drawn

COMPARED = tuple(metric for metric in METRICS if metric != "is")
NO_DIFFERENCE = "nothing in them differs"
NONE_SHARED = "means are compared over clips of one name alone"


@dataclass(frozen=True, slots=True)
class Held:
    """A set as it is held against its reference.

    Attributes:
        names: Of its clips (clip_id and cluster), the same for clips of one prompt in other sets.
        counterparts: Of its clips, None where there is none.
        captions: Of its clips, empty where there is none.
        width: Of the kernel of KAD; None for that of the reference.
    """

    side: Side
    reference: Side
    names: tuple[tuple[str, str], ...]
    counterparts: tuple[Sound | None, ...]
    captions: tuple[str, ...]
    width: float | None

    def of(self, names: Collection[tuple[str, str]]) -> "Held":
        """Its clips of these names alone, against the same reference."""
        places = [place for place, name in enumerate(self.names) if name in names]
        return replace(
            self,
            side=self.side.of(places),
            names=tuple(self.names[place] for place in places),
            counterparts=tuple(self.counterparts[place] for place in places),
            captions=tuple(self.captions[place] for place in places),
        )


def compared(
    sets: Mapping[str, Held], rows: Sequence[Distance], numbers: Numbers, drawn: Drawn
) -> tuple[Comparison, ...]:
    """Every pair of sets by every metric that both have a number of; p corrected, winners named.

    Args:
        sets: By name; the order is that of the pairs.
        rows: The sets' numbers.
    """
    known = {(row.system, row.metric) for row in rows if row.part == ALL and row.value is not None}
    return corrected(
        [
            _compared(metric, one, two, sets, numbers, drawn)
            for metric in COMPARED
            for one, two in combinations(sets, 2)
            if {(one, metric), (two, metric)} <= known
        ]
    )


def corrected(pairs: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The pairs by metric, p corrected over all of a metric, and the winners that this leaves."""
    found: list[Comparison] = []
    for metric in COMPARED:
        of = [pair for pair in pairs if pair.metric == metric]
        p_holm = iter(holm([pair.p for pair in of if pair.p is not None]))
        found += [pair if pair.p is None else decided(pair, next(p_holm), BETTER[metric]) for pair in of]
    return tuple(found)


def turned(pair: Comparison) -> Comparison:
    """The same with the second set first."""
    low, high = (None if bound is None else -bound for bound in (pair.high, pair.low))
    difference = None if pair.difference is None else -pair.difference
    return replace(pair, first=pair.second, second=pair.first, difference=difference, low=low, high=high)


def _compared(
    metric: str, one: str, two: str, sets: Mapping[str, Held], numbers: Numbers, drawn: Drawn
) -> Comparison:
    """Two sets by one metric; p is not corrected yet."""
    a, b = (sets[name].of(_valued(sets[name], metric)) for name in (one, two))
    counts = f"{len(a.names):,} and {len(b.names):,}"
    shared = frozenset(a.names).intersection(b.names)
    plain = Comparison(metric, one, two, 0, None, None, None, None, None, items=len(shared))
    if shared:
        if len(shared) < max(len(a.names), len(b.names)):
            plain = replace(plain, note=f"over the {in_clips(len(shared))} that both have, of {counts}")
        a, b = a.of(shared), b.of(shared)
    else:
        plain = replace(plain, note="over all clips of both, none paired by name")
    sides = linked(a.side, a.reference, b.side, b.reference)
    a, b = replace(a, side=sides[0], reference=sides[1]), replace(b, side=sides[2], reference=sides[3])
    result = _Two(a, b, bool(shared), numbers, drawn).result(metric)
    if isinstance(result, str):
        return replace(plain, note="; ".join(filter(None, [plain.note, f"not compared: {result}"])))
    value = result.value if isinstance(result, Difference) else result.difference
    return replace(
        plain, clusters=result.clusters, difference=value, low=result.low, high=result.high, p=result.p
    )


@dataclass(frozen=True, slots=True)
class _Two:
    """Two sets whose clips, and whose references' clips, have clusters in common."""

    a: Held
    b: Held
    shared: bool
    numbers: Numbers
    drawn: Drawn

    def result(self, metric: str) -> Difference | Paired | str:
        """The difference; or the reason why there is none."""
        if metric in ("kl", "clap"):
            return self._of_means(metric)
        return self._kernel() if metric == "kad" else self._frechet(metric)

    @property
    def _few(self) -> bool:
        sides = (self.a.side, self.a.reference, self.b.side, self.b.reference)
        return min(len({*side.clusters}) for side in sides) < LEAST

    @property
    def _groups(self) -> dict[str, int]:
        """By cluster, its clips in one group; clusters of the same sides are dealt evenly."""
        sides = [frozenset(one.clusters) for held in (self.a, self.b) for one in (held.side, held.reference)]

        def place(name: str) -> tuple[list[bool], bytes]:
            return [name in side for side in sides], hashlib.sha256(name.encode()).digest()

        return {name: at % GROUPS for at, name in enumerate(sorted(frozenset.union(*sides), key=place))}

    def _frechet(self, metric: str) -> Difference | str:
        if self._few:
            return FEW_CLUSTERS
        groups, of_frames = self._groups, metric == "fad"
        splits, influences = [], []
        for one, sign in ((self.a, 1.0), (self.b, -1.0)):
            split = self.numbers.split(one.side, one.reference, groups, of_frames=of_frames)
            whole = self.numbers.frechet(one.side, one.reference, of_frames=of_frames)
            if isinstance(split, str) or isinstance(whole, str):
                return str(split)
            splits.append(split)
            influences.append((one.side.clusters, [sign * each for each in whole.side]))
            influences.append((one.reference.clusters, [sign * each for each in whole.reference]))
        found = unbiased_difference(splits[0], splits[1], summed(*influences).values(), self.drawn.level)
        return found or NO_DIFFERENCE

    def _kernel(self) -> Difference | str:
        found = []
        for one in (self.a, self.b):
            kernel = self.numbers.kernel(one.side, one.reference, one.width)
            if isinstance(kernel, str):
                return kernel
            if not kernel.changes:
                return NONE_OUTSIDE
            found.append(kernel)
        if self._few:
            return FEW_CLUSTERS
        influences = jackknifed(found[0].changes, found[1].changes)
        return difference(found[0].value, found[1].value, influences, self.drawn.level) or NO_DIFFERENCE

    def _of_means(self, metric: str) -> Paired | str:
        """Clips that both sets have a value for, as scores are compared."""
        if not self.shared:
            return NONE_SHARED
        values, clusters = [], []
        for one in (self.a, self.b):
            clusters.append(one.side.clusters)
            if metric == "clap":
                values.append(self.numbers.cosines(one.side.sounds, one.captions))
            else:
                counterparts = [sound for sound in one.counterparts if sound is not None]
                values.append(divergences(one.side.sounds, counterparts))
        if len({*clusters[0]}) < LEAST:
            return FEW_CLUSTERS
        found = paired_difference(
            values[0], clusters[0], values[1], clusters[1], bounds=None, **asdict(self.drawn)
        )
        return found or "all clips differ alike"


def _valued(held: Held, metric: str) -> frozenset[tuple[str, str]]:
    """The clips that a metric is of: for KL those with a counterpart, for CLAP those with a caption."""
    if metric not in ("kl", "clap"):
        return frozenset(held.names)
    has = [other is not None for other in held.counterparts]
    if metric == "clap":
        has = [bool(caption.strip()) for caption in held.captions]
    return frozenset(name for name, there in zip(held.names, has, strict=True) if there)
