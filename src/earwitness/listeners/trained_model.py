"""A trained detector on disk: a folder with its card as data, its weights, and its card as text.

Conventions
-----------
``model.json`` holds everything but the numbers: classes with the label that is said for each and its
threshold, how events are made, the backbone it was trained on, what it reached, and how it was made. It is
read strictly: a field too many or too few, a rule or number out of its bounds, and a card that was changed
since it was written (its own sha256 is in it) are refused. ``head.npz`` holds the numbers, float32 and never
pickled; its sha256 is in ``model.json``. ``README.md`` is for people. Nothing of the sounds is in the folder.

The network: features are standardised, mapped row by row, seen with their neighbours in time, and read as
one logit a class; or, a linear layer, read at once.
"""

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from earwitness.errors import UserError
from earwitness.files import write_text
from earwitness.listeners.yamnet_events import Rules

Floats = NDArray[np.float32]

CARD, WEIGHTS, README = "model.json", "head.npz", "README.md"

_LINEAR = ("centre", "scale", "last", "last_bias")
_DEEP = (*_LINEAR, "first", "first_bias", "second", "second_bias")
_AXES = {**dict.fromkeys(_DEEP, 1), "first": 2, "second": 3, "last": 2}


_MOST = 1e4
"""Of a logit, either way: beyond that nothing or everything is heard."""
_BOUNDS = {"rise": (0.0, 1.0), "_s": (0.0, 10.0), "_db": (0.0, 120.0), "": (-_MOST, _MOST)}
"""Of the rules, by the end of their name, the first that fits."""


def _shown(text: str) -> str:
    if not text.strip() or text != text.strip() or not text.isprintable():
        raise ValueError("a name is printable text without spaces around it")
    return text


_Name = Annotated[str, AfterValidator(_shown)]
_Share = Annotated[float, Field(ge=0, le=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class BackboneCard(_Strict):
    """Which features the head was trained on."""

    name: _Name
    version: _Name
    rate_hz: Annotated[int, Field(gt=0)]


class ClassCard(_Strict):
    """A class of sound.

    Attributes:
        label: What the listener says when it hears it: an AudioSet name where there is one.
        threshold: Logit, smoothed over time, above which it is heard.
        before: Frame AP of the plain backbone on the test mixtures; None if it has no label for the class.
        after: Of the trained head; None if it was not measured.
    """

    name: _Name
    label: _Name
    threshold: Annotated[float, Field(ge=-_MOST, le=_MOST)]
    before: _Share | None
    after: _Share | None


class Fitted(_Strict):
    """What weights, thresholds or rules were fitted to.

    Attributes:
        sounds: The first :data:`SOUND_DIGITS` digits of audio.pcm_hash of every clip, as in its bank.
        recordings: Ids of their recordings, of those that are known.
        unknown: Clips whose recording is not known.
        pieces: What these look like pieces of, by their names (scenes.recordings).
    """

    sounds: frozenset[Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]]
    recordings: frozenset[str]
    unknown: Annotated[int, Field(ge=0)]
    pieces: frozenset[str]

    def holds(self, pcm_hash: str) -> bool:
        """Whether it was fitted to a sound."""
        return pcm_hash[:SOUND_DIGITS] in self.sounds


SOUND_DIGITS = 16
_NAMED = re.compile(r"\w[\w.-]{0,39}")


class ModelCard(_Strict):
    """What ``model.json`` holds.

    Attributes:
        hop_s: From one row of features to the next.
        rules: How rows become events (listeners.yamnet_events.Rules).
        measured: What it reached on known truth, in a sentence with the conditions.
        made: Recipe, seeds, recordings by side, licences, software: a record. Only ``name``, what the model
            is called, and ``fitted_to`` (:class:`Fitted`) are used; older models have neither.
        card_sha256: Of everything else (:func:`sealed`).
    """

    format: Literal["earwitness-detector"]
    version: Literal[2]
    backbone: BackboneCard
    hop_s: Annotated[float, Field(gt=0)]
    classes: Annotated[tuple[ClassCard, ...], Field(min_length=1)]
    rules: dict[str, float]
    weights_sha256: str
    measured: _Name
    made: dict[str, JsonValue]
    card_sha256: str

    @field_validator("made")
    @classmethod
    def _usable(cls, made: dict[str, JsonValue]) -> dict[str, JsonValue]:
        if "fitted_to" in made:
            Fitted.model_validate_json(json.dumps(made["fitted_to"]))
        if "name" in made and not (isinstance(made["name"], str) and _NAMED.fullmatch(made["name"])):
            raise ValueError(f"name must be letters, digits, . - and _, not {made['name']!r}")
        return made

    @field_validator("classes")
    @classmethod
    def _unique(cls, classes: tuple[ClassCard, ...]) -> tuple[ClassCard, ...]:
        for what in ("name", "label"):
            if len({getattr(one, what) for one in classes}) < len(classes):
                raise ValueError(f"two classes have the same {what}")
        return classes

    @model_validator(mode="after")
    def _bounded(self) -> "ModelCard":
        known = {one.name for one in fields(Rules)}
        if odd := known.symmetric_difference(self.rules):
            raise ValueError(f"its rules lack or add {', '.join(sorted(odd))}")
        for name, value in self.rules.items():
            low, high = next(bounds for end, bounds in _BOUNDS.items() if name.endswith(end))
            if not low <= value <= high:
                raise ValueError(f"the rule {name} is from {low:g} to {high:g}, not {value:g}")
        if self.rules["hop_s"] != self.hop_s:
            raise ValueError(f"hop_s is {self.hop_s:g}, that of the rules {self.rules['hop_s']:g}")
        return self


def sealed(**given: Any) -> ModelCard:
    """A card with its own sha256: of the other fields as JSON, keys sorted."""
    card = ModelCard(**given, card_sha256="")
    return card.model_copy(update={"card_sha256": seal(card.model_dump(mode="json"))})


def seal(card: Mapping[str, Any]) -> str:
    """The sha256 of a card's other fields."""
    rest = {name: value for name, value in card.items() if name != "card_sha256"}
    return sha256(json.dumps(rest, sort_keys=True, allow_nan=False).encode())


@dataclass(frozen=True)
class Weights:
    """The numbers of a head, float32: a linear layer, or three layers.

    Raises:
        ValueError: If an array is missing, too many, of another type or shape, or not finite.
    """

    arrays: Mapping[str, Floats]

    def __post_init__(self) -> None:
        names = _LINEAR if len(self.arrays) == len(_LINEAR) else _DEEP
        if set(self.arrays) != set(names):
            raise ValueError(f"it holds {', '.join(sorted(self.arrays))}, not {', '.join(sorted(names))}")
        for name, array in self.arrays.items():
            if array.dtype != np.float32 or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite float32 numbers")
            if array.ndim != _AXES[name] or not array.size:
                raise ValueError(f"{name} must have {_AXES[name]} axes, none of them empty")
        if {name: array.shape for name, array in self.arrays.items()} != self._shapes():
            raise ValueError("its shapes do not fit together")
        if not (self.arrays["scale"] > 0).all():
            raise ValueError("scale must be above 0")
        if "second" in self.arrays and len(self.arrays["second"]) % 2 == 0:
            raise ValueError("second must be over an odd number of rows")

    @property
    def features(self) -> int:
        """Numbers of a row."""
        return int(self.arrays["centre"].size)

    @property
    def classes(self) -> int:
        return int(self.arrays["last_bias"].size)

    def __call__(self, rows: Floats) -> Floats:
        """(m, classes) logits of (m, features) rows of one clip; beyond its ends there is nothing."""
        given = self.arrays
        hidden = (rows - given["centre"]) / given["scale"]
        if "first" in given:
            hidden = np.maximum(hidden @ given["first"] + given["first_bias"], 0)
            taps = given["second"]
            padded = np.pad(hidden, ((len(taps) // 2,) * 2, (0, 0)))
            seen = sum(padded[k : k + len(hidden)] @ tap for k, tap in enumerate(taps))
            hidden = np.maximum(seen + given["second_bias"], 0)
        logits: Floats = (hidden @ given["last"] + given["last_bias"]).astype(np.float32, copy=False)
        return logits

    def scaled(self, by: float) -> "Weights":
        """The head whose logits are so many times as large."""
        larger = {name: self.arrays[name] * np.float32(by) for name in ("last", "last_bias")}
        return Weights({**self.arrays, **larger})

    def to_bytes(self) -> bytes:
        """As an npz archive; the same numbers give the same bytes."""
        out = io.BytesIO()
        np.savez(out, allow_pickle=False, **{name: self.arrays[name] for name in sorted(self.arrays)})
        return out.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes) -> "Weights":
        """The inverse of :meth:`to_bytes`. Raises ValueError if it is no such archive."""
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                arrays = {}
                for member in archive.infolist():
                    if member.compress_type != zipfile.ZIP_STORED:
                        raise ValueError(f"{member.filename} is compressed")
                    arrays[member.filename.removesuffix(".npy")] = _array(archive.read(member))
        except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as fault:
            raise ValueError("it is no npz archive of plain numbers") from fault
        return cls(arrays)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        features, classes = self.features, self.classes
        shapes: dict[str, tuple[int, ...]] = {"centre": (features,), "scale": (features,)}
        if "first" not in self.arrays:
            return shapes | {"last": (features, classes), "last_bias": (classes,)}
        hidden, taps, out = (
            self.arrays["first_bias"].size,
            len(self.arrays["second"]),
            self.arrays["second_bias"].size,
        )
        return shapes | {
            "first": (features, hidden),
            "first_bias": (hidden,),
            "second": (taps, hidden, out),
            "second_bias": (out,),
            "last": (out, classes),
            "last_bias": (classes,),
        }


def _array(data: bytes) -> Floats:
    """The array of an npy file. What its header claims is believed only if the file is that long."""
    file = io.BytesIO(data)
    if np.lib.format.read_magic(file) != (1, 0):
        raise ValueError("it is no npz archive of plain numbers")
    shape, _, kind = np.lib.format.read_array_header_1_0(file)
    if kind != np.float32 or min(shape, default=1) < 0 or math.prod(shape) * 4 != len(data) - file.tell():
        raise ValueError("it must hold finite float32 numbers, as many as it says")
    found: Floats = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    return found


@dataclass(frozen=True)
class Model:
    """A trained detector as its folder holds it."""

    card: ModelCard
    weights: Weights

    @cached_property
    def version(self) -> str:
        """Changes with anything that changes an answer: classes, thresholds, rules, weights."""
        card = self.card
        facts = [
            [(one.name, one.label, one.threshold) for one in card.classes],
            card.rules,
            card.hop_s,
            card.weights_sha256,
            [card.backbone.name, card.backbone.version],
        ]
        return sha256(json.dumps(facts, sort_keys=True).encode())[:16]

    @property
    def name(self) -> str:
        """What it is called in tables: its own name if it has one, its backbone, and its version."""
        own, backbone = self.card.made.get("name"), self.card.backbone.name
        return f"{f'{own}-on-{backbone}' if own else backbone}-{self.version[:8]}"

    @property
    def fitted(self) -> Fitted | None:
        """What it was fitted to; None if that was not kept yet when it was made."""
        kept = self.card.made.get("fitted_to")
        return None if kept is None else Fitted.model_validate_json(json.dumps(kept))


def is_model(path: Path) -> bool:
    """Whether a path is the folder of a trained detector."""
    return (path / CARD).is_file()


def read(folder: Path) -> Model:
    """The detector in a folder.

    Raises:
        UserError: Naming the file that is missing, not as it was written, or of another version, and what is
            wrong with it.
    """
    path = folder / CARD
    try:
        card = ModelCard.model_validate_json(path.read_bytes())
    except OSError as fault:
        raise UserError(
            f"{path} cannot be read: {fault.strerror}.",
            "Name the folder that `earwitness listeners train ... -o MODEL` wrote.",
        ) from fault
    except ValidationError as fault:
        first = fault.errors()[0]
        where = ".".join(map(str, first["loc"])) or "it"
        raise UserError(
            f"{path} is no card of a trained detector: {where}: {first['msg']}.", _AGAIN
        ) from fault
    if card.card_sha256 != seal(card.model_dump(mode="json")):
        raise UserError(f"{path} was changed since it was written: its sha256 is another.", _AGAIN)
    data = _bytes(folder / WEIGHTS)
    if sha256(data) != card.weights_sha256:
        raise UserError(
            f"{folder / WEIGHTS} is not the file that {CARD} was written with: its sha256 is {sha256(data)}, "
            f"not {card.weights_sha256}.",
            _AGAIN,
        )
    try:
        weights = Weights.from_bytes(data)
    except ValueError as fault:
        raise UserError(f"{folder / WEIGHTS} cannot be used: {fault}.", _AGAIN) from fault
    if weights.classes != len(card.classes):
        raise UserError(
            f"{folder}: the weights are of {weights.classes} classes, {CARD} lists {len(card.classes)}.",
            _AGAIN,
        )
    return Model(card, weights)


def called(folder: Path) -> str:
    """What a model is called after its folder: its name, but for what a table or file would trip over."""
    return re.sub(r"[^\w.-]+", "-", folder.absolute().name).strip(".-")[:40]


_AGAIN = "Copy the whole folder anew from where it was trained, or train again."


def write(folder: Path, model: Model, readme: str) -> None:
    """Write a detector into an empty folder that is there."""
    (folder / WEIGHTS).write_bytes(model.weights.to_bytes())
    card: dict[str, Any] = model.card.model_dump(mode="json")
    write_text(folder / CARD, json.dumps(card, ensure_ascii=False, allow_nan=False, indent=1) + "\n")
    write_text(folder / README, readme)


def sha256(data: bytes) -> str:
    """In hex."""
    return hashlib.sha256(data).hexdigest()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as fault:
        raise UserError(f"{path} cannot be read: {fault.strerror}.", _AGAIN) from fault
