"""How well do estimated events fit the true ones? Counts by file and class; every rate is derived from them.

Conventions
-----------
Times are seconds. A collar is plus-minus (not a total width), and a time at its very edge is within it, up to
events.EPSILON_S: 2.0 and 2.2 are 0.2 apart, although in floats it is 0.20000000000000018.

Event-based. An estimated event can be matched to a true one of the same class in the same file if::

    onset   | estimated - true | <= onset_collar_s
    offset  | estimated - true | <= max(offset_collar_s, offset_share * length of the true event)

              o--o--o onset: collar 0.2            offset: 20 % of 4 s = 0.8
    true         [=================================]
    estimated      [==========================]       matched
    estimated       -  [=======================]      not: the onset is too late
                                           o-------o-------o
    true         [==]  a short event: the collar is the larger, +- 0.2, not 20 % of 0.5 s = 0.1

The greater of the two counts: an offset need not be within both. The offset rule can be turned off. Matching
is one to one and as many pairs as can be; of equal choices the one whose times fit best (errors of time are
those of its pairs): onsets and offsets, or onsets alone where the offset rule is off.

- substitution: two events left over that fit in time but not in class, counted as sed_eval counts them
  (scores.event_substitutions): each true event takes the first estimated one that is free. deletion: a true
  event that is neither matched nor substituted. insertion: an estimated event likewise.
- Events are counted in order of onset, then offset, as they lie in an EventTable, so that no number depends
  on the order of rows. sed_eval takes rows as they come, and its error rate depends on their order: only with
  rows that are sorted so is it the same.
- error rate = (substitutions + deletions + insertions) / true events; it can exceed 1. Of a class: (misses +
  false alarms) / true events, as there is nothing to confuse it with.
- Events of a class that overlap are events like any other.

Segment-based. A file is cut into segments of ``resolution_s``; a class is active in a segment that one of its
events enters by more than EPSILON_S; what lies beyond the file's stated length is left out. The length is
always given, never inferred from the last event. In a segment with n true and m estimated classes, of which h
are the same: min(n, m) - h substitutions, max(0, n - m) deletions, max(0, m - n) insertions.

Rates. F1 = 2 hits / (true + estimated). Without a true event, F1, recall and error rate are NaN; without an
estimated one, precision is: there is nothing to rate. A class that is there and never estimated has F1 0, and
false alarms in a file without truth count like all others. The macro F1 is the mean over the classes that the
truth has. (sed_eval: NaN, and its macro mean skips a class that is never estimated; an error rate of 0, or of
10^15. mir_eval: 0. pyannote: 1.)

Sources: Mesaros, Heittola, Virtanen, Metrics for Polyphonic Sound Event Detection, Applied Sciences 6 (2016)
162, sections 3.1 (segments), 3.2 (events) and 4.2 (error rate); sed_eval 0.2.1; mir_eval 0.8.2.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness.events import EPSILON_S, Event
from earwitness.scores.event_pairs import paired
from earwitness.scores.event_substitutions import Pairs, substituted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
Numbers = float | Floats | Ints


@dataclass(frozen=True, slots=True)
class Events:
    """Events of many files as columns of shape (n,), in any order.

    Attributes:
        file, label: Indices of the event's file and class.
        onset_s, offset_s: Seconds from the start of the file.
    """

    file: Ints
    label: Ints
    onset_s: Floats
    offset_s: Floats


def columns(tables: Sequence[Iterable[Event]], classes: Mapping[str, int]) -> Events:
    """The events of every file as columns.

    Args:
        tables: A file's events each.
        classes: Index by label.

    Raises:
        KeyError: If a label has no index.
    """
    rows = [
        (number, classes[event.label], event.onset_s, event.offset_s)
        for number, table in enumerate(tables)
        for event in table
    ]
    file, label, onset, offset = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Events(
        np.array(file, np.int64), np.array(label, np.int64), np.array(onset, float), np.array(offset, float)
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """When an estimated event fits a true one in time (see the module); defaults as in DCASE.

    >>> fits(Rule(), (1.0, 5.0), (1.2, 4.2))  # 20 % of 4 s is more than the collar
    True
    >>> fits(Rule(), (1.0, 1.5), (1.0, 1.7))  # the collar is more than 20 % of half a second
    True
    >>> fits(Rule(), (1.0, 1.5), (1.0, 1.8))
    False
    >>> fits(Rule(offset=False), (1.0, 1.5), (1.2, 9.0))
    True

    Raises:
        ValueError: If a collar is negative or not finite, or the share outside [0, 1].
    """

    onset_collar_s: float = 0.2
    offset_collar_s: float = 0.2
    offset_share: float = 0.2
    offset: bool = True

    def __post_init__(self) -> None:
        for name in ("onset_collar_s", "offset_collar_s"):
            if not 0 <= getattr(self, name) < np.inf:
                raise ValueError(f"{name} must be a finite number >= 0, not {getattr(self, name)!r}")
        if not 0 <= self.offset_share <= 1:
            raise ValueError(f"offset_share must lie in [0, 1], not {self.offset_share!r}")


def fits(rule: Rule, true: tuple[float, float], estimated: tuple[float, float]) -> bool:
    """Whether an estimated (onset, offset) fits a true one."""
    zero = np.zeros(1, np.int64)
    one, other = (
        Events(zero, zero, np.array([onset], float), np.array([offset], float))
        for onset, offset in (true, estimated)
    )
    return bool(_close(one, other, rule)[0].size)


@dataclass(frozen=True, slots=True)
class Counts:
    """What rates are made of, additive over files.

    Attributes:
        hits, true, estimated: Events, or active segments, shape (files, classes).
        substitutions, deletions, insertions: Of all classes together, shape (files,).
    """

    hits: Ints
    true: Ints
    estimated: Ints
    substitutions: Ints
    deletions: Ints
    insertions: Ints

    @property
    def errors(self) -> Ints:
        """Numerator of the error rate, shape (files,)."""
        return self.substitutions + self.deletions + self.insertions


@dataclass(frozen=True, slots=True)
class Matched:
    """Event-based counts, and the pairs behind them.

    Attributes:
        hits: Pairs of equal class whose times fit best, by the places of the two when all events of a side
            lie in order of file, onset, offset and class.
        substitutions: Pairs of unequal class.
        beside: The hits that sed_eval has beside these substitutions, as many; in files without a
            substitution there may be none.
        file, label: Of each hit, shape (hits,); the class is the true event's.
        onset_error_s, offset_error_s: Estimated minus true, shape (hits,); positive is late.
    """

    counts: Counts
    hits: Pairs
    substitutions: Pairs
    beside: Pairs
    file: Ints
    label: Ints
    onset_error_s: Floats
    offset_error_s: Floats


def matched(truth: Events, estimated: Events, files: int, classes: int, rule: Rule) -> Matched:
    """Match events of equal class and count hits, substitutions, deletions and insertions.

    Args:
        truth, estimated: Their files lie in [0, files), their labels in [0, classes).
    """
    truth, estimated = _in_order(truth), _in_order(estimated)
    t, e = _close(truth, estimated, rule)
    alike = truth.label[t] == estimated.label[e]
    confused = np.zeros(files, bool)  # only in files where unequal classes fit there is something to count
    confused[truth.file[t[~alike]]] = True
    here = confused[truth.file[t]]
    beside, confusions = substituted(t[here], e[here], alike[here])
    substitutions = np.bincount(truth.file[list(confusions)], minlength=files)
    t, e = t[alike], e[alike]
    chosen = paired(t, e, np.ones(len(t), bool), _misfit(truth, estimated, t, e, rule))
    t, e = t[chosen], e[chosen]
    hits, true, found = (
        _table(file, label, files, classes)
        for file, label in (
            (truth.file[t], truth.label[t]),
            (truth.file, truth.label),
            (estimated.file, estimated.label),
        )
    )
    in_pairs = hits.sum(axis=1) + substitutions
    counts = Counts(
        hits, true, found, substitutions, true.sum(axis=1) - in_pairs, found.sum(axis=1) - in_pairs
    )
    return Matched(
        counts,
        dict(zip(t.tolist(), e.tolist(), strict=True)),
        confusions,
        beside,
        truth.file[t],
        truth.label[t],
        estimated.onset_s[e] - truth.onset_s[t],
        estimated.offset_s[e] - truth.offset_s[t],
    )


@dataclass(frozen=True, slots=True)
class Lenient:
    """Counts by file where more labels than the class itself will do, shape (files,)."""

    hits: Ints
    true: Ints
    estimated: Ints


def lenient(
    truth: Events, estimated: Events, files: int, alike: Flags, rule: Rule, spare: Flags | None = None
) -> Lenient:
    """Match events whose labels are alike, such as one and its ancestor in a tree of labels.

    Args:
        alike: Whether a true class (row) may be met by an estimated label (column); with the identity and
            no ``spare`` the counts are those of :func:`matched`.
        spare: Estimated events that can be matched but are no false alarm otherwise, shape (n,): those
            whose labels are outside the classes. Others are matched before them.
    """
    extra = np.zeros(len(estimated.file), bool) if spare is None else spare
    t, e = _close(truth, estimated, rule)
    may = alike[truth.label[t], estimated.label[e]]
    t, e = t[may], e[may]
    chosen = paired(t, e, ~extra[e], _misfit(truth, estimated, t, e, rule))
    t, e = t[chosen], e[chosen]
    counted = ~extra
    counted[e] = True
    hits, true, found = (
        np.bincount(each, minlength=files) for each in (truth.file[t], truth.file, estimated.file[counted])
    )
    return Lenient(hits, true, found)


def segment_counts(
    truth: Events,
    estimated: Events,
    durations_s: Sequence[float] | Floats,
    classes: int,
    resolution_s: float = 1.0,
) -> Counts:
    """Count segments in which classes are active.

    Args:
        durations_s: Length of every file, shape (files,).
        resolution_s: Length of a segment, more than EPSILON_S.

    Raises:
        ValueError: If the resolution is too small.
    """
    if not EPSILON_S < resolution_s < np.inf:
        raise ValueError(f"resolution_s must be a finite number > {EPSILON_S}, not {resolution_s!r}")
    lengths = np.ceil((np.asarray(durations_s, float) - EPSILON_S) / resolution_s).clip(0).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    files = len(lengths)

    def active(events: Events) -> Ints:
        """Sorted codes (segment of all files, class)."""
        first = np.floor((events.onset_s + EPSILON_S) / resolution_s).astype(np.int64)
        last = np.ceil((events.offset_s - EPSILON_S) / resolution_s).astype(np.int64)
        many = (np.minimum(last, lengths[events.file]) - first).clip(0)
        segment = np.repeat(starts[events.file] + first, many) + _counting(many)
        return np.unique(segment * classes + np.repeat(events.label, many))

    true, found = active(truth), active(estimated)
    both = np.intersect1d(true, found, assume_unique=True)
    segments, at = np.unique(np.concatenate([true, found, both]) // classes, return_inverse=True)
    cuts = np.cumsum([len(true), len(found)])
    n, m, h = (np.bincount(part, minlength=len(segments)) for part in np.split(at, cuts))
    file = np.searchsorted(starts, segments, side="right") - 1

    def by_file(of_segments: Ints) -> Ints:
        return np.bincount(file, weights=of_segments, minlength=files).astype(np.int64)

    def table(codes: Ints) -> Ints:
        where = np.searchsorted(starts, codes // classes, side="right") - 1
        return _table(where, codes % classes, files, classes)

    return Counts(
        table(both),
        table(true),
        table(found),
        by_file(np.minimum(n, m) - h),
        by_file((n - m).clip(0)),
        by_file((m - n).clip(0)),
    )


def f1(hits: Numbers, true: Numbers, estimated: Numbers) -> Floats:
    """2 hits / (true + estimated), in [0, 1]; NaN without a true event.

    This and the other rates take numbers, or arrays of one shape (sums of other files each), and return an
    array of that shape.
    """
    return _ratio(2 * np.asarray(hits, float), np.add(true, estimated), true)


def precision(hits: Numbers, estimated: Numbers) -> Floats:
    """Share of what was estimated that is a hit; NaN if nothing was."""
    return _ratio(hits, estimated, estimated)


def recall(hits: Numbers, true: Numbers) -> Floats:
    """Share of what is true that was hit; NaN if nothing is."""
    return _ratio(hits, true, true)


def error_rate(errors: Numbers, true: Numbers) -> Floats:
    """Errors by true event, 0 or more; NaN without a true event."""
    return _ratio(errors, true, true)


def macro_f1(hits: Numbers, true: Numbers, estimated: Numbers) -> Floats:
    """Mean F1 of the classes that the truth has; NaN if it has none. From arrays (..., classes) to (...)."""
    there = np.asarray(true) > 0
    each = np.where(there, f1(hits, true, estimated), 0.0)
    return _ratio(each.sum(axis=-1), there.sum(axis=-1), there.sum(axis=-1))


def _ratio(part: Numbers, whole: Numbers, rated: Numbers) -> Floats:
    """Part by whole where there is anything to rate, else NaN."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found: Floats = np.where(np.asarray(rated) > 0, np.divide(part, whole), np.nan)
    return found


def _table(file: Ints, label: Ints, files: int, classes: int) -> Ints:
    return np.bincount(file * classes + label, minlength=files * classes).reshape(files, classes)


def _counting(many: Ints) -> Ints:
    """0, 1, ... for each of ``many``, one after the other."""
    ends = np.cumsum(many)
    return np.arange(ends[-1] if len(ends) else 0) - np.repeat(ends - many, many)


def _close(truth: Events, estimated: Events, rule: Rule) -> tuple[Ints, Ints]:
    """Indices of every pair (true, estimated) of one file that fits in time."""
    if not len(truth.file) or not len(estimated.file):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    reach = rule.onset_collar_s + EPSILON_S
    span = max(truth.onset_s.max(), estimated.onset_s.max()) + 2 * reach + 1
    at = estimated.file * span + estimated.onset_s  # one line on which files lie one after the other
    order = np.argsort(at, kind="stable")
    middle = truth.file * span + truth.onset_s
    slack = reach + 8 * np.spacing(max(at.max(), middle.max()) + span)  # far along it floats are coarse
    first = np.searchsorted(at[order], middle - slack, side="left")
    many = np.searchsorted(at[order], middle + slack, side="right") - first
    t = np.repeat(np.arange(len(middle)), many)
    e = order[np.repeat(first, many) + _counting(many)]
    near = (truth.file[t] == estimated.file[e]) & (np.abs(estimated.onset_s[e] - truth.onset_s[t]) <= reach)
    if rule.offset:
        length = truth.offset_s - truth.onset_s
        allowed = np.maximum(rule.offset_collar_s, rule.offset_share * length) + EPSILON_S
        near &= np.abs(estimated.offset_s[e] - truth.offset_s[t]) <= allowed[t]
    return t[near], e[near]


def _in_order(events: Events) -> Events:
    """As they lie in event tables, file after file; what is equally good is then chosen alike."""
    order = np.lexsort((events.label, events.offset_s, events.onset_s, events.file))
    return Events(events.file[order], events.label[order], events.onset_s[order], events.offset_s[order])


def _misfit(truth: Events, estimated: Events, t: Ints, e: Ints, rule: Rule) -> Floats:
    """How badly the times of pairs fit: of those that the rule asks for."""
    misfit: Floats = np.abs(estimated.onset_s[e] - truth.onset_s[t])
    if rule.offset:
        misfit = misfit + np.abs(estimated.offset_s[e] - truth.offset_s[t])
    return misfit
