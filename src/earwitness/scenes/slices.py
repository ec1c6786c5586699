"""Slices: the pieces of a bank's clips that scenes are made of.

Conventions
-----------
A clip is made mono at the scene's rate and searched from its first to its last sample above
:data:`AUDIBLE_DB` below its peak. From there it is cut, front to back, into pieces that do not overlap;
each begins and ends with an audible sample and lasts ``shortest_s`` to ``longest_s`` seconds, so onset and
offset in the truth are where sound begins and ends. What is left over is not used.
Lengths are random, from the seed and the clip's content, so other clips change none of its slices.
A clip that is silent, whose channels cancel each other in the downmix, or that cannot be decoded is refused
by name; one that holds no such piece, or the same sound as an earlier clip of its label, is counted.
"""

import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from earwitness import audio
from earwitness.errors import InputFaults, UnusableAudio, UserError
from earwitness.scenes import levels
from earwitness.scenes.bank import Bank, Source, decoded

log = logging.getLogger(__name__)

AUDIBLE_DB = 40.0
PAUSE_DB = 26.0
"""What stays that far below a slice's peak is a pause: a listener may hear nothing there."""

_SILENT_PEAK = 1e-4  # -80 dBFS, below which audio.read calls a clip silent


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a source.

    Attributes:
        pcm_hash: Of the whole source, decoded as it is in its bank.
        start, length: Samples of the source, mono at the scene's rate.
        level_db: Level of the piece, faded as it will be, before any gain.
        fade: Samples of the ramps at its ends.
        pause: Samples of its longest pause, see :func:`longest_pause`.
    """

    source: Source
    pcm_hash: str
    start: int
    length: int
    level_db: float
    fade: int
    pause: int


Slices = Mapping[str, tuple[Slice, ...]]
"""Label -> its slices, in an order that depends on the bank's content alone."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A bank cut into slices.

    Attributes:
        left_out: Label -> reason -> how many of its clips gave no slice.
        refused: Name of each clip that nobody could hear -> why.
    """

    slices: Slices
    left_out: Mapping[str, Mapping[str, int]]
    refused: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Rule:
    rate_hz: int
    shortest: int
    longest: int
    fade: int
    measure: str
    seed: int


def cut(
    bank: Bank,
    *,
    rate_hz: int = 16_000,
    shortest_s: float = 1.0,
    longest_s: float = 5.0,
    fade_s: float = 0.01,
    measure: str = "lufs",
    seed: int = 0,
    leave_out_empty: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Cut:
    """Cut every clip of a bank.

    Args:
        rate_hz: Of the scenes.
        shortest_s, longest_s: Bounds of a slice in seconds, both included.
        fade_s: Of the linear ramps at its ends.
        measure: Of its level, see :mod:`.levels`.
        leave_out_empty: Leave a label without any slice out, instead of raising.
        progress: Called with clips done and clips in all.

    Raises:
        ValueError: If the lengths are not ``0 <= 2 fade_s <= shortest_s <= longest_s``, or there is no such
            measure.
        InputFaults: Listing every label without any slice, with the counts of its clips by reason.
    """
    if measure not in levels.MEASURES:
        raise ValueError(f"measure must be one of {', '.join(levels.MEASURES)}, not {measure!r}")
    shortest, longest, fade = (round(s * rate_hz) for s in (shortest_s, longest_s, fade_s))
    if not (0 < shortest <= longest and 0 <= 2 * fade <= shortest):
        raise ValueError(f"no slices of {shortest_s} to {longest_s} s with fades of {fade_s} s")
    rule = _Rule(rate_hz, shortest, longest, fade, measure, seed)
    sources = [source for label in bank.sources for source in bank.sources[label]]
    slices: dict[str, list[Slice]] = {label: [] for label in bank.sources}
    left_out: dict[str, Counter[str]] = {}
    refused: dict[str, str] = {}
    seen: set[tuple[str, str]] = set()
    for done, (source, found) in enumerate(_in_order(sources, rule), 1):
        if not isinstance(found, _Nothing):
            content = (source.label, found[0].pcm_hash)
            found = _Nothing("the same sound as another clip") if content in seen else found
            seen.add(content)
        if isinstance(found, _Nothing):
            left_out.setdefault(source.label, Counter())[found.reason] += 1
            if found.refusal:
                refused[source.name] = found.refusal
                log.warning("%s is left out: %s", source.name, found.refusal)
        else:
            slices[source.label] += found
        if progress is not None:
            progress(done, len(sources))
    return Cut(_checked(slices, left_out, leave_out_empty), left_out, refused)


@dataclass(frozen=True, slots=True)
class _Nothing:
    """Why a clip gives no slice; ``refusal`` if that is the clip's fault."""

    reason: str
    refusal: str = ""


def _in_order(sources: Sequence[Source], rule: _Rule) -> Iterator[tuple[Source, list[Slice] | _Nothing]]:
    """Every source and its slices; several are decoded at once, and none once the caller stops."""
    pool = ThreadPoolExecutor(min(4, os.cpu_count() or 1))
    try:
        yield from zip(sources, pool.map(lambda source: _cut(source, rule), sources), strict=True)
    finally:
        pool.shutdown(cancel_futures=True)


def _cut(source: Source, rule: _Rule) -> list[Slice] | _Nothing:
    too_short = _Nothing(f"shorter than {rule.shortest / rule.rate_hz:g} s")
    try:
        clip = decoded(source, rule.rate_hz)
    except UserError as fault:
        cause = fault.__cause__
        if isinstance(cause, UnusableAudio) and cause.reason == "too_short":
            return too_short
        return _Nothing("not decodable", fault.message.removeprefix(f"{source.path} "))
    samples = np.abs(clip.samples)
    top = float(samples.max(initial=0.0))
    if audio.CANCELLED in clip.warnings:
        return _Nothing("cancelled in the downmix", audio.CANCELLED)
    if top < _SILENT_PEAK:
        return _Nothing("silent", f"the clip is silent at {rule.rate_hz} Hz")
    audible = np.flatnonzero(samples > top * 10 ** (-AUDIBLE_DB / 20))
    if audible[-1] + 1 - audible[0] < rule.shortest:
        return too_short
    rng = np.random.default_rng([rule.seed, int(clip.pcm_hash[:16], 16)])
    found = []
    for start, length in _pieces(audible, rule, rng):
        sound = clip.samples[start : start + length] * ramps(length, rule.fade)
        try:
            level = levels.level_db(sound, rule.rate_hz, rule.measure)
        except ValueError as fault:
            return _Nothing("without a level", str(fault))
        pause = longest_pause(clip.samples[start : start + length])
        found.append(Slice(source, clip.pcm_hash, start, length, level, rule.fade, pause))
    if not found:
        return _Nothing("in bursts too short and too far apart")
    return found


def _pieces(audible: NDArray[np.intp], rule: _Rule, rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """Start and length of the pieces of a clip, given the positions of its audible samples."""
    at = 0
    while at < len(audible):
        start = int(audible[at])
        wanted = int(rng.integers(rule.shortest, rule.longest, endpoint=True))
        last = int(np.searchsorted(audible, start + wanted)) - 1  # the last audible sample within it
        if audible[last] - start + 1 < rule.shortest:  # then the first that makes it long enough
            last = int(np.searchsorted(audible, start + rule.shortest - 1))
        if last < len(audible) and audible[last] - start + 1 <= rule.longest:
            yield start, int(audible[last]) - start + 1
            at = last + 1
        else:
            at = int(np.searchsorted(audible, start + rule.longest))


def longest_pause(samples: NDArray[np.float32]) -> int:
    """The longest run of samples (n,) that stay :data:`PAUSE_DB` below their peak, also at either end."""
    size = np.abs(samples)
    loud = np.flatnonzero(size > size.max(initial=0.0) * 10 ** (-PAUSE_DB / 20))
    return int(np.diff(loud, prepend=-1, append=len(samples)).max()) - 1


def ramps(length: int, fade: int) -> NDArray[np.float64]:
    """The gain of a sound of ``length`` samples that rises and falls linearly over ``fade`` samples."""
    gain = np.ones(length)
    if fade:
        rise = np.arange(1, fade + 1) / (fade + 1)
        gain[:fade] = rise
        gain[length - fade :] = rise[::-1]
    return gain


def _checked(
    slices: Mapping[str, list[Slice]], left_out: Mapping[str, Mapping[str, int]], leave_out_empty: bool
) -> Slices:
    """The slices by label in the order of their content; a label without any is a fault or left out."""
    empty = [label for label, found in slices.items() if not found]
    if empty and not leave_out_empty:
        faults = []
        for label in empty:
            counts = ", ".join(f"{count} {reason}" for reason, count in left_out[label].items())
            faults.append(f"{label!r} gives no slice ({counts})")
        raise InputFaults(
            "The bank",
            faults,
            "Add clips of these labels that can be heard and last long enough, or leave the labels out.",
        )
    return {
        label: tuple(sorted(found, key=lambda piece: (piece.pcm_hash, piece.start)))
        for label, found in slices.items()
        if found
    }
