"""Events keep their meaning through every format, and what is no event is refused by name."""

import itertools
import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness import events
from earwitness.errors import UserError
from earwitness.events import Event, EventTable

labels = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=20).filter(str.strip)
plain_labels = labels.map(lambda text: " ".join(text.split()))
seconds = st.floats(0, 3600)


@st.composite
def tables(draw: st.DrawFn, label: st.SearchStrategy[str] = labels, stated: bool = True) -> EventTable:
    duration_s = draw(seconds)
    found = []
    for _ in range(draw(st.integers(0, 6))):
        onset_s = draw(st.floats(0, duration_s))
        sure = draw(st.none() | st.floats(0, 1)) if stated else None
        found.append(Event(draw(label), onset_s, onset_s + draw(seconds), sure))
    return EventTable(tuple(found), duration_s)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("events") / "file"


# What an event is


@pytest.mark.parametrize(
    ("label", "onset_s", "offset_s", "confidence", "words"),
    [
        ("", 0, 1, None, "label"),
        (" \n", 0, 1, None, "label"),
        ("dog", -0.1, 1, None, "onset_s"),
        ("dog", math.nan, 1, None, "onset_s"),
        ("dog", 0, math.inf, None, "offset_s"),
        ("dog", 2, 1, None, "before it starts"),
        ("dog", 0, 1, 1.01, "confidence"),
        ("dog", 0, 1, math.nan, "confidence"),
    ],
)
def test_what_is_no_event_is_refused(
    label: str, onset_s: float, offset_s: float, confidence: float | None, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Event(label, onset_s, offset_s, confidence)


def test_event_may_have_no_length_and_reach_past_the_end() -> None:
    table = EventTable((Event("click", 10.0, 10.0), Event("rain", 4.0, 10.2)), 10.0)
    assert [e.duration_s for e in table] == [pytest.approx(6.2), 0.0]


def test_event_after_the_end_of_the_clip_is_refused() -> None:
    with pytest.raises(ValueError, match=r"starts at 10\.5 s, after the clip's end \(10\.0 s\)"):
        EventTable((Event("dog", 10.5, 11.0),), 10.0)


@pytest.mark.parametrize("duration_s", [-1.0, math.nan, math.inf])
def test_duration_must_be_stated_and_finite(duration_s: float) -> None:
    with pytest.raises(ValueError, match="duration"):
        EventTable((), duration_s)


@given(tables(), st.randoms(use_true_random=False))
def test_order_given_does_not_matter(table: EventTable, random: object) -> None:
    shuffled = list(table)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = EventTable(tuple(shuffled), table.duration_s)
    assert [(e.onset_s, e.offset_s, e.label) for e in again] == sorted(
        (e.onset_s, e.offset_s, e.label) for e in table
    )


# Selecting and merging


def test_with_labels_keeps_only_those() -> None:
    table = EventTable((Event("dog", 0, 1), Event("cat", 1, 2), Event("dog", 3, 4)), 5.0)
    assert [e.onset_s for e in table.with_labels(["dog"])] == [0, 3]
    assert table.with_labels([]) == EventTable((), 5.0)


def test_merged_joins_same_label_up_to_the_gap() -> None:
    table = EventTable(
        (Event("dog", 0, 1.0, 0.5), Event("cat", 0.5, 2), Event("dog", 1.3, 2, 0.9), Event("dog", 2.5, 3)),
        5.0,
    )
    assert tuple(table.merged(0.3)) == (
        Event("dog", 0, 2, 0.9),
        Event("cat", 0.5, 2),
        Event("dog", 2.5, 3),
    )


def test_merged_at_the_very_gap_is_no_matter_of_rounding() -> None:
    """1.3 - 1.0 is a little more than 0.3 in floating point."""
    for start in (1.0, 10.0, 100.0, 1000.0):
        table = EventTable((Event("dog", 0, start), Event("dog", start + 0.3, start + 1)), 2000.0)
        assert len(table.merged(0.3)) == 1


def test_merged_swallows_an_event_within_another() -> None:
    table = EventTable((Event("dog", 0, 5), Event("dog", 1, 2), Event("dog", 4, 6)), 9.0)
    assert tuple(table.merged()) == (Event("dog", 0, 6),)


@given(tables(label=st.sampled_from(["dog", "cat"])), st.floats(0, 10))
def test_merged_is_final_and_loses_no_sound(table: EventTable, gap_s: float) -> None:
    once = table.merged(gap_s)
    assert once.merged(gap_s) == once
    for event in table:
        assert any(
            e.label == event.label and e.onset_s <= event.onset_s and event.offset_s <= e.offset_s
            for e in once
        )
    for label in ("dog", "cat"):
        same = tuple(once.with_labels([label]))
        assert all(b.onset_s - a.offset_s > gap_s for a, b in itertools.pairwise(same))


# Files


@given(table=tables())
def test_json_round_trip(file: Path, table: EventTable) -> None:
    events.write_json(file, table)
    assert events.read_json(file) == table


@given(table=tables(label=plain_labels, stated=False))
def test_audacity_round_trip(file: Path, table: EventTable) -> None:
    events.write_audacity(file, table)
    assert events.read_audacity(file, table.duration_s) == table


file_names = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\t\r\n"), min_size=1)


@given(given_tables=st.dictionaries(file_names.filter(str.strip), tables(plain_labels, False), max_size=4))
def test_dcase_round_trip(file: Path, given_tables: dict[str, EventTable]) -> None:
    events.write_dcase(file, given_tables)
    durations_s = {name: table.duration_s for name, table in given_tables.items()}
    assert events.read_dcase(file, durations_s) == given_tables


def test_label_tracks_keep_white_space_apart_from_structure(tmp_path: Path) -> None:
    table = EventTable((Event("dog\tbarks\nloudly ", 0.25, 1e-7 + 0.5),), 1.0)
    events.write_audacity(tmp_path / "a.txt", table)
    assert (tmp_path / "a.txt").read_text() == "0.25\t0.5000001\tdog barks loudly\n"


def test_files_from_other_programs_are_read(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_bytes(b"0.5\t1.25\tdog\r\n\\\t100.0\t2000.0\r\n2.0\t2.0\tbell\r\n")
    assert tuple(events.read_audacity(tmp_path / "labels.txt", 10.0)) == (
        Event("dog", 0.5, 1.25),
        Event("bell", 2.0, 2.0),
    )
    rows = (
        "\ufefffilename\tonset\toffset\tevent_label\r\na.wav\t0.000\t1.5\tSpeech\r\nb.wav\t\t\t\r\nc.wav\r\n"
    )
    (tmp_path / "truth.tsv").write_bytes(rows.encode())
    found = events.read_dcase(
        tmp_path / "truth.tsv", {"a.wav": 10.0, "b.wav": 10.0, "c.wav": 5.0, "d.wav": 1.0}
    )
    assert {name: len(table) for name, table in found.items()} == {
        "a.wav": 1,
        "b.wav": 0,
        "c.wav": 0,
        "d.wav": 0,
    }
    assert found["c.wav"].duration_s == 5.0


def test_clip_without_events_is_a_legal_table(tmp_path: Path) -> None:
    empty = EventTable((), 10.0)
    events.write_json(tmp_path / "a.json", empty)
    events.write_audacity(tmp_path / "a.txt", empty)
    events.write_dcase(tmp_path / "a.tsv", {"a.wav": empty})
    assert events.read_json(tmp_path / "a.json") == empty
    assert events.read_audacity(tmp_path / "a.txt", 10.0) == empty
    assert events.read_dcase(tmp_path / "a.tsv", {"a.wav": 10.0}) == {"a.wav": empty}


def test_dcase_refuses_a_file_name_it_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"'a\\tb.wav'"):
        events.write_dcase(tmp_path / "a.tsv", {"a\tb.wav": EventTable((), 1.0)})


def read_labels(path: Path) -> object:
    return events.read_audacity(path, 10.0)


def read_truth(path: Path) -> object:
    return events.read_dcase(path, {"a.wav": 10.0})


@pytest.mark.parametrize(
    ("read", "content", "words"),
    [
        (read_labels, "0\t1\tdog\n0,5\t1\tcat\n", "line 2"),
        (read_labels, "0\t1\n", "line 1"),
        (read_labels, "1\t2\t\n", "line 1.*label"),
        (read_labels, "3\t2\tdog\n", "line 1.*before it starts"),
        (read_labels, "0\t1\tdog\n\n11\t12\tdog\n", "line 3.*after the clip's end"),
        (read_labels, b"0\t1\tcaf\xe9\n", "not UTF-8"),
        (read_truth, "a.wav\t0\t1\tdog\nb.wav\t0\t1\tdog\n", "line 2: no duration is given for 'b.wav'"),
        (read_truth, "a.wav\t0\t1\n", "line 1"),
        (read_truth, "a.wav\t0\tnan\tdog\n", "line 1.*offset_s"),
        (read_truth, "a.wav\t10.001\t11\tdog\n", "line 1.*after the clip's end"),
        (events.read_json, "{", "not an event table"),
        (events.read_json, "[]", "not an event table"),
        (events.read_json, "[" * 100_000, "not an event table"),
        (events.read_json, '{"events": []}', "has no 'duration_s'"),
        (events.read_json, '{"events": [], "duration_s": "10"}', "'10' is no number"),
        (events.read_json, '{"events": [], "duration_s": NaN}', "duration"),
        (events.read_json, '{"events": 3, "duration_s": 1}', "not an event table"),
        (events.read_json, '{"events": ["dog"], "duration_s": 1}', "event 0"),
    ],
)
def test_faulty_files_are_named(
    tmp_path: Path, read: Callable[[Path], object], content: str | bytes, words: str
) -> None:
    path = tmp_path / "file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(UserError, match=words) as caught:
        read(path)
    assert str(path) in caught.value.message


@pytest.mark.parametrize("read", [read_labels, read_truth, events.read_json])
def test_missing_file_is_named(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(UserError, match="missing"):
        read(tmp_path / "missing")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"label": None}, "label"),
        ({"label": 3}, "label"),
        ({"onset_s": "0"}, "'0' is no number"),
        ({"onset_s": True}, "True is no number"),
        ({"offset_s": None}, "None is no number"),
        ({"offset_s": 10**400}, "too large"),
        ({"confidence": "high"}, "'high' is no number"),
        ({"confidence": 2}, "confidence"),
    ],
)
def test_from_json_names_the_event(change: dict[str, object], words: str) -> None:
    good = {"label": "dog", "onset_s": 0, "offset_s": 1, "confidence": None}
    with pytest.raises(ValueError, match=f"event 1.*{words}"):
        events.from_json([good, good | change], 10.0)
    with pytest.raises(ValueError, match="event 0 has no 'onset_s'"):
        events.from_json([{"label": "dog", "offset_s": 1}], 10.0)


def test_to_json_is_strict_and_complete() -> None:
    table = EventTable((Event("dog", 0.5, 1.0), Event("cat", 0.25, 2.0, 0.75)), 3.0)
    assert json.loads(json.dumps(events.to_json(table), allow_nan=False)) == [
        {"label": "cat", "onset_s": 0.25, "offset_s": 2.0, "confidence": 0.75},
        {"label": "dog", "onset_s": 0.5, "offset_s": 1.0, "confidence": None},
    ]
