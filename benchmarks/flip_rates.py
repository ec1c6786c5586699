"""What do repeats show of a judge's errors? Scripted judges whose randomness is known, run as a real one is.

The judges answer the alignment question about the clips of ``earwitness demo`` (the truth of each is known),
through the runner and the order task, three repeats a clip. Each call is answered as the clip deserves, or
the other way round; the judges differ in when that happens. Printed for each: the share of wrong calls, the
flip rate that its randomness must give, the one measured, and how far TOA lies from the planted one with one
repeat and with all of them.

    python benchmarks/flip_rates.py [--prompts 72] [--seed 0]
"""

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from earwitness import audio, manifest, runner
from earwitness.ledger import Ledger
from earwitness.listeners.base import Call, Hearing, Needs, Unheard
from earwitness.questions.base import Question
from earwitness.scenes import demo
from earwitness.tasks import settings
from earwitness.tasks.order import TASK
from earwitness.tasks.task import Setup

REPEATS = 3
KEPT, REVERSED, MISSING = "kept", "reversed", "missing"


@dataclass(frozen=True, slots=True)
class Truth:
    """What is in a clip, and the caption it answers."""

    state: str
    caption: str
    system: str


@dataclass(frozen=True, slots=True)
class Habit:
    """When a judge errs: each call with ``rate``, drawn anew in a repeat only with the chance ``anew``.

    With ``anew`` 0 a judge answers every repeat as it did the first: its errors are those of the clip.
    """

    name: str
    rate: float
    anew: float = 1.0

    def flips(self, state: str) -> float:
        """The expected flip rate of a clip over its repeats."""
        right = {KEPT: (1 - self.rate) ** 2, REVERSED: self.rate**2, MISSING: self.rate * (1 - self.rate)}
        apart = 2 * right[state] * (1 - right[state])
        fresh = [1 - (1 - self.anew) ** (1 if first == 0 else 2) for first, _ in _pairs()]
        return apart * fmean(fresh)


def _pairs() -> list[tuple[int, int]]:
    return list(combinations(range(REPEATS), 2))


HABITS = (
    Habit("never wrong", 0.0),
    Habit("5 % of calls wrong, independent", 0.05),
    Habit("10 % of calls wrong, independent", 0.10),
    Habit("20 % of calls wrong, independent", 0.20),
    Habit("20 % of calls wrong, 3 in 4 repeats copy the first", 0.20, 0.25),
    Habit("20 % of calls wrong, the same in every repeat", 0.20, 0.0),
)


class Judge:
    """A judge of known habits."""

    name = "known habits"
    known_labels: frozenset[str] = frozenset()
    measured = ""
    needs = Needs(16_000, 0.025, 60.0, 0.5, ("alignment",), False, "free", varies=True)

    def __init__(self, habit: Habit, truths: Mapping[str, Truth], seed: int) -> None:
        self.habit, self.truths, self.seed = habit, truths, seed
        self.version = habit.name
        self.settings: Mapping[str, Any] = {"rate": habit.rate, "anew": habit.anew}
        self.calls = self.wrong = 0

    def ready(self) -> None:
        """Nothing is needed."""

    def expected(
        self, question: Question, texts: Mapping[str, str], durations_s: Sequence[float]
    ) -> Mapping[str, float]:
        return {}

    def hear(self, calls: Iterable[Call]) -> Iterator[tuple[str, Hearing | Unheard]]:
        for call in calls:
            truth = self.truths[call.clips[0].pcm_hash]
            forward = call.texts["caption"] == truth.caption
            errs = self._errs(call, forward)
            self.calls += 1
            self.wrong += errs
            yield call.call_id, Hearing(_reply(truth.state, forward, errs))

    def _errs(self, call: Call, forward: bool) -> bool:
        """Whether this call goes wrong. One that is not drawn anew goes as that of repeat 0.

        Both sides of a repeat are drawn anew together, as when a server computes them anew.
        """
        clip = int(call.clips[0].pcm_hash[:12], 16)
        drawn = (
            call.repeat == 0
            or np.random.default_rng([self.seed, clip, call.repeat]).random() < self.habit.anew
        )
        repeat = call.repeat if drawn else 0
        return bool(np.random.default_rng([self.seed, clip, repeat, 1 + forward]).random() < self.habit.rate)


def _reply(state: str, forward: bool, errs: bool) -> dict[str, Any]:
    fits = (state == KEPT and forward) or (state == REVERSED and not forward)
    fits ^= errs
    return {
        "events_heard": [],
        "caption_events": [],
        "event_recall": 1.0,
        "event_precision": 1.0,
        "temporal_order_applicable": True,
        "temporal_order_match": 1.0 if fits else 0.0 if state == MISSING else 0.5,
        "overall_alignment": 5 if fits else 2,
        "notes": "",
    }


def truths(folder: Path, seed: int, prompts: int) -> dict[str, Truth]:
    """What every clip of the demo holds, by its PCM hash."""
    asked, clips = demo.plan_demo(seed, prompts)
    captions = {prompt.prompt_id: prompt.caption for prompt in asked}
    found = {}
    for clip in clips:
        path = folder / "outputs" / clip.system / f"{clip.prompt_id}.wav"
        state = KEPT if not clip.faulty else MISSING if len(clip.placed) == 1 else REVERSED
        found[audio.read(path).pcm_hash] = Truth(state, captions[clip.prompt_id], clip.system)
    return found


def run(folder: Path, checked: manifest.Manifest, judge: Judge, seed: int) -> tuple[list[Any], list[Any]]:
    """The items' rows with one repeat, then with all of them."""
    with Ledger.create(folder / "ledger.sqlite") as ledger:
        found = []
        for number in (1, REPEATS):
            hearer = settings.begin(ledger, judge, checked, TASK, Setup(seed=seed, repeats=number))
            for stage in TASK.stages(ledger, hearer):
                runner.run(ledger, judge, stage.plan, settings.questions(ledger), seed=seed)
            found.append(list(TASK.rows(ledger, hearer)))
        return found[0], found[1]


def apart(rows: Sequence[Any], planted: Mapping[str, float]) -> dict[str, float]:
    """Measured minus planted TOA, by system."""
    return {
        system: fmean(row.values["toa"] for row in rows if row.system == system) - toa
        for system, toa in planted.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--prompts", type=int, default=72, help="a multiple of 6")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        planted = demo.render_demo(folder, seed=given.seed, prompts=given.prompts)
        outputs = {system: folder / "outputs" / system for system in planted}
        checked = manifest.from_outputs(folder / "prompts.csv", outputs)
        known = truths(folder, given.seed, given.prompts)
        print(f"{len(known)} clips, planted TOA: " + ", ".join(f"{s} {t:.3f}" for s, t in planted.items()))
        print("| judge | calls wrong | flips must be | flips measured | TOA apart, 1 repeat | 3 repeats |")
        print("|---|---|---|---|---|---|")
        for number, habit in enumerate(HABITS):
            judge = Judge(habit, known, given.seed)
            once, often = run(folder / str(number), checked, judge, given.seed)
            must = fmean(habit.flips(truth.state) for truth in known.values())
            flips = fmean(row.values["flip_rate"] for row in often)
            off = (" / ".join(f"{by:+.3f}" for by in apart(rows, planted).values()) for rows in (once, often))
            print(
                f"| {habit.name} | {judge.wrong / judge.calls:.3f} | {must:.3f} | {flips:.3f} | "
                f"{' | '.join(off)} |"
            )


if __name__ == "__main__":
    main()
