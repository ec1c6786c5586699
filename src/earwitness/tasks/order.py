"""The order task: which system keeps the stated order of events?

Items -> questions -> scores -> rows. Whether an item states an order is decided from the manifest
or the parser before anything is heard (order_stated). What the hearings say of it is derived when
scoring (order_detector, order_judge), so a run can be scored again from its ledger alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from earwitness import labels
from earwitness.ledger import Heard, Ledger, StoredItem
from earwitness.questions.base import Question
from earwitness.questions.events import EVENTS, unmapped
from earwitness.runner import Ask
from earwitness.scores import order
from earwitness.tasks import order_detector, order_judge
from earwitness.tasks.order_stated import of_item
from earwitness.tasks.rows import (
    NOT_APPLICABLE,
    SCORED,
    UNHEARD,
    Asked,
    ItemRow,
    Measures,
    MetricSpec,
    SystemRow,
)
from earwitness.tasks.task import BLIND, DETECTING, NOT_HEARD_YET, Hearer, Stage, Task


def questions(hearer: Hearer) -> Sequence[Question]:
    """What such a hearer is asked."""
    return [EVENTS] if hearer.detector else order_judge.questions(hearer)


def stages(ledger: Ledger, hearer: Hearer) -> Sequence[Stage]:
    """One pass; two where a judge first listens blind. An item that states no order is never asked about."""

    def detecting(stored: StoredItem) -> Sequence[Ask]:
        return () if of_item(stored.item).not_applicable else order_detector.ASKS

    def listening(stored: StoredItem) -> Sequence[Ask]:
        return () if of_item(stored.item).not_applicable else order_judge.listening(hearer)

    def scoring(stored: StoredItem) -> Sequence[Ask]:
        said = of_item(stored.item)
        if said.not_applicable:
            return ()
        heard = ledger.heard(stored.item_id) if hearer.ask == BLIND else ()
        return order_judge.scoring(said, hearer, heard)

    if hearer.detector:
        return [Stage("hearing", detecting)]
    if hearer.ask == BLIND:
        return [Stage("listening", listening), Stage("scoring", scoring)]
    return [Stage("hearing", scoring)]


def rows(ledger: Ledger, hearer: Hearer) -> Iterator[ItemRow]:
    """Every item scored from what the ledger holds, one at a time."""
    for item_id in ledger.item_ids():
        yield _row(ledger.item(item_id), ledger.heard(item_id), hearer)


def _row(stored: StoredItem, heard: Sequence[Heard], hearer: Hearer) -> ItemRow:
    item, said = stored.item, of_item(stored.item)
    sets = [labels.heard_as(labels.find(phrase)) for phrase in said.phrases]
    row: dict[str, Any] = {
        "item_id": stored.item_id,
        "system": item.system,
        "sample_id": item.sample_id,
        "caption": said.caption,
        "reversed_caption": said.reversed_caption,
        "audio": str(item.audio),
        "duration_s": stored.facts.get("duration_s"),
        "cluster": said.cluster,
        "asked": tuple(
            Asked(phrase, tuple(sorted(found)), place)
            for phrase, found, place in zip(said.phrases, sets, said.places, strict=True)
        ),
        "warnings": tuple(stored.facts.get("warnings", ())),
    }
    if said.not_applicable:
        return ItemRow(
            **row, status=NOT_APPLICABLE, reason=said.not_applicable, detail=said.not_applicable,
            verdict=NOT_APPLICABLE,
        )  # fmt: skip
    how = order_detector if hearer.detector else order_judge
    sides = order_detector.SIDES if hearer.detector else order_judge.sides(hearer)
    repeats = _repeats(heard, sides)
    row["heard"] = how.listed(repeats[0]) if repeats else ()
    reason, detail = ("", "") if repeats else _unheard(heard)
    if hearer.detector and not reason:
        detail = unmapped(said.phrases, frozenset() if hearer.unclaimed else hearer.known_labels)
        reason = "unmapped" if detail else ""
    if reason:
        return ItemRow(**row, status=UNHEARD, reason=reason, detail=detail, verdict=UNHEARD)
    reading = how.read(said, repeats, hearer)
    return ItemRow(
        **row, status=SCORED, reason="", detail=reading.detail,
        verdict="right" if reading.joined.correct else "wrong", error_kind=reading.joined.kind,
        values=_values(reading.joined) | reading.values,
    )  # fmt: skip


def _repeats(heard: Sequence[Heard], sides: Sequence[str]) -> list[dict[str, Heard]]:
    """The scored repeats: those of which every side was heard."""
    found = {(h.side, h.repeat): h for h in heard if not h.reason}
    return [
        {side: found[side, repeat] for side in sides}
        for repeat in sorted({h.repeat for h in heard})
        if all((side, repeat) in found for side in sides)
    ]


def _unheard(heard: Sequence[Heard]) -> tuple[str, str]:
    """Why no repeat is scored: the fault of the earliest one."""
    faults = sorted((h for h in heard if h.reason), key=lambda h: h.repeat)
    if faults:
        return faults[0].reason, faults[0].detail
    return NOT_HEARD_YET["reason"], NOT_HEARD_YET["detail"]


def _values(joined: order.ItemOrder) -> Mapping[str, float | None]:
    sign = (joined.alignment > joined.alignment_reversed) - (joined.alignment < joined.alignment_reversed)
    order_sign = joined.order_right - joined.reversal_right
    return {
        "toa": float(joined.correct),
        "order_given_heard": float(joined.order_right) if joined.all_heard else None,
        "temporal_order_match": joined.match,
        "alignment": joined.alignment,
        "alignment_reversed": joined.alignment_reversed,
        "alignment_win": float(sign > 0),
        "alignment_tie": float(sign == 0),
        "alignment_loss": float(sign < 0),
        "order_win": float(order_sign > 0),
        "order_tie": float(order_sign == 0),
        "order_loss": float(order_sign < 0),
    }


_SPECS = (
    MetricSpec("toa", "TOA", "order right and alignment above the reversal's", rate=True),
    MetricSpec("order_given_heard", "Order | heard", "order right among items whose events were all heard"),
    MetricSpec("temporal_order_match", "Order match", "mean of 1 right, 0.5 wrong or unclear, 0 missing"),
    MetricSpec("alignment", "Alignment", "mean alignment with the caption"),
    MetricSpec("alignment_win", "Al. win", "alignment above the reversal's", rate=True),
    MetricSpec("alignment_tie", "Al. tie", "alignment equal to the reversal's", better=0),
    MetricSpec("alignment_loss", "Al. loss", "alignment below the reversal's", better=-1, rate=True),
    MetricSpec("order_win", "Order win", "order right on the caption, not on its reversal", rate=True),
    MetricSpec("order_tie", "Order tie", "order right on both or neither", better=0),
    MetricSpec(
        "order_loss", "Order loss", "order right on the reversal, not on the caption", better=-1, rate=True
    ),
    MetricSpec("event_recall", "Recall", "share of asked events that are heard"),
    MetricSpec("event_precision", "Precision", "share of heard events that are asked for"),
)

_DETECTOR_SPECS = (
    MetricSpec("toa_lenient", "TOA (lenient)", "TOA where a wider label may stand in", rate=True),
)

_JUDGE_SPECS = (
    MetricSpec("judge_event_recall", "Recall (judge's)", "recall as the judge itself puts it"),
    MetricSpec("judge_event_precision", "Precision (judge's)", "precision as the judge itself puts it"),
    MetricSpec("order_from_events", "Order (events)", "order right by the events that the judge lists"),
    MetricSpec(
        "order_disagreement", "Disagreement",
        "the judge's order verdict is not that of the events it lists", better=-1,
    ),
    MetricSpec(
        "recall_disagreement", "Recall apart", "distance between the judge's recall and the recomputed one",
        better=-1,
    ),
    MetricSpec(
        "precision_disagreement", "Precision apart",
        "distance between the judge's precision and the recomputed one", better=-1,
    ),
    MetricSpec("flip_rate", "Flip rate", "share of pairs of repeats with different verdicts", better=-1),
    MetricSpec(
        "alignment_spread", "Al. spread", "standard deviation of alignment over repeats", better=-1,
        scale=(0.0, 4 / 2**0.5),
    ),
)  # fmt: skip

_COLUMNS = ("toa", "order_given_heard", "event_recall", "n", "scored", "coverage")
_JUDGE_COLUMNS = (
    "toa", "temporal_order_match", "event_recall", "judge_event_recall", "event_precision",
    "judge_event_precision", "order_from_events", "order_disagreement", "flip_rate", "n", "scored",
    "coverage",
)  # fmt: skip

KIND_MEANINGS = {
    order.MISSING: "a sound the caption asks for was not heard",
    order.REVERSED: "the sounds were heard in another order",
    order.OVERLAPPED: "the sounds start too close together to tell their order",
    order.UNCLEAR: "no clear order, or a judge that did not prefer the caption to its reversal",
}


def measures(hearer: Hearer) -> Measures:
    """What the order task measures; a judge's alignment is a mark from 1 to 5, a detector's a share."""
    marks = {} if hearer.detector else {"alignment": (1.0, 5.0)}
    common = tuple(replace(spec, scale=marks.get(spec.name, spec.scale)) for spec in _SPECS)
    return Measures(
        specs=common + (_DETECTOR_SPECS if hearer.detector else _JUDGE_SPECS),
        key="toa",
        columns=_COLUMNS if hearer.detector else _JUDGE_COLUMNS,
        verdicts={"right": "Right", "wrong": "Wrong"},
        kinds=KIND_MEANINGS,
        cluster="a pair of prompts, or one caption",
        hearing=DETECTING if hearer.detector else _JUDGING,
        remarks=_remarks if hearer.detector else _judge_remarks,
    )


_JUDGING = "It is a judge: it hears the clip and reads the caption it is asked about."


def _remarks(systems: Sequence[SystemRow]) -> Sequence[str]:
    """What helps where a detector knows the sounds of no caption."""
    if any(row.scored for row in systems) or not any("unmapped" in row.unheard_reasons for row in systems):
        return ()
    return [
        "Nothing could be scored: `earwitness prompts check` says which captions the listener can judge; "
        "--unclaimed judges those too whose sounds it does not claim to know."
    ]


def _judge_remarks(systems: Sequence[SystemRow]) -> Sequence[str]:
    """Says when a judge could not be telling a caption from its reversal."""
    level = [row.system for row in systems if row.metrics["alignment_tie"].value == 1.0]
    if not level:
        return ()
    return [
        "The judge gave caption and reversal the same alignment for every clip of "
        f"{', '.join(level)}: TOA is 0 there whatever the clips' order, since nothing shows that the judge "
        "tells one order from the other."
    ]


TASK = Task(
    name="order",
    title="Which system keeps the order of events?",
    questions=questions,
    stages=stages,
    rows=rows,
    measures=measures,
    not_asked=lambda item, hearer: of_item(item).not_applicable,
)
