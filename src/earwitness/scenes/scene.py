"""A scene: sounds placed in time, frozen. Its file alone, with the bank, gives the same samples again.

Conventions
-----------
Positions and lengths are integer samples at the scene's rate; seconds are derived from them, so the truth
is what was rendered. Every sound is mono. ``gain_db`` of a sound is applied to the source's own samples;
the scene's ``gain_db`` is applied to the sum, so that one gain moves everything and no ratio changes.
Levels are those of the placed, trimmed sound (see :mod:`.levels`), before the scene's gain. Sounds add.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.events import Event, EventTable
from earwitness.scores import relations
from earwitness.scores.relations import Expected

VERSION = 1
"""Of the scene file."""


@dataclass(frozen=True, slots=True)
class Placed:
    """One sound of a scene.

    Attributes:
        label: Its class, as the scene's family names it.
        source: :func:`earwitness.audio.pcm_hash` of the bank's clip, decoded as it is there.
        name: The clip's name in its bank, for readers and for finding it quickly.
        recording_id: Clips that share it come from one recording.
        start: First sample taken from the clip, made mono at the scene's rate.
        onset: Where that sample lies in the scene.
        length: Samples taken.
        fade: Samples of the linear ramp at either end, 0 for none; at most half of ``length``.
        gain_db: Applied to the clip's samples.
        level_db: Level of the sound as placed, in the scene's measure.
        distance_m: Metres that the prompt states, if it does.
        looped: For an ambience: the clip is repeated with cross-fades until ``length`` is full.
    """

    label: str
    source: str
    name: str
    recording_id: str
    start: int
    onset: int
    length: int
    fade: int
    gain_db: float
    level_db: float
    distance_m: float | None = None
    looped: bool = False

    @property
    def end(self) -> int:
        return self.onset + self.length


@dataclass(frozen=True, slots=True)
class Scene:
    """What is heard when, and what was asked for.

    Attributes:
        scene_id: Name in its data set.
        family: What kind of scene: ``ritta``, ``order``, ``edit``.
        rate_hz, samples: Rate, and length in samples.
        level: Measure of every ``level_db``: ``lufs`` or ``rms``.
        gain_db: Of the whole scene.
        events: In order of onset.
        ambience: What lies under them from the first sample to the last, if anything; no event.
        prompt: The text; the target caption of an edit.
        expected: What the prompt asks for, where it states a relation.
        seed: Of the draw.

    Raises:
        ValueError: If a sound leaves the scene, two of one label overlap, a number is not finite or a
            fade is longer than half its sound; the numbers are given.
    """

    scene_id: str
    family: str
    rate_hz: int
    samples: int
    level: str
    gain_db: float
    events: tuple[Placed, ...]
    prompt: str
    seed: int
    expected: Expected | None = None
    ambience: Placed | None = None

    def __post_init__(self) -> None:
        ordered = tuple(sorted(self.events, key=lambda e: (e.onset, e.end, e.label)))
        object.__setattr__(self, "events", ordered)
        for fault in self._faults():
            raise ValueError(f"scene {self.scene_id!r}: {fault}")

    @property
    def duration_s(self) -> float:
        return self.samples / self.rate_hz

    @property
    def sounds(self) -> tuple[Placed, ...]:
        """Every sound, the ambience last: the order of the stems."""
        return self.events if self.ambience is None else (*self.events, self.ambience)

    def truth(self) -> EventTable:
        """The events in seconds."""
        rate = self.rate_hz
        found = (Event(e.label, e.onset / rate, e.end / rate) for e in self.events)
        return EventTable(tuple(found), self.duration_s)

    def _faults(self) -> Iterator[str]:
        if self.samples < 1 or self.rate_hz < 1:
            yield f"it has {self.samples} samples at {self.rate_hz} Hz"
        last: dict[str, Placed] = {}
        for one in self.sounds:
            where = f"{one.label!r} (samples {one.onset} to {one.end})"
            if one.onset < 0 or one.length < 1 or one.start < 0 or one.end > self.samples:
                yield f"{where} does not lie within its {self.samples} samples"
            if not 0 <= 2 * one.fade <= one.length:
                yield f"{where} has a fade of {one.fade} samples, more than half of it"
            numbers = (one.gain_db, one.level_db, one.distance_m or 0.0, self.gain_db)
            if not all(map(math.isfinite, numbers)):
                yield f"{where} has a gain, level or distance that is no number"
        for one in self.events:
            before = last.get(one.label)
            if before is not None and one.onset < before.end:
                yield f"{one.label!r} overlaps itself: it starts at {one.onset}, before {before.end}"
            if before is None or one.end > before.end:
                last[one.label] = one


def to_json(scene: Scene) -> dict[str, Any]:
    """Plain data; the inverse of :func:`from_json`."""
    data = {f.name: getattr(scene, f.name) for f in fields(Scene)}
    return {
        "version": VERSION,
        **data,
        "events": [asdict(e) for e in scene.events],
        "ambience": None if scene.ambience is None else asdict(scene.ambience),
        "expected": None if scene.expected is None else scene.expected.to_json(),
    }


def from_json(data: Mapping[str, Any]) -> Scene:
    """The inverse of :func:`to_json`.

    Raises:
        ValueError: If the data are no scene; what is wrong is named.
    """
    try:
        given = dict(data)
        if (version := given.pop("version")) != VERSION:
            raise ValueError(f"it is of version {version!r}; version {VERSION} is read")
        given["events"] = tuple(Placed(**one) for one in given["events"])
        given["ambience"] = Placed(**given["ambience"]) if given["ambience"] is not None else None
        if given["expected"] is not None:
            given["expected"] = relations.from_json(given["expected"])
        return Scene(**given)
    except (KeyError, TypeError, AttributeError) as fault:
        raise ValueError(f"not a scene: {fault}") from fault


def write(path: Path, scene: Scene) -> None:
    """Write a scene as strict JSON; the same scene gives the same bytes."""
    text = json.dumps(to_json(scene), ensure_ascii=False, allow_nan=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def read(path: Path) -> Scene:
    """Read what :func:`write` wrote.

    Raises:
        UserError: Naming the file, if it cannot be read or is no scene.
    """
    try:
        return from_json(json.loads(path.read_text(encoding="utf-8")))
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}.") from fault
    except (ValueError, RecursionError) as fault:
        raise UserError(f"{path}: {fault}.", "Name a scene file that earwitness made.") from fault
