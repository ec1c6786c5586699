"""The RiTTA task: which system makes the relations between sounds that its prompts ask for?

A detector hears each clip once; for the spatial relations the clip's levels are measured too. A judge lists
what it hears with no prompt in sight, in every repeat; it gives no levels, so spatial relations are
unsupported. What a prompt asks for comes from the data set (ritta_sources), never from the prompt's words.
Everything else is derived when scoring, so that a run can be scored again in another mode from its ledger.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from earwitness.errors import InputFaults
from earwitness.events import Event
from earwitness.ledger import Heard, Ledger, StoredItem
from earwitness.manifest import Item, Manifest
from earwitness.questions.base import Question
from earwitness.questions.events import EVENTS
from earwitness.questions.levels import LEVELS
from earwitness.questions.listen import LISTEN
from earwitness.runner import Ask
from earwitness.scenes.ritta.classes import CLASSES
from earwitness.scores import ritta_rules
from earwitness.scores.frame_levels import FrameLevels
from earwitness.scores.relations import PAIRS, SPATIAL, Expected
from earwitness.scores.ritta_rules import Rules
from earwitness.tasks.ritta_classes import Classed, audioset, classed, unmapped
from earwitness.tasks.ritta_measures import measures
from earwitness.tasks.ritta_scored import Hearing, is_silent, scored
from earwitness.tasks.ritta_unread import unread, warning
from earwitness.tasks.ritta_wanted import Wanted, cluster, truth, wanted
from earwitness.tasks.rows import SCORED, UNHEARD, Asked, ItemRow
from earwitness.tasks.task import NOT_HEARD_YET, NOTHING_KEPT, Hearer, Kept, Stage, Task

SCORING = ritta_rules.CHOICES
"""How relations may be scored, by name; the first of each is the default."""
CLIP, LEVEL = "clip", "levels"
"""Sides: the events of a clip, and how loud its every moment is."""
NO_LEVELS = "a judge gives no levels, so distances cannot be told apart"


def not_asked(item: Item, hearer: Hearer) -> str:
    """Why a hearer is asked nothing about an item; empty if it is asked something."""
    if item.truth:
        return "its events are known and not heard"
    if not hearer.detector and wanted(item.expected).expected.relation in SPATIAL:
        return NO_LEVELS
    return ""


def plan(hearer: Hearer, item: Item) -> Sequence[Ask]:
    """What to ask about an item; nothing shown beside the sound."""
    if not_asked(item, hearer):
        return ()
    if not hearer.detector:
        return [Ask(CLIP, LISTEN.name, repeat=repeat) for repeat in range(hearer.repeats)]
    asks = [Ask(CLIP, EVENTS.name)]
    if wanted(item.expected).expected.relation in SPATIAL:
        asks.append(Ask(LEVEL, LEVELS.name))
    return asks


def questions(hearer: Hearer) -> Sequence[Question]:
    return [EVENTS, LEVELS] if hearer.detector else [LISTEN]


def stages(ledger: Ledger, hearer: Hearer) -> Sequence[Stage]:
    """One pass."""
    return [Stage("hearing", lambda stored: plan(hearer, stored.item))]


def check(manifest: Manifest, kept: Kept = NOTHING_KEPT) -> None:
    """Make sure that every item says what it asks for.

    Raises:
        InputFaults: Naming each row that does not.
    """
    faults = []
    for item in manifest.items:
        for column, read in (("expected", wanted), ("truth", truth)):
            text: str = getattr(item, column)
            where = f"row {item.row} (system {item.system!r}, sample {item.sample_id!r}): {column}"
            if not text:
                faults += [f"{where} is empty"] if column == "expected" else []
                continue
            try:
                read(text)
            except ValueError as fault:
                faults.append(f"{where}: {fault}")
    if faults:
        raise InputFaults(
            manifest.source, faults, "Score a data set that `earwitness bench ritta make` wrote, unchanged."
        )


def rows(ledger: Ledger, hearer: Hearer) -> Iterator[ItemRow]:
    """Every item scored from what the ledger holds, one at a time."""
    rules = ritta_rules.rules(hearer.scoring)
    for item_id in ledger.item_ids():
        stored = ledger.item(item_id)
        yield _row(stored, ledger.heard(item_id), hearer, rules)


def _row(stored: StoredItem, heard: Sequence[Heard], hearer: Hearer, rules: Rules) -> ItemRow:
    item, asked = stored.item, wanted(stored.item.expected)
    row = _base(stored, asked)
    if item.truth:
        known = truth(item.truth)
        row["heard"] = known.events
        hearings = [Hearing(Classed(known.events), known.levels, is_silent(known.events, rules))]
    else:
        answers = [_events(h) for h in heard if h.side == CLIP and not h.reason]
        row["heard"] = answers[0] if answers else ()
        if not hearer.detector:
            row["warnings"] += tuple(warning(unread(event for events in answers for event in events)))
        reason, detail = _unheard(item, heard, hearer, asked.expected)
        if reason:
            return ItemRow(**row, status=UNHEARD, reason=reason, detail=detail, verdict=UNHEARD)
        levels, labels = _levels(heard), asked.expected.labels
        hearings = [
            Hearing(classed(events, labels, hearer), levels, is_silent(events, rules)) for events in answers
        ]
    found = scored(asked, hearings, row["duration_s"], rules)
    return ItemRow(
        **row, status=SCORED, reason="", detail=found.detail, verdict=found.verdict, error_kind=found.kind,
        values=found.values,
    )  # fmt: skip


def _base(stored: StoredItem, asked: Wanted) -> dict[str, Any]:
    """What an item's row holds whatever its score is."""
    item, relation = stored.item, asked.expected.relation
    return {
        "item_id": stored.item_id,
        "system": item.system,
        "sample_id": item.sample_id,
        "caption": item.caption,
        "reversed_caption": "",
        "audio": str(item.audio),
        "duration_s": stored.facts.get("duration_s"),
        "cluster": cluster(item.caption),
        "stratum": relation,
        "asked": tuple(_asked(asked.expected)),
        "texts": {"Sub-relation": relation},
        "warnings": (*stored.facts.get("warnings", ()), *_length(stored.facts.get("duration_s"), asked)),
    }


def _length(duration_s: float | None, asked: Wanted) -> Iterator[str]:
    if duration_s is not None and not asked.as_long(duration_s):
        yield f"lasts {duration_s:.2f} s, the data set's clip {asked.duration_s:.2f} s: scored as it is"


def _asked(expected: Expected) -> Iterator[Asked]:
    """The sounds that a prompt names; in the order of time where it states one."""
    in_order = expected.relation in PAIRS and expected.relation != "together"
    wanted_ones = {label for one in expected.alternatives for label in one.present}
    for index, label in enumerate(expected.labels):
        phrase = CLASSES[label].phrase
        counting = tuple(sorted({label, *audioset(label)}))
        yield Asked(phrase if label in wanted_ones else f"no {phrase}", counting, index * in_order)


def _unheard(item: Item, heard: Sequence[Heard], hearer: Hearer, expected: Expected) -> tuple[str, str]:
    """Why an item cannot be scored from what was heard: a fault of the earliest repeat; or empty."""
    if not_asked(item, hearer):
        return "unsupported", NO_LEVELS
    needed = {CLIP, LEVEL} if hearer.detector and expected.relation in SPATIAL else {CLIP}
    if needed <= {h.side for h in heard if not h.reason}:
        detail = unmapped(expected.labels, hearer)
        return ("unmapped" if detail else ""), detail
    faults = sorted((h for h in heard if h.reason), key=lambda h: h.repeat)
    if faults:
        return faults[0].reason, faults[0].detail
    return NOT_HEARD_YET["reason"], NOT_HEARD_YET["detail"]


def _events(heard: Heard) -> tuple[Event, ...]:
    listed = heard.reply["events"] if heard.question == EVENTS.name else heard.reply["events_heard"]
    return tuple(Event(e["label"], e["onset_s"], e["offset_s"], e["confidence"]) for e in listed)


def _levels(heard: Sequence[Heard]) -> FrameLevels | None:
    reply: Mapping[str, Any] | None = next((h.reply for h in heard if h.side == LEVEL and not h.reason), None)
    if reply is None:
        return None
    return FrameLevels(reply["frame_s"], [-float("inf") if db is None else db for db in reply["dbfs"]])


TASK = Task(
    name="ritta",
    title="Which system makes the relations that are asked for?",
    questions=questions,
    stages=stages,
    rows=rows,
    measures=measures,
    not_asked=not_asked,
    check=check,
)
