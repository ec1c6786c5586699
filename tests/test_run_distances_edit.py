"""Distances of edits: held against a system or against the unedited sources."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import earwitness
from banded import RATE_HZ, Bands, band, write
from earwitness import audio, tasks
from earwitness.api import Request, Result
from earwitness.cli.judge import app
from earwitness.errors import UserError
from earwitness.ledger import Ledger, StoredFile
from earwitness.manifest import Item
from earwitness.report import page_view
from earwitness.report.build import Options
from earwitness.report.compare import compare
from earwitness.tasks import distance_measures, edit_sources, run_distances, settings
from earwitness.tasks.distances import ALL, ANCHORS
from edited import edit_reply
from sounds import manifest, script

EDIT = tasks.find("edit")
OPTIONS = Options(spectrograms=0, draws=50)
SAMPLES = 8
MADE = ("target", "clean", "noisy")


def source_of(number: int) -> int:
    """The first two samples are edits of one source."""
    return max(number, 1)


def clips(folder: Path) -> list[dict[str, Any]]:
    """The rows of a manifest: a sound is added to a source, or takes its place; ``clean`` does it under faint
    noise, ``noisy`` under loud noise."""
    rows, rng = [], np.random.default_rng(0)
    for number in range(SAMPLES):
        name, kind = f"s{number}", ("add", "replace")[number % 2]
        old = band(source_of(number) % 3, source_of(number), gain=0.2)
        new = band(3 + number % 4, 100 + number, gain=0.2)
        target = (old + new if kind == "add" else new).astype(np.float32)
        write(folder / "sources" / f"{source_of(number)}.wav", old)
        for system, noise in zip(MADE, (0, 1e-3, 0.1), strict=True):
            write(folder / system / f"{name}.wav", target + noise * rng.uniform(-1, 1, len(target)))
            rows.append(
                {
                    "system": system,
                    "sample_id": name,
                    "source_audio": f"sources/{source_of(number)}.wav",
                    "edited_audio": f"{system}/{name}.wav",
                    "instruction": "Add a dog",
                    "edit_type": kind,
                }
            )
    return rows


@dataclass(frozen=True)
class World:
    """A run against the sources, and one against ``target`` by the command line."""

    folder: Path
    listener: str
    source: Result
    target: Path

    def judge(self, rows: Sequence[dict[str, Any]], run: Path, **how: Any) -> Result:
        """A run of such rows, their files being those of the folder."""
        there = {name: str(self.folder / "_")[:-1] for name in ("source_audio", "edited_audio")}
        rows = [row | {name: start + row[name] for name, start in there.items()} for row in rows]
        return earwitness.judge(
            "edit",
            manifest(run.with_suffix(".jsonl"), rows),
            run=run,
            listener=self.listener,
            options=OPTIONS,
            workers=1,
            **{"reference": "source", **how},
        )


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("edits")
    listener = script(folder / "script.jsonl", [{"pcm_hash": "*", "question": "edit", "reply": edit_reply()}])
    found = World(folder, listener, None, folder / "target_run")  # type: ignore[arg-type]
    rows = clips(folder)
    found = replace(found, source=found.judge(rows, folder / "source_run", baselines=True))
    given = ["edit", str(folder / "source_run.jsonl"), "--baselines", "--reference", "target", "--listener"]
    shown = ["--spectrograms", "0", "--workers", "1", "-o", str(found.target)]
    ran: Any = CliRunner().invoke(app, [*given, listener, *shown])
    assert ran.exit_code == 0, ran.output
    assert "Distances to the reference" in ran.output
    return found


def by_key(frame: Any) -> dict[tuple[str, str, str], dict[str, Any]]:
    return {(row["system"], row["part"], row["metric"]): row for row in frame.iter_rows(named=True)}


def test_what_returns_the_source_is_at_0_from_it_and_noise_is_farther_than_none(world: World) -> None:
    rows = by_key(world.source.distances)
    assert {system for system, _, _ in rows} - ANCHORS.keys() == {*MADE, *edit_sources.BASELINES}
    assert {part for _, part, _ in rows} == {"add", "replace", ALL}
    for part in ("add", "replace", ALL):
        for metric in ("kad", "kl"):
            value = {system: rows[system, part, metric]["value"] for system in (*MADE, "identity")}
            assert value["identity"] == 0
            if metric == "kl" or part == ALL:  # four clips are few for a kernel distance
                assert 0 < value["clean"] < value["noisy"], (part, metric)
        assert rows["unrelated", part, "kl"]["value"] > 0
    assert rows["noisy", ALL, "kl"]["n"] == rows["noisy", ALL, "kl"]["reference_n"] == SAMPLES
    assert rows["noisy", "add", "kl"]["n"] == SAMPLES / 2


def test_to_the_target_a_clean_edit_is_nearer_than_a_noisy_one_and_than_no_edit(world: World) -> None:
    result = earwitness.rebuild(world.target, OPTIONS)
    assert isinstance(result, Result)
    rows = by_key(result.distances)
    assert {system for system, _, _ in rows} - ANCHORS.keys() == {"clean", "noisy", *edit_sources.BASELINES}
    for metric in ("kad", "kl"):
        value = {system: rows[system, ALL, metric]["value"] for system in ("clean", "noisy", "identity")}
        assert value["clean"] < min(value["noisy"], value["identity"]), metric
    assert "The reference is the system target." in result.summary.distances.notes
    assert run_distances.SOURCE_NOTE not in result.summary.distances.notes


def test_baselines_are_named_so_stand_last_and_nothing_is_best(world: World) -> None:
    shown = page_view.view(world.source.summary, title="", facts={}, names={})["distances"]
    titles = [sheet.title for sheet in shown["sheets"]]
    moved = "Which set moved less from the sources?"
    assert titles == ["All clips", moved, "KAD by part", "KL by part", "IS by part"]
    assert shown["sheets"][0].heads == ("Set", "Clips", "KAD", "KL", "IS ↑"), "to move less is no merit"
    assert not any("nearer" in cell.text for _, cells in shown["sheets"][1].lines for cell in cells)
    for sheet in (one for one in shown["sheets"] if one.title != moved):
        names = [name for name, _ in sheet.lines]
        assert names[:5] == [*MADE, "identity (baseline)", "unrelated (baseline)"]
        assert not any(cell.best for _, cells in sheet.lines for cell in cells)
    for name in ("index.html", "protocol.md", "tables/edit_distances.md"):
        text = " ".join((world.source.folder / name).read_text(encoding="utf-8").split())
        assert "What changes nothing is at 0" in text, name


def test_intervals_have_the_clusters_of_the_run(world: World) -> None:
    """All edits of one source sound are a cluster, whatever the reference is."""
    heard = {
        (row["system"], row["sample_id"]): row["cluster"] for row in world.source.items.iter_rows(named=True)
    }
    assert heard["clean", "s0"] == heard["clean", "s1"] != heard["clean", "s2"]
    with Ledger.read(world.target / "ledger.sqlite") as ledger:
        stored = list(ledger.items())
    kept = settings.files_kept(stored)
    for reference in ("source", "target"):
        asked = run_distances.asked(EDIT, [one.item for one in stored], reference, kept)
        assert {(c.system, c.clip_id): c.cluster for c in asked.clips}.items() <= heard.items()


def test_reports_are_rebuilt_with_no_clip_and_a_system_added_later_changes_no_other_number(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(world.source.folder, tmp_path / "run")
    monkeypatch.setenv("EARWITNESS_CACHE", str(tmp_path / "empty"))
    world.folder.rename(world.folder.with_name("elsewhere"))
    try:
        again = earwitness.rebuild(tmp_path / "run", OPTIONS)
    finally:
        world.folder.with_name("elsewhere").rename(world.folder)
    assert isinstance(again, Result)
    before = world.source.distances
    assert again.distances.equals(before)
    monkeypatch.undo()
    rows = [row | {"system": "late"} for row in clips(world.folder) if row["system"] == "noisy"]
    later = world.judge(rows, tmp_path / "run")
    old, new = by_key(before), by_key(later.distances)
    assert all(new[key] == row for key, row in old.items())
    for (system, part, metric), row in old.items():
        if system == "noisy":
            assert new["late", part, metric] == row | {"system": "late"}


def test_runs_against_one_reference_stand_side_by_side_and_others_do_not(world: World) -> None:
    alike = compare(world.source.folder, world.source.folder, options=OPTIONS)
    assert {pair.first.part for pair in alike.distances} == {"add", "replace", ALL}
    assert not compare(world.source.folder, world.target, options=OPTIONS).distances


def test_a_bundle_without_names_keeps_those_of_baselines_and_parts(world: World, tmp_path: Path) -> None:
    made = earwitness.bundle(world.source.folder, tmp_path / "given", anonymous=True, options=OPTIONS)
    systems = {row.system for row in made.summary.distances.rows} - ANCHORS.keys()
    assert systems == {"System A", "System B", "System C", *edit_sources.BASELINES}
    assert run_distances.SOURCE_NOTE in made.summary.distances.notes


# --- what is asked for -----------------------------------------------------------------------------------


def item(system: str, sample_id: str, kind: str = "", source: str = "source.wav") -> Item:
    audio_file = Path(f"{system}-{sample_id}.wav")
    return Item(system, sample_id, audio_file, "", source_audio=Path(source), edit_type=kind)


def test_a_system_that_is_called_source_is_the_reference_if_source_is_named() -> None:
    items = [item("source", "a"), item("ours", "a")]
    asked = run_distances.asked(EDIT, items, "source")
    assert [clip.references for clip in asked.clips] == [(Path("source-a.wav"),)]
    assert asked.notes == (run_distances.reference_note("source"),)
    alone = run_distances.asked(EDIT, items[1:], "source")
    assert [clip.references for clip in alone.clips] == [(Path("source.wav"),)]


def test_what_cannot_be_a_reference_is_refused_with_the_remedy() -> None:
    items = [item("ours", "a"), item("ours", "b")]
    with pytest.raises(UserError, match=r"'sauce'.*did you mean 'source'") as raised:
        run_distances.asked(EDIT, items, "sauce")
    assert "Systems: ours. Or source: the unedited clips." in raised.value.remedy
    with pytest.raises(UserError, match="no system beside 'ours'") as raised:
        run_distances.asked(EDIT, items, "ours")
    assert "unedited clips as the reference: source" in raised.value.remedy
    with pytest.raises(UserError, match="no system is called 'source'"):
        run_distances.asked(tasks.find("label"), items, "source")
    assert Request("edit", "edits.csv", reference="source").backbone == "yamnet"


def test_a_sample_is_of_the_kind_that_its_first_row_says_if_kinds_tell_edits_apart() -> None:
    def parts(*items: Item) -> list[str]:
        return [clip.part for clip in run_distances.asked(EDIT, items, "source").clips]

    assert parts(item("a", "1", "add"), item("b", "1"), item("b", "2", "drop ")) == ["add", "add", "drop"]
    assert parts(item("a", "1", "add"), item("a", "2", "add")) == ["", ""]
    assert parts(item("a", "1", ALL), item("a", "2", "add")) == ["", "add"]
    words = [item("a", str(n), f"raise it by {n} dB") for n in range(run_distances.MOST_KINDS + 1)]
    assert set(parts(*words)) == {""}
    assert "13 different words" in run_distances.asked(EDIT, words, "source").notes[-1]


def test_of_several_copies_of_a_source_one_that_is_there_counts(tmp_path: Path) -> None:
    there = write(tmp_path / "there.wav", band(0, 0))
    items = [item("a", "1", source=str(tmp_path / "gone.wav")), item("b", "1", source=str(there))]
    assert edit_sources.of_samples(items) == {"1": there}


# --- one source, several edits ---------------------------------------------------------------------------


def edits_of(folder: Path, copies: bool) -> list[Item]:
    """Twelve edits of four sources by ``near`` and ``same``, which returns them; the sources lie in one file
    each, or in one for every edit."""
    found, rng = [], np.random.default_rng(0)
    for number in range(12):
        samples = band(2 * (number % 4), number % 4)
        name = f"{number}" if copies else f"{number % 4}"
        source = write(folder / f"copies-{copies}" / f"{name}.wav", samples)
        near = write(folder / f"near-{number}.wav", samples + 1e-3 * rng.uniform(-1, 1, RATE_HZ))
        found += [
            replace(item(system, f"{number}", source=str(source)), audio=path)
            for system, path in (("near", near), ("same", source))
        ]
    return found


def test_a_source_of_several_edits_counts_for_each_wherever_it_lies(tmp_path: Path) -> None:
    found = []
    for copies in (False, True):
        items = edits_of(tmp_path, copies)
        kept = {path: _known(path) for path in edit_sources.of_samples(items).values()}
        asked = run_distances.asked(EDIT, items, "source", kept)
        how: dict[str, Any] = {"workers": 1, "cache": False, "draws": 50}
        found.append(distance_measures.measured(asked.clips, asked.reference, Bands(), **how))
    shared, copied = found
    assert shared.recipe == copied.recipe
    assert shared.rows == copied.rows
    assert shared.recipe.reference_clips == shared.coverage[0].paired == 12
    values = {(row.system, row.metric): row.value for row in shared.rows}
    for metric in ("fad", "kad", "kl"):
        assert values["same", metric] == 0
        assert values["near", metric] > 0


def _known(path: Path) -> StoredFile:
    return StoredFile(0, 0, "", audio.read(path).pcm_hash, {})
