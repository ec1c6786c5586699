"""One clip against its prompt: what was heard -> numbers, a verdict and its reason.

Conventions
-----------
A number is the mean over the confidence thresholds of the mode, and then over repeats; that at one threshold
is ``<metric>@<threshold>``. Relation and MSR have none if they could not be measured at some threshold, since
the mean over the others would be another number. Verdict and kind of error are those at the lowest threshold.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from earwitness.events import Event, EventTable
from earwitness.scores import repeats, ritta
from earwitness.scores.frame_levels import Levels
from earwitness.scores.relations import Expected, Judged
from earwitness.scores.ritta_rules import Rules, confident
from earwitness.tasks.ritta_classes import Classed
from earwitness.tasks.ritta_wanted import Wanted

RIGHT, WRONG, UNMEASURED = "right", "wrong", "unmeasured"
FACTORS = ("presence", "relation", "parsimony", "msr")

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Hearing:
    """What was heard in a clip once.

    Attributes:
        events: Of RiTTA's classes, and which of these were heard under several labels.
        levels: How loud they are; None if nobody can tell.
        nothing: True if no sound at all was heard, of whatever class, at the lowest threshold.
    """

    events: Classed
    levels: Levels | None
    nothing: bool


@dataclass(frozen=True, slots=True)
class Scored:
    """Every number of a clip, with the verdict and its reason."""

    values: Values
    verdict: str
    kind: str
    detail: str


def is_silent(events: Iterable[Event], rules: Rules) -> bool:
    """Whether none of the events is sure enough for the lowest threshold."""
    return not confident(events, min(rules.thresholds))


def scored(wanted: Wanted, heard: Sequence[Hearing], duration_s: float | None, rules: Rules) -> Scored:
    """Score a clip.

    Args:
        heard: One for each repeat, at least one.
        duration_s: Of the clip, if it was looked at.
    """
    judged = [_judged(wanted.expected, hearing, rules) for hearing in heard]
    each = [_values(wanted.expected, *pair, rules) for pair in zip(judged, heard, strict=True)]
    values: Values = {name: _mean(value[name] for value in each) for name in each[0]}
    if duration_s is not None:
        differs = not wanted.as_long(duration_s)
        values["shorter"] = float(differs and duration_s < wanted.duration_s)
        values["longer"] = float(differs and duration_s > wanted.duration_s)
    verdicts = [_verdict(found[0]) for found in judged]
    values["flip_rate"] = repeats.flip_rate(verdicts)
    most = repeats.majority(verdicts)
    verdict = most[0] if len(most) == 1 else WRONG
    shown = next(
        (found[0] for found, its in zip(judged, verdicts, strict=True) if its == verdict), judged[0][0]
    )
    detail = shown.detail or ("the relation holds" if verdict == RIGHT else "")
    if len(most) > 1:
        detail = f"{len(heard)} repeats, tie: {', '.join(sorted(most))}; {detail}"
    return Scored(values, verdict, shown.kind if verdict == WRONG else "", detail)


def _judged(expected: Expected, hearing: Hearing, rules: Rules) -> list[Judged]:
    """One judgement per threshold, the lowest first.

    Two labels of a detector may tell of one sound ("Dog" and "Bark"): where sure events of a class that was
    heard under several labels meet, they are one, in every mode.
    """
    mixed = hearing.events.mixed
    found: list[Judged] = []
    for threshold in sorted(rules.thresholds):
        sure = confident(hearing.events.events, threshold)
        end_s = max((event.offset_s for event in sure), default=0.0)
        one_stream = EventTable(tuple(event for event in sure if event.label in mixed), end_s).merged(0.0)
        heard = [*one_stream, *(event for event in sure if event.label not in mixed)]
        found += ritta.judged(expected, heard, hearing.levels, replace(rules, thresholds=(threshold,)))
    return found


def _values(expected: Expected, judged: Sequence[Judged], hearing: Hearing, rules: Rules) -> Values:
    values: Values = {}
    for name in FACTORS:
        series: list[float | None] = [getattr(one, name) for one in judged]
        values[name] = None if None in series else _mean(series)
        for threshold, value in zip(sorted(rules.thresholds), series, strict=True):
            values[f"{name}@{threshold:g}"] = value
    values["missing_events"] = fmean(one.missing for one in judged)
    values["extra_events"] = fmean(one.extra for one in judged)
    values["count_error"] = fmean(one.count_error for one in judged)
    values["count_bias"] = fmean(one.count_bias for one in judged)
    difference = _mean(one.level_difference_db for one in judged)
    values["level_difference_db"] = difference
    values["level_error_db"] = values["unmeasured"] = values["vacuous"] = None
    wanted_db = expected.level_difference_db
    if wanted_db is not None:
        values["unmeasured"] = float(values["relation"] is None)
        if difference is not None:
            values["level_error_db"] = abs(difference - wanted_db)
    if expected.relation == "not":
        values["vacuous"] = float(judged[0].relation == 1.0 and hearing.nothing)
    return values


def _verdict(lowest: Judged) -> str:
    if lowest.relation is None:
        return UNMEASURED
    return RIGHT if lowest.relation == 1.0 and lowest.presence == 1.0 else WRONG


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of those that are defined; None if none is."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
