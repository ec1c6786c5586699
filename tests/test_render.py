"""Rendering: stems sum to the mix bit for bit, nothing clips, truth is where the samples are."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness import audio
from earwitness.errors import UserError
from earwitness.scenes import placing, scene
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.render import PEAK, looped, mix, render, settled
from earwitness.scenes.scene import Placed, Scene
from earwitness.scenes.slices import cut

RATE = 16_000
STEP = 1 / 2**15


@pytest.fixture(scope="module")
def bank(tmp_path_factory):
    """Clips of several rates and channels, as users have them; ``rain`` serves as an ambience."""
    folder = tmp_path_factory.mktemp("bank")
    for number, (label, seconds, rate, channels, gain) in enumerate(
        [
            ("dog", 5.3, 44_100, 1, 0.9), ("dog", 2.0, 16_000, 2, 0.1), ("cat", 4.0, 8_000, 1, 0.5),
            ("cow", 7.0, 22_050, 2, 0.3), ("owl", 1.2, 48_000, 1, 0.99), ("rain", 1.7, 32_000, 1, 0.1),
        ]
    ):  # fmt: skip
        samples = gain * np.random.default_rng(number).uniform(-1, 1, (channels, round(seconds * rate)))
        path = folder / label / f"{number}.wav"
        path.parent.mkdir(exist_ok=True)
        audio.write_wav(path, samples.astype(np.float32), rate)
    return Bank.open(folder)


@pytest.fixture(scope="module")
def slices(bank):
    return cut(bank).slices


LABELS = ("dog", "cat", "cow", "owl")


@st.composite
def draws(draw):
    """What a scene is made of: (label, which slice, where as a share of the room, gain)."""
    sounds = draw(
        st.lists(
            st.tuples(st.sampled_from(LABELS), st.integers(0, 3), st.floats(0, 1), st.floats(-30, 24)),
            max_size=5,
            unique_by=lambda sound: sound[0],
        )
    )
    under = draw(st.none() | st.floats(-80, -10))
    return sounds, under


def made(drawn, bank, slices, samples=10 * RATE):
    sounds, under = drawn
    placed = []
    for label, number, share, gain_db in sounds:
        piece = slices[label][number % len(slices[label])]
        placed.append(placing.placed(label, piece, round(share * (samples - piece.length)), gain_db))
    ambience = None
    if under is not None:
        source = bank.of("rain")[0]
        ambience = placing.ambience(source, samples, under, rate_hz=RATE, measure="lufs")
    return Scene("one", "ritta", RATE, samples, "lufs", 0.0, tuple(placed), "a dog", 1, ambience=ambience)


@settings(max_examples=60, deadline=None)
@given(drawn=draws())
def test_stems_sum_to_the_mix_and_nothing_clips(drawn, bank, slices):
    whole = settled(made(drawn, bank, slices), bank)
    got = render(whole, bank)
    assert whole.gain_db <= 0
    assert got.mix.dtype == np.float32
    assert got.mix.shape == (whole.samples,)
    assert len(got.stems) == len(whole.sounds)
    total = np.zeros(whole.samples, np.float32)
    for stem in got.stems:
        assert stem.shape == got.mix.shape
        assert np.array_equal(np.rint(stem * 2**15), stem * 2**15), "on the 16-bit grid"
        assert stem.min() >= -1
        assert stem.max() <= 1 - STEP
        total += stem
    assert np.array_equal(total, got.mix)
    assert np.abs(got.mix).max() <= PEAK + STEP
    assert np.array_equal(mix(whole, bank), got.mix)


@settings(max_examples=40, deadline=None)
@given(drawn=draws())
def test_the_scene_file_alone_renders_the_same_samples(drawn, bank, slices, tmp_path_factory):
    whole = settled(made(drawn, bank, slices), bank)
    path = tmp_path_factory.mktemp("scene") / "one.json"
    scene.write(path, whole)
    again = scene.read(path)
    assert again == whole
    assert render(again, bank).mix.tobytes() == render(whole, bank).mix.tobytes()


@settings(max_examples=40, deadline=None)
@given(drawn=draws())
def test_a_sound_is_heard_where_the_truth_says(drawn, bank, slices):
    """A stem is silent outside its sound, and sounds at once within the ramps unless it is too quiet."""
    whole = settled(made(drawn, bank, slices), bank)
    truth = whole.truth().events
    for placed, stem, event in zip(whole.events, render(whole, bank).stems, truth, strict=False):
        assert not stem[: placed.onset].any()
        assert not stem[placed.end :].any()
        assert (event.onset_s, event.offset_s) == (placed.onset / RATE, placed.end / RATE)
        if np.abs(stem).max() > 200 * STEP:
            heard = np.flatnonzero(stem)
            assert heard[0] - placed.onset <= placed.fade
            assert placed.end - 1 - heard[-1] <= placed.fade


@settings(max_examples=30, deadline=None)
@given(drawn=draws(), extra=st.floats(-12, 0))
def test_one_gain_moves_every_stem_alike(drawn, extra, bank, slices):
    whole = settled(made(drawn, bank, slices), bank)
    lower = replace(whole, gain_db=whole.gain_db + extra)
    for placed, stem, other in zip(
        whole.sounds, render(whole, bank).stems, render(lower, bank).stems, strict=True
    ):
        assert np.abs(other - stem * 10 ** (extra / 20)).max() <= 1.01 * STEP, placed.label


def test_a_scene_that_fits_keeps_its_level_and_a_loud_one_peaks_at_the_limit(bank, slices):
    def peak_of(gain_db):
        whole = settled(
            made(([("cat", 0, 0.2, gain_db), ("cow", 0, 0.3, gain_db)], None), bank, slices), bank
        )
        return whole.gain_db, audio.peak(render(whole, bank).mix)

    quiet, loud = peak_of(-6), peak_of(30)
    assert quiet[0] == 0
    assert quiet[1] < PEAK
    assert loud[0] < -20
    assert loud[1] == pytest.approx(PEAK, abs=3 * STEP)


def test_stems_that_cancel_are_kept_within_full_scale(tmp_path):
    """The sum is silent, so its peak alone would let both stems clip."""
    wave = np.sin(np.arange(2 * RATE) / 5).astype(np.float32)
    for label, sign in (("up", 1), ("down", -1)):
        (tmp_path / label).mkdir()
        audio.write_wav(tmp_path / label / "a.wav", 0.5 * sign * wave[np.newaxis], RATE)
    both = Bank.open(tmp_path)
    events = tuple(
        Placed(
            label, decoded(both.of(label)[0], RATE).pcm_hash, f"{label}/a.wav", label, 0, 0, RATE, 0, 20, 0
        )
        for label in ("up", "down")
    )
    whole = settled(Scene("c", "ritta", RATE, RATE, "rms", 0.0, events, "", 0), both)
    got = render(whole, both)
    assert audio.peak(got.stems[0]) == pytest.approx(1, abs=3 * STEP)
    assert audio.peak(got.mix) <= STEP


def test_an_event_lost_in_16_bits_is_refused_with_the_numbers(bank, slices):
    whole = made(([("dog", 0, 0.0, -90.0), ("owl", 0, 0.5, 40.0)], None), bank, slices)
    with pytest.raises(
        UserError, match=r"'dog' is lost in 16 bits, -1\d\d\.\d dB at its peak \(-90\.0 dB on"
    ):
        settled(whole, bank)
    hushed = made(([("owl", 0, 0.5, 0.0)], -150.0), bank, slices)
    assert not render(settled(hushed, bank), bank).stems[-1].any()


def test_what_would_clip_is_refused_not_clipped(bank, slices):
    loud = made(([("dog", 1, 0.0, 40.0)], None), bank, slices)
    with pytest.raises(ValueError, match=r"'dog' in scene 'one' peaks at .* and would be clipped"):
        render(loud, bank)
    with pytest.raises(ValueError, match="would be clipped"):
        mix(loud, bank)


def test_files_of_stems_add_up_to_the_file_of_the_mix(tmp_path, bank, slices):
    whole = settled(
        made(([("dog", 0, 0.1, 3.0), ("cow", 0, 0.2, 9.0), ("owl", 0, 0.3, 0.0)], -30.0), bank, slices), bank
    )
    got = render(whole, bank)
    for name, samples in (("mix", got.mix), *((str(i), stem) for i, stem in enumerate(got.stems))):
        audio.write_wav(tmp_path / f"{name}.wav", samples[np.newaxis], RATE)
    read = {path.stem: soundfile.read(path, dtype="int16")[0].astype(int) for path in tmp_path.glob("*.wav")}
    total = read.pop("mix")
    assert len(read) == 4
    assert np.array_equal(sum(read.values()), total)
    assert np.array_equal(total, got.mix * 2**15)


def test_another_process_renders_the_same_bytes(tmp_path, bank, slices):
    whole = settled(
        made(([("dog", 0, 0.4, 3.0), ("cat", 0, 0.2, -3.0), ("owl", 0, 0.9, 6.0)], -40.0), bank, slices), bank
    )
    scene.write(tmp_path / "one.json", whole)
    folder = bank.of("dog")[0].path.parent.parent
    code = (
        "import sys, hashlib; from pathlib import Path\n"
        "from earwitness.scenes import bank, render, scene\n"
        "got = render.mix(scene.read(Path(sys.argv[1])), bank.Bank.open(Path(sys.argv[2])))\n"
        "print(hashlib.sha256(got.tobytes()).hexdigest())"
    )
    expected = hashlib.sha256(mix(whole, bank).tobytes()).hexdigest()
    command = [sys.executable, "-c", code, str(tmp_path / "one.json"), str(folder)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == expected


def test_a_bank_whose_files_moved_still_renders_and_a_changed_one_is_named(tmp_path, bank, slices):
    whole = settled(made(([("dog", 0, 0.4, 0.0)], None), bank, slices), bank)
    (event,) = whole.events
    source = bank.find(event.name, event.source)
    (tmp_path / "elsewhere").mkdir()
    copy = tmp_path / "elsewhere" / "renamed.wav"
    copy.write_bytes(Path(source.path).read_bytes())
    assert np.array_equal(mix(whole, Bank.open(tmp_path)), mix(whole, bank))
    copy.unlink()
    (tmp_path / "dog").mkdir()
    (tmp_path / "elsewhere").rmdir()
    audio.write_wav(tmp_path / event.name, np.full((1, 5 * RATE), 0.1, np.float32), RATE)
    with pytest.raises(UserError, match=rf"{Path(event.name).name} holds another sound"):
        mix(whole, Bank.open(tmp_path))


def test_a_sound_longer_than_its_clip_is_refused_with_the_numbers(bank, slices):
    whole = made(([("owl", 0, 0.0, 0.0)], None), bank, slices)
    (event,) = whole.events
    longer = replace(whole, events=(replace(event, length=9 * RATE),))
    with pytest.raises(UserError, match=r"has \d+ samples from \d+ on; 'owl' takes 144000"):
        mix(longer, bank)


def test_a_scene_without_sound_is_silence(bank):
    nothing = settled(Scene("n", "ritta", RATE, 100, "lufs", 0.0, (), "", 0), bank)
    got = render(nothing, bank)
    assert got.stems == ()
    assert not got.mix.any()
    assert nothing.gain_db == 0


@given(st.integers(1, 5000), st.integers(1, 20_000))
def test_a_loop_is_full_and_never_louder_than_two_in_step(n, length):
    sound = np.random.default_rng(n).uniform(-0.5, 0.5, n).astype(np.float32)
    got = looped(sound, length, 1000)
    assert got.shape == (length,)
    plain = min(n, length) if length <= n else n - min(500, n // 2)
    assert np.array_equal(got[:plain], sound[:plain])
    assert np.abs(got).max() <= 0.5 * 2**0.5 + 1e-9


def test_a_loop_keeps_the_level_of_noise():
    sound = (0.1 * np.random.default_rng(0).standard_normal(2 * RATE)).astype(np.float32)
    got = looped(sound, 60 * RATE, RATE)
    parts = got.reshape(-1, RATE // 4)
    assert np.sqrt(np.mean(parts**2, axis=1)) == pytest.approx(0.1, rel=0.1)


def test_real_clips_render_within_bounds(shared_data):
    clips = Bank.open(shared_data / "clips").relabelled({"siren": "siren", "footstep": "footstep"})
    found = cut(clips).slices
    rng = np.random.default_rng(0)
    for number in range(10):
        pair = placing.fitting(rng, [found["siren"], found["footstep"]], 10 * RATE, RATE // 2, RATE)
        onsets = placing.apart(rng, [piece.length for piece in pair], 10 * RATE, RATE // 2, RATE)
        events = tuple(
            placing.placed(label, piece, onset, -20 - piece.level_db)
            for label, piece, onset in zip(("siren", "footstep"), pair, onsets, strict=True)
        )
        whole = settled(Scene(str(number), "ritta", RATE, 10 * RATE, "lufs", 0.0, events, "", number), clips)
        got = render(whole, clips)
        assert np.array_equal(sum(got.stems), got.mix)
        assert audio.peak(got.mix) <= PEAK
