"""What a task is, and what it must know of a run to plan and to score it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from earwitness.ledger import Ledger, StoredFile
from earwitness.manifest import Item, Manifest
from earwitness.questions.base import Question
from earwitness.runner import Plan
from earwitness.tasks.rows import ItemRow, Measures

SEED, BLIND = "seed", "blind"
WAYS = (SEED, BLIND)
"""Ways to ask a judge for alignment: with the caption in sight at once, or after a blind first listen."""


DETECTING = (
    "It is a sound event detector: it hears each clip once, reports labelled events with times and never "
    "sees a caption."
)
"""How a detector hears items of a single clip, for the paper."""
NOT_HEARD_YET = {"reason": "transport", "detail": "not heard yet: the run was interrupted"}
"""What an item without any hearing shows."""


@dataclass(frozen=True, slots=True)
class Hearer:
    """What planning and scoring must know of the listener and of how it is asked; kept in the ledger, so
    that no model is needed to score again.

    Attributes:
        known_labels: Labels a detector claims to know; empty means all.
        unclaimed: Judge phrases outside the known labels too, though nobody measured its error there.
        ask: One of :data:`WAYS`; of no account for detectors.
        swap: Share of the items of the edit task that a judge hears again with the clips exchanged.
        seed: The run's seed.
        scoring: How relations are scored, by name (tasks.ritta.SCORING); empty for other tasks.
    """

    name: str
    version: str
    detector: bool
    resolution_s: float
    known_labels: frozenset[str]
    repeats: int
    unclaimed: bool = False
    ask: str = SEED
    swap: float = 0.0
    seed: int = 0
    scoring: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Stage:
    """One pass over the items; a later stage may build on the hearings of an earlier one."""

    name: str
    plan: Plan


Kept = Mapping[Path, StoredFile]
"""What a run's ledger knows of the files it has read, by path."""
NOTHING_KEPT: Kept = MappingProxyType({})


class Check(Protocol):
    """Makes sure, before anything is heard, that a task can be done with such items."""

    def __call__(self, manifest: Manifest, kept: Kept = NOTHING_KEPT) -> None:
        """Raise UserError unless it can; ``kept`` stands in for files that are gone."""


def no_check(manifest: Manifest, kept: Kept = NOTHING_KEPT) -> None:
    """Any items will do."""


@dataclass(frozen=True, slots=True)
class Task:
    """Items -> questions -> scores -> rows.

    Attributes:
        title: Heading of the page.
        questions: The questions asked of such a hearer; the first is the one that ``--prompt`` rewords.
        stages: What is asked, pass by pass.
        rows: Every item scored from what the ledger holds, one at a time.
        measures: What is measured with such a hearer.
        not_asked: Why such a hearer is asked nothing about an item; empty if it is asked something.
        check: Asked of the items given, and of all of a run that is extended.
    """

    name: str
    title: str
    questions: Callable[[Hearer], Sequence[Question]]
    stages: Callable[[Ledger, Hearer], Sequence[Stage]]
    rows: Callable[[Ledger, Hearer], Iterator[ItemRow]]
    measures: Callable[[Hearer], Measures]
    not_asked: Callable[[Item, Hearer], str]
    check: Check = no_check


@dataclass(frozen=True, slots=True)
class Setup:
    """How a run is to be asked.

    Attributes:
        seed: Of sampling, the order of items and the bootstrap.
        repeats: Independent hearings of an item; None for the task's usual number.
        prompts: The user's own wording by question.
        ask, swap, unclaimed, scoring: See :class:`Hearer`.
        generator_encoder: Encoder family of the systems under test, for the statement of independence.
        command: What was typed.
    """

    seed: int = 0
    repeats: int | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    ask: str = SEED
    swap: float = 0.0
    unclaimed: bool = False
    scoring: Mapping[str, str] = field(default_factory=dict)
    generator_encoder: str = ""
    command: str = ""
