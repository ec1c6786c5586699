"""``earwitness events``: what is read, what is refused, and what comes out."""

import csv
import json

import pytest
from typer.testing import CliRunner

import earwitness
from earwitness.cli.main import app
from earwitness.errors import InputFaults, UserError
from earwitness.events import Event, EventTable, write_audacity, write_dcase, write_json
from earwitness.report import event_tables
from earwitness.scenes import scene
from earwitness.scenes.bank import Bank
from earwitness.scenes.scene import Placed, Scene
from earwitness.tasks import event_files, event_labels, event_sources
from ritta_runs import make_data, scenes_of, true_events
from sounds import noise

TRUTH = {
    "a": EventTable((Event("dog", 1.0, 2.0), Event("cat", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5),), 10.0),
    "c": EventTable((), 10.0),
}
HEARD = {
    "a": EventTable((Event("dog", 1.1, 2.1), Event("dog", 4.0, 6.0)), 10.0),
    "b": EventTable((Event("dog", 3.0, 3.5),), 10.0),
    "c": EventTable((Event("cat", 0.0, 1.0),), 10.0),
}


def dcase(path, tables):
    write_dcase(path, {f"{name}.wav": table for name, table in tables.items()})
    return path


def folder(path, tables, write=write_json, ending=".json"):
    path.mkdir()
    for name, table in tables.items():
        write(path / f"{name}{ending}", table)
    return path


def lengths(path, names=("a.wav", "b.wav", "c.wav")):
    path.write_text("file,duration_s\n" + "".join(f"{name},10\n" for name in names))
    return path


@pytest.fixture
def sides(tmp_path):
    """The truth and a system, as folders of event tables that state everything."""
    return folder(tmp_path / "truth", TRUTH), folder(tmp_path / "ours", HEARD)


def said(*words):
    result = CliRunner().invoke(app, ["events", *map(str, words)], env={"COLUMNS": "200"})
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return " ".join(result.stdout.split())


def values(scores, at=0):
    return {name: metric.value for name, metric in scores.systems[at].whole.metrics.items()}


def test_the_same_numbers_from_every_format(tmp_path, sides):
    truth, ours = sides
    table = dcase(tmp_path / "truth.tsv", TRUTH)
    tracks = folder(tmp_path / "tracks", TRUTH, write_audacity, ".txt")
    given = lengths(tmp_path / "lengths.csv")
    for one in ("a", "b", "c"):
        noise(tmp_path / "clips" / f"{one}.wav", 0, 10.0)
    wanted = values(earwitness.score_events(truth, ours))
    assert wanted["event_f1"] == pytest.approx(4 / 7)  # 2 hits, 3 true, 4 estimated
    assert wanted["event_er"] == pytest.approx((1 + 0 + 1) / 3)  # a cat taken for a dog, a cat made up
    assert wanted["onset_bias_s"] == pytest.approx(0.05)
    for other, how in (
        (table, {"durations": given}),
        (table, {"durations": tmp_path / "clips"}),
        (tracks, {"durations": 10.0}),
    ):
        assert values(earwitness.score_events(other, ours, **how)) == wanted
    estimated = dcase(tmp_path / "ours.tsv", HEARD)
    tracks = folder(tmp_path / "their", HEARD, write_audacity, ".txt")
    scores = earwitness.score_events(table, {"x": estimated, "y": tracks}, durations=given)
    assert values(scores, 0) == values(scores, 1) == wanted


def test_a_clip_without_rows_has_no_events_and_its_false_alarms_count(tmp_path):
    truth = dcase(tmp_path / "t.tsv", TRUTH)
    assert "c.wav" not in truth.read_text()
    scores = earwitness.score_events(
        truth, dcase(tmp_path / "e.tsv", HEARD), durations=lengths(tmp_path / "l.csv")
    )
    assert scores.clips == 3
    assert scores.systems[0].by_clip["c"]["event_insertions"] == 1


def test_tables_without_a_header_and_clips_named_with_folders(tmp_path):
    truth = tmp_path / "t.tsv"
    truth.write_text("clips/a.wav\t1.0\t2.0\tdog\nclips/b.wav\t\t\t\n")
    estimated = tmp_path / "e.csv"
    estimated.write_text("filename,onset,offset,event_label\na.wav,1.0,2.0,dog\n")
    assert values(earwitness.score_events(truth, estimated, durations=5.0))["event_f1"] == 1.0


def test_all_faults_of_a_table_are_listed_with_their_rows(tmp_path, sides):
    bad = tmp_path / "bad.tsv"
    bad.write_text(
        "filename\tonset\toffset\tevent_label\na.wav\t2\t1\tdog\na.wav\tx\t1\tdog\na.wav\t1\t2\t\nb.wav\t1\t2\tdog\n"
    )
    with pytest.raises(InputFaults) as fault:
        earwitness.score_events(sides[0], bad)
    assert len(fault.value.faults) == 3
    assert [one.split(":")[0] for one in fault.value.faults] == ["row 2", "row 3", "row 4"]


def test_clips_on_one_side_only_are_listed_together(tmp_path, sides):
    other = folder(tmp_path / "other", {"a": HEARD["a"], "bb": HEARD["b"]})
    with pytest.raises(InputFaults) as fault:
        earwitness.score_events(sides[0], other)
    told = str(fault.value)
    assert "bb is not in the truth (did you mean 'b'?)" in told
    assert "the clip 'b' of the truth is missing" in told
    assert "the clip 'c' of the truth is missing" in told
    assert "--missing" in told


def test_a_missing_clip_is_no_number_unless_it_is_said_to_be_empty(tmp_path, sides):
    part = folder(tmp_path / "part", {"a": HEARD["a"], "c": HEARD["c"]})
    unheard = earwitness.score_events(sides[0], part, missing="unheard")
    one = unheard.systems[0]
    assert (one.clips, one.heard, one.coverage) == (3, 2, pytest.approx(2 / 3))
    assert dict(one.left_out) == {"b": "missing"}
    assert one.whole.counts["event_true"] == 2
    empty = earwitness.score_events(sides[0], part, missing="empty").systems[0]
    assert empty.whole.counts["event_true"] == 3
    assert "part: 1 of 3 clips are unheard and not scored: b (missing)" in said(
        *(sides[0], part, "--missing", "unheard")
    )


def test_a_system_that_heard_no_clip_has_no_number(tmp_path, sides):
    run = tmp_path / "run"
    run.mkdir()
    unheard = {"duration_s": None, "status": "unheard", "reason": "unreadable", "events": None}
    rows = [{"system": "x", "sample_id": name, "file_name": f"{name}.wav", **unheard} for name in TRUTH]
    (run / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    one = earwitness.score_events(sides[0], run, out=tmp_path / "o").systems[0]
    assert set(one.whole.reasons) == set(one.whole.metrics)
    assert all(metric.value is None for metric in one.whole.metrics.values())
    assert dict(one.left_out) == dict.fromkeys(TRUTH, "unreadable")
    assert "NaN" not in (tmp_path / "o" / "events.json").read_text()


@pytest.mark.parametrize("missing_length", ["", "--durations"])
def test_lengths_are_never_inferred(tmp_path, sides, missing_length):
    truth = dcase(tmp_path / "t.tsv", TRUTH)
    how = {"durations": lengths(tmp_path / "l.csv", ("a.wav",))} if missing_length else {}
    with pytest.raises(InputFaults, match="its length is not known") as fault:
        earwitness.score_events(truth, sides[1], **how)
    assert "--durations" in str(fault.value)
    with pytest.raises(UserError, match="states the lengths of its clips itself"):
        earwitness.score_events(sides[0], sides[1], durations=10.0)


def test_events_beyond_their_clip(tmp_path, sides):
    late = dcase(
        tmp_path / "late.tsv", {"a": EventTable((Event("dog", 8.0, 12.0), Event("cat", 11.0, 12.0)), 20.0)}
    )
    with pytest.raises(InputFaults, match="lies beyond the clip's end") as fault:
        earwitness.score_events(late, sides[1], durations=lengths(tmp_path / "l.csv"))
    assert len(fault.value.faults) == 2
    with pytest.raises(InputFaults, match=r"'cat' \(11 to 12 s\) lies beyond") as fault:
        earwitness.score_events(sides[0], late)
    assert len(fault.value.faults) == 1, "an estimated end is cut off and told"
    some = dcase(tmp_path / "some.tsv", {"a": EventTable((Event("dog", 8.0, 12.0),), 20.0)})
    assert any("cut off" in note for note in earwitness.score_events(sides[0], some).notes)


def test_lengths_that_disagree_are_a_fault(tmp_path, sides):
    short = folder(tmp_path / "short", {name: EventTable((), 5.0) for name in TRUTH})
    with pytest.raises(InputFaults, match="5 s long here, 10 s in the truth"):
        earwitness.score_events(sides[0], short)


def test_overlapping_truth_named(tmp_path):
    """Events of one class that overlap are legal; which clips have them is told, and --merge offered."""
    both = {"a": EventTable((Event("dog", 1.0, 3.0), Event("dog", 2.0, 4.0)), 5.0)}
    one = {"a": EventTable((Event("dog", 1.0, 4.0),), 5.0)}
    truth, ours = folder(tmp_path / "t", both), folder(tmp_path / "o", one)
    scores = earwitness.score_events(truth, ours, offset=False)
    assert "(first: a, dog 1-3 and 2-4 s)" in scores.notes[0]
    assert "--merge" in scores.notes[0]
    assert values(scores)["event_recall"] == 0.5
    merged = earwitness.score_events(truth, ours, merge=True)
    assert values(merged)["event_f1"] == 1.0
    assert not merged.notes


def test_a_clip_is_found_by_its_name_where_folders_differ():
    assert event_files.aligned(["x/a", "x/b"], ["a", "b"]) == {"a": "x/a", "b": "x/b"}
    assert event_files.aligned(["x/a", "y/a"], ["a"]) == {}
    assert event_files.aligned(["x/a", "y/a"], ["y/a", "x/a"]) == {"y/a": "y/a", "x/a": "x/a"}


def test_silent_system_against_an_empty_truth(tmp_path):
    nothing = {"a": EventTable((), 5.0), "b": EventTable((), 5.0)}
    one = {**nothing, "a": EventTable((Event("dog", 1.0, 2.0),), 5.0)}
    truth = folder(tmp_path / "t", nothing)
    silent = earwitness.score_events(truth, folder(tmp_path / "s", nothing)).systems[0].whole
    assert silent.metrics["event_f1"].value is None
    assert silent.reasons["event_f1"] == "no true event"
    false = earwitness.score_events(truth, folder(tmp_path / "f", one)).systems[0]
    assert false.whole.counts["event_insertions"] == 1
    assert false.whole.metrics["event_precision"].value == 0.0
    assert false.whole.reasons["event_er"] == "no true event"


def test_intervals_hold_the_value_and_one_clip_has_none(tmp_path, sides):
    scores = earwitness.score_events(*sides)
    for metric in scores.systems[0].whole.metrics.values():
        if metric.low is not None:
            assert metric.low <= metric.value <= metric.high
    assert scores.systems[0].whole.metrics["event_f1"].low < scores.systems[0].whole.metrics["event_f1"].high
    again = earwitness.score_events(*sides)
    assert again.systems == scores.systems, "the same seed, the same numbers"
    alone = earwitness.score_events(
        folder(tmp_path / "t1", {"a": TRUTH["a"]}), folder(tmp_path / "o1", {"a": HEARD["a"]})
    )
    assert alone.systems[0].whole.metrics["event_f1"].low is None


def test_pooled_interval_is_the_bootstrap_of_a_ratio_of_sums(tmp_path):
    """F1 of whole clips drawn again: against a plain loop of the same definition."""
    import numpy as np

    rng = np.random.default_rng(0)
    true = {}
    for at in range(60):
        events = (Event("dog", 2.0 * k, 2.0 * k + 1) for k in range(rng.integers(1, 5)))
        true[f"{at}"] = EventTable(tuple(events), 10.0)
    ours = {
        name: EventTable(tuple(e for e in table if rng.random() < 0.7), 10.0) for name, table in true.items()
    }
    scores = earwitness.score_events(folder(tmp_path / "t", true), folder(tmp_path / "o", ours))
    n, m = (np.array([len(side[name]) for name in true]) for side in (true, ours))
    picked = rng.integers(60, size=(20_000, 60))
    f1 = 2 * m[picked].sum(1) / (n[picked].sum(1) + m[picked].sum(1))
    metric = scores.systems[0].whole.metrics["event_f1"]
    assert (metric.low, metric.high) == pytest.approx(tuple(np.quantile(f1, [0.025, 0.975])), abs=0.006)
    assert scores.systems[0].whole.metrics["event_precision"].high == 1.0  # always 1: Wilson's bound
    assert scores.systems[0].whole.metrics["event_precision"].low == pytest.approx(0.94, abs=0.01)


def test_as_many_clips_are_drawn_as_there_are(tmp_path):
    """Of two clips, one found and one not, recall is 0, 0.5, 1 in 1, 2, 1 quarters of the draws."""
    true = {name: EventTable((Event("dog", 1.0, 2.0),), 5.0) for name in ("a", "b")}
    ours = {**true, "b": EventTable((), 5.0)}
    sides = folder(tmp_path / "t", true), folder(tmp_path / "o", ours)
    for level, bounds in ((0.4, (0.5, 0.5)), (0.6, (0.0, 1.0))):
        metric = earwitness.score_events(*sides, level=level).systems[0].whole.metrics["event_recall"]
        assert (metric.low, metric.high) == bounds


def test_labels_of_another_vocabulary():
    classes = ("dog_barking", "dog_bark", "Dog", "Speech", "my_class")
    assert event_labels.class_of("Dog", classes, {}) == "Dog"
    assert event_labels.class_of("Bark", ("dog_barking", "car_horn"), {}) == "dog_barking"
    assert (
        event_labels.class_of("Vehicle horn, car horn, honking", ("dog_bark", "car_horn"), {}) == "car_horn"
    )
    assert event_labels.class_of("a dog barking", ("dog_barking",), {}) == "dog_barking"
    assert event_labels.class_of("Animal", ("dog_barking",), {}) is None
    assert event_labels.class_of("Bark", ("Dog",), {}) is None, "both are AudioSet's, so only equality counts"
    assert event_labels.class_of("xyz", classes, {"xyz": "my_class"}) == "my_class"
    assert event_labels.class_of("Dog", classes, {"Dog": ""}) is None
    alike = event_labels.alike(("Dog", "my_class"), ("Dog", "Bark", "Animal", "Cat", "my_class"))
    assert alike.tolist() == [[True, True, True, False, False], [False, False, False, False, True]]


def test_lenient_beside_exact(tmp_path):
    truth = {"a": EventTable((Event("Dog", 1.0, 2.0), Event("Cat", 4.0, 5.0)), 10.0)}
    ours = {
        "a": EventTable((Event("Bark", 1.0, 2.0), Event("Animal", 4.0, 5.0), Event("Dog", 7.0, 8.0)), 10.0)
    }
    found = values(earwitness.score_events(folder(tmp_path / "t", truth), folder(tmp_path / "o", ours)))
    assert found["event_f1"] == 0.0
    assert found["lenient_f1"] == pytest.approx(4 / 5)
    assert found["event_er"] == pytest.approx((2 + 0 + 1) / 2)


def test_labels_outside_count_or_are_left_out_and_are_told(tmp_path, sides):
    more = {**HEARD, "b": EventTable((Event("dog", 3.0, 3.5), Event("owl", 5.0, 6.0)), 10.0)}
    ours = folder(tmp_path / "more", more)
    count = earwitness.score_events(sides[0], ours).systems[0]
    leave = earwitness.score_events(sides[0], ours, outside="leave").systems[0]
    assert count.whole.counts["event_estimated"] == leave.whole.counts["event_estimated"] + 1 == 5
    assert "owl" in count.classes
    assert "owl" not in leave.classes
    assert count.classes["owl"].metrics["event_f1"].value is None, "no true event, so unscored"
    told = said(sides[0], ours)
    assert "1 event outside the truth's classes, counted as false alarms: owl (1)" in told
    table = tmp_path / "map.csv"
    table.write_text("label,class\nowl,cat\n")
    assert earwitness.score_events(sides[0], ours, own=table).systems[0].read_as == {"owl": "cat"}
    table.write_text("label,class\nowl,\n")
    assert not earwitness.score_events(sides[0], ours, own=table).systems[0].outside


def test_the_command_writes_every_file_and_names_systems(tmp_path, sides):
    out = tmp_path / "scores"
    told = said(sides[0], f"first={sides[1]}", f"second={sides[0]}", "-o", out)
    assert "Event F1 by class" in told
    data = json.loads((out / "events.json").read_text())
    assert [one["system"] for one in data["systems"]] == ["first", "second"]
    assert data["systems"][1]["metrics"]["event_f1"]["value"] == 1.0
    with (out / "events.csv").open(newline="") as file:
        rows = {(row["system"], row["metric"]): row for row in csv.DictReader(file)}
    assert float(rows["first", "event_f1"]["value"]) == pytest.approx(4 / 7)
    with (out / "classes.csv").open(newline="") as file:
        assert {(row["system"], row["class"]) for row in csv.DictReader(file)} == {
            (system, name) for system in ("first", "second") for name in ("cat", "dog")
        }
    with (out / "clips.csv").open(newline="") as file:
        clips = [row for row in csv.DictReader(file) if row["system"] == "first"]
    assert sum(int(row["event_hits"]) for row in clips) == 2
    assert "**" not in (out / "events.md").read_text(), "three clips name no winner"
    assert r"\textbf" not in (out / "events.tex").read_text()
    assert r"\begin{tabular}" in (out / "events.tex").read_text()
    assert "whichever is more" in (out / "protocol.md").read_text()


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--collar", "-1"), "onset_collar_s"),
        (("--offset-share", "2"), "offset_share"),
        (("--segment", "0"), "a segment must last"),
        (("--level", "1"), "level must lie"),
        (("--seed", "-1"), "seed must be at least 0, not -1"),
        (("--missing", "maybe"), "there is no missing 'maybe'"),
        (("--outside", "maybe"), "there is no outside 'maybe'"),
        (("--duration", "10", "--audio", "x"), "exclude each other"),
    ],
)
def test_options_out_of_bounds_are_refused(sides, words, what):
    with pytest.raises(UserError, match=what):
        said(*sides, *words)


def test_what_is_no_source_of_events_is_refused(tmp_path, sides):
    (tmp_path / "empty").mkdir()
    noise(tmp_path / "x.wav", 0, 1.0)
    for path, what in (
        (tmp_path / "none", "no such file or folder"),
        (tmp_path / "empty", "neither event tables"),
        (tmp_path / "x.wav", "no file with events"),
    ):
        with pytest.raises(UserError, match=what):
            earwitness.score_events(sides[0], path)
    with pytest.raises(UserError, match="two estimates are called"):
        said(*sides, sides[1])


def placed(label, onset, length):
    return Placed(label, "0" * 64, "n", "r", 0, onset, length, 0, 0.0, -20.0)


def test_scenes_against_a_label_run(tmp_path):
    """What ``scenes make`` and ``label`` write; labels of AudioSet are read as the bank's classes."""
    data, run = tmp_path / "data", tmp_path / "run" / "labels"
    (data / "scenes").mkdir(parents=True)
    run.mkdir(parents=True)
    events = (placed("dog_bark", 16_000, 16_000), placed("car_horn", 64_000, 16_000))
    scene.write(
        data / "scenes" / "s-1.json", Scene("s-1", "order", 16_000, 160_000, "rms", 0.0, events, "p", 0)
    )
    heard = [("Bark", 1.0, 1.6), ("Dog", 1.05, 2.0), ("Animal", 1.0, 2.0), ("Rain", 0.0, 9.0)]
    row = {
        "system": "reference", "sample_id": "s-1", "file_name": "audio/s-1.wav", "duration_s": 10.0,
        "status": "scored", "reason": "",
        "events": [{"label": a, "onset_s": b, "offset_s": c, "confidence": 0.9} for a, b, c in heard],
    }  # fmt: skip
    (run / "labels.jsonl").write_text(json.dumps(row) + "\n")
    one = earwitness.score_events(data, tmp_path / "run").systems[0]
    assert one.whole.counts["event_estimated"] == one.whole.counts["event_hits"] == 1, "Bark and Dog are one"
    assert one.whole.metrics["event_recall"].value == 0.5
    assert one.read_as == {"Bark": "dog_bark", "Dog": "dog_bark"}
    assert one.outside == {"Animal": 1, "Rain": 1}
    counted = earwitness.score_events(data, tmp_path / "run", outside="count").systems[0]
    assert counted.whole.counts["event_insertions"] == 2


def test_a_real_label_run_of_rendered_scenes(tmp_path):
    data, run = tmp_path / "pairs", tmp_path / "run"
    earwitness.make_scenes("order", bank=Bank.builtin(2), pairs=1, out=data, workers=1)
    earwitness.label(data, run=run, workers=1)
    told = said(data, run, "-o", tmp_path / "scores")
    assert "2 clips, 2 classes" in told
    one = json.loads((tmp_path / "scores" / "events.json").read_text())["systems"][0]
    assert (one["clips"], one["heard"]) == (2, 2)
    assert one["metrics"]["segment_f1"]["value"] > 0.5
    assert set(one["read_as"].values()) <= set(one["classes"])


def test_a_ritta_data_set_is_a_truth(tmp_path):
    """Its clips are those of its prompts; the other references of a prompt are not."""
    data = make_data(tmp_path / "ritta", per_relation=1)
    truth = event_files.truth(event_sources.read_truth(data), None).tables
    prompts = scenes_of(data)
    assert truth.keys() == prompts.keys()
    assert {"or-00000", "not-00000", "if_then_else-00000"} <= truth.keys()
    assert list((data / "scenes" / "references").iterdir()), "there are other references"
    own = folder(tmp_path / "own", truth)
    scores = earwitness.score_events(data, own, missing="error")
    assert scores.systems[0].whole.metrics["event_f1"].value == 1.0
    assert scores.systems[0].whole.counts["event_true"] == sum(
        len(true_events(one)) for one in prompts.values()
    )


def test_systems_are_compared_on_the_clips_that_both_heard(tmp_path):
    true = {f"{at}": EventTable((Event("dog", 1.0, 2.0),), 10.0) for at in range(40)}
    half = {name: table if int(name) % 2 else EventTable((), 10.0) for name, table in true.items()}
    truth, good = folder(tmp_path / "t", true), folder(tmp_path / "good", true)
    poor = folder(tmp_path / "poor", half)
    one, other = earwitness.score_events(truth, [good, poor]).comparisons
    assert (one.metric, other.metric) == ("event_f1", "segment_f1")
    assert one.winner == "good"
    assert one.difference == pytest.approx(1 - 2 * 20 / 60)
    assert one.low < one.difference < one.high
    same = earwitness.score_events(truth, {"a": poor, "b": poor}).comparisons
    assert [one.winner for one in same] == ["", ""]
    out = tmp_path / "scores"
    assert "Event F1: good is ahead of poor by 0.333" in said(truth, good, poor, "-o", out)
    tables = (out / "events.md").read_text().split("\n## ")
    assert [table.split("\n")[0] for table in tables if "**" in table] == ["Events", "Segments"]
    assert all(table.count("**") == 2 and "ahead of every" in table for table in tables if "**" in table)
    assert (out / "events.tex").read_text().count(r"\textbf{1.000}") == 2, (
        "F1, not its parts, errors or classes"
    )
    silent = folder(tmp_path / "silent", {name: EventTable((), 10.0) for name in true})
    nothing = earwitness.score_events(silent, {"a": good, "b": poor}).comparisons
    assert all(one.difference is None and one.note for one in nothing)


HEAD = "filename\tonset\toffset\tevent_label\n"


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (HEAD + 'a.wav\t0\t1\t"dog\nb.wav\t0\t1\tdog\nc.wav\t0\t1\tdog\n', "row 2: .*double quote"),
        (HEAD + 'a.wav\t0\t1\t"dog" barks\n', "row 2: .*double quote"),
        ("a.wav 0 1 dog\n", "row 1: .* reads as an event"),
        (HEAD + "a.wav;0;1.5;dog\n", "row 2: .* reads as an event"),
        ("filename onset offset event_label\na.wav 0 1 dog\n", "parted by spaces"),
        ("# made by x, y, z\na.wav\t0\t1\tdog\n", "row 1: .* reads as a comment"),
        (HEAD + "a.wav\t0\t1\tdog\na.mp3\t2\t3\tdog\n", "'a.mp3' and 'a.wav' would be one clip"),
    ],
)
def test_what_would_be_read_as_other_clips_or_swallow_rows_is_refused(tmp_path, rows, what):
    table = tmp_path / "t.tsv"
    table.write_text(rows)
    with pytest.raises(UserError, match=what) as fault:
        event_sources.read(table)
    assert len(getattr(fault.value, "faults", [""])) == 1


def test_names_with_hashes_blanks_numbers_and_quotes_are_names(tmp_path):
    names = ("#1", "take 1 2 dog", "a, b", 'the "dog"')
    label = 'a "dog" barks'
    table = dcase(tmp_path / "t.tsv", {name: EventTable((Event(label, 0.0, 1.0),), 2.0) for name in names})
    found = event_sources.read(table)[""].events
    assert {name: [event.label for event in its] for name, its in found.items()} == {
        name: [label] for name in names
    }
    (tmp_path / "empty.tsv").write_text("#1.wav\ntake 1 2 dog.wav\n")
    assert event_sources.read(tmp_path / "empty.tsv")[""].events == {"#1": [], "take 1 2 dog": []}


def test_two_lengths_of_one_clip_are_refused(tmp_path):
    table = lengths(tmp_path / "l.csv", ("a.wav", "a.mp3", "a.wav", "b.wav"))
    with pytest.raises(InputFaults) as fault:
        event_files.durations_in(table)
    assert [one.split(":")[0] for one in fault.value.faults] == ["row 3", "row 4"]
    noise(tmp_path / "clips" / "a.wav", 0, 1.0)
    (tmp_path / "clips" / "a.flac").write_bytes((tmp_path / "clips" / "a.wav").read_bytes())
    with pytest.raises(InputFaults, match="would be one clip"):
        event_files.durations_in(tmp_path / "clips")


@pytest.mark.parametrize(
    ("durations", "what"),
    [
        ({"a": float("nan"), "b": -1, "c": "long"}, "3 faults"),
        ({"a": None}, "None is no number"),
        ({"a": True}, "True is no number"),
        ({"a.wav": 1, "a.mp3": 2}, "would be one clip"),
        (0, "no clip is 0 s long"),
        (float("nan"), "nan"),
        (-1.0, "-1.0"),
        ([1, 2], "no number"),
    ],
)
def test_lengths_that_are_none_are_refused(tmp_path, durations, what):
    truth = dcase(tmp_path / "t.tsv", TRUTH)
    with pytest.raises(UserError, match=what):
        earwitness.score_events(truth, truth, durations=durations)


def test_a_table_of_labels_is_held_against_what_is_there(tmp_path, sides):
    more = {**HEARD, "b": EventTable((Event("woof", 3.0, 3.5), Event("Wow", 5.0, 6.0)), 10.0)}
    ours = folder(tmp_path / "more", more)
    table = tmp_path / "map.csv"
    table.write_text("label,class\nwoof,dgo\nWow,bird\nowl,dog\n")
    with pytest.raises(InputFaults) as fault:
        said(sides[0], ours, "--map", table)
    assert len(fault.value.faults) == 2
    assert "'woof' is to be 'dgo', which is no class of the truth (did you mean 'dog'?)" in str(fault.value)
    table.write_text("label,class\nwof,dog\nWow,dog\n")
    assert "1 row for labels that nobody has: wof (did you mean 'woof'?)." in said(
        *(sides[0], ours, "--map", table)
    )
    table.write_text("label,class\nWow,dog\nWow,cat\n,dog\n")
    with pytest.raises(InputFaults) as fault:
        said(sides[0], ours, "--map", table)
    assert fault.value.faults == ("row 3: 'Wow' is 'cat' here and 'dog' above", "row 4: the label is empty")


@pytest.mark.parametrize(("true", "said_as"), [("Dog", "dog"), ("dog", "Dog"), ("dog_bark", "Dog bark")])
def test_capitals_and_underscores_are_read_alike_on_both_sides(true, said_as):
    for one, other in ((true, said_as), (said_as, true)):
        assert event_labels.class_of(one, (other, "Cat"), {}) == other
    assert event_labels.class_of("dog", ("Dog", "dog"), {}) == "dog"
    assert event_labels.class_of("XYZ", ("xyz", "Xyz"), {}) is None, "which of the two?"


def test_composed_and_decomposed_names_are_one_clip(tmp_path):
    one = {"\u00e9": TRUTH["a"]}
    other = {"e\u0301": TRUTH["a"]}
    scores = earwitness.score_events(folder(tmp_path / "t", one), dcase(tmp_path / "e.tsv", other))
    assert values(scores)["event_f1"] == 1.0


def test_a_name_that_may_be_several_clips_says_so(tmp_path):
    true = tmp_path / "t.tsv"
    true.write_text("x/a.wav\t0\t1\tdog\ny/a.wav\t0\t1\tdog\nz/b.wav\t0\t1\tdog\n")
    estimated = tmp_path / "e.tsv"
    estimated.write_text("a.wav\t0\t1\tdog\nq/b.wav\t0\t1\tdog\nr/b.wav\t0\t1\tdog\n")
    with pytest.raises(InputFaults) as fault:
        earwitness.score_events(true, estimated, durations=10.0)
    assert fault.value.faults == (
        "a is not in the truth, as it may be x/a, y/a: name its folder",
        "q/b is not in the truth, as other clips may be 'z/b', too: name their folders",
        "r/b is not in the truth, as other clips may be 'z/b', too: name their folders",
    )


def test_a_label_run_of_several_systems_is_a_system_for_each(tmp_path, sides):
    run = tmp_path / "run"
    run.mkdir()
    rows = [
        {"system": system, "sample_id": clip, "file_name": f"{clip}.wav", "duration_s": 10.0, "events": [
            {"label": e.label, "onset_s": e.onset_s, "offset_s": e.offset_s} for e in table
        ]}
        for system, tables in (("a", TRUTH), ("b", HEARD)) for clip, table in tables.items()
    ]  # fmt: skip
    (run / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    scores = earwitness.score_events(sides[0], [f"ours={run}"])
    assert [one.system for one in scores.systems] == ["ours/a", "ours/b"]
    assert [values(scores, at)["event_f1"] for at in (0, 1)] == [1.0, pytest.approx(4 / 7)]
    with pytest.raises(UserError, match="2 systems say, 'a', 'b': that is no truth"):
        earwitness.score_events(run, sides[0])


def test_nothing_is_written_over_a_run_or_over_what_is_read(tmp_path, sides):
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    (run / "protocol.md").write_text("the run's")
    table = dcase(tmp_path / "clips.csv", HEARD)
    for out in (run, sides[0], sides[1] / "scores", tmp_path):
        with pytest.raises(InputFaults, match="name another folder to write"):
            earwitness.score_events(sides[0], {"a": sides[1], "b": table}, out=out)
    assert (run / "protocol.md").read_text() == "the run's"
    for _ in range(2):
        earwitness.score_events(sides[0], {"a": sides[1]}, out=tmp_path / "scores")
    assert sorted(one.name for one in (tmp_path / "scores").iterdir()) == sorted(event_tables.FILES)
