"""The order task: which system keeps the stated order of events?

Items -> questions -> scores -> rows. Whether an item states an order is decided from the manifest
or the parser before anything is heard; everything a detector's hearing says about it is derived
when scoring, so a run can be scored again from its ledger alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from earwitness import captions, labels
from earwitness.events import Event
from earwitness.ledger import Heard, Ledger, StoredItem
from earwitness.manifest import Item
from earwitness.questions.alignment import ALIGNMENT
from earwitness.questions.events import EVENTS, unmapped
from earwitness.runner import Ask
from earwitness.scores import order, presence
from earwitness.tasks.rows import NOT_APPLICABLE, SCORED, UNHEARD, Asked, ItemRow, Measures, MetricSpec
from earwitness.tasks.task import NOT_HEARD_YET, Hearer, Stage, Task

CLIP, CAPTION, REVERSED = "clip", "caption", "reversed"
ANY_TIME = -1
"""Place of a sound that the caption names outside its order, such as music in the background."""


@dataclass(frozen=True, slots=True)
class Stated:
    """The order an item states: its phrases, their precedences, the reversal; or why there is none.

    ``places`` numbers the phrases along the stated sequence; those of one place come in any order.
    """

    caption: str
    reversed_caption: str
    phrases: tuple[str, ...]
    places: tuple[int, ...]
    precedences: tuple[tuple[int, int], ...]
    not_applicable: str
    cluster: str


@lru_cache(maxsize=16384)
def stated(caption: str, reversed_caption: str, first: str, second: str, pair_id: str) -> Stated:
    """Read an order from ``first`` and ``second`` or else from the caption."""
    parsed = captions.parse(caption)
    if first and second:
        said = _of_columns(parsed, caption, first, second)
    else:
        said = _of_caption(parsed, caption)
    fault, reversal = said.not_applicable, reversed_caption
    if not fault and not reversal:
        try:
            reversal = _reversal(parsed, said)
        except ValueError as cannot:
            fault = f"the caption cannot be reversed: {cannot}"
    if not fault and reversed_caption:
        fault = _no_reversal(said, captions.parse(reversed_caption))
    cluster = pair_id or " ".join(said.caption.casefold().split())
    return replace(said, reversed_caption=reversal, not_applicable=fault, cluster=cluster)


def of_item(item: Item) -> Stated:
    """The order an item states (see :func:`stated`)."""
    return stated(item.caption, item.reversed_caption, item.first, item.second, item.pair_id)


def _of_caption(parsed: captions.Parsed, caption: str) -> Stated:
    places = [ANY_TIME] * len(parsed.phrases)
    for place, group in enumerate(parsed.groups):
        for index in group:
            places[index] = place
    phrases = tuple(phrase.text for phrase in parsed.phrases)
    return Stated(caption, "", phrases, tuple(places), parsed.precedences, parsed.reason, "")


def _of_columns(parsed: captions.Parsed, caption: str, first: str, second: str) -> Stated:
    """The two columns state the order; a caption that states the reverse is a fault of the data."""
    fault = ""
    if _same(first, second):
        fault = "the columns first and second name the same sound"
    elif not parsed.reason and _same_groups([[second], [first]], [[text] for text in _sequence(parsed)]):
        fault = "the caption states the order of the columns first and second the other way round"
    caption = caption or f"{first} followed by {second}"
    return Stated(caption, "", (first, second), (0, 1), ((0, 1),), fault, "")


def _reversal(parsed: captions.Parsed, said: Stated) -> str:
    """The reversed caption, in the caption's own words where they state what the item states."""
    if _same_groups([[phrase] for phrase in said.phrases], [[text] for text in _sequence(parsed)]):
        return captions.reverse(said.caption)
    if len(said.phrases) == 2 and said.precedences == ((0, 1),):
        return f"{said.phrases[1]} followed by {said.phrases[0]}"
    return captions.reverse(said.caption)


def _no_reversal(said: Stated, reversal: captions.Parsed) -> str:
    """Why a given reversed caption does not reverse the caption, or empty."""
    if reversal.reason:
        return f"the reversed caption states no order: {reversal.reason}"
    groups: dict[int, list[str]] = {}
    for phrase, place in zip(said.phrases, said.places, strict=True):
        groups.setdefault(place, []).append(phrase)
    groups.pop(ANY_TIME, None)
    forward = [groups[place] for place in sorted(groups)]
    backward = [[reversal.phrases[index].text for index in group] for group in reversal.groups]
    if _same_groups(forward[::-1], backward):
        return ""
    if _same_groups(forward, backward):
        return "the reversed caption states the same order as the caption"
    return "the reversed caption does not state the caption's events in reversed order"


def _same_groups(some: Sequence[Sequence[str]], others: Sequence[Sequence[str]]) -> bool:
    return len(some) == len(others) and all(
        len(a) == len(b) and all(any(_same(x, y) for y in b) for x in a)
        for a, b in zip(some, others, strict=True)
    )


def _same(phrase: str, other: str) -> bool:
    """Two phrases for one sound: they ask for a label in common, or share a word if either has none."""
    mine, theirs = labels.find(phrase), labels.find(other)
    if mine and theirs:
        return not mine.isdisjoint(theirs)
    words = set(phrase.casefold().split()) & set(other.casefold().split())
    return bool(words - {"a", "an", "the", "of", "is", "sound"})


def _sequence(parsed: captions.Parsed) -> list[str]:
    return [parsed.phrases[index].text for group in parsed.groups for index in group]


def plan(hearer: Hearer, item: Item) -> Sequence[Ask]:
    """What to ask about an item: nothing if it states no order; a detector hears the clip once."""
    said = of_item(item)
    if said.not_applicable:
        return ()
    if hearer.detector:
        return [Ask(CLIP, "events")]
    sides = ((CAPTION, said.caption), (REVERSED, said.reversed_caption))
    return [
        Ask(side, "alignment", {"caption": caption}, repeat)
        for repeat in range(hearer.repeats)
        for side, caption in sides
    ]


def stages(ledger: Ledger, hearer: Hearer) -> Sequence[Stage]:
    """One pass."""
    return [Stage("hearing", lambda stored: plan(hearer, stored.item))]


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
    first = next((_events(h) for h in heard if not h.reason), ())
    reason, detail = _unheard(heard, hearer)
    if hearer.detector and not reason:
        detail = unmapped(said.phrases, frozenset() if hearer.unclaimed else hearer.known_labels)
        reason = "unmapped" if detail else ""
    if reason:
        return ItemRow(**row, status=UNHEARD, reason=reason, detail=detail, verdict=UNHEARD, heard=first)
    values, kind, detail = _scored(said, sets, heard, hearer)
    return ItemRow(
        **row, status=SCORED, reason="", detail=detail, verdict="right" if values["toa"] else "wrong",
        error_kind=kind, values=values, heard=first,
    )  # fmt: skip


def _repeats(heard: Sequence[Heard], hearer: Hearer) -> list[dict[str, Heard]]:
    """The scored repeats: those of which every side was heard."""
    sides = (CLIP,) if hearer.detector else (CAPTION, REVERSED)
    found = {(h.side, h.repeat): h for h in heard if not h.reason}
    repeats = sorted({h.repeat for h in heard})
    return [
        {side: found[side, repeat] for side in sides}
        for repeat in repeats
        if all((side, repeat) in found for side in sides)
    ]


def _unheard(heard: Sequence[Heard], hearer: Hearer) -> tuple[str, str]:
    if _repeats(heard, hearer):
        return "", ""
    fault = next((h for h in heard if h.reason), None)
    return (fault.reason, fault.detail) if fault else (NOT_HEARD_YET["reason"], NOT_HEARD_YET["detail"])


def _events(heard: Heard) -> tuple[Event, ...]:
    listed = heard.reply.get("events") or heard.reply.get("events_heard") or ()
    return tuple(Event(e["label"], e["onset_s"], e["offset_s"], e["confidence"]) for e in listed)


def _by_label(events: Sequence[Event], wanted: frozenset[str]) -> tuple[Event, ...]:
    """A judge's events in its own words, under the asked label that each names, where it names one."""
    named = ((event, sorted(labels.find(event.label) & wanted)) for event in events)
    return tuple(replace(event, label=found[0]) if found else event for event, found in named)


def _scored(
    said: Stated, sets: Sequence[frozenset[str]], heard: Sequence[Heard], hearer: Hearer
) -> tuple[Mapping[str, float | None], str, str]:
    repeats = _repeats(heard, hearer)
    lenient: float | None = None
    if hearer.detector:
        wide = [labels.lenient(labels.find(phrase)) for phrase in said.phrases]
        tables = [_events(repeat[CLIP]) for repeat in repeats]
        orders = [
            order.order_of_onsets(order.first_onsets(sets, events), said.precedences, hearer.resolution_s)
            for events in tables
        ]
        lenient_orders = [
            order.order_of_onsets(
                order.lenient_onsets(sets, wide, events), said.precedences, hearer.resolution_s
            )
            for events in tables
        ]
        lenient = float(order.over_repeats(lenient_orders).correct)
        recalls = [presence.event_recall(sets, events) for events in tables]
        precisions = [presence.event_precision(wide, hearer.known_labels, events) for events in tables]
    else:
        orders = [
            order.order_of_replies(
                repeat[CAPTION].reply["temporal_order_match"],
                repeat[CAPTION].reply["overall_alignment"],
                repeat[REVERSED].reply["temporal_order_match"],
                repeat[REVERSED].reply["overall_alignment"],
            )
            for repeat in repeats
        ]
        wide = [labels.lenient(labels.find(phrase)) for phrase in said.phrases]
        tables = [_by_label(_events(repeat[CAPTION]), frozenset().union(*wide)) for repeat in repeats]
        recalls = [presence.event_recall([s for s in sets if s], events) for events in tables]
        precisions = [presence.event_precision(wide, frozenset(), events) for events in tables]
    joined = order.over_repeats(orders)
    sign = (joined.alignment > joined.alignment_reversed) - (joined.alignment < joined.alignment_reversed)
    order_sign = joined.order_right - joined.reversal_right
    values: dict[str, float | None] = {
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
        "event_recall": _mean(recalls),
        "event_precision": _mean(precisions),
        "toa_lenient": lenient,
    }
    return values, joined.kind, _why(said, orders, joined, hearer)


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _why(said: Stated, orders: Sequence[order.Order], joined: order.ItemOrder, hearer: Hearer) -> str:
    """The verdict's reason in words, from the first repeat that shows it."""
    shown = next((o for o in orders if o.kind == joined.kind), orders[0])
    if not hearer.detector:
        return (
            f"order match {shown.match} on the caption and {shown.match_reversed} on its reversal; "
            f"alignment {joined.alignment:g} against {joined.alignment_reversed:g}"
        )
    times = [
        f"{phrase!r} " + ("not heard" if onset is None else f"from {onset:.2f} s")
        for phrase, onset in zip(said.phrases, shown.onsets_s, strict=True)
    ]
    told = ", ".join(times)
    if joined.kind == order.OVERLAPPED:
        told += f"; onsets closer than {hearer.resolution_s:g} s cannot be told apart"
    return told


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
    MetricSpec("toa_lenient", "TOA (lenient)", "TOA where a wider label may stand in", rate=True),
)

KIND_MEANINGS = {
    order.MISSING: "a sound the caption asks for was not heard",
    order.REVERSED: "the sounds were heard in another order",
    order.OVERLAPPED: "the sounds start too close together to tell their order",
    order.UNCLEAR: "the listener gave no clear order",
}


def measures(hearer: Hearer) -> Measures:
    """What the order task measures; a judge's alignment is a mark from 1 to 5, a detector's a share."""
    marks = {} if hearer.detector else {"alignment": (1.0, 5.0)}
    return Measures(
        specs=tuple(replace(spec, scale=marks.get(spec.name, spec.scale)) for spec in _SPECS),
        key="toa",
        columns=("toa", "order_given_heard", "event_recall", "n", "scored", "coverage"),
        verdicts={"right": "Right", "wrong": "Wrong"},
        kinds=KIND_MEANINGS,
    )


TASK = Task(
    name="order",
    title="Which system keeps the order of events?",
    questions=lambda hearer: [EVENTS] if hearer.detector else [ALIGNMENT],
    stages=stages,
    rows=rows,
    measures=measures,
    not_asked=lambda item: of_item(item).not_applicable,
)
