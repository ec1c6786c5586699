"""The label task: what is in each clip?

A judge answers the question ``label`` in every repeat. Its caption and events are those of the first
repeat that was heard; a clip is ordered, or has a fault, if strictly more than half of the heard repeats say
so (an even split is named); tags go by how many repeats give them. A detector answers ``events`` and
``quality`` once, and a clip counts as heard when it has answered both; everything else is derived when
scoring (scores.describing), the caption too, which is then made by rule and marked as a template.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from earwitness.events import Event
from earwitness.ledger import Heard, Ledger, StoredItem
from earwitness.manifest import Item
from earwitness.questions.events import EVENTS
from earwitness.questions.label import FLAGS, LABEL
from earwitness.questions.quality import QUALITY
from earwitness.runner import Ask
from earwitness.scores import describing, repeats
from earwitness.tasks.rows import SCORED, UNHEARD, ItemRow, Measures, MetricSpec
from earwitness.tasks.task import DETECTING, NOT_HEARD_YET, Hearer, Stage, Task

ORDERED, UNORDERED = "ordered", "unordered"
TEMPLATE, JUDGE = "template", "judge"
"""Who made a caption: a rule, from the events heard, or a judge in its own words."""
GIVEN, SOURCE = "Given caption", "Caption source"
"""Headings of what a row shows beside its caption: the manifest's own caption, and who made this one."""


@dataclass(frozen=True, slots=True)
class _Description:
    """What is said of a clip; ``values`` holds its numbers."""

    caption: str
    events: tuple[Event, ...]
    tags: tuple[str, ...]
    detail: str
    values: Mapping[str, float | None]


def caption_source(hearer: Hearer) -> str:
    """Who makes the captions: :data:`TEMPLATE` or :data:`JUDGE`."""
    return TEMPLATE if hearer.detector else JUDGE


def flags(row: ItemRow) -> tuple[str, ...]:
    """The faults of a described clip."""
    return tuple(flag for flag in FLAGS if row.values.get(flag))


def sequence(row: ItemRow, hearer: Hearer) -> tuple[str, ...]:
    """The sounds of an ordered clip one after the other, in tag words; empty if it is not ordered.

    A detector's are those that follow one another (scores.describing); a judge's are its events by first
    onset, since the order is its own claim.
    """
    if row.verdict != ORDERED:
        return ()
    if hearer.detector:
        chain = describing.sequence(row.heard, hearer.resolution_s)
        return tuple(describing.word(event.label) for event in chain)
    first: dict[str, str] = {}
    for event in sorted(row.heard, key=lambda event: event.onset_s):
        first.setdefault(event.label.casefold(), event.label)
    return tuple(first.values())


def plan(hearer: Hearer, item: Item) -> Sequence[Ask]:
    """What to ask about an item; nothing shown beside the sound."""
    if hearer.detector:
        return [Ask(question.name, question.name) for question in (EVENTS, QUALITY)]
    return [Ask(LABEL.name, LABEL.name, repeat=repeat) for repeat in range(hearer.repeats)]


def stages(ledger: Ledger, hearer: Hearer) -> Sequence[Stage]:
    """One pass."""
    return [Stage("hearing", lambda stored: plan(hearer, stored.item))]


def rows(ledger: Ledger, hearer: Hearer) -> Iterator[ItemRow]:
    """Every item described from what the ledger holds, one at a time."""
    for item_id in ledger.item_ids():
        yield _row(ledger.item(item_id), ledger.heard(item_id), hearer)


def _row(stored: StoredItem, heard: Sequence[Heard], hearer: Hearer) -> ItemRow:
    item = stored.item
    row: dict[str, Any] = {
        "item_id": stored.item_id,
        "system": item.system,
        "sample_id": item.sample_id,
        "reversed_caption": "",
        "audio": str(item.audio),
        "duration_s": stored.facts.get("duration_s"),
        "cluster": item.sample_id,
        "warnings": tuple(stored.facts.get("warnings", ())),
    }
    texts = {GIVEN: item.caption} if item.caption.strip() else {}
    answers = [h.reply for h in heard if not h.reason]
    missing = len(answers) < 2 if hearer.detector else not answers
    if missing:
        fault = next(((h.reason, h.detail) for h in heard if h.reason), tuple(NOT_HEARD_YET.values()))
        return ItemRow(
            **row, caption="", status=UNHEARD, reason=fault[0], detail=fault[1], verdict=UNHEARD, texts=texts
        )
    if hearer.detector:
        replies = {h.side: h.reply for h in heard}
        said = _detected(replies[EVENTS.name], replies[QUALITY.name], hearer.resolution_s)
    else:
        said = _judged(answers)
    return ItemRow(
        **row, caption=said.caption, status=SCORED, reason="", detail=said.detail,
        verdict=ORDERED if said.values[ORDERED] else UNORDERED, values=said.values, heard=said.events,
        texts=texts | {SOURCE: caption_source(hearer)}, tags=said.tags,
    )  # fmt: skip


def _events(reply: Mapping[str, Any]) -> tuple[Event, ...]:
    return tuple(Event(e["label"], e["onset_s"], e["offset_s"], e["confidence"]) for e in reply["events"])


def _detected(reply: Mapping[str, Any], quality: Mapping[str, Any], resolution_s: float) -> _Description:
    events = _events(reply)
    chain, tags = describing.sequence(events, resolution_s), describing.tags(events)
    told = [", then ".join(f"{describing.word(e.label)} from {e.onset_s:.2f} s" for e in chain)]
    if not chain:
        told = ["no sound clearly follows another"]
    if len(tags) < describing.FEWEST:
        told.append(f"{len(tags)} distinct {'sound' if len(tags) == 1 else 'sounds'} heard, so no more tags")
    figures = ("peak_dbfs", "level_dbfs", "clipped_share", "silent_share", "bandwidth_hz")
    values: dict[str, float | None] = {
        ORDERED: float(bool(chain)),
        "events": float(len(events)),
        **{flag: float(there) for flag, there in describing.faults(quality).items()},
        **{name: quality[name] for name in figures},
    }
    caption = describing.template(events, resolution_s, silent=quality["silent_share"] == 1.0)
    return _Description(caption, events, tags, "; ".join(told), values)


def _judged(answers: Sequence[Mapping[str, Any]]) -> _Description:
    n = len(answers)
    ordered = [bool(answer["ordered"]) for answer in answers]
    votes = {ORDERED: sum(ordered)} | {
        flag: sum(flag in answer["quality_flags"] for answer in answers) for flag in FLAGS
    }
    told = [f"{votes[ORDERED]} of {n} repeats call it ordered"]
    told += [
        f"the repeats are tied over {name!r}, so it does not count" for name in votes if 2 * votes[name] == n
    ]
    values: dict[str, float | None] = {
        "events": sum(len(answer["events"]) for answer in answers) / n,
        **{name: float(2 * count > n) for name, count in votes.items()},
        "flip_rate": repeats.flip_rate(ordered),
    }
    first = answers[0]
    return _Description(
        first["caption"], _events(first), _voted([a["tags"] for a in answers]), "; ".join(told), values
    )


def _voted(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """Tags that most repeats give, in order of votes, then of appearance; others fill up to the fewest.

    Small and capital letters do not differ; a tag is written as it first was.
    """
    written: dict[str, str] = {}
    votes: Counter[str] = Counter()
    for tags in lists:
        for key in dict.fromkeys(tag.strip().casefold() for tag in tags):
            votes[key] += 1
        for tag in tags:
            written.setdefault(tag.strip().casefold(), tag.strip())
    ranked = sorted(votes, key=lambda key: -votes[key])  # stable: by appearance among equals
    agreed = [key for key in ranked if 2 * votes[key] > len(lists)][: describing.MOST]
    chosen = agreed if len(agreed) >= describing.FEWEST else ranked[: describing.FEWEST]
    return tuple(written[key] for key in chosen)


_SPECS = (
    MetricSpec(
        ORDERED, "Ordered", "clips in which distinct sounds clearly follow one another", better=0, rate=True
    ),
    MetricSpec("events", "Events", "mean number of events", better=0, decimals=2, scale=None),
    MetricSpec("clipping", "Clipping", "clips with samples at full scale", better=-1, rate=True),
    MetricSpec("silence", "Silence", "clips that are silent for the most part", better=-1, rate=True),
    MetricSpec("muffled", "Muffled", "clips without high frequencies", better=-1, rate=True),
)
_OF_JUDGES = (
    MetricSpec("artifacts", "Artifacts", "clips with audible artifacts", better=-1, rate=True),
    MetricSpec("flip_rate", "Flip rate", "pairs of repeats that differ over 'ordered'", better=-1),
)
_OF_DETECTORS = (
    MetricSpec("peak_dbfs", "Peak (dBFS)", "mean peak level", better=0, decimals=1, scale=None),
    MetricSpec("level_dbfs", "Level (dBFS)", "mean RMS level", better=0, decimals=1, scale=None),
    MetricSpec("clipped_share", "Clipped", "mean share of samples at full scale", better=-1, decimals=4),
    MetricSpec("silent_share", "Silent", "mean share of silent time", better=0),
    MetricSpec("bandwidth_hz", "Bandwidth (Hz)", "mean bandwidth", better=0, decimals=0, scale=None),
)


def measures(hearer: Hearer) -> Measures:
    """What is counted; only a judge hears artifacts, only a detector's figures are measured."""
    flagged = [spec.name for spec in (*_SPECS, *_OF_JUDGES) if spec.name in FLAGS]
    if hearer.detector:
        flagged.remove("artifacts")
    return Measures(
        specs=(*_SPECS, *(_OF_DETECTORS if hearer.detector else _OF_JUDGES)),
        key=ORDERED,
        columns=(ORDERED, "events", *flagged, "n", "scored", "coverage"),
        verdicts={ORDERED: "Ordered", UNORDERED: "Not ordered"},
        cluster="one clip",
        hearing=f"{DETECTING} {_MEASURED}" if hearer.detector else _JUDGING,
    )


_MEASURED = "Levels, clipping, silence and bandwidth were measured from the clips' samples."
_JUDGING = "It is a judge: it hears each clip and reads nothing about it."


TASK = Task(
    name="label",
    title="What is in each clip?",
    questions=lambda hearer: [EVENTS, QUALITY] if hearer.detector else [LABEL],
    stages=stages,
    rows=rows,
    measures=measures,
    not_asked=lambda item, hearer: "",
)
