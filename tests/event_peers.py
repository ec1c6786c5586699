"""Random event tables and what sed_eval and mir_eval make of them, for tests of the event metrics."""

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st

from earwitness.events import Event, EventTable
from earwitness.scores import event_metrics as em

Table = list[Event]
LABELS = ("a", "b", "c")
INDEX = {label: at for at, label in enumerate(LABELS)}
TICK = 1 / 64
"""Dyadic times and collars are exact in floats, so an edge is an edge for everybody."""


@st.composite
def tables(draw: st.DrawFn, most: int = 5, labels: Sequence[str] = LABELS, last: int = 200) -> Table:
    """Up to ``most`` events within ``last`` ticks, some of one class overlapping."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        onset, length = draw(st.integers(0, last)), draw(st.integers(1, 80))
        found.append(Event(draw(st.sampled_from(labels)), onset * TICK, (onset + length) * TICK))
    return found


@st.composite
def pairs(draw: st.DrawFn, most: int = 5, labels: Sequence[str] = LABELS) -> tuple[Table, Table]:
    """A true table and an estimate, most of whose events lie near true ones, many at the edge of a collar."""
    truth = draw(tables(most, labels))
    moved = st.sampled_from([-16, -13, -12, -5, 0, 3, 12, 13, 24])
    estimated = draw(tables(2, labels))
    for event in truth:
        if draw(st.integers(0, 3)):
            onset = max(0.0, event.onset_s + draw(moved) * TICK)
            label = event.label if draw(st.booleans()) else draw(st.sampled_from(labels))
            estimated.append(Event(label, onset, max(onset + TICK, event.offset_s + draw(moved) * TICK)))
    return truth, estimated


@st.composite
def dense(draw: st.DrawFn, most: int = 10) -> tuple[Table, Table]:
    """Two tables of one or more classes within a second or less: nearly everything fits several others."""
    last = draw(st.sampled_from([8, 24, 60]))
    labels = draw(st.sampled_from([LABELS[:1], LABELS[:2], LABELS]))
    sides = tables(most, labels, last)
    return draw(sides), draw(sides)


def rows(table: Table, sort: bool = True) -> list[dict[str, object]]:
    """As sed_eval takes them, in the order of an EventTable unless they are to stay as they are."""
    ordered = EventTable(tuple(table), max((e.offset_s for e in table), default=1.0)) if sort else table
    return [{"event_label": e.label, "onset": e.onset_s, "offset": e.offset_s, "file": "f"} for e in ordered]


def events_by_sed_eval(
    files: Sequence[tuple[Table, Table]], rule: em.Rule, matching: str = "optimal", sort: bool = True
) -> Mapping[str, object]:
    """Overall and class-wise counts and rates of sed_eval's event-based metrics."""
    import sed_eval

    metrics = sed_eval.sound_event.EventBasedMetrics(
        event_label_list=list(LABELS),
        t_collar=rule.onset_collar_s,
        percentage_of_length=rule.offset_share,
        evaluate_offset=rule.offset,
        event_matching_type=matching,
    )
    return _evaluated(metrics, files, sort)


def segments_by_sed_eval(
    files: Sequence[tuple[Table, Table]], resolution_s: float, duration_s: float
) -> Mapping[str, object]:
    """The same of its segment-based metrics."""
    import sed_eval

    metrics = sed_eval.sound_event.SegmentBasedMetrics(list(LABELS), time_resolution=resolution_s)
    return _evaluated(metrics, files, evaluated_length_seconds=duration_s)


def _evaluated(
    metrics: object, files: Sequence[tuple[Table, Table]], sort: bool = True, **more: float
) -> Mapping[str, object]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for truth, estimated in files:
            metrics.evaluate(rows(truth, sort), rows(estimated, sort), **more)  # type: ignore[attr-defined]
        return {
            "overall": metrics.overall,  # type: ignore[attr-defined]
            "class_wise": metrics.class_wise,  # type: ignore[attr-defined]
            "results": metrics.results(),  # type: ignore[attr-defined]
        }


def ours(files: Sequence[tuple[Table, Table]], rule: em.Rule) -> em.Matched:
    truth, estimated = (em.columns(side, INDEX) for side in zip(*files, strict=True))
    return em.matched(truth, estimated, len(files), len(LABELS), rule)


def our_segments(files: Sequence[tuple[Table, Table]], resolution_s: float, duration_s: float) -> em.Counts:
    truth, estimated = (em.columns(side, INDEX) for side in zip(*files, strict=True))
    return em.segment_counts(truth, estimated, [duration_s] * len(files), len(LABELS), resolution_s)


def hits_by_mir_eval(truth: Table, estimated: Table, rule: em.Rule) -> int:
    """Size of mir_eval's matching of notes of one pitch."""
    import mir_eval

    if not truth or not estimated:
        return 0
    true, found = (np.array([(e.onset_s, e.offset_s) for e in side]) for side in (truth, estimated))
    return len(
        mir_eval.transcription.match_notes(
            true,
            np.full(len(true), 440.0),
            found,
            np.full(len(found), 440.0),
            onset_tolerance=rule.onset_collar_s,
            offset_ratio=rule.offset_share if rule.offset else None,
            offset_min_tolerance=rule.offset_collar_s,
        )
    )
