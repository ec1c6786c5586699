"""Embeddings of many files: read, embedded, kept, in the order asked for.

Conventions
-----------
A clip is the mean of its channels at the backbone's rate. What nobody can hear (unreadable, empty, too short,
NaN samples) comes back as the :class:`~earwitness.errors.UnusableAudio` it raised: nothing takes its place.

The cache is ``embeddings/<backbone>/<two letters>/<sound>.npz`` in the cache folder. ``<backbone>`` is a
hash of its name, version and settings, ``<sound>`` the hash of the decoded samples, so a file that changed,
or another backbone, finds nothing that is not its own. What is found there is what was computed, bit by
bit: a file ends with a hash of itself, and one that is damaged in any way, or is not of this backbone, is
made anew.
"""

import hashlib
import io
import json
import logging
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from earwitness import audio, weights
from earwitness.backbones.base import Backbone, Embedding
from earwitness.errors import UnusableAudio, UserError
from earwitness.files import whole
from earwitness.workers import parts

log = logging.getLogger(__name__)

_DIGEST = hashlib.sha256().digest_size
_PAYS = 64  # files for which another process is worth its start


@dataclass(frozen=True, slots=True)
class Embedded:
    """A clip that could be embedded.

    Attributes:
        pcm_hash: Of the decoded sound (audio.pcm_hash).
        duration_s: Its length.
        silent: Whether nothing in it is audible (audio.read says so).
        digital_silence: Share of its time, see audio.digital_silence. As every clip is decoded for its hash,
            this is no part of the cache.
        rate_hz: Rate of the file.
    """

    embedding: Embedding
    pcm_hash: str
    duration_s: float
    silent: bool
    digital_silence: float
    rate_hz: int


def embedded(
    files: Sequence[Path],
    backbone: Backbone,
    *,
    workers: int | None = None,
    engine: str = "local",
    progress: Callable[[int, int], object] | None = None,
    cache: bool = True,
) -> Iterator[tuple[int, Embedded | UnusableAudio]]:
    """(index, result) of every file, in the order of ``files``; few are in memory at a time.

    The results do not depend on ``workers``, ``engine``, ``cache`` or on what other files there are.

    Args:
        workers: Processes; by default one a core, or fewer for few files.
        engine: Where they run (workers.ENGINES); the nodes of a cluster must share the files.
        progress: Called with the number of files done and of all files after each.
        cache: Keep embeddings in the cache folder, and take them from there.

    Raises:
        UserError: If the weights cannot be had or give numbers that are not finite, the cache folder cannot
            be written, a worker died, or one does not see a file.
    """
    if workers is not None and workers < 1:
        raise UserError(f"workers must be at least 1, not {workers}.")
    if workers is None and engine == "local":
        workers = min(len(os.sched_getaffinity(0)), max(1, len(files) // _PAYS))
    if workers != 1:
        backbone.ready()  # once, before several processes need the weights
    work = _Work(backbone, cache_for(backbone) if cache else None)
    done = 0
    for part in parts(work, files, workers, engine):
        for result in part:
            if engine == "ray" and not isinstance(result, Embedded) and result[0] == "unreadable":
                _check_seen(files[done])
            yield done, result if isinstance(result, Embedded) else UnusableAudio(*result)
            done += 1
            if progress:
                progress(done, len(files))


def _check_seen(path: Path) -> None:
    """A file that a worker could not use is one that nobody can: on another machine it may not be there."""
    try:
        audio.read(path)
    except UnusableAudio:
        return
    raise UserError(f"{path} cannot be read on a worker's machine.", "All nodes must share the clips.")


def cache_for(backbone: Backbone) -> Path:
    """The folder that holds the embeddings of this very backbone, whether or not it is there yet."""
    stated = {"name": backbone.name, "version": backbone.version, "settings": dict(backbone.settings)}
    text = json.dumps(stated, sort_keys=True, ensure_ascii=False)
    return weights.cache_folder() / "embeddings" / hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class _Work:
    """What a worker does: files to results; an unusable one as reason and detail, which can be pickled."""

    backbone: Backbone
    cache: Path | None

    def __call__(self, files: Sequence[Path]) -> list[Embedded | tuple[str, str]]:
        return [self._of(path) for path in files]

    def _of(self, path: Path) -> Embedded | tuple[str, str]:
        try:
            clip = audio.read(path)
            kept = self.cache / clip.pcm_hash[:2] / f"{clip.pcm_hash}.npz" if self.cache else None
            found = _load(kept, self.backbone) if kept else None
            if found is None:
                found = self.backbone.embed(audio.mono(clip, self.backbone.rate_hz))
                if kept:
                    _keep(kept, found)
        except UnusableAudio as fault:
            return fault.reason, fault.detail
        silent = audio.SILENT in clip.warnings
        still = audio.digital_silence(clip.samples, clip.rate_hz)
        return Embedded(found, clip.pcm_hash, clip.duration_s, silent, still, clip.rate_hz)


def _load(path: Path, backbone: Backbone) -> Embedding | None:
    """What is kept there; None if there is nothing, or nothing whole of this backbone."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as fault:
        log.warning("%s cannot be read and is made anew: %s", path, fault)
        return None
    archive, digest = data[:-_DIGEST], data[-_DIGEST:]
    if hashlib.sha256(archive).digest() != digest:  # so that numpy never reads what is damaged
        log.warning("%s is damaged and is made anew", path)
        return None
    with np.load(io.BytesIO(archive), allow_pickle=False) as arrays:
        found = Embedding(arrays["frames"], arrays["clip"], arrays.get("logits"))
    if wrong := _fault(found, backbone):
        log.warning("%s is damaged and is made anew: %s", path, wrong)
        return None
    return found


def _fault(embedding: Embedding, backbone: Backbone) -> str:
    """Why a backbone cannot have made this; empty if it can."""
    if (embedding.logits is None) != (not backbone.classes):
        return "logits are missing, or too many"
    for name, array, shape in (
        ("frames", embedding.frames, (len(embedding.frames), backbone.width)),
        ("clip", embedding.clip, (embedding.clip.size,)),
        ("logits", embedding.logits, (len(backbone.classes),)),
    ):
        if array is None:
            continue
        if array.dtype != np.float32 or array.shape != shape or not array.size:
            return f"{name} are {array.dtype} of shape {array.shape}, not float32 of {shape}"
        if not np.isfinite(array).all():
            return f"{name} are not finite"
    return ""


def _keep(path: Path, embedding: Embedding) -> None:
    arrays: dict[str, Any] = {"frames": embedding.frames, "clip": embedding.clip}
    if embedding.logits is not None:
        arrays["logits"] = embedding.logits
    archive = io.BytesIO()
    np.savez(archive, **arrays)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path, token_hex(8)) as part:
            part.write_bytes(archive.getvalue() + hashlib.sha256(archive.getvalue()).digest())
    except OSError as fault:
        raise UserError(
            f"The cache folder {weights.cache_folder()} cannot be written: {fault}.",
            "Set EARWITNESS_CACHE to a folder you can write to.",
        ) from fault
