"""What a task hands to the report: one row per item, one per system, one per pair of systems."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from earwitness.events import Event

if TYPE_CHECKING:
    from earwitness.tasks.distances import Distances

LOW_COVERAGE = 0.95
"""Below this share of applicable items scored, a system's number is marked."""
SCORED, NOT_APPLICABLE, UNHEARD = "scored", "not_applicable", "unheard"


@dataclass(frozen=True, slots=True)
class Asked:
    """One event the caption asks for: its words, the labels that count as it, its place in the order.

    ``place`` is 0 for the first; events that may come in any order share a place; a negative place is
    outside the stated order (a sound in the background).
    """

    phrase: str
    labels: tuple[str, ...]
    place: int


@dataclass(frozen=True, slots=True)
class ItemRow:
    """One item after scoring.

    Attributes:
        item_id: Number of the item in the ledger.
        audio: Absolute path of the clip.
        cluster: Items sharing it are resampled together.
        stratum: Kind of item by which numbers are broken down (Measures.strata); empty if there are none.
        status: ``scored``, ``not_applicable`` or ``unheard``.
        reason: Why it is not scored (empty when scored); one of listeners.base.REASONS when unheard.
        detail: The same in words, or the verdict's reason when scored.
        verdict: One of the task's verdicts (Measures.verdicts) when scored, else the status.
        error_kind: One of the task's kinds of error (Measures.kinds) or empty.
        values: Every number of the item, by metric name; None where it is not defined.
        asked: What the caption asks for, in the stated order.
        heard: What the listener heard (first heard repeat).
        source: For an edit, the clip that was edited.
        texts: More words to show beside the clip, by their heading (an instruction, a source caption).
        tags: Short keywords of the clip.
        warnings: What a reader should know about the file (silent channel, low rate).
    """

    item_id: int
    system: str
    sample_id: str
    caption: str
    reversed_caption: str
    audio: str
    duration_s: float | None
    cluster: str
    status: str
    reason: str
    detail: str
    verdict: str
    error_kind: str = ""
    values: Mapping[str, float | None] = field(default_factory=dict)
    asked: tuple[Asked, ...] = ()
    heard: tuple[Event, ...] = ()
    source: "Source | None" = None
    texts: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Source:
    """The clip that was edited: absolute path, length, and what was heard in it."""

    audio: str
    duration_s: float | None
    heard: tuple[Event, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of one system with its interval; ``value`` is None when nothing was scored.

    Attributes:
        low, high: Bounds of the interval at the run's confidence level.
        worst, best: The value if every unheard item were wrong or right; None where that has no meaning.
        n: Number of items behind the value.
        lone: Whether one cluster alone stands behind the value, so that it has no interval.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    worst: float | None = None
    best: float | None = None
    n: int = 0
    lone: bool = False


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """How a metric is shown and tested.

    Attributes:
        title: The column head.
        better: +1, -1 or 0 (neither).
        scale: Lowest and highest value an item can have; None if there is no limit.
        rate: True if an item has 0 or 1, so that "every unheard item wrong, or right" has a meaning.
    """

    name: str
    title: str
    meaning: str
    better: int = 1
    percent: bool = False
    decimals: int = 3
    scale: tuple[float, float] | None = (0.0, 1.0)
    rate: bool = False


@dataclass(frozen=True, slots=True)
class Measures:
    """What a task measures.

    Attributes:
        key: Name of the metric that ranks the systems.
        columns: Metrics and counts of the usual table, in order.
        compared: Metrics for which systems are tested against each other; the key metric by default.
        verdicts: Verdicts of a scored item and how the page names them, the good ones first.
        kinds: Kinds of error and what each means, in the order in which they are listed.
        cluster: What a cluster is, in words.
        hearing: How the listener hears an item, in sentences.
        baselines: Systems of these names are no contestants, and what each does: they are never best, and
            not tested against others.
        remarks: Notes for the reader that follow from the systems' numbers.
        strata: Groups of strata by name. If there are any, a system's number is the mean over the strata's
            means, its interval drawn within each stratum, and SystemRow.parts breaks it down.
        stratum: What a stratum is, as the plural of one word.
        ceiling: Baseline that shows what the listener can reach: where it has no number in a stratum, no one
            has but the oracle.
        oracle: Baseline that knows the truth without hearing: what the scores themselves can reach. Its means
            over strata are over those of the ceiling; in a group where that has none, over its own. Where
            there is a ceiling, the baselines that are neither it nor the oracle are floors.
        exact: Baselines whose numbers owe nothing to chance, so that they have no interval.
        unlisted: Baselines whose clips are not put on the page.
        marks: Systems that must be marked wherever they are ranked, which follows from their numbers too.
    """

    specs: tuple[MetricSpec, ...]
    key: str
    columns: tuple[str, ...]
    compared: tuple[str, ...] = ()
    verdicts: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    cluster: str = ""
    hearing: str = ""
    baselines: Mapping[str, str] = field(default_factory=dict)
    strata: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stratum: str = "strata"
    ceiling: str = ""
    oracle: str = ""
    exact: frozenset[str] = frozenset()
    unlisted: frozenset[str] = frozenset()
    remarks: "Callable[[Sequence[SystemRow]], Sequence[str]]" = lambda systems: ()
    marks: "Callable[[Sequence[SystemRow]], Sequence[Mark]]" = lambda systems: ()


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system: counts (n = not_applicable + unheard + scored), coverage, metrics, error counts.

    ``baseline`` is true for what did no work and is shown for scale. ``parts`` holds, by stratum and by
    group of strata, the metrics of those items alone.
    """

    system: str
    n: int
    not_applicable: int
    unheard: int
    scored: int
    coverage: float | None
    metrics: Mapping[str, Metric]
    errors: Mapping[str, int] = field(default_factory=dict)
    unheard_reasons: Mapping[str, int] = field(default_factory=dict)
    baseline: bool = False
    parts: Mapping[str, Mapping[str, Metric]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mark:
    """A sign beside the names of some systems, and a sentence that says what it means."""

    sign: str
    meaning: str
    systems: frozenset[str]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the items that both have a value of ``metric`` for: ``difference`` = first - second.

    ``items`` is the number of those items, ``clusters`` that of the clusters they lie in. ``winner`` is
    empty unless the paired interval excludes zero and the corrected p is below alpha. ``note`` says why there
    is no difference, or what its interval rests on.
    """

    metric: str
    first: str
    second: str
    clusters: int
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_holm: float | None
    winner: str = ""
    note: str = ""
    items: int = 0


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything about a run but its items; ``distances`` are those to its references, if there are any."""

    task: str
    listener: str
    measures: Measures
    rows: tuple[SystemRow, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
    marks: tuple[Mark, ...] = ()
    distances: "Distances | None" = None

    @property
    def specs(self) -> tuple[MetricSpec, ...]:
        return self.measures.specs

    @property
    def key_metric(self) -> str:
        return self.measures.key
