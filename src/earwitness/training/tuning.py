"""Thresholds and rules: how logits of a trained head become events.

Conventions
-----------
They are chosen on calibration mixtures of the held recordings: those that decided when to stop, but in other
mixtures, none of which is tested on. The head was trained to tell every sound of a mixture, so its classes do
not compete: no rule drops one sound because another is heard better, and every class can be given its
threshold by itself, the one at which its own events are heard best. A class without recordings held back
decides nothing: its threshold is the one that is best for all others together.

An event heard and an event that is there match if they are of one class and overlap by at least half of the
shorter; each matches once, the greatest overlaps first. With TP matches, H events heard and N there, F of a
class is ``(1 + b^2) TP / (H + b^2 N)``, 0 if nothing matches; a class that is neither there nor heard is left
out. Thresholds are chosen with b = :data:`BETA`, F1 is what is told.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio import Clip, mono
from earwitness.backbones.yamnet_features import RATE_HZ, levelled, log_mel
from earwitness.events import Event, EventTable
from earwitness.listeners.yamnet_events import Rules, Table, events
from earwitness.training.features import Mixtures
from earwitness.training.mixtures import rendered
from earwitness.training.targets import HOP_S

Floats = NDArray[np.float32]

BETA = 2.0
"""How much more a missed event weighs than one too many: an asked sound that is missed turns a verdict, one
too many takes a tenth off a score (equation 3 of RiTTA). Of 1, 1.5, 2, 2.5 and 3 it gave the best mAMSR."""
SHARPNESS = 4.0
"""What logits are multiplied by, so that confidence, the logistic of the excess over the threshold, goes from
0.5 to 0.8 within 0.35 of the head's own logits: relations are judged at these confidences, and what is just
above its threshold should count at most of them. Of 1, 2, 3, 4 and 8, beyond 4 nothing was gained."""
PRIOR = 20.0
"""Events of the average class that are added to those of each class, of which a class has few."""

_OFF = 99.0 * SHARPNESS
RULES = Rules(hop_s=HOP_S, gap_s=0.5, rival=_OFF, echo=_OFF, unclaimed=-_OFF)
"""Yamnet's, on the rows that the head was trained on, without competition."""
_SMOOTH_S = (0.25, 0.5, 0.75, 1.0)
_THRESHOLDS = SHARPNESS * np.arange(-5.0, 2.01, 0.5)


@dataclass(frozen=True, slots=True)
class Found:
    """How events heard agree with those that are there, over many clips.

    Attributes:
        by_class: F1 of every class that is there or heard.
        precision, recall: Over all events of the classes that count.
        onset_error_s: Median over their matched events; None if none matched.
    """

    by_class: Mapping[str, float]
    precision: float
    recall: float
    onset_error_s: float | None

    @property
    def f1(self) -> float:
        """Mean over the classes."""
        return float(np.mean(list(self.by_class.values()))) if self.by_class else 0.0


@dataclass(frozen=True)
class Heard:
    """Clips with what the network says of them.

    Attributes:
        mels: Of every clip, at 16 kHz.
        logits: (rows, classes) of every clip.
        truth: What is there.
    """

    mels: tuple[Floats, ...]
    logits: tuple[Floats, ...]
    truth: tuple[EventTable, ...]


def heard(of: Mixtures, logits: Sequence[Floats]) -> Heard:
    """A set of mixtures with their logits."""
    rate, mels = of.mixing.rate_hz, []
    for number in range(len(of)):
        samples = mono(Clip(rendered(of[number])[np.newaxis], rate, ""), RATE_HZ)
        mels.append(log_mel(levelled(samples), RULES.hop_frames))
    return Heard(tuple(mels), tuple(logits), of.events())


def tuned(
    clips: Heard,
    classes: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
    deciding: Collection[str] | None = None,
) -> tuple[Floats, Rules]:
    """A threshold for every class, and the rules: the smoothing with which the mean F is best.

    Args:
        clips: The calibration clips, their logits multiplied by :data:`SHARPNESS`.
        deciding: Classes whose events decide; the others get the threshold that is best for these together.
            All by default.
    """
    deciding = classes if deciding is None else deciding
    best = -1.0
    thresholds, rules = np.zeros(len(classes), np.float32), RULES
    for number, smooth_s in enumerate(_SMOOTH_S):
        offered = replace(RULES, smooth_s=smooth_s)
        counts = np.zeros((len(_THRESHOLDS), len(classes), 3))
        for at, threshold in enumerate(_THRESHOLDS):
            said = _events(clips, classes, np.full(len(classes), threshold, np.float32), offered)
            for label, count in _agreement(clips.truth, list(said))[0].items():
                if label in deciding:  # nothing but the prior is known of the others
                    counts[at, list(classes).index(label)] = count
            if progress is not None:
                progress(number * len(_THRESHOLDS) + at + 1, len(_SMOOTH_S) * len(_THRESHOLDS))
        reached = _f(counts)
        best_of = reached.max(axis=0)[[name in deciding for name in classes]]
        if (mean := float(best_of.mean())) > best:
            highest = len(_THRESHOLDS) - 1 - reached[::-1].argmax(axis=0)  # of equally good ones
            best, thresholds, rules = mean, _THRESHOLDS[highest].astype(np.float32), offered
    return thresholds, rules


def _f(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """(thresholds, classes) F of (thresholds, classes, 3) events matched, heard and there, with the prior."""
    whole = counts.sum(axis=1, keepdims=True)
    matched, heard, there = np.moveaxis(counts + PRIOR * whole / whole[..., 2:], 2, 0)
    f: NDArray[np.float64] = (1 + BETA**2) * matched / (heard + BETA**2 * there)
    return f


def _events(clips: Heard, classes: Sequence[str], thresholds: Floats, rules: Rules) -> Iterator[EventTable]:
    table = Table(tuple(classes), thresholds, tuple(classes))
    for mel, logits, true in zip(clips.mels, clips.logits, clips.truth, strict=True):
        yield events(mel, logits, true.duration_s, table, rules)


def found(
    clips: Heard,
    classes: Sequence[str],
    thresholds: Floats,
    rules: Rules,
    counted: Collection[str] | None = None,
) -> Found:
    """How well events are heard with these thresholds and rules; see :func:`agreement`."""
    return agreement(clips.truth, list(_events(clips, classes, thresholds, rules)), counted)


def agreement(
    truth: Sequence[EventTable], said: Sequence[EventTable], counted: Collection[str] | None = None
) -> Found:
    """How events that were heard agree with those that are there.

    Args:
        counted: The classes that everything but ``by_class`` is over; all by default.
    """
    counts, apart = _agreement(truth, said)
    those = counts.keys() if counted is None else counts.keys() & set(counted)
    matched, heard, there = (sum(counts[label][at] for label in those) for at in range(3))
    errors = [error for label in those for error in apart[label]]
    return Found(
        {label: 2 * m / (h + t) for label, (m, h, t) in sorted(counts.items())},
        matched / heard if heard else 0.0,
        matched / there if there else 0.0,
        float(np.median(errors)) if errors else None,
    )


def _agreement(
    truth: Sequence[EventTable], said: Sequence[EventTable]
) -> tuple[dict[str, list[int]], dict[str, list[float]]]:
    """Label -> events matched, heard and there; label -> how far the onsets of matched events lie apart."""
    counts: dict[str, list[int]] = {}
    errors: dict[str, list[float]] = {}
    for true, heard in zip(truth, said, strict=True):
        for label in {one.label for one in (*true, *heard)}:
            there, mine = (table.with_labels([label]).events for table in (true, heard))
            matches = _matches(there, mine)
            errors.setdefault(label, []).extend(abs(a.onset_s - b.onset_s) for a, b in matches)
            count = counts.setdefault(label, [0, 0, 0])
            for at, number in enumerate((len(matches), len(mine), len(there))):
                count[at] += number
    return counts, errors


def _matches(there: Sequence[Event], heard: Sequence[Event]) -> list[tuple[Event, Event]]:
    pairs = []
    for a in there:
        for b in heard:
            common = min(a.offset_s, b.offset_s) - max(a.onset_s, b.onset_s)
            if common > 0 and common >= 0.5 * min(a.duration_s, b.duration_s):
                pairs.append((common, a, b))
    pairs.sort(key=lambda pair: -pair[0])
    matches: list[tuple[Event, Event]] = []
    for _, a, b in pairs:
        if all(a is not one and b is not other for one, other in matches):
            matches.append((a, b))
    return matches


def as_data(rules: Rules) -> dict[str, float]:
    """The rules as a model's card holds them."""
    given: dict[str, Any] = asdict(rules)
    return {name: float(value) for name, value in given.items()}
