"""What a reader must know of sets that are held against each other, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from earwitness.tasks.distance_sounds import Sound
from earwitness.tasks.distances import ALL, ANCHORS, REFERENCE, Coverage, Distance

LENGTHS = 0.01
"""Mean lengths of a set and the reference that differ by more are named."""


def notes(
    coverage: Sequence[Coverage],
    reference: Sequence[Sound],
    sets: Mapping[str, Sequence[Sound]],
    rate_hz: int,
    rows: Sequence[Distance],
) -> Iterator[str]:
    """Sets of different size or length, silence, low rates, sounds that occur twice, distances refused.

    Args:
        coverage: The reference first.
        reference, sets: The sounds that are used.
        rate_hz: Of the backbone.
    """
    yield from _sizes(coverage)
    for name, sounds in {REFERENCE: reference, **sets}.items():
        whose = "the reference" if name == REFERENCE else name
        if silent := sum(sound.silent for sound in sounds):
            yield f"{whose}: {silent} of {len(sounds)} clips are silent; they count like any other."
        low = sorted(sound.rate_hz for sound in sounds if sound.rate_hz < rate_hz)
        if low:
            yield (
                f"{whose}: {len(low)} of {len(sounds)} clips have a lower rate than the backbone's "
                f"{rate_hz} Hz (from {low[0]} Hz): a distance sees that, whatever they sound like."
            )
        again = sum(count - 1 for count in Counter(sound.pcm_hash for sound in sounds).values())
        if again:
            yield f"{whose}: {again} of {len(sounds)} clips are the same sound as another of the set."
    known = {sound.pcm_hash for sound in reference}
    for name, sounds in sets.items():
        if shared := sum(sound.pcm_hash in known for sound in sounds):
            yield f"{name}: {shared} of {len(sounds)} clips are sounds of the reference too, bit by bit."
    refused = {
        row.system: None
        for row in rows
        if row.metric in ("fad", "fd") and row.part == ALL and row.reason and row.system not in ANCHORS
    }
    if refused:
        yield f"Too few embeddings for a Fréchet distance of {', '.join(refused)}; KAD stands in its place."


def _sizes(coverage: Sequence[Coverage]) -> Iterator[str]:
    first, *others = coverage
    unlike = [row for row in others if row.used != first.used]
    if unlike:
        counts = ", ".join(f"{row.system} {row.used:,}" for row in others)
        yield f"Sets of different size: the reference {first.used:,} clips, {counts}."
    for row in coverage:
        if row.used < row.clips:
            whose = "the reference" if row is first else row.system
            yield f"{whose}: {row.clips - row.used} of {row.clips:,} clips cannot be used and are left out."
    for row in others:
        if row.mean_s and first.mean_s and abs(row.mean_s / first.mean_s - 1) > LENGTHS:
            yield (
                f"{row.system}: its clips last {row.mean_s:.2f} s on average, the reference's "
                f"{first.mean_s:.2f} s; nothing is cut."
            )
