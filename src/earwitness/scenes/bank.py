"""Banks: clips of single sounds by label, from which scenes are built.

A bank is the user's own folder, or the built-in one, whose sounds are computed (see :mod:`.synth`) and
carry no licence.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.manifest import AUDIO_EXTENSIONS
from earwitness.manifest.table import near, read_table
from earwitness.scenes import synth

_METADATA = ("metadata.csv", "metadata.jsonl")


@dataclass(frozen=True, slots=True)
class Source:
    """One clip of one sound.

    Attributes:
        label: The class, as the bank names it.
        recording_id: Sources that share it come from one recording and must not be split over training
            and test.
        licence: As the bank states it; empty if it does not.
        path: The file; None for a built-in sound.
        seed: Seed of a built-in sound.
    """

    label: str
    recording_id: str
    licence: str = ""
    path: Path | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Bank:
    """Sources by label, none of the labels empty."""

    sources: Mapping[str, tuple[Source, ...]]

    def of(self, label: str) -> tuple[Source, ...]:
        """The sources of a label.

        Raises:
            UserError: If the bank has no such label; a near one is offered.
        """
        if label not in self.sources:
            raise UserError(
                f"The bank has no label {label!r}{near(label, self.sources)}.",
                f"It has: {', '.join(self.sources)}.",
            )
        return self.sources[label]

    @classmethod
    def builtin(cls, per_class: int, seed: int = 0) -> "Bank":
        """``per_class`` computed sounds of every built-in class; another seed gives others (up to 10^6).

        Instances below 10^6 are in none of these banks: listeners may be tuned on them.
        """
        first = (seed + 1) * 1_000_000
        return cls(
            {
                name: tuple(
                    Source(name, f"{name}-{number}", seed=number)
                    for number in range(first, first + per_class)
                )
                for name in synth.CLASSES
            }
        )

    @classmethod
    def open(cls, folder: Path) -> "Bank":
        """A user's folder: with ``metadata.csv`` (or ``.jsonl``), or else one sub-folder a label.

        The metadata has ``file_name`` (relative to the folder) and ``label``; optional ``recording_id``
        and ``licence``. Without ``recording_id`` every file counts as a recording of its own. Sound is
        decoded when it is used.

        Raises:
            UserError: If the folder is not there.
            InputFaults: Listing every label without sound, file that is missing and fault of the table.
        """
        if not folder.is_dir():
            raise UserError(f"{folder}: no such folder.", "Name a folder of label/clip.wav.")
        listed = next((folder / name for name in _METADATA if (folder / name).is_file()), None)
        found = _from_folders(folder) if listed is None else _from_metadata(listed)
        by_label: dict[str, list[Source]] = {}
        for source in found:
            by_label.setdefault(source.label, []).append(source)
        return cls({label: tuple(by_label[label]) for label in sorted(by_label)})


def _from_folders(folder: Path) -> list[Source]:
    found: list[Source] = []
    faults: list[str] = []
    for inner in sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith(".")):
        files = sorted(p for p in inner.iterdir() if p.suffix.lower() in AUDIO_EXTENSIONS)
        if not files:
            faults.append(f"the label {inner.name!r} holds no sound: {inner}")
        found += (Source(inner.name, f"{inner.name}/{file.stem}", path=file) for file in files)
    if not found:
        faults.append("there is no folder with sound in it")
    if faults:
        raise InputFaults(
            str(folder), faults, f"Put clips ({', '.join(AUDIO_EXTENSIONS)}) in one folder a label."
        )
    return found


def _from_metadata(path: Path) -> list[Source]:
    table = read_table(path)
    required = ("audio", "label")
    columns = table.choose(required, ("recording_id", "licence"), {})
    found: list[Source] = []
    rows: dict[str, int] = {}
    for row, cells in table.texts(columns, required):
        name, label = cells["audio"], cells["label"].strip()
        if not label:
            table.faults.append(f"row {row}: 'label' must not be empty")
        if not (path.parent / name).is_file():
            table.faults.append(f"row {row}: no such file: {path.parent / name}")
        if rows.setdefault(name, row) != row:
            table.faults.append(f"rows {rows[name]} and {row} list the same file: {name}")
        recording = cells.get("recording_id", "").strip() or str(Path(name).with_suffix(""))
        found.append(Source(label, recording, cells.get("licence", ""), path.parent / name))
    table.raise_faults()
    return found


def clip(
    source: Source, rate_hz: int = synth.RATE_HZ, duration_s: float | None = None
) -> NDArray[np.float32]:
    """The sound of a source, mono, (n,) float32 at ``rate_hz``.

    Args:
        duration_s: Length in seconds of a built-in sound, which can be of any; a recording is cut to it
            (its last 50 ms faded) or, if shorter, left as it is.

    Raises:
        UserError: If a file cannot be used, naming it.
    """
    if source.path is None:
        sound = synth.render(source.label, source.seed, duration_s)
        computed = audio.Clip(sound[np.newaxis], synth.RATE_HZ, "")
        return audio.mono(computed, rate_hz)
    try:
        samples = audio.mono(audio.read(source.path), rate_hz)
    except UnusableAudio as fault:
        raise UserError(
            f"{source.path} cannot be used: {fault.detail}.", "Take it out of the bank or replace it."
        ) from fault
    if duration_s is not None and len(samples) > (n := round(duration_s * rate_hz)):
        fall = min(n, rate_hz // 20)
        samples = samples[:n].copy()
        samples[n - fall :] *= np.linspace(1, 0, fall, dtype=np.float32)
    return samples
