"""What the hearings of one item say of its order, whoever heard it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from earwitness.events import Event
from earwitness.ledger import Heard
from earwitness.scores.order import ItemOrder


@dataclass(frozen=True, slots=True)
class Reading:
    """The order of an item over its repeats, the numbers beside it by metric, and why in words."""

    joined: ItemOrder
    values: Mapping[str, float | None]
    detail: str


def events_of(heard: Heard) -> tuple[Event, ...]:
    """The events that a reply lists."""
    listed = heard.reply.get("events") or heard.reply.get("events_heard") or ()
    return tuple(Event(e["label"], e["onset_s"], e["offset_s"], e["confidence"]) for e in listed)


def mean(values: Sequence[float | None]) -> float | None:
    """The mean of the values that are defined; None without one."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def placed(phrases: Sequence[str], onsets_s: Sequence[float | None]) -> str:
    """Where every phrase begins, in words."""
    return ", ".join(
        f"{phrase!r} " + ("not heard" if onset is None else f"from {onset:.2f} s")
        for phrase, onset in zip(phrases, onsets_s, strict=True)
    )
