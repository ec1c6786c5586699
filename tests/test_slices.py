"""Slices begin and end with sound, keep their bounds, and depend on the clip alone; poor clips are named."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness import audio
from earwitness.errors import InputFaults
from earwitness.scenes import levels, slices
from earwitness.scenes.bank import Bank, decoded
from earwitness.scenes.slices import cut

RATE = 16_000


def noise(seconds, seed=0, gain=0.3, rate_hz=RATE):
    samples = np.random.default_rng(seed).uniform(-gain, gain, round(seconds * rate_hz))
    return samples.astype(np.float32)


def quiet(seconds):
    return np.zeros(round(seconds * RATE), np.float32)


def put(folder, name, *parts, rate_hz=RATE):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    samples = np.concatenate(parts, axis=-1)
    audio.write_wav(path, np.atleast_2d(samples), rate_hz)


def as_plain(found):
    return {
        label: [(s.source.name, s.pcm_hash, s.start, s.length, s.level_db, s.fade) for s in pieces]
        for label, pieces in found.slices.items()
    }


def check_pieces(pieces, shortest=RATE, longest=5 * RATE):
    """Every promise about slices, on the samples themselves."""
    ends = {}
    for one in sorted(pieces, key=lambda piece: (piece.source.name, piece.start)):
        clip = np.abs(decoded(one.source, RATE).samples)
        sound = clip[one.start : one.start + one.length]
        assert shortest <= one.length <= longest
        assert len(sound) == one.length
        assert min(sound[0], sound[-1]) > 0.01 * clip.max()
        assert one.start >= ends.get(one.source.name, 0)
        ends[one.source.name] = one.start + one.length


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.floats(0.001, 6)), min_size=1, max_size=8),
    st.integers(0, 2**31),
)
def test_slices_keep_every_promise(tmp_path_factory, parts, seed):
    """Clips of bursts and pauses of any length: slices hold, or the clip is counted with a reason."""
    folder = tmp_path_factory.mktemp("bank")
    made = [noise(s, i) if loud else quiet(s) for i, (loud, s) in enumerate(parts)]
    put(folder, "dog/a.wav", *made, quiet(0.03))
    found = cut(Bank.open(folder), seed=seed, leave_out_empty=True)
    pieces = found.slices.get("dog", ())
    check_pieces(pieces)
    assert bool(pieces) is not bool(found.left_out)
    loudest = max((s for loud, s in parts if loud), default=0.0)
    assert pieces or loudest < 1.001


def test_a_long_clip_gives_many_lengths_and_a_short_one_its_whole_sound(tmp_path):
    put(tmp_path, "wind/long.wav", noise(120))
    put(tmp_path, "dog/short.wav", quiet(0.5), noise(1.5, 1), quiet(2))
    found = cut(Bank.open(tmp_path)).slices
    seconds = [piece.length / RATE for piece in found["wind"]]
    assert len(set(seconds)) > 20
    assert sum(seconds) > 113
    assert min(seconds) < 2 < 4 < max(seconds)
    check_pieces(found["wind"])
    (short,) = found["dog"]
    assert short.length <= round(1.5 * RATE)
    assert short.start >= round(0.5 * RATE)


def test_clips_of_one_length_are_cut_in_different_places(tmp_path):
    for number in range(3):
        put(tmp_path, f"dog/{number}.wav", noise(30, number))
    lengths = {}
    for piece in cut(Bank.open(tmp_path)).slices["dog"]:
        lengths.setdefault(piece.source.name, []).append(piece.length // 1600)
    assert len({tuple(found) for found in lengths.values()}) == 3


def test_bounds_are_met_to_the_sample(tmp_path):
    put(tmp_path, "a/exact.wav", np.full(RATE, 0.2, np.float32))
    put(tmp_path, "b/less.wav", np.full(RATE - 1, 0.2, np.float32))
    put(tmp_path, "c/full.wav", np.full(3 * RATE, 0.2, np.float32))
    found = cut(Bank.open(tmp_path), longest_s=1, leave_out_empty=True)
    assert [(s.start, s.length) for s in found.slices["a"]] == [(0, RATE)]
    assert found.left_out["b"] == {"shorter than 1 s": 1}
    assert [(s.start, s.length) for s in found.slices["c"]] == [(n * RATE, RATE) for n in range(3)]


def test_slices_depend_on_the_clip_and_the_seed_alone(tmp_path):
    for number in range(4):
        put(tmp_path, f"dog/{number}.wav", noise(8, number))
    few = as_plain(cut(Bank.open(tmp_path)))["dog"]
    put(tmp_path, "dog/0a.wav", noise(7, 20))
    put(tmp_path, "cat/1.wav", noise(9, 21))
    more = as_plain(cut(Bank.open(tmp_path)))
    assert [piece for piece in more["dog"] if piece[0] != "dog/0a.wav"] == few
    assert more == as_plain(cut(Bank.open(tmp_path)))
    assert more["dog"] != as_plain(cut(Bank.open(tmp_path), seed=1))["dog"]
    (tmp_path / "dog" / "0.wav").rename(tmp_path / "dog" / "z.wav")
    renamed = as_plain(cut(Bank.open(tmp_path)))["dog"]
    assert [piece[1:] for piece in renamed] == [piece[1:] for piece in more["dog"]]


@pytest.mark.parametrize("measure", levels.MEASURES)
def test_the_level_is_that_of_the_faded_slice(tmp_path, measure):
    put(tmp_path, "dog/a.wav", noise(1.2), quiet(0.1))
    (one,) = cut(Bank.open(tmp_path), measure=measure, fade_s=0.1).slices["dog"]
    assert one.fade == 1600
    sound = decoded(one.source, RATE).samples[one.start : one.start + one.length].astype(np.float64)
    ramp = np.arange(1, 1601) / 1601
    sound[:1600] *= ramp
    sound[-1600:] *= ramp[::-1]
    assert one.level_db == pytest.approx(levels.level_db(sound, RATE, measure), abs=1e-9)


def test_stereo_is_mixed_down_and_other_rates_are_converted(tmp_path):
    both = np.stack([noise(2, 1, rate_hz=44_100), noise(2, 2, rate_hz=44_100)])
    put(tmp_path, "dog/stereo.wav", both, rate_hz=44_100)
    found = cut(Bank.open(tmp_path)).slices["dog"]
    check_pieces(found)
    assert found[0].length <= 2 * RATE


def test_what_nobody_could_hear_is_refused_by_name_and_counted(tmp_path, caplog):
    put(tmp_path, "dog/good.wav", noise(2))
    put(tmp_path, "dog/silent.wav", quiet(2))
    put(tmp_path, "dog/cancels.wav", np.stack([noise(2), -noise(2)]))
    put(tmp_path, "dog/50ms.wav", noise(0.05))
    put(tmp_path, "dog/10ms.wav", noise(0.01))
    (tmp_path / "dog" / "text.wav").write_text("no sound")
    put(tmp_path, "dog/bursts.wav", *[noise(0.5), quiet(5)] * 3, noise(0.1))
    found = cut(Bank.open(tmp_path))
    assert {piece.source.name for piece in found.slices["dog"]} == {"dog/good.wav"}
    assert found.left_out["dog"] == {
        "silent": 1,
        "cancelled in the downmix": 1,
        "shorter than 1 s": 2,
        "not decodable": 1,
        "in bursts too short and too far apart": 1,
    }
    assert set(found.refused) == {"dog/silent.wav", "dog/cancels.wav", "dog/text.wav"}
    assert "silent" in found.refused["dog/silent.wav"]
    assert "cancel" in found.refused["dog/cancels.wav"]
    assert all(name in caplog.text for name in found.refused)


def test_the_same_sound_twice_in_a_label_counts_once(tmp_path):
    for name in ("dog/a.wav", "dog/copy.wav", "wolf/a.wav"):
        put(tmp_path, name, noise(2))
    found = cut(Bank.open(tmp_path))
    assert [piece.source.name for piece in found.slices["dog"]] == ["dog/a.wav"] * len(found.slices["dog"])
    assert found.left_out == {"dog": {"the same sound as another clip": 1}}
    assert len(found.slices["wolf"]) == len(found.slices["dog"])


def test_labels_without_a_slice_are_named_with_the_counts(tmp_path):
    put(tmp_path, "dog/a.wav", noise(2))
    put(tmp_path, "bus/a.wav", noise(0.3))
    put(tmp_path, "bus/b.wav", quiet(3))
    put(tmp_path, "cat/a.wav", noise(0.4))
    with pytest.raises(InputFaults) as raised:
        cut(Bank.open(tmp_path))
    assert len(raised.value.faults) == 2
    assert "'bus' gives no slice (" in raised.value.faults[0]
    assert "1 shorter than 1 s" in raised.value.faults[0]
    assert "1 silent" in raised.value.faults[0]
    assert list(cut(Bank.open(tmp_path), leave_out_empty=True).slices) == ["dog"]


def test_progress_reaches_the_end_once(tmp_path):
    for number in range(5):
        put(tmp_path, f"dog/{number}.wav", noise(2, number))
    seen = []
    cut(Bank.open(tmp_path), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(done, 5) for done in range(1, 6)]


@pytest.mark.parametrize(
    "wrong",
    [{"shortest_s": 2, "longest_s": 1}, {"shortest_s": 0}, {"fade_s": 0.6}, {"fade_s": -1}, {"measure": "x"}],
)
def test_impossible_settings_are_refused(tmp_path, wrong):
    put(tmp_path, "dog/a.wav", noise(2))
    with pytest.raises(ValueError):
        cut(Bank.open(tmp_path), **wrong)


def test_computed_sounds_can_be_cut():
    found = cut(Bank.builtin(per_class=2)).slices
    for pieces in found.values():
        check_pieces(pieces)


def test_the_shared_clips_give_slices_of_every_class(shared_data):
    whole = Bank.open(shared_data / "clips")
    found = cut(whole, leave_out_empty=True)
    assert len(found.slices) > 40
    for pieces in found.slices.values():
        check_pieces(pieces)
    for label, sources in whole.sources.items():
        gave = len({piece.source.name for piece in found.slices.get(label, ())})
        assert gave + sum(found.left_out.get(label, {}).values()) == len(sources)
    lengths = [piece.length / RATE for pieces in found.slices.values() for piece in pieces]
    assert {int(seconds) for seconds in lengths} >= {1, 2, 3, 4}


def test_a_slice_keeps_its_longest_pause(tmp_path):
    soft = noise(0.7, 3, gain=0.012)  # 28 dB below the peak: audible, and yet a pause
    put(tmp_path, "dog/a.wav", noise(0.5, 1), quiet(0.3), noise(0.5, 2), soft, noise(0.5, 4))
    put(tmp_path, "cat/a.wav", noise(2, 5))
    found = cut(Bank.open(tmp_path), longest_s=3, seed=1).slices
    assert max(piece.pause for piece in found["cat"]) < 0.01 * RATE
    assert slices.longest_pause(np.concatenate([noise(0.5, 1), quiet(0.3), soft])) == pytest.approx(
        RATE, abs=200
    )
    for one in found["dog"]:
        sound = decoded(one.source, RATE).samples[one.start : one.start + one.length]
        runs = np.split(sound, np.flatnonzero(np.abs(sound) > np.abs(sound).max() * 10 ** (-26 / 20)))
        assert one.pause == max(len(runs[0]), *(len(run) - 1 for run in runs[1:]))
    assert max(piece.pause for piece in found["dog"]) > 0.25 * RATE


def test_ramps_are_straight_and_meet_in_the_middle():
    assert slices.ramps(6, 3).tolist() == [0.25, 0.5, 0.75, 0.75, 0.5, 0.25]
    assert slices.ramps(3, 0).tolist() == [1, 1, 1]
