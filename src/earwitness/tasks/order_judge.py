"""The order task with a judge that reads captions: its own answers, and the same recomputed from the events
that it lists.

Asked in the ``seed`` way, a judge hears the clip with the caption in sight and again with the reversal.
Asked ``blind``, it first lists what it hears with no caption; that list then goes with both sides, and
what is recomputed comes from it alone.
"""

import json
from collections.abc import Mapping, Sequence

from earwitness.events import Event
from earwitness.ledger import Heard
from earwitness.questions.alignment import ALIGNMENT, ALIGNMENT_AFTER_LISTENING
from earwitness.questions.base import Question
from earwitness.questions.listen import LISTEN
from earwitness.runner import Ask
from earwitness.scores import named, order, repeats
from earwitness.tasks.order_reading import Reading, events_of, mean, placed
from earwitness.tasks.order_stated import Stated
from earwitness.tasks.task import BLIND, Hearer

LISTENED, CAPTION, REVERSED = "listen", "caption", "reversed"
RIGHT, WRONG = "right", "wrong"


def questions(hearer: Hearer) -> Sequence[Question]:
    """What a judge is asked; the first is the one that ``--prompt`` rewords."""
    return [ALIGNMENT_AFTER_LISTENING, LISTEN] if hearer.ask == BLIND else [ALIGNMENT]


def sides(hearer: Hearer) -> tuple[str, ...]:
    """The sides that a repeat must have to be scored."""
    return (LISTENED, CAPTION, REVERSED) if hearer.ask == BLIND else (CAPTION, REVERSED)


def listening(hearer: Hearer) -> list[Ask]:
    """The blind first listens: no caption."""
    return [Ask(LISTENED, LISTEN.name, repeat=repeat) for repeat in range(hearer.repeats)]


def scoring(said: Stated, hearer: Hearer, heard: Sequence[Heard]) -> list[Ask]:
    """Both sides of every repeat; asked blind, only of repeats whose first listen was heard.

    Args:
        heard: What the ledger holds of the item.
    """
    shown: Mapping[int, Mapping[str, str]]
    if hearer.ask == BLIND:
        listens = [h for h in heard if h.side == LISTENED and not h.reason and h.repeat < hearer.repeats]
        shown = {h.repeat: {"heard": _compact(h)} for h in listens}
    else:
        shown = {repeat: {} for repeat in range(hearer.repeats)}
    captions = ((CAPTION, said.caption), (REVERSED, said.reversed_caption))
    question = questions(hearer)[0].name
    return [
        Ask(side, question, {"caption": caption, **texts}, repeat)
        for repeat, texts in shown.items()
        for side, caption in captions
    ]


def _compact(heard: Heard) -> str:
    """The list of a first listen as it is shown again."""
    return json.dumps(heard.reply["events_heard"], ensure_ascii=False, separators=(",", ":"))


def listed(repeat: Mapping[str, Heard]) -> tuple[Event, ...]:
    """What the judge says that it heard, in its own words: before it knew a caption, where there is that."""
    return events_of(repeat.get(LISTENED) or repeat[CAPTION])


def read(said: Stated, heard: Sequence[Mapping[str, Heard]], hearer: Hearer) -> Reading:
    """The order by the judge's own answers; beside it what its list of events says.

    The list is read as a detector's hearing is: first onsets at least the listener's resolution apart.
    Where it stays open which phrases were heard, recall and order are not recomputed.
    """
    orders = [
        order.order_of_replies(
            repeat[CAPTION].reply["temporal_order_match"],
            repeat[CAPTION].reply["overall_alignment"],
            repeat[REVERSED].reply["temporal_order_match"],
            repeat[REVERSED].reply["overall_alignment"],
        )
        for repeat in heard
    ]
    lists = [named.read(said.phrases, listed(repeat)) for repeat in heard]
    by_events = [
        order.order_of_onsets(each.onsets_s, said.precedences, hearer.resolution_s)
        for each in lists
        if not each.doubt
    ]
    joined = order.over_repeats(orders)
    again = order.over_repeats(by_events).order_right if by_events else None
    own_recall: list[float] = [repeat[CAPTION].reply["event_recall"] for repeat in heard]
    own_precision: list[float] = [repeat[CAPTION].reply["event_precision"] for repeat in heard]
    recall, precision = [each.recall for each in lists], [each.precision for each in lists]
    values = {
        "event_recall": mean(recall),
        "event_precision": mean(precision),
        "judge_event_recall": mean(own_recall),
        "judge_event_precision": mean(own_precision),
        "order_from_events": None if again is None else float(again),
        "order_disagreement": None if again is None else float(again != joined.order_right),
        "recall_disagreement": _apart(own_recall, recall),
        "precision_disagreement": _apart(own_precision, precision),
        "flip_rate": repeats.flip_rate([each.right for each in orders]),
        "alignment_spread": repeats.spread([each.alignment for each in orders]),
    }
    detail = "; ".join([*_own(orders, joined), _listed(said, lists)])
    return Reading(joined, values, detail)


def _apart(own: Sequence[float], recomputed: Sequence[float | None]) -> float | None:
    return mean([None if b is None else abs(a - b) for a, b in zip(own, recomputed, strict=True)])


def _own(orders: Sequence[order.Order], joined: order.ItemOrder) -> list[str]:
    """What the judge answered, from the first repeat that shows the item's kind of error."""
    shown = next((o for o in orders if o.kind == joined.kind), orders[0])
    said = [
        f"order match {_mark(shown.match)} on the caption and {_mark(shown.match_reversed)} on its reversal",
        f"alignment {joined.alignment:.3g} against {joined.alignment_reversed:.3g}",
    ]
    if len(orders) > 1:
        verdicts = [RIGHT if o.match == 1.0 else WRONG for o in orders]
        most = repeats.majority(verdicts)
        if len(most) > 1:
            said.append(f"{len(orders)} repeats, tie: {', '.join(sorted(most))}")
        else:
            said.append(f"order right in {verdicts.count(RIGHT)} of {len(orders)} repeats")
    return said


def _mark(match: float | None) -> str:
    return "not applicable" if match is None else f"{match:g}"


def _listed(said: Stated, lists: Sequence[named.Named]) -> str:
    """What the judge's list of events says, from the first repeat in which it is clear."""
    clear = next((each for each in lists if not each.doubt), None)
    if clear is None:
        return f"its list of events does not tell: {lists[0].doubt}"
    return f"in its list of events {placed(said.phrases, clear.onsets_s)}"
