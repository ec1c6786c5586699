"""How loud a heard event is: frames covered in part, backgrounds, other sounds, and a real waveform."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness.events import Event
from earwitness.scores.frame_levels import FrameLevels, Levels, TrueLevels

NONE = -math.inf
RATE_HZ = 16000


def dog(onset_s: float, offset_s: float) -> Event:
    return Event("dog", onset_s, offset_s)


def frames_of(samples: NDArray[np.float64], frame_s: float = 0.02) -> FrameLevels:
    """Levels of a waveform (n,) at 16 kHz."""
    frames = samples.reshape(-1, round(frame_s * RATE_HZ))
    with np.errstate(divide="ignore"):
        return FrameLevels(frame_s, 10 * np.log10((frames**2).mean(axis=1)))


def test_pauses_and_generous_edges_do_not_lower_a_level() -> None:
    # event  .########.   sound -20 dBFS with a pause, digital silence around
    levels = FrameLevels(0.1, [NONE, NONE, -20, -20, NONE, -20, NONE, NONE, NONE, NONE])
    assert levels.level_db(dog(0.1, 0.9), []) == pytest.approx(-20.0)


def test_a_soft_tail_does_not_lower_a_level() -> None:
    levels = FrameLevels(0.1, [NONE, -20.0, -20.0, -45.0, -50.0, -60.0, NONE])
    assert levels.level_db(dog(0.1, 0.6), []) == pytest.approx(-20.0)


def test_the_background_is_taken_off() -> None:
    # a sound of -20 dBFS on a floor of -24 dBFS
    both = 10 * math.log10(10**-2.0 + 10**-2.4)
    levels = FrameLevels(0.1, [-24.0] * 10 + [both] * 5 + [-24.0] * 10)
    assert levels.level_db(dog(1.0, 1.5), []) == pytest.approx(-20.0)


def test_loud_sounds_nearby_and_far_silence_are_no_background() -> None:
    # Some frames near the event are louder than it (not heard as events); a quiet stretch lies 3 s away.
    levels = FrameLevels(0.1, [-90.0] * 10 + [-10.0] * 15 + [-30.0] * 15 + [-20.0] * 5 + [-30.0] * 5)
    power = 10**-2.0 - 10**-3.0
    assert levels.level_db(dog(4.0, 4.5), []) == pytest.approx(10 * math.log10(power))


def test_other_events_are_no_background() -> None:
    levels = FrameLevels(0.1, [-15.0] * 10 + [-20.0] * 5 + [-15.0] * 10)
    horns = [Event("horn", 0.0, 1.0), Event("horn", 1.5, 2.5)]
    assert levels.level_db(dog(1.0, 1.5), horns) == pytest.approx(-20.0)
    assert levels.level_db(dog(1.0, 1.5), []) is None  # below what is around it


def test_without_a_free_frame_near_nothing_is_taken_off() -> None:
    assert FrameLevels(0.1, [-20.0] * 10).level_db(dog(0.0, 1.0), []) == pytest.approx(-20.0)


def test_only_frames_free_of_others_count() -> None:
    levels = FrameLevels(0.1, [-20.0] * 4 + [-5.0] * 6 + [NONE] * 10)
    horn = Event("horn", 0.4, 1.0)
    assert levels.level_db(dog(0.0, 1.0), [horn]) == pytest.approx(-20.0)


@pytest.mark.parametrize(("horn_from_s", "measurable"), [(0.2, True), (0.1, False), (0.0, False)])
def test_less_than_two_tenths_of_a_second_free_is_not_measurable(
    horn_from_s: float, measurable: bool
) -> None:
    levels = FrameLevels(0.1, [-20.0] * 10 + [NONE] * 10)
    found = levels.level_db(dog(0.0, 1.0), [Event("horn", horn_from_s, 1.0)])
    assert (found is not None) == measurable


def test_a_short_event_on_its_own_is_measurable() -> None:
    assert FrameLevels(0.1, [NONE, -20.0, NONE]).level_db(dog(0.1, 0.2), []) == pytest.approx(-20.0)


def test_digital_silence_has_no_level_and_no_energy() -> None:
    silent = FrameLevels(0.1, [NONE] * 10)
    assert silent.level_db(dog(0.0, 1.0), []) is None
    assert silent.energy_db(dog(0.0, 1.0)) is None


def test_an_event_after_the_last_frame_has_no_level() -> None:
    assert FrameLevels(0.1, [-20.0] * 5).level_db(dog(0.6, 0.9), []) is None


def test_frames_covered_in_part_count_with_their_share() -> None:
    levels = FrameLevels(1.0, [-10.0, -20.0])
    energy = 0.25 * 10**-1.0 + 0.5 * 10**-2.0
    assert levels.energy_db(dog(0.75, 1.5)) == pytest.approx(10 * math.log10(energy))
    mean = 10 * math.log10(energy / 0.75)
    assert levels.level_db(dog(0.75, 1.5), []) == pytest.approx(mean)


def test_energy_is_the_l2_norm_of_the_samples() -> None:
    samples = np.random.default_rng(0).normal(0, 0.1, RATE_HZ)
    within = samples[3200:9600]
    expected = 20 * math.log10(float(np.linalg.norm(within)) / math.sqrt(RATE_HZ))
    assert frames_of(samples).energy_db(dog(0.2, 0.6)) == pytest.approx(expected)


def test_energy_grows_with_duration_and_level_does_not() -> None:
    levels = FrameLevels(0.5, [-20.0] * 20)
    short, long = dog(0.0, 2.0), dog(3.0, 8.0)
    assert levels.energy_db(long) - levels.energy_db(short) == pytest.approx(10 * math.log10(2.5))  # type: ignore[operator]
    assert levels.level_db(long, []) == levels.level_db(short, [])


@pytest.mark.parametrize("noise_db", [None, -70.0, -50.0])
@pytest.mark.parametrize("ratio", [1.0, 2.0, 3.5, 7.0])
def test_a_near_and_a_far_copy_differ_by_their_distances(ratio: float, noise_db: float | None) -> None:
    """A decaying sound with pauses, heard with onsets and offsets half a second too generous."""
    rng = np.random.default_rng(1)
    t = np.arange(RATE_HZ) / RATE_HZ
    bark = rng.normal(0, 0.2, RATE_HZ) * np.exp(-6 * (t % 0.5)) * (t % 0.5 < 0.3)
    clip = np.zeros(10 * RATE_HZ)
    clip[2 * RATE_HZ : 3 * RATE_HZ] += bark
    clip[6 * RATE_HZ + 77 : 7 * RATE_HZ + 77] += bark / ratio
    if noise_db is not None:
        clip += rng.normal(0, 10 ** (noise_db / 20), len(clip))
    levels = frames_of(clip)
    near, far = dog(1.6, 3.3), dog(5.7, 7.5)
    one, other = levels.level_db(near, [far]), levels.level_db(far, [near])
    assert one is not None
    assert other is not None
    assert one - other == pytest.approx(20 * math.log10(ratio), abs=0.5)


@given(st.lists(st.floats(-80, 0), min_size=5, max_size=40), st.floats(-30, 30), st.integers(0, 3))
def test_a_gain_on_the_clip_moves_every_level_by_it(dbfs: list[float], gain_db: float, at: int) -> None:
    event, others = dog(0.1 * at, 0.1 * at + 0.3), [Event("horn", 0.5, 0.7)]
    before, after = (FrameLevels(0.1, np.array(dbfs) + g) for g in (0.0, gain_db))
    one, other = before.level_db(event, others), after.level_db(event, others)
    assert (one is None) == (other is None)
    if one is not None:
        assert other == pytest.approx(one + gain_db, abs=1e-6)
    assert after.energy_db(event) == pytest.approx((before.energy_db(event) or 0.0) + gain_db, abs=1e-6)


def test_true_levels_are_those_of_the_scene() -> None:
    levels: Levels = TrueLevels({("dog", 1.0): -20.0, ("dog", 4.0): -34.0})
    assert levels.level_db(dog(1.0000001, 2.0), []) == -20.0
    assert levels.energy_db(dog(4.0, 6.0)) == pytest.approx(-34.0 + 10 * math.log10(2.0))
    with pytest.raises(ValueError, match=r"no level is known of 'cat' at 1\.0 s"):
        levels.level_db(Event("cat", 1.0, 2.0), [])


@pytest.mark.parametrize(
    ("frame_s", "dbfs", "told"),
    [
        (0.0, [-20.0], "longer than 0 s"),
        (math.nan, [-20.0], "longer than 0 s"),
        (0.1, [math.nan], "numbers or -inf"),
        (0.1, [math.inf], "numbers or -inf"),
        (0.1, [[-20.0]], "one row"),
    ],
)
def test_what_is_no_row_of_frames_is_refused(frame_s: float, dbfs: list[float], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        FrameLevels(frame_s, dbfs)
