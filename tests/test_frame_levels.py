"""How loud a heard event is: frames covered in part, backgrounds, other sounds, and a real waveform."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness import audio
from earwitness.events import Event
from earwitness.listeners import levels as levels_heard
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


def measured(samples: NDArray[np.float64]) -> FrameLevels:
    """Levels of a waveform (n,) at 16 kHz as a listener measures them."""
    reply = levels_heard.measured(audio.Clip(samples[np.newaxis].astype(np.float32), RATE_HZ, ""))
    return FrameLevels(reply["frame_s"], [NONE if db is None else db for db in reply["dbfs"]])


def level(levels: FrameLevels, event: Event, *others: Event) -> float:
    found = levels.level_db(event, others)
    assert found is not None
    return found


def test_pauses_and_generous_edges_do_not_lower_a_level() -> None:
    # event  .########.   sound -20 dBFS with a pause, digital silence around
    levels = FrameLevels(0.2, [NONE, NONE, -20, -20, NONE, -20, NONE, NONE, NONE, NONE])
    assert levels.level_db(dog(0.2, 1.8), []) == pytest.approx(-20.0)


def test_a_soft_tail_hardly_lowers_a_level() -> None:
    levels = FrameLevels(0.2, [NONE, -20.0, -20.0, -45.0, -50.0, -60.0, NONE])
    assert levels.level_db(dog(0.2, 1.2), []) == pytest.approx(-20.0, abs=0.02)


def test_the_louder_part_of_a_sound_weighs_more() -> None:
    levels = FrameLevels(0.2, [NONE, -10.0, -20.0, -20.0, NONE])
    mean = (0.1**2 + 2 * 0.01**2) / (0.1 + 2 * 0.01)
    assert levels.level_db(dog(0.2, 0.8), []) == pytest.approx(10 * math.log10(mean))


def test_the_background_is_taken_off() -> None:
    # a sound of -20 dBFS on a floor of -24 dBFS
    both = 10 * math.log10(10**-2.0 + 10**-2.4)
    levels = FrameLevels(0.2, [-24.0] * 10 + [both] * 5 + [-24.0] * 10)
    assert levels.level_db(dog(2.0, 3.0), []) == pytest.approx(-20.0)


def test_loud_sounds_nearby_and_far_silence_are_no_background() -> None:
    # Some frames near the event are louder than it (not heard as events); a quiet stretch lies 3 s away.
    levels = FrameLevels(0.25, [-90.0] * 4 + [-10.0] * 6 + [-30.0] * 6 + [-20.0] * 2 + [-30.0] * 2)
    power = 10**-2.0 - 10**-3.0
    assert levels.level_db(dog(4.0, 4.5), []) == pytest.approx(10 * math.log10(power))


def test_other_events_are_no_background() -> None:
    levels = FrameLevels(0.1, [-15.0] * 10 + [-20.0] * 5 + [-15.0] * 10)
    horns = [Event("horn", 0.0, 1.0), Event("horn", 1.5, 2.5)]
    assert level(levels, dog(1.0, 1.5), *horns) == pytest.approx(-20.0)
    assert levels.level_db(dog(1.0, 1.5), []) is None  # below what is around it


def test_without_a_free_frame_near_nothing_is_taken_off() -> None:
    assert FrameLevels(0.2, [-20.0] * 5).level_db(dog(0.0, 1.0), []) == pytest.approx(-20.0)


def test_only_frames_free_of_others_count() -> None:
    """A steady sound that another covers in part has the level of what is free, edge and all."""
    levels = FrameLevels(0.01, [NONE] * 100 + [-20.0] * 40 + [-5.0] * 60)
    horn = Event("horn", 1.4, 2.0)
    whole = FrameLevels(0.01, [NONE] * 100 + [-20.0] * 100)
    assert level(levels, dog(1.0, 2.0), horn) == pytest.approx(level(whole, dog(1.0, 2.0)), abs=0.5)
    assert level(levels, dog(1.2, 2.0), horn, dog(1.0, 1.2)) == pytest.approx(-20.0)


@pytest.mark.parametrize(("horn_from_s", "measurable"), [(0.2, True), (0.1, False), (0.0, False)])
def test_less_than_two_tenths_of_a_second_free_is_not_measurable(
    horn_from_s: float, measurable: bool
) -> None:
    levels = FrameLevels(0.1, [-20.0] * 10 + [NONE] * 10)
    found = levels.level_db(dog(0.0, 1.0), [Event("horn", horn_from_s, 1.0)])
    assert (found is not None) == measurable


def test_a_short_event_on_its_own_is_measurable() -> None:
    assert FrameLevels(0.1, [NONE, -20.0, NONE]).level_db(dog(0.1, 0.2), []) is not None


def test_digital_silence_has_no_level_and_no_energy() -> None:
    silent = FrameLevels(0.1, [NONE] * 10)
    assert silent.level_db(dog(0.0, 1.0), []) is None
    assert silent.energy_db(dog(0.0, 1.0)) is None


def test_an_event_after_the_last_frame_has_no_level() -> None:
    assert FrameLevels(0.1, [-20.0] * 5).level_db(dog(0.6, 0.9), []) is None


def test_a_frame_covered_in_part_gives_its_share_of_energy() -> None:
    levels = FrameLevels(1.0, [-10.0, -20.0])
    energy = 0.25 * 10**-1.0 + 0.5 * 10**-2.0
    assert levels.energy_db(dog(0.75, 1.5)) == pytest.approx(10 * math.log10(energy))


def hits(rng: np.random.Generator) -> NDArray[np.float64]:
    """Four like hits of 30 ms, 0.35 s apart: their period is a whole number of frames."""
    n = round(0.03 * RATE_HZ)
    sound = np.zeros(round(1.08 * RATE_HZ))
    hit = rng.normal(0, 0.2, n) * np.exp(-np.arange(n) / 160)
    for start in range(0, 4 * 5600, 5600):
        sound[start : start + n] = hit
    return sound


def barks(rng: np.random.Generator) -> NDArray[np.float64]:
    t = np.arange(round(1.5 * RATE_HZ)) / RATE_HZ
    return rng.normal(0, 0.2, len(t)) * np.exp(-8 * (t % 0.6)) * (t % 0.6 < 0.3)


def click_and_echo(rng: np.random.Generator) -> NDArray[np.float64]:
    """A click of 10 ms and, just before the sound ends, the same 34 dB below."""
    sound = np.zeros(RATE_HZ)
    sound[:160] = rng.normal(0, 0.2, 160) * np.exp(-np.arange(160) / 40)
    sound[-200:-40] = sound[:160] / 50
    return sound


def tone(rng: np.random.Generator) -> NDArray[np.float64]:
    return 0.2 * np.sin(2 * np.pi * (440 * np.arange(round(1.3 * RATE_HZ)) / RATE_HZ + rng.uniform()))


@pytest.mark.parametrize("sound", [hits, barks, click_and_echo, tone])
@pytest.mark.parametrize(("ratio", "wide_s"), [(1.0, 0.0), (1.5, 0.0), (7.0, 0.0), (1.0, 0.3)])
def test_copies_differ_by_their_gain_wherever_they_lie(
    sound: Callable[[np.random.Generator], NDArray[np.float64]], ratio: float, wide_s: float
) -> None:
    """The same samples twice in silence, at 50 offsets from the frames, with true and generous extents."""
    rng = np.random.default_rng(3)
    for _ in range(50):
        one = sound(rng)
        clip = np.zeros(8 * RATE_HZ)
        starts = [int(rng.integers(RATE_HZ, 2 * RATE_HZ)), int(rng.integers(4 * RATE_HZ, 6 * RATE_HZ))]
        for start, gain in zip(starts, (1.0, 1 / ratio), strict=True):
            clip[start : start + len(one)] += gain * one
        levels = measured(clip)
        near, far = (dog(at / RATE_HZ - wide_s, (at + len(one)) / RATE_HZ + wide_s) for at in starts)
        difference = level(levels, near, far) - level(levels, far, near)
        assert difference == pytest.approx(20 * math.log10(ratio), abs=0.1)


@pytest.mark.parametrize("noise_db", [-60.0, -50.0, -45.0])
@pytest.mark.parametrize("sound", [hits, barks, tone])
def test_a_far_copy_is_weighed_as_a_near_one_above_a_background(
    sound: Callable[[np.random.Generator], NDArray[np.float64]], noise_db: float
) -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        one = sound(rng)
        clip = rng.normal(0, 10 ** (noise_db / 20), 8 * RATE_HZ)
        starts = [int(rng.integers(RATE_HZ, 2 * RATE_HZ)), int(rng.integers(4 * RATE_HZ, 6 * RATE_HZ))]
        clip[starts[0] : starts[0] + len(one)] += one
        clip[starts[1] : starts[1] + len(one)] += one / 3
        levels = measured(clip)
        near, far = (dog(at / RATE_HZ - 0.3, (at + len(one)) / RATE_HZ + 0.3) for at in starts)
        difference = level(levels, near, far) - level(levels, far, near)
        assert difference == pytest.approx(20 * math.log10(3), abs=0.5)


def test_a_sound_that_nobody_heard_is_no_background() -> None:
    """Two equal copies, and between them a sound as loud that is no event, through most of the pause."""
    clip = np.zeros(8 * RATE_HZ)
    one = barks(np.random.default_rng(5))
    for start in (RATE_HZ, 5 * RATE_HZ):
        clip[start : start + len(one)] += one
    clip[3 * RATE_HZ : 4 * RATE_HZ + 8000] = np.random.default_rng(6).normal(0, 0.1, 24_000)
    levels = measured(clip)
    first, second = dog(1.0, 2.5), dog(5.0, 6.5)
    assert level(levels, first, second) == pytest.approx(level(levels, second, first), abs=0.1)


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


@pytest.mark.parametrize("gain_db", np.linspace(-30, 30, 97))
def test_an_event_as_loud_as_its_background_has_no_level(gain_db: float) -> None:
    steady = FrameLevels(0.1, np.full(20, gain_db))
    assert steady.level_db(dog(0.3, 0.9), []) is None
    assert steady.level_db(dog(0.3, 0.9), [Event("horn", 1.0, 1.2)]) is None


@given(st.lists(st.floats(-80, 0), min_size=5, max_size=40), st.floats(-30, 30), st.integers(0, 3))
@example([0.0] * 5, 1.5625, 0)  # steady: nothing rises above the background, whatever the gain
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
