"""Every arrangement of sounds is equally likely; what cannot fit is refused with the numbers."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from earwitness import audio
from earwitness.errors import UserError
from earwitness.scenes import levels, placing
from earwitness.scenes.bank import Bank, Source
from earwitness.scenes.render import render, settled
from earwitness.scenes.scene import Scene
from earwitness.scenes.slices import Slice

RATE = 16_000


def piece(length, name="a.wav"):
    return Slice(Source("dog", "r1", name=name), "abc", 30, length, -31.5, 160, 0)


def evenly(drawn, possible, draws):
    """No count is further from the mean than five standard deviations."""
    counts = Counter(drawn)
    assert set(counts) == set(possible)
    mean = draws / len(possible)
    assert max(abs(count - mean) for count in counts.values()) < 5 * mean**0.5


def test_a_slice_is_placed_with_its_level_after_the_gain():
    found = placing.placed("barking", piece(20_000), 400, -6.5, 5.0)
    assert (found.label, found.name, found.recording_id, found.source) == ("barking", "a.wav", "r1", "abc")
    assert (found.start, found.onset, found.length, found.fade) == (30, 400, 20_000, 160)
    assert (found.gain_db, found.level_db, found.distance_m) == (-6.5, -38.0, 5.0)


@given(
    st.lists(st.integers(1, 50), min_size=1, max_size=5),
    st.integers(0, 20),
    st.integers(0, 200),
    st.integers(0, 2**32),
)
def test_sounds_lie_apart_in_the_order_given(lengths, gap, spare, seed):
    total = sum(lengths) + gap * (len(lengths) - 1) + spare
    onsets = placing.apart(np.random.default_rng(seed), lengths, total, gap)
    ends = [onset + length for onset, length in zip(onsets, lengths, strict=True)]
    assert onsets[0] >= 0
    assert ends[-1] <= total
    for end, onset in zip(ends[:-1], onsets[1:], strict=True):
        assert onset - end >= gap


def test_every_arrangement_is_equally_likely():
    lengths, gap, total = [2, 1, 3], 1, 12
    possible = [
        (a, b, c)
        for a, b, c in product(range(total), repeat=3)
        if b >= a + 2 + gap and c >= b + 1 + gap and c + 3 <= total
    ]
    assert len(possible) == 35
    rng = np.random.default_rng(0)
    evenly((tuple(placing.apart(rng, lengths, total, gap)) for _ in range(35_000)), possible, 35_000)


def test_a_free_sound_may_lie_anywhere():
    rng = np.random.default_rng(1)
    evenly((placing.free(rng, 4, 12) for _ in range(18_000)), range(9), 18_000)
    assert placing.free(rng, 7, 7) == 0


def test_every_fitting_choice_is_equally_likely():
    pools = [
        [piece(n, f"{i}/{n}") for n in lengths] for i, lengths in enumerate(([1, 4, 9], [2, 3, 8], [1, 2]))
    ]
    possible = [
        tuple(p.source.name for p in chosen)
        for chosen in product(*pools)
        if sum(p.length for p in chosen) <= 10
    ]
    assert 4 < len(possible) < 18
    rng = np.random.default_rng(2)
    drawn = (tuple(p.source.name for p in placing.fitting(rng, pools, 14, 2)) for _ in range(9_000))
    evenly(drawn, possible, 9_000)


def test_the_same_seed_draws_the_same():
    def draw(seed):
        rng = np.random.default_rng(seed)
        return placing.apart(rng, [5, 5], 1000, 10), placing.free(rng, 5, 1000)

    assert draw(4) == draw(4)
    assert draw(4) != draw(5)


def test_what_cannot_fit_is_refused_with_the_numbers():
    rng = np.random.default_rng(0)
    long, longer = round(4.1 * RATE), 5 * RATE
    with pytest.raises(UserError) as raised:
        placing.apart(rng, [long, longer], 10 * RATE, RATE, rate_hz=RATE)
    assert raised.value.message == "2 sounds of 4.1 and 5.0 s with gaps of 1.0 s do not fit into 10.0 s."
    with pytest.raises(UserError, match=r"1 sound of 11\.0 s does not fit into 10\.0 s"):
        placing.free(rng, 11 * RATE, 10 * RATE, RATE)
    with pytest.raises(UserError, match=r"^Even the shortest: 2 sounds of 4\.1 and 5\.0 s with gaps"):
        placing.fitting(rng, [[piece(long), piece(longer)], [piece(longer)]], 10 * RATE, RATE, RATE)
    with pytest.raises(UserError, match="2 sounds of 3 and 3 samples do not fit into 5 samples"):
        placing.apart(rng, [3, 3], 5, 0)
    with pytest.raises(ValueError, match="empty"):
        placing.fitting(rng, [[piece(1)], []], 10, 0)


def test_a_draw_that_rarely_fits_still_ends():
    pools = [[piece(99) for _ in range(300)] + [piece(1)]] * 2
    chosen = placing.fitting(np.random.default_rng(0), pools, 100, 0)
    assert sum(one.length for one in chosen) <= 100


@pytest.mark.parametrize("measure", levels.MEASURES)
@pytest.mark.parametrize("seconds", [1.3, 14])
def test_an_ambience_has_the_level_asked_for(tmp_path, measure, seconds):
    rng = np.random.default_rng(0)
    (tmp_path / "rain").mkdir()
    noise = 0.2 * rng.standard_normal(round(seconds * 44_100)).clip(-3, 3)
    audio.write_wav(tmp_path / "rain" / "a.wav", noise[np.newaxis].astype(np.float32), 44_100)
    rain = Bank.open(tmp_path)
    under = placing.ambience(rain.of("rain")[0], 10 * RATE, -35.0, rate_hz=RATE, measure=measure)
    assert (under.label, under.onset, under.length, under.level_db) == ("rain", 0, 10 * RATE, -35.0)
    scene = settled(Scene("s", "ritta", RATE, 10 * RATE, measure, 0.0, (), "", 0, ambience=under), rain)
    heard = render(scene, rain).mix
    assert levels.level_db(heard, RATE, measure) == pytest.approx(-35.0, abs=0.01)


def test_a_silent_ambience_is_refused_by_name(tmp_path):
    (tmp_path / "rain").mkdir()
    audio.write_wav(tmp_path / "rain" / "none.wav", np.zeros((1, RATE), np.float32), RATE)
    with pytest.raises(UserError, match=r"none\.wav is no ambience: silence"):
        placing.ambience(Bank.open(tmp_path).of("rain")[0], RATE, -35.0, rate_hz=RATE, measure="lufs")
