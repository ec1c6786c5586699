"""Does a clip keep the stated order of events?

Conventions
-----------
A phrase is given as the set of labels that count as it; the sets of one item do not meet, so one
event never serves two phrases. A precedence (i, j) states that phrase i begins before phrase j.
The onset of a phrase is the first onset among its events. A precedence holds if the onsets are at
least ``resolution_s`` apart in the stated direction; closer onsets are ``overlapped``. The reversal
of a caption states every precedence the other way round.

Temporal-Order Accuracy (TOA) of an item: order_match(c) = 1 and alignment(c) > alignment(c') for
the caption c and its reversal c'. For a detector, order_match is 1 if every phrase is heard and
every precedence holds, 0.5 if every phrase is heard, else 0; alignment is the share of stated
precedences that hold. For a judge both are its own replies.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from earwitness.events import Event

MISSING, REVERSED, OVERLAPPED, UNCLEAR = "missing", "reversed", "overlapped", "unclear"
KINDS = (MISSING, REVERSED, OVERLAPPED, UNCLEAR)

Precedences = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Order:
    """The order of one hearing against the caption and against its reversal.

    Attributes:
        match, match_reversed: order_match of the caption and of the reversal; None if a judge
            called the order not applicable.
        alignment, alignment_reversed: For a detector the shares of precedences that hold; for a
            judge its overall alignment, 1 to 5.
        kind: Kind of the order error, empty if the order is right.
        onsets_s: First onset of every phrase; None if it is not heard. Empty for judges.
    """

    match: float | None
    match_reversed: float | None
    alignment: float
    alignment_reversed: float
    kind: str
    onsets_s: tuple[float | None, ...] = ()

    @property
    def right(self) -> bool:
        """The verdict of this one hearing: order right, and alignment above the reversal's."""
        return self.match == 1.0 and self.alignment > self.alignment_reversed


def first_onsets(phrases: Sequence[frozenset[str]], events: Sequence[Event]) -> tuple[float | None, ...]:
    """First onset of every phrase in seconds, None where none of its labels is heard."""
    return tuple(min((e.onset_s for e in events if e.label in labels), default=None) for labels in phrases)


def lenient_onsets(
    phrases: Sequence[frozenset[str]], lenient: Sequence[frozenset[str]], events: Sequence[Event]
) -> tuple[float | None, ...]:
    """First onsets where an ancestor's label ("Animal" for a dog) may stand in for a phrase.

    An ancestor's event is not taken when it overlaps an event of another phrase that it may
    equally name: it is then most likely that sound under its wider name. One that could name
    several missing phrases serves none of them: which it is decides the order.

    Args:
        phrases: Labels that count exactly, one set a phrase.
        lenient: The same sets with ancestors added.
        events: What was heard.
    """
    onsets = list(first_onsets(phrases, events))
    exact = [[e for e in events if e.label in labels] for labels in phrases]
    missing = [index for index, onset in enumerate(onsets) if onset is None]

    def names_another(event: Event, index: int) -> bool:
        others = (other for other in range(len(phrases)) if other != index and event.label in lenient[other])
        return any(
            other in missing
            or any(event.onset_s < e.offset_s and e.onset_s < event.offset_s for e in exact[other])
            for other in others
        )

    for index in missing:
        onsets[index] = min(
            (e.onset_s for e in events if e.label in lenient[index] and not names_another(e, index)),
            default=None,
        )
    return tuple(onsets)


def holds(earlier_s: float | None, later_s: float | None, resolution_s: float) -> bool:
    """True if both onsets are known and the first lies at least ``resolution_s`` before the second.

    Times are compared with a slack of a microsecond, so that an onset exactly at the resolution counts.
    """
    return earlier_s is not None and later_s is not None and later_s - earlier_s >= resolution_s - 1e-6


def order_of_onsets(onsets_s: Sequence[float | None], precedences: Precedences, resolution_s: float) -> Order:
    """The order of a detector's hearing.

    Args:
        onsets_s: First onset of every phrase, seconds; None if not heard.
        precedences: Stated pairs, at least one.
        resolution_s: Onsets closer than this are overlapped.

    Raises:
        ValueError: If no precedence is stated.
    """
    if not precedences:
        raise ValueError("an order needs at least one stated precedence")
    forward = [holds(onsets_s[i], onsets_s[j], resolution_s) for i, j in precedences]
    backward = [holds(onsets_s[j], onsets_s[i], resolution_s) for i, j in precedences]
    all_heard = all(onset is not None for onset in onsets_s)
    if not all_heard:
        kind = MISSING
    elif all(forward):
        kind = ""
    elif any(backward):
        kind = REVERSED
    else:
        kind = OVERLAPPED
    return Order(
        match=_match(all_heard, forward),
        match_reversed=_match(all_heard, backward),
        alignment=sum(forward) / len(forward),
        alignment_reversed=sum(backward) / len(backward),
        kind=kind,
        onsets_s=tuple(onsets_s),
    )


def _match(all_heard: bool, held: Sequence[bool]) -> float:
    if not all_heard:
        return 0.0
    return 1.0 if all(held) else 0.5


def order_of_replies(
    match: float | None, alignment: float, match_reversed: float | None, alignment_reversed: float
) -> Order:
    """The order of a judge's two replies, one on the caption and one on its reversal.

    A caption that states an order was given: a judge that calls it not applicable (None) is unclear.
    """
    if match == 1.0:
        kind = ""
    elif match == 0.0:
        kind = MISSING
    elif match_reversed == 1.0:
        kind = REVERSED
    else:
        kind = UNCLEAR
    return Order(match, match_reversed, alignment, alignment_reversed, kind)


@dataclass(frozen=True, slots=True)
class ItemOrder:
    """One item over its scored repeats.

    ``correct`` is the item's TOA (0 or 1), ``all_heard`` whether a majority missed no event,
    ``match`` the mean temporal_order_match with "not applicable" left out.
    """

    correct: bool
    order_right: bool
    reversal_right: bool
    match: float | None
    alignment: float
    alignment_reversed: float
    kind: str
    all_heard: bool


def over_repeats(orders: Sequence[Order]) -> ItemOrder:
    """Join the scored repeats of an item: a strict majority must be exactly right.

    Raises:
        ValueError: Without a scored repeat; such an item is unheard, not wrong.
    """
    if not orders:
        raise ValueError("an item without a scored repeat is unheard and has no order")
    order_right = _majority([o.match for o in orders])
    alignment = fmean(o.alignment for o in orders)
    alignment_reversed = fmean(o.alignment_reversed for o in orders)
    correct = order_right and alignment > alignment_reversed
    kinds = Counter(o.kind for o in orders if o.kind)
    kind = ""
    if not correct:
        kind = max(KINDS, key=lambda k: kinds[k]) if kinds and not order_right else UNCLEAR
    stated = [o.match for o in orders if o.match is not None]
    return ItemOrder(
        correct=correct,
        order_right=order_right,
        reversal_right=_majority([o.match_reversed for o in orders]),
        match=fmean(stated) if stated else None,
        alignment=alignment,
        alignment_reversed=alignment_reversed,
        kind=kind,
        all_heard=2 * sum(o.kind != MISSING for o in orders) > len(orders),
    )


def _majority(matches: Sequence[float | None]) -> bool:
    return 2 * sum(match == 1.0 for match in matches) > len(matches)
