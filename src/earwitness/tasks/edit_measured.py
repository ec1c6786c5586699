"""An edit as a detector hears and measures it: events and frames -> numbers, a verdict, and its reason."""

from collections.abc import Mapping, Sequence
from typing import Any

from earwitness import labels
from earwitness.events import Event
from earwitness.manifest import Item
from earwitness.questions.events import unmapped
from earwitness.scores import edits
from earwitness.tasks import edit_targets
from earwitness.tasks.edit_sources import BASELINES, CLUSTER
from earwitness.tasks.rows import Measures, MetricSpec, SystemRow
from earwitness.tasks.task import Hearer

CHANGED, UNCHANGED, UNKNOWN = "changed", "unchanged", "unknown"
NOT_ADDED, NOT_REMOVED, NEITHER = "not_added", "not_removed", "neither"

_SPECS = (
    MetricSpec("target_changed", "Target", "everything asked for appeared or is gone", rate=True),
    MetricSpec("targets_appeared", "Appeared", "share of the sounds to add that are newly heard"),
    MetricSpec("targets_gone", "Gone", "share of the sounds to remove, heard before, that no longer are"),
    MetricSpec("others_kept", "Others kept", "share of the source's other sounds that are still heard"),
    MetricSpec("order_kept", "Order kept", "share of the pairs of kept sounds still in order"),
    MetricSpec(
        "onset_shift_s", "Shift (s)", "mean move of the kept sounds' onsets", better=-1,
        decimals=2, scale=None,
    ),
    MetricSpec(
        "lsd_outside_db", "LSD outside (dB)", "mean log-spectral distance outside the edited span", better=-1,
        decimals=2, scale=None,
    ),
    MetricSpec(
        "lsd_db", "LSD (dB)", "mean log-spectral distance over the whole clip", better=0, decimals=2,
        scale=None,
    ),
    MetricSpec(
        "level_change_db", "Level (dB)", "level of the edited clip less the source's", better=0, decimals=2,
        scale=None,
    ),
    MetricSpec(
        "level_change_outside_db", "Level outside (dB)", "the same outside the edited span", better=0,
        decimals=2, scale=None,
    ),
    MetricSpec(
        "length_change_s", "Length (s)", "length of the edited clip less the source's", better=0, decimals=2,
        scale=None,
    ),
)  # fmt: skip

_TARGETS = ("target_changed", "targets_appeared", "targets_gone")


def measures() -> Measures:
    """What a detector gives: quantities under their own names, no opinions."""
    return Measures(
        specs=_SPECS,
        key="others_kept",
        columns=(
            "target_changed", "others_kept", "order_kept", "lsd_outside_db", "lsd_db", "level_change_db", "n",
            "scored", "coverage",
        ),
        compared=("target_changed", "others_kept", "order_kept", "lsd_outside_db"),
        verdicts={CHANGED: "Changed", UNCHANGED: "Not changed", UNKNOWN: "Cannot be told"},
        kinds={
            NOT_ADDED: "a sound to be added is not newly heard",
            NOT_REMOVED: "a sound to be removed is still heard",
            NEITHER: "neither was a sound added nor one removed",
        },
        cluster=CLUSTER,
        hearing=(
            "It is a sound event detector: it hears the source and the edited clip apart, reports labelled "
            "events of each with times and never sees a word. Distances, levels and lengths were measured "
            "from the samples of both."
        ),
        baselines=BASELINES,
        remarks=_remarks,
    )  # fmt: skip


def scored(
    item: Item,
    source: Sequence[Event],
    edited: Sequence[Event],
    frames: Mapping[str, Any],
    hearer: Hearer,
) -> tuple[Mapping[str, float | None], str, str, str]:
    """Numbers, verdict, kind of error and the verdict's reason of an item.

    Args:
        source, edited: What was heard in either clip.
        frames: A reply to the question ``edit_measures``.
    """
    targets = edit_targets.of_item(item)
    added, removed = _sets(targets.added), _sets(targets.removed)
    known = frozenset[str]() if hearer.unclaimed else hearer.known_labels
    faults = _faults(targets, known)
    appeared = [
        None if phrase in faults else edits.appeared(wanted, source, edited)
        for phrase, wanted in zip(targets.added, added, strict=True)
    ]
    gone = [
        None if phrase in faults else edits.gone(wanted, source, edited)
        for phrase, wanted in zip(targets.removed, removed, strict=True)
    ]
    changed = edits.all_done([*appeared, *gone])
    others = edits.others(source, [*added, *removed], hearer.known_labels)
    onsets = edits.kept(others, edited)
    before = {label: min(e.onset_s for e in source if e.label == label) for label in others}
    after = {label: onset for label, onset in onsets.items() if onset is not None}
    before = {label: before[label] for label in after}
    span = _span(item, added, removed, source, edited)
    levels = frames["source_dbfs"], frames["edited_dbfs"]
    distances = frames["lsd_db"]
    apart = edits.outside(len(distances), frames["frame_s"], span) if span else []
    values: dict[str, float | None] = {
        "target_changed": None if changed is None else float(changed),
        "targets_appeared": edits.share(appeared),
        "targets_gone": edits.share(gone),
        "others_kept": len(after) / len(others) if others else None,
        "order_kept": edits.order_kept(before, after, hearer.resolution_s),
        "onset_shift_s": edits.onset_shift_s(before, after),
        "lsd_outside_db": edits.mean_at(distances, apart),
        "lsd_db": edits.mean_at(distances, range(len(distances))),
        "level_change_db": edits.level_change_db(*levels),
        "level_change_outside_db": (
            edits.level_change_db(*([level[k] for k in apart] for level in levels)) if apart else None
        ),
        "length_change_s": frames["edited_s"] - frames["source_s"],
    }
    verdict = {None: UNKNOWN, True: CHANGED, False: UNCHANGED}[changed]
    lost = [label for label in others if label not in after]
    told = [targets.why] if targets.why else []
    told += (
        _told(phrase, done, faults, "to add") for phrase, done in zip(targets.added, appeared, strict=True)
    )
    told += (
        _told(phrase, done, faults, "to remove") for phrase, done in zip(targets.removed, gone, strict=True)
    )
    if lost:
        told.append(f"no longer heard: {', '.join(lost)}")
    kind = _kind(appeared, gone) if verdict == UNCHANGED else ""
    return values, verdict, kind, "; ".join(told)


def _sets(phrases: Sequence[str]) -> list[frozenset[str]]:
    return [labels.heard_as(labels.find(phrase)) for phrase in phrases]


def _faults(targets: edit_targets.Targets, known: frozenset[str]) -> dict[str, str]:
    """Why a target cannot be told by its labels, for those that cannot."""
    every = (*targets.added, *targets.removed)
    faults = {}
    for index, phrase in enumerate(every):
        rivals = [other for k, other in enumerate(every) if k != index and labels.find(other)]
        fault = unmapped([phrase], known) or next(
            (why for other in rivals if (why := unmapped([other, phrase], frozenset()))), ""
        )
        if fault:
            faults[phrase] = fault
    return faults


def _span(
    item: Item,
    added: Sequence[frozenset[str]],
    removed: Sequence[frozenset[str]],
    source: Sequence[Event],
    edited: Sequence[Event],
) -> list[edits.Span]:
    """The edited span: the manifest's, else where the targets are heard; empty if that is unknown."""
    if item.edit_start_s is not None and item.edit_end_s is not None:
        return [(item.edit_start_s, item.edit_end_s)]
    return edits.edited_span(added, removed, source, edited)


def _told(phrase: str, done: bool | None, faults: Mapping[str, str], what: str) -> str:
    if phrase in faults:
        return f"{what}: {faults[phrase]}"
    outcome = {
        ("to add", True): "newly heard",
        ("to add", False): "not newly heard",
        ("to remove", True): "no longer heard",
        ("to remove", False): "still heard",
    }
    return f"{what}: {phrase!r} {'is' if done is not None else 'was'} " + (
        outcome[what, done] if done is not None else "not heard in the source either"
    )


def _kind(appeared: Sequence[bool | None], gone: Sequence[bool | None]) -> str:
    """Which part of an edit that was not done is missing."""
    if False in appeared:
        return NEITHER if False in gone else NOT_ADDED
    return NOT_REMOVED


def _remarks(systems: Sequence[SystemRow]) -> list[str]:
    """On how many items the target's metrics rest, where that is not all."""
    part = [
        f"{row.system} {row.metrics[_TARGETS[0]].n} of {row.scored}"
        for row in systems
        if row.metrics[_TARGETS[0]].n < row.scored
    ]
    if not part:
        return []
    return [
        f"Whether the target changed could be told of part of the scored items only: {', '.join(part)}. The "
        "others' instructions could not be read, or name sounds that the listener does not claim to know or "
        "did not hear in the source; items.csv says which."
    ]
