"""What a prompt asks for, as sounds and a relation between them, and what a clip is judged to hold of it.

Conventions
-----------
The relations are those of RiTTA (arXiv 2412.15922, Table 2): four main relations, eleven sub-relations. A
prompt is met by any one of its alternatives: sounds that must be there, in the order in which their roles
are named, and sounds that must not. Labels are names of sound classes; what a listener calls them is
settled before (see the tasks). Metres are those the prompt states.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

MAIN: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Count": ("count",),
        "Temporal_Order": ("before", "after", "together"),
        "Spatial_Distance": ("closefirst", "farfirst", "equaldist"),
        "Compositionality": ("and", "or", "not", "if_then_else"),
    }
)
"""Main relation -> its sub-relations, in the paper's order."""

RELATIONS: tuple[str, ...] = tuple(sub for subs in MAIN.values() for sub in subs)
SPATIAL = MAIN["Spatial_Distance"]
PAIRS: tuple[str, ...] = (*MAIN["Temporal_Order"], *SPATIAL)
"""The relations between exactly two sounds."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """One way to meet a prompt.

    Attributes:
        present: Sounds that must be there; a label twice is asked for twice. In the order of time for
            ``before``, ``after`` and the spatial relations; condition first for ``if_then_else``.
        absent: Sounds that must not be there.
    """

    present: tuple[str, ...]
    absent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a prompt asks for.

    Attributes:
        relation: One of :data:`RELATIONS`.
        alternatives: Any one of them will do; at least one.
        distances_m: For the spatial relations, metres of the first and of the second sound.
    """

    relation: str
    alternatives: tuple[Alternative, ...]
    distances_m: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"there is no relation {self.relation!r}; known: {', '.join(RELATIONS)}")
        if not self.alternatives:
            raise ValueError("a prompt needs at least one alternative")
        for one in self.alternatives:
            if not (one.present or one.absent):
                raise ValueError("an alternative must ask for a sound or forbid one")
            if self.relation in PAIRS and len(one.present) != 2:
                raise ValueError(f"{self.relation} is between two sounds, not {len(one.present)}")

    @property
    def labels(self) -> tuple[str, ...]:
        """The distinct sounds that the prompt names, in the order of their roles."""
        named = (label for one in self.alternatives for label in (*one.present, *one.absent))
        return tuple(dict.fromkeys(named))

    @property
    def level_difference_db(self) -> float | None:
        """Level of the first sound less that of the second, 20 lg of the ratio of the distances; None without
        distances."""
        if self.distances_m is None:
            return None
        first, second = self.distances_m
        return 20 * math.log10(second / first)

    def to_json(self) -> dict[str, Any]:
        """Plain data; the inverse of :func:`from_json`."""
        return {
            "relation": self.relation,
            "alternatives": [
                {"present": list(one.present), "absent": list(one.absent)} for one in self.alternatives
            ],
            "distances_m": None if self.distances_m is None else list(self.distances_m),
        }


def from_json(data: Mapping[str, Any]) -> Expected:
    """The inverse of :meth:`Expected.to_json`.

    Raises:
        ValueError: If the data are no such thing; what is missing is named.
    """
    try:
        metres = data["distances_m"]
        return Expected(
            data["relation"],
            tuple(Alternative(tuple(one["present"]), tuple(one["absent"])) for one in data["alternatives"]),
            None if metres is None else (float(metres[0]), float(metres[1])),
        )
    except (KeyError, TypeError, IndexError) as fault:
        raise ValueError(f"not what a prompt asks for: {fault!r}") from fault


def in_order(relation: str, first: str, second: str) -> Expected:
    """``before`` and ``after``: the sounds in the order of time, whichever the prompt names first."""
    return Expected(relation, (Alternative((first, second)),))


def together(one: str, other: str) -> Expected:
    return Expected("together", (Alternative((one, other)),))


def count(labels: Sequence[str]) -> Expected:
    """One of each, and none of them twice."""
    return Expected("count", (Alternative(tuple(labels)),))


def spatial(label: str, first_m: float, second_m: float) -> Expected:
    """The same sound twice, one after the other, at the stated distances; they decide the relation."""
    relation = "equaldist" if first_m == second_m else "closefirst" if first_m < second_m else "farfirst"
    return Expected(relation, (Alternative((label, label)),), (first_m, second_m))


def both(one: str, other: str) -> Expected:
    """``and``."""
    return Expected("and", (Alternative((one, other)),))


def either(one: str, other: str, *, exclusive: bool) -> Expected:
    """``or``; ``exclusive`` if the prompt says that not both may be there."""
    if exclusive:
        return Expected("or", (Alternative((one,), (other,)), Alternative((other,), (one,))))
    return Expected("or", (Alternative((one,)), Alternative((other,)), Alternative((one, other))))


def without(label: str) -> Expected:
    """``not``: any clip without that sound, a silent one too."""
    return Expected("not", (Alternative((), (label,)),))


def if_then_else(condition: str, then: str, otherwise: str) -> Expected:
    """Either the condition's sound with the one that follows from it, or the other one alone."""
    return Expected(
        "if_then_else",
        (Alternative((condition, then), (otherwise,)), Alternative((otherwise,), (condition, then))),
    )


@dataclass(frozen=True, slots=True)
class Judged:
    """One clip against its prompt, at one confidence threshold.

    Attributes:
        presence, parsimony: In [0, 1].
        relation: 1.0 or 0.0; None if it could not be measured.
        kind: Kind of error if the relation does not hold, else empty.
        detail: What was found, in words.
        missing: How many asked sounds too few; ``extra``: how many sounds that nothing asked for.
        count_error: Mean over the asked labels of the distance between heard and asked number.
        count_bias: Mean over the asked labels of heard less asked number.
        level_difference_db: First less second sound, for the spatial relations, where measurable.
    """

    presence: float
    relation: float | None
    parsimony: float
    kind: str = ""
    detail: str = ""
    missing: int = 0
    extra: int = 0
    count_error: float = 0.0
    count_bias: float = 0.0
    level_difference_db: float | None = None

    @property
    def msr(self) -> float | None:
        """Presence x relation x parsimony (RiTTA, equation 4, one clip); None without a relation."""
        return None if self.relation is None else self.presence * self.relation * self.parsimony
