"""What the detectors that run here share: clips are heard on threads, and the same questions are answered."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from os import cpu_count
from typing import Any

from earwitness import audio
from earwitness.errors import UnusableAudio, UserError
from earwitness.events import EventTable, to_json
from earwitness.listeners import edit_measures, levels, quality
from earwitness.listeners.base import Call, Hearing, Needs, Unheard
from earwitness.questions.base import Question

QUESTIONS = ("events", "edit_measures", "quality", "levels")
MAX_S = 3600.0


class Detector(ABC):
    """A listener that hears events and sees no caption. A detector states the rest and :meth:`events`.

    Args:
        workers: Clips heard at a time, one thread each; all cores by default. It changes no answer.
    """

    name: str
    needs: Needs

    def __init__(self, workers: int | None) -> None:
        if workers is not None and workers < 1:
            raise UserError(f"workers must be at least 1, not {workers}.")
        self._workers = workers or cpu_count() or 1

    @abstractmethod
    def ready(self) -> None:
        """Load what hearing needs."""

    @abstractmethod
    def events(self, clip: audio.Clip) -> EventTable:
        """What is heard in a clip. Threads call it at once."""

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        return {}

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        """Answer every call, as they are done; calls are drawn as there is room for them.

        Raises:
            UserError: If the weights cannot be had.
        """
        self.ready()
        waiting: dict[Future[Hearing | Unheard], str] = {}
        source = iter(calls)
        pool = ThreadPoolExecutor(self._workers, thread_name_prefix=self.name)
        try:
            while True:
                for call in islice(source, 2 * self._workers - len(waiting)):
                    waiting[pool.submit(self._answer, call)] = call.call_id
                if not waiting:
                    return
                for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                    yield waiting.pop(done), done.result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _answer(self, call: Call) -> Hearing | Unheard:
        answer = _ANSWERS.get(call.question.name)
        if answer is None:
            known = ", ".join(map(repr, self.needs.questions))
            return Unheard("unsupported", f"{self.name} answers {known}, not {call.question.name!r}")
        needs = self.needs
        for clip in call.clips:
            length = f"{clip.duration_s:g} s; {self.name} hears {needs.min_s:g} to {needs.max_s:g} s"
            if clip.duration_s < needs.min_s:
                return Unheard("too_short", length)
            if clip.duration_s > needs.max_s:
                return Unheard("too_long", length)
        try:
            return Hearing(answer(self, call.clips))
        except UnusableAudio as fault:  # a backbone may hear less than the listener
            return Unheard(fault.reason, fault.detail)


def _events(of: Detector, clips: Sequence[audio.Clip]) -> dict[str, Any]:
    (clip,) = clips
    return {"events": to_json(of.events(clip)), "duration_s": clip.duration_s}


def _quality(of: Detector, clips: Sequence[audio.Clip]) -> dict[str, Any]:
    (clip,) = clips
    return quality.measured(clip)


def _levels(of: Detector, clips: Sequence[audio.Clip]) -> dict[str, Any]:
    (clip,) = clips
    return levels.measured(clip)


def _edit_measures(of: Detector, clips: Sequence[audio.Clip]) -> dict[str, Any]:
    source, edited = clips
    return edit_measures.measured(source, edited)


_ANSWERS: dict[str, Callable[[Detector, Sequence[audio.Clip]], dict[str, Any]]] = {
    "events": _events,
    "edit_measures": _edit_measures,
    "quality": _quality,
    "levels": _levels,
}
"""What it answers, by the question's name."""
