"""Does a clip hold the relation that its prompt states? The default definitions, and the door to all modes.

Conventions
-----------
Times are seconds; ``tolerance_s`` is plus-minus. What counts as heard: see :mod:`.ritta_rules`. Every
alternative of a prompt is judged, and the one met best is the clip's: greatest relation, then presence,
then parsimony.

- Presence: share of the distinct required sounds that are heard, however often. Of an alternative that
  requires none (``not``): share of its forbidden sounds that are not heard.
- Relation: 1 or 0; 0 unless every required sound is heard and no forbidden one is. That is all that ``and``,
  ``or``, ``not`` and ``if_then_else`` ask, so for ``and`` relation and full presence are one fact.
- ``before``, ``after``: by :func:`precedes`. ``together``: some pair of events overlaps by at least
  :data:`OVERLAP_SHARE` of the shorter; events that only touch are not together. ``count``: every asked sound
  exactly as often as asked; others only touch parsimony. Spatial: see :func:`zone`.
- Parsimony: exp(-0.1 |n - n_expected|) over all events given; for ``not`` only the forbidden sound counts,
  and none of it is expected. Nothing heard where something is asked: 0, as silence is not parsimonious.
- MSR: presence x relation x parsimony (equation 4).

With ``counting="tracks"`` a sound is heard once or not at all, and asked for once, wherever numbers are
compared; the spatial relations always count instances, as these are what they are about.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from earwitness.events import EPSILON_S, Event
from earwitness.scores import ritta_paper, ritta_released
from earwitness.scores.frame_levels import Levels as Levels
from earwitness.scores.relations import SPATIAL, Alternative, Expected, Judged
from earwitness.scores.ritta_rules import (
    ANY_PAIR,
    APART,
    DEFAULT,
    EXTENT,
    LEVEL,
    MISCOUNTED,
    MISSING,
    OVERLAPPED,
    PAPER,
    REVERSED,
    TRACKS,
    Finding,
    Rules,
    best,
    confident,
    counted,
    judgement,
    miscounted,
    not_as_asked,
    overlap_s,
    parsimony,
    presence,
    span,
)
from earwitness.scores.ritta_rules import KINDS as KINDS

OVERLAP_SHARE = 0.5
"""Of the shorter sound: with as much overlap two sounds are together, with less they can be in an order."""
BOUNDARY_DB = 3.0
"""The one boundary between the spatial relations: a factor of 1.4 in distance."""


def judged(
    expected: Expected, events: Iterable[Event], levels: Levels | None, rules: Rules
) -> tuple[Judged, ...]:
    """Judge what is heard in one clip against its prompt.

    Args:
        expected: What the prompt asks for.
        events: What counts as heard, asked for or not; labels are names of sound classes. In any order.
        levels: How loud the events are; None if the listener cannot tell, and then a spatial relation
            cannot be measured.
        rules: See :func:`.ritta_rules.rules`.

    Returns:
        One judgement per threshold of the rules, in their order.
    """
    everything = list(events)
    out = []
    for threshold in rules.thresholds:
        sure = confident(everything, threshold)
        heard = counted(sure, rules)
        if rules.mode == DEFAULT:
            out.append(_judged(expected, _Clip(sure, heard, levels), rules))
        elif rules.mode == PAPER:
            out.append(ritta_paper.judged(expected, heard, levels))
        else:
            out.append(ritta_released.judged(expected, heard, levels))
    return tuple(out)


@dataclass(frozen=True, slots=True)
class _Clip:
    """What is heard at one threshold: ``sure`` before events are merged and dropped, ``heard`` after."""

    sure: Sequence[Event]
    heard: Sequence[Event]
    levels: Levels | None

    def of(self, label: str) -> list[Event]:
        return [e for e in self.heard if e.label == label]


def _judged(expected: Expected, clip: _Clip, rules: Rules) -> Judged:
    return best(_one_way(expected.relation, one, clip, rules) for one in expected.alternatives)


def _one_way(relation: str, one: Alternative, clip: _Clip, rules: Rules) -> Judged:
    counts = [e.label for e in clip.heard if one.present or e.label in one.absent]
    asked, times = Counter(one.present), Counter(counts)
    if rules.counting == TRACKS and relation not in SPATIAL:
        asked, times = Counter(dict.fromkeys(one.present, 1)), Counter(dict.fromkeys(counts, 1))
    silent = bool(one.present) and not clip.heard
    thrift = 0.0 if silent else parsimony(times.total(), asked.total())
    asked.update(dict.fromkeys(one.absent, 0))
    found = not_as_asked(asked, times) or _relation(relation, one.present, asked, times, clip, rules)
    return judgement(asked, times, presence(set(one.present), set(one.absent), times), thrift, found)


def _relation(
    relation: str,
    labels: Sequence[str],
    asked: Counter[str],
    times: Counter[str],
    clip: _Clip,
    rules: Rules,
) -> Finding:
    """The relation between sounds that are all heard."""
    if relation in SPATIAL:
        return _spatial(relation, labels[0], clip)
    if relation == "count":
        off = [label for label, n in asked.items() if times[label] != n]
        return Finding(0.0, MISCOUNTED, miscounted(asked, times, off)) if off else Finding(1.0)
    if relation in ("before", "after"):
        return _order(clip.of(labels[0]), clip.of(labels[1]), rules)
    if relation == "together":
        return _together(clip.of(labels[0]), clip.of(labels[1]))
    return Finding(1.0)


def precedes(first: Sequence[Event], second: Sequence[Event], rules: Rules) -> bool:
    """Whether one sound comes before another; either is given by its events, at least one, in order of time.

    - ``extent`` (default): from its first onset to its last offset, the first sound begins at least the
      tolerance before the second, and they overlap by less than :data:`OVERLAP_SHARE` of the shorter.
    - ``any-pair``: some event of the first ends, give or take the tolerance, before some event of the
      second begins, and begins at least the tolerance before it. Both directions can hold of one clip.
    - ``onset``: the first onset of the first lies at least the tolerance before that of the second.
    """
    if rules.order_rule == ANY_PAIR:
        return any(
            _starts_before(a, b, rules) and a.offset_s <= b.onset_s + rules.tolerance_s + EPSILON_S
            for a in first
            for b in second
        )
    one, other = _extent(first), _extent(second)
    if rules.order_rule == EXTENT and _share(one, other) >= OVERLAP_SHARE:
        return False
    return _starts_before(one, other, rules)


def _order(first: Sequence[Event], second: Sequence[Event], rules: Rules) -> Finding:
    if precedes(first, second, rules):
        return Finding(1.0)
    kind = REVERSED if precedes(second, first, rules) else OVERLAPPED
    return Finding(0.0, kind, f"{span(_extent(first))}, {span(_extent(second))}")


def _starts_before(one: Event, other: Event, rules: Rules) -> bool:
    return one.onset_s + rules.tolerance_s <= other.onset_s + EPSILON_S


def _extent(events: Sequence[Event]) -> Event:
    return Event(events[0].label, events[0].onset_s, max(e.offset_s for e in events))


def _share(one: Event, other: Event) -> float:
    """Overlap as a share of the shorter; compared with a slack of a microsecond."""
    return (overlap_s(one, other) + EPSILON_S) / min(one.duration_s, other.duration_s)


def _together(first: Sequence[Event], second: Sequence[Event]) -> Finding:
    share, one, other = max(((_share(a, b), a, b) for a in first for b in second), key=lambda found: found[0])
    if share >= OVERLAP_SHARE:
        return Finding(1.0)
    return Finding(0.0, APART, f"{span(one)}, {span(other)}")


def zone(difference_db: float) -> str:
    """The one spatial relation that a difference in level means.

    Args:
        difference_db: Level of the first sound less that of the second.
    """
    if difference_db >= BOUNDARY_DB:
        return "closefirst"
    return "farfirst" if difference_db <= -BOUNDARY_DB else "equaldist"


def two_sounds(instances: Sequence[Event]) -> tuple[Event, Event]:
    """Events of one label as the two sounds that a spatial relation is about: split at the longest pause.

    A barking dog is heard as several events, so neither the first two nor the first and the last are
    sure to be the two sounds of the prompt. The pause between those is taken to be longer than any within,
    as it is in every scene that is drawn; the first of equally long pauses is taken.

    Args:
        instances: At least two, in order of time, none overlapping.
    """
    pauses = [b.onset_s - a.offset_s for a, b in pairwise(instances)]
    longest = max(pauses)
    at = 1 + next(i for i, pause in enumerate(pauses) if pause >= longest - EPSILON_S)
    return _extent(instances[:at]), _extent(instances[at:])


def _spatial(relation: str, label: str, clip: _Clip) -> Finding:
    instances = clip.of(label)
    if len(instances) < 2:
        raw = [e for e in clip.sure if e.label == label]
        if any(overlap_s(a, b) > EPSILON_S for a, b in combinations(raw, 2)):
            return Finding(0.0, OVERLAPPED, f"{label} overlaps itself: {'; '.join(map(span, raw))}")
        return Finding(0.0, MISSING, f"{span(instances[0])}, asked twice")
    first, second = two_sounds(instances)
    pair = f"{span(first)}, {span(second)}"
    if clip.levels is None:
        return Finding(None, "", f"{pair}: the listener measures no level")
    others = [e for e in clip.heard if e.label != label]
    one = clip.levels.level_db(first, [second, *others])
    other = clip.levels.level_db(second, [first, *others])
    if one is None or other is None:
        return Finding(None, "", f"{pair}: no level of its own can be measured beside other sounds")
    difference = one - other
    if zone(difference) == relation:
        return Finding(1.0, level_difference_db=difference)
    return Finding(0.0, LEVEL, f"{pair}: the first is {difference:+.1f} dB", difference)
