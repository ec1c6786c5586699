"""Edits as a detector hears them: scripted events, planted synthetic edits, and real ones."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import earwitness
from earwitness import audio
from earwitness.api import Request
from earwitness.ledger import Ledger
from earwitness.report import replies
from earwitness.report.build import Options
from earwitness.scenes import synth
from earwitness.tasks import settings
from earwitness.tasks.edit import TASK
from earwitness.tasks.rows import ItemRow
from earwitness.tasks.task import NOT_HEARD_YET
from edited import Edits, rows
from sounds import events_reply, manifest, script

QUICK = Options(spectrograms=0, draws=100)
RATE_HZ = synth.RATE_HZ


def measures_reply(lsd_db: list[float], level_db: float = 0.0) -> dict[str, Any]:
    frames = len(lsd_db)
    return {"frame_s": 0.1, "lsd_db": lsd_db, "source_dbfs": [-20.0] * frames,
            "edited_dbfs": [-20.0 + level_db] * frames, "source_s": 0.5, "edited_s": 0.5}  # fmt: skip


def one(
    tmp_path: Path,
    source: list[tuple[str, float, float]],
    edited: list[tuple[str, float, float]],
    lsd_db: list[float] | None = None,
    **columns: Any,
) -> ItemRow:
    """The only item of a run with a scripted detector: what it hears in either clip, and measures."""
    edits = Edits(tmp_path)
    pcm_hash = edits.add("a", "1", **columns)
    lines = [
        {"pcm_hash": "*", "question": "events", "reply": events_reply(*source)},
        {"pcm_hash": pcm_hash, "question": "events", "reply": events_reply(*edited)},
        {"pcm_hash": "*", "question": "edit_measures", "reply": measures_reply(lsd_db or [1.0] * 5, -3.0)},
    ]
    (item,) = rows(edits.write(), tmp_path / "run", script(tmp_path / "s.jsonl", lines))
    return item


def test_what_waits_for_a_detector_does_not_lack_words(tmp_path: Path) -> None:
    """An item without a caption, in a run stopped before it was heard."""
    edits = Edits(tmp_path)
    edits.add("a", "1", edit_type="add")
    request = Request("edit", edits.write(), listener="yamnet")
    ear = request.open("yamnet")
    with Ledger.create(tmp_path / "run" / "ledger.sqlite") as ledger:
        hearer = settings.begin(ledger, ear, request.items(), TASK, request.setup(ear))
        (row,) = replies.of_item(ledger, TASK, hearer, 1)
    assert (row["reason"], row["detail"]) == (NOT_HEARD_YET["reason"], NOT_HEARD_YET["detail"])


def test_an_addition_is_told_with_what_else_changed(tmp_path: Path) -> None:
    source = [("Meow", 0.0, 0.1), ("Siren", 0.2, 0.3), ("Applause", 0.4, 0.5)]
    edited = [("Bark", 0.2, 0.25), ("Applause", 0.0, 0.1), ("Meow", 0.2, 0.3)]
    item = one(tmp_path, source, edited, [1.0, 2.0, 3.0, 4.0, 5.0], instruction="Add a dog barking",
               edit_start_s=0.2, edit_end_s=0.4)  # fmt: skip
    assert item.verdict == "changed"
    assert (item.values["target_changed"], item.values["targets_appeared"], item.values["targets_gone"]) == (
        1.0,
        1.0,
        None,
    )
    assert item.values["others_kept"] == pytest.approx(2 / 3)
    assert "no longer heard: Siren" in item.detail
    assert item.values["order_kept"] == 0.0
    assert item.values["onset_shift_s"] == pytest.approx((0.2 + 0.4) / 2)
    assert item.values["lsd_db"] == 3.0
    assert item.values["lsd_outside_db"] == pytest.approx((1 + 2 + 5) / 3)
    assert (item.values["level_change_db"], item.values["length_change_s"]) == (pytest.approx(-3.0), 0.0)


def test_each_half_of_a_replacement_counts(tmp_path: Path) -> None:
    dog, cat = ("Bark", 0.1, 0.2), ("Meow", 0.1, 0.2)
    asked = {"instruction": "Replace the dog barking with a cat meowing"}
    for name, edited, target, kind in (
        ("done", [cat], 1.0, ""),
        ("kept", [cat, dog], 0.0, "not_removed"),
        ("lost", [], 0.0, "not_added"),
        ("same", [dog], 0.0, "neither"),
    ):
        item = one(tmp_path / name, [dog], edited, **asked)
        assert (item.values["target_changed"], item.error_kind) == (target, kind)
        assert item.verdict == ("changed" if target else "unchanged")
    assert one(tmp_path / "void", [], [], **asked).verdict == "unknown"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"instruction": "Make it louder"}, "not of a form that is read"),
        ({"instruction": "Add a tumbleweed rolling"}, "no label is known for 'tumbleweed rolling'"),
        ({"instruction": "Remove the siren"}, "'siren' was not heard in the source either"),
        ({"added": "dog barking", "removed": "dog growling; dog barking loudly"}, "cannot be told apart"),
        ({"target_caption": "rain"}, "there is no instruction"),
    ],
)
def test_a_target_that_cannot_be_told_leaves_the_other_quantities(
    tmp_path: Path, columns: dict[str, str], said: str
) -> None:
    item = one(tmp_path, [("Meow", 0.1, 0.2)], [("Meow", 0.1, 0.2)], **columns)
    assert (item.status, item.verdict, item.values["target_changed"]) == ("scored", "unknown", None)
    assert said in item.detail
    assert (item.values["others_kept"], item.values["lsd_db"]) == (1.0, 1.0)
    assert item.values["lsd_outside_db"] is None  # nobody knows where the edit is


def test_the_span_is_that_of_the_targets_where_none_is_given(tmp_path: Path) -> None:
    item = one(
        tmp_path, [], [("Bark", 0.0, 0.04)], [9.0, 9.0, 9.0, 1.0, 2.0], instruction="Add a dog barking"
    )
    assert item.values["lsd_outside_db"] == 1.5  # the bark, and a quarter of a second beside it, are left out


def test_a_detector_that_cannot_measure_leaves_the_item_unheard(tmp_path: Path) -> None:
    edits = Edits(tmp_path)
    edits.add("a", "1")
    name = script(tmp_path / "s.jsonl", [{"pcm_hash": "*", "question": "events", "reply": events_reply()}])
    (item,) = rows(edits.write(), tmp_path / "run", name)
    assert (item.status, item.reason) == ("unheard", "unsupported")


FLOOR = 1e-4 * np.random.default_rng(9).standard_normal(8 * RATE_HZ)


def scene(*placed: tuple[str, float], shift_s: float = 0.0) -> np.ndarray:
    """Eight seconds over a faint floor with built-in sounds, 1.8 s each, from the given times."""
    out = FLOOR.copy()
    for name, onset_s in placed:
        start = round((onset_s + shift_s) * RATE_HZ)
        sound = synth.render(name, 3, 1.8)
        out[start : start + len(sound)] += sound
    return out.astype(np.float32)[np.newaxis]


BIRD, PHONE, DOG, CAT, HORN = "bird", "telephone", "dog_bark", "cat_meow", "car_horn"
KEPT = ((BIRD, 0.4), (PHONE, 5.6))
LOUD_NOISE = (0.02 * np.random.default_rng(1).standard_normal((1, 8 * RATE_HZ))).astype(np.float32)

PLANTED: dict[str, tuple[str, np.ndarray, np.ndarray]] = {
    "add": ("Add a dog barking", scene(*KEPT), scene(*KEPT, (DOG, 3.0))),
    "delete": ("Remove the dog barking", scene(*KEPT, (DOG, 3.0)), scene(*KEPT)),
    "replace": (
        "Replace the dog barking with a car horn",
        scene(*KEPT, (DOG, 3.0)),
        scene(*KEPT, (HORN, 3.0)),
    ),
    "nothing": ("Add a dog barking", scene(*KEPT), scene(*KEPT)),
    "noise": ("Add a dog barking", scene(*KEPT), scene(*KEPT, (DOG, 3.0)) + LOUD_NOISE),
    "gain": ("Add a dog barking", scene(*KEPT), 0.5 * scene(*KEPT, (DOG, 3.0))),
    "shift": ("Add a dog barking", scene(*KEPT), scene(*KEPT, (DOG, 3.0), shift_s=0.5)),
    "reorder": ("Add a dog barking", scene(*KEPT), scene((PHONE, 0.4), (BIRD, 5.6), (DOG, 3.0))),
    "lost": ("Add a dog barking", scene(*KEPT), scene((BIRD, 0.4), (DOG, 3.0))),
}
"""Instruction, source and result; the edited span is 2.8 to 5 s in each."""


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ItemRow]:
    """The items of one run of the embedded listener over every planted edit and the baselines."""
    folder = tmp_path_factory.mktemp("planted")
    given = []
    for name, (instruction, source, edited) in PLANTED.items():
        for what, samples in (("source", source), ("edited", edited)):
            audio.write_wav(folder / f"{name}-{what}.wav", samples, RATE_HZ, "PCM_24")
        given.append({"system": "planted", "sample_id": name, "source_audio": f"{name}-source.wav",
                      "edited_audio": f"{name}-edited.wav", "instruction": instruction,
                      "edit_start_s": 2.8, "edit_end_s": 5.0})  # fmt: skip
    path = manifest(folder / "m.jsonl", given)
    items = rows(path, folder / "run", "yamnet", baselines=True, workers=1)
    return {f"{item.system} {item.sample_id}": item for item in items}


@pytest.mark.parametrize("name", ["add", "delete", "replace"])
def test_a_clean_edit_changes_its_target_and_nothing_else(planted: dict[str, ItemRow], name: str) -> None:
    item = planted[f"planted {name}"]
    assert item.verdict == "changed", item.detail
    assert item.values["others_kept"] == 1.0
    assert item.values["order_kept"] == 1.0
    assert item.values["lsd_outside_db"] == 0.0
    assert item.values["level_change_outside_db"] == 0.0
    assert item.values["lsd_db"] > 1


def test_an_edit_that_did_nothing_is_found(planted: dict[str, ItemRow]) -> None:
    item = planted["planted nothing"]
    assert (item.verdict, item.error_kind, item.values["lsd_db"]) == ("unchanged", "not_added", 0.0)


def test_an_over_edit_shows_outside_the_span(planted: dict[str, ItemRow]) -> None:
    assert planted["planted noise"].values["lsd_outside_db"] > 5
    gain = planted["planted gain"]
    assert gain.values["level_change_outside_db"] == pytest.approx(-6.02, abs=0.01)
    assert 0 < gain.values["lsd_outside_db"] <= 6.03
    shift = planted["planted shift"]
    assert shift.values["onset_shift_s"] == pytest.approx(0.5, abs=0.2)
    assert shift.values["lsd_outside_db"] > 5
    assert planted["planted reorder"].values["order_kept"] == 0.0
    assert planted["planted lost"].values["others_kept"] == pytest.approx(0.5, abs=0.2)


def test_the_source_returned_unchanged_has_exact_zeros_and_ones(planted: dict[str, ItemRow]) -> None:
    for name in PLANTED:
        item = planted[f"identity {name}"]
        assert item.values["target_changed"] == 0.0
        assert (item.values["others_kept"], item.values["order_kept"], item.values["onset_shift_s"]) == (
            1.0,
            1.0,
            0.0,
        )
        assert (item.values["lsd_db"], item.values["lsd_outside_db"], item.values["level_change_db"]) == (
            0.0,
            0.0,
            0.0,
        )


def test_real_edits_lie_between_the_baselines(shared_data: Path, tmp_path: Path) -> None:
    result = earwitness.judge(
        "edit", shared_data / "edits" / "metadata.csv", run=tmp_path / "run", baselines=True, limit=8,
        options=QUICK,
    )  # fmt: skip
    rows = {row.system: row for row in result.summary.rows}
    assert all(row.scored == row.n for row in rows.values())
    value = {name: {key: metric.value for key, metric in row.metrics.items()} for name, row in rows.items()}
    same, other = value.pop("identity"), value.pop("unrelated")
    assert (same["others_kept"], same["order_kept"], same["lsd_db"], same["level_change_db"]) == (1, 1, 0, 0)
    assert other["lsd_db"] > 10
    for system, metrics in value.items():
        assert 0 < metrics["lsd_db"] < other["lsd_db"], system
        assert other["others_kept"] < metrics["others_kept"] <= 1, system
