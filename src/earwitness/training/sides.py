"""Which recordings a detector is trained on, which decide when to stop, and which it is tested on.

Conventions
-----------
``held-out`` (the default): the test side is that of scenes.splits, so a data set made of the same bank with
``--split test`` is unseen by the model. The train side is parted again: of every class each third recording,
in the order of the sha256 of their ids, is *held*: early stopping, thresholds and rules are decided on these,
and no weight is fitted to them.
``shared``: training, stopping and test use the same recordings, only in other mixtures. That is the setting
of RiTTA's paper and the easier one: what is measured there is no promise for sounds from elsewhere.

A class that cannot be parted (it has one recording, or all of them lie on one side because other classes
share them) is on both sides by rule. One that is on the test side too is named, and no mean counts it; one
whose train side alone cannot be parted again is trained on as a whole and does not decide when to stop.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.scenes import slices, splits
from earwitness.scenes.bank import Bank
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
        shared: Class -> why the test side has recordings of it that are trained on; empty for the split
            ``shared``, where that is so for all.
        unheld: Classes all of whose recordings to train on are held as well.
        notes: What of the bank is not used, and why.
    """

    split: str
    train: Pools
    held: Pools
    test: Pools
    shared: Mapping[str, str]
    unheld: frozenset[str]
    notes: tuple[str, ...]

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
    if split == SHARED:
        whole = pools(*(cut(bank, seed=seed + n, progress=progress).slices for n in range(_CUTS)))
        plain = pools(cut(bank).slices)
        return Sides(split, whole, plain, plain, {}, frozenset(), bank.notes)
    mine, others = splits.split(bank, "train"), splits.split(bank, "test")
    test = pools(cut(others.bank, progress=progress).slices)
    cuts = [cut(mine.bank, seed=seed + n, progress=progress).slices for n in range(_CUTS)]
    train, held, unheld = _parted(pools(*cuts))
    return Sides(split, train, held, test, mine.shared, unheld, bank.notes)


def _parted(of: Pools) -> tuple[Pools, Pools, frozenset[str]]:
    """Two thirds of the recordings of every class, the others, and the classes that are whole in both."""
    held: dict[str, bool] = {}  # a recording that several classes share is on one side for all of them
    for recordings in of.values():
        new = [one for one in recordings if one not in held]
        for number, one in enumerate(sorted(new, key=_order)):
            held[one] = number % 3 == 1
    train: dict[str, Mapping[str, tuple[slices.Slice, ...]]] = {}
    kept: dict[str, Mapping[str, tuple[slices.Slice, ...]]] = {}
    whole = set()
    for label, recordings in of.items():
        mine = {one: recordings[one] for one in recordings if not held[one]}
        others = {one: recordings[one] for one in recordings if held[one]}
        if not mine or not others:
            whole.add(label)
            mine = others = dict(recordings)
        train[label], kept[label] = mine, others
    return train, kept, frozenset(whole)


def _order(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
