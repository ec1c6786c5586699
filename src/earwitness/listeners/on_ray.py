"""A listener that hears on a Ray cluster: every worker opens it by its name, and hears a few calls at a time.

Name, version and settings are the listener's own, so answers made here and on one machine are the same rows
of a ledger. Files are read where the run is; the workers need no sight of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from earwitness.errors import UserError
from earwitness.listeners import open_listener
from earwitness.listeners.base import Call, Hearing, Listener, StandIn, Unheard
from earwitness.listeners.llm import Llm
from earwitness.questions.base import Question
from earwitness.workers import check
from earwitness.workers_ray import WorkerLost, on_ray

_BATCH = 4
"""Calls a worker takes at a time: 2.6 MB of ten-second clips at 16 kHz, some 0.3 s of hearing."""
_AHEAD = 3

Answer = tuple[str, Hearing | Unheard]


class OnRay(StandIn):
    """A listener whose calls are spread over a cluster.

    A worker that is lost has its calls heard again; a call that ends several workers, or that the listener
    fails at, is unheard (``transport``).

    Args:
        name: As :func:`earwitness.listeners.open_listener` takes it.
        weights: The user's own weights, under a path that all nodes have.
        workers: Actors, of one CPU each; by default one for every CPU of the cluster.

    Raises:
        UserError: If there is no such listener, it asks a server, or Ray is not installed.
    """

    def __init__(self, name: str, *, weights: Path | None = None, workers: int | None = None) -> None:
        check("ray")
        super().__init__(open_listener(name, weights=weights, workers=1))
        self._work = _Ear(name, weights)
        self._workers = workers
        if isinstance(self._ear, Llm):
            raise UserError(
                f"listener {name!r} asks a server, which takes no CPU to speak of here.",
                "Leave the engine out; in_flight says how many calls are under way at a time.",
            )

    def ready(self) -> None:
        """Load here what every worker loads again, so that a run which cannot hear stops before any work."""
        self._ear.ready()

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        return self._ear.expected(question, texts, durations_s)

    def hear(self, calls: Iterable[Call]) -> Iterator[Answer]:
        """Answer every call, in their order; calls are drawn as there is room for them.

        Raises:
            UserError: If the cluster cannot be reached, or an error of ours came from a worker.
        """
        for part in on_ray(self._work, iter(calls), self._workers, at_a_time=_BATCH, ahead=_AHEAD):
            if part.fault is None:
                yield from part.given()
            elif isinstance(part.fault, UserError) and not isinstance(part.fault, WorkerLost):
                raise part.fault
            else:
                (call,) = part.keys
                yield call.call_id, Unheard("transport", f"the listener failed: {part.fault!r}")


@dataclass
class _Ear:
    """What a worker holds: a listener, opened when the first calls come."""

    name: str
    weights: Path | None

    @cached_property
    def listener(self) -> Listener:
        return open_listener(self.name, weights=self.weights, workers=1)

    def __call__(self, calls: Sequence[Call]) -> list[Answer]:
        return list(self.listener.hear(calls))
