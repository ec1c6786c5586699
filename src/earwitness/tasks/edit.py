"""The edit task: did a system change what it was told to, and nothing else?

A judge hears the source and the edited clip and marks the edit; a detector hears the events of both, the
listener measures how far they lie apart, and everything said about the edit is derived when scoring. The
source clip of a sample is the same sound for every system, and the cluster of an item.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from earwitness.events import Event
from earwitness.ledger import Heard, Ledger, StoredItem
from earwitness.manifest import AUDIO, SOURCE, Item
from earwitness.questions.base import Question
from earwitness.questions.edit import EDIT, EDIT_EXCHANGED
from earwitness.questions.edit_measures import EDIT_MEASURES
from earwitness.questions.events import EVENTS
from earwitness.runner import Ask
from earwitness.tasks import edit_judged, edit_measured, edit_targets
from earwitness.tasks.edit_sources import check_sources, cluster, with_baselines
from earwitness.tasks.rows import NOT_APPLICABLE, SCORED, UNHEARD, ItemRow, Measures
from earwitness.tasks.rows import Source as SourceClip
from earwitness.tasks.task import NOT_HEARD_YET, Hearer, Stage, Task

__all__ = ["TASK", "check_sources", "with_baselines"]

EDITED, EXCHANGED = "edited", "exchanged"
SOUNDS, MEASURES = ("source", "edited"), "measures"
"""Sides: a judge's two ways of hearing the clips; a detector's two clips, and what is measured of both."""


def not_asked(item: Item, hearer: Hearer) -> str:
    """Why a judge is not asked about an item; empty if it is. A detector needs no words."""
    if hearer.detector or item.instruction.strip() or (item.source_caption.strip() and item.caption.strip()):
        return ""
    return "a judge needs an instruction, or a source caption and a target caption"


def plan(hearer: Hearer, item: Item) -> Sequence[Ask]:
    """What to ask about an item."""
    if hearer.detector:
        return [
            Ask(SOUNDS[0], EVENTS.name, clips=(SOURCE,)),
            Ask(SOUNDS[1], EVENTS.name, clips=(AUDIO,)),
            Ask(MEASURES, EDIT_MEASURES.name, clips=(SOURCE, AUDIO)),
        ]
    if not_asked(item, hearer):
        return ()
    shown = {
        "source_caption": item.source_caption,
        "target_caption": item.caption,
        "instruction": item.instruction,
    }
    texts = {name: text for name, text in shown.items() if text.strip()}
    asks = []
    for repeat in range(hearer.repeats):
        asks.append(Ask(EDITED, EDIT.name, texts, repeat, (SOURCE, AUDIO)))
        if is_exchanged(hearer, item):
            asks.append(Ask(EXCHANGED, EDIT_EXCHANGED.name, texts, repeat, (AUDIO, SOURCE)))
    return asks


def is_exchanged(hearer: Hearer, item: Item) -> bool:
    """Whether an item is also heard with its clips exchanged: the same for every system, and every item
    that a smaller share takes."""
    draw = hashlib.sha256(f"{hearer.seed} {EXCHANGED} {item.sample_id}".encode()).digest()
    return int.from_bytes(draw[:8]) < hearer.swap * 2**64


def questions(hearer: Hearer) -> Sequence[Question]:
    """A judge's two questions belong to every run, so that the share of exchanged items may grow."""
    return [EVENTS, EDIT_MEASURES] if hearer.detector else [EDIT, EDIT_EXCHANGED]


def stages(ledger: Ledger, hearer: Hearer) -> Sequence[Stage]:
    """One pass."""
    return [Stage("hearing", lambda stored: plan(hearer, stored.item))]


def measures(hearer: Hearer) -> Measures:
    """A judge's marks and verdicts, or a detector's quantities."""
    return edit_measured.measures() if hearer.detector else edit_judged.measures(hearer.swap > 0)


def rows(ledger: Ledger, hearer: Hearer) -> Iterator[ItemRow]:
    """Every item scored from what the ledger holds, one at a time."""
    for item_id in ledger.item_ids():
        yield _row(ledger.item(item_id), ledger.heard(item_id), hearer)


def _row(stored: StoredItem, heard: Sequence[Heard], hearer: Hearer) -> ItemRow:
    item = stored.item
    answers = [h for h in heard if not h.reason]
    sides = {(h.side, h.repeat): h for h in answers}
    usual = [h for h in answers if h.side == EDITED and h.question == EDIT.name]
    if hearer.detector:
        source, edited = (
            _events(sides[side, 0].reply, "events") if (side, 0) in sides else () for side in SOUNDS
        )
    else:
        first = usual[0].reply if usual else {}
        source, edited = _events(first, "source_events"), _events(first, "edited_events")
    row = _base(stored, hearer, source, edited)
    if fault := not_asked(item, hearer):
        return ItemRow(**row, status=NOT_APPLICABLE, reason=fault, detail=fault, verdict=NOT_APPLICABLE)
    missing = not usual
    if hearer.detector:
        missing = any((side, 0) not in sides for side in (*SOUNDS, MEASURES))
    if missing:
        fault_of = next((h for h in heard if h.reason and h.side != EXCHANGED), None)
        why = (fault_of.reason, fault_of.detail) if fault_of else tuple(NOT_HEARD_YET.values())
        return ItemRow(**row, status=UNHEARD, reason=why[0], detail=why[1], verdict=UNHEARD)
    kind = ""
    if hearer.detector:
        frames = sides[MEASURES, 0].reply
        values, verdict, kind, detail = edit_measured.scored(item, source, edited, frames, hearer)
    else:
        exchanged = [h for h in answers if h.side == EXCHANGED]
        values, verdict, detail = edit_judged.scored(usual, exchanged)
    return ItemRow(
        **row, status=SCORED, reason="", detail=detail, verdict=verdict, error_kind=kind, values=values
    )


def _base(
    stored: StoredItem, hearer: Hearer, source: tuple[Event, ...], edited: tuple[Event, ...]
) -> dict[str, Any]:
    """What an item's row holds whatever its score is."""
    item, files = stored.item, stored.files
    facts = files[SOURCE].facts if SOURCE in files else {}
    texts = {"Instruction": item.instruction, "Source caption": item.source_caption}
    if hearer.detector:  # a judge is told no more than the above
        targets = edit_targets.of_item(item)
        texts |= {"To bring in": ", ".join(targets.added), "To take away": ", ".join(targets.removed)}
    return {
        "item_id": stored.item_id,
        "system": item.system,
        "sample_id": item.sample_id,
        "caption": item.caption,
        "reversed_caption": "",
        "audio": str(item.audio),
        "duration_s": stored.facts.get("duration_s"),
        "cluster": cluster(item, files.get(SOURCE)),
        "heard": edited,
        "source": SourceClip(str(item.source_audio), facts.get("duration_s"), source),
        "texts": {heading: text for heading, text in texts.items() if text.strip()},
        "warnings": (
            *stored.facts.get("warnings", ()),
            *(f"the source clip: {warning}" for warning in facts.get("warnings", ())),
        ),
    }


def _events(reply: Mapping[str, Any], field: str) -> tuple[Event, ...]:
    return tuple(
        Event(e["label"], e["onset_s"], e["offset_s"], e.get("confidence")) for e in reply.get(field, ())
    )


TASK = Task(
    name="edit",
    title="Which system edits what it should, and nothing else?",
    questions=questions,
    stages=stages,
    rows=rows,
    measures=measures,
    not_asked=not_asked,
    check=check_sources,
)
