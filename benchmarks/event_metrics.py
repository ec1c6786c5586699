"""CPU time of event metrics against sed_eval and mir_eval, all in one run, and how far the numbers are apart.

    OMP_NUM_THREADS=1 python benchmarks/event_metrics.py

1,000 files of 5 true events of 10 classes in 10 s, an estimate of each event some 0.1 s off, a tenth of the
events missed, a tenth confused and a tenth made up; and 500 dense files, in which nearly everything fits
several events. Each side does the same work, making its own data structures included: sed_eval its
event-based (optimal matching, collar 0.2 s, 20 % of length) and segment-based (1 s) metrics with all
class-wise counts, ours the same; mir_eval matches onsets and offsets of one class a file
(transcription.match_notes, pitches equal), ours the same with all labels equal. Times are the least of the
rounds. A ratio above 1 means that the other takes longer. mir_eval rounds distances to four decimals before
it compares them, so a pair at the edge may be a match for one and none for the other.
"""

import time
import warnings
from collections.abc import Callable, Sequence

import mir_eval
import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import sed_eval

from earwitness.events import Event, EventTable
from earwitness.scores import event_metrics as em

FILES, EVENTS, CLASSES, LENGTH_S, ROUNDS = 1_000, 5, 10, 10.0, 3
DENSE = 500
LABELS = [f"class {at}" for at in range(CLASSES)]
INDEX = {label: at for at, label in enumerate(LABELS)}
RULE = em.Rule()
Table = list[Event]
Plain = tuple[list[dict[str, object]], list[dict[str, object]]]


def cpu_s(job: Callable[[], object], rounds: int) -> float:
    """The least CPU time of a few rounds, in seconds (user and system)."""
    spent = []
    for _ in range(rounds):
        began = time.process_time()
        job()
        spent.append(time.process_time() - began)
    return min(spent)


def made(rng: np.random.Generator) -> tuple[Table, Table]:
    def event(label: str, onset: float, offset: float) -> Event:
        onset = min(max(0.0, onset), LENGTH_S - 0.1)
        return Event(label, onset, min(LENGTH_S, max(onset + 0.05, offset)))

    truth = []
    for _ in range(EVENTS):
        onset = rng.uniform(0, LENGTH_S - 0.5)
        truth.append(event(LABELS[rng.integers(CLASSES)], onset, onset + rng.uniform(0.25, 3)))
    estimated = []
    for true in truth:
        kind = rng.random()
        if kind < 0.1:
            continue
        label = LABELS[rng.integers(CLASSES)] if kind < 0.2 else true.label
        onset, offset = true.onset_s + rng.normal(0, 0.1), true.offset_s + rng.normal(0, 0.2)
        estimated.append(event(label, onset, offset))
        if kind > 0.9:
            onset = rng.uniform(0, LENGTH_S - 0.5)
            estimated.append(event(LABELS[rng.integers(CLASSES)], onset, onset + rng.uniform(0.25, 3)))
    return truth, estimated


def rows(table: Table) -> list[dict[str, object]]:
    """As sed_eval takes them, in the order of an EventTable: its error rate depends on the order."""
    ordered = EventTable(tuple(table), max((e.offset_s for e in table), default=LENGTH_S))
    return [{"event_label": e.label, "onset": e.onset_s, "offset": e.offset_s, "file": "f"} for e in ordered]


def dense(rng: np.random.Generator) -> tuple[Table, Table]:
    """Up to 14 events of one to three classes within half a second; times are exact in floats."""
    classes = rng.integers(1, 4)

    def side() -> Table:
        onsets, lengths = rng.integers([[0], [1]], [[32], [64]], (2, rng.integers(15))) / 64
        return [
            Event(LABELS[rng.integers(classes)], float(onset), float(onset + length))
            for onset, length in zip(onsets, lengths, strict=True)
        ]

    return side(), side()


def apart(ours: em.Counts, theirs: object) -> float:
    """Greatest difference of any rate, overall and of classes."""
    results = theirs.results()  # type: ignore[attr-defined]
    hits, true, estimated, subs, lost, extra = (
        int(getattr(ours, name).sum())
        for name in ("hits", "true", "estimated", "substitutions", "deletions", "insertions")
    )
    sides = [(results["overall"], hits, true, estimated, lost, extra, subs)]
    for label, at in INDEX.items():
        h, n, m = (int(each[:, at].sum()) for each in (ours.hits, ours.true, ours.estimated))
        if n and m:
            sides.append((results["class_wise"][label], h, n, m, n - h, m - h, 0))
    gaps = []
    for result, h, n, m, d, i, s in sides:
        f_measure, errors = result["f_measure"], result["error_rate"]
        for mine, other in (
            (em.f1(h, n, m), f_measure["f_measure"]),
            (em.precision(h, m), f_measure["precision"]),
            (em.recall(h, n), f_measure["recall"]),
            (em.error_rate(s + d + i, n), errors["error_rate"]),
            (em.error_rate(d, n), errors["deletion_rate"]),
            (em.error_rate(i, n), errors["insertion_rate"]),
            (em.error_rate(s, n), errors.get("substitution_rate", 0.0)),
        ):
            gaps.append(abs(mine - other))
    assert np.isfinite(gaps).all()
    return float(max(gaps))


def main() -> None:
    rng = np.random.default_rng(0)
    files = [made(rng) for _ in range(FILES)]
    plain = [(rows(truth), rows(estimated)) for truth, estimated in files]
    alone = [tuple([Event("x", e.onset_s, e.offset_s) for e in side] for side in pair) for pair in files]
    arrays = [tuple(np.array([(e.onset_s, e.offset_s) for e in side]) for side in pair) for pair in files]

    crowds = [dense(rng) for _ in range(DENSE)]
    plain_crowds = [(rows(truth), rows(estimated)) for truth, estimated in crowds]

    def events_sed_eval(pairs: Sequence[Plain] = plain) -> object:
        metrics = sed_eval.sound_event.EventBasedMetrics(LABELS, t_collar=0.2, percentage_of_length=0.2)
        for pair in pairs:
            metrics.evaluate(*pair)
        return metrics

    def segments_sed_eval() -> object:
        metrics = sed_eval.sound_event.SegmentBasedMetrics(LABELS, time_resolution=1.0)
        for pair in plain:
            metrics.evaluate(*pair, evaluated_length_seconds=LENGTH_S)
        return metrics

    def columns(pairs: Sequence[tuple[Table, Table]] = files) -> tuple[em.Events, em.Events]:
        truth, estimated = (em.columns(side, INDEX) for side in zip(*pairs, strict=True))
        return truth, estimated

    def events(pairs: Sequence[tuple[Table, Table]] = files) -> em.Counts:
        return em.matched(*columns(pairs), len(pairs), CLASSES, RULE).counts

    def segments() -> em.Counts:
        return em.segment_counts(*columns(), [LENGTH_S] * FILES, CLASSES)

    def mir() -> int:
        return sum(
            len(
                mir_eval.transcription.match_notes(
                    true,
                    np.full(len(true), 440.0),
                    found,
                    np.full(len(found), 440.0),
                    onset_tolerance=0.2,
                    offset_ratio=0.2,
                    offset_min_tolerance=0.2,
                )
            )
            for true, found in arrays
            if len(true) and len(found)
        )

    def one_class() -> int:
        sides = [em.columns(side, {"x": 0}) for side in zip(*alone, strict=True)]
        return int(em.matched(sides[0], sides[1], FILES, 1, RULE).counts.hits.sum())

    print(f"{FILES} files of {EVENTS} events, {CLASSES} classes, least CPU of {ROUNDS} rounds, ms")
    print(f"{'work':24}{'peer':>10}{'peer ms':>10}{'ours':>8}{'ratio':>8}")
    for work, peer, theirs, ours in (
        ("event-based", "sed_eval", events_sed_eval, events),
        ("event-based, dense", "sed_eval", lambda: events_sed_eval(plain_crowds), lambda: events(crowds)),
        ("segment-based, 1 s", "sed_eval", segments_sed_eval, segments),
        ("matching, one class", "mir_eval", mir, one_class),
    ):
        ours()
        slow, quick = cpu_s(theirs, ROUNDS), cpu_s(ours, 5 * ROUNDS)
        print(f"{work:24}{peer:>10}{1000 * slow:10.0f}{1000 * quick:8.1f}{slow / quick:8.0f}")
    print(f"mir_eval matches {mir()} pairs, ours {one_class()}")
    for work, mine, other in (
        ("event-based", events(), events_sed_eval()),
        ("event-based, dense", events(crowds), events_sed_eval(plain_crowds)),
        ("segment-based", segments(), segments_sed_eval()),
    ):
        print(f"{work}: all rates, overall and by class, at most {apart(mine, other):.1e} apart")
    counted = [events_sed_eval([pair]).overall["Nsubs"] for pair in plain_crowds]  # type: ignore[attr-defined]
    wrong = int((events(crowds).substitutions != np.array(counted)).sum())
    print(f"other substitutions than sed_eval in {wrong} of {DENSE} dense files, {sum(counted):.0f} in all")


if __name__ == "__main__":
    main()
