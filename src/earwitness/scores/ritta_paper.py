"""RiTTA's relations as its paper words them: equations 1 to 5 read literally.

Source: arXiv 2412.15922, section 3.4 and 5.2. w_s = 0.1, sigma_1 = 0.2, sigma_2 = 0.4, events of at least
0.5 s, nothing merged, thresholds 0.5 to 0.8.

Where the paper is silent, the plainest reading is taken:

- Expected events E_g: those of the alternative that the clip meets best. ``or`` is exclusive, as the paper
  words it, whatever the prompt says. ``not`` expects none, its reference being silent; its presence is 1
  if the sound is absent, as the paper explains its high presence.
- Presence (1): k counts the expected events, a sound asked twice counting twice; a sound is there or not.
- Relation (2): "at least a subset of generated audio events meet the relation", and only once all sounds
  are present. So extra events never break it: ``count`` holds if every sound is heard at least as often as
  asked; ``before`` and ``after`` if some event of the first sound ends before, or just as, one of the second
  begins; ``together`` if some two events overlap at all; a spatial relation if some two events of the sound
  that do not overlap satisfy it. Both directions of an order, and several spatial relations, can hold of
  one clip.
- Loudness L is the L2 norm of all that sounds during the event, so it grows with duration. ``closefirst``:
  L1 - L2 > sigma_1 L1; ``farfirst``: the same with the events exchanged; ``equaldist``: |L1 - L2| <=
  sigma_2 max(L1, L2).
- Parsimony (3): n counts all events heard, for ``not`` too, and silence is no exception.
"""

from collections import Counter
from collections.abc import Sequence

from earwitness.events import EPSILON_S, Event
from earwitness.scores.frame_levels import Levels
from earwitness.scores.relations import SPATIAL, Alternative, Expected, Judged
from earwitness.scores.ritta_rules import (
    APART,
    LEVEL,
    MISCOUNTED,
    MISSING,
    OVERLAPPED,
    REVERSED,
    Finding,
    best,
    judgement,
    miscounted,
    not_as_asked,
    overlap_s,
    parsimony,
    presence,
    span,
)

SIGMA_1 = 0.2
SIGMA_2 = 0.4


def judged(expected: Expected, heard: Sequence[Event], levels: Levels | None) -> Judged:
    """One clip at one threshold.

    Args:
        expected: What the prompt asks for.
        heard: The events that count, in order of time.
        levels: Of these events; None makes spatial relations unmeasurable.
    """
    return best(_one_way(expected.relation, one, heard, levels) for one in _alternatives(expected))


def _alternatives(expected: Expected) -> Sequence[Alternative]:
    if expected.relation != "or":
        return expected.alternatives
    labels = expected.labels
    return [Alternative((one,), tuple(other for other in labels if other != one)) for one in labels]


def _one_way(relation: str, one: Alternative, heard: Sequence[Event], levels: Levels | None) -> Judged:
    times = Counter(e.label for e in heard)
    asked = Counter(one.present)
    asked.update(dict.fromkeys(one.absent, 0))
    finding = _finding(relation, one, asked, times, heard, levels)
    return judgement(
        asked,
        times,
        presence(one.present, one.absent, times),
        parsimony(len(heard), len(one.present)),
        finding,
    )


def _finding(
    relation: str,
    one: Alternative,
    asked: Counter[str],
    times: Counter[str],
    heard: Sequence[Event],
    levels: Levels | None,
) -> Finding:
    if fault := not_as_asked(asked, times):
        return fault
    if relation == "count":
        few = [label for label, n in asked.items() if times[label] < n]
        return Finding(0.0, MISCOUNTED, miscounted(asked, times, few)) if few else Finding(1.0)
    if relation in SPATIAL:
        return _spatial(relation, [e for e in heard if e.label == one.present[0]], levels)
    if relation in ("before", "after", "together"):
        first, second = ([e for e in heard if e.label == label] for label in one.present)
        return _temporal(relation, first, second)
    return Finding(1.0)


def ends_before(one: Event, other: Event) -> bool:
    """Whether the one ends before, or just as, the other begins."""
    return one.offset_s <= other.onset_s + EPSILON_S


def _temporal(relation: str, first: Sequence[Event], second: Sequence[Event]) -> Finding:
    pairs = [(a, b) for a in first for b in second]
    told = f"{span(first[0])}, {span(second[0])}"
    if relation == "together":
        holds = any(overlap_s(a, b) > EPSILON_S for a, b in pairs)
        return Finding(1.0) if holds else Finding(0.0, APART, told)
    if any(ends_before(a, b) for a, b in pairs):
        return Finding(1.0)
    return Finding(0.0, REVERSED if any(ends_before(b, a) for a, b in pairs) else OVERLAPPED, told)


def holds(relation: str, first: float, second: float) -> bool:
    """Whether two loudnesses (L2 norms) are in a spatial relation."""
    if relation == "closefirst":
        return first - second > SIGMA_1 * first
    if relation == "farfirst":
        return second - first > SIGMA_1 * second
    return abs(first - second) <= SIGMA_2 * max(first, second)


def _spatial(relation: str, instances: Sequence[Event], levels: Levels | None) -> Finding:
    pairs = [(a, b) for a in instances for b in instances if a is not b and ends_before(a, b)]
    if not pairs:
        return Finding(0.0, OVERLAPPED if len(instances) > 1 else MISSING, "; ".join(map(span, instances)))
    if levels is None:
        return Finding(None, "", "the listener measures no level")
    measured = [(a, b, levels.energy_db(a), levels.energy_db(b)) for a, b in pairs]
    differences = [(a, b, x - y) for a, b, x, y in measured if x is not None and y is not None]
    if not differences:
        return Finding(None, "", "no energy can be measured")
    for _, _, difference in differences:
        if holds(relation, 10 ** (difference / 20), 1.0):
            return Finding(1.0, level_difference_db=difference)
    a, b, difference = differences[0]
    return Finding(0.0, LEVEL, f"{span(a)}, {span(b)}: the first has {difference:+.1f} dB", difference)
