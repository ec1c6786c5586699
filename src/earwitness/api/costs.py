"""What a run would cost, before anything is sent.

The run is gone through as it would be, on a copy of its ledger and with a stand-in for the listener that
answers nothing and adds up what each call should cost. So clips that nobody could hear, identical clips
and what is already in the run are counted as the run itself would count them.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from earwitness.api.request import Request
from earwitness.api.runs import Progress, hear
from earwitness.errors import UserError
from earwitness.ledger import Ledger, schema
from earwitness.listeners.base import Call, Hearing, Listener, StandIn, Unheard
from earwitness.questions.base import Question
from earwitness.questions.listen import LISTEN
from earwitness.runner import COST


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a listener would be asked, and what that should cost.

    Attributes:
        calls: Calls to make, re-asks and retries not counted.
        usage: Their expected usage, summed, in the listener's own counts.
        cost_usd: None if no price is known; 0 for a listener that costs nothing.
    """

    listener: str
    calls: int
    usage: Mapping[str, float]
    cost_usd: float | None


def estimate(
    task: str,
    manifest: str | Path | None = None,
    *,
    run: str | Path | None = None,
    progress: Progress | None = None,
    **how: Any,
) -> list[Estimate]:
    """What :func:`earwitness.judge` with these arguments would ask and cost, listener by listener.

    Args:
        run: A run that would be extended; what it holds is not counted.

    Raises:
        UserError: As judge does, before anything is sent.
    """
    return estimate_request(Request(task, manifest, **how), Path(run) if run else None, progress)


def estimate_request(
    request: Request, run: Path | None = None, progress: Progress | None = None
) -> list[Estimate]:
    """:func:`estimate` of a request."""
    found = request.items()
    estimates = []
    for name in request.listeners:
        ear = request.open(name)
        kept = None if run is None else request.folder(run, name) / "ledger.sqlite"
        counter = _Counter(ear)
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / "ledger.sqlite"
            if kept is not None and kept.exists():
                Ledger.read(kept).close()  # says what is wrong with it, if anything
                _copy(kept, copy)
            try:
                with Ledger.create(copy) as ledger:
                    hear(ledger, counter, found, request, request.setup(ear), progress)
            except UserError as fault:  # about the run itself, not about its copy
                told = (text.replace(folder, str(run)) for text in (fault.message, fault.remedy))
                raise UserError(*told) from fault
        free = not counter.usage
        unknown = counter.unpriced > 0
        cost = 0.0 if free else None if unknown else counter.usage[COST]
        estimates.append(Estimate(name, counter.calls, dict(counter.usage), cost))
    return estimates


def _copy(kept: Path, copy: Path) -> None:
    source, target = schema.connect(kept, "ro"), schema.connect(copy, "rwc")
    source.backup(target)
    source.close()
    target.close()


class _Counter(StandIn):
    """Stands in for a listener: adds up what every call should cost, and answers nothing.

    Only a blind first listen is answered, with silence, since what follows is planned from it.
    """

    def __init__(self, ear: Listener) -> None:
        super().__init__(ear)
        self.calls = self.unpriced = 0
        self.usage: Counter[str] = Counter()

    def ready(self) -> None:
        """Nothing is heard."""

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Iterable[float]
    ) -> Mapping[str, float]:
        return {}

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        for call in calls:
            usage = self._ear.expected(call.question, call.texts, [clip.duration_s for clip in call.clips])
            self.calls += 1
            self.usage.update(usage)
            self.unpriced += COST not in usage
            if call.question.name == LISTEN.name:
                yield call.call_id, Hearing({"events_heard": [], "notes": ""})
            else:
                yield call.call_id, Unheard("budget", "only the cost was estimated")
