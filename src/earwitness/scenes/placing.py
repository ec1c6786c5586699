"""Where the sounds of a scene go: in samples, at random, every arrangement equally likely.

Nothing is moved or shortened to fit. What cannot fit is refused with the numbers, in seconds where the
rate is given.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from earwitness.errors import UserError
from earwitness.scenes import levels
from earwitness.scenes.bank import Source, decoded
from earwitness.scenes.render import looped
from earwitness.scenes.scene import Placed
from earwitness.scenes.slices import Slice


def placed(label: str, piece: Slice, onset: int, gain_db: float, distance_m: float | None = None) -> Placed:
    """A slice as a sound of a scene."""
    return Placed(
        label=label,
        source=piece.pcm_hash,
        name=piece.source.name,
        recording_id=piece.source.recording_id,
        start=piece.start,
        onset=onset,
        length=piece.length,
        fade=piece.fade,
        gain_db=gain_db,
        level_db=piece.level_db + gain_db,
        distance_m=distance_m,
    )


def ambience(source: Source, samples: int, level_db: float, *, rate_hz: int, measure: str) -> Placed:
    """What lies under a whole scene of ``samples`` samples, looped if shorter, at a level in its measure.

    Raises:
        UserError: If the clip cannot be used or is silent, naming it.
    """
    clip = decoded(source, rate_hz)
    level = _looped_level_db(source, clip.pcm_hash, samples, rate_hz, measure)
    return Placed(
        label=source.label,
        source=clip.pcm_hash,
        name=source.name,
        recording_id=source.recording_id,
        start=0,
        onset=0,
        length=samples,
        fade=0,
        gain_db=level_db - level,
        level_db=level_db,
        looped=True,
    )


@lru_cache(maxsize=1024)
def _looped_level_db(source: Source, pcm_hash: str, samples: int, rate_hz: int, measure: str) -> float:
    """``pcm_hash`` is part of the key, so that a changed file is measured again."""
    try:
        sound = looped(decoded(source, rate_hz).samples, samples, rate_hz)
        return levels.level_db(sound, rate_hz, measure)
    except ValueError as fault:
        raise UserError(
            f"{source.path or source.name} is no ambience: {fault}.", "Take it out of the bank or replace it."
        ) from fault


def apart(
    rng: np.random.Generator, lengths: Sequence[int], total: int, gap: int, rate_hz: int | None = None
) -> list[int]:
    """Onsets of sounds one after another, in the order given, at least ``gap`` samples between them.

    Raises:
        UserError: If they do not fit into ``total`` samples.
    """
    room = total - sum(lengths) - gap * (len(lengths) - 1)
    if room < 0:
        raise _misfit(lengths, total, gap, rate_hz)
    # The free samples before each sound never fall: as many ways as to choose k of room + k places.
    chosen = np.sort(rng.choice(room + len(lengths), len(lengths), replace=False))
    onsets = []
    taken = 0
    for number, (place, length) in enumerate(zip(chosen, lengths, strict=True)):
        onsets.append(int(place) - number + taken)
        taken += length + gap
    return onsets


def free(rng: np.random.Generator, length: int, total: int, rate_hz: int | None = None) -> int:
    """The onset of a sound anywhere within ``total`` samples.

    Raises:
        UserError: If it is longer.
    """
    return apart(rng, [length], total, 0, rate_hz)[0]


def fitting(
    rng: np.random.Generator,
    pools: Sequence[Sequence[Slice]],
    total: int,
    gap: int,
    rate_hz: int | None = None,
) -> list[Slice]:
    """One slice of each pool, so that they fit one after another: every such choice is equally likely.

    Raises:
        UserError: If not even the shortest fit; a pool that is empty is a ``ValueError``.
    """
    if not all(pools):
        raise ValueError("a pool of slices is empty")
    room = total - gap * (len(pools) - 1)
    least = [min(piece.length for piece in pool) for pool in pools]
    if sum(least) > room:
        raise _misfit(least, total, gap, rate_hz, "Even the shortest: ")
    # What cannot be in any fitting choice is left out first, so that few draws are in vain.
    possible = [
        [piece for piece in pool if piece.length + sum(least) - own <= room]
        for pool, own in zip(pools, least, strict=True)
    ]
    while True:
        chosen = [pool[int(rng.integers(len(pool)))] for pool in possible]
        if sum(piece.length for piece in chosen) <= room:
            return chosen


def _misfit(lengths: Sequence[int], total: int, gap: int, rate_hz: int | None, which: str = "") -> UserError:
    def words(numbers: Sequence[int]) -> str:
        texts = [str(n) if rate_hz is None else f"{n / rate_hz:.1f}" for n in numbers]
        return " and ".join(texts) + (" samples" if rate_hz is None else " s")

    sounds = "1 sound" if len(lengths) == 1 else f"{len(lengths)} sounds"
    do = "does" if len(lengths) == 1 else "do"
    gaps = f" with gaps of {words([gap])}" if gap and len(lengths) > 1 else ""
    return UserError(
        f"{which}{sounds} of {words(lengths)}{gaps} {do} not fit into {words([total])}.",
        "Make the scene longer, or cut shorter slices.",
    )
