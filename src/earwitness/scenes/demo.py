"""Three made-up systems whose Temporal-Order Accuracy is known, because it is planted by exact counts.

Each system "answers" the same prompts with two built-in sounds, one after the other over a faint noise
floor. One keeps the stated order, one reverses half of its clips, one leaves an event out of a third.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from earwitness import audio
from earwitness.scenes import bank, synth
from earwitness.scenes.prompts import Prompt, order_prompts, write_csv

CLASSES = (
    "applause", "baby_cry", "bird", "car_horn", "cat_meow", "dog_bark", "sheep", "siren",
    "telephone", "whistle",
)  # fmt: skip
"""Built-in sounds that the embedded listener claims to know (tests/test_demo_scenes.py holds it to that)."""
DURATION_S = 8.0
FLOOR_DBFS = -60.0
RATE_HZ = synth.RATE_HZ

_KEEPS, _REVERSES, _DROPS = "keeps-order", "reverses-half", "drops-a-third"
FAULTY: dict[str, Fraction] = {_KEEPS: Fraction(0), _REVERSES: Fraction(1, 2), _DROPS: Fraction(1, 3)}
"""Each system's share of clips with its fault; its true TOA is the rest."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A sound in a clip; the gain is relative to the level the sound is rendered at."""

    source: bank.Source
    onset_s: float
    duration_s: float
    gain_db: float


@dataclass(frozen=True, slots=True)
class DemoClip:
    """One clip of one system: what is in it, in order of onset. ``faulty`` if the fault was planted."""

    system: str
    prompt_id: str
    placed: tuple[Placed, ...]
    faulty: bool
    floor_seed: int


def render_demo(folder: Path, *, seed: int = 0, prompts: int = 36) -> dict[str, float]:
    """Write ``prompts.csv`` and ``outputs/<system>/<prompt_id>.wav`` (16 kHz, 8 s) into ``folder``.

    Args:
        prompts: How many; a multiple of 6, so that halves and thirds are exact, both directions of a
            pair counting as two.

    Returns:
        The planted TOA of each system.

    Raises:
        UserError, ValueError: If there is no such number of prompts.
    """
    asked, clips = plan_demo(seed, prompts)
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "prompts.csv", asked)
    for clip in clips:
        path = folder / "outputs" / clip.system / f"{clip.prompt_id}.wav"
        path.parent.mkdir(parents=True, exist_ok=True)
        audio.write_wav(path, render(clip), RATE_HZ)
    return {system: float(1 - share) for system, share in FAULTY.items()}


def plan_demo(seed: int, prompts: int) -> tuple[list[Prompt], list[DemoClip]]:
    """The prompts, and what every system answers to each."""
    if prompts < 6 or prompts % 6:
        raise ValueError(f"prompts must be a multiple of 6, not {prompts}")
    asked = order_prompts(classes=[synth.CLASSES[name] for name in CLASSES], seed=seed, pairs=prompts // 2)
    clips = []
    sounds = bank.Bank.builtin(per_class=1000, seed=seed)
    for number, (system, share) in enumerate(FAULTY.items()):
        rng = np.random.default_rng([seed, number])
        faulty = set(rng.permutation(prompts)[: int(share * prompts)].tolist())
        for index, prompt in enumerate(asked):
            names = prompt.prompt_id.split("-then-")
            if index in faulty:
                names = _FAULTS[system](names, rng)
            placed = _placed(sounds, names, rng)
            clips.append(
                DemoClip(system, prompt.prompt_id, placed, index in faulty, int(rng.integers(2**31)))
            )
    return asked, clips


def _reversed(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return list(names[::-1])


def _one_missing(names: Sequence[str], rng: np.random.Generator) -> list[str]:
    return [names[int(rng.integers(len(names)))]]


_FAULTS: dict[str, Callable[[Sequence[str], np.random.Generator], list[str]]] = {
    _REVERSES: _reversed,
    _DROPS: _one_missing,
}


def _placed(sounds: bank.Bank, names: Sequence[str], rng: np.random.Generator) -> tuple[Placed, ...]:
    """The sounds one after another, with 0.8 to 1.4 s of quiet between them."""
    placed = []
    at = rng.uniform(0.4, 1.0)
    for name in names:
        sources = sounds.of(name)
        length = rng.uniform(1.8, 2.4)
        placed.append(Placed(sources[int(rng.integers(len(sources)))], at, length, rng.uniform(-9, 0)))
        at += length + rng.uniform(0.8, 1.4)
    return tuple(placed)


def render(clip: DemoClip) -> audio.Samples:
    """The clip's samples, (1, n) float32 at :data:`RATE_HZ`; peak below 1."""
    rng = np.random.default_rng(clip.floor_seed)
    out = rng.standard_normal(round(DURATION_S * RATE_HZ)) * 10 ** (FLOOR_DBFS / 20)
    for placed in clip.placed:
        sound = bank.clip(placed.source, RATE_HZ, placed.duration_s) * 10 ** (placed.gain_db / 20)
        start = round(placed.onset_s * RATE_HZ)
        out[start : start + len(sound)] += sound
    return out[np.newaxis].astype(np.float32)
