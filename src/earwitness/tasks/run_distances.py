"""Distances of a run: which clips are held against which, and the numbers as the run keeps them.

Conventions
-----------
A run holds one set of distances, those that were asked for last: another backbone, or none, takes the place
of what was there. They are measured of all clips of the run each time it is extended (embeddings come from
the cache), and kept as plain numbers, so that no clip, cache or weights are needed to show them again.
"""

import os
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from earwitness.backbones import NAMES
from earwitness.backbones.base import Backbone
from earwitness.errors import UserError
from earwitness.ledger import Ledger
from earwitness.manifest import Item
from earwitness.manifest.table import listing, near
from earwitness.tasks import distance_measures, distances, order, order_stated, ritta, ritta_distances
from earwitness.tasks.distances import Compared, Distances
from earwitness.tasks.task import Task

META = "distances"
"""Where the ledger keeps them."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is held against what.

    Attributes:
        clips: Every clip that is measured, with its own references.
        reference: The reference set; None for the clips' own references.
        notes: What a reader must know of the choice.
        baselines: Systems whose clips are known to be silent, or the reference's own.
    """

    clips: tuple[Compared, ...]
    reference: tuple[Path, ...] | None
    notes: tuple[str, ...]
    baselines: tuple[str, ...] = ()


def asked(task: Task, items: Sequence[Item], reference: str = "") -> Asked:
    """What a run of these items is measured for.

    Args:
        reference: The system that is the reference; not for ritta, which has its own.

    Raises:
        UserError: If no system is called so, or there is no other.
        InputFaults: Naming references that are missing.
    """
    if task is ritta.TASK:
        clips = ritta_distances.compared(items)
        return Asked(clips, None, ritta_distances.NOTES, ritta_distances.BASELINES)
    systems = Counter(item.system for item in items)
    if reference not in systems:
        raise UserError(
            f"no system is called {reference!r}{near(reference, systems)}, so it cannot be the reference.",
            f"Systems: {listing(systems)}.",
        )
    if len(systems) == 1:
        raise UserError(f"there is no system beside {reference!r} to hold against it.", "Add one.")
    answers = {item.sample_id: item.audio for item in items if item.system == reference}
    clips = tuple(
        Compared(
            item.system,
            item.sample_id,
            item.audio,
            references=(answers[item.sample_id],) if item.sample_id in answers else (),
            caption=item.caption,
            cluster=order_stated.of_item(item).cluster if task is order.TASK else item.sample_id,
        )
        for item in items
        if item.system != reference
    )
    return Asked(clips, tuple(answers.values()), (reference_note(reference),))


def reference_note(system: str) -> str:
    """Says which system is the reference."""
    return f"The reference is the system {system}."


def measure(
    ledger: Ledger,
    found: Asked,
    backbone: Backbone,
    *,
    level: float,
    seed: int,
    workers: int | None = None,
    engine: str = "local",
    progress: Callable[[int, int], None] | None = None,
) -> Distances:
    """Measure, and keep the numbers in the run's ledger.

    A system whose clips have gone since it was measured keeps its numbers, if the recipe is still the same.
    """
    before = kept(ledger)
    gone = _gone(found.clips, before)
    measured = distance_measures.measured(
        [clip for clip in found.clips if clip.system not in gone],
        found.reference,
        backbone,
        metrics=NAMES[backbone.name].serves,
        level=level,
        seed=seed,
        workers=workers,
        engine=engine,
        progress=progress,
    )
    plain = tuple(f"{name}: " for name in found.baselines)  # what is told of these is no news
    told = (note for note in measured.notes if not note.startswith(plain))
    measured = replace(measured, notes=(*found.notes, *told))
    if before is not None and gone:
        measured = _with_gone(measured, before, gone)
    ledger.begin({META: distances.to_json(measured)}, ())
    return measured


def _gone(clips: Sequence[Compared], before: Distances | None) -> frozenset[str]:
    """The systems of which there are fewer clips than were measured before."""
    here = Counter(clip.system for clip in clips if os.path.isfile(clip.audio))
    used = {} if before is None else {row.system: row.used for row in before.coverage}
    return frozenset(clip.system for clip in clips if here[clip.system] < used.get(clip.system, 0))


def _with_gone(now: Distances, before: Distances, gone: Collection[str]) -> Distances:
    """What is measured now and, of systems that are gone, what was measured then."""
    listed = ", ".join(sorted(gone))
    if (now.recipe, now.level) != (before.recipe, before.level):
        return replace(
            now, notes=(*now.notes, f"Not measured by this recipe, since clips have gone: {listed}.")
        )
    return replace(
        now,
        rows=(*now.rows, *(row for row in before.rows if row.system in gone)),
        coverage=(*now.coverage, *(row for row in before.coverage if row.system in gone)),
        left_out=(*now.left_out, *(row for row in before.left_out if row[0] in gone)),
        notes=(*now.notes, f"As measured before some of their clips were gone: {listed}."),
    )


def forget(ledger: Ledger) -> None:
    """Let the run hold none."""
    ledger.begin({META: None}, ())


def kept(ledger: Ledger) -> Distances | None:
    """What the run holds; None for nothing.

    Raises:
        UserError: If the numbers are not as they were kept.
    """
    data = ledger.meta().get(META)
    return None if data is None else distances.from_json(data, str(ledger.path))
