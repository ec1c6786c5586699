"""Training a detector: mixtures, sides, features, the head, and what is measured, each by itself."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness.api.training import train_listener
from earwitness.errors import EarwitnessError, InputFaults, UserError
from earwitness.events import Event, EventTable
from earwitness.listeners.trained_model import Weights
from earwitness.scenes import slices, splits
from earwitness.scenes.bank import Bank, Source
from earwitness.scores import average_precision
from earwitness.training import features, head, naming, sides, targets, tuning
from earwitness.training.mixtures import Mixing, mixture, pools, rendered

CLASSES = ("siren", "rain", "dog_bark")
SHORT = Mixing(duration_s=5.0, most=2)


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Features go to a folder of these tests; weights stay where they are."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(features, "cache_folder", lambda: folder)
        yield


@pytest.fixture(scope="module")
def bank() -> Bank:
    whole = Bank.builtin(6)
    return replace(whole, sources={name: whole.sources[name] for name in CLASSES})


@pytest.fixture(scope="module")
def parted(bank: Bank) -> sides.Sides:
    return sides.sides(bank, "held-out")


# Average precision


def by_definition(truth: list[bool], scores: list[float]) -> float:
    """Precision and recall at each distinct score, from the highest down."""
    total, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        said = [t for t, s in zip(truth, scores, strict=True) if s >= threshold]
        recall = sum(said) / sum(truth)
        total += (recall - before) * sum(said) / len(said)
        before = recall
    return total


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=1, max_size=30))
def test_average_precision_is_that_of_the_definition(cells: list[tuple[bool, int]]) -> None:
    truth, scores = [t for t, _ in cells], [float(s) for _, s in cells]
    found = average_precision.average_precision(np.array(truth), np.array(scores))
    if any(truth):
        assert found == pytest.approx(by_definition(truth, scores))
    else:
        assert found is None


def test_a_class_without_positives_is_in_no_mean() -> None:
    truth = np.zeros((2, 4, 2), dtype=bool)
    truth[0, 0, 0] = True
    values = average_precision.by_class(truth, np.zeros(truth.shape), ("there", "absent"))
    assert values == {"there": pytest.approx(1 / 8), "absent": None}
    assert average_precision.mean(values) == pytest.approx(1 / 8)
    assert average_precision.mean(values, ["absent"]) is None


def test_a_bootstrap_sample_counts_a_clip_as_often_as_it_was_drawn() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((6, 5, 1)) < 0.4
    scores = rng.integers(0, 5, truth.shape).astype(float)
    times = np.random.default_rng(3).multinomial(6, np.full(6, 1 / 6), size=4)
    drawn = average_precision.resampled(truth, scores, draws=4, rng=np.random.default_rng(3))
    for row, counts in zip(drawn, times, strict=True):
        again = [np.repeat(array, counts, axis=0).ravel() for array in (truth, scores)]
        assert row[0] == pytest.approx(average_precision.average_precision(*again))


# Mixtures and targets


def test_the_same_seed_gives_the_same_mixture(parted: sides.Sides) -> None:
    for mixing in (SHORT, replace(SHORT, augment=True)):
        first, again, other = (mixture(parted.train, mixing, seed, 3) for seed in (1, 1, 2))
        assert first == again != other
        assert rendered(first).tobytes() == rendered(again).tobytes()
        assert np.abs(rendered(first)).max() <= 0.9 + 1e-6


def test_a_mixture_sounds_where_its_events_are(parted: sides.Sides) -> None:
    """And nowhere else, as long as nothing is changed; a played slice keeps its place when it is."""
    for mixing in (SHORT, replace(SHORT, augment=True)):
        for number in range(8):
            one = mixture(parted.train, mixing, 0, number)
            samples = rendered(one)
            assert len(samples) == 5 * 16_000
            inside = np.zeros(len(samples), dtype=bool)
            for event in one.events:
                inside[round(event.onset_s * 16_000) : round(event.offset_s * 16_000)] = True
                assert np.abs(samples[round(event.onset_s * 16_000) :][:1600]).max() > 1e-4
            if one.noise is None:
                assert not samples[~inside].any()


def test_recordings_count_alike_however_many_clips_they_have(bank: Bank) -> None:
    one, *others = bank.sources["siren"]
    many = tuple(replace(source, recording_id="many") for source in others)
    cut = slices.cut(replace(bank, sources={"siren": (one, *many), "rain": bank.sources["rain"]}))
    of = pools(cut.slices)
    drawn = Counter(
        sound.piece.source.recording_id
        for number in range(400)
        for sound in mixture(of, SHORT, 0, number).sounds
        if sound.piece.source.label == "siren"
    )
    assert drawn["many"] == pytest.approx(drawn[one.recording_id], rel=0.3)


def test_a_cell_is_of_a_class_that_covers_half_of_it() -> None:
    table = EventTable(
        (Event("a", 0.2, 0.5), Event("a", 0.8, 1.0), Event("b", 1.25, 1.3), Event("b", 1.4, 2.0)), 2.0
    )
    assert targets.cells(table, ("a", "b")).tolist() == [
        [True, False],
        [False, False],
        [False, False],
        [False, True],
    ]
    with pytest.raises(ValueError, match="whole number of cells"):
        targets.cells(EventTable((), 2.2), ("a",))


# Sides


def test_no_recording_is_on_two_sides(bank: Bank, parted: sides.Sides) -> None:
    seen = [
        {recording for of in side.values() for recording in of}
        for side in (parted.train, parted.held, parted.test)
    ]
    assert all(seen)
    assert not (seen[0] & seen[1])
    assert not (seen[0] & seen[2])
    assert not (seen[1] & seen[2])
    tested = splits.split(bank, "test").bank
    assert seen[2] <= {s.recording_id for sources in tested.sources.values() for s in sources}
    assert parted.shared == {}
    assert parted.unheld == frozenset()


def test_a_class_with_one_recording_is_named(bank: Bank) -> None:
    lone = tuple(replace(source, recording_id="lone") for source in bank.sources["siren"])
    found = sides.sides(replace(bank, sources={**bank.sources, "siren": lone}), "held-out")
    assert "one recording" in found.shared["siren"]
    assert found.unheld == {"siren"}
    assert set(found.test) == set(CLASSES)


def test_the_easier_split_says_so_and_shares(bank: Bank) -> None:
    found = sides.sides(bank, "shared")
    assert found.split == "shared"
    assert found.recordings()["train"] == found.recordings()["test"]
    with pytest.raises(UserError, match=r"no split 'sharde' \(did you mean 'shared'\?\)"):
        sides.sides(bank, "sharde")


# Features


def test_features_are_made_once_and_made_anew_when_damaged(parted: sides.Sides) -> None:
    source = features.Source("yamnet")
    of = features.Mixtures(parted.train, SHORT, 0, 18)
    told: list[int] = []
    first = np.array(features.rows(of, source, workers=1, progress=lambda done, _: told.append(done)))
    assert first.shape == (18, 21, 1024)
    assert told == [16, 18]
    again = features.rows(of, source, workers=1, progress=lambda done, _: told.append(done))
    assert told == [16, 18]
    assert np.array_equal(first, again)
    more = features.rows(
        replace(of, number=20), source, workers=1, progress=lambda done, _: told.append(done)
    )
    assert told == [16, 18, 20]
    assert np.array_equal(first, more[:18])
    [folder] = (features.cache_folder() / features.FOLDER).iterdir()
    (folder / "rows.f16").write_bytes(b"cut off")
    assert np.array_equal(first, features.rows(of, source, workers=1))
    alone = source.open().timed(rendered(of[4]), targets.HOP_S)
    assert np.array_equal(first[4], alone.astype(np.float16))


def test_a_backbone_without_times_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    about = replace(features.NAMES["yamnet"], timed=False)
    monkeypatch.setitem(features.NAMES, "yamnet", about)
    with pytest.raises(UserError, match="no features in time"):
        features.Source("yamnet").open()


# The head


def planted(seed: int, clips: int = 40) -> tuple[np.ndarray, np.ndarray]:
    """Rows in which each class has a direction of its own."""
    rng = np.random.default_rng(seed)
    truth = rng.random((clips, 10, 3)) < 0.3
    rows = rng.normal(0, 0.7, (clips, 21, 8))
    rows[:, targets.CENTRES, :3] += 4 * truth
    return rows.astype(np.float16), truth


QUICK = head.Settings(hidden=16, epochs=6, patience=2, batch=8, rate=1e-2)


def fit(held: tuple[np.ndarray, np.ndarray], **changed: int | float) -> head.Fitted:
    how = replace(QUICK, **changed)  # type: ignore[arg-type]
    return head.fitted(*planted(0), *held, ("a", "b", "c"), counted=("a", "b", "c"), settings=how)


def test_the_same_seed_gives_the_same_bytes() -> None:
    first, again = (fit(planted(1)).weights.to_bytes() for _ in range(2))
    assert first == again
    found = Weights.from_bytes(first)
    assert found.to_bytes() == first
    assert (found.features, found.classes) == (8, 3)


def test_training_stops_by_the_held_recordings_alone() -> None:
    """Held cells that say the opposite of what is trained get worse with every epoch: the first is kept."""
    rows, truth = planted(1)
    right, wrong = fit((rows, truth)), fit((rows, ~truth))
    assert right.epoch > 1
    assert right.history[-1] > max(0.6, right.history[0])
    assert wrong.epoch <= 2
    assert len(wrong.history) == wrong.epoch + QUICK.patience


def test_hearing_in_numpy_is_hearing_in_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs torch: pip install earwitness[test]")
    rows = planted(2)[0][0].astype(np.float32)
    for weights in (fit(planted(1)).weights, fit(planted(1), hidden=0).weights):
        given = {name: torch.from_numpy(array) for name, array in weights.arrays.items()}
        seen = (torch.from_numpy(rows) - given["centre"]) / given["scale"]
        if "first" in given:
            hidden = torch.relu(seen @ given["first"] + given["first_bias"])
            taps = given["second"].permute(2, 1, 0)
            conv = torch.nn.functional.conv1d(
                hidden.T, taps, given["second_bias"], padding=taps.shape[2] // 2
            )
            seen = torch.relu(conv.T)
        expected = seen @ given["last"] + given["last_bias"]
        np.testing.assert_allclose(weights(rows), expected.numpy(), atol=1e-4)


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UserError, match=r"earwitness\[torch\]"):
        train_listener("builtin", tmp_path / "m")


# Thresholds


def test_events_agree_one_to_one() -> None:
    truth = EventTable((Event("a", 0.0, 2.0), Event("a", 3.0, 4.0), Event("b", 0.0, 1.0)), 5.0)
    said = EventTable((Event("a", 0.2, 1.9), Event("a", 0.0, 0.6), Event("c", 0.0, 1.0)), 5.0)
    found = tuning.agreement([truth], [said])
    assert found.by_class == {"a": 0.5, "b": 0.0, "c": 0.0}
    assert (found.precision, found.recall) == (pytest.approx(1 / 3), pytest.approx(1 / 3))
    assert found.onset_error_s == pytest.approx(0.2)


def calibration(clips: int = 30) -> tuning.Heard:
    """Logits of what is there, on sound all along: ``a`` and ``b`` at once; those of ``b`` are 5 lower."""
    rng = np.random.default_rng(0)
    logits, truth = [], []
    for _ in range(clips):
        onset = 0.5 * int(rng.integers(0, 9))
        both = [Event(label, onset, onset + 3.0) for label in ("a", "b")]
        truth.append(EventTable(tuple(both[: int(rng.integers(0, 3))]), 8.0))
        rows = rng.normal(0.0, 0.3, (33, 2)) - 3.0
        for event in truth[-1]:
            rows[round(event.onset_s * 4) : round(event.offset_s * 4) + 1, "ab".index(event.label)] += 5.0
        logits.append((tuning.SHARPNESS * (rows - (0.0, 5.0))).astype(np.float32))
    return tuning.Heard((np.zeros((900, 64), np.float32),) * clips, tuple(logits), tuple(truth))


def test_every_class_has_its_threshold_and_none_competes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tuning, "PRIOR", 1.0)  # what thousands of events would do
    clips = calibration()
    thresholds, rules = tuning.tuned(clips, ("a", "b"))
    first, second = thresholds / tuning.SHARPNESS
    assert -3.0 < first < 2.0
    assert -8.0 < second < -3.0
    found = tuning.found(clips, ("a", "b"), thresholds, rules)
    assert found.by_class == {"a": 1.0, "b": 1.0}


def test_recall_weighs_more_and_few_events_are_not_trusted_alone() -> None:
    """Matched, heard, there at a low threshold and a high one; the third class is rare."""
    low, high = [80, 160, 100], [60, 70, 100]
    counts = np.array([[low, low, [1, 4, 1]], [high, high, [1, 1, 1]]], dtype=float)
    assert (tuning._f(counts).argmax(axis=0) == 0).all()


# Names and bad input


def test_what_is_said_is_an_audioset_name_and_unique() -> None:
    said = naming.said(["dog_barking", "paper_shredder", "dog", "footstep", "Siren"])
    assert said == {
        "dog_barking": "Dog",
        "paper_shredder": "paper_shredder",
        "dog": "dog",  # taken
        "footstep": "Walk, footsteps",
        "Siren": "Siren",
    }


def test_ritta_classes_are_found_under_any_name() -> None:
    found, missing = naming.chosen(Bank.builtin(1), "ritta")
    assert {"dog_barking", "whistling"} <= set(found.sources)
    assert "rain" not in found.sources
    assert "paper_shredder" in missing
    assert set(naming.chosen(Bank.builtin(1), "rain,dog_barking")[0].sources) == {"rain", "dog_barking"}


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"classes": "sirn,rain"}, r"no 'sirn' \(did you mean 'siren'\?\)"),
        ({"classes": "siren"}, "tells classes apart"),
        ({"split": "test"}, "no split 'test'"),
        ({"backbone": "yamnett"}, "Did you mean 'yamnet'"),
        ({"scenes": 3}, "at least 16"),
        ({"duration_s": 4.0}, "at least 5 s"),
        ({"engine": "rat"}, "Did you mean 'ray'"),
    ],
)
def test_what_cannot_be_trained_is_told_before_any_work(
    tmp_path: Path, how: dict[str, object], said: str
) -> None:
    with pytest.raises(EarwitnessError, match=said):
        train_listener("builtin", tmp_path / "m", **how)  # type: ignore[arg-type]
    assert not (tmp_path / "m").exists()


def test_a_folder_that_is_taken_or_no_bank_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="not empty"):
        train_listener("builtin", tmp_path / "m")
    with pytest.raises(UserError, match="nowhere"):
        train_listener(tmp_path / "nowhere", tmp_path / "n")


def test_a_class_without_sound_is_named(tmp_path: Path) -> None:
    broken = Source("siren", "x", path=tmp_path / "gone.wav", name="gone.wav")
    one = Bank({"siren": (broken,), "rain": Bank.builtin(2).sources["rain"]})
    with pytest.raises(InputFaults, match=r"'siren' gives no slice \(1 not decodable\)"):
        sides.sides(one, "held-out")
