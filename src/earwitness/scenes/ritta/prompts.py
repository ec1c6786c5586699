"""What the prompts of a data set ask for: sounds, distances and words, dealt evenly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from earwitness.scenes.ritta.deal import Groups, dealt, generator, of_different_groups, of_one_group
from earwitness.scenes.ritta.saying import EXCLUSIVE
from earwitness.scenes.ritta.wordings import Wording
from earwitness.scores import relations
from earwitness.scores.relations import Expected

MOST = 5
"""Most sounds that ``count`` asks for."""

_METRES = (1.0, 2.0, 3.0, 5.0, 7.0)
_NEAR_FAR = tuple((near, far) for near in _METRES for far in _METRES if far >= 2 * near)


@dataclass(frozen=True, slots=True)
class Asked:
    """One prompt.

    Attributes:
        reading: How it is meant, see :data:`.wordings.READINGS`.
        heard: The sound of a clip that meets a ``not``, which names none; else empty.
    """

    prompt: str
    reading: str
    expected: Expected
    heard: str = ""


@dataclass(frozen=True, slots=True)
class Prompts:
    """The prompts of one data set; that of a relation and index depends on nothing else.

    Attributes:
        groups: Main group -> its classes.
        wordings: By relation.
        numbers: How many sounds ``count`` asks for.
        one_group: ``count`` draws all its sounds from one group.
        where: Names the data set: seed and split.
    """

    groups: Groups
    wordings: Mapping[str, Sequence[Wording]]
    numbers: Sequence[int]
    one_group: bool
    where: tuple[object, ...]

    def asked(self, relation: str, index: int) -> Asked:
        """The prompt of a relation with that index, counted from 0."""
        where = (*self.where, relation)
        wording = dealt(self.wordings[relation], index, *where, "wording")
        expected, heard = self._expected(relation, index, where, wording.reading)
        digits = bool(generator(*where, index, "digits").integers(2))
        return Asked(wording.said(expected, digits=digits), wording.reading, expected, heard)

    def _expected(
        self, relation: str, index: int, where: tuple[object, ...], reading: str
    ) -> tuple[Expected, str]:
        match relation:
            case "count":
                return relations.count(self._counted(index, where)), ""
            case "closefirst" | "farfirst" | "equaldist":
                every = [name for classes in self.groups.values() for name in classes]
                label = dealt(every, index, *where, "class")
                return relations.spatial(label, *_distances(relation, index, where)), ""
            case "if_then_else":
                condition, then, otherwise = of_different_groups(self.groups, 3, index, *where)
                return relations.if_then_else(condition, then, otherwise), ""
        first, second = of_different_groups(self.groups, 2, index, *where)
        match relation:
            case "together":
                return relations.together(first, second), ""
            case "and":
                return relations.both(first, second), ""
            case "or":
                return relations.either(first, second, exclusive=reading == EXCLUSIVE), ""
            case "not":
                return relations.without(first), second
        return relations.in_order(relation, first, second), ""

    def _counted(self, index: int, where: tuple[object, ...]) -> tuple[str, ...]:
        number = dealt(self.numbers, index, *where, "number")
        draw = of_one_group if self.one_group else of_different_groups
        return draw(self.groups, number, index // len(self.numbers), *where, number)


def _distances(relation: str, index: int, where: tuple[object, ...]) -> tuple[float, float]:
    """Metres of the first and of the second sound; near and far differ by a factor of 2 or more."""
    if relation == "equaldist":
        same = dealt(_METRES, index, *where, "metres")
        return same, same
    near, far = dealt(_NEAR_FAR, index, *where, "metres")
    return (near, far) if relation == "closefirst" else (far, near)
