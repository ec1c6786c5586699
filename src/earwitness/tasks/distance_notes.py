"""What a reader must know of sets that are held against each other, in sentences."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from earwitness.manifest.table import listing
from earwitness.tasks.distance_sounds import Sound
from earwitness.tasks.distances import ALL, REFERENCE, Coverage, Distance

LENGTHS = 0.01
"""Mean lengths of a set and the reference that differ by more are named."""


def notes(
    coverage: Sequence[Coverage],
    size: int,
    reference: Sequence[Sound],
    sets: Mapping[str, Sequence[Sound]],
    rate_hz: int,
    rows: Sequence[Distance],
) -> Iterator[str]:
    """Sets of different size or length, silence, low rates, sounds that occur twice, distances refused.

    Args:
        coverage: The reference first.
        size: Clips of the reference that a set is held against.
        reference, sets: The sounds that are used.
        rate_hz: Of the backbone.
    """
    yield from _sizes(coverage, size)
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
    yield from _refused(rows, [name for name, sounds in sets.items() if sounds])
    if any(row.metric == "is" and row.value is not None for row in rows):
        yield "IS is too low for few clips and grows with their number: compare it between sets of one size."
    unsure: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        if row.no_interval:
            whose = row.system if row.part == ALL else f"{row.system} ({row.part})"
            unsure.setdefault(row.no_interval, {}).setdefault(row.metric.upper(), {})[whose] = None
    for why, metrics in unsure.items():
        told = "; ".join(f"{metric} of {listing(whose)}" for metric, whose in metrics.items())
        yield f"No interval, since {why}: {told}."


def _refused(rows: Sequence[Distance], systems: Sequence[str]) -> Iterator[str]:
    """Which sets have too few embeddings for a Fréchet distance, and what there is instead."""
    whole = {(row.system, row.metric): row for row in rows if row.part == ALL}
    few = [
        name
        for name in systems
        if any((name, metric) in whole and whole[name, metric].reason for metric in ("fad", "fd"))
    ]
    kad = [name for name in few if (name, "kad") in whole and whole[name, "kad"].value is not None]
    if kad:
        yield (
            f"Too few embeddings for a Fréchet distance of {', '.join(kad)}; KAD stands in its place (with "
            "fewer dimensions fewer clips are enough: vggish has 128)."
        )
    if none := [name for name in few if name not in kad]:
        yield f"Too few embeddings for a Fréchet distance of {', '.join(none)}, and there is no KAD either."


def _sizes(coverage: Sequence[Coverage], size: int) -> Iterator[str]:
    first, *others = coverage
    unlike = [row for row in others if row.used != size]
    if unlike:
        counts = ", ".join(f"{row.system} {row.used:,}" for row in others)
        yield f"Sets of different size: the reference {size:,} clips, {counts}."
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
