"""Distances within runs: what is held against what, what the run keeps, and where the numbers stand."""

import csv
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars
import pytest
from typer import Typer
from typer.testing import CliRunner

import earwitness
import related
from earwitness.api import Request, Result
from earwitness.cli import share, show
from earwitness.cli.bench import app as bench
from earwitness.errors import InputFaults, UserError
from earwitness.ledger import Ledger
from earwitness.report import (
    compared_distances,
    distance_tables,
    page_view,
    protocol,
    ritta_tables,
    tables,
    terminal,
)
from earwitness.report.build import Options
from earwitness.report.bundle_distances import renamed
from earwitness.report.compare import compare
from earwitness.report.latex import latex_of
from earwitness.scores.relations import MAIN
from earwitness.tasks import run_distances
from earwitness.tasks.distances import ALL, ANCHORS, Coverage, Distance, Distances, Recipe, from_json, to_json
from earwitness.tasks.rows import Comparison
from ritta_runs import make_data
from shared_runs import FEW, order_run
from sounds import noise, script

OPTIONS = Options(spectrograms=0, draws=50)
BASELINES = ("reference", "silence", "shuffled")
QUIET = [
    {"pcm_hash": "*", "question": "events", "reply": {"events": [], "duration_s": 10.0}},
    {"pcm_hash": "*", "question": "levels", "reply": {"frame_s": 0.05, "dbfs": [None] * 200}},
]


def table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def strict(path: Path) -> Any:
    """What a JSON file holds; a number that JSON does not know is an error."""

    def refuse(name: str) -> None:
        raise AssertionError(f"{path} holds {name}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def numbers(frame: polars.DataFrame, systems: Iterable[str]) -> list[tuple[Any, ...]]:
    """The rows of some systems."""
    return frame.filter(polars.col("system").is_in(list(systems))).rows()


def prompts_of(data: Path) -> dict[str, str]:
    """Relation by prompt_id."""
    return {row["prompt_id"]: row["relation"] for row in table(data / "metadata.csv")}


@dataclass(frozen=True)
class World:
    """A data set; the system ``second`` answers every prompt of two answers with the second, and every other
    with the data set's own clip; ``noise`` is noise."""

    folder: Path
    data: Path
    listener: str
    outputs: dict[str, Path]
    result: Result

    @property
    def run(self) -> Path:
        return self.result.folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("distances")
    data = make_data(folder / "DATA", per_relation=2)
    shutil.copytree(data / "audio", folder / "second")
    for path in (data / "references").iterdir():
        shutil.copy(path, folder / "second" / path.name)
    for seed, name in enumerate(prompts_of(data)):
        noise(folder / "noise" / f"{name}.wav", seed, 1.0)
    listener = script(folder / "script.jsonl", QUIET)
    outputs = {name: folder / name for name in ("second", "noise")}
    result = earwitness.score_ritta(
        data, outputs, run=folder / "run", listener=listener, options=OPTIONS, workers=1
    )
    assert isinstance(result, Result)
    return World(folder, data, listener, outputs, result)


# --- RiTTA: what is held against what --------------------------------------------------------------------


def test_every_system_and_baseline_with_sound_has_every_part_and_not_has_no_reference(world: World) -> None:
    rows = {(r["system"], r["part"], r["metric"]): r for r in world.result.distances.iter_rows(named=True)}
    systems = {system for system, _, _ in rows} - ANCHORS.keys()
    assert systems == {"second", "noise", *BASELINES}
    for system in systems:
        for part in (*MAIN, ALL):
            for metric in ("fad", "fd", "kad", "kl", "is"):
                found = rows[system, part, metric]
                assert (found["value"] is None) == bool(found["reason"]), found
    prompts = list(prompts_of(world.data).values())
    assert rows["second", "Compositionality", "kl"]["n"] == 2 * (len(MAIN["Compositionality"]) - 1)
    assert rows["second", ALL, "kl"]["n"] == len(prompts) - prompts.count("not")
    assert any("leave out the relation not" in note for note in world.result.summary.distances.notes)
    assert rows["second", ALL, "fad"]["reason"], "so few clips have too few frames for a Fréchet distance"


def test_the_nearer_of_two_references_counts(world: World) -> None:
    """The second answers of `or` and `if_then_else` are what `second` gives: it is at no distance of them."""
    twofold = {path.name for path in (world.data / "references").iterdir()}
    assert {prompts_of(world.data)[name.removesuffix(".wav")] for name in twofold} == {"or", "if_then_else"}
    for name in twofold:
        first, second = (world.data / role / name for role in ("audio", "references"))
        assert first.read_bytes() != second.read_bytes()
    found = {
        (row["system"], row["part"]): row["value"]
        for row in world.result.distances.iter_rows(named=True)
        if row["metric"] == "kad"
    }
    for part in (*MAIN, ALL):
        assert found["second", part] == found["reference", part] == 0
        assert found["noise", part] > 0
    assert found["shuffled", "Compositionality"] != 0


def test_a_reference_that_is_missing_is_named_before_anything_is_heard(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.data, tmp_path / "DATA")
    gone = sorted((tmp_path / "DATA" / "references").iterdir())[0]
    gone.unlink()
    how = {"run": tmp_path / "run", "listener": world.listener, "options": OPTIONS}
    with pytest.raises(InputFaults, match=gone.name) as raised:
        earwitness.score_ritta(tmp_path / "DATA", **how)
    assert "--distances none" in raised.value.remedy
    assert not (tmp_path / "run").exists()


# --- what the run keeps ----------------------------------------------------------------------------------


def test_reports_are_rebuilt_with_no_clip_cache_or_weights(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    shutil.copytree(world.run, run)
    written = ("distances.csv", "summary.json", "tables/ritta_distances.md", "tables/ritta_distances.tex")
    before = [(run / name).read_bytes() for name in written]
    for name in written:
        (run / name).unlink()
    monkeypatch.setenv("EARWITNESS_CACHE", str(tmp_path / "empty"))
    world.folder.rename(world.folder.with_name("elsewhere"))
    try:
        earwitness.rebuild(run, OPTIONS)
    finally:
        world.folder.with_name("elsewhere").rename(world.folder)
    assert [(run / name).read_bytes() for name in written] == before


def test_a_run_s_distances_join_others_of_their_recipe(world: World, tmp_path: Path) -> None:
    assert earwitness.api.join_distances([world.run]).distances == world.result.summary.distances
    data = strict(world.run / "summary.json")
    (tmp_path / "summary.json").write_text(json.dumps({**data, "distances": None}), encoding="utf-8")
    with pytest.raises(UserError, match="is a run without distances"):
        earwitness.api.join_distances([tmp_path])


def test_the_protocol_of_a_run_s_distances_counts_baselines_apart(world: World, tmp_path: Path) -> None:
    earwitness.api.join_distances([world.run], out=tmp_path / "out")
    said = (tmp_path / "out" / "protocol.md").read_text(encoding="utf-8")
    assert said.startswith(f"{len(world.outputs)} sets and {len(BASELINES)} baselines were held against ")


def test_numbers_are_strict_json_with_their_recipe(world: World) -> None:
    kept = strict(world.run / "summary.json")["distances"]
    assert kept["recipe"]["backbone"] == "yamnet"
    assert kept["recipe"]["version"]
    assert kept["recipe"]["reference_clips"] == len(prompts_of(world.data)) - 2 + 4, (
        "`not` has none, four two"
    )
    assert from_json(kept) == world.result.summary.distances
    assert {row["recipe"] for row in table(world.run / "distances.csv")} == {kept["recipe_key"]}
    assert "distances" not in strict(world.run / "run.json")


def test_a_system_added_later_changes_no_other_number_and_clips_that_went_keep_theirs(
    world: World, tmp_path: Path
) -> None:
    """The clips of `noise`, as the run knows them, are gone when `again` comes."""
    shutil.copytree(world.run, tmp_path / "run")
    gone = world.outputs["noise"]
    gone.rename(tmp_path / "noise")
    try:
        later = earwitness.score_ritta(
            world.data,
            {"again": world.outputs["second"]},
            run=tmp_path / "run",
            listener=world.listener,
            options=OPTIONS,
            workers=1,
        )
    finally:
        (tmp_path / "noise").rename(gone)
    before = world.result.distances
    for system in ("second", "noise", *BASELINES):
        assert numbers(later.distances, [system]) == numbers(before, [system]), system
    added = numbers(later.distances, ["again"])
    assert [row[1:] for row in added] == [row[1:] for row in numbers(before, ["second"])]
    assert not later.summary.distances.left_out
    (note,) = [note for note in later.summary.distances.notes if "noise" in note]
    assert note.startswith("As measured before some of their clips were gone: noise.")
    kept = {(p.metric, p.first, p.second): p for p in later.summary.distances.comparisons}
    for pair in world.result.summary.distances.comparisons:
        assert replace(kept[pair.metric, pair.first, pair.second], p_holm=None) == replace(pair, p_holm=None)
    assert any("again" in pair for pair in kept)
    assert not any({"again", "noise"} <= {*pair} for pair in kept)
    assert later.rescored == ""


@pytest.mark.parametrize("change", [{}, {"version": "other"}, {"seed": 1}, {"pairing": "own"}])
def test_clips_that_went_keep_their_numbers_by_the_same_recipe_alone(change: dict[str, Any]) -> None:
    before = synthetic()
    only = tuple(row for row in before.rows if row.system != "AUDIT")
    now = replace(before, rows=only, coverage=(), recipe=replace(before.recipe, **change))
    found = run_distances._with_gone(now, before, frozenset({"AUDIT"}))
    assert any(row.system == "AUDIT" for row in found.rows) == (not change)
    (note,) = found.notes
    assert note.startswith("Not measured by this recipe" if change else "As measured before")


# --- where they stand ------------------------------------------------------------------------------------


def test_the_terminal_and_the_page_show_them_with_what_they_rest_on(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    show.print_result(world.result, {})
    said = " ".join(capsys.readouterr().out.split())
    assert "Distances to the reference" in said
    assert "KAD by part" in said, "no Fréchet distance has a number"
    assert "Embeddings: yamnet" in said
    assert "leave out the relation not" in said
    key = world.result.summary.distances.recipe.key
    for name in ("index.html", "protocol.md", "tables/ritta_distances.md", "tables/ritta_distances.tex"):
        assert key in (world.run / name).read_text(encoding="utf-8"), name


def test_the_terminal_explains_the_sign_of_a_set_of_fewer_clips_where_it_stands() -> None:
    found = synthetic()
    short = Coverage("tango2", 60, 60, 60, 1.0, 1.0, 1.0)
    for coverage, there in ((found.coverage, False), ((*found.coverage, short), True)):
        summary = related.ritta(distances=replace(found, coverage=coverage))
        captions = " ".join(str(made.caption) for made in terminal.tables(summary))
        assert captions.count(distance_tables.FEWER_NOTE) == there


def test_nothing_is_best_and_baselines_stand_after_the_systems(world: World) -> None:
    shown = page_view.view(world.result.summary, title="", facts={}, names={})["distances"]
    for sheet in shown["sheets"]:
        assert not any(cell.best for _, cells in sheet.lines for cell in cells)
        names = [name for name, _ in sheet.lines]
        if sheet.key == distance_tables.PAIRS:
            assert set(names) == {"second less noise"}, "baselines are no contestants"
            continue
        assert names[:5] == ["second", "noise", "reference (ceiling)", "silence (floor)", "shuffled (floor)"]


def synthetic(value: float = 5.65) -> Distances:
    """Distances of the systems of ``related.ritta``."""
    systems = ("AUDIT", "tango2", "audioldm", *BASELINES)
    rows = [
        Distance(system, part, metric, value + at, value + at - 0.5, value + at + 0.5, 100, 100)
        for at, system in enumerate(systems)
        for part in (*MAIN, ALL)
        for metric in ("fad", "fd", "kl")
    ]
    recipe = Recipe("vggish", "abc", {"rate_hz": 16_000}, "f" * 64, 100)
    return Distances(recipe, tuple(rows), (Coverage("AUDIT", 100, 100, 100, 1.0, 1.0, 1.0),))


def test_the_paper_s_tables_have_its_columns_and_say_whose_numbers_they_are() -> None:
    summary = related.ritta(distances=synthetic())
    options = tables.TableOptions()
    five, six = ritta_tables.table_5(summary, options), ritta_tables.table_6(summary, options)
    assert five.heads[1:4] == ("FAD", "KL", "FD")
    assert six.heads[1:5] == ("FAD Count", "FAD TempOrder", "FAD SpatDist", "FAD Compos")
    first = five.names.index("AUDIT")
    assert [cell.text for cell in five.cells[first][:3]] == ["5.65"] * 3
    assert not any(cell.best for cells in five.cells for cell in cells[:3])
    oracle = next(at for at, row in enumerate(five.systems) if row.system == "oracle")
    assert [cell.text for cell in five.cells[oracle][:3]] == [tables.NONE] * 3
    assert latex_of(five, "", "tab:x", options)
    files = ritta_tables.paper_tables(summary, options)
    assert r"\begin{table*}" in files["ritta_table5.tex"]
    assert r"{\scriptsize [5.15, 6.15]}" in files["ritta_table5.tex"], "below the value"
    for text in files.values():
        assert "do not set these numbers beside the paper's" in text
        assert summary.distances.recipe.key in text
        assert distance_tables.FEWER not in text
    more = replace(summary.distances.coverage[0], system="other", used=110)
    found = replace(summary.distances, coverage=(*summary.distances.coverage, more))
    for text in ritta_tables.paper_tables(replace(summary, distances=found), options).values():
        assert text.count(distance_tables.FEWER) == 2, "beside the name and in the note"
    plain = related.ritta()
    assert ritta_tables.table_5(plain, options).heads[1].startswith("mAPre")
    assert all("VGGish" not in text for text in ritta_tables.paper_tables(plain, options).values())


def test_the_protocol_says_nothing_of_distances_that_were_not_measured() -> None:
    facts = {"level": 0.95, "draws": 100, "seed": 0}
    assert "reference clips" not in protocol.paragraph(related.ritta(), facts)
    assert "Embeddings: vggish" in protocol.paragraph(related.ritta(distances=synthetic()), facts)


def with_distances(run: Path, found: Distances) -> None:
    with Ledger.create(run / "ledger.sqlite") as ledger:
        ledger.begin({run_distances.META: to_json(found)}, ())


def test_two_runs_stand_side_by_side_only_by_one_recipe(world: World, tmp_path: Path) -> None:
    other, out = tmp_path / "other", tmp_path / "out"
    shutil.copytree(world.run, other)
    found = compare(world.run, other, out=out, options=OPTIONS)
    assert {(pair.first.system, pair.first.metric) for pair in found.distances} >= {("noise", "kad")}
    assert all(pair.first == pair.second for pair in found.distances)
    assert strict(out / "compare.json")["distances"]
    text = (out / "compare.md").read_text(encoding="utf-8")
    assert "| noise | KAD |" in text

    distances = world.result.summary.distances
    with_distances(other, replace(distances, recipe=replace(distances.recipe, backbone="vggish")))
    app = Typer()
    app.command("compare")(share.compare)
    ran: Any = CliRunner().invoke(app, [str(world.run), str(other), "-o", str(out)])
    assert ran.exit_code == 0, ran.output
    data = strict(out / "compare.json")
    assert data["distances"] == []
    (note,) = [note for note in data["notes"] if "Distances" in note]
    assert "recipes differ" in note
    assert '"yamnet" / "vggish"' in note
    assert note in " ".join(ran.output.split())
    assert data["shared"], "the rest goes on"
    assert "| noise | KAD |" not in (out / "compare.md").read_text(encoding="utf-8")


def test_a_run_without_distances_leaves_nothing_to_compare(world: World) -> None:
    distances = world.result.summary.distances
    assert compared_distances.pairs(None, None) == ((), ())
    assert compared_distances.pairs(distances, None) == ((), ("The first run alone has distances.",))
    assert compared_distances.pairs(None, distances) == ((), ("The second run alone has distances.",))


def test_numbers_that_were_changed_by_hand_are_refused(world: World, tmp_path: Path) -> None:
    shutil.copytree(world.run, tmp_path / "run")
    data = to_json(world.result.summary.distances)
    data["recipe"] = {**data["recipe"], "backbone": "vggish"}
    with Ledger.create(tmp_path / "run" / "ledger.sqlite") as ledger:
        ledger.begin({run_distances.META: data}, ())
    with pytest.raises(UserError, match="recipe"):
        earwitness.rebuild(tmp_path / "run", OPTIONS)


# --- any run with a reference ----------------------------------------------------------------------------

SYSTEMS = {"recorded": 3, "AudioMaker": 2, "SoundForge": 1}


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return order_run(tmp_path_factory.mktemp("order"), SYSTEMS, n=3, reference="recorded", workers=1)


def test_clips_are_paired_with_those_of_the_system_that_is_the_reference(ordered: Result) -> None:
    rows = {(r["system"], r["part"], r["metric"]): r for r in ordered.distances.iter_rows(named=True)}
    assert {system for system, _, _ in rows} - ANCHORS.keys() == {"AudioMaker", "SoundForge"}
    assert {part for _, part, _ in rows} == {ALL}
    assert rows["SoundForge", ALL, "kl"]["n"] == 3
    assert ordered.summary.distances.recipe.reference_clips == 3
    assert "The reference is the system recorded." in ordered.summary.distances.notes


def test_a_bundle_without_names_holds_none_in_its_distances(ordered: Result, tmp_path: Path) -> None:
    made = earwitness.bundle(ordered.folder, tmp_path / "given", anonymous=True, options=FEW)
    assert "`distances.csv`" in (made.folder / "README.md").read_text(encoding="utf-8")
    by_alias = json.loads(made.key.read_text())["systems"]
    alias = {name: one for one, name in by_alias.items()}
    systems = {row["system"] for row in table(made.folder / "distances.csv")}
    assert systems - ANCHORS.keys() == {alias["AudioMaker"], alias["SoundForge"]}
    assert f"The reference is the system {alias['recorded']}." in made.summary.distances.notes
    listing = [note for note in ordered.summary.distances.notes if "AudioMaker" in note]
    assert listing, "in the manifest's order, which nobody is to know"
    said = f"{len(listing)} {'note' if len(listing) == 1 else 'notes'} on the sets named systems: left out."
    assert said in made.summary.distances.notes
    assert not any("[name]" in note for note in made.summary.distances.notes)
    given = {
        (by_alias.get(row["system"], row["system"]), row["metric"]): row["value"]
        for row in table(made.folder / "distances.csv")
    }
    own = {(row["system"], row["metric"]): row["value"] for row in table(ordered.folder / "distances.csv")}
    assert given == own
    original = {name: one for one, name in alias.items()}
    shown, before = made.summary.distances.comparisons, ordered.summary.distances.comparisons
    assert before
    for pair in shown:
        names = {original[pair.first], original[pair.second]}
        (one,) = [b for b in before if (b.metric, {b.first, b.second}) == (pair.metric, names)]
        turned = original[pair.first] != one.first
        assert pair.difference == (-one.difference if turned and one.difference else one.difference)


def test_a_pair_that_is_turned_counts_its_sets_in_their_new_order() -> None:
    note = "over the 6 clips that both have, of 1,023 and 6; not compared: fewer than 10 clusters of clips"
    pair = Comparison("kl", "one", "two", 0, None, None, None, None, None, items=6, note=note)
    aliases = {"one": "System B", "two": "System A"}
    found = replace(synthetic(), comparisons=(pair,))
    (made,) = renamed(found, aliases, lambda name: (0, 0, aliases[name]), str, str).comparisons
    assert (made.first, made.second) == ("System A", "System B")
    assert made.note == note.replace("1,023 and 6", "6 and 1,023")


def test_kinds_of_edit_and_reasons_that_hold_a_name_are_hidden_and_stay_apart(tmp_path: Path) -> None:
    result = order_run(tmp_path, SYSTEMS, n=3, reference="recorded", workers=1)
    found = result.summary.distances
    named = [
        replace(row, part=part, no_interval="too few of audiomaker's clips")
        for part in ("AudioMaker style", "soundforge style")
        for row in found.rows
    ]
    with_distances(result.folder, replace(found, rows=(*found.rows, *named)))
    made = earwitness.bundle(result.folder, tmp_path / "given", anonymous=True, options=FEW)
    rows = made.summary.distances.rows
    assert {row.part for row in rows} == {ALL, "[name] style", "[name] style (2)"}
    assert len({(row.system, row.part, row.metric) for row in rows}) == 3 * len(found.rows)
    assert {row.no_interval for row in rows} >= {"too few of [name]'s clips"}


def test_a_panel_measures_the_same_for_every_listener(ordered: Result, tmp_path: Path) -> None:
    folder = ordered.folder.parent
    again = tmp_path / "other.jsonl"
    shutil.copy(folder / "run-script.jsonl", again)
    found = earwitness.panel(
        "order",
        folder / "run.jsonl",
        run=tmp_path / "panel",
        listener=[f"scripted:{folder / 'run-script.jsonl'}", f"scripted:{again}"],
        options=FEW,
        reference="recorded",
        workers=1,
    )
    frames = [result.distances.rows() for result in found.results.values()]
    assert frames == [ordered.distances.rows()] * 2


def test_what_cannot_be_meant_is_refused_by_name(ordered: Result, tmp_path: Path) -> None:
    clips = ordered.folder.parent / "run.jsonl"
    with pytest.raises(UserError, match=r"no system is called 'recordet'.*did you mean 'recorded'"):
        earwitness.judge("order", clips, run=tmp_path / "a", reference="recordet")
    with pytest.raises(UserError, match="no backbone 'yamnett'") as raised:
        earwitness.judge("order", clips, run=tmp_path / "a", reference="recorded", distances="yamnett")
    assert "Did you mean 'yamnet'" in raised.value.remedy
    assert not (tmp_path / "a").exists()
    for how, told in (
        ({"distances": "yamnet"}, "clips to be distant from"),
        ({"reference": "recorded", "distances": "none"}, "no distances are asked for"),
        ({"distance_weights": "w.onnx"}, "no distances are asked for"),
    ):
        with pytest.raises(UserError, match=told):
            Request("order", clips, **how)
    with pytest.raises(UserError, match=r"not of ritta\. The references of ritta are"):
        Request("ritta", clips, reference="recorded")
    with pytest.raises(UserError, match="clips to be distant from") as raised:
        Request("edit", clips, distances="yamnet")
    assert "source for the unedited clips" in raised.value.remedy


def test_distances_are_off_where_nobody_asks_for_them_and_go_when_nobody_does(
    ordered: Result, tmp_path: Path
) -> None:
    assert [Request(task, "clips").backbone for task in ("order", "label", "edit", "ritta")] == [
        *("", "", ""),
        "yamnet",
    ]
    shutil.copytree(ordered.folder, tmp_path / "run")
    folder = ordered.folder.parent
    found = earwitness.judge(
        "order",
        folder / "run.jsonl",
        run=tmp_path / "run",
        listener=f"scripted:{folder / 'run-script.jsonl'}",
        options=FEW,
    )
    assert "has no distances any more" in found.rescored
    assert not (tmp_path / "run" / "distances.csv").exists()
    assert not list((tmp_path / "run" / "tables").glob("*distances*"))
    assert strict(tmp_path / "run" / "summary.json")["distances"] is None
    with pytest.raises(UserError, match="the run has no distances"):
        _ = found.distances


def test_the_command_line_takes_the_options() -> None:
    ran: Any = CliRunner().invoke(bench, ["ritta", "score", "--help"], env={"COLUMNS": "200"})
    assert "--distances" in ran.output
    assert "--distance-weights" in ran.output
