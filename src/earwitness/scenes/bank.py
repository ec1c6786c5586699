"""Banks: clips of single sounds by label, from which scenes are built.

A bank is the user's own folder, or the built-in one, whose sounds are computed (see :mod:`.synth`) and
carry no licence.
"""

from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import UnusableAudio, UserError
from earwitness.manifest.table import near
from earwitness.scenes import corpora, synth
from earwitness.scenes.recordings import Recordings, recordings

CACHE_BYTES = 256 * 2**20
"""Most that decoded clips may take in one process."""


@dataclass(frozen=True, slots=True)
class Source:
    """One clip of one sound.

    Attributes:
        label: The class, as the bank names it.
        recording_id: Sources that share it come from one recording and must not be split over training
            and test.
        licence, author: As the bank states them; empty if it does not.
        path: The file; None for a built-in sound.
        seed: Seed of a built-in sound.
        name: The file's path within its bank, or ``builtin/<class>/<seed>``.
        recording_known: Whether the bank states the recording; if not, the clip counts as one of its own.
    """

    label: str
    recording_id: str
    licence: str = ""
    author: str = ""
    path: Path | None = None
    seed: int = 0
    name: str = ""
    recording_known: bool = True


@dataclass(frozen=True)
class Bank:
    """Sources by label, none of the labels empty.

    Attributes:
        left_out: Why clips of its folder are not among them -> how many.
    """

    sources: Mapping[str, tuple[Source, ...]]
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def losses(self) -> tuple[str, ...]:
        """What was left out of it, one sentence a reason."""
        return tuple(
            f"{count:,} of the bank's clips {'is' if count == 1 else 'are'} left out: {reason}."
            for reason, count in self.left_out.items()
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out of it, and whether its recordings are known."""
        return tuple(filter(None, (*self.losses, self.recordings.note)))

    @property
    def recordings(self) -> Recordings:
        """Whether it is known which clips come from one recording."""
        return recordings(self._all())

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

    def find(self, name: str, pcm_hash: str, rate_hz: int = synth.RATE_HZ) -> Source:
        """The source of that sound: the one of that name or, if the bank has none, any that holds it.

        Args:
            pcm_hash: :func:`earwitness.audio.pcm_hash` of the clip as decoded.
            rate_hz: At which it will be used: it is decoded here, and kept.

        Raises:
            UserError: If a file of that name holds another sound or cannot be read (without a look at the
                others, which may be thousands to decode), or if no source holds that sound.
        """
        named = self._by_name.get(name, ())
        for source in named:
            if decoded(source, rate_hz).pcm_hash == pcm_hash:
                return source
        if named:
            raise UserError(
                f"{named[0].path or name} holds another sound than when the scene was drawn.",
                "Put the old file back, or draw the scenes anew.",
            )
        for source in self._all():
            if _hash(source) == pcm_hash:
                return source
        raise UserError(
            f"The bank has no clip {name!r}, nor that sound under another name.",
            "Name the bank that the scene was drawn from.",
        )

    def relabelled(self, classes: Mapping[str, str]) -> "Bank":
        """The sources under other labels, those of one class together; labels not given are left out."""
        by_class: dict[str, list[Source]] = {}
        for label, sources in self.sources.items():
            if label in classes:
                renamed = (replace(source, label=classes[label]) for source in sources)
                by_class.setdefault(classes[label], []).extend(renamed)
        return _bank(by_class, self.left_out)

    def joined(self, other: "Bank") -> "Bank":
        """The sources of both, as to render scenes with an ambience from a folder of its own."""
        by_label = {label: list(sources) for label, sources in self.sources.items()}
        for label, sources in other.sources.items():
            by_label.setdefault(label, []).extend(sources)
        return _bank(by_label, Counter(self.left_out) + Counter(other.left_out))

    @classmethod
    def builtin(cls, per_class: int, seed: int = 0) -> "Bank":
        """``per_class`` computed sounds of every built-in class; another seed gives others (up to 10^6).

        Instances below 10^6 are in none of these banks: listeners may be tuned on them.
        """
        first = (seed + 1) * 1_000_000
        return cls(
            {
                name: tuple(
                    Source(name, f"{name}-{number}", seed=number, name=f"builtin/{name}/{number}")
                    for number in range(first, first + per_class)
                )
                for name in synth.CLASSES
            }
        )

    @classmethod
    def open(cls, folder: Path) -> "Bank":
        """A user's folder: with ``metadata.csv`` (or ``.jsonl``), a known corpus, or one sub-folder a label.

        The metadata has ``file_name`` (relative to the folder) and ``label``; optional ``recording_id``,
        ``licence`` and ``author``. Without ``recording_id`` every file counts as a recording of its own.
        The corpora are those of :mod:`.corpora`. Sound is decoded when it is used.

        Raises:
            UserError: If the folder is not there.
            InputFaults: Listing every label without sound, file that is missing or not within the folder, and
                fault of the table.
        """
        by_label: dict[str, list[Source]] = {}
        clips, left_out = corpora.listed(folder)
        for one in clips:
            path = folder / one.name
            source = Source(
                label=one.label,
                recording_id=one.recording_id,
                licence=one.licence,
                author=one.author,
                path=path,
                name=one.name,
                recording_known=one.recording_known,
            )
            by_label.setdefault(one.label, []).append(source)
        return _bank(by_label, left_out)

    @cached_property
    def _by_name(self) -> Mapping[str, tuple[Source, ...]]:
        found: dict[str, tuple[Source, ...]] = {}
        for source in self._all():
            found[source.name] = (*found.get(source.name, ()), source)
        return found

    def _all(self) -> Iterator[Source]:
        for sources in self.sources.values():
            yield from sources


def _bank(by_label: Mapping[str, list[Source]], left_out: Mapping[str, int]) -> Bank:
    return Bank({label: tuple(by_label[label]) for label in sorted(by_label)}, left_out)


@dataclass(frozen=True, slots=True)
class Decoded:
    """The sound of a source.

    Attributes:
        pcm_hash: As it lies in its bank.
        samples: (n,), mono at the rate asked for.
        warnings: Of :func:`earwitness.audio.read`.
    """

    pcm_hash: str
    samples: NDArray[np.float32]
    warnings: tuple[str, ...]


def decoded(source: Source, rate_hz: int) -> Decoded:
    """The sound of a source; the last ones used are kept, up to :data:`CACHE_BYTES`.

    Samples are read-only. A file that changed is decoded again.

    Raises:
        UserError: If a file cannot be used, naming it.
    """
    key = (*_identity(source), rate_hz)
    if (kept := _CACHE.get(key)) is not None:
        return kept
    clip = _read(source)
    samples = audio.mono(clip, rate_hz)
    samples.flags.writeable = False
    found = Decoded(clip.pcm_hash, samples, clip.warnings)
    _CACHE.put(key, found)
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
        return audio.mono(_computed(source, duration_s), rate_hz)
    samples = audio.mono(_read(source), rate_hz)
    if duration_s is not None and len(samples) > (n := round(duration_s * rate_hz)):
        fall = min(n, rate_hz // 20)
        samples = samples[:n].copy()
        samples[n - fall :] *= np.linspace(1, 0, fall, dtype=np.float32)
    return samples


def _read(source: Source) -> audio.Clip:
    if source.path is None:
        return _computed(source)
    try:
        return audio.read(source.path)
    except UnusableAudio as fault:
        raise UserError(
            f"{source.path} cannot be used: {fault.detail}.", "Take it out of the bank or replace it."
        ) from fault


def _computed(source: Source, duration_s: float | None = None) -> audio.Clip:
    """A built-in sound by its name, since its label may be another bank's word for it."""
    _, sound, seed = source.name.split("/")
    samples = synth.render(sound, int(seed), duration_s)[np.newaxis]
    return audio.Clip(samples, synth.RATE_HZ, audio.pcm_hash(samples, synth.RATE_HZ))


def _identity(source: Source) -> tuple[str, int, int]:
    """What tells a source from others and from its own earlier content."""
    if source.path is None:
        return (source.name, 0, 0)
    try:
        facts = source.path.stat()
    except OSError as fault:
        raise UserError(
            f"{source.path} cannot be used: {fault.strerror}.", "Put it back or name another bank."
        ) from fault
    return (str(source.path), facts.st_size, facts.st_mtime_ns)


def _hash(source: Source) -> str | None:
    """Of the sound as it lies in its bank; None if it cannot be decoded."""
    try:
        return _hash_of(source, _identity(source))
    except UserError:
        return None


@lru_cache(maxsize=1 << 16)
def _hash_of(source: Source, identity: tuple[str, int, int]) -> str:
    """``identity`` is part of the key, so that a changed file is decoded again."""
    return _read(source).pcm_hash


class _Cache:
    """The decoded clips used last, bounded in bytes."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, int, int, int], Decoded] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def get(self, key: tuple[str, int, int, int]) -> Decoded | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def put(self, key: tuple[str, int, int, int], clip: Decoded) -> None:
        with self._lock:
            if key not in self._kept:
                self._kept[key] = clip
                self._bytes += clip.samples.nbytes
            while self._bytes > CACHE_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].samples.nbytes


_CACHE = _Cache()
