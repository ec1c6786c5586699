"""The sound of a bundle: every clip once, encoded anew, under names of its own.

Conventions
-----------
Clips of equal samples share a file, so a source clip that a baseline hands back is not packed twice; but
descriptions are read by file (AudioFolder), so described clips have a file each. Files are called by system
and sample; a name that no file system would hold to the letter gets a hash.
"""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path

from earwitness import audio
from earwitness.errors import UnusableAudio
from earwitness.ledger.keys import file_hash
from earwitness.report.cells import csv_rows
from earwitness.report.encode import NotEncoded, encode

LONGER_S, LOUDER_DB = 0.05, 0.5
"""Greater changes in length or level are told."""


@dataclass(frozen=True, slots=True)
class Packed:
    """One sound file of a bundle and the original it was made from.

    Attributes:
        file: Its path within the bundle.
        longer_s, louder_db: See encode.Encoded.
        sha256, original_sha256: Of the bytes of either file.
        original_pcm_sha256: Of the original's samples, see audio.pcm_hash.
    """

    file: str
    duration_s: float
    rate_hz: int
    channels: int
    longer_s: float
    louder_db: float
    sha256: str
    original_sha256: str
    original_pcm_sha256: str


class Sounds:
    """The sound files of a folder.

    Args:
        folder: Absolute path of the bundle.
        form: See encode.FORMATS.
        shared: Whether clips of equal samples share a file.
    """

    def __init__(self, folder: Path, form: str, *, shared: bool = True) -> None:
        self._folder, self._form, self._shared = folder, form, shared
        self._packed: list[Packed] = []
        self._taken: set[str] = set()
        self._by_original: dict[Path, tuple[str, str]] = {}
        self._by_samples: dict[str, Packed] = {}

    @property
    def packed(self) -> tuple[Packed, ...]:
        return tuple(self._packed)

    def pack(self, original: Path, system: str, sample: str) -> tuple[str, str]:
        """Absolute path of the packed sound, where it would be if it cannot be packed; and why it cannot.

        Args:
            system, sample: What the file is to be called by, unless the sound has a file already.
        """
        if not self._shared:
            return self._encode(original, system, sample)
        if original not in self._by_original:
            self._by_original[original] = self._encode(original, system, sample)
        return self._by_original[original]

    def _encode(self, original: Path, system: str, sample: str) -> tuple[str, str]:
        try:
            clip = audio.read(original)
        except UnusableAudio as fault:
            return str(self._folder / self._free(system, sample)), str(fault)
        if self._shared and clip.pcm_hash in self._by_samples:
            return str(self._folder / self._by_samples[clip.pcm_hash].file), ""
        file = self._free(system, sample)
        path = self._folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            told = encode(path, clip, self._form)
        except NotEncoded as fault:
            return str(path), str(fault)
        packed = Packed(
            file=file,
            duration_s=clip.duration_s,
            rate_hz=clip.rate_hz,
            channels=int(clip.samples.shape[0]),
            longer_s=told.longer_s,
            louder_db=told.louder_db,
            sha256=file_hash(path),
            original_sha256=file_hash(original),
            original_pcm_sha256=clip.pcm_hash,
        )
        self._packed.append(packed)
        self._by_samples[clip.pcm_hash] = packed
        return str(path), ""

    def _free(self, system: str, sample: str) -> str:
        """A path that no other sound has, on any file system."""
        path = f"audio/{_file_name(system)}/{_file_name(sample)}"
        while path.casefold() in self._taken:
            path += "_"
        self._taken.add(path.casefold())
        return f"{path}.{self._form}"

    def notes(self) -> list[str]:
        """What encoding did to the clips, where it is worth telling."""
        notes = []
        longer = [one for one in self.packed if abs(one.longer_s) > LONGER_S]
        if longer:
            most = max(longer, key=lambda one: abs(one.longer_s))
            notes.append(
                f"The length of {len(longer)} clips changed by more than {1000 * LONGER_S:g} ms in encoding, "
                f"most that of {most.file}: {1000 * most.longer_s:+.0f} ms."
            )
        louder = [one for one in self.packed if abs(one.louder_db) > LOUDER_DB]
        if louder:
            most = max(louder, key=lambda one: abs(one.louder_db))
            notes.append(
                f"The level of {len(louder)} clips changed by more than {LOUDER_DB:g} dB in encoding, most "
                f"that of {most.file}: {most.louder_db:+.2f} dB."
            )
        return notes


def write_packed(path: Path, packed: Iterable[Packed], originals: bool) -> None:
    """One row a sound file, as CSV; with the hashes of the originals or without."""
    columns = [one.name for one in fields(Packed) if originals or not one.name.startswith("original_")]
    with path.open("w", encoding="utf-8", newline="") as file:
        write = csv_rows(file)
        write(columns)
        for one in packed:
            write([getattr(one, name) for name in columns])


def _file_name(name: str) -> str:
    """A name for a file: letters, digits and a few signs; others give way to a hash of the whole."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:80]
    if plain and plain in (name, name.replace(" ", "-")):
        return plain
    return f"{plain or 'clip'}-{hashlib.sha256(name.encode(errors='surrogateescape')).hexdigest()[:6]}"
