"""Calls on an event loop in one background thread, for a caller that is not asynchronous."""

import asyncio
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from queue import SimpleQueue
from types import TracebackType

from earwitness.listeners.base import Hearing, Unheard
from earwitness.listeners.llm_ask import Asker
from earwitness.listeners.llm_sound import Sound
from earwitness.questions.base import Question

Done = tuple[str, Hearing | Unheard | BaseException | None]
"""A call's id with its answer, with what stopped it, or with None if it was dropped unsent."""


class Background:
    """Runs an asker in a thread of its own; leaving the context cancels what is under way and ends it.

    Args:
        in_flight: Most calls at a time that are under way or whose answer the caller has not yet dealt with
            (see :meth:`free`); further ones wait in the order in which they came.

    Attributes:
        done: What became of every call that was submitted, in the order in which that was known.
    """

    def __init__(self, asker: Asker, in_flight: int) -> None:
        self.done: SimpleQueue[Done] = SimpleQueue()
        self._asker = asker
        self._places = asyncio.Semaphore(in_flight)
        self._tasks: set[asyncio.Task[Hearing | Unheard]] = set()
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._live()), name="llm", daemon=True)

    def __enter__(self) -> "Background":
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def submit(self, key: str, question: Question, texts: Mapping[str, str], sounds: Sequence[Sound]) -> None:
        self._loop.call_soon_threadsafe(self._begin, key, question, texts, sounds)

    def free(self) -> None:
        """Say that an answer was dealt with, so that the next call may go out."""
        self._loop.call_soon_threadsafe(self._places.release)

    def drop_unsent(self) -> None:
        """Give up calls that wait for their turn or for another attempt; those sent are paid for."""
        self._loop.call_soon_threadsafe(self._drop_unsent)

    async def _live(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        async with self._asker:
            await self._stop.wait()
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)

    def _begin(self, key: str, question: Question, texts: Mapping[str, str], sounds: Sequence[Sound]) -> None:
        task = self._loop.create_task(self._ask(key, question, texts, sounds))
        self._tasks.add(task)
        task.add_done_callback(partial(self._ended, key))

    async def _ask(
        self, key: str, question: Question, texts: Mapping[str, str], sounds: Sequence[Sound]
    ) -> Hearing | Unheard:
        await self._places.acquire()  # given back by the caller, once the answer is safe
        return await self._asker.ask(key, question, texts, sounds)

    def _ended(self, key: str, task: asyncio.Task[Hearing | Unheard]) -> None:
        self._tasks.discard(task)
        self.done.put((key, None if task.cancelled() else task.exception() or task.result()))

    def _drop_unsent(self) -> None:
        for task in self._tasks - self._asker.under_way:
            task.cancel()
