"""Items x questions x repeats: order, reading, progress, retries, and the one broad except.

Items are heard in an order shuffled by the run's seed, so that no system is heard in a block. A
file is decoded once, just before it is heard. What is in the ledger already is not heard again,
except what ended in ``transport`` or ``budget``, or anything unheard when ``retry`` is set.
"""

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from pydantic import ValidationError

from earwitness import audio
from earwitness.errors import EarwitnessError, UnusableAudio
from earwitness.ledger import Ledger, StoredItem, content_key, file_hash
from earwitness.listeners.base import RETRIED, Call, Hearing, Listener, Needs, Unheard
from earwitness.questions import QUESTIONS

log = logging.getLogger(__name__)

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Ask:
    """One question about one item: ``side`` names it among the item's questions."""

    side: str
    question: str
    caption: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Counts:
    """What a run did: answers sought, taken from earlier or identical content, and left unheard."""

    asked: int
    reused: int
    unheard: int


def run(
    ledger: Ledger,
    listener: Listener,
    plan: Callable[[StoredItem], Sequence[Ask]],
    *,
    seed: int,
    retry: bool = False,
    progress: Progress | None = None,
) -> Counts:
    """Hear everything that is planned and not yet in the ledger.

    Args:
        plan: What to ask about an item; empty if nothing (not applicable).
        seed: Shuffles the order of items.
        retry: Ask again whatever ended unheard, not only what failed in transport.
        progress: Called with (items finished, items to do).
    """
    todo = [s.item_id for s in ledger.items() if _missing(ledger, s, plan(s), retry)]
    np.random.default_rng(seed).shuffle(todo)
    return _Run(ledger, listener, plan, retry, progress, len(todo)).hear(todo)


class _Run:
    """One pass over the items; calls in flight are those in ``waiting``."""

    def __init__(
        self,
        ledger: Ledger,
        listener: Listener,
        plan: Callable[[StoredItem], Sequence[Ask]],
        retry: bool,
        progress: Progress | None,
        total: int,
    ) -> None:
        self.ledger, self.listener, self.plan, self.retry = ledger, listener, plan, retry
        self.progress, self.total = progress, total
        self.waiting: dict[str, list[tuple[int, Ask]]] = {}  # content key -> items that share it
        self.open_asks: dict[int, int] = {}  # item -> answers still to come
        self.answered: set[str] = set()  # keys answered in this pass, so that a retry asks once
        self.finished = self.asked = self.reused = self.unheard = 0

    def hear(self, item_ids: Sequence[int]) -> Counts:
        self._tick(0)
        for key, answer in _answers(self.listener, self._calls(item_ids)):
            first = self.waiting[key][0][1]
            answer = _validated(answer, first.question)
            reason, detail = self.ledger.record(key, first.question, first.caption, first.repeat, answer)
            self.answered.add(key)
            for item_id, ask in self.waiting.pop(key):
                self._settle(item_id, ask, key, reason, detail)
        return Counts(self.asked, self.reused, self.unheard)

    def _calls(self, item_ids: Sequence[int]) -> Iterator[Call]:
        for item_id in item_ids:
            stored = self.ledger.item(item_id)
            asks = _missing(self.ledger, stored, self.plan(stored), self.retry)
            self.open_asks[item_id] = len(asks)
            try:
                clip = self._read(stored)
            except UnusableAudio as fault:
                for ask in asks:
                    self._settle(item_id, ask, None, fault.reason, fault.detail)
                continue
            for ask in asks:
                key = self._key(clip.pcm_hash, ask)
                if key in self.waiting:
                    self.reused += 1
                    self.waiting[key].append((item_id, ask))
                    continue
                known = self.ledger.outcome(key)
                if known and (key in self.answered or not _asked_again(known[0], self.retry)):
                    self.reused += 1
                    self._settle(item_id, ask, key, *known)
                    continue
                self.asked += 1
                self.waiting[key] = [(item_id, ask)]
                yield Call(key, (clip,), ask.question, ask.caption, ask.repeat)

    def _read(self, stored: StoredItem) -> audio.Clip:
        """Decode the item's file and keep its facts; raises UnusableAudio with the reason kept too."""
        path, needs = stored.item.audio, self.listener.needs
        size = mtime_ns = digest = None
        try:
            stat = path.stat()
            size, mtime_ns, digest = stat.st_size, stat.st_mtime_ns, file_hash(path)
            clip = audio.read(path)
            _check_length(clip, needs)
        except OSError as fault:
            unusable = UnusableAudio("unreadable", str(fault))
        except UnusableAudio as fault:
            unusable = fault
        else:
            facts = _facts(clip, needs)
            self.ledger.set_file(stored.item_id, size, mtime_ns, digest, clip.pcm_hash, facts)
            return clip
        facts = {"reason": unusable.reason, "detail": unusable.detail}
        self.ledger.set_file(stored.item_id, size, mtime_ns, digest, None, facts)
        raise unusable

    def _key(self, pcm_hash: str, ask: Ask) -> str:
        listener, fingerprint = self.listener, QUESTIONS[ask.question].fingerprint
        return content_key(
            [pcm_hash],
            fingerprint,
            ask.caption,
            listener.name,
            listener.version,
            listener.settings,
            ask.repeat,
        )

    def _settle(self, item_id: int, ask: Ask, key: str | None, reason: str, detail: str) -> None:
        self.ledger.link(item_id, ask.side, ask.repeat, key, reason, detail)
        self.unheard += bool(reason)
        self.open_asks[item_id] -= 1
        if not self.open_asks[item_id]:
            del self.open_asks[item_id]
            self._tick(1)

    def _tick(self, more: int) -> None:
        self.finished += more
        if self.progress is not None:
            self.progress(self.finished, self.total)


def _answers(listener: Listener, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
    """The listener's answers. If it breaks, the calls in flight are asked one by one, so that only
    the call that breaks it is lost, and the rest go on."""
    in_flight: dict[str, Call] = {}
    our_faults: list[BaseException] = []  # raised while feeding it: not the listener's

    def feed() -> Iterator[Call]:
        try:
            for call in calls:
                in_flight[call.call_id] = call
                yield call
        except BaseException as fault:
            our_faults.append(fault)
            raise

    source = feed()
    while True:
        try:
            for key, answer in listener.hear(source):
                del in_flight[key]
                yield key, answer
            for key in in_flight:
                yield key, Unheard("transport", "the listener gave no answer")
            return
        except EarwitnessError:
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
                    yield from _answers(listener, [call])


def _validated(answer: Hearing | Unheard, question: str) -> Hearing | Unheard:
    """A reply that does not fit the question's model is ``invalid``, with the first fault named."""
    if isinstance(answer, Unheard):
        return answer
    try:
        QUESTIONS[question].reply.model_validate_json(json.dumps(answer.reply))
    except (ValidationError, TypeError, ValueError) as fault:
        if isinstance(fault, ValidationError):
            first = fault.errors()[0]
            detail = f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
        else:
            detail = str(fault)
        return Unheard("invalid", detail, answer.raw)
    return answer


def _missing(ledger: Ledger, stored: StoredItem, asks: Sequence[Ask], retry: bool) -> list[Ask]:
    done = ledger.done(stored.item_id) if asks else {}
    return [
        ask
        for ask in asks
        if (ask.side, ask.repeat) not in done or _asked_again(done[ask.side, ask.repeat], retry)
    ]


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
