"""The source clips of a set of edits: the same for every system, and the baselines made of them."""

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from earwitness import audio
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.ledger import StoredFile
from earwitness.ledger.keys import file_hash
from earwitness.manifest import Item, Manifest
from earwitness.manifest.table import listing
from earwitness.tasks.task import NOTHING_KEPT, Kept

IDENTITY, UNRELATED = "identity", "unrelated"
BASELINES = {
    IDENTITY: "returns the source clip unchanged",
    UNRELATED: "returns the source clip of another sample",
}
"""Systems that did no work, judged like the others; the names are theirs in every run of edits."""

CLUSTER = "all edits of one source clip"


def cluster(item: Item, source: StoredFile | None) -> str:
    """The cluster of an edit: the sound of its source, or its sample if that was not heard.

    Args:
        source: What the run's ledger knows of the source clip.
    """
    return (source.pcm_hash if source else None) or item.sample_id


def of_samples(items: Iterable[Item], kept: Kept = NOTHING_KEPT) -> dict[str, Path]:
    """One source clip by sample_id: of several copies the first that is there and could be read."""

    def unfit(path: Path) -> tuple[bool, bool]:
        return not os.path.isfile(path), path not in kept or kept[path].pcm_hash is None

    found: dict[str, list[Path]] = {}
    for item in items:
        found.setdefault(item.sample_id, []).append(_source(item))
    return {sample_id: min(paths, key=unfit) for sample_id, paths in found.items()}


def check_sources(manifest: Manifest, kept: Kept = NOTHING_KEPT) -> None:
    """Make sure that every system edited the same sound: systems with different sources cannot be compared.

    Two sources are the same sound if they are the same file, have the same bytes, or decode to the same
    samples (a wav file and its lossless copy). A source that cannot be read is left to the run, which
    says so of its items.

    Args:
        kept: What the run's ledger knows of files; it stands in for those that can no longer be read.

    Raises:
        InputFaults: Naming each sample whose systems have different sources, and which.
    """
    samples: dict[str, list[Item]] = {}
    for item in manifest.items:
        samples.setdefault(item.sample_id, []).append(item)
    faults = []
    for sample_id, items in samples.items():
        sounds = _sounds(items, kept)
        if len(sounds) > 1:
            told = "; ".join(
                f"{_source(group[0])} ({listing(item.system for item in group)})" for group in sounds
            )
            faults.append(f"sample {sample_id!r} has {len(sounds)} different source sounds: {told}")
    if faults:
        raise InputFaults(
            f"{manifest.source}: systems that edited different sources cannot be compared",
            faults,
            "Give every system the same source clip, or give different sources different sample_ids.",
        )


def with_baselines(manifest: Manifest, seed: int) -> Manifest:
    """The manifest with two systems more, ``identity`` and ``unrelated``, that have every sample.

    ``identity`` returns the source unchanged. ``unrelated`` returns the source of another sample, drawn
    by seed among the samples before it, and of another sound; so samples added at the end change nothing
    that was drawn before. The texts are those of the first row of a sample.

    Raises:
        UserError: If a system has one of these names, or all samples have the same sound.
    """
    taken = sorted({item.system for item in manifest.items} & BASELINES.keys())
    if taken:
        raise UserError(
            f"the manifest has a system {taken[0]!r}, which is the name of a baseline.",
            "Rename it, or leave the baselines out.",
        )
    firsts: dict[str, Item] = {}
    for item in manifest.items:
        firsts.setdefault(item.sample_id, item)
    samples = list(firsts.values())
    of_path = {path: _content(path) for path in dict.fromkeys(map(_source, samples))}
    sounds = [of_path[_source(item)] for item in samples]
    added = [replace(item, system=IDENTITY, audio=_source(item)) for item in samples]
    for index, item in enumerate(samples):
        other = _unrelated(sounds, index, seed, item.sample_id)
        if other is None:
            raise UserError(
                "every sample has the same source sound, so no clip is unrelated to another.",
                "Leave the baselines out, or give samples with different sources.",
            )
        added.append(replace(item, system=UNRELATED, audio=_source(samples[other])))
    return replace(manifest, items=(*manifest.items, *added))


def _sounds(items: Iterable[Item], kept: Kept) -> list[list[Item]]:
    """Items grouped by the sound of their source; those whose source cannot be read left out."""
    groups = _grouped([[item] for item in items], lambda item: str(_source(item).resolve()))
    if len(groups) > 1:
        groups = _grouped(groups, lambda item: _hash_of_bytes(_source(item), kept))
    if len(groups) > 1:
        groups = _grouped(groups, lambda item: _hash_of_samples(_source(item), kept))
    return groups


def _grouped(groups: list[list[Item]], key: Callable[[Item], str | None]) -> list[list[Item]]:
    """Groups with one key joined; groups without a key left out."""
    joined: dict[str, list[Item]] = {}
    for group in groups:
        name = key(group[0])
        if name is not None:
            joined.setdefault(name, []).extend(group)
    return list(joined.values())


def _hash_of_bytes(path: Path, kept: Kept = NOTHING_KEPT) -> str | None:
    try:
        return file_hash(path)
    except OSError:
        return kept[path].file_hash if path in kept else None


def _hash_of_samples(path: Path, kept: Kept = NOTHING_KEPT) -> str | None:
    try:
        return audio.read(path).pcm_hash
    except UnusableAudio:
        return kept[path].pcm_hash if path in kept else None


def _content(path: Path) -> str:
    """What tells one sound from another; of a file without any, its bytes, or else its path."""
    return _hash_of_samples(path) or _hash_of_bytes(path) or str(path)


def _unrelated(sounds: list[str], index: int, seed: int, sample_id: str) -> int | None:
    """Which sample's source stands in for a sample's own; None if all have the same sound."""
    before = [k for k in range(index) if sounds[k] != sounds[index]]
    if before:
        draw = hashlib.sha256(f"{seed} {UNRELATED} {sample_id}".encode()).digest()
        return before[int.from_bytes(draw[:8]) % len(before)]
    return next((k for k in range(index, len(sounds)) if sounds[k] != sounds[index]), None)


def _source(item: Item) -> Path:
    if item.source_audio is None:
        raise UserError(f"sample {item.sample_id!r} has no source clip.", "Add a column source_audio.")
    return item.source_audio
