"""Scene to samples.

Conventions
-----------
Everything is mono at the scene's rate. Every stem lies on the 16-bit grid: its samples, after all gains
(in float64), are rounded to k / 2^15. The mix is the sum of the stems, exactly; so what is written as
16-bit files adds up too, bit for bit. Nothing is clipped: a scene that does not fit is refused.
An ambience shorter than its scene is repeated, each end faded into the next beginning over
:data:`CROSSFADE_S` with equal power.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import UserError
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.scene import Placed, Scene
from earwitness.scenes.slices import ramps

PEAK = 0.9
"""A scene whose sum exceeds it is turned down to it."""
CROSSFADE_S = 0.5
_SHORTEST_LOOP_S = audio.MIN_S / 2  # no clip is shorter; the end of one, repeated, takes for ever

_STEPS = 1 << 15
_STEP = np.float32(1 / _STEPS)  # a power of two: multiplying by it loses nothing


@dataclass(frozen=True, slots=True)
class Rendered:
    """A scene's samples.

    Attributes:
        mix: (n,) float32, the exact sum of the stems.
        stems: One (n,) float32 a sound, in the order of ``scene.sounds``.
    """

    mix: NDArray[np.float32]
    stems: tuple[NDArray[np.float32], ...]


def render(scene: Scene, bank: Bank) -> Rendered:
    """The mix and its stems. The same scene and bank give the same samples.

    Raises:
        UserError: If the bank lacks a sound or a file's content changed, naming it.
        ValueError: If a stem or the mix exceeds full scale; :func:`settled` chooses a gain so that none does.
    """
    parts = [_steps(sound, scene, bank) for sound in scene.sounds]
    stems = []
    for sound, part in zip(scene.sounds, parts, strict=True):
        stem = np.zeros(scene.samples, np.float32)
        np.multiply(part, _STEP, out=stem[sound.onset : sound.end])
        stems.append(stem)
    return Rendered(_sum(scene, parts), tuple(stems))


def mix(scene: Scene, bank: Bank) -> NDArray[np.float32]:
    """The mix alone, (n,) float32: the same samples as :func:`render` gives, without full-length stems.

    Raises:
        UserError, ValueError: As :func:`render` does.
    """
    return _sum(scene, (_steps(sound, scene, bank) for sound in scene.sounds))


def settled(scene: Scene, bank: Bank) -> Scene:
    """The scene with its gain chosen: 0 dB, or less so that the mix peaks at :data:`PEAK` and no stem clips.

    Raises:
        UserError: If the bank lacks a sound, or an event would be lost below one step of 16 bits, naming it.
    """
    parts = [_sound(sound, scene.rate_hz, bank) for sound in scene.sounds]
    gains = [_factor(sound.gain_db) for sound in scene.sounds]
    peaks = [_peak(part) * gain for part, gain in zip(parts, gains, strict=True)]
    highest = PEAK - len(peaks) / 2 / _STEPS  # each stem is off by up to half a step
    top = sum(peaks)
    if top > highest:  # then it matters where they lie
        total = np.zeros(scene.samples)
        for sound, part, gain in zip(scene.sounds, parts, gains, strict=True):
            total[sound.onset : sound.end] += part * gain
        top = _peak(total)
    limits = ((top, highest), *((peak, 1 - 2 / _STEPS) for peak in peaks))
    factor = min((limit / peak for peak, limit in limits if peak > limit), default=1.0)
    for sound, peak in zip(scene.events, peaks, strict=False):
        if peak * factor * _STEPS < 1:
            raise UserError(
                f"Scene {scene.scene_id!r}: {sound.label!r} is lost in 16 bits, {_decibels(peak * factor)} "
                f"at its peak ({sound.gain_db:.1f} dB on the clip, {_decibels(factor)} on the scene).",
                "Draw its level nearer to that of the other sounds.",
            )
    return replace(scene, gain_db=20 * math.log10(factor) if factor < 1 else 0.0)


def looped(samples: NDArray[np.float32], length: int, rate_hz: int) -> NDArray[np.float64]:
    """A sound repeated until it fills ``length`` samples, its ends cross-faded; cut if it is longer."""
    if len(samples) >= length:
        return samples[:length].astype(np.float64)
    cross = min(round(CROSSFADE_S * rate_hz), len(samples) // 2)
    period = len(samples) - cross
    rise = np.sin(np.pi / 2 * (np.arange(cross) + 0.5) / max(cross, 1))
    once = samples.astype(np.float64)
    once[:cross] *= rise
    once[period:] *= rise[::-1]
    out = np.zeros(length + len(samples))
    for at in range(0, length, period):
        out[at : at + len(once)] += once
    out[:cross] = samples[:cross]  # nothing comes before the first
    return out[:length]


def _steps(sound: Placed, scene: Scene, bank: Bank) -> NDArray[np.float32]:
    """A sound as whole steps of the 16-bit grid, (length,); float32 holds them, and their sums, exactly."""
    part = _sound(sound, scene.rate_hz, bank)
    part *= _STEPS * _factor(sound.gain_db + scene.gain_db)
    steps = np.rint(part, out=part).astype(np.float32)
    _check(steps, f"{sound.label!r} in scene {scene.scene_id!r}")
    return steps


def _sum(scene: Scene, parts: Iterable[NDArray[np.float32]]) -> NDArray[np.float32]:
    out = np.zeros(scene.samples, np.float32)
    for sound, part in zip(scene.sounds, parts, strict=True):
        out[sound.onset : sound.end] += part
    _check(out, f"the mix of scene {scene.scene_id!r}")
    out *= _STEP
    return out


def _sound(sound: Placed, rate_hz: int, bank: Bank) -> NDArray[np.float64]:
    """The part of its clip that a sound is, faded, before any gain: (length,)."""
    source = bank.find(sound.name, sound.source, rate_hz)
    samples = decoded(source, rate_hz).samples[sound.start :]
    if sound.looped and len(samples) >= _SHORTEST_LOOP_S * rate_hz:
        part = looped(samples, sound.length, rate_hz)
    elif len(samples) >= sound.length:
        part = samples[: sound.length].astype(np.float64)
    else:
        raise UserError(
            f"{sound.name} has {len(samples)} samples from {sound.start} on; {sound.label!r} takes "
            f"{sound.length}.",
            "The scene file was changed, or is of another version.",
        )
    if sound.fade:
        rise = ramps(2 * sound.fade, sound.fade)
        part[: sound.fade] *= rise[: sound.fade]
        part[-sound.fade :] *= rise[sound.fade :]
    return part


def _factor(gain_db: float) -> float:
    return float(10 ** (gain_db / 20))


def _decibels(factor: float) -> str:
    return f"{20 * math.log10(factor):.1f} dB" if factor > 0 else "silent"


def _peak(samples: NDArray[np.float64]) -> float:
    return float(max(samples.max(), -samples.min()))


def _check(steps: NDArray[np.float32], what: str) -> None:
    low, high = float(steps.min()), float(steps.max())
    if low < -_STEPS or high > _STEPS - 1:
        raise ValueError(f"{what} peaks at {max(-low, high) / _STEPS:.4f} and would be clipped")
