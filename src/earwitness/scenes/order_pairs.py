"""Ordered pairs of real sounds: what the order task is tried on, with the truth known.

Conventions
-----------
A pair is two classes that can be told apart (see :func:`.classes.admissible_pairs`) in both orders, in the
same wording (see :func:`.prompts.order_prompts`). Both directions hold the same two slices at the same
levels, at least :data:`.material.GAP_S` apart; only the order and the onsets differ, so that nothing but the
order tells one from the other. Where more pairs are asked for than there are pairs of classes, each comes
again with other sounds, under ids that end in ``-2``, ``-3``, ...
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from earwitness.errors import UserError
from earwitness.scenes import placing
from earwitness.scenes.bank import Bank
from earwitness.scenes.classes import admissible_pairs
from earwitness.scenes.material import GAP_S, LEVELS_DB, Material, gather, generator, level
from earwitness.scenes.prompts import Prompt, order_prompts
from earwitness.scenes.recipe import MIX
from earwitness.scenes.render import settled
from earwitness.scenes.scene import Scene
from earwitness.scores import relations

REFERENCE = "reference"
"""Name of the system in the manifest: what a system that keeps every order would give."""


@dataclass(frozen=True, slots=True)
class OrderPairs:
    """A recipe (see :class:`.recipe.Recipe`) of ordered pairs.

    Attributes:
        asked: Key -> its prompt and its two classes in the order of time.
        samples: Length of a scene.
    """

    material: Material
    asked: Mapping[str, tuple[Prompt, str, str]]
    samples: int

    columns = ("system", "sample_id", "caption", "reversed_caption", "first", "second", "pair_id")

    @property
    def bank(self) -> Bank:
        """What scenes are rendered from."""
        return self.material.bank

    @property
    def settings(self) -> Mapping[str, Any]:
        seconds = self.samples / self.material.rate_hz
        return {"family": "order", **self.material.settings, "duration_s": seconds, "gap_s": GAP_S}

    @property
    def card(self) -> str:
        notes = "".join(f"\n- {note}" for note in self.material.notes)
        pairs, rate = len({prompt.pair_id for prompt, _, _ in self.asked.values()}), self.material.rate_hz
        levels = f"{LEVELS_DB[0]:g} to {LEVELS_DB[1]:g} {self._unit}"
        return f"""# Ordered pairs of sounds

{pairs:,} pairs of sounds of {len(self.material.classes)} classes, each in both orders, with captions that say
which comes first. Each clip lasts {self.samples / rate:g} s at {rate} Hz. Both directions of a pair hold the
same two recordings at the same levels ({levels}, drawn), at least {GAP_S:g} s apart.

`metadata.csv` is a manifest: `earwitness judge order DATA` judges these clips themselves, which shows how
well the listener hears order; `--prompts DATA/prompts.csv --outputs NAME=FOLDER` judges a system's clips.
{notes}
"""

    def keys(self) -> Sequence[str]:
        return list(self.asked)

    def draw(self, key: str) -> Mapping[str, Scene]:
        prompt, first, second = self.asked[key]
        rng = generator(self.material.settings["seed"], prompt.pair_id)
        names = sorted((first, second))  # the same draws for both directions
        gap = round(GAP_S * self.material.rate_hz)
        pools = [self.material.slices[name] for name in names]
        pieces = placing.fitting(rng, pools, self.samples, gap, self.material.rate_hz)
        gains = [level(rng) - piece.level_db for piece in pieces]
        lengths = [piece.length for piece in pieces]
        forward = placing.apart(rng, lengths, self.samples, gap)
        backward = placing.apart(rng, lengths[::-1], self.samples, gap)
        onsets = forward if names[0] == first else backward[::-1]
        one = Scene(
            scene_id=key,
            family="order",
            rate_hz=self.material.rate_hz,
            samples=self.samples,
            level=self.material.settings["measure"],
            gain_db=0.0,
            events=tuple(map(placing.placed, names, pieces, onsets, gains)),
            prompt=prompt.caption,
            seed=self.material.settings["seed"],
            expected=relations.in_order("before", first, second),
        )
        return {MIX: settled(one, self.bank)}

    def row(self, key: str, scenes: Mapping[str, Scene]) -> Mapping[str, str]:
        prompt, _, _ = self.asked[key]
        return {
            "system": REFERENCE,
            "sample_id": key,
            "caption": prompt.caption,
            "reversed_caption": prompt.reversed_caption,
            "first": prompt.first,
            "second": prompt.second,
            "pair_id": prompt.pair_id,
        }

    @property
    def _unit(self) -> str:
        return {"lufs": "LUFS", "rms": "dBFS"}[self.material.settings["measure"]]


def recipe(
    bank: Bank,
    *,
    pairs: int,
    seed: int = 0,
    split: str = "all",
    rate_hz: int = 16_000,
    duration_s: float = 10.0,
    classes: Path | None = None,
    measure: str = "lufs",
    known: frozenset[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> OrderPairs:
    """Ordered pairs of a bank's sounds; N pairs are the first N of every larger number.

    Args:
        pairs: How many; each gives two clips.
        split: ``train``, ``test`` or ``all``.
        classes: The user's table of classes; see :func:`.material.gather` for what is taken without.
        measure: Of the levels, ``lufs`` or ``rms``.
        known: AudioSet labels that a listener claims to know: leave out classes that ask for none of them.

    Raises:
        UserError: If there are no two classes to tell apart, or see :func:`.material.gather`.
        InputFaults: If the table of classes has faults.
    """
    if pairs < 1:
        raise UserError(f"pairs must be at least 1, not {pairs}.")
    material = gather(
        bank,
        seed=seed,
        duration_s=duration_s,
        sounds=2,
        split=split,
        rate_hz=rate_hz,
        measure=measure,
        own=classes,
        known=known,
        progress=progress,
    )
    sounds = list(material.classes.values())
    told = admissible_pairs(sounds)
    names = {f"{x.name}-then-{y.name}": (x.name, y.name) for a, b in told for x, y in ((a, b), (b, a))}
    asked: dict[str, tuple[Prompt, str, str]] = {}
    for turn in range(math.ceil(pairs / max(len(told), 1))):
        left = min(len(told), pairs - turn * len(told))
        suffix = f"-{turn + 1}" if turn else ""
        for prompt in order_prompts(classes=sounds, seed=seed + turn, pairs=left):
            named = replace(prompt, prompt_id=prompt.prompt_id + suffix, pair_id=prompt.pair_id + suffix)
            asked[named.prompt_id] = (named, *names[prompt.prompt_id])
    return OrderPairs(material, asked, round(duration_s * rate_hz))
