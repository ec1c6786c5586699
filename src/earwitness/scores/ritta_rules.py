"""By which rules a clip is judged against a relation, and what all of them share.

Conventions
-----------
Three modes, by name. ``default``: our definitions, in :mod:`.ritta`. ``paper``: equations 1 to 5 of RiTTA
(arXiv 2412.15922) read literally, in :mod:`.ritta_paper`. ``released``: what the paper's public evaluator
does, in :mod:`.ritta_released`, for parity only.

What counts as heard is settled in this order: events less confident than the threshold are left out (one
without a stated confidence is sure), events of one label at most ``merge_gap_s`` apart become one, and
events shorter than ``min_event_s`` are dropped. Numbers of events are counted after that.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from earwitness.errors import UserError
from earwitness.events import EPSILON_S, Event, EventTable
from earwitness.scores.relations import Judged

DEFAULT, PAPER, RELEASED = "default", "paper", "released"
MODES: tuple[str, ...] = (DEFAULT, PAPER, RELEASED)

INSTANCES, TRACKS = "instances", "tracks"
EXTENT, ANY_PAIR, ONSET = "extent", "any-pair", "onset"

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"mode": MODES, "counting": (INSTANCES, TRACKS), "order_rule": (EXTENT, ANY_PAIR, ONSET)}
)
"""What may be chosen by name; the first is the default. The last two belong to the mode ``default``."""

MISSING, MISCOUNTED, UNWANTED = "missing", "miscounted", "unwanted"
REVERSED, OVERLAPPED, APART, LEVEL = "reversed", "overlapped", "apart", "level"

KINDS: Mapping[str, str] = MappingProxyType(
    {
        MISSING: "a sound that is asked for is not heard, or not often enough",
        MISCOUNTED: "every sound is heard, but not as often as asked",
        UNWANTED: "a sound that must not be there is heard",
        REVERSED: "the sounds are heard in the opposite order",
        OVERLAPPED: "the sounds overlap, or start too close to each other, to be in an order",
        APART: "sounds that belong together are not heard at the same time",
        LEVEL: "the difference in level is not the one that is asked for",
    }
)
"""Kind of error -> its meaning."""

WEIGHT = 0.1
"""w_s of equation 3."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How clips are judged.

    Attributes:
        mode: One of :data:`MODES`.
        thresholds: Confidence thresholds; a clip is judged once at each.
        min_event_s: Shorter events are dropped.
        merge_gap_s: Events of one label at most that far apart are one; None leaves them as they are.
        counting: ``instances`` counts every event, ``tracks`` every label once.
        order_rule: When one sound comes before another; see :mod:`.ritta`.
        tolerance_s: Onsets must lie at least that far apart to be in an order; plus-minus seconds.
    """

    mode: str
    thresholds: tuple[float, ...]
    min_event_s: float
    merge_gap_s: float | None = None
    counting: str = INSTANCES
    order_rule: str = EXTENT
    tolerance_s: float = 0.1


_BY_MODE: Mapping[str, Rules] = MappingProxyType(
    {
        DEFAULT: Rules(DEFAULT, (0.5, 0.6, 0.7, 0.8), min_event_s=0.1, merge_gap_s=0.5),
        PAPER: Rules(PAPER, (0.5, 0.6, 0.7, 0.8), min_event_s=0.5),
        RELEASED: Rules(RELEASED, (0.5, 0.6, 0.7, 0.8, 0.9), min_event_s=1.0),
    }
)


def rules(scoring: Mapping[str, str]) -> Rules:
    """The rules that names stand for.

    Args:
        scoring: Some of the keys of :data:`CHOICES`; what is not given is the default.

    Raises:
        UserError: If a key or value is unknown, or is chosen for a mode that has no such choice.
    """
    for key, value in scoring.items():
        if key not in CHOICES:
            raise UserError(f"There is no rule {key!r} for relations.", f"Known: {', '.join(CHOICES)}.")
        if value not in CHOICES[key]:
            raise UserError(f"{key} cannot be {value!r}.", f"It is one of {', '.join(CHOICES[key])}.")
    chosen = {key: scoring.get(key, values[0]) for key, values in CHOICES.items()}
    base = _BY_MODE[chosen["mode"]]
    for key in ("counting", "order_rule"):
        if base.mode != DEFAULT and chosen[key] != CHOICES[key][0]:
            raise UserError(f"{key} belongs to the mode {DEFAULT}.", f"Leave it out with {base.mode}.")
    return Rules(
        base.mode,
        base.thresholds,
        base.min_event_s,
        base.merge_gap_s,
        chosen["counting"],
        chosen["order_rule"],
    )


def confident(events: Iterable[Event], threshold: float) -> list[Event]:
    """The events at least that confident, and those that state no confidence, in order of time."""
    sure = (e for e in events if e.confidence is None or e.confidence >= threshold)
    return sorted(sure, key=lambda e: (e.onset_s, e.offset_s, e.label))


def counted(sure: Sequence[Event], rules: Rules) -> list[Event]:
    """What counts as heard of confident events: merged, then without the short ones, in order of time."""
    if rules.merge_gap_s is not None:
        end_s = max((e.offset_s for e in sure), default=0.0)
        sure = EventTable(tuple(sure), end_s).merged(rules.merge_gap_s).events
    return [e for e in sure if e.duration_s >= rules.min_event_s - EPSILON_S]


def parsimony(heard: int, expected: int) -> float:
    """exp(-0.1 |heard - expected|), equation 3; in (0, 1]."""
    return math.exp(-WEIGHT * abs(heard - expected))


def overlap_s(one: Event, other: Event) -> float:
    """Seconds that both last; negative if they lie apart."""
    return min(one.offset_s, other.offset_s) - max(one.onset_s, other.onset_s)


def span(event: Event) -> str:
    """An event in words."""
    return f"{event.label} {event.onset_s:.2f}-{event.offset_s:.2f} s"


@dataclass(frozen=True, slots=True)
class Finding:
    """Whether a relation holds, and why not; as in :class:`.relations.Judged`."""

    relation: float | None
    kind: str = ""
    detail: str = ""
    level_difference_db: float | None = None


def presence(required: Collection[str], forbidden: Collection[str], heard: Counter[str]) -> float:
    """Share of the required sounds that are heard; if none is required, of the forbidden that are not."""
    if required:
        return sum(heard[label] > 0 for label in required) / len(required)
    return sum(heard[label] == 0 for label in forbidden) / len(forbidden)


def not_as_asked(asked: Counter[str], heard: Counter[str]) -> Finding | None:
    """What is missing or must not be there, if anything; arguments as in :func:`judgement`."""
    if missing := [label for label, times in asked.items() if times and not heard[label]]:
        return Finding(0.0, MISSING, f"not heard: {', '.join(missing)}")
    if unwanted := [label for label, times in asked.items() if not times and heard[label]]:
        return Finding(0.0, UNWANTED, f"heard, though it must not be: {', '.join(unwanted)}")
    return None


def miscounted(asked: Counter[str], heard: Counter[str], labels: Iterable[str]) -> str:
    """How often some sounds are heard and asked for, in words."""
    return "; ".join(f"{label} {heard[label]} times, asked {asked[label]}" for label in labels)


def judgement(
    asked: Counter[str], heard: Counter[str], presence: float, parsimony: float, finding: Finding
) -> Judged:
    """Everything about one alternative, with the numbers of events.

    Args:
        asked: How often each sound is asked for; 0 for one that must not be there. Not empty. The count
            error and bias are means over the sounds asked for, or, if there is none, over the forbidden.
        heard: How often each sound is heard, those that nobody asked for too.
    """
    labels = [label for label, times in asked.items() if times] or list(asked)
    off = [heard[label] - asked[label] for label in labels]
    return Judged(
        presence=presence,
        relation=finding.relation,
        parsimony=parsimony,
        kind=finding.kind,
        detail=finding.detail,
        missing=sum(max(times - heard[label], 0) for label, times in asked.items()),
        extra=sum(max(times - asked[label], 0) for label, times in heard.items()),
        count_error=sum(map(abs, off)) / len(off),
        count_bias=sum(off) / len(off),
        level_difference_db=finding.level_difference_db,
    )


def best(judged: Iterable[Judged]) -> Judged:
    """The alternative that a clip meets best: by relation, then presence, then parsimony, then as listed."""
    return max(judged, key=lambda j: (-1.0 if j.relation is None else j.relation, j.presence, j.parsimony))
