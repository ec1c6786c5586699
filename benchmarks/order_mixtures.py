"""How often does the embedded listener hear two events in the right order, and how well does it time them?

400 before/after mixtures (benchmarks/mixtures.py) of recordings that tuning never saw, from the classes
of the real clips that the listener claims to know. A mixture is right by the order task's own rule: both
events heard through the labels of their phrase, first onsets at least ``resolution_s`` apart in the true
order. Beside it: what went wrong, the onset error of the heard events, and how often a known class is
heard in a mixture that does not hold it.

    python benchmarks/order_mixtures.py [CLIPS_FOLDER] [--n 400] [--seed 0]
"""

import argparse
import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

import mixtures
from earwitness import labels
from earwitness.audio import Clip, pcm_hash
from earwitness.events import EventTable, from_json
from earwitness.listeners.base import Call, Hearing
from earwitness.listeners.yamnet import Yamnet
from earwitness.scenes.classes import builtin, confusable
from earwitness.scores import order

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "data" / "clips"
BEFORE = ((0, 1),)


def heard_as(name: str) -> frozenset[str]:
    """Labels that count as hearing a class of the clips, given its folder's name."""
    return labels.heard_as(labels.find(name.replace("_", " ")))


def known_classes(names: Iterable[str], known: frozenset[str]) -> list[str]:
    """Classes whose own labels the listener claims to know."""
    return sorted(name for name in names if labels.find(name.replace("_", " ")) & known)


def admitted(truth: tuple[mixtures.Placed, mixtures.Placed]) -> bool:
    """True if prompt sets ask for this pair: both are built-in classes, not stated as confusable."""
    asked = [labels.find(event.label.replace("_", " ")) for event in truth]
    found = [next((c for c in builtin().values() if c.labels & its), None) for its in asked]
    return found[0] is not None and found[1] is not None and not confusable(found[0], found[1])


class Tally:
    """Counts over mixtures of what a listener heard."""

    def __init__(self, classes: Iterable[str], resolution_s: float) -> None:
        self.sets = {name: heard_as(name) for name in classes}
        self.resolution_s = resolution_s
        self.kinds: Counter[str] = Counter()
        self.per_class: dict[str, Counter[str]] = defaultdict(Counter)
        self.onset_errors: dict[str, list[float]] = defaultdict(list)

    def add(self, truth: tuple[mixtures.Placed, mixtures.Placed], heard: EventTable) -> str:
        """Judge one mixture; returns the kind of its error, empty if the order is right."""
        onsets = order.first_onsets([self.sets[event.label] for event in truth], heard.events)
        result = order.order_of_onsets(onsets, BEFORE, self.resolution_s)
        self.kinds[result.kind or "right"] += 1
        for event, onset in zip(truth, onsets, strict=True):
            counts = self.per_class[event.label]
            counts["events"] += 1
            counts["in a right order"] += not result.kind
            if onset is None:
                counts["missed"] += 1
            else:
                self.onset_errors[event.label].append(onset - event.onset_s)
        present = {event.label for event in truth}
        for name in self.sets.keys() - present:
            self.per_class[name]["mixtures without it"] += 1
            self.per_class[name]["heard all the same"] += bool(self.sets[name] & {e.label for e in heard})
        return result.kind

    @property
    def accuracy(self) -> float:
        return self.kinds["right"] / self.kinds.total()

    @property
    def foils(self) -> float:
        """Share of (mixture, absent known class) in which the class was heard all the same."""
        counts = self.per_class.values()
        return sum(c["heard all the same"] for c in counts) / sum(c["mixtures without it"] for c in counts)

    def errors(self) -> np.ndarray:
        return np.abs(np.concatenate([np.array(found) for found in self.onset_errors.values()]))

    def line(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.kinds.most_common())
        median, p90 = np.quantile(self.errors(), (0.5, 0.9))
        return (
            f"order right {self.accuracy:.3f} of {self.kinds.total()} ({kinds}); onset error median "
            f"{median:.3f} s, p90 {p90:.2f} s; absent class heard {self.foils:.3f}"
        )

    def table(self) -> Iterator[str]:
        heads = zip(
            ("events", "missed", "order right", "onset med", "p90", "foil"), (8, 8, 13, 11, 7, 7), strict=True
        )
        yield f"{'class':20s}" + "".join(f"{head:>{width}s}" for head, width in heads)
        for name, counts in sorted(self.per_class.items()):
            if counts["events"]:
                errors = np.abs(self.onset_errors[name]) if self.onset_errors[name] else np.array([np.nan])
                foil = counts["heard all the same"] / max(1, counts["mixtures without it"])
                yield (
                    f"{name:20s}{counts['events']:8d}{counts['missed'] / counts['events']:8.3f}"
                    f"{counts['in a right order'] / counts['events']:13.3f}{np.median(errors):11.3f}"
                    f"{np.quantile(errors, 0.9):7.2f}{foil:7.3f}"
                )


def calls(
    drawn: Iterable[mixtures.Mixture], truths: list[tuple[mixtures.Placed, mixtures.Placed]]
) -> Iterator[Call]:
    """A call per mixture, named by its number; its truth is kept in ``truths``."""
    for mixture in drawn:
        samples = mixture.samples[np.newaxis]
        clip = Clip(samples, mixtures.RATE_HZ, pcm_hash(samples, mixtures.RATE_HZ))
        truths.append(mixture.events)
        yield Call(str(len(truths) - 1), (clip,), "events")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("clips", nargs="?", type=Path, default=CLIPS)
    parser.add_argument("--n", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    listener = Yamnet()
    pool = mixtures.pool(given.clips, "test")
    classes = known_classes(pool, listener.known_labels)
    tally = Tally(classes, listener.needs.resolution_s)
    truths: list[tuple[mixtures.Placed, mixtures.Placed]] = []
    split_by: dict[str, Counter[bool]] = defaultdict(Counter)
    drawn = mixtures.mixtures(np.random.default_rng(given.seed), pool, classes, given.n)
    for call_id, answer in listener.hear(calls(drawn, truths)):
        if not isinstance(answer, Hearing):
            raise RuntimeError(f"mixture {call_id}: {answer.reason}: {answer.detail}")
        truth = truths[int(call_id)]
        kind = tally.add(truth, from_json(answer.reply["events"], answer.reply["duration_s"]))
        gap_s = truth[1].onset_s - truth[0].offset_s
        split_by["gap < 0.25 s" if gap_s < 0.25 else "gap < 1 s" if gap_s < 1 else "gap >= 1 s"][
            not kind
        ] += 1
        split_by["pair prompt sets ask for" if admitted(truth) else "pair they leave out"][not kind] += 1
    print(mixtures.__doc__.split("\n\n")[1].replace("\n", " "))
    recordings = sum(len(pool[name]) for name in classes)
    print(f"test side: {recordings} recordings of {len(classes)} classes, seed {given.seed}")
    print("target: order right 0.95, onset error median 0.1 s")
    print(tally.line())
    print(
        "; ".join(f"{name}: {c[True] / c.total():.3f} of {c.total()}" for name, c in sorted(split_by.items()))
    )
    print("\n".join(tally.table()))


if __name__ == "__main__":
    main()
