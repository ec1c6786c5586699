"""``earwitness events``: what its tables say beside the numbers, and what they do not write over."""

import json
from pathlib import Path

import pytest

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event, EventTable, write_json
from earwitness.report.event_tables import EventScores
from earwitness.tasks import event_sources

TRUTH = {
    "a": EventTable((Event("dog", 1.0, 2.0), Event("cat", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5),), 10.0),
}
HEARD = {
    "a": EventTable((Event("dog", 1.1, 2.1), Event("owl", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5), Event("owl", 5.0, 6.0)), 10.0),
}


def folder(path: Path, tables: dict[str, EventTable]) -> Path:
    path.mkdir()
    for name, table in tables.items():
        write_json(path / f"{name}.json", table)
    return path


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    return folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", HEARD)


def test_a_result_is_replaced_by_one_of_the_same_inputs_alone(
    tmp_path: Path, sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, other = tmp_path / "out", folder(tmp_path / "other", TRUTH)
    first = earwitness.score_events(sides[0], {"x": sides[1]}, out=out)
    before = (out / "events.json").read_bytes()
    assert str(tmp_path) not in json.dumps(json.loads(before)["inputs"]), "no path of this machine"

    def refused(*given: object, **how: object) -> tuple[str, ...]:
        with pytest.raises(InputFaults, match="holds a result of other inputs") as fault:
            earwitness.score_events(*given, out=out, **how)  # type: ignore[arg-type]
        assert "Name another folder" in fault.value.remedy
        assert (out / "events.json").read_bytes() == before
        return fault.value.faults

    assert refused(other, {"x": sides[1]}) == ('truth: "../truth" before, now "../other"',)
    assert refused(sides[0], {"x": other}) == ('systems.x: "../ours" before, now "../other"',)
    assert refused(sides[0], {"x": sides[1]}, segment=0.5) == ("segment_s: 1.0 before, now 0.5",)
    assert refused(sides[0], {"x": sides[1]}, outside="leave") == ('outside: "auto" before, now "leave"',)
    assert refused(sides[0], {"x": sides[1]}, own={"owl": "cat"}) == ('map.owl: nothing before, now "cat"',)
    monkeypatch.chdir(tmp_path)  # the same folders, named from elsewhere
    again: EventScores = earwitness.score_events("truth", {"x": "ours"}, out="out", page=0)
    assert again.systems == first.systems
    assert not (out / "index.html").exists()


def test_files_of_another_result_are_not_written_over(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "protocol.md").write_text("of distances")
    with pytest.raises(InputFaults, match=r"protocol\.md is of another result"):
        earwitness.score_events(*sides, out=out)
    (out / "events.json").write_text("{}")
    with pytest.raises(UserError, match="does not say what it was made of"):
        earwitness.score_events(*sides, out=out)


@pytest.mark.parametrize(
    "head",
    [
        "file,start,end,label",
        "filename,start,end,label",
        "Filename;Onset_s;Offset_s;Event_label",
        "label\tend\tstart\tfile_name\tannotator",
        "",
    ],
)
def test_columns_are_known_by_their_obvious_names(tmp_path: Path, head: str) -> None:
    part = next((sign for sign in "\t;," if sign in head), ",")
    cells = {"file": "a.wav", "start": "1.5", "end": "2", "label": "dog"}
    places = {"a": "file", "f": "file", "s": "start", "o": "start", "e": "end", "l": "label"}
    columns = head.split(part) if head else ["file", "start", "end", "label"]
    row = []
    for name in columns:
        key = {"onset_s": "start", "offset_s": "end", "event_label": "label"}.get(name.casefold())
        row.append(cells[key or places[name.casefold()[0]]])
    path = tmp_path / "t.csv"
    path.write_text("\n".join([*([head] if head else []), part.join(row)]) + "\n")
    assert event_sources.read(path)[""].events == {"a": [Event("dog", 1.5, 2.0)]}


@pytest.mark.parametrize(
    ("head", "what"),
    [
        ("clip,begin,finish,sound", "no column filename, onset, offset, event_label. Found: clip, begin"),
        ("file,onset,duration,label", "no column offset. Found: file, onset, duration, label."),
        ("file,start,onset,end,label", "2 columns for onset (start, onset)"),
    ],
)
def test_a_header_of_other_names_is_told_with_what_is_needed(tmp_path: Path, head: str, what: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"{head}\na.wav,1,2,dog,x\n")
    with pytest.raises(UserError) as fault:
        event_sources.read(path)
    assert what in fault.value.message
    assert "filename (or file, file_name, audio), onset (or onset_s, start, start_s)" in fault.value.remedy
    assert "--map renames labels, not columns" in fault.value.remedy


def test_rows_without_a_header_stay_rows(tmp_path: Path) -> None:
    """A label may be called as a column is, and a bad number is a fault of its row."""
    path = tmp_path / "t.csv"
    path.write_text("a.wav,1,2,onset\nb.wav,,,\n")
    assert event_sources.read(path)[""].events == {"a": [Event("onset", 1.0, 2.0)], "b": []}
    path.write_text("a.wav,x,y,dog\n")
    with pytest.raises(InputFaults, match="row 1"):
        event_sources.read(path)


def test_a_run_without_events_is_told_from_a_folder_of_tables(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text('{"task": "ritta"}')
    (run / "summary.json").write_text("{}")
    with pytest.raises(UserError, match="run is a run of earwitness bench ritta score, which") as fault:
        event_sources.read(run)
    assert "earwitness label CLIPS -o" in fault.value.remedy
    panel = tmp_path / "panel" / "yamnet" / "labels"
    panel.mkdir(parents=True)
    (panel / "labels.jsonl").write_text("")
    with pytest.raises(UserError, match="panel holds runs of earwitness label") as fault:
        event_sources.read(tmp_path / "panel")
    assert str(panel.parent) in fault.value.remedy


def test_a_file_that_is_not_there_is_told_in_words(tmp_path: Path) -> None:
    (tmp_path / "truth.tsv").write_text("")
    with pytest.raises(UserError, match=r"no such file or folder \(did you mean 'truth\.tsv'\?\)") as fault:
        event_sources.read(tmp_path / "trut.tsv")
    assert "Errno" not in str(fault.value)
