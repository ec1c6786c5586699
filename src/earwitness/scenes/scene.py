"""A scene: sounds placed in time, frozen. Its file alone, with the bank, gives the same samples again.

Conventions
-----------
Positions and lengths are integer samples at the scene's rate; seconds are derived from them, so the truth
is what was rendered. Every sound is mono. ``gain_db`` of a sound is applied to the source's own samples;
the scene's ``gain_db`` is applied to the sum, so that one gain moves everything and no ratio changes.
Levels are those of the placed, trimmed sound (see :mod:`.levels`), before the scene's gain. Sounds add.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from earwitness import audio
from earwitness.errors import UserError
from earwitness.events import Event, EventTable
from earwitness.scenes.levels import MEASURES
from earwitness.scores import relations
from earwitness.scores.relations import Expected

VERSION = 1
"""Of the scene file."""
MIN_HZ, MAX_HZ = 1_000, 384_000
MAX_S = audio.MAX_S
"""Longest scene: a longer clip would not be read."""
MAX_SAMPLES = 1 << 29
"""Of a scene: a wav file of 1 GiB."""
MAX_DB = 200.0
"""Greatest gain or level, and how far either may lie below 0."""
MAX_M = 1e6
"""Greatest distance."""

_ID = re.compile(r"\w[\w.-]{0,199}")


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
        ValueError: If a sound leaves the scene, two of one label overlap, a number is out of bounds, a fade
            is longer than half its sound, there is no such measure, or the name is none for a file; what
            was given is named.
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
        if not is_name(self.scene_id):
            yield "scene_id cannot be the name of a file"
        if not MIN_HZ <= self.rate_hz <= MAX_HZ:
            yield f"rate_hz must lie in {MIN_HZ:,} to {MAX_HZ:,}, not {self.rate_hz}"
        if not 1 <= self.samples <= min(MAX_SAMPLES, MAX_S * self.rate_hz):
            yield f"samples must be 1 to {MAX_SAMPLES:,}, and at most {MAX_S:,.0f} s, not {self.samples}"
        if self.level not in MEASURES:
            yield f"level must be {' or '.join(MEASURES)}, not {self.level!r}"
        if not abs(self.gain_db) <= MAX_DB:
            yield f"gain_db must be a number within {MAX_DB:g} dB of 0, not {self.gain_db}"
        last: dict[str, Placed] = {}
        for one in self.sounds:
            where = f"{one.label!r} (samples {one.onset} to {one.end})"
            if one.onset < 0 or one.length < 1 or one.start < 0 or one.end > self.samples:
                yield f"{where} does not lie within its {self.samples} samples"
            if not 0 <= 2 * one.fade <= one.length:
                yield f"{where} has a fade of {one.fade} samples, more than half of it"
            for name, value in (("gain_db", one.gain_db), ("level_db", one.level_db)):
                if not abs(value) <= MAX_DB:
                    yield f"{name} of {where} must be a number within {MAX_DB:g} dB of 0, not {value}"
            if one.distance_m is not None and not 0 < one.distance_m <= MAX_M:
                yield f"distance_m of {where} must be more than 0, at most {MAX_M:g}, not {one.distance_m}"
        for one in self.events:
            before = last.get(one.label)
            if before is not None and one.onset < before.end:
                yield f"{one.label!r} overlaps itself: it starts at {one.onset}, before {before.end}"
            if before is None or one.end > before.end:
                last[one.label] = one


def is_name(text: str) -> bool:
    """Whether a scene can be called so: its files are, with an ending."""
    return _ID.fullmatch(text) is not None and len(text.encode()) <= 200


def check_settings(*, rate_hz: int, duration_s: float, seed: int) -> None:
    """Refuse scenes that no family can make; a family may have narrower bounds.

    Raises:
        UserError: With the bounds and what was asked for.
    """
    if seed < 0:
        raise UserError(f"The seed must be 0 or more, not {seed}.")
    if not MIN_HZ <= rate_hz <= MAX_HZ:
        raise UserError(f"The rate must lie in {MIN_HZ:,} to {MAX_HZ:,} Hz, not {rate_hz}.")
    longest = min(MAX_S, MAX_SAMPLES / rate_hz)
    if not 0 < duration_s <= longest:
        raise UserError(f"At {rate_hz} Hz a scene lasts at most {longest:.0f} s, not {duration_s:g}.")


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
        ValueError: If the data are no scene; the field that is wrong is named.
    """
    if not isinstance(data, dict) or "version" not in data:
        raise ValueError("not a scene: it states no version")
    given = dict(data)
    version = given.pop("version")
    if version != VERSION or not _is_whole(version):
        raise ValueError(f"it is of version {_short(version)}; version {VERSION} is read")
    given = _typed(Scene, given, "")
    events = [_placed(one, f"events[{number}]") for number, one in enumerate(given["events"])]
    under = None if given["ambience"] is None else _placed(given["ambience"], "ambience")
    expected = None if given["expected"] is None else _expected(given["expected"])
    return Scene(**(given | {"events": tuple(events), "ambience": under, "expected": expected}))


def _placed(data: Any, where: str) -> Placed:
    return Placed(**_typed(Placed, data, where))


def _expected(data: Any) -> Expected:
    try:
        found = relations.from_json(data)
    except (ValueError, OverflowError) as fault:
        raise ValueError(f"not a scene: expected: {fault}") from fault
    labels = (label for one in found.alternatives for label in (*one.present, *one.absent))
    if found.to_json() != data or not all(map(_is_text, labels)):
        raise ValueError("not a scene: expected: it would not be written so")
    return found


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not re.search("[\ud800-\udfff]", value)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, float) or _is_whole(value)


_TYPES: Mapping[object, tuple[str, Callable[[Any], bool]]] = {
    str: ("a text", _is_text),
    int: ("a whole number", _is_whole),
    float: ("a number", _is_number),
    float | None: ("a number or null", lambda value: value is None or _is_number(value)),
    bool: ("true or false", lambda value: isinstance(value, bool)),
    tuple[Placed, ...]: ("a list", lambda value: isinstance(value, list)),
    Placed | None: ("an object or null", lambda value: value is None or isinstance(value, dict)),
    Expected | None: ("an object or null", lambda value: value is None or isinstance(value, dict)),
}
"""Type of a field -> how JSON writes it, and whether a value is of it."""


def _typed(kind: type[Scene] | type[Placed], data: Any, where: str) -> dict[str, Any]:
    """The fields of a scene or a sound, each there and of its type, and no others."""
    prefix = f"{where}." if where else ""
    if not isinstance(data, dict):
        raise ValueError(f"not a scene: {where} must be an object, not {_short(data)}")
    known = {field.name: field for field in fields(kind)}
    if unknown := data.keys() - known.keys():
        raise ValueError(f"not a scene: there is no field {_short(prefix + min(unknown))}")
    for name, field in known.items():
        if name not in data:
            raise ValueError(f"not a scene: {prefix}{name} is missing")
        words, fits = _TYPES[field.type]
        if not fits(data[name]):
            raise ValueError(f"not a scene: {prefix}{name} must be {words}, not {_short(data[name])}")
    return data


def _short(value: Any) -> str:
    told = repr(value)
    return told if len(told) <= 60 else f"{told[:57]}..."


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
