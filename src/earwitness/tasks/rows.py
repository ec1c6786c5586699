"""What a task hands to the report: one row per item, one per system, one per pair of systems."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from earwitness.events import Event

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
        status: ``scored``, ``not_applicable`` or ``unheard``.
        reason: Why it is not scored (empty when scored); one of listeners.base.REASONS when unheard.
        detail: The same in words, or the verdict's reason when scored.
        verdict: ``right`` or ``wrong`` when scored, else the status.
        error_kind: Kind of the order error (``missing``, ``reversed``, ``overlapped``, ``unclear``) or empty.
        values: Every number of the item, by metric name; None where it is not defined.
        asked: What the caption asks for, in the stated order.
        heard: What the listener heard (first heard repeat).
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
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Metric:
    """A number of one system with its interval; ``value`` is None when nothing was scored.

    Attributes:
        low, high: Bounds of the interval at the run's confidence level.
        worst, best: The value if every unheard item were wrong or right; None where that has no meaning.
        n: Number of items behind the value.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    worst: float | None = None
    best: float | None = None
    n: int = 0


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """How a metric is shown: ``title`` is the column head, ``better`` is +1, -1 or 0 (neither)."""

    name: str
    title: str
    meaning: str
    better: int = 1
    percent: bool = False
    decimals: int = 3


@dataclass(frozen=True, slots=True)
class SystemRow:
    """One system: counts (n = not_applicable + unheard + scored), coverage, metrics, error counts."""

    system: str
    n: int
    not_applicable: int
    unheard: int
    scored: int
    coverage: float | None
    metrics: Mapping[str, Metric]
    errors: Mapping[str, int] = field(default_factory=dict)
    unheard_reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems on the clusters they share: ``difference`` = first - second of the key metric.

    ``winner`` is empty unless the paired interval excludes zero and the corrected p is below alpha.
    """

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


@dataclass(frozen=True, slots=True)
class Summary:
    """Everything about a run but its items."""

    task: str
    listener: str
    key_metric: str
    specs: tuple[MetricSpec, ...]
    rows: tuple[SystemRow, ...]
    comparisons: tuple[Comparison, ...]
    notes: tuple[str, ...]
