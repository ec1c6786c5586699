"""What RiTTA's public evaluator computes, step by step; for parity with published numbers only.

Source: the behaviour of ``RelationEvaluator`` of github.com/yuhanghe01/RiTTA at 6fb8692. It cannot give
anything but 0 for ``or``, ``not`` and ``if_then_else``; docs/ritta.md lists what else differs from the paper.

Conventions
-----------
The evaluator thinks in frames of 0.5 s: an event is a run of frames, its end is the first frame after it,
and it lasts at least two (1.0 s). Events given on that grid are judged exactly as there. Off the grid
nothing is moved; "an empty frame between" then means at least 0.5 s between.

A raised threshold cuts the evaluator's runs shorter or apart. Here an event has one confidence: it
stays or goes as a whole. The one sample more than the event that it takes for loudness is left out.

Its list of expected labels: ``count`` the N labels, ``not`` 1, ``or`` 2, ``if_then_else`` 3 (condition, then,
otherwise), a spatial relation the label twice, the others 2.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from earwitness.events import EPSILON_S, Event
from earwitness.scores.frame_levels import Levels
from earwitness.scores.relations import SPATIAL, Expected, Judged
from earwitness.scores.ritta_rules import (
    APART,
    LEVEL,
    MISCOUNTED,
    MISSING,
    OVERLAPPED,
    REVERSED,
    UNWANTED,
    Finding,
    judgement,
    miscounted,
    overlap_s,
    parsimony,
    span,
)

FRAME_S = 0.5
SIGMA_1 = 0.2
SIGMA_2 = 0.4


def judged(expected: Expected, heard: Sequence[Event], levels: Levels | None) -> Judged:
    """One clip at one threshold.

    Args:
        expected: What the prompt asks for.
        heard: Detections of all classes that last long enough, in order of onset.
        levels: Of these events; None makes spatial relations unmeasurable.
    """
    labels = expected_labels(expected)
    asked, times = Counter(labels), Counter(e.label for e in heard)
    if _hits(heard, labels) != len(labels):  # the gate: nothing else is looked at
        kind = MISCOUNTED if all(times[label] for label in asked) else MISSING
        return judgement(asked, times, 0.0, 0.0, Finding(0.0, kind, miscounted(asked, times, asked)))
    finding = _finding(expected.relation, labels, heard, levels)
    return judgement(asked, times, 1.0, parsimony(len(heard), len(labels)), finding)


def expected_labels(expected: Expected) -> tuple[str, ...]:
    """The evaluator's list of expected labels; see the module's conventions."""
    if expected.relation in ("or", "not", "if_then_else"):
        return expected.labels
    return expected.alternatives[0].present


def product_of_means(presence: ArrayLike, relation: ArrayLike, parsimony: ArrayLike) -> float:
    """The evaluator's mAMSR: mean presence x mean relation x mean parsimony, averaged over thresholds.

    Equation 4 of the paper takes the mean of the clips' products instead, which is larger wherever the
    three go together.

    Args:
        presence, relation, parsimony: Shape (clips, thresholds), in [0, 1].

    Raises:
        ValueError: If the shapes differ, there is no clip or threshold, or a value is not a number.
    """
    parts = [np.asarray(part, dtype=np.float64) for part in (presence, relation, parsimony)]
    if len({part.shape for part in parts}) != 1 or parts[0].ndim != 2 or not parts[0].size:
        shapes = ", ".join(str(part.shape) for part in parts)
        raise ValueError(f"three arrays of one shape (clips, thresholds) are needed, not {shapes}")
    if any(np.isnan(part).any() for part in parts):
        raise ValueError("a clip without a value has no place in a product of means")
    means = np.stack([part.mean(axis=0) for part in parts])
    return float(means.prod(axis=0).mean())


def _hits(heard: Sequence[Event], labels: Sequence[str]) -> int:
    """Detections that have one of the labels: the evaluator compares this number alone with the labels'."""
    return sum(e.label in labels for e in heard)


def _finding(relation: str, labels: Sequence[str], heard: Sequence[Event], levels: Levels | None) -> Finding:
    if relation in SPATIAL:
        return _spatial(relation, labels[0], heard, levels)
    if relation in ("before", "after", "together"):
        first, second = ([e for e in heard if e.label == label] for label in labels)
        return _temporal(relation, first, second)
    found = {e.label for e in heard}
    if relation == "count":  # as many of the labels as there are detections of any class
        if sum(label in found for label in labels) == len(heard):
            return Finding(1.0)
        return Finding(0.0, MISCOUNTED, f"{len(heard)} detections, {len(labels)} asked")
    if relation == "and":
        holds = _hits(heard, labels) == len(labels)
    elif relation == "or":
        holds = any(label in found for label in labels) and _hits(heard, labels) != len(labels)
    elif relation == "not":
        holds = not any(label in found for label in labels)
    else:
        branch, otherwise = labels[:2], labels[2:]
        holds = (_hits(heard, branch) == 2 and _hits(heard, otherwise) != 1) or (
            not _hits(heard, branch) and _hits(heard, otherwise) == 1
        )
    if holds:
        return Finding(1.0)
    return Finding(0.0, UNWANTED, f"heard: {', '.join(dict.fromkeys(e.label for e in heard))}")


def _empty_between(one: Event, other: Event) -> bool:
    """Whether the other begins after the one's end with at least one empty frame between."""
    return other.onset_s - one.offset_s >= FRAME_S - EPSILON_S


def _temporal(relation: str, first: Sequence[Event], second: Sequence[Event]) -> Finding:
    pairs = [(a, b) for a in first for b in second]
    told = "; ".join(map(span, [*first, *second]))
    if not pairs:
        return Finding(0.0, MISSING, told)
    if relation == "together":  # touching counts: less than one frame apart
        near = any(overlap_s(a, b) > EPSILON_S - FRAME_S for a, b in pairs)
        return Finding(1.0) if near else Finding(0.0, APART, told)
    if any(_empty_between(a, b) for a, b in pairs):
        return Finding(1.0)
    return Finding(0.0, REVERSED if any(_empty_between(b, a) for a, b in pairs) else OVERLAPPED, told)


def holds(relation: str, first: float, second: float) -> bool:
    """Whether two loudnesses (L2 norms) are in a spatial relation; the boundaries are not symmetric."""
    if relation == "closefirst":
        return first - second > SIGMA_1 * first
    if relation == "farfirst":
        return second - first > SIGMA_1 * first
    return abs(first - second) < SIGMA_2 * max(first, second)


def _spatial(relation: str, label: str, heard: Sequence[Event], levels: Levels | None) -> Finding:
    instances = [e for e in heard if e.label == label]
    pairs = [(a, b) for a in instances for b in instances if _empty_between(a, b)]
    if not pairs:
        return Finding(0.0, OVERLAPPED, "; ".join(map(span, instances)))
    first, second = pairs[0]  # judged once: no other pair is tried
    told = f"{span(first)}, {span(second)}"
    if levels is None:
        return Finding(None, "", f"{told}: the listener measures no level")
    one, other = levels.energy_db(first), levels.energy_db(second)
    if one is None or other is None:
        return Finding(None, "", f"{told}: no energy can be measured")
    difference = one - other
    if holds(relation, 10 ** (difference / 20), 1.0):
        return Finding(1.0, level_difference_db=difference)
    return Finding(0.0, LEVEL, f"{told}: the first has {difference:+.1f} dB", difference)
