"""What every listener is given and what it answers.

A :class:`Call` carries sound, never a path or a system's name. The answer is a :class:`Hearing`
or an :class:`Unheard`; nothing unheard is ever turned into a number.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from earwitness.audio import Clip
from earwitness.questions.base import Question

REASONS = (
    "unreadable",
    "empty",
    "too_short",
    "too_long",
    "unmapped",
    "unsupported",
    "blocked",
    "refused",
    "truncated",
    "invalid",
    "transport",
    "budget",
)
"""Every reason for which an item can be unheard. ``unreadable`` includes NaN samples, ``unmapped``
is a phrase the listener has no label for, ``unsupported`` an ability it lacks."""

RETRIED = ("transport", "budget")
"""Reasons that a resumed run asks again without being told to."""


@dataclass(frozen=True, slots=True)
class Call:
    """One thing to hear.

    Attributes:
        call_id: Content key of the hearing this call will make.
        clips: The sound, in the order of ``question.clip_names`` (two clips for edits, else one).
        question: What is asked: prompt, reply model, names of the clips.
        texts: What the question shows beside the sound, by name (``caption``, ``source_caption``, ...);
            empty for detectors.
        repeat: 0-based index of this independent hearing.
    """

    call_id: str
    clips: tuple[Clip, ...]
    question: Question
    texts: Mapping[str, str] = field(default_factory=dict)
    repeat: int = 0


@dataclass(frozen=True, slots=True)
class Hearing:
    """A listener's valid answer.

    Attributes:
        reply: The validated reply as plain JSON data; its fields are those of the question's model.
        usage: What it cost, in the listener's own counts (tokens, seconds), and ``cost_usd`` where the
            price is known; empty for local models.
        raw: The unparsed answer, for audit; empty for detectors.
        served: The model that answered, as the server named it; empty for local models.
    """

    reply: Mapping[str, Any]
    usage: Mapping[str, float] = field(default_factory=dict)
    raw: str = ""
    served: str = ""


@dataclass(frozen=True, slots=True)
class Unheard:
    """No valid answer, with the reason (one of :data:`REASONS`), what exactly happened, and its cost."""

    reason: str
    detail: str
    raw: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"unknown reason {self.reason!r}; known: {', '.join(REASONS)}")


@dataclass(frozen=True, slots=True)
class Needs:
    """What a listener needs and gives, as data.

    Attributes:
        rate_hz: Rate it hears at; clips below it are flagged, others resampled.
        min_s, max_s: Durations it accepts, in seconds; shorter is ``too_short``, longer ``too_long``.
        resolution_s: Onsets closer than this cannot be told apart.
        questions: Names of the questions it answers.
        detector: True if it answers ``events`` once per clip and never sees a caption.
        cost: What hearing costs, in words.
        varies: True if it may answer the same call otherwise the next time, so that repeats tell something.
    """

    rate_hz: int
    min_s: float
    max_s: float
    resolution_s: float
    questions: tuple[str, ...]
    detector: bool
    cost: str
    varies: bool = False


class Listener(Protocol):
    """Who hears. ``settings`` and ``version`` enter every content key."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def needs(self) -> Needs: ...

    @property
    def settings(self) -> Mapping[str, Any]: ...

    @property
    def known_labels(self) -> frozenset[str]:
        """Labels it claims to know; empty when it is not a detector."""
        ...

    @property
    def measured(self) -> str:
        """Its own accuracy on known truth in a sentence, with the conditions; empty if not measured."""
        ...

    def ready(self) -> None:
        """Load what hearing needs, so that a run which cannot hear stops before any work.

        Raises:
            UserError: Naming what is missing and the remedy.
        """
        ...

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        """What one call should cost, in the counts of :attr:`Hearing.usage`, before it is made.

        ``cost_usd`` is there only if the price is known; empty for a listener that costs nothing.

        Args:
            durations_s: Length of every clip, in seconds.
        """
        ...

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        """Answer every call, in any order, drawing calls lazily so that memory stays flat."""
        ...


class StandIn:
    """In the place of another listener, whose name, version, settings and abilities it has, so that content
    keys are the same; how it answers is its own."""

    def __init__(self, ear: Listener) -> None:
        self._ear = ear

    @property
    def name(self) -> str:
        return self._ear.name

    @property
    def version(self) -> str:
        return self._ear.version

    @property
    def needs(self) -> Needs:
        return self._ear.needs

    @property
    def settings(self) -> Mapping[str, Any]:
        return self._ear.settings

    @property
    def known_labels(self) -> frozenset[str]:
        return self._ear.known_labels

    @property
    def measured(self) -> str:
        return self._ear.measured
