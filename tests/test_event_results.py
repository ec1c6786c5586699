"""``earwitness events``: what its tables say beside the numbers, and what they do not write over."""

import csv
import io
import json
import os
from pathlib import Path

import pytest
from rich.console import Console

import earwitness
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event, EventTable, write_json
from earwitness.files import refuse_other
from earwitness.report import event_tables, event_words
from earwitness.tasks import event_sources
from earwitness.tasks.event_result import EventScores

TRUTH = {
    "a": EventTable((Event("dog", 1.0, 2.0), Event("cat", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5),), 10.0),
}
HEARD = {
    "a": EventTable((Event("dog", 1.1, 2.1), Event("owl", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5), Event("owl", 5.0, 6.0), Event("owl", 7.0, 8.0)), 10.0),
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


@pytest.mark.parametrize("text", ['{"inputs": []}', "[]", "{}", "not JSON"])
def test_a_result_that_does_not_say_what_it_was_made_of_is_not_written_over(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "events.json").write_text(text)
    with pytest.raises(UserError, match="does not say what it was made of"):
        refuse_other(tmp_path, "events.json", {"truth": "a"})


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


HEAD = "filename\tonset\toffset\tevent_label\n"


def test_a_comma_for_a_point_is_told_with_its_column(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text(f"{HEAD}a.wav\t1,5\t2\tdog\na.wav\tx\t2\tdog\n")
    with pytest.raises(InputFaults) as fault:
        event_sources.read(tmp_path / "a.tsv")
    assert fault.value.faults == (
        "row 2: onset: '1,5' is no number of seconds; decimals take a point",
        "row 3: onset: 'x' is no number of seconds",
    )


@pytest.mark.parametrize("text", ["", HEAD])
def test_a_truth_without_clips_says_how_clips_without_events_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.tsv").write_text(text)
    (tmp_path / "b.tsv").write_text(f"{HEAD}a.wav\t1.5\t2\tdog\n")
    with pytest.raises(InputFaults, match="--durations FILE or --audio DIR"):
        earwitness.score_events(tmp_path / "a.tsv", {"b": tmp_path / "b.tsv"}, durations=10.0)


def printed(scores: EventScores, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    for table in event_tables.terminal(scores):
        console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_events_left_out_stand_beside_the_numbers_that_they_flatter(
    tmp_path: Path, sides: tuple[Path, Path]
) -> None:
    """Precision is 1 as three owls are left out: terminal, markdown, LaTeX, CSV, JSON and page say so."""
    out = tmp_path / "out"
    left = earwitness.score_events(*sides, out=out, outside="leave")
    assert left.systems[0].whole.metrics["event_precision"].value == 1.0
    for title in ("Events", "Segments"):
        sheet = next(one for one in event_tables.sheets(left) if one.title == title)
        assert sheet.heads[1] == "Outside"
        assert sheet.rows[0][1][0].text == "3"
        assert "--outside count) they would lower P and F1" in sheet.legend
    assert printed(left).count("3 outside") == 2
    assert max(map(len, printed(left).splitlines())) <= 80
    assert (out / "events.md").read_text().count("| ours | 3 |") == 2
    assert (out / "events.tex").read_text().count("ours & 3 & ") == 2
    assert (out / "index.html").read_text().count(">Outside<") == 2
    with (out / "events.csv").open(newline="") as file:
        assert {row["outside_left_out"] for row in csv.DictReader(file)} == {"3"}
    assert json.loads((out / "events.json").read_text())["systems"][0]["outside_left_out"] == 3
    counted = earwitness.score_events(*sides, outside="count")
    assert "outside" not in printed(counted), "they are false alarms, so nothing is hidden"
    assert counted.systems[0].outside_left_out == 0


def test_tables_say_what_is_better_what_signs_mean_and_what_times_rest_on(
    tmp_path: Path, sides: tuple[Path, Path]
) -> None:
    silent = folder(tmp_path / "silent", {name: EventTable((), 10.0) for name in TRUTH})
    scores = earwitness.score_events(sides[0], {"ours": sides[1], "silent": silent}, out=tmp_path / "out")
    found = {sheet.title: sheet for sheet in event_tables.sheets(scores)}
    assert found["Events"].heads == ("System", "Event F1 ↑", "Event P ↑", "Event R ↑", "Event ER ↓")
    for words in ("P precision", "R recall", "ER (substitutions", "↑ more is better", "--: no number"):
        assert words in found["Events"].legend
    assert "Lenient: a label above or below" in found["Macro and lenient"].legend
    onsets = found["Onsets of matched events"]
    assert onsets.heads[:3] == ("System", "Matches", "Onset bias, s")
    assert [cells[0].text for _, cells in onsets.rows] == ["2", "0"]
    assert onsets.sortable[0][0] == scores.systems[0].whole.metrics["onset_bias_s"].n == 2
    for sheet in found.values():
        assert sheet.legend in " ".join(printed(scores, 2000).split())
        assert sheet.legend.split(".")[0] in (tmp_path / "out" / "events.tex").read_text().replace("{}", "")
    assert r"Event ER $\downarrow$" in (tmp_path / "out" / "events.tex").read_text()
    assert "↑" not in (tmp_path / "out" / "events.tex").read_text(), "fonts of LaTeX have no such letter"


def test_comparisons_count_clips(tmp_path: Path) -> None:
    true = {f"{at}": EventTable((Event("dog", 1.0, 2.0),), 5.0) for at in range(3)}
    true["3"] = EventTable((), 5.0)
    late = {name: EventTable((Event("dog", 2.5, 3.0),) if name < "2" else (), 5.0) for name in true}
    scores = earwitness.score_events(
        folder(tmp_path / "t", true), {"a": folder(tmp_path / "a", true), "b": folder(tmp_path / "b", late)}
    )
    said = event_words.sentences(scores)[0]
    assert "4 shared clips, 3 of them with events" in said
    assert "cluster" not in said
    assert "items" not in said


def test_numbers_as_a_table(sides: tuple[Path, Path]) -> None:
    scores = earwitness.score_events(*sides)
    frame = scores.frame
    assert frame.columns == ["system", "metric", "value", "low", "high", "n", "reason", "outside_left_out"]
    (row,) = frame.filter(system="ours", metric="event_f1").to_dicts()
    metric = scores.systems[0].whole.metrics["event_f1"]
    assert (row["value"], row["low"], row["high"], row["n"]) == (metric.value, metric.low, metric.high, 2)
    assert len(frame) == len(scores.systems[0].whole.metrics)
    assert frame.filter(metric="lenient_f1")["value"].is_null().all() == (
        scores.systems[0].whole.metrics["lenient_f1"].value is None
    )


@pytest.mark.parametrize(("clips", "told"), [(9, True), (10, False)])
def test_few_clips_are_told_to_make_narrow_intervals(tmp_path: Path, clips: int, told: bool) -> None:
    true = {f"{at}": EventTable((Event("dog", 1.0, 2.0),), 5.0) for at in range(clips)}
    scores = earwitness.score_events(folder(tmp_path / "t", true), folder(tmp_path / "o", true))
    notes = [note for note in event_words.notes(scores) if "fewer than 10 clips (o 9)" in note]
    assert bool(notes) == told
    assert all("80 % of cases with 4 clips" in note for note in notes)


@pytest.mark.skipif(os.name == "nt", reason="no such file names there")
def test_names_that_no_table_can_hold_are_told_before_anything_is_written(
    tmp_path: Path, sides: tuple[Path, Path]
) -> None:
    out = tmp_path / "out"
    bad = folder(tmp_path / "bad", TRUTH)
    try:
        (bad / "a.json").rename(os.fsdecode(os.fsencode(bad) + b"/a\xff.json"))
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    (bad / "b.json").write_text(
        '{"duration_s": 10, "events": [{"label": "d\\ud800g", "onset_s": 1, "offset_s": 2}]}'
    )
    with pytest.raises(InputFaults) as fault:
        earwitness.score_events(bad, {"x": sides[1]}, out=out)
    assert fault.value.faults == (
        r"a name is not valid Unicode: 'a\udcff.json'",
        r"b: a label is not valid Unicode: 'd\ud800g'",
    )
    (tmp_path / "run").mkdir()
    row = {
        "system": "",
        "sample_id": "s",
        "file_name": "a",
        "duration_s": 10,
        "status": "scored",
        "reason": "",
    }
    event = {"label": "\ud800", "onset_s": 1, "offset_s": 2, "confidence": None}
    (tmp_path / "run" / "labels.jsonl").write_text(json.dumps({**row, "events": [event]}))
    with pytest.raises(InputFaults, match=r"row 1: a: a label is not valid Unicode: '\\ud800'"):
        earwitness.score_events(tmp_path / "run", {"x": sides[1]}, out=out)
    with pytest.raises(InputFaults, match="as they would be written"):
        earwitness.score_events(sides[0], {"\udcff": sides[1]}, out=out)
    with pytest.raises(InputFaults, match="as they would be written"):
        earwitness.score_events(sides[0], sides[1], own={"\ud800": "dog"}, out=out)
    with pytest.raises(InputFaults, match="a name is not valid Unicode"):
        earwitness.score_events(sides[0], sides[1], durations={"\ud800": 1.0}, out=out)
    assert not out.exists()


@pytest.mark.parametrize(("name", "verb"), [("events.json", "events"), ("distances.json", "distance")])
def test_a_result_is_told_from_a_folder_of_tables(tmp_path: Path, name: str, verb: str) -> None:
    (tmp_path / name).write_text('{"inputs": {}}')
    with pytest.raises(UserError, match=f"is a result of earwitness {verb}, which holds no event tables"):
        event_sources.read(tmp_path)
    write_json(tmp_path / name, TRUTH["a"])  # a clip may be called so
    assert list(event_sources.read(tmp_path)[""].events) == [name.removesuffix(".json")]


def test_the_paragraph_for_the_paper_is_one(tmp_path: Path, sides: tuple[Path, Path]) -> None:
    command = "earwitness events truth ours"
    scores = earwitness.score_events(sides[0], {"a": sides[1], "b": sides[0]}, command=command)
    assert scores.comparisons
    paragraph, head, *details = event_words.protocol(scores).split("\n\n")
    assert 80 < len(paragraph.split()) <= 150
    assert head == "## Details"
    assert [one for one in details if one.startswith("**")] == [
        f"**{name}**" for name in ("Matching", "Intervals and tests", "Notes", "To do it again")
    ]
    assert f"`{command}`" in details[-1]
