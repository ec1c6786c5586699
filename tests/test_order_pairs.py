"""Ordered pairs: captions, truth and manifest agree, and nothing but the order tells the directions apart."""

import json
from pathlib import Path

import numpy as np
import pytest

from earwitness import audio
from earwitness.api import judge
from earwitness.errors import UserError
from earwitness.manifest import read_manifest
from earwitness.scenes import dataset, order_pairs, scene
from earwitness.scenes.bank import Bank, clip
from earwitness.scenes.classes import builtin, confusable_pairs
from earwitness.scenes.recipe import MIX
from earwitness.scenes.ritta.classes import CLASSES


@pytest.fixture(scope="module")
def bank():
    return Bank.builtin(3)


@pytest.fixture(scope="module")
def recipe(bank):
    return order_pairs.recipe(bank, pairs=12)


@pytest.fixture(scope="module")
def written(recipe, tmp_path_factory):
    folder = tmp_path_factory.mktemp("order") / "data"
    dataset.write(folder, recipe, recipe.bank, workers=1)
    return folder


def small_bank(folder: Path, *labels: str, of: str = "dog_bark") -> Bank:
    """A folder of clips under these labels, all of them sounds of one class."""
    for number, label in enumerate(labels):
        path = folder / label / f"{label}.wav"
        path.parent.mkdir(parents=True)
        audio.write_wav(path, clip(Bank.builtin(len(labels)).of(of)[number])[np.newaxis], 16_000)
    return Bank.open(folder)


def test_both_directions_hold_the_same_sounds_at_the_same_levels_in_opposite_orders(recipe):
    by_pair = {}
    keys = recipe.keys()
    for key in keys:
        one = recipe.draw(key)[MIX]
        by_pair.setdefault(recipe.row(key, {MIX: one})["pair_id"], []).append(one)
    assert len(by_pair) == 12
    for one, other in by_pair.values():
        assert [e.label for e in one.events] == [e.label for e in other.events][::-1]
        facts = [
            {(e.source, e.start, e.length, e.gain_db, e.level_db) for e in side.events}
            for side in (one, other)
        ]
        assert facts[0] == facts[1]
        for side in (one, other):
            first, second = side.events
            assert second.onset - first.end >= 0.5 * side.rate_hz
            assert side.expected.alternatives[0].present == (first.label, second.label)


def test_captions_state_the_order_of_the_truth(recipe):
    keys = recipe.keys()
    for key in keys:
        one = recipe.draw(key)[MIX]
        row = recipe.row(key, {MIX: one})
        phrases = [recipe.material.classes[event.label].phrase for event in one.events]
        assert [phrase.removeprefix("a ").removeprefix("an ") for phrase in phrases] == [
            row["first"],
            row["second"],
        ]
        assert row["caption"] == one.prompt


def test_more_pairs_change_none_of_the_first(bank, recipe):
    more = order_pairs.recipe(bank, pairs=400)
    assert len(more.keys()) == len(set(more.keys())) == 800
    keys, all_keys = recipe.keys(), more.keys()
    assert all_keys[:24] == keys
    assert more.settings == recipe.settings
    assert [more.draw(key) for key in keys] == [recipe.draw(key) for key in keys]
    again = [key for key in all_keys if key.endswith("-2")]
    first = more.draw(again[0].removesuffix("-2"))[MIX]
    second = more.draw(again[0])[MIX]
    assert {e.label for e in first.events} == {e.label for e in second.events}
    assert [e.onset for e in first.events] != [e.onset for e in second.events]


def test_the_order_task_reads_the_folder_and_gives_the_truth_full_marks(written, tmp_path):
    """A listener that hears exactly the truth of every scene, named as AudioSet names it, has a TOA of 1."""
    found = read_manifest(written)
    assert {item.system for item in found.items} == {"reference"}
    assert all(item.pair_id and item.reversed_caption for item in found.items)
    lines = []
    for item in found.items:
        one = scene.read(written / "scenes" / f"{item.sample_id}.json")
        events = [
            {
                "label": min(builtin()[e.label].labels),
                "onset_s": e.onset / one.rate_hz,
                "offset_s": e.end / one.rate_hz,
                "confidence": 1.0,
            }
            for e in one.events
        ]
        reply = {"events": events, "duration_s": one.duration_s}
        pcm_hash = audio.read(item.audio).pcm_hash
        lines.append(json.dumps({"pcm_hash": pcm_hash, "question": "events", "reply": reply}))
    script = tmp_path / "truth.jsonl"
    script.write_text("\n".join(lines))
    result = judge("order", written, run=tmp_path / "run", listener=f"scripted:{script}")
    (row,) = result.summary.rows
    assert row.metrics["toa"].value == 1.0
    assert row.scored == 24


def test_labels_are_known_by_the_names_that_corpora_use(tmp_path):
    bank = small_bank(tmp_path, "crying_baby", "Dog", "siren", "Hand saw", "vacuum_cleaner")
    found = order_pairs.recipe(bank, pairs=1)
    assert list(found.material.classes) == ["baby_cry", "dog_bark", "siren", "wood_sawing"]
    assert found.material.classes["wood_sawing"].phrase == "wood sawing"
    assert "no known class are left out: vacuum_cleaner." in found.card


def test_a_table_of_classes_names_labels_of_its_own(tmp_path):
    bank = small_bank(tmp_path, "Vacuum Cleaner", "yodel", "dog")
    table = tmp_path / "classes.csv"
    table.write_text(
        "class,phrase\nvacuum cleaner,a vacuum cleaner running\nyodel,a man yodelling\nharp,a harp\n"
    )
    found = order_pairs.recipe(bank, pairs=1, classes=table)
    (prompt, first, second) = found.asked[found.keys()[0]]
    assert {first, second} == {"vacuum_cleaner", "yodel"}
    assert "a vacuum cleaner running" in prompt.caption.lower()
    assert "left out: dog." in found.card
    assert "has no label: harp." in found.card


def test_pairs_that_cannot_be_told_apart_are_not_asked(bank):
    more = order_pairs.recipe(bank, pairs=400)
    for _, first, second in more.asked.values():
        assert frozenset((first, second)) not in confusable_pairs()


def test_every_known_class_has_a_phrase_that_captions_can_hold(tmp_path):
    """All 25 of RiTTA and the others of the built-in list, in every pair: each caption is read back."""
    labels = sorted({*CLASSES, *builtin()})
    many = order_pairs.recipe(small_bank(tmp_path, *labels), pairs=1000)
    assert len(many.material.classes) == 34


def test_only_what_a_listener_claims_to_know(bank):
    found = order_pairs.recipe(bank, pairs=1, known=frozenset(("Bark", "Siren", "Applause")))
    assert list(found.material.classes) == ["applause", "dog_bark", "siren"]


def test_what_cannot_be_made_is_refused_with_the_reason(bank, tmp_path):
    with pytest.raises(UserError, match="at least 1, not 0"):
        order_pairs.recipe(bank, pairs=0)
    with pytest.raises(UserError, match="no side of a split"):
        order_pairs.recipe(bank, pairs=1, split="dev")
    for wrong in ({"seed": -1}, {"rate_hz": 0}, {"duration_s": float("nan")}, {"duration_s": -1.0}):
        with pytest.raises(UserError, match="must"):
            order_pairs.recipe(bank, pairs=1, **wrong)
    with pytest.raises(UserError, match="no measure 'lkfs'"):
        order_pairs.recipe(bank, pairs=1, measure="lkfs")
    with pytest.raises(UserError, match=r"No two classes of the bank can be told apart; it has dog_bark\.\n"):
        order_pairs.recipe(small_bank(tmp_path / "one", "dog"), pairs=1)
    with pytest.raises(UserError, match=r"no sound of a known class.*vacuum"):
        order_pairs.recipe(small_bank(tmp_path / "none", "vacuum"), pairs=1)
    with pytest.raises(UserError, match=r"2 sounds of 1 s or more, 0\.5 s apart, do not fit into 2 s"):
        order_pairs.recipe(bank, pairs=1, duration_s=2.0)


def test_scenes_that_just_hold_two_sounds_are_made(bank):
    tight = order_pairs.recipe(bank, pairs=20, duration_s=2.6)
    for key in tight.keys()[::3]:
        assert tight.draw(key)[MIX].duration_s == 2.6


@pytest.mark.realdata
def test_the_real_bank_gives_pairs_that_the_embedded_listener_hears(shared_data, tmp_path):
    found = order_pairs.recipe(
        Bank.open(shared_data / "clips"), pairs=12, split="test", known=frozenset(("Bark", "Siren", "Sheep"))
    )
    dataset.write(tmp_path / "data", found, found.bank, workers=1)
    (row,) = judge("order", tmp_path / "data", run=tmp_path / "run").summary.rows
    assert row.metrics["toa"].value >= 0.7
