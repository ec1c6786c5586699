"""Thresholds and rules: how logits of a trained head become events.

Conventions
-----------
They are chosen on calibration mixtures of held recordings: neither those that weights were fitted to, nor
those that decided when to stop, nor any that the detector is tested on. A logit is no calibrated probability,
so every class has its own threshold: first the one with the best F1 over the cells, kept within
:data:`REACH` of what would be best for all classes alike, because a class has few calibration events; then
the rules, one after another, and all thresholds together, as the mean F1 of events over the classes is best.

An event heard and an event that is there match if they are of one class and overlap by at least half of the
shorter; each matches once, the greatest overlaps first. F1 of a class is ``2 TP / (2 TP + FP + FN)``, 0 if
nothing matches; a class that is neither there nor heard is left out.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness.audio import Clip, mono
from earwitness.backbones.yamnet_features import RATE_HZ, levelled, log_mel
from earwitness.events import Event, EventTable
from earwitness.listeners.yamnet_events import Rules, Table, events, smoothed
from earwitness.training.features import Mixtures
from earwitness.training.mixtures import rendered
from earwitness.training.targets import CENTRES, HOP_S

Floats = NDArray[np.float32]

REACH = 1.5
START = Rules(hop_s=HOP_S)
"""The rules to begin with: yamnet's, on the rows that the head was trained on."""

_OFF = 99.0
_TRIED: Mapping[str, Sequence[float]] = {
    "smooth_s": (0.25, 0.5, 0.75, 1.0),
    "rival": (1.5, 2.5, 3.5, 5.0, _OFF),
    "echo": (-_OFF, -5.0, -3.0, -1.5, 0.0),
    "unclaimed": (-_OFF, 0.5, 1.5, 3.0),
    "gap_s": (0.25, 0.5, 0.75, 1.0),
    "offset": (-1.0, -0.5, 0.0, 0.5, 1.0),
}
"""In this order; ``offset`` is added to all thresholds."""


@dataclass(frozen=True, slots=True)
class Found:
    """How events heard agree with those that are there, over many clips.

    Attributes:
        by_class: F1 of every class that is there or heard.
        onset_error_s: Median over the matched events; None if none matched.
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
        mels.append(log_mel(levelled(samples), START.hop_frames))
    return Heard(tuple(mels), tuple(logits), of.events())


def tuned(
    clips: Heard,
    truth: NDArray[np.bool_],
    classes: Sequence[str],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Floats, Rules]:
    """A threshold for every class, and the rules.

    Args:
        truth: (clips, cells, classes) of the calibration clips.
    """
    rules = START
    best = -1.0
    thresholds = _thresholds(clips, truth, rules)
    total, done = sum(map(len, _TRIED.values())), 0
    for name, values in _TRIED.items():
        chosen: tuple[Floats, Rules] | None = None
        for value in values:
            if name == "offset":
                offered = thresholds + np.float32(value), rules
            else:
                changed = replace(rules, **{name: value})
                offered = (_thresholds(clips, truth, changed) if name == "smooth_s" else thresholds), changed
            reached = found(clips, classes, *offered).f1
            if reached > best:
                best, chosen = reached, offered
            done += 1
            if progress is not None:
                progress(done, total)
        if chosen is not None:
            thresholds, rules = chosen
    return thresholds, rules


def _events(clips: Heard, classes: Sequence[str], thresholds: Floats, rules: Rules) -> Iterator[EventTable]:
    table = Table(tuple(classes), thresholds, tuple(classes))
    for mel, logits, true in zip(clips.mels, clips.logits, clips.truth, strict=True):
        yield events(mel, logits, true.duration_s, table, rules)


def found(clips: Heard, classes: Sequence[str], thresholds: Floats, rules: Rules) -> Found:
    """How well events are heard with these thresholds and rules."""
    return agreement(clips.truth, list(_events(clips, classes, thresholds, rules)))


def agreement(truth: Sequence[EventTable], said: Sequence[EventTable]) -> Found:
    """How events that were heard agree with those that are there."""
    counts: dict[str, list[int]] = {}
    errors: list[float] = []
    for true, heard in zip(truth, said, strict=True):
        for label in {one.label for one in (*true, *heard)}:
            there, mine = (table.with_labels([label]).events for table in (true, heard))
            matches = _matches(there, mine)
            errors += [abs(a.onset_s - b.onset_s) for a, b in matches]
            count = counts.setdefault(label, [0, 0, 0])
            for at, number in enumerate((len(matches), len(mine), len(there))):
                count[at] += number
    matched, heard_in_all, there_in_all = (sum(c[at] for c in counts.values()) for at in range(3))
    return Found(
        {label: 2 * m / (h + t) for label, (m, h, t) in sorted(counts.items())},
        matched / heard_in_all if heard_in_all else 0.0,
        matched / there_in_all if there_in_all else 0.0,
        float(np.median(errors)) if errors else None,
    )


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


def _thresholds(clips: Heard, truth: NDArray[np.bool_], rules: Rules) -> Floats:
    """The threshold of each class with the best F1 over the cells, near the best one for all."""
    steady = np.stack([smoothed(logits, rules)[CENTRES][: truth.shape[1]] for logits in clips.logits])
    common = _best(truth.ravel(), steady.ravel())
    each = [_best(truth[..., n].ravel(), steady[..., n].ravel(), common) for n in range(truth.shape[2])]
    return np.clip(np.array(each, dtype=np.float32), common - REACH, common + REACH).astype(np.float32)


def _best(truth: NDArray[np.bool_], scores: Floats, otherwise: float = 0.0) -> float:
    """The threshold with the best F1, halfway between two scores; ``otherwise`` if nothing is there."""
    if not truth.any():
        return otherwise
    order = np.argsort(-scores, kind="stable")
    matched = np.cumsum(truth[order])
    f1 = 2 * matched / (np.arange(1, len(order) + 1) + matched[-1])
    at = int(f1.argmax())
    below = scores[order[min(at + 1, len(order) - 1)]]
    return float((scores[order[at]] + below) / 2)


def as_data(rules: Rules) -> dict[str, float]:
    """The rules as a model's card holds them."""
    given: dict[str, Any] = asdict(rules)
    return {name: float(value) for name, value in given.items()}
