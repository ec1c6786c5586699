"""Edit pairs: one edit and nothing else, to the sample, and a manifest that the edit task takes."""

import numpy as np
import pytest

from earwitness import audio
from earwitness.api import judge
from earwitness.errors import UserError
from earwitness.manifest.edits import read_edits
from earwitness.scenes import dataset, edit_pairs, scene
from earwitness.scenes.bank import Bank
from earwitness.scenes.recipe import MIX
from earwitness.tasks import edit_targets

ROLES = (MIX, "source")


@pytest.fixture(scope="module")
def bank():
    return Bank.builtin(3)


@pytest.fixture(scope="module")
def recipe(bank):
    return edit_pairs.recipe(bank, pairs=45)


@pytest.fixture(scope="module")
def drawn(recipe):
    keys = recipe.keys()
    return {key: recipe.draw(key) for key in keys}


@pytest.fixture(scope="module")
def written(bank, tmp_path_factory):
    folder = tmp_path_factory.mktemp("edits") / "data"
    some = edit_pairs.recipe(bank, pairs=6)
    dataset.write(folder, some, some.bank, workers=1)
    return folder


def sides(scenes):
    """What only the source holds, and what only the edited scene holds."""
    before, after = (scenes[role].events for role in ("source", MIX))
    return [e for e in before if e not in after], [e for e in after if e not in before]


def test_every_kind_changes_exactly_what_it_says(drawn):
    for key, scenes in drawn.items():
        removed, added = sides(scenes)
        counts = {"add": (0, 1), "delete": (1, 0), "replace": (1, 1)}[key.partition("-")[2]]
        assert (len(removed), len(added)) == counts
        kept = [e for e in scenes["source"].events if e in scenes[MIX].events]
        assert 1 <= len(kept) <= 2
        assert scenes["source"].gain_db == scenes[MIX].gain_db


def test_a_replacement_has_the_same_onset_length_and_level_and_is_of_another_class(drawn):
    replaced = [sides(scenes) for key, scenes in drawn.items() if key.endswith("replace")]
    assert len(replaced) == 15
    for (old,), (new,) in replaced:
        assert (old.onset, old.length) == (new.onset, new.length)
        assert old.level_db == pytest.approx(new.level_db, abs=1e-9)
        assert old.label != new.label


def test_a_cut_slice_has_the_level_that_the_scene_states(recipe, drawn, bank):
    """The level is that of the sound as it is heard, measured on the rendered stem."""
    from earwitness.scenes.levels import level_db
    from earwitness.scenes.render import render

    for key, scenes in drawn.items():
        if key.endswith("replace"):
            one = scenes[MIX]
            for event, stem in zip(one.events, render(one, recipe.bank).stems, strict=True):
                heard = level_db(stem[event.onset : event.end], one.rate_hz, one.level)
                assert heard == pytest.approx(event.level_db + one.gain_db, abs=0.02)


def test_files_are_the_same_samples_outside_the_edited_span_and_differ_in_it(written):
    for item in read_edits(written).items:
        source, edited = (audio.read(path).samples[0] for path in (item.source_audio, item.audio))
        start, end = (round(s * 16_000) for s in (item.edit_start_s, item.edit_end_s))
        outside = np.ones(len(source), bool)
        outside[start:end] = False
        assert np.array_equal(source[outside], edited[outside])
        assert np.abs(source[start:end] - edited[start:end]).max() > 0.01


def test_texts_name_the_sounds_of_the_truth(written, recipe):
    for item in read_edits(written).items:
        before, after = (
            scene.read(dataset.scene_path(written, role, item.sample_id)) for role in ("source", MIX)
        )
        removed, added = sides({"source": before, MIX: after})
        phrases = {name: sound.phrase for name, sound in recipe.material.classes.items()}
        for caption, one in ((item.source_caption, before), (item.caption, after)):
            assert caption.lower() == ", then ".join(phrases[e.label] for e in one.events).lower()
        for said, meant in ((item.removed, removed), (item.added, added)):
            assert [said] == (
                [phrases[e.label].removeprefix("a ").removeprefix("an ") for e in meant] or [""]
            )
        read = edit_targets.of_instruction(item.instruction)
        assert not read.why
        assert (";".join(read.added), ";".join(read.removed)) == (item.added, item.removed)


def test_all_sounds_of_a_pair_can_be_told_apart(recipe, drawn):
    for scenes in drawn.values():
        labels = {event.label for one in scenes.values() for event in one.events}
        for label in labels:
            assert labels - {label} <= set(recipe.apart[label])


def test_more_pairs_change_none_of_the_first(bank, recipe, drawn):
    more = edit_pairs.recipe(bank, pairs=90)
    assert more.keys()[:45] == list(drawn)
    assert more.settings == recipe.settings
    assert {key: more.draw(key) for key in drawn} == drawn


def test_one_kind_alone(bank):
    keys = edit_pairs.recipe(bank, pairs=5, kind="delete").keys()
    assert [key.partition("-")[2] for key in keys] == ["delete"] * 5


def test_the_edit_task_hears_perfect_edits_as_such(written, tmp_path):
    result = judge("edit", written, run=tmp_path / "run", baselines=True)
    rows = {row.system: row for row in result.summary.rows}
    reference, identity = rows["reference"], rows["identity"]
    assert reference.scored == 6
    assert reference.metrics["lsd_outside_db"].value == pytest.approx(0, abs=1e-6)
    assert reference.metrics["target_changed"].value > 0.8
    assert identity.metrics["target_changed"].value < 0.2


def test_what_cannot_be_made_is_refused_with_the_reason(bank):
    with pytest.raises(UserError, match=r"no kind of edit 'remove'\.\n  Use add, delete, replace, mixed"):
        edit_pairs.recipe(bank, pairs=1, kind="remove")
    with pytest.raises(UserError, match="at least 1, not 0"):
        edit_pairs.recipe(bank, pairs=0)
    few = Bank({label: bank.of(label) for label in ("dog_bark", "siren", "baby_cry")})
    with pytest.raises(UserError, match="No 4 of the 3 classes"):
        edit_pairs.recipe(few, pairs=1)
    with pytest.raises(UserError, match=r"3 sounds of 1 s or more, 0\.5 s apart, do not fit into 3 s"):
        edit_pairs.recipe(bank, pairs=1, duration_s=3.0)
