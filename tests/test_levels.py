"""Levels agree with BS.1770 and with pyloudnorm, exist for clicks, follow every gain, and refuse silence."""

import os
import subprocess
import sys

import numpy as np
import pyloudnorm
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from earwitness.scenes import levels

RATE = 16_000


def sine(seconds, hz=997.0, rate_hz=RATE, gain=1.0):
    return gain * np.sin(2 * np.pi * hz * np.arange(round(seconds * rate_hz)) / rate_hz)


def click(seconds=0.1, seed=0):
    rng = np.random.default_rng(seed)
    n = round(seconds * RATE)
    return (rng.standard_normal(n) * np.exp(-np.arange(n) / (0.02 * RATE))).astype(np.float32)


def test_a_full_scale_sine_reads_as_the_standard_says():
    assert levels.level_db(sine(5, rate_hz=48_000), 48_000, "lufs") == pytest.approx(-3.01, abs=0.01)
    assert levels.level_db(sine(5, rate_hz=44_100), 44_100, "lufs") == pytest.approx(-3.01, abs=0.01)
    assert levels.level_db(sine(5), RATE, "lufs") == pytest.approx(-3.01, abs=0.05)
    assert levels.level_db(sine(5), RATE, "rms") == pytest.approx(-3.0103, abs=1e-3)
    assert levels.level_db(sine(5, gain=0.1), RATE, "lufs") == pytest.approx(-23.01, abs=0.05)


@pytest.mark.parametrize("rate_hz", [4_000, 11_025, RATE, 44_100, 48_000])
@pytest.mark.parametrize("seconds", [0.4, 0.449, 0.4501, 1.237, 3])
def test_lufs_is_pyloudnorms_where_that_can_measure(seconds, rate_hz):
    rng = np.random.default_rng(3)
    n = -int(-seconds * rate_hz // 1)
    sound = rng.standard_normal(n) * np.linspace(0, 1, n)
    sound /= np.abs(sound).max()
    theirs = pyloudnorm.Meter(rate_hz, filter_class="DeMan").integrated_loudness(sound)
    assert levels.level_db(sound, rate_hz, "lufs") == pytest.approx(theirs, abs=1e-9)


def test_a_level_has_the_same_bits_however_many_threads_there_are():
    """A dot product over more than 10,000 samples is split among the threads of OpenBLAS."""
    code = """
import numpy as np
from earwitness.scenes import levels
for seed in range(6):
    sound = np.random.default_rng(seed).uniform(-1, 1, [15_000, 70_000][seed % 2])
    print(*(levels.level_db(sound, 44_100, measure).hex() for measure in levels.MEASURES))
"""
    threads = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=os.environ | dict.fromkeys(threads, count),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for count in ("1", "2")
    ]
    assert len(printed[0].split()) == 12
    assert printed[0] == printed[1]


@pytest.mark.parametrize("measure", levels.MEASURES)
def test_a_100_ms_click_has_a_level(measure):
    with pytest.raises(ValueError, match="greater than the block size"):
        pyloudnorm.Meter(RATE).integrated_loudness(click())
    assert -60 < levels.level_db(click(), RATE, measure) < 0
    assert levels.level_db(np.array([0.5], np.float32), RATE, measure) < 0


def test_the_rule_for_short_events_joins_the_rule_for_long_ones():
    short, long = (levels.level_db(sine(s, 300), RATE, "lufs") for s in (0.399, 0.4))
    assert short == pytest.approx(long, abs=0.01)
    assert levels.level_db(sine(0.1, 2000), RATE, "lufs") == pytest.approx(
        levels.level_db(sine(5, 2000), RATE, "lufs"), abs=0.05
    )


@pytest.mark.parametrize("measure", levels.MEASURES)
@settings(max_examples=40, deadline=None)
@given(gain_db=st.floats(-120, 40), seconds=st.sampled_from([0.05, 0.39, 0.4, 1.3]), seed=st.integers(0, 9))
def test_a_gain_moves_the_level_by_itself(measure, gain_db, seconds, seed):
    """Also far below the gate of -70 LUFS: how quietly a clip was recorded must not matter."""
    sound = click(seconds, seed).astype(np.float64)
    before = levels.level_db(sound, RATE, measure)
    after = levels.level_db(sound * 10 ** (gain_db / 20), RATE, measure)
    assert after - before == pytest.approx(gain_db, abs=1e-6)


def test_low_rumble_counts_less_in_lufs_than_in_rms():
    low, mid = sine(2, 40), sine(2, 1000)
    assert levels.level_db(low, RATE, "rms") == pytest.approx(levels.level_db(mid, RATE, "rms"), abs=0.01)
    assert levels.level_db(low, RATE, "lufs") < levels.level_db(mid, RATE, "lufs") - 5


@pytest.mark.parametrize("measure", levels.MEASURES)
def test_what_has_no_level_is_refused(measure):
    for sound, match in (
        (np.zeros(RATE), "silence"),
        (np.zeros(0), "silence"),
        (np.array([0.1, np.nan]), "finite"),
        (np.array([0.1, np.inf]), "finite"),
    ):
        with pytest.raises(ValueError, match=match):
            levels.level_db(sound, RATE, measure)


def test_a_sound_below_hearing_and_an_unknown_measure_are_refused():
    drift = np.cos(np.pi * np.linspace(0, 1, 60 * RATE))  # one half turn in a minute
    faded = drift * np.sin(np.pi * np.linspace(0, 1, 60 * RATE)) ** 2
    with pytest.raises(ValueError, match="gate"):
        levels.level_db(faded, RATE, "lufs")
    with pytest.raises(ValueError, match="lufs, rms"):
        levels.level_db(drift, RATE, "peak")


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 999),
    rate_hz=st.sampled_from([8_000, 16_000, 22_050, 44_100, 48_000]),
    seconds=st.floats(0.4, 6.0),
    pauses=st.booleans(),
)
def test_blocks_and_gates_are_pyloudnorms(seed, rate_hz, seconds, pauses):
    samples = np.random.default_rng(seed).normal(0, 0.1, int(np.ceil(seconds * rate_hz)))
    if pauses:
        samples *= np.abs(np.sin(np.arange(len(samples)) / rate_hz * 2)) ** 8
    samples /= np.abs(samples).max()
    theirs = pyloudnorm.Meter(rate_hz, filter_class="DeMan").integrated_loudness(samples)
    assert levels.level_db(samples, rate_hz, "lufs") == pytest.approx(theirs, abs=1e-9)
