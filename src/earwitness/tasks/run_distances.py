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
from earwitness.tasks import (
    distance_measures,
    distance_notes,
    distances,
    edit,
    edit_sources,
    order,
    order_stated,
    ritta,
    ritta_distances,
)
from earwitness.tasks.distance_pairs import corrected
from earwitness.tasks.distances import ALL, Compared, Distances
from earwitness.tasks.task import NOTHING_KEPT, Kept, Task

META = "distances"
"""Where the ledger keeps them."""
SOURCE = "source"
"""What is named as the reference of edits for their unedited sources, unless a system is called so."""
SOURCE_NOTE = (
    "The reference is the unedited source of each edit: a distance says how far clips moved from their "
    "sources, not whether the edit succeeded. What changes nothing is at 0, and an edit that does what it "
    "should has to move. Read it beside the change that was asked for, never alone."
)
UNRELATED_NOTE = (
    f"As a set, {edit_sources.UNRELATED} is near the sources, being such clips itself: only KL, which knows "
    "pairs, shows how far it is from them."
)
MOST_KINDS = 12
"""Kinds of edit that tables tell apart; a column with more is no grouping."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What is held against what.

    Attributes:
        clips: Every clip that is measured, with its own references.
        reference: The reference set; None for the clips' own references.
        notes: What a reader must know of the choice.
        baselines: Systems whose clips are known to be silent, or the reference's own.
        of_sources: Whether the reference are the sources of edits.
    """

    clips: tuple[Compared, ...]
    reference: tuple[Path, ...] | None
    notes: tuple[str, ...]
    baselines: tuple[str, ...] = ()
    of_sources: bool = False


def asked(task: Task, items: Sequence[Item], reference: str = "", kept: Kept = NOTHING_KEPT) -> Asked:
    """What a run of these items is measured for.

    Args:
        reference: The system that is the reference, or of edits :data:`SOURCE`; not for ritta, which has its
            own.
        kept: What the run's ledger knows of files: which sources of edits are one sound.

    Raises:
        UserError: If no system is called so, or there is no other.
        InputFaults: Naming references that are missing.
    """
    if task is ritta.TASK:
        clips = ritta_distances.compared(items)
        return Asked(clips, None, ritta_distances.NOTES, ritta_distances.BASELINES)
    systems = Counter(item.system for item in items)
    of_edits = task is edit.TASK
    sources = of_edits and reference == SOURCE and SOURCE not in systems
    if not sources:
        _check_system(reference, systems, of_edits)
    if sources:
        answers = edit_sources.of_samples(items, kept)
    else:
        answers = {item.sample_id: item.audio for item in items if item.system == reference}
    kinds, told = _kinds(items)
    clips = tuple(
        Compared(
            item.system,
            item.sample_id,
            item.audio,
            references=(answers[item.sample_id],) if item.sample_id in answers else (),
            part=kinds.get(item.sample_id, ""),
            caption=item.caption,
            cluster=_cluster(task, item, kept),
        )
        for item in items
        if sources or item.system != reference
    )
    notes = [SOURCE_NOTE] if sources else [reference_note(reference)]
    notes += [UNRELATED_NOTE] * (sources and edit_sources.UNRELATED in systems)
    baselines = tuple(edit_sources.BASELINES) if of_edits else ()
    return Asked(clips, tuple(answers.values()), (*notes, *told), baselines, sources)


def _check_system(reference: str, systems: Collection[str], of_edits: bool) -> None:
    """Make sure that a system is called so and that there is another."""
    if reference not in systems:
        known, also = [*systems], ""
        if of_edits:
            known, also = [*known, SOURCE], f" Or {SOURCE}: the unedited clips."
        raise UserError(
            f"no system is called {reference!r}{near(reference, known)}, so it cannot be the reference.",
            f"Systems: {listing(systems)}.{also}",
        )
    if len(systems) == 1:
        also = f", or take the unedited clips as the reference: {SOURCE}" * (of_edits and reference != SOURCE)
        raise UserError(f"there is no system beside {reference!r} to hold against it.", f"Add one{also}.")


def _cluster(task: Task, item: Item, kept: Kept) -> str:
    if task is edit.TASK:
        return edit_sources.cluster(item, kept.get(item.source_audio) if item.source_audio else None)
    return order_stated.of_item(item).cluster if task is order.TASK else item.sample_id


def _kinds(items: Sequence[Item]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The kind of edit by sample_id, in its first row's word, where words tell edits apart; and a note."""
    found: dict[str, str] = {}
    for item in items:
        if kind := item.edit_type.strip():
            found.setdefault(item.sample_id, kind)
    kinds = {*found.values()}
    if len(kinds) > MOST_KINDS:
        return {}, (f"edit_type has {len(kinds)} different words, too many for parts of a table.",)
    return {name: kind for name, kind in found.items() if len(kinds) > 1 and kind != ALL}, ()


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
        baselines=found.baselines,
    )
    measured = replace(measured, notes=(*found.notes, *measured.notes), of_sources=found.of_sources)
    if before is not None and gone:
        measured = _with_gone(measured, before, gone)
    ledger.begin({META: distances.to_json(measured)}, ())
    return measured


def _gone(clips: Sequence[Compared], before: Distances | None) -> frozenset[str]:
    """The systems of which there are fewer clips than were measured before."""
    here = Counter(clip.system for clip in clips if os.path.isfile(clip.audio))
    used = {} if before is None else {row.system: row.used for row in before.coverage}
    return frozenset(clip.system for clip in clips if here[clip.system] < used.get(clip.system, 0))


def _with_gone(now: Distances, before: Distances, gone: frozenset[str]) -> Distances:
    """What is measured now and, of systems that are gone, what was measured then.

    Their pairs stay where the other set has gone too or has as many clips as then; p is corrected anew.
    """
    listed = distance_notes.listed(sorted(gone))
    if (now.recipe, now.level) != (before.recipe, before.level):
        return replace(
            now, notes=(*now.notes, f"Not measured by this recipe, since clips have gone: {listed}.")
        )
    used = [{row.system: row.used for row in each.coverage} for each in (now, before)]
    still = {row.system for row in now.rows if used[0].get(row.system) == used[1].get(row.system)} | {*gone}
    pairs = [
        pair
        for pair in before.comparisons
        if {pair.first, pair.second} <= still and not gone.isdisjoint((pair.first, pair.second))
    ]
    return replace(
        now,
        rows=(*now.rows, *(row for row in before.rows if row.system in gone)),
        coverage=(*now.coverage, *(row for row in before.coverage if row.system in gone)),
        left_out=(*now.left_out, *(row for row in before.left_out if row[0] in gone)),
        notes=(
            *now.notes,
            f"As measured before some of their clips were gone: {listed}. They are held against no set that "
            "has changed or come since.",
        ),
        comparisons=corrected((*now.comparisons, *pairs)),
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
