"""Items x questions x repeats: order, reading, progress, retries, budget, and the one broad except.

Items are heard in an order shuffled by the run's seed, so that no system is heard in a block. A
file is decoded once, just before it is heard. What is in the ledger already is not heard again,
except what ended in ``transport`` or ``budget``, or anything unheard when ``retry`` is set.

A budget is kept by what calls have cost so far: one is made only if what was spent and what the calls in
flight and this one should cost stay within it, each taken at the cost of the dearest call so far. Until
a cost is known, calls are made one at a time, each if its expected cost is within the budget.

A listener may draw its calls from threads of its own: drawing a call and keeping an answer take turns.
"""

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from earwitness import audio
from earwitness.errors import UnusableAudio, UserError
from earwitness.ledger import Ledger, StoredFile, StoredItem
from earwitness.ledger.keys import content_key, file_hash
from earwitness.listeners.base import RETRIED, Call, Hearing, Listener, Needs, Unheard
from earwitness.manifest import AUDIO, SOURCE
from earwitness.questions.base import InvalidReply, Question

log = logging.getLogger(__name__)

COST = "cost_usd"
"""The count of a hearing's usage that a budget limits."""

ROUNDING = 1e-9
"""Dollars by which a sum of prices may miss a budget: three calls at 0.1 are 0.30000000000000004."""

Progress = Callable[[int, int, float | None], None]
"""Called with answers settled, answers sought, and dollars spent (None where nothing has a price). What is
not sought for want of money is never settled."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question about one item.

    Attributes:
        side: Names the question among those about the item.
        question: Name of the question.
        texts: What it shows beside the sound, by name.
        repeat: 0-based index of the independent hearing.
        clips: Which of the item's files are heard, by role, in the order of the question's clip names.
    """

    side: str
    question: str
    texts: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0
    clips: tuple[str, ...] = (AUDIO,)


Plan = Callable[[StoredItem], Sequence[Ask]]
"""What to ask about an item; empty if nothing (not applicable)."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run did: answers sought, taken from earlier or identical content, and left unheard.

    ``over_budget`` is how many answers were not sought because the budget would have been exceeded.
    """

    asked: int = 0
    reused: int = 0
    unheard: int = 0
    over_budget: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(
            self.asked + other.asked,
            self.reused + other.reused,
            self.unheard + other.unheard,
            self.over_budget + other.over_budget,
        )


def run(
    ledger: Ledger,
    listener: Listener,
    plan: Plan,
    questions: Mapping[str, Question],
    *,
    seed: int,
    retry: bool = False,
    max_cost_usd: float | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Hear everything that is planned and not yet in the ledger.

    Args:
        questions: The run's questions by name, in the words in which they are asked.
        seed: Shuffles the order of items.
        retry: Ask again whatever ended unheard, not only what failed in transport.
        max_cost_usd: What the whole run may cost, with what it has cost before.

    Raises:
        UserError: If there is a budget but no price is known for the listener.
    """
    one = _Run(ledger, listener, plan, questions, retry, max_cost_usd, progress)
    todo = []
    for stored in ledger.items():
        if asks := one.missing(stored):
            todo.append(stored.item_id)
            one.total += len(asks)
    np.random.default_rng(seed).shuffle(todo)
    return one.hear(todo)


class _Run:
    """One run over the items; calls in flight are those in ``waiting``."""

    def __init__(
        self,
        ledger: Ledger,
        listener: Listener,
        plan: Plan,
        questions: Mapping[str, Question],
        retry: bool,
        max_cost_usd: float | None,
        progress: Progress | None,
    ) -> None:
        self.ledger, self.listener, self.plan, self.questions = ledger, listener, plan, questions
        self.retry, self.max_cost, self.progress = retry, max_cost_usd, progress
        self.turn = threading.RLock()
        self.waiting: dict[str, _Waiting] = {}  # by content key
        self.answered: set[str] = set()  # keys answered in this run, so that a retry asks once
        self.spent: float | None = ledger.usage().get(COST)
        self.dearest: float | None = ledger.dearest(COST)
        self.short = self.broke = False  # no money for the next call now; no more money in this run
        self.finished = self.total = self.asked = self.reused = self.unheard = self.over_budget = 0

    def missing(self, stored: StoredItem) -> list[Ask]:
        asks = self.plan(stored)
        done = self.ledger.done(stored.item_id) if asks else {}
        return [
            ask
            for ask in asks
            if (ask.side, ask.repeat) not in done or _asked_again(done[ask.side, ask.repeat], self.retry)
        ]

    def hear(self, item_ids: Sequence[int]) -> Counts:
        """Hear the items in turn; where money runs short, in several passes."""
        calls = self._calls(item_ids)

        def draw() -> Call | None:
            with self.turn:
                return next(calls, None)

        self._tick(0)
        while True:
            asked, self.short = self.asked, False
            for key, answer in _answers(self.listener, draw):
                self._keep(key, answer)
            if not self.short:
                break
            # Calls in flight may have cost less than was set aside for them: go on while that helps.
            self.broke = self.asked == asked
        return Counts(self.asked, self.reused, self.unheard + self.over_budget, self.over_budget)

    def _calls(self, item_ids: Sequence[int]) -> Iterator[Call | None]:
        """Every call to make, in order; None where there is no money now for the one that comes next."""
        for item_id in item_ids:
            stored = self.ledger.item(item_id)
            clips: dict[str, audio.Clip | UnusableAudio] = {}
            for ask in self.missing(stored):
                call = None if self.broke else self._call(stored, ask, clips)
                if call is not None:
                    durations_s = tuple(clip.duration_s for clip in call.clips)
                    while (cost := self._set_aside(call, durations_s)) is None and not self.broke:
                        self.short = True
                        yield None
                    if cost is not None:
                        self.asked += 1
                        self.waiting[call.call_id] = _Waiting([(item_id, ask)], durations_s, cost)
                        yield call
                        continue
                if self.broke:
                    self.over_budget += 1
                    self.ledger.link(item_id, ask.side, ask.repeat, None, "budget", "the budget was used up")

    def _call(
        self, stored: StoredItem, ask: Ask, clips: dict[str, audio.Clip | UnusableAudio]
    ) -> Call | None:
        """What must be heard to answer; None if the answer is known, on its way, or not to be had.

        Args:
            clips: Those of the item's files that were read, by role; others are read and added.
        """
        heard: list[audio.Clip] = []
        for role in ask.clips:
            if role not in clips:
                clips[role] = self._read(stored, role)
        for role in ask.clips:
            clip = clips[role]
            if isinstance(clip, UnusableAudio):
                self._settle(stored.item_id, ask, None, clip.reason, clip.detail)
                return None
            heard.append(clip)
        question = self.questions[ask.question]
        key = self._key(heard, question, ask)
        if key in self.waiting:
            self.reused += 1
            self.waiting[key].asks.append((stored.item_id, ask))
            return None
        known = self.ledger.outcome(key)
        if known and (key in self.answered or not _asked_again(known[0], self.retry)):
            self.reused += 1
            self._settle(stored.item_id, ask, key, *known)
            return None
        return Call(key, tuple(heard), question, ask.texts, ask.repeat)

    def _keep(self, key: str, answer: Hearing | Unheard) -> None:
        """Write an answer down for every item that waits for it."""
        with self.turn:
            waiting = self.waiting.pop(key)
            ask = waiting.asks[0][1]
            answer = _checked(answer, self.questions[ask.question], waiting.durations_s)
            asked_by = [(item_id, asked.side) for item_id, asked in waiting.asks]
            reason, _ = self.ledger.record(key, ask.question, ask.texts, ask.repeat, answer, asked_by)
            self.answered.add(key)
            if COST in answer.usage:
                self.spent = (self.spent or 0.0) + answer.usage[COST]
                self.dearest = max(self.dearest or 0.0, answer.usage[COST])
            self.unheard += len(asked_by) * bool(reason)
            self._tick(len(asked_by))

    def _set_aside(self, call: Call, durations_s: Sequence[float]) -> float | None:
        """What the call should cost; None if that is more than is left."""
        if self.max_cost is None:
            return 0.0
        expected = self.listener.expected(call.question, call.texts, durations_s)
        if not expected:
            return 0.0
        if COST not in expected:
            raise UserError(
                f"no price is known for {self.listener.name}, so its cost cannot be limited.",
                "Give its price with --price, or leave --max-cost out.",
            )
        if self.dearest is None and self.waiting:
            return None  # what calls really cost is known when the first is answered
        cost = expected[COST] if self.dearest is None else self.dearest
        in_flight = len(self.waiting) * (self.dearest or 0.0)
        return cost if (self.spent or 0.0) + in_flight + cost <= self.max_cost + ROUNDING else None

    def _read(self, stored: StoredItem, role: str) -> audio.Clip | UnusableAudio:
        """Decode one of the item's files and keep its facts; a file nobody can hear with the reason."""
        path, needs = stored.item.files[role], self.listener.needs
        size = mtime_ns = digest = None
        try:
            stat = path.stat()
            size, mtime_ns = stat.st_size, stat.st_mtime_ns
            digest = file_hash(path) if path.is_file() else None
            clip = audio.read(path)
            _check_length(clip, needs)
        except OSError as fault:
            unusable = UnusableAudio("unreadable", fault.strerror or str(fault))
        except UnusableAudio as fault:
            unusable = fault
        else:
            facts = _facts(clip, needs)
            kept = StoredFile(size, mtime_ns, digest, clip.pcm_hash, facts)
            self.ledger.set_file(stored.item_id, role, kept)
            return clip
        facts = {"reason": unusable.reason, "detail": unusable.detail}
        self.ledger.set_file(stored.item_id, role, StoredFile(size, mtime_ns, digest, None, facts))
        if role == SOURCE:
            unusable = UnusableAudio(unusable.reason, f"the source clip: {unusable.detail}")
        return unusable

    def _key(self, clips: Sequence[audio.Clip], question: Question, ask: Ask) -> str:
        listener = self.listener
        return content_key(
            [clip.pcm_hash for clip in clips],
            question.fingerprint,
            ask.texts,
            listener.name,
            listener.version,
            listener.settings,
            ask.repeat,
        )

    def _settle(self, item_id: int, ask: Ask, key: str | None, reason: str, detail: str) -> None:
        self.ledger.link(item_id, ask.side, ask.repeat, key, reason, detail)
        self.unheard += bool(reason)
        self._tick(1)

    def _tick(self, more: int) -> None:
        self.finished += more
        if self.progress is not None:
            self.progress(self.finished, self.total, self.spent)


@dataclass(slots=True)
class _Waiting:
    """A call in flight: the items that share it, the lengths of its clips, what was set aside for it."""

    asks: list[tuple[int, Ask]]
    durations_s: tuple[float, ...]
    cost: float


class _Drawn:
    """What is drawn until there is None, for threads to share. ``iter(draw, None)`` would lose what one of
    them is drawing while another meets the end."""

    def __init__(self, draw: Callable[[], Call | None]) -> None:
        self.draw, self.ended, self.turn = draw, False, threading.Lock()

    def __iter__(self) -> Iterator[Call]:
        return self

    def __next__(self) -> Call:
        with self.turn:
            call = None if self.ended else self.draw()
            self.ended = call is None
            if call is None:
                raise StopIteration
            return call


def _answers(listener: Listener, draw: Callable[[], Call | None]) -> Iterator[tuple[str, Hearing | Unheard]]:
    """The listener's answers to what is drawn, until there is None to draw. If it breaks, the calls in
    flight are asked one by one, so that only the call that breaks it is lost, and the rest go on."""
    in_flight: dict[str, Call] = {}
    our_faults: list[Exception] = []  # raised while feeding it: not the listener's
    drawn, finished = 0, False

    def feed() -> Call | None:
        nonlocal drawn, finished
        try:
            call = draw()
        except Exception as fault:
            our_faults.append(fault)
            raise
        if call is None:
            finished = True
        else:
            drawn += 1
            in_flight[call.call_id] = call
        return call

    while not finished:
        before = drawn
        try:
            for key, answer in listener.hear(_Drawn(feed)):
                del in_flight[key]
                yield key, answer
        except UserError:
            raise
        except Exception as fault:
            if our_faults or not in_flight:
                raise
            log.error("the listener failed: %r", fault)
            stranded = list(in_flight.values())
            in_flight.clear()
            if len(stranded) == 1:
                yield stranded[0].call_id, Unheard("transport", f"the listener failed: {fault!r}")
            else:
                for call in stranded:
                    yield from _answers(listener, partial(next, iter([call]), None))
            continue
        if our_faults:  # raised in a thread of the listener's, where nobody saw it
            raise our_faults[0]
        for key in in_flight:
            yield key, Unheard("transport", "the listener gave no answer")
        in_flight.clear()
        if not finished and drawn == before:
            raise RuntimeError(f"{listener.name} left calls undrawn")


def _checked(
    answer: Hearing | Unheard, question: Question, durations_s: Sequence[float]
) -> Hearing | Unheard:
    """A reply that does not fit the question is ``invalid``, with the first fault named."""
    if isinstance(answer, Unheard):
        return answer
    try:
        return replace(answer, reply=question.read(answer.reply, durations_s))
    except InvalidReply as fault:
        return Unheard("invalid", str(fault), answer.raw, answer.usage)


def _asked_again(reason: str, retry: bool) -> bool:
    return reason in RETRIED or (retry and bool(reason))


def _check_length(clip: audio.Clip, needs: Needs) -> None:
    if clip.duration_s < needs.min_s:
        raise UnusableAudio("too_short", f"{clip.duration_s:.3f} s; the listener needs {needs.min_s:g} s")
    if clip.duration_s > needs.max_s:
        raise UnusableAudio(
            "too_long", f"{clip.duration_s:.1f} s; the listener takes at most {needs.max_s:g} s"
        )


def _facts(clip: audio.Clip, needs: Needs) -> dict[str, Any]:
    warnings = list(clip.warnings)
    if clip.rate_hz < needs.rate_hz:
        warnings.append(
            f"sampled at {clip.rate_hz} Hz, below the {needs.rate_hz} Hz the listener hears: band-limited"
        )
    return {
        "duration_s": clip.duration_s,
        "rate_hz": clip.rate_hz,
        "channels": int(clip.samples.shape[0]),
        "warnings": warnings,
    }
