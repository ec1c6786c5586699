"""The numbers of all sets and parts: every set against its reference side, then the anchors.

Conventions
-----------
The reference side of a set is the reference set where there is one. Else, and in a part whose clips have
references, it is a reference for every prompt (clip_id) that any set has: the one that counts for the set's
own clip, or the first where the set has no clip that could be used. So no set chooses its prompts. The
kernel of KAD is then as wide as the first references are apart, for all sets. Of several references the
nearest counts; if one of them cannot be used none does, as the nearest is not known. A reference of several
prompts counts once for each, as their clips do. Clips of one cluster stand or fall together, in both sets: a
clip and its reference are one cluster, and clusters that hold one sound are one.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.tasks.distance_numbers import Numbers, Side, alone, bandwidth, linked
from earwitness.tasks.distance_pairs import Held
from earwitness.tasks.distance_sounds import Sound, nearest
from earwitness.tasks.distances import ALL, EXCHANGED, FLOOR, REFERENCE, Compared, Distance

NO_CLIP = "no clip could be used"


@dataclass(frozen=True, slots=True)
class Clip:
    """A clip that is used, and the reference that counts for it if that can be used too."""

    item: Compared
    sound: Sound
    reference: Path | None

    @property
    def cluster(self) -> str:
        if self.item.cluster:
            return self.item.cluster
        return f"clip {self.item.clip_id}"


def used(item: Compared, sounds: Mapping[Path, Sound]) -> Clip:
    usable = all(path in sounds for path in item.references)
    return Clip(item, sounds[item.audio], nearest(item.audio, item.references) if usable else None)


def _side(clips: Sequence[Clip]) -> Side:
    return Side(
        tuple(clip.sound for clip in clips),
        tuple(clip.cluster for clip in clips),
        tuple(str(clip.reference or "") for clip in clips),
    )


class Against:
    """The numbers of all systems and parts, one after the other."""

    def __init__(
        self,
        numbers: Numbers,
        metrics: tuple[str, ...],
        sounds: Mapping[Path, Sound],
        clips: Sequence[Clip],
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

    def _in(self, part: str, clips: Sequence[Clip]) -> Sequence[Clip]:
        return clips if part == ALL else [clip for clip in clips if clip.item.part == part]

    def _reference(self, part: str, clips: Sequence[Clip]) -> Side:
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

    def _of_set(self, system: str, part: str, clips: Sequence[Clip]) -> Iterator[Distance]:
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

    def _of_anchors(self, part: str, clips: Sequence[Clip]) -> Iterator[Distance]:
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
