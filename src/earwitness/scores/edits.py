"""Did an edit change what it should, and nothing else?

Conventions
-----------
Judges. An item has one mark (1 to 5) an axis, the mean over its repeats. It is a joint success if the
means of edit_success, nontarget_preservation and temporal_preservation are each at least :data:`GOOD`.
To see whether the order of the clips sways a judge, hearings with the clips exchanged are set against
hearings as usual, pair by pair, and the same is done with the usual hearings among themselves: what an
exchange moves beyond repetition is the order's doing.

Detectors. A phrase is given as the set of labels that count as it; ``heard_s`` of a phrase is the time
in which any of them is heard. An added phrase has appeared if it is heard in the edited clip and either
not at all in the source or at least :data:`MORE_S` longer than there; a removed phrase is gone if it was
heard in the source and no longer is. Frames and spans are seconds from the start of the clip; a mean over
no frame is None.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from statistics import fmean

from earwitness import labels
from earwitness.events import Event
from earwitness.scores.order import holds

GOOD = 4.0
"""Marks from here on count as good."""

JOINT = ("edit_success", "nontarget_preservation", "temporal_preservation")
"""The axes that a joint success needs."""

MORE_S = 0.5
"""By how much longer a sound must be heard that was there before, to count as added."""

PAD_S = 0.25
"""By how much heard events are widened when they stand for the edited span: the edges of heard events
are uncertain by about as much."""

Phrase = frozenset[str]
Span = tuple[float, float]
Marks = Mapping[str, float]


def joint_success(means: Marks) -> bool:
    """Whether success and both preservations are good at once."""
    return all(means[axis] >= GOOD for axis in JOINT)


def marks_apart(one: Marks, other: Marks) -> float:
    """Mean absolute difference of the marks of two hearings, 0 to 4."""
    return fmean(abs(one[axis] - other[axis]) for axis in one)


def difference_within(marks: Sequence[Marks]) -> float | None:
    """Mean of :func:`marks_apart` over pairs of repeats; None with fewer than two repeats."""
    pairs = list(combinations(marks, 2))
    return fmean(marks_apart(a, b) for a, b in pairs) if pairs else None


@dataclass(frozen=True, slots=True)
class Exchange:
    """Hearings as usual against hearings with the clips exchanged, over pairs with one of each.

    Attributes:
        flips: Share of pairs with different verdicts.
        difference: Mean absolute difference of the marks within a pair.
    """

    flips: float
    difference: float


def exchange(usual: Sequence[tuple[str, Marks]], exchanged: Sequence[tuple[str, Marks]]) -> Exchange:
    """Compare hearings of two kinds, each a verdict with its marks.

    If the order of the clips does not matter, all are drawn from one distribution, and ``flips`` is in
    expectation the flip rate of repeats, ``difference`` that of :func:`difference_within`.

    Raises:
        ValueError: If either kind has no hearing.
    """
    pairs = list(product(usual, exchanged))
    if not pairs:
        raise ValueError("an exchange needs a hearing of either kind")
    return Exchange(
        flips=fmean(a[0] != b[0] for a, b in pairs),
        difference=fmean(marks_apart(a[1], b[1]) for a, b in pairs),
    )


def heard_s(phrase: Phrase, events: Sequence[Event]) -> float:
    """Seconds in which any of the phrase's labels is heard, overlaps counted once."""
    return sum(end - start for start, end in merged([_span(e) for e in events if e.label in phrase]))


def is_heard(phrase: Phrase, events: Sequence[Event]) -> bool:
    return any(event.label in phrase for event in events)


def appeared(phrase: Phrase, source: Sequence[Event], edited: Sequence[Event]) -> bool:
    """Whether an added sound is in the edited clip, and newly so."""
    if not is_heard(phrase, edited):
        return False
    if not is_heard(phrase, source):
        return True
    return heard_s(phrase, edited) - heard_s(phrase, source) >= MORE_S - 1e-6


def gone(phrase: Phrase, source: Sequence[Event], edited: Sequence[Event]) -> bool | None:
    """Whether a removed sound is no longer heard; None if it was not heard in the source either."""
    return None if not is_heard(phrase, source) else not is_heard(phrase, edited)


def share(outcomes: Sequence[bool | None]) -> float | None:
    """Share of outcomes that are true among those that are known; None if none is."""
    known = [outcome for outcome in outcomes if outcome is not None]
    return sum(known) / len(known) if known else None


def all_done(outcomes: Sequence[bool | None]) -> bool | None:
    """Whether everything asked was done; None if nothing was asked, or any of it cannot be told.

    One failure beside something unknown is unknown too: otherwise the items that are known would be
    mostly failures.
    """
    return None if not outcomes or None in outcomes else all(outcomes)


def others(events: Sequence[Event], targets: Sequence[Phrase], known_labels: frozenset[str]) -> list[str]:
    """Labels heard apart from the targets, in the order in which they are first heard.

    A label above or below one of a target's ("Animal" beside a dog that is to go) is that target's sound,
    not another one.

    Args:
        known_labels: Only these are held against a clip; empty for all.
    """
    about = frozenset[str]().union(*(labels.lenient([label]) for target in targets for label in target))
    heard = sorted(events, key=lambda e: (e.onset_s, e.label))
    told = (e.label for e in heard if not known_labels or e.label in known_labels)
    return [label for label in dict.fromkeys(told) if label not in about]


def kept(others: Sequence[str], edited: Sequence[Event]) -> dict[str, float | None]:
    """First onset in the edited clip of every other label of the source; None where it is lost.

    A sound named more widely or more closely than before ("Bark" for "Dog") is still there.
    """
    onsets: dict[str, float | None] = {}
    for label in others:
        exact = [e.onset_s for e in edited if e.label == label]
        near = _near(label) if not exact else frozenset[str]()
        onsets[label] = min(exact or [e.onset_s for e in edited if e.label in near], default=None)
    return onsets


@cache
def _near(label: str) -> frozenset[str]:
    """What may name the same sound; of a word that is none of AudioSet's (a trained class), itself."""
    return labels.lenient([label]) if label in labels.names() else frozenset([label])


def order_kept(before: Mapping[str, float], after: Mapping[str, float], resolution_s: float) -> float | None:
    """Share of the ordered pairs of kept sounds that still have their order (Kendall, Biometrika 30, 1938,
    with ties in the edited clip counted as lost). A wider and a closer name ("Dog", "Bark") are no pair:
    most often they name one sound.

    Args:
        before, after: First onset of every kept sound in the source and in the edited clip.
        resolution_s: Onsets closer than this have no order.

    Returns:
        In [0, 1]; None if the source has no ordered pair.
    """
    first_to_last = sorted(before, key=lambda label: before[label])
    pairs = [
        (a, b)
        for a, b in combinations(first_to_last, 2)
        if holds(before[a], before[b], resolution_s) and a not in _near(b) and b not in _near(a)
    ]
    return fmean(holds(after[a], after[b], resolution_s) for a, b in pairs) if pairs else None


def onset_shift_s(before: Mapping[str, float], after: Mapping[str, float]) -> float | None:
    """Mean absolute move of the kept sounds' first onsets in seconds; None if nothing is kept."""
    return fmean(abs(after[label] - before[label]) for label in before) if before else None


def edited_span(
    phrases_added: Sequence[Phrase],
    phrases_removed: Sequence[Phrase],
    source: Sequence[Event],
    edited: Sequence[Event],
) -> list[Span]:
    """Where the targets are heard: those added in the edited clip, those removed in the source.

    Returns:
        Spans apart from each other, widened by :data:`PAD_S`; empty if no target is heard.
    """
    placed = [e for e in edited if any(e.label in phrase for phrase in phrases_added)]
    placed += (e for e in source if any(e.label in phrase for phrase in phrases_removed))
    return merged([(max(0.0, e.onset_s - PAD_S), e.offset_s + PAD_S) for e in placed])


def outside(frames: int, frame_s: float, spans: Sequence[Span]) -> list[int]:
    """Indices of the frames that no span touches."""
    return [
        k
        for k in range(frames)
        if not any(start < (k + 1) * frame_s - 1e-6 and k * frame_s + 1e-6 < end for start, end in spans)
    ]


def mean_at(values: Sequence[float], frames: Sequence[int]) -> float | None:
    """Mean of the values of those frames; None without frames."""
    return fmean(values[k] for k in frames) if frames else None


def level_db(levels_dbfs: Sequence[float | None]) -> float | None:
    """Level of frames together, their powers averaged, in dBFS; None for silence or no frames."""
    powers = [0.0 if level is None else 10 ** (level / 10) for level in levels_dbfs]
    total = math.fsum(powers)
    return 10 * math.log10(total / len(powers)) if total > 0 else None


def level_change_db(before: Sequence[float | None], after: Sequence[float | None]) -> float | None:
    """Level of ``after`` less that of ``before`` in dB; 0 if both are silent, None if one of them is."""
    source, edited = level_db(before), level_db(after)
    if source is None or edited is None:
        return 0.0 if source is edited else None
    return edited - source


def merged(spans: Sequence[Span]) -> list[Span]:
    """The spans in order, those that touch joined."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _span(event: Event) -> Span:
    return event.onset_s, event.offset_s
