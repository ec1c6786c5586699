"""Distances measured: which clips are held against which, and what becomes of them.

Conventions
-----------
Every file is embedded once. Frames are read from a file when they are needed, so that memory holds one
embedding a clip and a few covariances, whatever the number of frames. What is held against what is told in
:mod:`earwitness.tasks.distance_rows`.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.backbones.base import Backbone
from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.tasks.distance_notes import notes
from earwitness.tasks.distance_numbers import Numbers
from earwitness.tasks.distance_pairs import compared
from earwitness.tasks.distance_rows import Against, used
from earwitness.tasks.distance_sounds import Frames, Sound, heard
from earwitness.tasks.distances import (
    DRAWS,
    METRICS,
    REFERENCE,
    Compared,
    Coverage,
    Distances,
    Recipe,
)
from earwitness.tasks.tally import Drawn


def measured(
    items: Sequence[Compared],
    reference: Sequence[Path] | None,
    backbone: Backbone,
    *,
    metrics: Sequence[str] = METRICS,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 0,
    limit: int | None = None,
    workers: int | None = None,
    engine: str = "local",
    progress: Callable[[int, int], None] | None = None,
    cache: bool = True,
    baselines: Collection[str] = (),
) -> Distances:
    """How far every system's clips are from the reference, as a whole and by part.

    Args:
        items: Clips of all systems, a clip_id at most once a system; those of part "" are in no part.
        reference: The reference set, a clip as often as it is to count; None for the references of the items.
        metrics: Keys of METRICS. Where a Fréchet distance is refused, KAD is measured too.
        level: Confidence level of the intervals.
        draws: Bootstrap samples for the means (KL, CLAP).
        baselines: Systems that are no contestants: whether they are nearer than others is not asked, and the
            notes do not tell what is unusual in their sounds.
        seed: Of the halves, of unrelated pairs, of the bootstrap and of ``limit``.
        limit: Take a sample of so many clip_ids, the same for every system, and their references.
        workers, engine, cache: As in backbones.embedding.embedded.
        progress: Called with the files embedded and how many there are.

    Raises:
        UserError: If a metric is not known, there is nothing to compare, or no clip of the reference or none
            of the systems can be used.
        ValueError: If a system has a clip_id twice.
    """
    check_metrics(metrics)
    if twice := [name for name, n in Counter((i.system, i.clip_id) for i in items).items() if n > 1]:
        raise ValueError(f"the clip {twice[0][1]!r} of {twice[0][0]!r} is listed twice")
    if limit is not None:
        items, reference = limited(items, reference, limit, seed)
    given = None if reference is None else tuple(reference)
    there = set(given or ())
    asked = dict.fromkeys((item.clip_id, path) for item in items for path in item.references)
    truths = (*(given or ()), *(path for _, path in asked if path not in there))
    if not items or not truths:
        raise UserError(f"there is nothing to compare: no {'reference clip' if items else 'clip'} is given.")
    files = [*truths, *(item.audio for item in items)]
    how: dict[str, Any] = {"workers": workers, "engine": engine, "progress": progress, "cache": cache}
    with Frames(backbone.width) as frames:
        sounds, unusable = heard(files, backbone, frames if "fad" in metrics else None, **how)
        known = [sounds[path] for path in truths if path in sounds]
        clips = [used(item, sounds) for item in items if item.audio in sounds]
        if not known or not clips:
            path, why = next(iter(unusable.items()))
            raise UserError(
                f"no clip of the {'sets' if known else 'reference'} can be used: {len(unusable)} have a "
                f"fault, the first {path}: {why}."
            )
        numbers = Numbers(backbone, frames, level, draws, seed)
        comparison = Against(numbers, tuple(metrics), sounds, clips, items, given, seed)
        rows = tuple(comparison.rows())
        pairs = compared(comparison.held(baselines), rows, numbers, Drawn(level, draws, seed))
    hashes = sorted(sound.pcm_hash for sound in known)
    recipe = Recipe(
        backbone.name,
        backbone.version,
        dict(backbone.settings),
        hashlib.sha256("\n".join(hashes).encode()).hexdigest(),
        len(known),
        pairing=_pairing(items, given),
        captions=_captions(items) if numbers.worded and "clap" in metrics else "",
        seed=seed,
        draws=draws,
    )
    if limit is not None:
        recipe = replace(
            recipe, policy=f"a sample of {limit} clip{'s' * (limit != 1)} by name, seed {seed}, each whole"
        )
    counts = Counter(item.system for item in items)
    taken = {system: [clip for clip in clips if clip.item.system == system] for system in counts}
    matched = {clip.reference for clip in clips if clip.reference}
    coverage = [_coverage(REFERENCE, len(truths), known, sum(path in matched for path in truths))]
    for system, own in taken.items():
        paired = sum(clip.reference is not None for clip in own)
        coverage.append(_coverage(system, counts[system], [clip.sound for clip in own], paired))
    sought = dict.fromkeys([*((REFERENCE, p) for p in truths), *((i.system, i.audio) for i in items)])
    left_out = [(name, str(path), unusable[path]) for name, path in sought if path in unusable]
    left_out += [
        (
            clip.item.system,
            str(clip.item.audio),
            f"not paired: {gone.name} cannot be used, so which of its references is nearer is not known",
        )
        for clip in clips
        if len(clip.item.references) > 1
        for gone in [path for path in clip.item.references if path in unusable][:1]
    ]
    sets = {system: [clip.sound for clip in own] for system, own in taken.items()}
    size = comparison.reference_clips
    told = tuple(notes(coverage, size, known, sets, backbone.rate_hz, rows, baselines))
    return Distances(recipe, rows, tuple(coverage), tuple(left_out), level, told, pairs)


def _pairing(items: Sequence[Compared], given: Sequence[Path] | None) -> str:
    """How clips are held against single references, in words."""
    if not any(item.references for item in items):
        return "none"
    return "own references, of several the nearest" if given is None else "counterparts of the same name"


def _captions(items: Sequence[Compared]) -> str:
    """A hash over the captions and whose they are; empty if there are none."""
    told = sorted({(item.clip_id, item.caption) for item in items if item.caption.strip()})
    return hashlib.sha256(json.dumps(told, ensure_ascii=False).encode()).hexdigest() if told else ""


def check_metrics(metrics: Sequence[str]) -> None:
    """Make sure that there are metrics and that all of them are known.

    Raises:
        UserError: Naming the first that is not, and the nearest that is.
    """
    unknown = [name for name in metrics if name not in METRICS]
    if unknown or not metrics:
        what = f"{unknown[0]!r}{near(unknown[0].casefold(), METRICS)}" if unknown else "''"
        raise UserError(f"there is no metric {what}.", f"Known: {', '.join(METRICS)}.")


def limited(
    items: Sequence[Compared], reference: Sequence[Path] | None, limit: int, seed: int
) -> tuple[list[Compared], list[Path] | None]:
    """The items of ``limit`` clip_ids and as many reference clips, counterparts first.

    A name's place in the draw is a hash of the seed and the name, so that a smaller sample lies within a
    larger one. Names that have a reference and that every system has are drawn first.

    Raises:
        UserError: If ``limit`` is below 1.
    """
    if limit < 1:
        raise UserError(f"the limit must be at least 1, not {limit}.")
    systems = {item.system for item in items}
    carried = Counter(item.clip_id for item in items)
    paired = {item.clip_id for item in items if item.references}

    def place(name: str) -> bytes:
        return hashlib.sha256(f"{seed} {name}".encode()).digest()

    def rank(name: str) -> tuple[bool, bool, bytes]:
        return name not in paired, carried[name] < len(systems), place(name)

    names = set(sorted(carried, key=rank)[:limit])
    kept = [item for item in items if item.clip_id in names]
    if reference is None:
        return kept, None
    wanted = {path for item in kept for path in item.references}
    drawn = sorted(reference, key=lambda path: (path not in wanted, place(path.stem), str(path)))
    taken = set(drawn[: max(limit, len(wanted.intersection(reference)))])
    return kept, [path for path in reference if path in taken]


def _coverage(name: str, clips: int, sounds: Sequence[Sound], paired: int) -> Coverage:
    lengths = [sound.duration_s for sound in sounds]
    if not lengths:
        return Coverage(name, clips, 0, 0, None, None, None)
    mean_s = float(np.mean(lengths))
    still = float(np.mean([sound.digital_silence for sound in sounds]))
    return Coverage(name, clips, len(lengths), paired, min(lengths), mean_s, max(lengths), still)
