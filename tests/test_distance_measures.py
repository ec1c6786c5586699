"""What is measured of sets of clips, with a small embedding model whose distances need few clips."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from banded import RATE_HZ, WIDTH, Bands, Tagless, Worded, band, folder, write
from earwitness import audio
from earwitness.errors import UserError
from earwitness.scores.class_distances import kl_of_logits
from earwitness.scores.distances import Moments, frechet
from earwitness.tasks.distance_measures import limited, measured
from earwitness.tasks.distance_sounds import nearest
from earwitness.tasks.distances import (
    ALL,
    EXCHANGED,
    FLOOR,
    REFERENCE,
    Compared,
    Distances,
    from_json,
    to_json,
)

NAMES = [f"clip {number}" for number in range(24)]
HOW = {"workers": 1, "cache": False, "draws": 200}


def items(
    system: str, clips: list[Path], references: list[Path] | None = None, **more: str
) -> list[Compared]:
    return [
        Compared(system, path.stem, path, (references[at],) if references else (), **more)
        for at, path in enumerate(clips)
    ]


def values(found: Distances, system: str, part: str = ALL) -> dict[str, float]:
    """The numbers that there are."""
    of = (row for row in found.rows if (row.system, row.part) == (system, part))
    return {row.metric: row.value for row in of if row.value is not None}


def row(found: Distances, system: str, metric: str, part: str = ALL):
    (one,) = [r for r in found.rows if (r.system, r.metric, r.part) == (system, metric, part)]
    return one


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> list[Path]:
    return folder(tmp_path_factory.mktemp("sets") / "clean", NAMES)


@pytest.fixture(scope="module")
def noisy(clean, tmp_path_factory) -> list[Path]:
    """The clean clips under noise."""
    made = tmp_path_factory.mktemp("sets") / "noisy"
    rng = np.random.default_rng(7)
    return [
        write(made / path.name, audio.read(path).samples[0] + 0.05 * rng.standard_normal(RATE_HZ).clip(-3, 3))
        for path in clean
    ]


@pytest.mark.parametrize("paired", [True, False])
def test_a_set_against_itself_is_zero_everywhere_and_says_that_it_is_the_same(clean, paired):
    found = measured(items("copy", clean, clean if paired else None), clean, Bands(), **HOW)
    for metric in ("fad", "fd", "kad"):
        one = row(found, "copy", metric)
        assert (one.value, one.low, one.high) == (0.0, pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9))
    assert values(found, "copy").get("kl") == (0.0 if paired else None)
    assert any("sounds of the reference too, bit by bit: 24 of 24 of copy" in note for note in found.notes)


def test_numbers_are_those_of_the_scores_on_the_same_embeddings(clean, noisy):
    found = measured(items("noisy", noisy, clean), clean, Bands(), **HOW)
    model = Bands()
    sides = [[model.embed(audio.read(path).samples[0]) for path in paths] for paths in (noisy, clean)]

    def gaussian(rows):
        moments = Moments()
        moments.add(np.concatenate(rows))
        return moments.gaussian()

    by_frames = [gaussian([e.frames for e in side]) for side in sides]
    by_clips = [gaussian([e.clip[np.newaxis] for e in side]) for side in sides]
    logits = [np.stack([e.logits for e in side]) for side in sides]
    told = values(found, "noisy")
    assert told["fad"] == pytest.approx(frechet(*by_frames), rel=1e-9)
    assert told["fd"] == pytest.approx(frechet(*by_clips), rel=1e-9)
    assert told["kl"] == pytest.approx(kl_of_logits(logits[1], logits[0]).mean(), rel=1e-9)
    assert row(found, "noisy", "fad").n == row(found, "noisy", "fad").reference_n == 4 * 24
    for metric in ("fad", "fd", "kad", "kl"):
        one = row(found, "noisy", metric)
        assert one.low < one.value < one.high


def test_near_copies_are_not_nearer_than_the_set_itself(clean, tmp_path):
    """A clip is near its counterpart however far the sets are apart: with such pairs KAD is below 0."""
    rng = np.random.default_rng(0)
    near = [
        write(tmp_path / path.name, audio.read(path).samples[0] + 1e-4 * rng.uniform(-1, 1, RATE_HZ))
        for path in clean
    ]
    kad = row(measured(items("near", near, clean), clean, Bands(), metrics=["kad"], **HOW), "near", "kad")
    unpaired = row(measured(items("near", near), clean, Bands(), metrics=["kad"], **HOW), "near", "kad")
    assert unpaired.high < -1
    assert kad.value == pytest.approx(0, abs=1e-4)


def test_anchors_say_what_few_clips_and_unrelated_pairs_give(clean, noisy):
    found = measured(items("noisy", noisy, clean), clean, Bands(), **HOW)
    assert values(found, FLOOR)["fad"] < values(found, "noisy")["fad"]
    assert values(found, EXCHANGED)["kl"] > values(found, "noisy")["kl"] > 0
    assert values(found, REFERENCE).keys() == {"is"}
    again = measured(items("noisy", noisy, clean), clean, Bands(), **HOW)
    assert again == found
    other = measured(items("noisy", noisy, clean), clean, Bands(), seed=1, **HOW)
    assert values(other, FLOOR)["fad"] != values(found, FLOOR)["fad"]
    assert values(other, "noisy")["fad"] == values(found, "noisy")["fad"]


def test_the_place_of_the_clips_and_their_order_change_nothing(clean, noisy, tmp_path):
    moved = [write(tmp_path / "elsewhere" / path.name, audio.read(path).samples[0]) for path in clean]
    here = measured(items("noisy", noisy, clean), clean, Bands(), **HOW)
    there = measured(items("noisy", noisy[::-1], moved[::-1]), moved[::-1], Bands(), **HOW)
    assert here.recipe.key == there.recipe.key
    for one, other in zip(here.rows, there.rows, strict=True):
        if one.metric != "clap":
            assert one.value == pytest.approx(other.value, rel=1e-7, abs=1e-9)


def test_too_few_embeddings_are_refused_with_the_counts_and_kad_is_given(clean, noisy):
    few = measured(items("few", noisy[:WIDTH], clean[:WIDTH]), clean, Bands(), metrics=["fd"], **HOW)
    one = row(few, "few", "fd")
    assert one.value is None
    assert "8 here" in one.reason
    assert "more than 8" in one.reason
    assert row(few, "few", "kad").value is not None
    assert any("KAD stands in" in note for note in few.notes)
    enough = measured(items("more", noisy[: WIDTH + 1]), clean, Bands(), metrics=["fd"], **HOW)
    assert row(enough, "more", "fd").value > 0


def test_a_broken_file_is_left_out_and_is_not_its_neighbour(clean, noisy, tmp_path):
    broken = [write(tmp_path / path.name, audio.read(path).samples[0]) for path in noisy]
    broken[3].write_bytes(b"RIFF nothing of the kind")
    broken[5].write_bytes(b"")
    found = measured(items("broken", broken, clean), clean, Bands(), **HOW)
    assert [(name, Path(file)) for name, file, _ in found.left_out] == [
        ("broken", broken[at]) for at in (3, 5)
    ]
    assert all(why.split(":")[0] in ("unreadable", "empty") for _, _, why in found.left_out)
    rest = [at for at in range(24) if at not in (3, 5)]
    without = measured(
        items("broken", [noisy[at] for at in rest], [clean[at] for at in rest]), clean, Bands(), **HOW
    )
    assert values(found, "broken") == pytest.approx(values(without, "broken"), rel=1e-9)
    (_, coverage) = found.coverage
    assert (coverage.clips, coverage.used, coverage.paired) == (24, 22, 22)
    assert any("cannot be used and are left out: 2 of 24 of broken" in note for note in found.notes)


def test_a_broken_reference_takes_only_its_own_pair(clean, noisy, tmp_path):
    truth = [write(tmp_path / path.name, audio.read(path).samples[0]) for path in clean]
    truth[0].write_bytes(b"nothing")
    found = measured(items("noisy", noisy, truth), truth, Bands(), **HOW)
    assert row(found, "noisy", "kl").n == 23
    assert row(found, "noisy", "fd").n == 24
    assert row(found, "noisy", "fd").reference_n == found.recipe.reference_clips == 23
    assert found.left_out[0][:2] == (REFERENCE, str(truth[0]))


def test_odd_clips_give_numbers_and_are_told(clean, noisy, tmp_path):
    odd = list(noisy)
    odd[0] = write(tmp_path / "silent.wav", np.zeros(RATE_HZ, np.float32))
    odd[1] = write(tmp_path / "one frame.wav", band(1, 5, seconds=0.1))
    odd[2] = write(tmp_path / "low.wav", band(2, 5)[::2], rate_hz=RATE_HZ // 2)
    odd[3] = odd[4]
    nan = tmp_path / "nan.wav"
    soundfile.write(nan, np.full(1000, np.nan, np.float32), RATE_HZ, subtype="FLOAT")
    odd[5] = nan
    sets = [replace(item, clip_id=str(at)) for at, item in enumerate(items("odd", odd, clean))]
    found = measured(sets, clean, Bands(), **HOW)
    assert all(one.value is not None for one in found.rows if one.system == "odd" and one.metric != "clap")
    json.dumps(to_json(found), allow_nan=False)
    said = " ".join(found.notes)
    assert "Silent clips, counted like any other: 1 of 23 of odd." in said
    assert "16000 Hz: 1 of 23 of odd (from 8000 Hz)" in said
    assert "the same sound as another of their set: 1 of 23 of odd" in said
    assert "unreadable" in found.left_out[0][2]


def test_sets_of_different_size_or_length_are_named(clean, tmp_path):
    longer = folder(tmp_path, NAMES[:12], 3, seconds=2.0)
    found = measured(items("longer", longer, clean[:12]), clean, Bands(), **HOW)
    said = " ".join(found.notes)
    assert "different size, in clips: 24 of the reference; 12 of longer." in said
    assert "Clips last 1.00 s in the reference on average, but 2.00 s in longer" in said
    assert [(c.system, c.clips, c.mean_s) for c in found.coverage] == [
        (REFERENCE, 24, 1.0),
        ("longer", 12, 2.0),
    ]


def test_a_background_on_one_side_alone_is_told(clean, noisy, tmp_path):
    """Half a second of zeros behind each reference; of the sets one has them too, one has faint noise."""
    rng = np.random.default_rng(0)
    half = RATE_HZ // 2

    def padded(name: str, gain: float, paths: list[Path]) -> list[Path]:
        tails = (gain * rng.uniform(-1, 1, half) for _ in paths)
        sounds = (audio.read(path).samples[0] for path in paths)
        return [
            write(tmp_path / name / path.name, np.concatenate([sound, tail]).astype(np.float32))
            for path, sound, tail in zip(paths, sounds, tails, strict=True)
        ]

    truth, still, hiss = padded("truth", 0, clean), padded("still", 0, noisy), padded("hiss", 1e-3, noisy)
    sets = [*items("still", still, truth), *items("hiss", hiss, truth)]
    found = measured(sets, truth, Bands(), metrics=["kad"], **HOW)
    assert [row.digital_silence for row in found.coverage] == pytest.approx([1 / 3, 1 / 3, 0], abs=0.01)
    (note,) = [note for note in found.notes if "Digital silence" in note]
    assert "is 33 % of the reference's time, but 0 % of hiss: " in note
    assert "KL" not in note, "nobody asked for it"
    found = measured(sets, truth, Bands(), metrics=["kad", "kl"], **HOW)
    (note,) = [note for note in found.notes if "Digital silence" in note]
    assert note.endswith("KL is moved less by it.")
    assert not measured(items("still", truth), still, Bands(), metrics=["kad"], **HOW).notes
    none = measured(sets, truth, Bands(), metrics=["kad"], baselines=["hiss"], **HOW)
    assert not any("Digital silence" in note for note in none.notes)


def test_what_a_backbone_cannot_give_has_a_reason(clean, noisy):
    found = measured(items("noisy", noisy, clean), clean, Tagless(), **HOW)
    for metric in ("kl", "is"):
        assert "tagless is no classifier" in row(found, "noisy", metric).reason
    assert "knows no words" in row(found, "noisy", "clap").reason
    unpaired = measured(items("noisy", noisy), clean, Bands(), metrics=["kl"], **HOW)
    assert "no clip has a counterpart" in row(unpaired, "noisy", "kl").reason
    uncaptioned = measured(items("noisy", noisy, clean), clean, Worded(), metrics=["clap"], **HOW)
    assert "no caption" in row(uncaptioned, "noisy", "clap").reason


def test_clap_stands_between_its_anchors(clean, noisy):
    told = [
        replace(item, caption=f"band {at % WIDTH}") for at, item in enumerate(items("noisy", noisy, clean))
    ]
    found = measured(told, clean, Worded(), metrics=["clap"], **HOW)
    exchanged, whole = values(found, EXCHANGED)["clap"], values(found, REFERENCE)["clap"]
    assert exchanged < values(found, "noisy")["clap"] < whole
    half = [replace(item, caption="") if at % 2 else item for at, item in enumerate(told)]
    assert row(measured(half, clean, Worded(), metrics=["clap"], **HOW), "noisy", "clap").n == 12


def test_parts_are_those_of_their_clips_and_their_references(clean, noisy):
    parted = [
        replace(item, part="first" if at < 12 else "second")
        for at, item in enumerate(items("noisy", noisy, clean))
    ]
    found = measured(parted, None, Bands(), **HOW)
    for part, own in (("first", slice(12)), ("second", slice(12, 24))):
        apart = measured(items("noisy", noisy[own], clean[own]), None, Bands(), **HOW)
        assert values(found, "noisy", part) == pytest.approx(values(apart, "noisy"))
        assert values(found, FLOOR, part) == pytest.approx(values(apart, FLOOR))
    whole = measured(items("noisy", noisy, clean), None, Bands(), **HOW)
    assert values(found, "noisy") == pytest.approx(values(whole, "noisy"))


def test_of_several_references_the_nearest_in_time_counts(clean, tmp_path):
    loud = write(tmp_path / "loud.wav", np.pad(band(0, 1), (0, 4000)))
    other = write(tmp_path / "other.wav", band(6, 1)[::2], rate_hz=RATE_HZ // 2)
    clip = write(tmp_path / "clip.wav", band(0, 1) * 0.9)
    assert nearest(clip, [other, loud]) == loud
    assert nearest(other, [clip, loud, other]) == other
    sets = [*items("a", clean, clean), Compared("a", "two", clip, (other, loud))]
    kl = row(measured(sets, None, Bands(), metrics=["kl"], **HOW), "a", "kl")
    alone = [*items("a", clean, clean), Compared("a", "two", clip, (loud,))]
    assert kl.value == row(measured(alone, None, Bands(), metrics=["kl"], **HOW), "a", "kl").value
    loud.write_bytes(b"no sound")
    left = measured(sets, None, Bands(), metrics=["kl"], **HOW)
    assert row(left, "a", "kl").n == 24, "the other reference does not take its place"
    assert [(name, Path(file).name, why.split(":")[0]) for name, file, why in left.left_out] == [
        (REFERENCE, "loud.wav", "unreadable"),
        ("a", "clip.wav", "not paired"),
    ]
    assert "loud.wav" in left.left_out[1][2]


def test_the_nearest_reference_is_found_over_its_whole_length(tmp_path):
    """The first halves of both are alike; only the second halves tell them apart."""
    first, second = band(0, 1), band(5, 2)
    clip = write(tmp_path / "clip.wav", np.concatenate([first, second]))
    near = write(tmp_path / "near.wav", np.concatenate([first * 0.9, second]))
    far = write(tmp_path / "far.wav", np.concatenate([first, -second]))
    assert nearest(clip, [far, near]) == near


def test_every_system_is_held_against_the_same_prompts_whatever_it_lacks(clean, noisy, tmp_path):
    """Clips that fail, or are not there, take no reference with them, nor any of the kernel's width."""
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"")
    full = items("full", noisy, clean)
    fails = [replace(i, system="fails", audio=bad if at % 3 else i.audio) for at, i in enumerate(full)]
    lacks = [replace(i, system="lacks") for at, i in enumerate(full) if not at % 3]
    found = measured([*full, *fails, *lacks], None, Bands(), metrics=["fad", "kad"], **HOW)
    for metric, size in (("kad", 24), ("fad", 4 * 24)):
        assert {row(found, name, metric).reference_n for name in ("full", "fails", "lacks")} == {size}
    assert values(found, "fails") == values(found, "lacks")
    given = measured(items("lacks", noisy[::3], clean[::3]), clean, Bands(), metrics=["fad", "kad"], **HOW)
    assert values(given, "lacks") == pytest.approx(values(found, "lacks"))


def test_alternatives_change_neither_the_kernel_nor_the_size_of_the_reference(clean, noisy, tmp_path):
    """One system takes the second answers, far from everything: the other's number knows nothing of it."""
    others = folder(tmp_path, NAMES[:12], 5, gain=0.9)
    both = [(path, others[at]) if at < 12 else (path,) for at, path in enumerate(clean)]
    one = [replace(i, references=refs) for i, refs in zip(items("one", noisy, clean), both, strict=True)]
    two = [
        replace(i, system="two", audio=refs[-1] if len(refs) > 1 else i.audio)
        for i, refs in zip(one, both, strict=True)
    ]
    found = measured([*one, *two[1:]], None, Bands(), metrics=["kad"], **HOW)
    alone = measured(items("one", noisy, clean), None, Bands(), metrics=["kad"], **HOW)
    assert row(found, "one", "kad").value == pytest.approx(row(alone, "one", "kad").value)
    assert values(found, FLOOR) == pytest.approx(values(alone, FLOOR))
    assert row(found, "two", "kad").reference_n == 24
    assert any("24 of the reference; 24 of one; 23 of two." in note for note in found.notes)


def test_a_reference_set_counts_as_a_whole_where_only_some_of_it_is_paired(clean, noisy):
    some = items("some", noisy[:12], clean[:12])
    found = measured(some, clean, Bands(), metrics=["kad", "kl"], **HOW)
    assert (row(found, "some", "kad").reference_n, row(found, "some", "kl").reference_n) == (24, 12)


def test_a_sound_that_is_there_twice_is_no_second_clip(clean, noisy, tmp_path):
    """Four sounds twice are eight clips, and no more than four embeddings or clusters."""

    def doubled(paths: list[Path], name: str) -> list[Path]:
        return [
            write(tmp_path / name / f"{path.stem} {copy}.wav", audio.read(path).samples[0])
            for path in paths
            for copy in "ab"
        ]

    count = WIDTH // 2 + 1
    made, truth = doubled(noisy[:count], "made"), doubled(clean[:count], "truth")
    found = measured(items("twice", made, truth), truth, Bands(), metrics=["fd", "kl"], **HOW)
    assert f"there are {count} here and {count} in the reference" in row(found, "twice", "fd").reason
    assert row(found, "twice", "kl").n == 2 * count
    assert row(found, "twice", "kl").no_interval == "fewer than 10 clusters of clips"
    wide = doubled(noisy[:12], "wide"), doubled(clean[:12], "wide truth")
    twice = measured(items("x", *wide), wide[1], Bands(), metrics=["fd", "kl"], **HOW)
    once = measured(items("x", noisy[:12], clean[:12]), clean[:12], Bands(), metrics=["fd", "kl"], **HOW)
    for metric in ("kl", "fd"):
        a, b = row(twice, "x", metric), row(once, "x", metric)
        assert a.high - a.low == pytest.approx(b.high - b.low, rel=0.1), "no surer for being told twice"


def test_few_clips_give_means_without_intervals_and_the_reason(clean, noisy):
    for count in (9, 10, 20, 21):
        found = measured(
            items("few", noisy[:count], clean[:count]), clean, Bands(), metrics=["kl", "is"], **HOW
        )
        for metric, least in (("kl", 10), ("is", 21)):
            one, title = row(found, "few", metric), metric.upper()
            assert one.value is not None
            assert (one.low is not None) == (one.no_interval == "") == (count >= least)
            told = any("No interval" in note and f"{title} (few" in note for note in found.notes)
            assert told == (count < least)
    same = measured(items("same", clean, clean), clean, Bands(), metrics=["kl"], **HOW)
    assert row(same, "same", "kl").no_interval == "all clips have the same value"
    assert any(note.startswith("IS is too low for few clips") for note in found.notes)


def test_kad_is_said_to_stand_in_only_where_it_does(clean, noisy, tmp_path):
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"")
    sets = [*items("fine", noisy), *items("single", noisy[:1]), Compared("broken", "1", bad)]
    found = measured(sets, clean, Bands(), metrics=["fd"], **HOW)
    assert not any("KAD stands in" in note for note in found.notes)


def test_a_sample_is_the_same_in_every_set_and_is_in_the_recipe(clean, noisy):
    sets = [*items("a", noisy, clean), *items("b", noisy[3:], clean[3:])]
    found = measured(sets, clean, Bands(), limit=10, metrics=["kad"], **HOW)
    assert [(c.system, c.clips) for c in found.coverage] == [(REFERENCE, 10), ("a", 10), ("b", 10)]
    assert "sample of 10" in found.recipe.policy
    smaller, reference = limited(sets, clean, 5, 0)
    larger, _ = limited(sets, clean, 10, 0)
    assert {item.clip_id for item in smaller} < {item.clip_id for item in larger}
    assert {path.stem for path in reference} == {item.clip_id for item in smaller}
    assert {i.clip_id for i in limited(sets, clean, 5, 1)[0]} != {i.clip_id for i in smaller}
    everything = measured(sets, clean, Bands(), limit=99, metrics=["kad"], **HOW)
    assert values(everything, "a") == values(measured(sets, clean, Bands(), metrics=["kad"], **HOW), "a")


def test_a_changed_file_changes_the_number_under_the_cache(clean, noisy, tmp_path, monkeypatch):
    monkeypatch.setenv("EARWITNESS_CACHE", str(tmp_path / "cache"))
    copies = [write(tmp_path / path.name, audio.read(path).samples[0]) for path in noisy]
    how = HOW | {"cache": True}
    first = measured(items("set", copies, clean), clean, Bands(), **how)
    assert measured(items("set", copies, clean), clean, Bands(), **how) == first
    assert measured(items("set", copies, clean), clean, Bands(), **HOW) == first
    for path in copies[:12]:
        write(path, audio.read(path).samples[0] / 4)
    second = measured(items("set", copies, clean), clean, Bands(), **how)
    assert second == measured(items("set", copies, clean), clean, Bands(), **HOW)
    assert values(second, "set")["fad"] != values(first, "set")["fad"]


def test_nothing_to_compare_is_refused(clean, noisy, tmp_path):
    bad = tmp_path / "bad.wav"
    bad.write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"no clip of the sets can be used.*bad\.wav"):
        measured([Compared("a", "1", bad)], clean, Bands(), **HOW)
    with pytest.raises(UserError, match="no clip of the reference can be used"):
        measured(items("a", noisy), [bad], Bands(), **HOW)
    with pytest.raises(UserError, match="no reference clip"):
        measured(items("a", noisy), [], Bands(), **HOW)
    with pytest.raises(UserError, match=r"no metric 'fda' \(did you mean 'fa?d'"):
        measured(items("a", noisy), clean, Bands(), metrics=["fda"], **HOW)
    found = measured([*items("a", noisy), Compared("b", "1", bad)], clean, Bands(), **HOW)
    assert {r.reason for r in found.rows if r.system == "b"} == {"no clip could be used of this set"}


@settings(max_examples=6)
@given(st.integers(0, 2**16), st.floats(0.01, 0.9))
def test_distances_are_never_below_zero_or_missing(seed, gain):
    with tempfile.TemporaryDirectory() as name:
        truth = folder(Path(name) / "a", NAMES[:12], seed, seconds=0.5)
        made = folder(Path(name) / "b", NAMES[:12], seed + 1, seconds=0.5, gain=gain)
        found = measured(items("made", made, truth), truth, Bands(), metrics=["fad", "fd", "kl"], **HOW)
    for metric in ("fad", "fd", "kl"):
        one = row(found, "made", metric)
        assert one.value >= 0
        assert one.low is None or 0 <= one.low <= one.value <= one.high
    assert from_json(json.loads(json.dumps(to_json(found), allow_nan=False))) == found
