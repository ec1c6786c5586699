"""What an item's ``expected`` and ``truth`` hold: written by ritta_sources, read when scoring."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from earwitness.events import Event
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scenes.scene import Scene
from earwitness.scores import relations
from earwitness.scores.frame_levels import TrueLevels
from earwitness.scores.relations import Expected

SAME_LENGTH_S = 0.1
"""What frames of codecs and models add or cut stays below it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a prompt asks for, and how long the data set's clips are."""

    expected: Expected
    duration_s: float

    def as_long(self, duration_s: float) -> bool:
        """Whether a clip is as long as the data set's, give or take :data:`SAME_LENGTH_S`."""
        return abs(duration_s - self.duration_s) <= SAME_LENGTH_S


@dataclass(frozen=True, slots=True)
class Truth:
    """The true events of a clip, with their levels."""

    events: tuple[Event, ...]
    levels: TrueLevels


def wanted_text(expected: Expected, duration_s: float) -> str:
    """For the column ``expected``."""
    return json.dumps({**expected.to_json(), "duration_s": duration_s}, sort_keys=True)


@lru_cache(maxsize=16384)
def wanted(text: str) -> Wanted:
    """The inverse of :func:`wanted_text`.

    Raises:
        ValueError: If the text says no such thing, or names a sound that is none of the 25 classes.
    """
    data = _object(text)
    expected = relations.from_json(data)
    if stray := [label for label in expected.labels if label not in CLASSES]:
        raise ValueError(f"{stray[0]!r} is none of RiTTA's classes of sound")
    duration_s = data.get("duration_s")
    if not isinstance(duration_s, int | float) or not duration_s > 0:
        raise ValueError(f"duration_s must be a number above 0, not {duration_s!r}")
    return Wanted(expected, float(duration_s))


def cluster(prompt: str) -> str:
    """What clips of one prompt share: its words, whatever their case and spacing."""
    return " ".join(prompt.casefold().split())


def truth_text(scene: Scene) -> str:
    """For the column ``truth``: the scene's events."""
    rate = scene.rate_hz
    events = [
        {"label": e.label, "onset_s": e.onset / rate, "offset_s": e.end / rate, "level_db": e.level_db}
        for e in scene.events
    ]
    return json.dumps(events)


@lru_cache(maxsize=16384)
def truth(text: str) -> Truth:
    """The inverse of :func:`truth_text`.

    Raises:
        ValueError: If the text holds no events with levels.
    """
    try:
        rows = json.loads(text)
        events = tuple(Event(row["label"], row["onset_s"], row["offset_s"]) for row in rows)
        return Truth(events, TrueLevels({(row["label"], row["onset_s"]): row["level_db"] for row in rows}))
    except (KeyError, TypeError) as fault:
        raise ValueError(f"no true events: {fault!r}") from fault


def _object(text: str) -> Mapping[str, Any]:
    data = json.loads(text)
    if not isinstance(data, dict):
        raise ValueError(f"not what a prompt asks for: {data!r}")
    return data
