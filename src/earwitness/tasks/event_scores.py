"""Systems' event tables held against one truth: every number with its interval, and the counts behind it.

Conventions
-----------
Numbers are defined in scores.event_metrics. Counts are summed over clips, rates are made of the sums.
Intervals are percentile bootstraps over clips (stats.resampling): whole clips are drawn again, once for all
numbers of a system, and rates made of the drawn sums; draws in which a rate has nothing to rate are left out.
Where no clip alone changes a number, a share has the Wilson bound at the number of clips that it rests on,
and an unbounded number no interval. With one such clip there is none; nor have medians and percentiles, and
the time errors of a class.

A clip that a system did not hear is no part of its numbers: it is listed, and the coverage says how many
were. Labels that name no class of the truth are false alarms, or are left out (``outside``); lenient numbers
let these be hits, but never false alarms.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from earwitness.events import Event, EventTable
from earwitness.scores import event_metrics as em
from earwitness.stats import intervals, resampling
from earwitness.tasks import event_labels
from earwitness.tasks.rows import Metric, MetricSpec

Floats = NDArray[np.float64]
COUNT, LEAVE = "count", "leave"
EVENT, SEGMENT, ONSET = "event", "segment", "onset_mae_s"
SHARE = (0.0, 1.0)
COUNTS = ("hits", "true", "estimated", "substitutions", "deletions", "insertions")
NO_TRUTH, NO_ESTIMATE, NO_PAIRS = "no true event", "nothing was estimated", "no event was matched"
NO_TREE, NO_CLIPS = "no class is known in AudioSet's tree", "no clip was heard"

SPECS: Mapping[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        MetricSpec("event_f1", "Event F1", "events of equal class matched in time"),
        MetricSpec("event_precision", "Event P", "share of estimated events that are matched"),
        MetricSpec("event_recall", "Event R", "share of true events that are matched"),
        MetricSpec("event_f1_macro", "Event F1 macro", "mean F1 of the truth's classes"),
        MetricSpec("event_er", "Event ER", "substitutions, deletions, insertions / true", -1, scale=None),
        MetricSpec("lenient_f1", "Lenient F1", "event F1 where labels above or below the class will do"),
        MetricSpec("lenient_recall", "Lenient R", "share of true events matched leniently"),
        MetricSpec("segment_f1", "Segment F1", "segments in which a class is active"),
        MetricSpec("segment_precision", "Segment P", "share of estimated active segments that are true"),
        MetricSpec("segment_recall", "Segment R", "share of true active segments that are estimated"),
        MetricSpec("segment_f1_macro", "Segment F1 macro", "mean segment F1 of the truth's classes"),
        MetricSpec("segment_er", "Segment ER", "errors by true active segment", -1, scale=None),
        MetricSpec("onset_bias_s", "Onset bias, s", "mean onset error of matched events", 0, scale=None),
        MetricSpec("onset_mae_s", "Onset |error|, s", "mean absolute onset error", -1, scale=None),
        MetricSpec("onset_median_s", "Onset median, s", "median absolute onset error", -1, scale=None),
        MetricSpec("onset_p90_s", "Onset p90, s", "90th percentile of it", -1, scale=None),
        MetricSpec("offset_bias_s", "Offset bias, s", "mean offset error of matched events", 0, scale=None),
        MetricSpec("offset_mae_s", "Offset |error|, s", "mean absolute offset error", -1, scale=None),
        MetricSpec("offset_median_s", "Offset median, s", "median absolute offset error", -1, scale=None),
        MetricSpec("offset_p90_s", "Offset p90, s", "90th percentile of it", -1, scale=None),
    )
}  # fmt: skip
"""Every number of a system, in order; positive errors of time are late."""
CLASS_METRICS = (
    "event_f1", "event_precision", "event_recall", "event_er", "segment_f1", "segment_er", "onset_mae_s",
)  # fmt: skip
"""Those of a class. Its error rates have no substitutions."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A system's events, of the clips it heard.

    Attributes:
        tables: Clip -> its events, as labelled by the system.
        left_out: Clip -> why it has none.
        outside: What a label outside the truth's classes is: ``count`` (a false alarm) or ``leave``.
    """

    system: str
    tables: Mapping[str, EventTable]
    left_out: Mapping[str, str] = field(default_factory=dict)
    outside: str = COUNT


@dataclass(frozen=True, slots=True)
class Settings:
    """How events are held against each other."""

    rule: em.Rule = field(default_factory=em.Rule)
    segment_s: float = 1.0
    level: float = 0.95
    draws: int = 10_000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Numbers of a system, or of one of its classes.

    Attributes:
        counts: Of events and segments, by name.
        metrics: By the names of :data:`SPECS`; ``n`` of each is the number of clips, of time errors of pairs.
        reasons: Metric -> why it has no value.
    """

    counts: Mapping[str, int]
    metrics: Mapping[str, Metric]
    reasons: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class SystemScores:
    """A system's numbers.

    Attributes:
        clips: Of the truth; ``heard`` of them are scored.
        classes: Class -> its numbers, for every class of the truth and every other label that counts.
        read_as: Label -> the class as which it was read, where they are spelt differently.
        outside: Label that names no class -> number of its events.
        outside_is: See :class:`Heard`.
        by_clip: Clip -> its counts by name, as in ``whole.counts``.
    """

    system: str
    clips: int
    heard: int
    whole: Part
    classes: Mapping[str, Part]
    left_out: Mapping[str, str]
    read_as: Mapping[str, str]
    outside: Mapping[str, int]
    outside_is: str
    by_clip: Mapping[str, Mapping[str, int]]

    @property
    def coverage(self) -> float:
        return self.heard / self.clips

    @property
    def outside_left_out(self) -> int:
        """Events that count nowhere, as their labels name no class of the truth."""
        return sum(self.outside.values()) if self.outside_is == LEAVE else 0


def scored(
    truth: Mapping[str, EventTable], heard: Heard, settings: Settings, own: Mapping[str, str]
) -> SystemScores:
    """Hold a system's events against the truth.

    Args:
        truth: Clip -> its true events, at least one clip.
        own: The user's table of labels, label -> class.
    """
    classes = sorted({event.label for table in truth.values() for event in table})
    clips = [clip for clip in truth if clip in heard.tables]
    labels = sorted({event.label for clip in clips for event in heard.tables[clip]})
    named = {label: event_labels.class_of(label, classes, own) for label in labels}
    dropped = {label for label in labels if own.get(label) == ""}
    found = [read(heard.tables[clip], named, dropped) for clip in clips]
    outside = [label for label in labels if named[label] is None and label not in dropped]
    every = [*classes, *outside]
    index = {name: at for at, name in enumerate(every)}
    counted = every if heard.outside == COUNT else classes
    true = em.columns([truth[clip] for clip in clips], index)
    all_found = em.columns(found, index)
    kept = all_found.label < len(counted)
    estimated = em.Events(
        *(getattr(all_found, name)[kept] for name in ("file", "label", "onset_s", "offset_s"))
    )
    size, width = len(clips), len(every)
    match = em.matched(true, estimated, size, width, settings.rule)
    alike = np.zeros((width, width), bool)
    alike[: len(classes)] = event_labels.alike(classes, every)
    lenient = em.lenient(true, all_found, size, alike, settings.rule, spare=~kept)
    durations = [truth[clip].duration_s for clip in clips]
    segments = em.segment_counts(true, estimated, durations, width, settings.segment_s)
    known = any(map(event_labels.audioset, classes))
    whole = _whole(match, segments, lenient if known else None, settings)
    return SystemScores(
        heard.system,
        len(truth),
        size,
        whole,
        {name: _of_class(match, segments, index[name], settings) for name in counted},
        heard.left_out,
        {label: name for label, name in named.items() if name is not None and name != label},
        {label: int((all_found.label == index[label]).sum()) for label in outside},
        heard.outside,
        _by_clip(clips, match.counts, segments),
    )


def read(table: EventTable, named: Mapping[str, str | None], dropped: set[str]) -> list[Event]:
    """Events under the names of classes. Where several labels are read as one class, what overlaps is one."""
    of_class: dict[str, set[str]] = {}
    for label, name in named.items():
        if name is not None:
            of_class.setdefault(name, set()).add(label)
    several = {name for name, its in of_class.items() if len(its) > 1}
    events = [
        Event(named[e.label] or e.label, e.onset_s, e.offset_s, e.confidence)
        for e in table
        if e.label not in dropped
    ]
    joined = EventTable(tuple(e for e in events if e.label in several), table.duration_s).merged()
    return [*(e for e in events if e.label not in several), *joined]


Rate = Callable[..., Floats]
"""From the sums over clips of each column to the number, all of one shape; NaN where there is none."""


@dataclass(frozen=True, slots=True)
class _Number:
    """A number as a function of sums over clips.

    Attributes:
        columns: What is summed, shape (clips,) each.
        bounds: Of its scale, None if it has no limit.
        why: Why it has no value, when it has none.
        n: What it rests on.
    """

    name: str
    columns: Sequence[Floats]
    rate: Rate
    bounds: tuple[float, float] | None
    why: str
    n: int


def _mean(total: Floats, pairs: Floats) -> Floats:
    found: Floats = np.where(pairs > 0, total / pairs, np.nan)
    return found


def _macro(*totals: Floats) -> Floats:
    """A third of the totals each: hits, true and estimated of every class."""
    return em.macro_f1(*np.split(np.stack(totals, axis=-1), 3, axis=-1))


def _rates(prefix: str, hits: Floats, true: Floats, estimated: Floats, errors: Floats) -> list[_Number]:
    n = len(true)
    return [
        _Number(f"{prefix}_f1", (hits, true, estimated), em.f1, SHARE, NO_TRUTH, n),
        _Number(f"{prefix}_precision", (hits, estimated), em.precision, SHARE, NO_ESTIMATE, n),
        _Number(f"{prefix}_recall", (hits, true), em.recall, SHARE, NO_TRUTH, n),
        _Number(f"{prefix}_er", (errors, true), em.error_rate, None, NO_TRUTH, n),
    ]


def _part(counts: Mapping[str, int], numbers: Sequence[_Number], clips: int, settings: Settings) -> Part:
    """All numbers, with intervals from one set of draws."""
    names = [one.name for one in numbers]
    if not clips:
        return Part(counts, dict.fromkeys(names, Metric(None)), dict.fromkeys(names, NO_CLIPS))
    table = np.stack([column for one in numbers for column in one.columns], axis=1)
    kinds, many = resampling.kinds_of(table)
    drawn = _drawn(kinds, many, settings) if clips > 1 else None
    metrics: dict[str, Metric] = {}
    start = 0
    for one in numbers:
        mine = slice(start, start := start + len(one.columns))
        its_draws = None if drawn is None else drawn[:, mine]
        metrics[one.name] = _metric(one, table[:, mine], its_draws, settings.level)
    return Part(counts, metrics, {one.name: one.why for one in numbers if metrics[one.name].value is None})


def _drawn(kinds: Floats, many: NDArray[np.int64], settings: Settings) -> Floats:
    """Sums of as many clips as there are, drawn again and again: (draws, columns)."""
    rng, clips = np.random.default_rng(settings.seed), int(many.sum())
    block = max(1, 8 * resampling.BLOCK // len(kinds))
    sizes = [min(block, settings.draws - at) for at in range(0, settings.draws, block)]
    return np.concatenate([rng.multinomial(clips, many / clips, size=size) @ kinds for size in sizes])


def _metric(one: _Number, table: Floats, drawn: Floats | None, level: float) -> Metric:
    whole = table.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        value = float(one.rate(*whole))
        if not np.isfinite(value):
            return Metric(None, n=one.n)
        if drawn is None:
            return Metric(value, n=one.n, lone=True)
        without, found = one.rate(*(whole - table).T), one.rate(*drawn.T)
    bearing = int((table != 0).any(axis=1).sum())  # clips that the number rests on at all
    if (np.abs(without - value) <= resampling.TOLERANCE).all() or bearing < 2:
        if one.bounds is None or bearing < 2:
            return Metric(value, n=one.n, lone=bearing < 2)
        wide = intervals.scaled_wilson(value, bearing, one.bounds, level)
        return Metric(value, wide.low, wide.high, n=one.n)
    low, high = resampling.percentiles(found[np.isfinite(found)], level)
    return Metric(value, min(value, low), max(value, high), n=one.n)


def _whole(match: em.Matched, segments: em.Counts, lenient: em.Lenient | None, settings: Settings) -> Part:
    counts: dict[str, int] = {}
    numbers: list[_Number] = []
    clips = len(segments.errors)
    for prefix, each in ((EVENT, match.counts), (SEGMENT, segments)):
        hits, true, estimated = (table.astype(float) for table in (each.hits, each.true, each.estimated))
        numbers += _rates(prefix, hits.sum(1), true.sum(1), estimated.sum(1), each.errors.astype(float))
        there = true.sum(axis=0) > 0
        by_class = [column for table in (hits, true, estimated) for column in table[:, there].T]
        if by_class:
            numbers.append(_Number(f"{prefix}_f1_macro", by_class, _macro, SHARE, NO_TRUTH, clips))
        counts |= {f"{prefix}_{name}": int(getattr(each, name).sum()) for name in COUNTS}
    if lenient is not None:
        hits, true, estimated = (t.astype(float) for t in (lenient.hits, lenient.true, lenient.estimated))
        numbers += [one for one in _rates("lenient", hits, true, estimated, true) if one.name in SPECS]
        counts["lenient_hits"] = int(lenient.hits.sum())
    for name, errors in _errors(match):
        numbers += _time_errors(name, match.file, errors, clips)
    part = _part(counts, numbers, clips, settings)
    metrics, reasons = dict(part.metrics), dict(part.reasons)
    for name, errors in _errors(match):
        for statistic, share in (("median", 0.5), ("p90", 0.9)):
            value = float(np.quantile(np.abs(errors), share)) if len(errors) else None
            metrics[f"{name}_{statistic}_s"] = Metric(value, n=len(errors))
            if value is None:
                reasons[f"{name}_{statistic}_s"] = NO_PAIRS if clips else NO_CLIPS
    for name in SPECS.keys() - metrics.keys():
        metrics[name] = Metric(None)
        reasons[name] = NO_TREE if name.startswith("lenient") else NO_TRUTH if clips else NO_CLIPS
    return Part(counts, {name: metrics[name] for name in SPECS}, reasons)


def _by_clip(clips: Sequence[str], events: em.Counts, segments: em.Counts) -> dict[str, dict[str, int]]:
    columns: dict[str, list[int]] = {}
    for prefix, each in ((EVENT, events), (SEGMENT, segments)):
        for name in COUNTS:
            column = getattr(each, name)
            columns[f"{prefix}_{name}"] = (column if column.ndim == 1 else column.sum(axis=1)).tolist()
    return {clip: {name: column[at] for name, column in columns.items()} for at, clip in enumerate(clips)}


def _of_class(match: em.Matched, segments: em.Counts, at: int, settings: Settings) -> Part:
    counts: dict[str, int] = {}
    numbers: list[_Number] = []
    for prefix, each in ((EVENT, match.counts), (SEGMENT, segments)):
        hits, true, estimated = (t[:, at].astype(float) for t in (each.hits, each.true, each.estimated))
        numbers += _rates(prefix, hits, true, estimated, true + estimated - 2 * hits)
        named = (("hits", hits), ("true", true), ("estimated", estimated))
        counts |= {f"{prefix}_{name}": int(column.sum()) for name, column in named}
    part = _part(
        counts, [one for one in numbers if one.name in CLASS_METRICS], len(segments.errors), settings
    )
    errors = match.onset_error_s[match.label == at]
    mean = Metric(float(np.abs(errors).mean()) if len(errors) else None, n=len(errors))
    reasons = part.reasons if len(errors) else {**part.reasons, ONSET: NO_PAIRS}
    return Part(counts, {**part.metrics, ONSET: mean}, reasons)


def _errors(match: em.Matched) -> tuple[tuple[str, Floats], tuple[str, Floats]]:
    return ("onset", match.onset_error_s), ("offset", match.offset_error_s)


def _time_errors(name: str, file: NDArray[np.int64], errors: Floats, clips: int) -> list[_Number]:
    """Mean and mean absolute error."""
    pairs = np.bincount(file, minlength=clips).astype(float)
    sums = {what: np.bincount(file, weights=each, minlength=clips).astype(float)
            for what, each in (("bias", errors), ("mae", np.abs(errors)))}  # fmt: skip
    return [
        _Number(f"{name}_{what}_s", (each, pairs), _mean, None, NO_PAIRS, len(errors))
        for what, each in sums.items()
    ]
