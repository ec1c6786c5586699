"""Choices that come out even: every option once, in a seeded order, before any comes again.

What is dealt for an index depends on ``where`` (anything that names the deck) and that index alone.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import permutations
from typing import TypeVar

import numpy as np

T = TypeVar("T")

Groups = Mapping[str, Sequence[str]]
"""Main group -> its classes, none of them empty."""


def generator(*where: object) -> np.random.Generator:
    """A generator that depends on nothing but what is given."""
    digest = hashlib.sha256("/".join(map(str, where)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16]))


def dealt(options: Sequence[T], index: int, *where: object) -> T:
    """The option of an index: each of the next ``len(options)`` indices has another."""
    round_, place = divmod(index, len(options))
    return options[_shuffled(len(options), *where, round_)[place]]


def of_different_groups(groups: Groups, count: int, index: int, *where: object) -> tuple[str, ...]:
    """``count`` classes, no two of one group, in the order of their roles.

    Every order of groups comes up equally often, and so do, in every role, the classes of a group.
    """
    orders = tuple(permutations(groups, count))
    round_, place = divmod(index, len(orders))
    shuffled = _shuffled(len(orders), *where, round_)
    each = len(orders) // len(groups)  # how often a group comes up in a role, in one round
    chosen = []
    for role, group in enumerate(orders[shuffled[place]]):
        before = round_ * each + sum(orders[i][role] == group for i in shuffled[:place])
        chosen.append(dealt(groups[group], before, *where, role, group))
    return tuple(chosen)


def of_one_group(groups: Groups, count: int, index: int, *where: object) -> tuple[str, ...]:
    """``count`` different classes of one of the groups that have as many."""
    large = [group for group, classes in groups.items() if len(classes) >= count]
    group = dealt(large, index, *where)
    classes = groups[group]
    round_, place = divmod(index // len(large), len(classes))
    shuffled = _shuffled(len(classes), *where, group, round_)
    return tuple(classes[shuffled[(place + i) % len(classes)]] for i in range(count))


@lru_cache(maxsize=4096)
def _shuffled(n: int, *where: object) -> tuple[int, ...]:
    return tuple(generator(*where).permutation(n).tolist())
