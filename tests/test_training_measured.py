"""What is told of a trained detector: over which classes, against what, and in what words."""

from dataclasses import replace

import numpy as np
import pytest

from earwitness.events import Event, EventTable
from earwitness.listeners.trained_model import Weights
from earwitness.manifest.plain import markdown_text
from earwitness.scenes.bank import Bank
from earwitness.training import card, detector, features, sides, tuning
from earwitness.training.targets import HOP_S


def test_classes_that_do_not_count_are_in_no_total() -> None:
    truth = EventTable((Event("a", 0.0, 1.0), Event("b", 2.0, 3.0), Event("b", 3.5, 4.5)), 5.0)
    said = EventTable((Event("a", 0.4, 1.0), Event("b", 2.0, 3.0), Event("c", 4.0, 5.0)), 5.0)
    found = tuning.agreement([truth], [said], counted=["a"])
    assert (found.precision, found.recall) == (1.0, 1.0)
    assert found.onset_error_s == pytest.approx(0.4)
    assert found.by_class == {"a": 1.0, "b": pytest.approx(2 / 3), "c": 0.0}


def planted(clips: int = 12) -> tuning.Heard:
    """Of two classes: logits 2 where an event is and -3 elsewhere, those of the second class 2 lower."""
    rng = np.random.default_rng(0)
    logits, truth = [], []
    for number in range(clips):
        onset = 0.5 * int(rng.integers(0, 9))
        truth.append(EventTable((Event("ab"[number % 2], onset, onset + 3.0),), 8.0))
        rows = np.full((33, 2), -3.0)
        rows[round(onset * 4) : round(onset * 4) + 13, number % 2] += 5.0
        logits.append((tuning.SHARPNESS * (rows - (0.0, 2.0))).astype(np.float32))
    return tuning.Heard((np.zeros((900, 64), np.float32),) * clips, tuple(logits), tuple(truth))


def test_a_class_that_was_not_held_back_gets_the_common_threshold() -> None:
    """Whatever is heard of it: here as it is, and so loud that only the highest threshold would do."""
    clips = planted()
    loud = replace(clips, logits=tuple(one + np.float32([0, 22]) for one in clips.logits))
    given, again = (tuning.tuned(of, ("a", "b"), deciding=["a"])[0] for of in (clips, loud))
    assert given[0] == given[1]
    assert given.tolist() == again.tolist()
    assert tuning.tuned(clips, ("a", "b"))[0][1] < given[1]


def test_the_plain_backbone_is_taken_where_it_is_better() -> None:
    """Rows that alternate say nothing at one moment and everything over five."""
    source = features.Source("yamnet")
    classes = source.open().classes
    rng = np.random.default_rng(0)
    truth = np.zeros((8, 10, 1), bool)
    truth[:, :5] = True
    rows = np.full((8, 21, len(classes)), -5.0, np.float16)
    clear = np.repeat(np.concatenate([truth, truth[:, -1:]], axis=1), 2, axis=1)[:, :21, 0]
    for noise, span in ((0.0, 0.0), (6.0, 5 * HOP_S)):
        heard = rows.copy()
        heard[:, :, classes.index("Siren")] = 2.0 * clear + noise * rng.normal(size=clear.shape)
        found = detector._plain(heard, ("siren",), source, truth, ("siren",), 5)
        assert found.span_s == span
        assert found.known == {"siren"}


def test_a_command_tells_no_folder() -> None:
    told = (
        "earwitness listeners train --bank /home/me/sounds/ --weights=/data/cnn14.pth -o 'my ears' --seed 1"
    )
    assert card._without_folders(told) == (
        "earwitness listeners train --bank sounds --weights=cnn14.pth -o 'my ears' --seed 1"
    )
    assert card._without_folders("") == ""


def test_what_a_bank_calls_things_cannot_break_the_card() -> None:
    whole = Bank.builtin(4)
    odd = "si|ren <script>"
    of = {
        odd: tuple(replace(one, label=odd) for one in whole.sources["siren"]),
        "rain": whole.sources["rain"],
    }
    parted = sides.sides(replace(whole, sources=of), "held-out")
    parted = replace(parted, notes=("Left out: a\x1b[31m|b.",))
    values = dict.fromkeys(parted.classes, 0.5)
    means = {name: detector.Interval(0.5, 0.4, 0.6) for name in ("before", "linear", "after", "counted")}
    found = tuning.Found(values, 0.5, 0.5, None)
    settings = detector.Settings()
    made = detector.Detector(
        parted,
        {name: name for name in parted.classes},
        weights(),
        np.zeros(2, np.float32),
        tuning.RULES,
        detector.Measured(values, values, values, 1.25, ("rain",), (odd, "rain"), means, found),
        (0.5,),
        1,
        {},
    )
    model = card.model(made, features.Source("yamnet").open(), settings, "earwitness -o /home/me/m")
    text = card.readme(model, made, settings)
    assert f"| {markdown_text(odd)} |" in text
    assert "<script>" not in text.replace("\\<", "")
    assert "\x1b" not in text
    assert "/home" not in text
    assert "averaged over the 1.25 s" in text


def weights() -> Weights:
    rng = np.random.default_rng(0)
    shapes = {"centre": (8,), "scale": (8,), "last": (8, 2), "last_bias": (2,)}
    return Weights({n: rng.uniform(0.1, 1, s).astype(np.float32) for n, s in shapes.items()})
