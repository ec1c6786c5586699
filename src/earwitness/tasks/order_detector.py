"""The order task with a detector: one hearing a clip, from which everything else is derived."""

from collections.abc import Mapping, Sequence

from earwitness import labels
from earwitness.events import Event
from earwitness.ledger import Heard
from earwitness.questions.events import EVENTS
from earwitness.runner import Ask
from earwitness.scores import order, presence
from earwitness.tasks.order_reading import Reading, events_of, mean, placed
from earwitness.tasks.order_stated import Stated
from earwitness.tasks.task import Hearer

CLIP = "clip"
SIDES = (CLIP,)
ASKS = (Ask(CLIP, EVENTS.name),)


def listed(repeat: Mapping[str, Heard]) -> tuple[Event, ...]:
    """What was heard."""
    return events_of(repeat[CLIP])


def read(said: Stated, repeats: Sequence[Mapping[str, Heard]], hearer: Hearer) -> Reading:
    """The order of the first events that carry the labels of the phrases."""
    found = [labels.find(phrase) for phrase in said.phrases]
    exact, wide = [labels.heard_as(its) for its in found], [labels.lenient(its) for its in found]
    tables = [listed(repeat) for repeat in repeats]
    orders = [
        order.order_of_onsets(order.first_onsets(exact, events), said.precedences, hearer.resolution_s)
        for events in tables
    ]
    lenient = [
        order.order_of_onsets(
            order.lenient_onsets(exact, wide, events), said.precedences, hearer.resolution_s
        )
        for events in tables
    ]
    joined = order.over_repeats(orders)
    values = {
        "event_recall": mean([presence.event_recall(exact, events) for events in tables]),
        "event_precision": mean(
            [presence.event_precision(wide, hearer.known_labels, events) for events in tables]
        ),
        "toa_lenient": float(order.over_repeats(lenient).correct),
    }
    shown = next((o for o in orders if o.kind == joined.kind), orders[0])
    told = placed(said.phrases, shown.onsets_s)
    if joined.kind == order.OVERLAPPED:
        told += f"; onsets closer than {hearer.resolution_s:g} s cannot be told apart"
    return Reading(joined, values, told)
