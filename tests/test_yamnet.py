"""The embedded listener: what it hears, and that padding, threads and batches change nothing."""

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from earwitness import labels
from earwitness.audio import Clip, pcm_hash
from earwitness.backbones.yamnet_features import RATE_HZ, log_mel, patches
from earwitness.errors import UserError
from earwitness.listeners.base import Call, Hearing, Unheard
from earwitness.listeners.yamnet import Model, Yamnet, labels_table
from earwitness.listeners.yamnet_events import Rules, Table, events
from earwitness.questions import QUESTIONS
from earwitness.scenes import synth

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "benchmarks"))
import mixtures
from order_mixtures import Tally, known_classes

Samples = NDArray[np.float32]
HOP_S = Rules().hop_s


@pytest.fixture(scope="session")
def ear() -> Yamnet:
    return Yamnet(workers=2)


def call(samples: NDArray[np.floating], name: str = "clip", rate_hz: int = RATE_HZ) -> Call:
    shaped = np.atleast_2d(np.asarray(samples, dtype=np.float32))
    return Call(name, (Clip(shaped, rate_hz, pcm_hash(shaped, rate_hz)),), QUESTIONS["events"])


def hear(ear: Yamnet, samples: NDArray[np.floating], rate_hz: int = RATE_HZ) -> list[dict[str, float]]:
    """The events of one clip, after the reply was checked as the runner checks it."""
    [(_, answer)] = ear.hear([call(samples, rate_hz=rate_hz)])
    assert isinstance(answer, Hearing), answer
    QUESTIONS["events"].reply.model_validate_json(json.dumps(answer.reply))
    return list(answer.reply["events"])


def noise(seed: int, seconds: float, peak: float = 0.5) -> Samples:
    return (np.random.default_rng(seed).uniform(-peak, peak, round(seconds * RATE_HZ))).astype(np.float32)


# Features


def test_features_are_those_of_the_stated_front_end() -> None:
    """Against a direct, frame by frame computation in double precision."""
    samples = noise(0, 1.3)
    mel = log_mel(samples, 24)
    padded = np.concatenate([np.zeros(7800), samples, np.zeros(16000)])
    window = np.hanning(401)[:400]
    edges = np.linspace(2595 * np.log10(1 + 125 / 700), 2595 * np.log10(1 + 7500 / 700), 66)
    bins = 2595 * np.log10(1 + np.arange(257) * 16000 / 512 / 700)
    for frame in (0, 40, 77, len(mel) - 1):
        spectrum = np.abs(np.fft.rfft(padded[160 * frame : 160 * frame + 400] * window, 512))
        bands = []
        for low, peak, high in zip(edges[:-2], edges[1:-1], edges[2:], strict=True):
            bands.append(
                spectrum
                @ np.clip(np.minimum((bins - low) / (peak - low), (high - bins) / (high - peak)), 0, None)
            )
        np.testing.assert_allclose(mel[frame], np.log(np.array(bands) + 0.001), atol=1e-4)


@given(samples=st.integers(400, 200_000), hop_frames=st.sampled_from([1, 12, 24, 48]))
@settings(max_examples=30, deadline=None)
def test_frame_grid_covers_clip(samples: int, hop_frames: int) -> None:
    count = len(patches(log_mel(np.zeros(samples, dtype=np.float32), hop_frames), hop_frames))
    last_s, duration_s = (count - 1) * hop_frames * 0.01, samples / RATE_HZ
    assert last_s <= duration_s < last_s + hop_frames * 0.01 + 1e-9


# Events and padding


@given(seed=st.integers(0, 1000), seconds=st.floats(0.025, 1.0), fade=st.sampled_from(["none", "in", "out"]))
@settings(max_examples=25, deadline=None)
def test_padding_yields_no_event(ear: Yamnet, seed: int, seconds: float, fade: str) -> None:
    samples = noise(seed, seconds, 0.9)
    ramp = np.linspace(0, 1, len(samples))
    samples = samples * {"none": 1, "in": ramp, "out": ramp[::-1]}[fade]
    for event in hear(ear, samples):
        assert 0 <= event["onset_s"] < event["offset_s"] <= len(samples) / RATE_HZ
        assert event["label"] != "Silence"


@pytest.mark.parametrize("seconds", [0.025, 0.05, 0.5, 3.0])
def test_digital_silence_holds_no_event(ear: Yamnet, seconds: float) -> None:
    assert hear(ear, np.zeros(round(seconds * RATE_HZ))) == []


@pytest.mark.parametrize("label", ["siren", "bird", "dog_bark"])
def test_no_event_begins_in_the_silence_after_a_sound(ear: Yamnet, label: str) -> None:
    """Zeros in the file are what zeros around it are: nothing is heard in them."""
    sound = synth.render(label, seed=3, duration_s=1.5)
    events = hear(ear, np.concatenate([np.zeros(RATE_HZ * 2), sound, np.zeros(RATE_HZ * 3)]))
    assert events
    for event in events:
        assert 1.9 <= event["onset_s"] < 3.5
        assert event["offset_s"] <= 3.6


@pytest.mark.parametrize("seconds", [0.025, 0.05, 0.3])
def test_50ms_clip_every_listener(ear: Yamnet, seconds: float) -> None:
    hear(ear, noise(1, seconds))


def test_a_sound_that_fills_the_clip_begins_and_ends_with_it(ear: Yamnet) -> None:
    sound = synth.render("siren", seed=2, duration_s=3.0)
    siren = [e for e in hear(ear, sound[: 2 * RATE_HZ]) if e["label"] == "Siren"]
    assert siren[0]["onset_s"] < 0.05
    assert siren[-1]["offset_s"] > 1.9


@pytest.mark.parametrize("name", ["siren", "baby_cry", "bird", "car_horn", "telephone"])
def test_onset_is_where_the_sound_begins(ear: Yamnet, name: str) -> None:
    samples = noise(5, 8.0, 0.001)
    samples[3 * RATE_HZ :][: 2 * RATE_HZ] += synth.render(name, seed=7, duration_s=2.0)
    asked = labels.heard_as(synth.CLASSES[name].labels)
    onsets = [e["onset_s"] for e in hear(ear, samples) if e["label"] in asked]
    assert onsets
    assert min(onsets) == pytest.approx(3.0, abs=0.1)


@pytest.mark.parametrize("gain_db", [-20.0, -9.0, 5.0])
def test_a_quieter_clip_is_heard_as_the_louder_one(ear: Yamnet, gain_db: float) -> None:
    samples = np.concatenate([synth.render(name, seed=1) for name in ("bird", "telephone")])
    plain, changed = (hear(ear, samples * gain) for gain in (1.0, 10 ** (gain_db / 20)))
    assert [e["label"] for e in plain] == [e["label"] for e in changed]
    for one, other in zip(plain, changed, strict=True):
        assert one["onset_s"] == pytest.approx(other["onset_s"], abs=0.011)


def test_stereo_and_other_rates_are_heard_alike(ear: Yamnet) -> None:
    import soxr

    sound = synth.render("siren", seed=4, duration_s=3.0)
    high = soxr.resample(sound, RATE_HZ, 44100)
    labels_of = [
        {e["label"] for e in hear(ear, s, r)} for s, r in ((sound, RATE_HZ), (np.stack([high, high]), 44100))
    ]
    assert "Siren" in labels_of[0] & labels_of[1]


# Rules, on logits made by hand: one second of sound from 2 s and from 6 s of 9 s, labels A and B known

TABLE = Table(("A", "B", "other"), np.zeros(3, dtype=np.float32), ("a", "b", ""))


def ruled(first: dict[str, float], second: dict[str, float], **changes: float) -> list[tuple[str, int]]:
    """Events as (label, 1 or 2) for the excess of each label during the first and the second sound."""
    samples = noise(0, 9.0, 0.0005)
    for onset_s in (2, 6):
        samples[onset_s * RATE_HZ :][:RATE_HZ] += noise(1, 1.0)
    rules = replace(Rules(smooth_s=HOP_S), **changes)
    mel = log_mel(samples, rules.hop_frames)
    times_s = np.arange(len(patches(mel, rules.hop_frames))) * rules.hop_s
    logits = np.full((len(times_s), 3), -20.0, dtype=np.float32)
    for onset_s, excess in ((2, first), (6, second)):
        near = (times_s > onset_s - 0.3) & (times_s < onset_s + 1.3)
        for label, value in excess.items():
            logits[near, TABLE.labels.index(label)] = value
    heard = events(mel, logits, 9.0, TABLE, rules)
    for event in heard:
        assert min(abs(event.onset_s - 2), abs(event.onset_s - 6)) <= 0.02
        assert min(abs(event.offset_s - 3), abs(event.offset_s - 7)) <= 0.02
    return [(event.label, 1 if event.onset_s < 4 else 2) for event in heard]


def test_a_much_better_rival_takes_the_sound() -> None:
    assert ruled({"A": 1, "B": 6}, {}) == [("B", 1)]
    assert ruled({"A": 4, "B": 6}, {}) == [("A", 1), ("B", 1)]
    assert ruled({"A": 1, "other": 9}, {}) == [("A", 1), ("other", 1)]  # only known groups compete


def test_a_resemblance_gives_way_to_the_sound_it_resembles() -> None:
    assert ruled({"A": 4, "B": 6}, {"A": 7}) == [("B", 1), ("A", 2)]
    assert ruled({"A": 4}, {"A": 7}) == [("A", 1), ("A", 2)]  # no rival: the sound twice


def test_sound_that_no_label_claims_goes_to_the_nearest_known_one() -> None:
    assert ruled({"A": -1, "B": -4}, {"B": 3}) == [("A", 1), ("B", 2)]
    assert ruled({"A": -9, "B": -4}, {"B": 3}) == [("B", 2)]
    assert ruled({"A": -1, "other": 2}, {"B": 3}) == [("other", 1), ("B", 2)]


def test_stretches_of_one_label_join_over_a_short_gap() -> None:
    assert len(ruled({"A": 3}, {"A": 3}, gap_s=0.5)) == 2
    samples, rules = noise(0, 4.0), Rules(smooth_s=HOP_S)
    mel = log_mel(samples, rules.hop_frames)
    logits = np.full((len(patches(mel, rules.hop_frames)), 3), 3.0, dtype=np.float32)
    logits[8] = -20
    assert [len(events(mel, logits, 4.0, TABLE, replace(rules, gap_s=gap))) for gap in (0.48, 0.24)] == [3, 6]


# What it is given


def test_clips_too_short_or_too_long_are_unheard(ear: Yamnet) -> None:
    long = np.zeros((1, 101), dtype=np.float32)
    calls = [
        call(noise(0, 0.02), "short"),
        Call("long", (Clip(np.tile(long, 36), 1, "x"),), QUESTIONS["events"]),
    ]
    answers = dict(ear.hear(calls))
    assert {name: answer.reason for name, answer in answers.items() if isinstance(answer, Unheard)} == {
        "short": "too_short",
        "long": "too_long",
    }


def test_a_question_it_cannot_answer_is_unsupported(ear: Yamnet) -> None:
    asked = replace(call(noise(0, 1)), question=QUESTIONS["alignment"])
    [(_, answer)] = ear.hear([asked])
    assert isinstance(answer, Unheard)
    assert answer.reason == "unsupported"


def test_one_worker_and_two_give_the_same_answers() -> None:
    names = ["siren", "bird", "baby_cry", "car_horn", "glass_breaking", "telephone"]
    calls = [call(synth.render(name, seed=1), name) for name in names] * 3
    calls = [replace(one, call_id=f"{one.call_id} {k}") for k, one in enumerate(calls)]
    alone, together = Yamnet(workers=1), Yamnet(workers=2)
    assert dict(alone.hear(calls)) == dict(together.hear(calls)) == dict(alone.hear(calls))


def test_calls_are_drawn_as_there_is_room_for_them() -> None:
    drawn = 0

    def calls() -> Iterator[Call]:
        nonlocal drawn
        for number in range(50):
            drawn += 1
            yield call(noise(number, 0.1), str(number))

    answers = Yamnet(workers=2).hear(calls())
    next(answers)
    assert drawn <= 4
    assert len(list(answers)) == 49


def test_a_call_that_breaks_it_is_not_hidden(ear: Yamnet) -> None:
    broken = Call("two clips", call(noise(0, 1)).clips * 2, QUESTIONS["events"])
    with pytest.raises(ValueError, match="too many values"):
        list(ear.hear([broken]))


# What it states


def test_settings_hold_everything_that_changes_an_answer() -> None:
    plain = Yamnet()
    assert plain.settings == Yamnet(workers=7).settings
    for field, value in (("hop_s", 0.12), ("gap_s", 1.0), ("rival", 9.0)):
        assert Yamnet(rules=replace(Rules(), **{field: value})).settings != plain.settings
    assert "labels" in plain.settings


@pytest.mark.parametrize("hop_s", [0.0, -0.1, 0.125])
def test_a_hop_between_frames_is_refused(hop_s: float) -> None:
    with pytest.raises(UserError, match=r"multiple of 0\.01"):
        Rules(hop_s=hop_s)


def test_known_labels_exist_and_can_be_heard(ear: Yamnet) -> None:
    table = labels_table()
    assert ear.known_labels <= set(labels.names())
    for name in ear.known_labels:
        assert np.isfinite(table.thresholds[table.labels.index(name)])
    ritta = [
        "toilet flush", "keyboard typing", "bird chirping", "dog barking", "sheep bleating",
        "rooster crowing", "cat meowing", "telephone ring", "car horn", "whistling", "talking",
        "baby crying", "coughing",
    ]  # fmt: skip
    known = [phrase for phrase in ritta if labels.find(phrase) & ear.known_labels]
    assert len(known) >= 12


def test_the_table_is_in_the_order_of_the_model() -> None:
    Model()  # checks its classes against the table
    assert len(labels_table().labels) == 521


# How it was tuned


@given(
    recordings=st.dictionaries(st.text(max_size=8), st.sampled_from(["dog", "cat", "bird"]), max_size=30),
    order=st.randoms(),
)
def test_the_split_depends_on_recordings_alone(recordings: dict[str, str], order: object) -> None:
    sides = mixtures.split(recordings)
    shuffled = list(recordings.items())
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    assert mixtures.split(dict(shuffled)) == sides
    for label in set(recordings.values()):
        mine = [sides[name] for name, its in recordings.items() if its == label]
        assert abs(mine.count("tune") - mine.count("test")) <= 1


@pytest.mark.realdata
def test_thresholds_not_from_test_scenes(shared_data: Path) -> None:
    tune, test = (mixtures.pool(shared_data / "clips", side) for side in ("tune", "test"))
    sides = [{recording for found in side.values() for recording in found} for side in (tune, test)]
    assert sides[0]
    assert sides[1]
    assert not sides[0] & sides[1]
    drawn = mixtures.mixtures(np.random.default_rng(0), test, ["dog_barking", "car_horn"], 20)
    assert {event.recording_id for mixture in drawn for event in mixture.events} <= sides[1]


@pytest.mark.realdata
def test_it_hears_the_order_of_real_sounds_it_was_not_tuned_on(ear: Yamnet, shared_data: Path) -> None:
    """A small share of benchmarks/order_mixtures.py, with a bound far below what it prints."""
    pool = mixtures.pool(shared_data / "clips", "test")
    classes = known_classes(pool, ear.known_labels)
    tally = Tally(classes, ear.needs.resolution_s)
    from earwitness.events import from_json

    for mixture in mixtures.mixtures(np.random.default_rng(123), pool, classes, 40):
        heard = hear(ear, mixture.samples)
        tally.add(mixture.events, from_json(heard, mixtures.CLIP_S))
    assert tally.accuracy > 0.75
    assert np.median(tally.errors()) < 0.1
