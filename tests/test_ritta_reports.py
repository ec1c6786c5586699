"""Reports on a RiTTA run: how it is scored stands everywhere, and is kept in compare, bundle, failures."""

import csv
import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars
import pytest
from typer import Typer
from typer.testing import CliRunner

import earwitness
from earwitness import audio
from earwitness.cli import report, share
from earwitness.errors import UserError
from earwitness.report import build
from earwitness.report.compare import compare, heads
from earwitness.report.differences import ALIKE, OVERALL
from earwitness.report.failures import Wanted, listed
from earwitness.scores.relations import RELATIONS, from_json
from ritta_runs import Answer, make_data, reference_lines, skilled, system_lines
from shared_runs import FEW, order_run
from sounds import script

SKILLS = {"tangoflux": 1.0, "makeaudio": 0.2}
BASELINES = ("reference", "oracle", "silence", "shuffled")
PAPER = {"mode": "paper"}
OPTIONS = build.Options(spectrograms=0, draws=100)


@dataclass(frozen=True)
class World:
    """A data set, systems, a finished run in mode default, and a copy of it in mode paper."""

    folder: Path
    data: Path
    outputs: dict[str, Path]
    lines: list[Answer]
    run: Path
    paper: Path


def score(world: World, name: str, lines: list[Answer], **how: Any) -> Path:
    """A run of its own by a listener that answers so; what it has no answer for is silent."""
    listener = script(world.folder / f"{name}.jsonl", lines)
    earwitness.score_ritta(
        world.data,
        world.outputs,
        run=world.folder / name,
        listener=listener,
        options=OPTIONS,
        distances="none",
        **how,
    )
    return world.folder / name


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("ritta")
    data = make_data(folder / "DATA", per_relation=2)
    outputs = {name: folder / name for name in SKILLS}
    lines = reference_lines(data)
    for seed, (name, share_right) in enumerate(SKILLS.items()):
        lines += system_lines(folder / name, data, skilled(share_right), seed, seconds=2.0)
    quiet = {"pcm_hash": "*", "question": "events", "reply": {"events": [], "duration_s": 10.0}}
    still = {"pcm_hash": "*", "question": "levels", "reply": {"frame_s": 0.05, "dbfs": [None] * 200}}
    lines += [quiet, still]
    made = World(folder, data, outputs, lines, folder / "run", folder / "paper")
    score(made, "run", lines)
    shutil.copytree(made.run, made.paper)
    earwitness.rebuild(made.paper, OPTIONS, scoring=PAPER)
    return made


def summary(run: Path) -> dict[str, dict[str, Any]]:
    data = json.loads((run / "summary.json").read_text(encoding="utf-8"))
    return {row["system"]: row for row in data["rows"]}


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- how it is scored ---------------------------------------------------------------------------------


def test_the_way_of_scoring_stands_beside_the_listener_everywhere(world: World) -> None:
    for run, mode in ((world.run, "default"), (world.paper, "paper")):
        for name in ("summary.json", "index.html", "tables/ritta.md", "tables/ritta.tex",
                     "tables/ritta_relations.md", "tables/ritta_relations.tex", "protocol.md"):  # fmt: skip
            text = (run / name).read_text(encoding="utf-8")
            assert f"scripted (mode {mode})" in text, name
    assert json.loads((world.paper / "run.json").read_text(encoding="utf-8"))["scoring"] == PAPER


def test_only_what_is_not_usual_is_told_beside_the_mode() -> None:
    assert build.ways("ritta", {}, False) == ["mode default"]
    told = build.ways("ritta", {"counting": "tracks", "order_rule": "any-pair"}, True)
    assert told == ["mode default", "counting tracks", "order rule any-pair", "unclaimed labels too"]
    assert build.ways("order", {}, False) == []


def test_a_report_in_another_way_says_so_once(world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    app = Typer()
    app.command("report")(report.report)
    app.command("failures")(report.failures)

    def said(*words: str) -> list[str]:
        ran: Any = CliRunner().invoke(app, ["report", str(run), "--spectrograms", "0", *words])
        assert ran.exit_code == 0, ran.output
        return [line for line in " ".join(ran.output.split()).split("- ") if "in another way" in line]

    assert said() == []
    (line,) = said("--mode", "paper")
    assert "was scored in another way (mode default); now: mode paper." in line
    assert said("--mode", "paper") == []
    (line,) = said()
    assert "(mode paper); now: mode default." in line


def test_rebuilding_takes_the_scoring_and_refuses_it_of_other_tasks(world: World, tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 1}, n=2)
    with pytest.raises(UserError, match="scoring is of the task ritta, not of order"):
        earwitness.rebuild(tmp_path / "run", FEW, scoring=PAPER)
    with pytest.raises(UserError, match="papre"):
        earwitness.rebuild(world.run, OPTIONS, scoring={"mode": "papre"})


def test_numbers_by_relation_are_a_frame(world: World, tmp_path: Path) -> None:
    found = earwitness.rebuild(world.run, OPTIONS)
    assert isinstance(found, earwitness.Result)
    frame = found.relations
    assert frame.schema["value"] == frame.schema["low"] == polars.Float64
    own = frame.filter((polars.col("system") == "tangoflux") & (polars.col("metric") == "msr"))
    assert set(RELATIONS) < set(own["part"])
    whole = own.filter(polars.col("part") == "all")["value"].item()
    assert whole == summary(world.run)["tangoflux"]["msr"]["value"]
    other = order_run(tmp_path, {"ours": 1}, n=2)
    with pytest.raises(UserError, match="the task order has no numbers by relation"):
        other.relations  # noqa: B018


def test_titles_choose_columns_of_every_table(world: World, tmp_path: Path) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    columns = earwitness.report.tables.TableOptions(columns=("mAPre", "msr"))
    earwitness.rebuild(run, build.Options(table=columns, spectrograms=0, draws=20))
    head = (run / "tables" / "ritta.md").read_text(encoding="utf-8").split("\n")[2]
    assert [cell.strip() for cell in head.strip("|").split("|")] == ["System", "mAPre", "mAMSR"]
    text = (run / "tables" / "ritta_relations.md").read_text(encoding="utf-8")
    assert [line for line in text.split("\n") if line.startswith("## ")] == ["## mAPre", "## mAMSR"]


# --- compare ------------------------------------------------------------------------------------------


def test_runs_are_compared_as_they_were_last_scored_and_the_numbers_are_theirs(world: World) -> None:
    found = compare(world.run, world.paper, options=OPTIONS)
    assert found.shared == 2 * 11 * 6
    assert heads(found) == [
        "First: run, heard by scripted (mode default).",
        "Second: paper, heard by scripted (mode paper).",
        "The same hearings, scored in two ways: what differs comes of the scoring alone.",
    ]
    assert "scoring: mode default, then mode paper" in found.settings
    first, second = summary(world.run), summary(world.paper)
    by_system = {(one.system, one.metric): one for one in found.differences}
    assert {system for system, _ in by_system} == {OVERALL, *SKILLS, *BASELINES}
    for (system, metric), one in by_system.items():
        if system != OVERALL:
            assert one.first == pytest.approx(first[system][metric]["value"], abs=1e-12)
            assert one.second == pytest.approx(second[system][metric]["value"], abs=1e-12)
            assert one.items == first[system]["metric_n"][metric]
    assert any(one.difference for one in found.differences)
    assert by_system[OVERALL, "msr"].items == sum(first[name]["metric_n"]["msr"] for name in SKILLS)
    assert all(one.p is None for one in found.differences if one.system in BASELINES)
    assert all(by_system[name, "msr"].p is not None for name in SKILLS)


def test_nothing_can_differ_between_a_run_and_its_copy(world: World, tmp_path: Path) -> None:
    for run in (world.run, world.paper):
        shutil.copytree(run, tmp_path / run.name)
        found = compare(run, tmp_path / run.name, options=OPTIONS)
        assert heads(found)[-1] == f"Both have {ALIKE}."
        assert {one.difference for one in found.differences} == {0}
        assert {one.low for one in found.differences} == {None}
        assert found.changed == ()


def test_a_relation_without_a_ceiling_in_one_run_counts_in_neither(world: World) -> None:
    deaf = {audio.read(path).pcm_hash for path in (world.data / "audio").glob("count-*.wav")}
    lines = [
        {"pcm_hash": line["pcm_hash"], "question": line["question"], "reason": "refused", "detail": "no"}
        if line["pcm_hash"] in deaf
        else line
        for line in world.lines
    ]
    later = score(world, "deaf", lines)
    found = compare(world.run, later, options=OPTIONS)
    assert any("has none in: count" in note for note in found.notes)
    shown = summary(later)
    for one in found.differences:
        if one.system not in (OVERALL, "oracle"):
            assert one.second == pytest.approx(shown[one.system][one.metric]["value"], abs=1e-12)
    (good,) = [one for one in found.differences if (one.system, one.metric) == ("tangoflux", "msr")]
    assert good.items == summary(world.run)["tangoflux"]["metric_n"]["msr"] - 2


def test_a_system_without_numbers_in_a_relation_is_compared_on_the_others_and_this_is_said(
    world: World,
) -> None:
    mute = {audio.read(path).pcm_hash for path in world.outputs["tangoflux"].glob("not-*.wav")}
    lines = [
        {"pcm_hash": line["pcm_hash"], "question": line["question"], "reason": "refused", "detail": "no"}
        if line["pcm_hash"] in mute
        else line
        for line in world.lines
    ]
    found = compare(world.run, score(world, "mute", lines), options=OPTIONS)
    notes = {one.system: one.note for one in found.differences if one.metric == "msr"}
    assert "over the 10 relations that both runs have a number in" in notes["tangoflux"]
    assert "10 relations" not in notes["makeaudio"]


def test_the_command_line_names_both_ways_before_any_number(world: World) -> None:
    app = Typer()
    app.command("compare")(share.compare)
    app.command("bundle")(share.bundle)
    ran: Any = CliRunner().invoke(app, ["compare", str(world.run), str(world.paper)])
    assert ran.exit_code == 0, ran.output
    first, second = ran.output.split("\n")[:2]
    assert first.endswith("scripted (mode default).")
    assert second.endswith("scripted (mode paper).")


def test_unclaimed_is_part_of_how_a_run_was_scored(tmp_path: Path) -> None:
    order_run(tmp_path, {"ours": 1}, n=3)
    shutil.copytree(tmp_path / "run", tmp_path / "loose")
    earwitness.rebuild(tmp_path / "loose", build.Options(unclaimed=True, spectrograms=0, draws=20))
    found = compare(tmp_path / "run", tmp_path / "loose", options=FEW)
    assert found.heard_by == ("scripted", "scripted (unclaimed labels too)")
    assert not found.scored_alike


# --- failures -----------------------------------------------------------------------------------------


def test_failures_are_those_of_the_runs_own_scoring(world: World) -> None:
    for run in (world.run, world.paper):
        wrong = {
            (row["system"], row["sample_id"]) for row in table(run / "items.csv") if row["verdict"] == "wrong"
        }
        assert {(row.system, row.sample_id) for row in listed(run, Wanted())} == wrong
    with pytest.raises(UserError, match=r"(?s)no kind of error 'unmeasured'.*--verdict unmeasured"):
        list(listed(world.run, Wanted(kind="unmeasured")))


# --- bundle -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("anonymous", [False, True])
def test_a_release_has_what_its_prompts_expect_and_says_whose_recordings_are_in_it(
    world: World, tmp_path: Path, anonymous: bool
) -> None:
    made = earwitness.bundle(world.paper, tmp_path / "given", anonymous=anonymous, options=OPTIONS)
    folder = made.folder
    assert (folder / "licences.csv").read_bytes() == (world.data / "licences.csv").read_bytes()
    clips = len(table(world.data / "licences.csv"))
    told = f"{clips} x None needed: the sound is computed"
    assert told in (folder / "README.md").read_text(encoding="utf-8")
    assert any(told in note for note in made.notes)
    assert "scripted (mode paper)" in (folder / "tables" / "ritta.md").read_text(encoding="utf-8")
    own = {
        row["prompt_id"]: from_json(json.loads(row["expected"])) for row in table(world.data / "metadata.csv")
    }
    given = {
        row["sample_id"]: from_json(json.loads(row["expected"])) for row in table(folder / "prompts.csv")
    }
    assert given == own
    folders = {path.name for path in (folder / "audio").iterdir()}
    assert {"reference", "silence"} < folders
    assert not folders & {"oracle", "shuffled"}
    assert len(list((folder / "audio" / "reference").iterdir())) == 22
    items = table(folder / "items.csv")
    of_reference = {row["audio"] for row in items if row["system"] == "reference"}
    assert all(path.startswith("audio/reference/") for path in of_reference)
    last = list(dict.fromkeys(row["system"] for row in items))[-4:]
    assert last == list(BASELINES)


def test_licences_that_are_not_known_are_a_warning(world: World, tmp_path: Path) -> None:
    data = tmp_path / "DATA"
    shutil.copytree(world.data, data)
    text = (data / "licences.csv").read_text(encoding="utf-8")
    head, *rows = text.splitlines()
    _, label, recording, _, author, scenes = rows[0].split(",")
    changed = [head, ",".join(["bank/1.wav", label, recording, "", author, scenes]), *rows[1:]]
    (data / "licences.csv").write_text("\n".join(changed) + "\n", encoding="utf-8")
    listener = script(tmp_path / "s.jsonl", world.lines)
    earwitness.score_ritta(data, run=tmp_path / "run", listener=listener, options=OPTIONS, distances="none")
    made = earwitness.bundle(tmp_path / "run", tmp_path / "given", options=OPTIONS)
    assert any("1 x UNVERIFIED or not stated: find out before you publish" in note for note in made.notes)
