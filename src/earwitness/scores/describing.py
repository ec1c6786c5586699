"""From what was heard to a description: the sounds of a clip, tags, a clear sequence, faults, a sentence.

Conventions
-----------
A detector hears many labels in a clip, most of them resemblances. A clip's sounds are the labels with a
confidence of at least :data:`SURE` (or else the surest one), at most :data:`MOST` of them. A label that is
wider than another of these (an ancestor in the AudioSet tree) is the same sound under a vaguer name and
is set aside: "Animal" and "Dog" beside "Bark". A sound's extent reaches from its first onset to its last
offset.

One sound follows another if its first onset comes at least the listener's resolution later and the other
reaches at most :data:`OVERLAP` of the shorter extent into it. A clip is ordered if at least two of its
sounds, each heard for at least :data:`LEAST_S` in all, follow one another. So rain throughout is no part
of a sequence, and a dog before and after a horn gives no clear order of the two.

Tags and captions name a label by its first part, "Vehicle horn, car horn, honking" as "vehicle horn".
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from earwitness import labels
from earwitness.audio import CLIPPED_SHARE
from earwitness.events import EPSILON_S, Event

FEWEST, MOST = 3, 6
"""Tags a clip should have; fewer where fewer labels were heard."""
SURE = 0.8
"""Confidence from which a label is one of the clip's sounds. YAMNet's is 0.5 at a label's threshold, where
44 % of clips with a single sound would be ordered (benchmarks/label_sequences.py has what this gives)."""
LEAST_S = 0.4
"""A sound heard for less in all is left out of a sequence: such blips are mostly resemblances."""
OVERLAP = 0.25
"""Share of the shorter of two sounds that they may have in common and still follow one another."""
MUFFLED_HZ = 3000.0
"""Sound that ends below this is muffled: a telephone line carries 3.4 kHz."""
SILENT_SHARE = 0.5
"""A clip of which so much is silent has the fault "silence"."""


def sounds(events: Sequence[Event]) -> tuple[str, ...]:
    """The labels of the clip's sounds, the surest first (see the conventions); empty only without events."""
    best = _confidences(events)
    sure = [label for label in best if best[label] >= SURE] or list(best)[:1]
    wider = frozenset[str]().union(*map(_wider, sure))
    return tuple(label for label in sure if label not in wider)[:MOST]


def tags(events: Sequence[Event]) -> tuple[str, ...]:
    """Keywords for the sounds, the surest first; what else was heard fills up to FEWEST, the surest first.

    There are fewer than FEWEST if fewer were heard, and none for a clip without events.
    """
    chosen = dict.fromkeys(map(word, sounds(events)))
    for label in _confidences(events):
        if len(chosen) >= FEWEST:
            break
        chosen[word(label)] = None
    return tuple(chosen)


def sequence(events: Sequence[Event], resolution_s: float) -> tuple[Event, ...]:
    """The longest run of sounds each of which follows the one before, as one event each over its extent.

    Empty if no sound follows another; among runs of one length, the one whose last sound begins first.
    """
    runs: list[tuple[Event, ...]] = []
    lasting = [group for group in _grouped(events) if sum(e.duration_s for e in group) >= LEAST_S - EPSILON_S]
    for event in sorted(map(_extent, lasting), key=lambda e: (e.onset_s, e.offset_s, e.label)):
        before = (run for run in runs if follows(run[-1], event, resolution_s))
        runs.append((*max(before, key=len, default=()), event))
    longest = max(runs, key=len, default=())
    return longest if len(longest) > 1 else ()


def follows(earlier: Event, later: Event, resolution_s: float) -> bool:
    """Whether one extent clearly comes after another (see the conventions)."""
    shared = earlier.offset_s - later.onset_s
    allowed = OVERLAP * min(earlier.duration_s, later.duration_s)
    apart = later.onset_s - earlier.onset_s >= resolution_s - EPSILON_S
    return apart and shared <= allowed + EPSILON_S


def faults(quality: Mapping[str, Any]) -> dict[str, bool]:
    """The faults that can be measured (a QualityReply's figures), by flag; artifacts cannot.

    clipping: more than audio.CLIPPED_SHARE of the samples at full scale. silence: at least
    SILENT_SHARE of the clip. muffled: no sound from MUFFLED_HZ up; digital silence is not muffled.
    """
    bandwidth_hz = quality["bandwidth_hz"]
    return {
        "clipping": quality["clipped_share"] > CLIPPED_SHARE,
        "silence": quality["silent_share"] >= SILENT_SHARE,
        "muffled": bandwidth_hz is not None and bandwidth_hz < MUFFLED_HZ,
    }


def template(events: Sequence[Event], resolution_s: float, silent: bool) -> str:
    """A sentence made by rule: "Dog, then vehicle horn, with rain." or "Rain and speech.".

    Args:
        silent: Whether the whole clip is silent, which is what is said when nothing was heard.
    """
    ordered = dict.fromkeys(word(event.label) for event in sequence(events, resolution_s))
    by_onset = sorted(_grouped(events), key=lambda group: min(e.onset_s for e in group))
    rest = [name for group in by_onset if (name := word(group[0].label)) not in ordered]
    others = _listed(list(dict.fromkeys(rest)))
    if len(ordered) > 1:
        said = ", then ".join(ordered) + (f", with {others}" if others else "")
    else:
        said = _listed(list(dict.fromkeys([*ordered, *rest])))
    if not said:
        said = "silence" if silent else "no sound recognised"
    return f"{said[0].upper()}{said[1:]}."


def word(label: str) -> str:
    """A label's first part, beginning with a small letter; commas in brackets do not part it."""
    first = re.split(r", (?![^(]*\))", label, maxsplit=1)[0]
    return first[0].lower() + first[1:]


def _confidences(events: Sequence[Event]) -> dict[str, float]:
    """Every label's best confidence, the highest first."""
    best: dict[str, float] = {}
    for event in events:
        best[event.label] = max(best.get(event.label, 0.0), event.confidence or 0.0)
    return dict(sorted(best.items(), key=lambda one: (-one[1], one[0])))


def _grouped(events: Sequence[Event]) -> list[list[Event]]:
    """The events of every sound, the surest sound first."""
    return [[event for event in events if event.label == label] for label in sounds(events)]


def _extent(events: Sequence[Event]) -> Event:
    return Event(events[0].label, min(e.onset_s for e in events), max(e.offset_s for e in events))


@cache
def _wider(label: str) -> frozenset[str]:
    """Labels above; none for words that are no AudioSet label."""
    return labels.ancestors(label) if label in _names() else frozenset()


@cache
def _names() -> frozenset[str]:
    return frozenset(labels.names())


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]])) if names else ""
