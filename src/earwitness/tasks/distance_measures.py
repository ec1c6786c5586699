"""Distances measured: which clips are held against which, and what becomes of them.

Conventions
-----------
The reference side of a set is the reference set where there is one. Else, and in a part whose clips have
references, it is a reference for every prompt (clip_id) that any set has: the one that counts for the set's
own clip, or the first where the set has no clip that could be used. So no set chooses its prompts. The
kernel of KAD is then as wide as the first references are apart, for all sets. Of several references the
nearest counts; if one of them cannot be used none does, as the nearest is not known. A reference of several
prompts counts once for each, as their clips do. Clips of one cluster stand or fall together, in both sets: a
clip and its reference are one cluster, and clusters that hold one sound are one. Frames are read from a file
when they are needed, so that memory holds one embedding a clip and a few covariances, whatever the number of
frames.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.backbones.base import Backbone
from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.tasks.distance_notes import notes
from earwitness.tasks.distance_numbers import Numbers, Side, alone, bandwidth, linked
from earwitness.tasks.distance_pairs import Held, compared
from earwitness.tasks.distance_sounds import Frames, Sound, heard, nearest
from earwitness.tasks.distances import (
    ALL,
    DRAWS,
    EXCHANGED,
    FLOOR,
    METRICS,
    REFERENCE,
    Compared,
    Coverage,
    Distance,
    Distances,
    Recipe,
)
from earwitness.tasks.tally import Drawn

NO_CLIP = "no clip could be used"


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
        baselines: Systems that are no contestants: which of the others is nearer is not asked of them.
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
        clips = [_clip(item, sounds) for item in items if item.audio in sounds]
        if not known or not clips:
            path, why = next(iter(unusable.items()))
            raise UserError(
                f"no clip of the {'sets' if known else 'reference'} can be used: {len(unusable)} have a "
                f"fault, the first {path}: {why}."
            )
        numbers = Numbers(backbone, frames, level, draws, seed)
        comparison = _Comparison(numbers, tuple(metrics), sounds, clips, items, given, seed)
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
        recipe = replace(recipe, policy=f"a sample of {limit} clips by name, seed {seed}, each whole")
    counts = Counter(item.system for item in items)
    used = {system: [clip for clip in clips if clip.item.system == system] for system in counts}
    matched = {clip.reference for clip in clips if clip.reference}
    coverage = [_coverage(REFERENCE, len(truths), known, sum(path in matched for path in truths))]
    for system, own in used.items():
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
    sets = {system: [clip.sound for clip in own] for system, own in used.items()}
    told = tuple(notes(coverage, comparison.reference_clips, known, sets, backbone.rate_hz, rows))
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


@dataclass(frozen=True, slots=True)
class _Clip:
    """A clip that is used, and the reference that counts for it if that can be used too."""

    item: Compared
    sound: Sound
    reference: Path | None

    @property
    def cluster(self) -> str:
        if self.item.cluster:
            return self.item.cluster
        return f"clip {self.item.clip_id}"


def _clip(item: Compared, sounds: Mapping[Path, Sound]) -> _Clip:
    usable = all(path in sounds for path in item.references)
    return _Clip(item, sounds[item.audio], nearest(item.audio, item.references) if usable else None)


def _coverage(name: str, clips: int, sounds: Sequence[Sound], paired: int) -> Coverage:
    lengths = [sound.duration_s for sound in sounds]
    if not lengths:
        return Coverage(name, clips, 0, 0, None, None, None)
    return Coverage(name, clips, len(lengths), paired, min(lengths), float(np.mean(lengths)), max(lengths))


def _side(clips: Sequence[_Clip]) -> Side:
    return Side(
        tuple(clip.sound for clip in clips),
        tuple(clip.cluster for clip in clips),
        tuple(str(clip.reference or "") for clip in clips),
    )


class _Comparison:
    """The numbers of all systems and parts, one after the other."""

    def __init__(
        self,
        numbers: Numbers,
        metrics: tuple[str, ...],
        sounds: Mapping[Path, Sound],
        clips: Sequence[_Clip],
        items: Sequence[Compared],
        given: tuple[Path, ...] | None,
        seed: int,
    ) -> None:
        self._numbers, self._metrics, self._seed = numbers, metrics, seed
        self._sounds, self._clips, self._given = sounds, clips, given
        self._parts = [*dict.fromkeys(item.part for item in items if item.part), ALL]
        self._systems = list(dict.fromkeys(item.system for item in items))
        self._prompts = {part: self._prompts_of(part, items) for part in self._parts}
        self._widths = {
            part: bandwidth([sounds[item.references[0]] for item in prompts.values()])
            for part, prompts in self._prompts.items()
        }

    @property
    def reference_clips(self) -> int:
        """How many references stand beside the whole of a set."""
        return len(self._reference(ALL, ()).sounds)

    def _prompts_of(self, part: str, items: Sequence[Compared]) -> dict[str, Compared]:
        """By clip_id one of the items of a part whose references can all be used, of whatever system."""
        found: dict[str, Compared] = {}
        for item in items:
            if (
                part in (ALL, item.part)
                and item.references
                and all(p in self._sounds for p in item.references)
            ):
                found.setdefault(item.clip_id, item)
        return found

    def _is_given(self, part: str) -> bool:
        """Whether the reference side of a part is the reference set."""
        return self._given is not None and (part == ALL or not self._prompts[part])

    def rows(self) -> Iterator[Distance]:
        """Of every system by part, then of the anchors."""
        for system in self._systems:
            own = [clip for clip in self._clips if clip.item.system == system]
            for part in self._parts:
                yield from self._of_set(system, part, self._in(part, own))
        for part in self._parts:
            yield from self._of_anchors(part, self._in(part, self._clips))

    def held(self, baselines: Collection[str]) -> dict[str, Held]:
        """Every system that has clips, baselines left out, as it is held against its reference."""
        found = {}
        for system in self._systems:
            clips = [clip for clip in self._clips if clip.item.system == system]
            if clips and system not in baselines:
                found[system] = Held(
                    _side(clips),
                    self._reference(ALL, clips),
                    tuple((clip.item.clip_id, clip.item.cluster) for clip in clips),
                    tuple(self._sounds[clip.reference] if clip.reference else None for clip in clips),
                    tuple(clip.item.caption for clip in clips),
                    None if self._is_given(ALL) else self._widths[ALL],
                )
        return found

    def _in(self, part: str, clips: Sequence[_Clip]) -> Sequence[_Clip]:
        return clips if part == ALL else [clip for clip in clips if clip.item.part == part]

    def _reference(self, part: str, clips: Sequence[_Clip]) -> Side:
        own = {clip.item.clip_id: clip for clip in clips if clip.reference}
        paired = {clip.reference: clip.cluster for clip in reversed(clips) if clip.reference}
        places: list[tuple[Path, str]] = []
        if self._is_given(part):
            for path in self._given or ():
                if path in self._sounds:
                    places.append((path, paired.get(path, self._sounds[path].pcm_hash)))
        else:
            for name, item in self._prompts[part].items():
                path = (own[name].reference if name in own else None) or item.references[0]
                places.append((path, paired.get(path) or item.cluster or f"clip {name}"))
        return Side(
            tuple(self._sounds[path] for path, _ in places),
            tuple(cluster for _, cluster in places),
            tuple(str(path) if path in paired else "" for path, _ in places),
        )

    def _of_set(self, system: str, part: str, clips: Sequence[_Clip]) -> Iterator[Distance]:
        row = Distance(system, part, "", None)
        reference = self._reference(part, clips)
        if not clips or not reference.sounds:
            why = f"{NO_CLIP} of {'the reference' if clips else 'this set'}"
            yield from (replace(row, metric=metric, reason=why) for metric in self._metrics)
            return
        side, reference = linked(_side(clips), reference)
        yield from self._between(row, side, reference, None if self._is_given(part) else self._widths[part])
        paired = [place for place, clip in enumerate(clips) if clip.reference]
        counterparts = [self._sounds[clip.reference] for clip in clips if clip.reference]
        told = [place for place, clip in enumerate(clips) if clip.item.caption.strip()]
        if "kl" in self._metrics:
            yield self._numbers.kl(replace(row, metric="kl"), side.of(paired), counterparts)
        if "is" in self._metrics:
            yield self._numbers.inception(replace(row, metric="is"), side)
        if "clap" in self._metrics:
            captions = [clips[place].item.caption for place in told]
            yield self._numbers.clap(replace(row, metric="clap"), side.of(told), captions)

    def _between(
        self, row: Distance, side: Side, reference: Side, width: float | None = None
    ) -> Iterator[Distance]:
        """What says how far two sets are apart.

        Args:
            width: Of the kernel; None for that of the reference.
        """
        found = []
        if "fad" in self._metrics:
            found.append(self._numbers.fad(replace(row, metric="fad"), side, reference))
        if "fd" in self._metrics:
            found.append(self._numbers.fd(replace(row, metric="fd"), side, reference))
        yield from found
        if "kad" in self._metrics or any(each.value is None for each in found):
            yield self._numbers.kad(replace(row, metric="kad"), side, reference, width)

    def _of_anchors(self, part: str, clips: Sequence[_Clip]) -> Iterator[Distance]:
        """Of the reference's different sounds, in an order drawn by seed."""
        (whole,) = linked(self._reference(part, ()))
        by_hash = {sound.pcm_hash: sound for sound in whole.sounds}
        order = np.random.default_rng(self._seed).permutation(len(by_hash))
        sounds = [by_hash[sorted(by_hash)[index]] for index in order]
        if len(sounds) > 1:
            half = len(sounds) // 2
            yield from self._between(
                Distance(FLOOR, part, "", None), alone(sounds[:half]), alone(sounds[half:])
            )
        if "is" in self._metrics and self._numbers.classifies and sounds:
            yield self._numbers.inception(Distance(REFERENCE, part, "is", None), whole)
        paired = any(clip.reference for clip in clips)
        if "kl" in self._metrics and self._numbers.classifies and paired and len(sounds) > 1:
            yield self._numbers.kl(Distance(EXCHANGED, part, "kl", None), alone(sounds), _moved(sounds))
        if "clap" in self._metrics and self._numbers.worded:
            captions = {
                self._sounds[clip.item.references[0]].pcm_hash: clip.item.caption
                for clip in clips
                if clip.reference and clip.item.caption.strip()
            }
            told = [sound for sound in sounds if sound.pcm_hash in captions]
            words = [captions[sound.pcm_hash] for sound in told]
            if told:
                yield self._numbers.clap(Distance(REFERENCE, part, "clap", None), alone(told), words)
            if len(told) > 1:
                moved = Distance(EXCHANGED, part, "clap", None)
                yield self._numbers.clap(moved, alone(told), _moved(words))


def _moved(each: Sequence[Any]) -> list[Any]:
    """Everyone has the next one's."""
    return [*each[1:], each[0]]
