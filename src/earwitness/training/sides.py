"""Which recordings a detector is trained on, which decide when to stop, and which it is tested on.

Conventions
-----------
``held-out`` (the default): the test side is that of scenes.splits, so a data set made of the same bank with
``--split test`` is unseen by the model. The train side is parted again: of every class each third recording,
in the order of the sha256 of their ids, is *held*: early stopping, thresholds and rules are decided on these.
No weight is fitted to them, except those of the classes in ``unheld``. Recordings that hold the same sound,
of one class or of several, lie on one side.
``shared``: training, stopping and test use the same recordings, only in other mixtures. That is the setting
of RiTTA's paper and the easier one: what is measured there is no promise for sounds from elsewhere.

A class that cannot be parted (it has one recording, or all of them lie on one side because other classes
share them) is on both sides by rule. One that is tested on a sound that is trained on, under whatever name,
is in ``shared``, and no mean counts it. One whose train side alone cannot be parted again is trained on as a
whole: it is in ``unheld``, and decides neither when to stop nor a threshold.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import partial

from earwitness.errors import UserError
from earwitness.manifest.table import listing, near
from earwitness.scenes import slices, splits
from earwitness.scenes.bank import Bank, Source
from earwitness.scenes.recordings import Recordings, wholes
from earwitness.training.mixtures import Pools, pools

HELD_OUT, SHARED = "held-out", "shared"
SPLITS = (HELD_OUT, SHARED)

LONGEST_S = 5.0
"""Of a slice."""
_CUTS = 3
"""How often the clips to train on are cut anew, which gives other slices of them."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What a detector is made of.

    Attributes:
        train, held, test: Slices of the recordings of each side, by class; the same classes each.
        shared: Class -> why the test side has sounds of it that are trained on; empty for the split
            ``shared``, where that is so for all.
        unheld: Classes that are held in sounds that are trained on; empty for the split ``shared``.
        notes: What of the bank is not used, what the sides share, and why.
        known: What is known of the recordings of all clips.
        alike: Recordings tested on, of the classes not in ``shared``, that look by their clips' names like
            pieces of one that is trained on or held; and how many are tested on in all.
    """

    split: str
    train: Pools
    held: Pools
    test: Pools
    shared: Mapping[str, str]
    unheld: frozenset[str]
    notes: tuple[str, ...]
    known: Recordings
    alike: tuple[int, int] = (0, 0)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self.train)

    def recordings(self) -> dict[str, dict[str, list[str]]]:
        """Side -> class -> ids of its recordings."""
        sides = {"train": self.train, "held": self.held, "test": self.test}
        return {side: {label: list(of) for label, of in found.items()} for side, found in sides.items()}


def sides(
    bank: Bank,
    split: str,
    *,
    rate_hz: int = 16_000,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Sides:
    """Cut a bank whose labels are the classes, and part it.

    Args:
        rate_hz: Of the mixtures.
        seed: Of how the clips to train on are cut.
        progress: Called with clips cut and clips in all.

    Raises:
        InputFaults: Naming the classes without a slice.
        UserError: If there is no such split, or there are fewer than two classes.
    """
    if split not in SPLITS:
        raise UserError(f"There is no split {split!r}{near(split, SPLITS)}.", f"Use {' or '.join(SPLITS)}.")
    if len(bank.sources) < 2:
        raise UserError(
            f"A detector tells classes apart; the bank has {len(bank.sources)} of those asked for.",
            "Name more classes, or a bank with more.",
        )
    cut = partial(slices.cut, rate_hz=rate_hz, longest_s=LONGEST_S)
    trained = bank if split == SHARED else splits.split(bank, "train").bank
    found = [cut(trained, seed=seed + number, progress=progress) for number in range(_CUTS)]
    if split == SHARED:
        plain = cut(bank)
        whole, tested = pools(*(one.slices for one in found)), pools(plain.slices)
        notes = (*bank.notes, *_left_out(plain))
        return Sides(split, whole, tested, tested, {}, frozenset(), notes, bank.recordings)
    other = splits.split(bank, "test")
    plain = cut(other.bank, progress=progress)
    test = pools(plain.slices)
    train, held = _parted(pools(*(one.slices for one in found)))
    leaks = {
        name: f"its recording {one} is trained on under another name"
        for name, one in _common(test, train, held).items()
    }
    shared = {**leaks, **other.shared}
    unheld = frozenset(_common(held, train))
    alike = _alike(test, shared.keys(), train, held)
    notes = (
        *bank.notes,
        *_pieces(*alike),
        *_left_out(found[0], plain),
        *_told(train.keys(), shared, unheld),
    )
    return Sides(split, train, held, test, shared, unheld, notes, bank.recordings, alike)


def _alike(test: Pools, shared: Set[str], *others: Pools) -> tuple[int, int]:
    """How many recordings of the test side look like pieces of one that others hold, and how many it has."""
    there = wholes(source for side in others for of in _recordings(side) for source in of)
    tested = list(_recordings({label: of for label, of in test.items() if label not in shared}))
    return sum(not there.isdisjoint(wholes(of)) for of in tested), len(tested)


def _recordings(side: Pools) -> Iterator[set[Source]]:
    """The clips of every recording."""
    for recordings in side.values():
        yield from ({piece.source for piece in of} for of in recordings.values())


def _pieces(alike: int, of: int) -> Iterator[str]:
    if alike:
        yield (
            f"CAUTION: {alike:,} of the {of:,} recordings tested on look by their names like pieces of ones "
            "that it was trained on: then what is measured is too good, and says little of other recordings."
        )


def _told(classes: Set[str], shared: Mapping[str, str], unheld: frozenset[str]) -> Iterator[str]:
    """What the sides share, in sentences."""
    for name, why in shared.items():
        yield f"{name} is in no mean, as train and test share its recordings: {why}."
    if not classes - shared.keys() - unheld:
        yield "No class had recordings to hold back: those trained on decided when to stop, and thresholds."
    elif unheld:
        yield (
            "Too few recordings to hold some back, so these decide neither when to stop nor a threshold: "
            f"{listing(sorted(unheld), most=len(unheld))}."
        )


def _left_out(*cuts: slices.Cut) -> Iterator[str]:
    """Which clips gave no slice, a sentence a reason, and by name those that nobody could hear."""
    counts: dict[str, Counter[str]] = {}
    for one in cuts:
        for label, reasons in one.left_out.items():
            for reason, count in reasons.items():
                counts.setdefault(reason, Counter())[label] += count
    for reason, labels in sorted(counts.items()):
        of = ", ".join(f"{label} {count:,}" for label, count in sorted(labels.items()))
        yield f"Clips left out, {reason}: {of}."
    if refused := sorted({name: why for one in cuts for name, why in one.refused.items()}.items()):
        yield f"Nobody could hear {listing(f'{name} ({why})' for name, why in refused)}."


def _common(of: Pools, *others: Pools) -> dict[str, str]:
    """Class -> the first of its recordings that others hold as well, by id or by sound."""
    there = {key for side in others for recordings in side.values() for key in _keys(recordings)}
    found: dict[str, str] = {}
    for label, recordings in of.items():
        for one, pieces in recordings.items():
            if not there.isdisjoint(_keys({one: pieces})):
                found.setdefault(label, one)
    return found


def _keys(recordings: Mapping[str, tuple[slices.Slice, ...]]) -> set[str]:
    return {*recordings, *(piece.pcm_hash for pieces in recordings.values() for piece in pieces)}


def _parted(of: Pools) -> tuple[Pools, Pools]:
    """Two thirds of the recordings of every class, and the others; in both a class that cannot be parted."""
    of_sound: dict[str, set[str]] = {}
    for recordings in of.values():
        for one, pieces in recordings.items():
            for piece in pieces:
                of_sound.setdefault(piece.pcm_hash, set()).add(one)
    twins = splits.twinned(of_sound.values())
    held: dict[str, bool] = {}  # a recording that several classes share is on one side for all of them
    for recordings in of.values():
        new = [one for one in recordings if one not in held]
        for number, one in enumerate(sorted(new, key=splits.order)):
            held |= dict.fromkeys(twins[one], held.get(one, number % 3 == 1))
    train: dict[str, Mapping[str, tuple[slices.Slice, ...]]] = {}
    kept: dict[str, Mapping[str, tuple[slices.Slice, ...]]] = {}
    for label, recordings in of.items():
        mine = {one: recordings[one] for one in recordings if not held[one]}
        others = {one: recordings[one] for one in recordings if held[one]}
        if not mine or not others:
            mine = others = dict(recordings)
        train[label], kept[label] = mine, others
    return train, kept
