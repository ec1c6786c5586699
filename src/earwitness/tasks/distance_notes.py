"""What a reader must know of sets that are held against each other: one sentence for each kind of fact."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from earwitness.tasks.distance_sounds import Sound
from earwitness.tasks.distances import ALL, REFERENCE, Coverage, Distance

LENGTHS = 0.01
"""Mean lengths of a set and the reference that differ by more are named."""
SILENCE = 0.2
"""So are mean shares of digital silence."""
MOST = 5
"""Sets that a sentence names."""


def listed(each: Sequence[str], most: int = MOST) -> str:
    """The first of them, set apart by semicolons as names may hold commas, and how many more there are."""
    more = f"; and {len(each) - most:,} more" if len(each) > most else ""
    return "; ".join(each[:most]) + more


def notes(
    coverage: Sequence[Coverage],
    size: int,
    reference: Sequence[Sound],
    sets: Mapping[str, Sequence[Sound]],
    rate_hz: int,
    rows: Sequence[Distance],
    baselines: Collection[str] = (),
) -> Iterator[str]:
    """What cannot be used, silence, sizes, lengths, low rates, sounds that occur twice, what is refused.

    Args:
        coverage: The reference first.
        size: Clips of the reference that a set is held against.
        reference, sets: The sounds that are used.
        rate_hz: Of the backbone.
        baselines: Systems of which nothing is told: they are known for what they are.
    """
    first, *others = (row for row in coverage if row.system not in baselines)
    yield from _left_out([first, *others])
    diverging = {row.system for row in rows if row.metric == "kl" and row.value is not None}
    yield from _digital_silence(first, others, not diverging.isdisjoint(sets))
    yield from _sizes(first, others, size)
    own = {name: sounds for name, sounds in sets.items() if name not in baselines}
    yield from _of_sounds({REFERENCE: reference, **own}, rate_hz)
    known = {sound.pcm_hash for sound in reference}
    shared = {name: sum(sound.pcm_hash in known for sound in sounds) for name, sounds in own.items()}
    if said := [f"{count:,} of {len(own[name]):,} of {name}" for name, count in shared.items() if count]:
        yield f"Clips that are sounds of the reference too, bit by bit: {listed(said)}."
    if _stands_in(rows, [name for name, sounds in own.items() if sounds]):
        yield (
            "KAD stands in for Fréchet distances that too few embeddings refuse; with fewer dimensions fewer "
            "clips are enough (vggish has 128)."
        )
    if any(row.metric == "is" and row.value is not None for row in rows):
        yield "IS is too low for few clips and grows with their number: compare it between sets of one size."
    yield from _without_interval([row for row in rows if row.system not in baselines])


def _whose(name: str) -> str:
    return "the reference" if name == REFERENCE else name


def _left_out(coverage: Sequence[Coverage]) -> Iterator[str]:
    said = [
        f"{row.clips - row.used:,} of {row.clips:,} of {_whose(row.system)}"
        for row in coverage
        if row.used < row.clips
    ]
    if said:
        yield f"Clips that cannot be used and are left out: {listed(said)}."


def _digital_silence(first: Coverage, others: Sequence[Coverage], diverging: bool) -> Iterator[str]:
    """Where one side has a background and the other has none; ``diverging`` if there is a KL to read."""
    wanted = first.digital_silence
    if wanted is None:
        return
    unlike = [
        f"{100 * row.digital_silence:.0f} % of {row.system}"
        for row in others
        if row.digital_silence is not None and abs(row.digital_silence - wanted) > SILENCE
    ]
    if unlike:
        yield (
            f"Digital silence (below -90 dBFS) is {100 * wanted:.0f} % of the reference's time, but "
            f"{listed(unlike)}: distances tell a background, however faint, from none before they tell "
            "sounds apart. Give both the same background (RiTTA: make the data set with --ambience), or "
            f"compare sets of one kind of background alone.{' KL is moved less by it.' if diverging else ''}"
        )


def _sizes(first: Coverage, others: Sequence[Coverage], size: int) -> Iterator[str]:
    if any(row.used != size for row in others):
        counts = [f"{row.used:,} of {row.system}" for row in others]
        yield f"Sets of different size, in clips: {size:,} of the reference; {listed(counts)}."
    unlike = [
        f"{row.mean_s:.2f} s in {row.system}"
        for row in others
        if row.mean_s and first.mean_s and abs(row.mean_s / first.mean_s - 1) > LENGTHS
    ]
    if unlike:
        mean = f"{first.mean_s:.2f} s in the reference"
        yield f"Clips last {mean} on average, but {listed(unlike)}; nothing is cut."


def _of_sounds(every: Mapping[str, Sequence[Sound]], rate_hz: int) -> Iterator[str]:
    """What is unusual in the sounds of a set, the reference among them."""
    silent, low, again = [], [], []
    for name, sounds in every.items():
        of = f"of {len(sounds):,} of {_whose(name)}"
        if count := sum(sound.silent for sound in sounds):
            silent.append(f"{count:,} {of}")
        if rates := [sound.rate_hz for sound in sounds if sound.rate_hz < rate_hz]:
            low.append(f"{len(rates):,} {of} (from {min(rates)} Hz)")
        if count := sum(count - 1 for count in Counter(sound.pcm_hash for sound in sounds).values()):
            again.append(f"{count:,} {of}")
    if silent:
        yield f"Silent clips, counted like any other: {listed(silent)}."
    if low:
        yield (
            f"Clips of a lower rate than the backbone's {rate_hz} Hz: {listed(low)}. A distance sees that, "
            "whatever they sound like."
        )
    if again:
        yield f"Clips that are the same sound as another of their set: {listed(again)}."


def _stands_in(rows: Sequence[Distance], systems: Sequence[str]) -> bool:
    """Whether a set has KAD but lacks a Fréchet distance that was asked for."""
    whole = {(row.system, row.metric): row for row in rows if row.part == ALL}
    return any(
        (name, "kad") in whole and whole[name, "kad"].value is not None
        for name in systems
        if any((name, metric) in whole and whole[name, metric].reason for metric in ("fad", "fd"))
    )


def _without_interval(rows: Sequence[Distance]) -> Iterator[str]:
    """Which numbers have no interval; of a set that has one over all clips, that its parts have none."""
    whole = {(row.system, row.metric) for row in rows if row.part == ALL and row.no_interval}
    unsure: dict[str, dict[str, dict[str, None]]] = {}
    for row in rows:
        if row.no_interval and (row.part == ALL or (row.system, row.metric) not in whole):
            whose = row.system if row.part == ALL else f"parts of {row.system}"
            unsure.setdefault(row.no_interval, {}).setdefault(row.metric.upper(), {})[whose] = None
    said = []
    for why, metrics in unsure.items():
        told = ", ".join(f"{metric} ({listed([*whose])})" for metric, whose in metrics.items())
        said.append(f"of {told}: {why}")
    if said:
        yield f"No interval {'; '.join(said)}."
