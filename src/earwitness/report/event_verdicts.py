"""What became of every event: hit, substitution, miss or false alarm, and what it was held against.

Conventions
-----------
Verdicts are made of the functions that count (scores.event_metrics, event_pairs, event_substitutions), on
events under the names that count (tasks.event_scores), so that they add up to the counts of every clip.

Hits and substitutions are counted by two matchings: hits by the one whose times fit best, substitutions by
sed_eval's. Both have as many hits, but not always the same ones. The first hits are shown unless one of their
events is in a substitution, else the second.

A miss and a false alarm of one class that overlap are shown as one event outside the collar: each miss has at
most one such partner, the longest overlap first. They are errors all the same.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from earwitness.events import EPSILON_S, Event, EventTable
from earwitness.scores import event_metrics as em
from earwitness.scores.event_substitutions import Pairs
from earwitness.tasks import event_scores
from earwitness.tasks.event_scores import COUNT, Heard, SystemScores

HIT, SUBSTITUTION, MISS, FALSE_ALARM = "hit", "substitution", "miss", "false_alarm"
COUNTED = {HIT: "hits", SUBSTITUTION: "substitutions", MISS: "deletions", FALSE_ALARM: "insertions"}
"""Verdict -> the name of its count in the tables."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an event.

    Attributes:
        event: The estimated event, under the class that it names; of a miss the true one.
        labels: How the system calls it; of a miss empty.
        other: Of a hit or substitution the true event. Of a miss or a false alarm what overlaps it most of
            the other side's leftovers in its class, if anything does.
        again: Of a false alarm whether it overlaps a true event of its class that was found already.
        onset_out, offset_out: Whether ``other`` lies outside the collar.
    """

    kind: str
    event: Event
    labels: tuple[str, ...] = ()
    other: Event | None = None
    again: bool = False
    onset_out: bool = False
    offset_out: bool = False


@dataclass(frozen=True, slots=True)
class Judged:
    """A clip as a system heard it.

    Attributes:
        verdicts: In order of time.
        left_out: Events that count nowhere, as the system calls them: their labels are outside the classes.
    """

    verdicts: tuple[Verdict, ...]
    left_out: tuple[Event, ...]

    def counts(self) -> dict[str, int]:
        """As in SystemScores.by_clip."""
        kinds = [one.kind for one in self.verdicts]
        return {name: kinds.count(kind) for kind, name in COUNTED.items()}


def judged(
    truth: Mapping[str, EventTable],
    heard: Heard,
    scores: SystemScores,
    rule: em.Rule,
    clips: Iterable[str],
) -> dict[str, Judged]:
    """The events of clips, each with its verdict.

    Args:
        truth: Clip -> its true events.
        heard: What the system said, of which ``scores`` were made.
        clips: Those wanted; those that the system did not hear have no entry.

    Raises:
        RuntimeError: If the verdicts of a clip are not its counts.
    """
    classes = {event.label for table in truth.values() for event in table}
    said = {event.label for clip in scores.by_clip for event in heard.tables[clip]}
    named = {label: scores.read_as.get(label, label if label in classes else None) for label in said}
    dropped = {label for label, name in named.items() if name is None and label not in scores.outside}
    counted = classes | (set(scores.outside) if scores.outside_is == COUNT else set())
    found = {}
    for clip in clips:
        if clip not in scores.by_clip:
            continue
        table = heard.tables[clip]
        read = event_scores.read(table, named, dropped)
        verdicts = _verdicts(truth[clip], [event for event in read if event.label in counted], rule)
        left_out = tuple(
            e for e in table if e.label not in dropped and (named[e.label] or e.label) not in counted
        )
        onsets = [event.onset_s for event in table]
        one = Judged(tuple(_called(each, table, onsets, named) for each in verdicts), left_out)
        counts = scores.by_clip[clip]
        if any(counts[f"event_{name}"] != count for name, count in one.counts().items()):
            raise RuntimeError(f"{scores.system}, {clip}: the verdicts {one.counts()} are not {dict(counts)}")
        found[clip] = one
    return found


def _called(
    verdict: Verdict, table: EventTable, onsets: Sequence[float], named: Mapping[str, str | None]
) -> Verdict:
    """With the labels that the system itself gave; overlapping ones of a class were joined."""
    if verdict.kind == MISS:
        return verdict
    event = verdict.event
    start_s, end_s = event.onset_s - EPSILON_S, event.offset_s + EPSILON_S
    labels = dict.fromkeys(
        one.label
        for one in table.events[bisect_left(onsets, start_s) : bisect_right(onsets, end_s)]
        if (named[one.label] or one.label) == event.label and one.offset_s <= end_s
    )
    return replace(verdict, labels=tuple(labels))


def _verdicts(true_events: Iterable[Event], found_events: Iterable[Event], rule: em.Rule) -> list[Verdict]:
    def key(event: Event) -> tuple[float, float, str]:
        return event.onset_s, event.offset_s, event.label

    true, found = sorted(true_events, key=key), sorted(found_events, key=key)
    hits, substitutions = _matched(true, found, rule)
    verdicts = [
        _held(kind, found[e], true[t], rule)
        for kind, pairs in ((HIT, hits), (SUBSTITUTION, substitutions))
        for t, e in pairs.items()
    ]
    both = hits | substitutions
    matched = {*both.values()}
    misses = [at for at in range(len(true)) if at not in both]
    alarms = [at for at in range(len(found)) if at not in matched]
    near = _near(true, found, misses, alarms)
    for at in misses:
        other = found[near[at]] if at in near else None
        verdicts.append(_held(MISS, true[at], other, rule))
    of_alarm = {e: t for t, e in near.items()}
    met = _Overlaps(true, sorted(hits))
    for at in alarms:
        event = found[at]
        if at in of_alarm:
            verdicts.append(_held(FALSE_ALARM, event, true[of_alarm[at]], rule))
        else:
            verdicts.append(Verdict(FALSE_ALARM, event, again=any(met.of(event))))
    return sorted(verdicts, key=lambda one: (*key(one.event), one.kind))


def _matched(true: list[Event], found: list[Event], rule: em.Rule) -> tuple[Pairs, Pairs]:
    """Hits and substitutions; see the module for which hits are shown."""
    index = {label: at for at, label in enumerate(sorted({e.label for e in (*true, *found)}))}
    match = em.matched(em.columns([true], index), em.columns([found], index), 1, len(index), rule)
    confused = match.substitutions
    apart = match.hits.keys().isdisjoint(confused) and {*match.hits.values()}.isdisjoint(confused.values())
    return match.hits if apart else match.beside, confused


class _Overlaps:
    """Some events of a list, to find those of a label that overlap another without going through all."""

    def __init__(self, events: Sequence[Event], places: Iterable[int]) -> None:
        """``events`` are in order of onset, and so are ``places``, those of the ones that are meant."""
        self._events = events
        by_label: dict[str, list[int]] = {}
        for at in places:
            by_label.setdefault(events[at].label, []).append(at)
        # No event before the first whose "latest offset so far" lies within another can reach into it.
        self._labels = {
            label: (
                its,
                [events[at].onset_s for at in its],
                [*accumulate((events[at].offset_s for at in its), max)],
            )
            for label, its in by_label.items()
        }

    def of(self, event: Event) -> Iterator[tuple[float, int]]:
        """The overlap, in seconds and above 0, and the place of each that has the event's label."""
        places, onsets, latest = self._labels.get(event.label, ([], [], []))
        for at in places[bisect_right(latest, event.onset_s) : bisect_left(onsets, event.offset_s)]:
            if (overlap_s := _overlap_s(self._events[at], event)) > 0:
                yield overlap_s, at


def _near(true: list[Event], found: list[Event], misses: list[int], alarms: list[int]) -> Pairs:
    """Misses and false alarms of one class that overlap, the longest overlap first."""
    spare = _Overlaps(found, alarms)
    pairs: Pairs = {}
    taken: set[int] = set()
    for _, t, e in sorted((-length_s, at, e) for at in misses for length_s, e in spare.of(true[at])):
        if t not in pairs and e not in taken:
            pairs[t] = e
            taken.add(e)
    return pairs


def _held(kind: str, event: Event, other: Event | None, rule: em.Rule) -> Verdict:
    if other is None or kind not in (MISS, FALSE_ALARM):
        return Verdict(kind, event, other=other)
    true = event if kind == MISS else other
    onset_out = abs(event.onset_s - other.onset_s) > rule.onset_collar_s + EPSILON_S
    offset_out = (
        rule.offset and abs(event.offset_s - other.offset_s) > offset_allowed_s(true, rule) + EPSILON_S
    )
    return Verdict(kind, event, other=other, onset_out=onset_out, offset_out=offset_out)


def offset_allowed_s(true: Event, rule: em.Rule) -> float:
    """How far an offset may be from a true event's."""
    return max(rule.offset_collar_s, rule.offset_share * true.duration_s)


def _overlap_s(one: Event, other: Event) -> float:
    return min(one.offset_s, other.offset_s) - max(one.onset_s, other.onset_s)
