"""Edit pairs: a clip and the same clip after one edit, known to the sample.

Conventions
-----------
``audio`` is the edited scene, ``source`` the one before. Both hold one or two sounds that the edit leaves
alone, in the same places, and both have the lower of the two gains that they would settle to: outside the
edited span the two clips are the same samples. The edits:

- ``add``: a sound appears;
- ``delete``: a sound is taken away;
- ``replace``: a sound of another class takes the place of one: same onset, same length, same level. The
  longer of the two slices is cut to the shorter one and its level measured anew; a slice that holds little
  sound in that part (more than :data:`QUIETER_DB` below the whole) is not taken.

Sounds do not overlap and are at least :data:`.material.GAP_S` apart; all classes of a pair can be told apart.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from earwitness.errors import UserError
from earwitness.manifest import SOURCE
from earwitness.manifest.table import near
from earwitness.scenes import placing
from earwitness.scenes.bank import Bank
from earwitness.scenes.classes import admissible_pairs
from earwitness.scenes.material import (
    GAP_S,
    Material,
    gather,
    generator,
    level,
    sentence,
    shortened,
)
from earwitness.scenes.order_pairs import REFERENCE
from earwitness.scenes.prompts import bare
from earwitness.scenes.recipe import MIX
from earwitness.scenes.render import settled
from earwitness.scenes.scene import Placed, Scene
from earwitness.scenes.slices import Slice

KINDS = ("add", "delete", "replace")
MIXED = "mixed"
"""All kinds in turn."""
QUIETER_DB = 6.0
MOST = 3
"""Most sounds of a clip; the fewest are 2 in the fuller clip of a pair."""

_TRIES = 200


@dataclass(frozen=True, slots=True)
class EditPairs:
    """A recipe (see :class:`.recipe.Recipe`) of edit pairs.

    Attributes:
        apart: Class -> those it can be told from.
        kinds: Taken in turn.
        samples: Length of a scene.
    """

    material: Material
    apart: Mapping[str, tuple[str, ...]]
    kinds: tuple[str, ...]
    pairs: int
    samples: int

    columns = (
        "system", "sample_id", "source_audio", "edited_audio", "source_caption", "target_caption",
        "instruction", "added", "removed", "edit_start_s", "edit_end_s", "edit_type",
    )  # fmt: skip

    @property
    def bank(self) -> Bank:
        """What scenes are rendered from."""
        return self.material.bank

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "family": "edit",
            "kinds": list(self.kinds),
            **self.material.settings,
            "duration_s": self.samples / self.material.rate_hz,
            "gap_s": GAP_S,
        }

    @property
    def card(self) -> str:
        notes = "".join(f"\n- {note}" for note in self.material.notes)
        kinds, rate = ", ".join(self.kinds), self.material.rate_hz
        return f"""# Edit pairs of sounds

{self.pairs:,} edits ({kinds}) of scenes made of {len(self.material.classes)} classes of sound. Each clip
lasts {self.samples / rate:g} s at {rate} Hz. `source/` holds the clips before the edit, `audio/` those after;
outside the edited span both are the same samples. A sound that replaces another has its onset, length and
level.

`metadata.csv` is a manifest: `earwitness judge edit DATA` judges these perfect edits themselves, which shows
what the listener makes of them. To judge a system, give it `source_audio` with `instruction` or the captions,
and list its clips as `edited_audio` under its own `system`.
{notes}
"""

    def keys(self) -> Sequence[str]:
        return [f"{number:06d}-{self.kinds[number % len(self.kinds)]}" for number in range(self.pairs)]

    def draw(self, key: str) -> Mapping[str, Scene]:
        kind = _kind(key)
        rng = generator(self.material.settings["seed"], key)
        names, pieces, edited, other = self._sounds(rng, replaced=kind == "replace")
        loud = [level(rng) for _ in pieces]
        gap = round(GAP_S * self.material.rate_hz)
        onsets = placing.apart(rng, [piece.length for piece in pieces], self.samples, gap)
        sounds = [
            placing.placed(name, piece, onset, db - piece.level_db)
            for name, piece, onset, db in zip(names, pieces, onsets, loud, strict=False)
        ]
        full = tuple(sounds)
        without = (*sounds[:edited], *sounds[edited + 1 :])
        if other is not None:
            new = placing.placed(names[-1], other, onsets[edited], loud[edited] - other.level_db)
            before, after = full, (*sounds[:edited], new, *sounds[edited + 1 :])
        else:
            before, after = (without, full) if kind == "add" else (full, without)
        source, target = (settled(self._scene(key, events), self.bank) for events in (before, after))
        gain_db = min(source.gain_db, target.gain_db)
        return {MIX: replace(target, gain_db=gain_db), SOURCE: replace(source, gain_db=gain_db)}

    def row(self, key: str, scenes: Mapping[str, Scene]) -> Mapping[str, str]:
        before, after = scenes[SOURCE], scenes[MIX]
        removed = [sound for sound in before.events if sound not in after.events]
        added = [sound for sound in after.events if sound not in before.events]
        old, new = (self._phrase(side[0]) if side else "" for side in (removed, added))
        span = (added or removed)[0]
        instruction = {
            "add": f"Add {new}.",
            "delete": f"Remove {old}.",
            "replace": f"Replace {old} with {new}.",
        }
        return {
            "system": REFERENCE,
            "sample_id": key,
            "source_audio": f"{SOURCE}/{key}.wav",
            "edited_audio": f"{MIX}/{key}.wav",
            "source_caption": before.prompt,
            "target_caption": after.prompt,
            "instruction": instruction[_kind(key)],
            "added": bare(new),
            "removed": bare(old),
            "edit_start_s": str(span.onset / before.rate_hz),
            "edit_end_s": str(span.end / before.rate_hz),
            "edit_type": _kind(key),
        }

    def _scene(self, key: str, events: tuple[Placed, ...]) -> Scene:
        return Scene(
            scene_id=key,
            family="edit",
            rate_hz=self.material.rate_hz,
            samples=self.samples,
            level=self.material.settings["measure"],
            gain_db=0.0,
            events=events,
            prompt=sentence([self._phrase(sound) for sound in sorted(events, key=lambda one: one.onset)]),
            seed=self.material.settings["seed"],
        )

    def _phrase(self, sound: Placed) -> str:
        return self.material.classes[sound.label].phrase

    def _sounds(
        self, rng: np.random.Generator, replaced: bool
    ) -> tuple[list[str], list[Slice], int, Slice | None]:
        """Classes and slices of the fuller clip in the order of time, which of them is edited, and what takes
        its place; the class of that is the last."""
        for _ in range(_TRIES):
            count = int(rng.integers(2, MOST + 1))
            names = _told_apart(rng, self.apart, count + replaced)
            pools = [self.material.slices[name] for name in names]
            pieces = [pool[int(rng.integers(len(pool)))] for pool in pools]
            edited = int(rng.integers(count))
            if not replaced:
                return names, pieces, edited, None
            alike = self._alike(pieces[edited], pieces.pop())
            if alike is not None:
                pieces[edited], other = alike
                return names, pieces, edited, other
        raise UserError(
            f"In {_TRIES} draws no slice could replace another: cut to the same length, one of the two was "
            f"always over {QUIETER_DB:g} dB quieter than before.",
            "Add clips of steadier sounds.",
        )

    def _alike(self, one: Slice, other: Slice) -> tuple[Slice, Slice] | None:
        """Both, the longer cut to the length of the shorter; None if too little sound is left in it."""
        length = min(one.length, other.length)
        measure = self.material.settings["measure"]
        try:
            cut = tuple(shortened(piece, length, self.material.rate_hz, measure) for piece in (one, other))
        except ValueError:  # the part has no level
            return None
        quieter = max(whole.level_db - part.level_db for whole, part in zip((one, other), cut, strict=True))
        return (cut[0], cut[1]) if quieter <= QUIETER_DB else None


def recipe(
    bank: Bank,
    *,
    pairs: int,
    kind: str = MIXED,
    seed: int = 0,
    split: str = "all",
    rate_hz: int = 16_000,
    duration_s: float = 10.0,
    classes: Path | None = None,
    measure: str = "lufs",
    known: frozenset[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> EditPairs:
    """Edit pairs of a bank's sounds; N pairs are the first N of every larger number.

    Args:
        pairs: How many.
        kind: ``add``, ``delete``, ``replace`` or ``mixed``.
        split: ``train``, ``test`` or ``all``.
        classes: The user's table of classes; see :func:`.material.gather` for what is taken without.
        measure: Of the levels, ``lufs`` or ``rms``.
        known: AudioSet labels that a listener claims to know: leave out classes that ask for none of them.

    Raises:
        UserError: If there are too few classes to tell apart, no such kind, or see
            :func:`.material.gather`.
        InputFaults: If the table of classes has faults.
    """
    if pairs < 1:
        raise UserError(f"pairs must be at least 1, not {pairs}.")
    if kind not in (*KINDS, MIXED):
        raise UserError(
            f"There is no kind of edit {kind!r}{near(kind, (*KINDS, MIXED))}.",
            f"Use {', '.join(KINDS)}, {MIXED}.",
        )
    material = gather(
        bank,
        seed=seed,
        duration_s=duration_s,
        sounds=MOST,
        split=split,
        rate_hz=rate_hz,
        measure=measure,
        own=classes,
        known=known,
        progress=progress,
    )
    apart: dict[str, tuple[str, ...]] = dict.fromkeys(material.classes, ())
    for one, other in admissible_pairs(material.classes.values()):
        apart[one.name] += (other.name,)
        apart[other.name] += (one.name,)
    kinds = KINDS if kind == MIXED else (kind,)
    _told_apart(generator(seed, "most"), apart, 4 if "replace" in kinds else 3)  # as many as any scene needs
    return EditPairs(material, apart, kinds, pairs, round(duration_s * rate_hz))


def _kind(key: str) -> str:
    return key.partition("-")[2]


def _told_apart(rng: np.random.Generator, apart: Mapping[str, tuple[str, ...]], count: int) -> list[str]:
    """Classes in random order of which every two can be told apart."""
    for _ in range(_TRIES):
        chosen: list[str] = []
        possible = list(apart)
        while possible and len(chosen) < count:
            chosen.append(possible[int(rng.integers(len(possible)))])
            possible = [name for name in possible if name in apart[chosen[-1]]]
        if len(chosen) == count:
            return chosen
    raise UserError(
        f"No {count} of the {len(apart)} classes ({', '.join(apart)}) can all be told apart.",
        "Add sounds of other classes.",
    )
