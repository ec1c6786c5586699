"""``earwitness distance`` as a whole, with the real YAMNet on a few short clips."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

import earwitness
from banded import RATE_HZ, Bands, Tagless, Worded, band, folder, write
from earwitness import audio
from earwitness.cli.main import app
from earwitness.errors import EarwitnessError, InputFaults, UserError
from earwitness.tasks.distances import ANCHORS, Recipe, from_json, same_recipe, to_json

NAMES = ["uno", "due", "tre", "quattro"]


def run(*words):
    """Exit status as the console entry gives it, and what was printed."""
    result = CliRunner().invoke(app, ["distance", *map(str, words)])
    if isinstance(result.exception, EarwitnessError):
        return 2, str(result.exception)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.output


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A reference, a copy of it, and the same under noise: four clips each."""
    root = tmp_path_factory.mktemp("folders")
    clean = folder(root / "clean", NAMES)
    rng = np.random.default_rng(0)
    for path in clean:
        samples = audio.read(path).samples[0]
        write(root / "sets" / "copy" / path.name, samples)
        write(root / "sets" / "noisy" / path.name, samples + 0.2 * rng.uniform(-1, 1, len(samples)))
    return root


@pytest.fixture(scope="module")
def result(folders):
    out = folders / "out"
    code, printed = run(
        folders / "clean", folders / "sets", "-o", out, "--workers", 1, "--no-cache", "--seed", 3
    )
    assert code == 0
    return out, printed


def test_a_set_against_itself_is_zero_and_noise_is_not(result):
    out, _ = result
    with (out / "distances.csv").open(encoding="utf-8", newline="") as file:
        rows = {(row["system"], row["metric"]): row for row in csv.DictReader(file)}
    assert float(rows["copy", "kad"]["value"]) == float(rows["copy", "kl"]["value"]) == 0
    assert float(rows["noisy", "kad"]["value"]) > 0
    assert float(rows["noisy", "kl"]["value"]) > 0
    for metric in ("fad", "fd"):
        assert rows["copy", metric]["value"] == ""
        assert "1,024 dimensions" in rows["copy", metric]["reason"]
    assert "4 here and 4 in the reference" in rows["copy", "fd"]["reason"]
    assert "knows no words" in rows["copy", "clap"]["reason"]


def test_every_file_carries_the_recipe(result):
    out, printed = result
    found = from_json(json.loads((out / "distances.json").read_text(encoding="utf-8")))
    assert found.recipe.backbone == "yamnet"
    assert found.recipe.reference_clips == 4
    assert found.recipe.seed == 3
    plain = printed.replace("\n", "")
    for text in (
        plain,
        *((out / name).read_text() for name in ("distances.md", "protocol.md", "distances.tex")),
    ):
        assert found.recipe.version in text
        assert found.recipe.reference[:16] in text
        assert found.recipe.key in text
    assert "Command: " in (out / "protocol.md").read_text()
    assert not (out / "left_out.csv").exists()
    assert "more notes in distances.md" in printed
    assert "by name: 4 of 4 of copy; 4 of 4 of noisy." in (out / "distances.md").read_text()
    assert "Without a column, as no set has a number: " in " ".join(printed.split())


def test_results_join_only_if_their_recipes_agree(folders, result, tmp_path):
    out, _ = result
    common = ("--workers", 1, "--no-cache", "--metrics", "kad,kl", "--seed", 3)
    assert (
        run(folders / "clean", f"again={folders / 'sets' / 'noisy'}", "-o", tmp_path / "two", *common)[0] == 0
    )
    code, printed = run("--table", out, tmp_path / "two", "-o", tmp_path / "both")
    assert code == 0
    both = from_json(json.loads((tmp_path / "both" / "distances.json").read_text()))
    systems = list(dict.fromkeys(row.system for row in both.rows if row.system not in ANCHORS))
    assert systems == ["copy", "noisy", "again"]
    kl = {row.system: row.value for row in both.rows if row.metric == "kl"}
    assert kl["again"] == kl["noisy"]
    assert "again" in printed

    code, said = run("--table", out, out, "-o", tmp_path / "twice")
    assert code == 2
    assert "more than one of the results: 'copy', 'noisy'" in said
    other = folders / "sets" / "noisy"
    assert run(other, f"new={folders / 'clean'}", "-o", tmp_path / "other", *common)[0] == 0
    code, said = run("--table", out, tmp_path / "other", "-o", tmp_path / "never")
    assert code == 2
    assert "different recipes" in said
    assert "reference: " in said
    assert max(map(len, re.findall("[0-9a-f]{13,}", said.split("recipes:")[1])), default=0) == 0
    assert not (tmp_path / "never").exists()
    assert run("--table", tmp_path, "-o", tmp_path / "never")[0] == 2
    code, said = run("--table", out, "-o", tmp_path / "never", "--backbone", "panns")
    assert (code, "backbone" in said) == (2, True)


def test_every_difference_of_recipes_is_listed(folders):
    how = {"workers": 1, "cache": False, "metrics": ["kad"]}
    one = earwitness.distance(folders / "clean", {"a": folders / "sets" / "noisy"}, backbone=Bands(), **how)
    two = earwitness.distance(folders / "clean", {"b": folders / "sets" / "noisy"}, backbone=Tagless(), **how)
    first = one.distances
    assert first.recipe == Recipe(**to_json(first)["recipe"])
    same_recipe(first, first)
    with pytest.raises(UserError, match=r'backbone: "bands" / "tagless"'):
        same_recipe(first, two.distances)
    recipe = replace(
        first.recipe, version="v2", settings={"rate_hz": 8000, "hop_s": 1.0}, policy="some clips"
    )
    with pytest.raises(UserError) as raised:
        same_recipe(first, replace(first, recipe=recipe, level=0.9))
    told = str(raised.value)
    for name in (
        "version",
        "settings.rate_hz",
        "settings.hop_s",
        "settings.window_s",
        "policy",
        "confidence level",
    ):
        assert f"- {name}: " in told
    assert "reference" not in told.split("scale of its own")[0]


@pytest.mark.parametrize(
    ("one", "two", "told"),
    [
        ({}, {"paired": False}, "pairing"),
        ({}, {"seed": 5}, "seed"),
        ({"prompts": "a dog"}, {"prompts": "rain"}, "captions"),
        ({"prompts": "a dog"}, {}, "captions"),
    ],
)
def test_results_of_other_pairs_captions_or_seeds_do_not_mix(folders, tmp_path, one, two, told):
    results = []
    for number, how in enumerate((one, two)):
        how = dict(how)
        if "prompts" in how:
            lines = ["prompt_id,caption", *(f"{name},{how['prompts']}" for name in NAMES)]
            how["prompts"] = tmp_path / f"{number}.csv"
            how["prompts"].write_text("\n".join(lines), encoding="utf-8")
        earwitness.distance(
            folders / "clean",
            {f"set {number}": folders / "sets" / "noisy"},
            out=tmp_path / f"out {number}",
            backbone=Worded(),
            metrics=["kad", "clap"],
            workers=1,
            cache=False,
            **how,
        )
        results.append(tmp_path / f"out {number}")
    with pytest.raises(UserError, match=rf"recipes:\n  - {told}: .*") as raised:
        earwitness.api.distances.join_distances(results)
    assert raised.value.message.count("\n") == 1, "nothing else differs"


def test_nothing_is_written_over_a_run_or_among_clips(folders, result, tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text("{}")
    for out in (tmp_path / "run", folders / "clean", folders / "sets" / "noisy" / "deeper"):
        code, said = run(folders / "clean", folders / "sets", "-o", out)
        assert (code, "name another folder to write" in said) == (2, True)
    code, said = run("--table", result[0], "-o", result[0])
    assert (code, "is or lies in" in said) == (2, True)
    assert not (folders / "clean" / "distances.json").exists()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["run.json"]


def test_a_folder_that_cannot_be_written_is_told_before_any_work(folders, tmp_path):
    (tmp_path / "file").write_text("mine")
    for out, why in ((tmp_path / "file", "is a file"), (tmp_path / "file" / "in", "cannot be made")):
        code, said = run(folders / "clean", folders / "sets", "-o", out, "--backbone", "yamnet")
        assert (code, why in said, "-o" in said) == (2, True, True)
    assert (tmp_path / "file").read_text() == "mine"


def test_a_result_of_other_inputs_is_not_replaced(folders, tmp_path):
    how = {"backbone": Bands(), "workers": 1, "cache": False, "metrics": ["kad"], "out": tmp_path / "out"}
    sets = {"noisy": folders / "sets" / "noisy"}
    earwitness.distance(folders / "clean", sets, **how)
    before = (tmp_path / "out" / "distances.json").read_bytes()
    for change in ({"seed": 1}, {"metrics": ["kl"]}, {"backbone": Tagless()}, {"paired": False}):
        with pytest.raises(InputFaults, match="holds a result of other inputs") as raised:
            earwitness.distance(folders / "clean", sets, **(how | change))
        assert next(iter(change)) in str(raised.value)
        assert "-o" in raised.value.remedy
    with pytest.raises(InputFaults, match=r"sets\.more: nothing before"):
        earwitness.distance(folders / "clean", sets | {"more": folders / "sets" / "copy"}, **how)
    earwitness.distance(folders / "clean", sets, **how)
    assert (tmp_path / "out" / "distances.json").read_bytes() == before
    earwitness.distance(folders / "clean", sets, **(how | {"out": tmp_path / "one"}))
    with pytest.raises(InputFaults, match="results: nothing before"):
        earwitness.api.join_distances([tmp_path / "one"], out=tmp_path / "out")


def test_many_sets_are_told_in_few_lines(tmp_path):
    for number in range(30):
        for name in NAMES[:3]:
            write(tmp_path / "sets" / f"set, {number}" / f"{name}.wav", band(number % 8, number, seconds=0.5))
    clean = folder(tmp_path / "clean", [f"{name} {n}" for n in range(6) for name in NAMES])
    code, printed = run(
        *(clean[0].parent, tmp_path / "sets", "-o", tmp_path / "out", "--workers", 1, "--no-cache"),
        *("--metrics", "fad,is"),
    )
    assert code == 0
    notes = printed.split("Embeddings of yamnet")[1].splitlines()
    assert len(notes) < 15
    assert "more note" in printed
    listed = (tmp_path / "out" / "distances.md").read_text().split("## Notes")[1].strip().splitlines()
    assert len(listed) < 10
    assert any("0.50 s in set, 0; 0.50 s in set, 1;" in note and "; and 25 more" in note for note in listed)
    assert printed.count("needs more than") == 1


def test_the_protocol_tells_of_no_number_that_the_table_lacks(tmp_path):
    """Halves of the reference have more frames than dimensions, the set's one clip has not."""
    clean = folder(tmp_path / "clean", [f"{n}" for n in range(24)])
    write(tmp_path / "one" / "1.wav", band(1, 7))
    how = {"backbone": Bands(), "workers": 1, "cache": False, "metrics": ["fad", "is"]}
    found = earwitness.distance(clean[0].parent, {"one": tmp_path / "one"}, out=tmp_path / "out", **how)
    assert any(row.metric == "fad" and row.value is not None for row in found.distances.rows)
    one = earwitness.distance(tmp_path / "one", {"b": tmp_path / "one"}, out=tmp_path / "b", **how)
    assert one.distances.recipe.reference_clips == 1
    assert not re.search(r"\b1 (reference )?clips", (tmp_path / "b" / "protocol.md").read_text())
    assert "FAD" not in (tmp_path / "out" / "protocol.md").read_text().split("Command")[0]


def test_a_sample_tells_of_the_clips_that_were_drawn(folders):
    found = earwitness.distance(
        folders / "clean",
        {"noisy": folders / "sets" / "noisy"},
        backbone=Bands(),
        metrics=["kl"],
        limit=2,
        workers=1,
        cache=False,
    ).distances
    said = " ".join(found.notes)
    assert "paired with the reference by name: 2 of 2 of noisy." in said
    assert "without a counterpart" not in said
    assert "No interval of KL (noisy" in said


@pytest.mark.parametrize(
    "change",
    [
        {"value": "1.2"},
        {"value": float("nan")},
        {"value": 0.001},
        {"n": "3"},
        {"n": 4000},
        {"metric": "foo"},
        {"system": "mine"},
        {"low": None},
    ],
)
def test_a_number_that_was_changed_by_hand_is_refused(result, change):
    data = json.loads((result[0] / "distances.json").read_text())
    (at, *_) = [at for at, row in enumerate(data["rows"]) if row["low"] is not None]
    data["rows"][at].update(change)
    with pytest.raises(UserError, match=r"here\.json: the numbers are not those that were measured"):
        from_json(data, "here.json")


def test_the_protocol_says_how_every_interval_was_made(folders, tmp_path):
    how = {"workers": 1, "cache": False, "draws": 50, "backbone": Bands()}
    for name in NAMES * 6:
        at = len(list(tmp_path.glob("a/*")))
        write(tmp_path / "a" / f"{at} {name}.wav", band(at % 8, at))
        write(tmp_path / "b" / f"{at} {name}.wav", band(at % 8, 99 + at, gain=0.03))
    for metric, method in (
        ("fd", "FD from the influence"),
        ("is", "IS from the influence"),
        ("kad", "KAD by the delete-one-cluster jackknife"),
        ("kl", "KL by a bootstrap"),
    ):
        earwitness.distance(
            tmp_path / "a", {"b": tmp_path / "b"}, out=tmp_path / metric, metrics=[metric], **how
        )
        text = (tmp_path / metric / "protocol.md").read_text(encoding="utf-8")
        assert f"Intervals are at 95 % (of {method}" in text


def test_a_result_that_was_changed_by_hand_is_refused(result, tmp_path):
    data = json.loads((result[0] / "distances.json").read_text())
    data["recipe"]["version"] = "better"
    with pytest.raises(UserError, match="not the one the numbers came from"):
        from_json(data, "here.json")
    with pytest.raises(UserError, match=r"here\.json holds no distances"):
        from_json({"rows": []}, "here.json")


def test_broken_clips_are_listed_and_stop_nothing(folders, tmp_path):
    for name in NAMES:
        write(tmp_path / "set" / f"{name}.wav", band(1, 9))
    (tmp_path / "set" / "uno.wav").write_bytes(b"")
    code, printed = run(
        folders / "clean",
        tmp_path / "set",
        "-o",
        tmp_path / "out",
        "--workers",
        1,
        "--no-cache",
        "--metrics",
        "kl",
    )
    assert code == 0
    assert "1 clip could not be used" in printed
    with (tmp_path / "out" / "left_out.csv").open(encoding="utf-8", newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["system"] == "set"
    assert row["file"].endswith("uno.wav")
    assert row["reason"].startswith("empty")
    data = json.loads((tmp_path / "out" / "distances.json").read_text(), parse_constant=pytest.fail)
    (kl,) = [row for row in data["rows"] if (row["system"], row["metric"]) == ("set", "kl")]
    assert kl["n"] == 3


def test_bad_input_is_refused_with_all_faults_at_once(folders, tmp_path):
    empty = tmp_path / "empty"
    empty.mkdir()
    code, said = run(
        *(tmp_path / "gone", empty, f"x={folders / 'clean'}", f"x={folders / 'clean'}"),
        *("--metrics", "fad,kdl", "--limit", 0, "--level", 2, "-o", tmp_path / "out"),
    )
    assert code == 2
    for part in ("gone: no such", "no audio in", "'x'", "'kdl' (did you mean", "limit", "level must lie"):
        assert part in said
    assert "Name folders of audio" in said
    assert not (tmp_path / "out").exists()
    code, said = run(folders / "clean", folders / "sets", "--backbone", "yamnett", "-o", tmp_path / "out")
    assert (code, "yamnet" in said) == (2, True)
    assert run(folders / "clean")[0] == 2
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "uno.wav").write_bytes(b"")
    code, said = run(folders / "clean", broken, "-o", tmp_path / "out", "--workers", 1, "--no-cache")
    assert (code, "no clip of the sets can be used" in said) == (2, True)


def test_python_mirrors_the_command(folders, result, tmp_path):
    found = earwitness.distance(
        folders / "clean", [folders / "sets"], backbone="yamnet", workers=1, cache=False, seed=3
    )
    written = from_json(json.loads((result[0] / "distances.json").read_text()))
    assert found.distances.rows == written.rows
    assert found.folder is None
    frame = found.frame
    assert frame.columns[:4] == ["system", "part", "metric", "value"]
    assert frame.height == len(found.distances.rows)
    with pytest.raises(InputFaults, match="no such"):
        earwitness.distance(folders / "clean", {"a": tmp_path / "none"})
    for one in (tmp_path / "none", str(tmp_path / "none")):  # not every letter of it
        with pytest.raises(InputFaults, match=r"1 fault\n.*none"):
            earwitness.distance(folders / "clean", one)


def test_captions_reach_a_backbone_with_words(folders, tmp_path):
    prompts = tmp_path / "prompts.csv"
    lines = [f"{name},band {at}" for at, name in enumerate(NAMES)]
    prompts.write_text("\n".join(["prompt_id,caption", *lines]), encoding="utf-8")
    found = earwitness.distance(
        folders / "clean",
        {"=noisy": folders / "sets" / "noisy"},
        out=tmp_path / "out",
        prompts=prompts,
        backbone=Worded(),
        metrics=["clap"],
        workers=1,
        cache=False,
    ).distances
    clap = {row.system: row.value for row in found.rows}
    assert clap["reference, exchanged"] < clap["=noisy"] < clap["reference, whole"]
    assert "'=noisy,all,clap" in (tmp_path / "out" / "distances.csv").read_text()


def test_the_rate_of_a_set_is_told(folders, tmp_path):
    for at, name in enumerate(NAMES):
        write(tmp_path / "low" / f"{name}.wav", band(at, 3)[::2], rate_hz=RATE_HZ // 2)
    found = earwitness.distance(
        folders / "clean", {"low": tmp_path / "low"}, backbone=Bands(), workers=1, cache=False
    ).distances
    assert any("lower rate than the backbone's 16000 Hz: 4 of 4 of low" in n for n in found.notes)
