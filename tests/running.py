"""Runs of the runner alone for tests: items, plans, and listeners whose price and order are known."""

import contextlib
import queue
import random
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from earwitness.errors import InputFaults
from earwitness.ledger import Ledger, StoredItem
from earwitness.listeners.base import Call, Hearing, Needs, Unheard
from earwitness.manifest import Item
from earwitness.questions import QUESTIONS
from earwitness.questions.base import Question
from earwitness.runner import Ask, Counts, run
from sounds import events_reply

ONCE = (Ask("clip", "events"),)
DOG = events_reply(("Dog", 0.0, 0.4))


def item(path: Path, sample_id: str = "", system: str = "a", **columns: Any) -> Item:
    return Item(system, sample_id or path.stem, path, **{"caption": "a dog barks", **columns})


def hear(
    folder: Path, items: Sequence[Item], listener: Any, asks: Sequence[Ask] = ONCE, **options: Any
) -> Counts:
    """One run into the folder, with the checks that a run makes before it."""
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        faults = ledger.changed_rows(items) + ledger.changed_files()
        if faults:
            raise InputFaults("changed", faults)
        ledger.begin({}, items)
        return run(ledger, listener, lambda stored: asks, QUESTIONS, seed=0, **options)


def outcomes(folder: Path) -> dict[str, list[str]]:
    """The reasons of every item's hearings, by sample."""
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return {s.item.sample_id: [h.reason for h in ledger.heard(s.item_id)] for s in ledger.items()}


def stored(folder: Path) -> list[StoredItem]:
    with Ledger.read(folder / "ledger.sqlite") as ledger:
        return list(ledger.items())


class Ear:
    """Hears a dog in every clip, some calls at a time, the answers in any order.

    Args:
        in_flight: Calls drawn before one is answered.
        expected, cost: Dollars a call should cost and does cost; None where no price is known.
        fails: Every how manieth call ends in transport; 0 for none.
        seed: Of the order of answers.
    """

    name, version, settings, known_labels, measured = "ear", "1", {}, frozenset(), ""  # type: ignore[var-annotated]
    needs = Needs(8000, 0.025, 60.0, 0.1, ("events",), True, "as told")

    def __init__(
        self,
        *,
        in_flight: int = 1,
        expected: float | None = None,
        cost: float | None = None,
        fails: int = 0,
        seed: int = 0,
    ) -> None:
        self.in_flight, self.cost, self.fails = in_flight, cost, fails
        self._expected: Mapping[str, float] = {} if expected is None else {"cost_usd": expected}
        self._random = random.Random(seed)
        self.asked: list[Call] = []
        self.answered = 0
        self.charged = 0.0
        self.most_at_risk = 0.0
        """Highest sum of what was charged and what the calls under way were expected to cost."""

    def ready(self) -> None: ...

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        return self._expected

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        waiting: list[Call] = []
        source = iter(calls)
        while True:
            for call in islice(source, self.in_flight - len(waiting)):
                waiting.append(call)
                self.asked.append(call)
                at_risk = self.charged + len(waiting) * self._expected.get("cost_usd", 0.0)
                self.most_at_risk = max(self.most_at_risk, at_risk)
            if not waiting:
                return
            yield self._answer(waiting.pop(self._random.randrange(len(waiting))))

    def _answer(self, call: Call) -> tuple[str, Hearing | Unheard]:
        self.answered += 1
        usage = {} if self.cost is None else {"cost_usd": self.cost}
        self.charged += self.cost or 0.0
        if self.fails and self.answered % self.fails == 0:
            return call.call_id, Unheard("transport", "no route", usage=usage)
        return call.call_id, Hearing(DOG, usage)


class ThreadedEar(Ear):
    """The same from threads: each draws a call, takes its time, and answers."""

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        source = iter(calls)
        answers: queue.Queue[tuple[str, Hearing | Unheard] | None] = queue.Queue()
        counting = threading.Lock()

        def work(seed: int) -> None:
            pause = random.Random(seed)
            with contextlib.suppress(Exception):  # a fault in drawing ends the thread; nobody here tells
                for call in source:
                    time.sleep(pause.uniform(0, 0.002))
                    with counting:
                        self.asked.append(call)
                        answer = self._answer(call)
                    answers.put(answer)
            answers.put(None)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(self.in_flight)]
        for thread in threads:
            thread.start()
        for _ in threads:
            while (answer := answers.get()) is not None:
                yield answer
