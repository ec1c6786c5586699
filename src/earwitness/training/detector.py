"""A detector from a bank of sounds: part it, mix, hear, fit, choose thresholds, measure.

Conventions
-----------
Four sets of mixtures, each with a seed of its own: to train on (augmented), to stop by, to choose thresholds
and rules by, and to test on. ``before`` is the plain backbone on the test mixtures: the score of a class is
the greatest of its AudioSet labels, at the cell's centre or averaged over what the head sees, whichever has
the higher mAP (on these mixtures: it is favoured); a class without one has no ``before``. Means that
are compared are over the same classes: those with a ``before``, parted by recording where recordings are
held out. Intervals are 95 % percentile intervals of a bootstrap over test mixtures; they say how much the
mixtures matter, not what other recordings would give.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d

from earwitness.errors import UserError
from earwitness.listeners.trained_model import Weights
from earwitness.listeners.yamnet_events import Rules
from earwitness.scores import average_precision
from earwitness.training import features, head, naming, tuning
from earwitness.training.features import Mixtures, Source
from earwitness.training.mixtures import Mixing
from earwitness.training.sides import Sides
from earwitness.training.targets import CENTRES, HOP_S
from earwitness.training.tuning import Found

Progress = Callable[[str, int, int], None]
"""Called with a stage, what is done of it, and how much there is."""

DRAWS = 200


@dataclass(frozen=True, slots=True)
class Settings:
    """How a detector is trained.

    Attributes:
        scenes: Mixtures to train on.
        held, test: Mixtures to stop by (as many again choose thresholds), and to test on.
        mixing: Of all; only those to train on are augmented.
        network: Of the head.
    """

    scenes: int = 2000
    held: int = 300
    test: int = 600
    seed: int = 0
    mixing: Mixing = field(default_factory=Mixing)
    network: head.Settings = field(default_factory=head.Settings)


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What was reached on the test mixtures.

    Attributes:
        before, linear, after: Frame AP of every class: plain backbone, a linear layer on its features, the
            trained head. None where there is none.
        before_s: Over how long ``before`` was averaged; 0 if it is at the cell's centre.
        compared: The classes that ``mean`` is over.
        counted: The classes parted by recording, with or without a ``before``.
        mean: mAP over ``compared`` by name of the column; ``counted`` is the trained head over ``counted``.
        events: Of the trained head with its thresholds and rules; their totals are over ``counted``.
    """

    before: Mapping[str, float | None]
    linear: Mapping[str, float | None]
    after: Mapping[str, float | None]
    before_s: float
    compared: tuple[str, ...]
    counted: tuple[str, ...]
    mean: Mapping[str, Interval]
    events: Found


@dataclass(frozen=True, slots=True)
class Detector:
    """A trained detector.

    Attributes:
        labels: What is said of each class.
        history: mAP on held recordings after each epoch; ``epoch`` is the one kept.
        seconds: Stage -> time it took.
    """

    sides: Sides
    labels: Mapping[str, str]
    weights: Weights
    thresholds: NDArray[np.float32]
    rules: Rules
    measured: Measured
    history: tuple[float, ...]
    epoch: int
    seconds: Mapping[str, float]


def trained(
    sides: Sides,
    source: Source,
    settings: Settings,
    *,
    workers: int | None = None,
    engine: str = "local",
    progress: Progress | None = None,
) -> Detector:
    """Train a detector on a parted bank.

    Args:
        workers, engine: Who mixes and hears; they change no number.

    Raises:
        UserError: If torch or the backbone's weights are missing, or nothing can be measured.
    """
    head.torch()  # before any work
    classes = sides.classes
    counted = tuple(name for name in classes if name not in sides.shared)
    if not counted:
        raise UserError(
            "Every class has recordings on one side only, so nothing can be measured on others.",
            "Add recordings, or use --split shared.",
        )
    deciding = tuple(name for name in counted if name not in sides.unheld) or counted
    clock = _Clock()
    sets = _sets(sides, settings)
    rows = _rows(sets, source, workers, engine, progress)
    clock.lap("features")
    truth = {name: of.truth(classes) for name, of in sets.items()}
    fits = {}
    linear = replace(settings.network, hidden=0, kernel=1, dropout=0.0)
    for name, how in (("linear", linear), ("training", settings.network)):
        fits[name] = head.fitted(
            rows["train"],
            truth["train"],
            rows["held"],
            truth["held"],
            classes,
            counted=deciding,
            settings=how,
            seed=settings.seed,
            progress=_from(progress, name),
        )
        clock.lap(name)
    best = fits["training"]
    weights = best.weights.scaled(tuning.SHARPNESS)
    calibration = _heard(sets["calibration"], weights, rows["calibration"])
    thresholds, rules = tuning.tuned(calibration, classes, _from(progress, "thresholds"), deciding)
    clock.lap("thresholds")
    tested = _heard(sets["test"], weights, rows["test"])
    cells = truth["test"].shape[1]
    said = {name: head.cell_logits(fit.weights, rows["test"], cells) for name, fit in fits.items()}
    plain = _plain(rows["plain"], classes, source, truth["test"], counted, settings.network.kernel)
    measured = _measured(
        truth["test"],
        {"before": plain.scores, "linear": said["linear"], "after": said["training"]},
        classes,
        plain,
        counted,
        tuning.found(tested, classes, thresholds, rules, counted),
        settings.seed,
    )
    clock.lap("measuring")
    return Detector(
        sides,
        naming.said(classes),
        weights,
        thresholds,
        rules,
        measured,
        best.history,
        best.epoch,
        clock.laps,
    )


def _sets(sides: Sides, settings: Settings) -> dict[str, Mixtures]:
    """The mixtures by what they are for, each with a seed of its own."""
    changed = replace(settings.mixing, augment=True)
    plain, seed = replace(settings.mixing, augment=False), 10 * settings.seed
    return {
        "train": Mixtures(sides.train, changed, seed + 1, settings.scenes),
        "held": Mixtures(sides.held, plain, seed + 2, settings.held),
        "calibration": Mixtures(sides.held, plain, seed + 3, settings.held),
        "test": Mixtures(sides.test, plain, seed + 4, settings.test),
    }


def _rows(
    sets: Mapping[str, Mixtures],
    source: Source,
    workers: int | None,
    engine: str,
    progress: Progress | None,
) -> dict[str, features.Halves]:
    """The features of every set, and under ``plain`` the backbone's own scores on the test mixtures."""
    total, before = sum(map(len, sets.values())) + len(sets["test"]), 0
    rows = {}
    for name, of in [*sets.items(), ("plain", sets["test"])]:
        told = _from(progress, "features", before, total)
        rows[name] = features.rows(
            of, source, plain=name == "plain", workers=workers, engine=engine, progress=told
        )
        before += len(of)
    return rows


def _heard(of: Mixtures, weights: Weights, rows: features.Halves) -> tuning.Heard:
    return tuning.heard(of, [weights(one.astype(np.float32)) for one in rows])


@dataclass(frozen=True, slots=True)
class _Plain:
    """The plain backbone's score of every class, the classes it has a label for, and over how long."""

    scores: NDArray[np.float32]
    known: frozenset[str]
    span_s: float


def _plain(
    rows: features.Halves,
    classes: Sequence[str],
    source: Source,
    truth: NDArray[np.bool_],
    counted: Sequence[str],
    span: int,
) -> _Plain:
    """What the plain backbone says of every cell, at its centre or over ``span`` rows, as it is better."""
    names = {label: number for number, label in enumerate(source.open().classes)}
    columns = {name: [names[label] for label in naming.audioset(name) if label in names] for name in classes}
    known = frozenset(name for name, of in columns.items() if of)
    given = rows.astype(np.float32)
    found: list[tuple[float, _Plain]] = []
    for over in (1, span):
        seen = uniform_filter1d(given, over, axis=1, mode="nearest")[:, CENTRES][:, : truth.shape[1]]
        out = np.zeros(truth.shape, np.float32)
        for number, name in enumerate(classes):
            if name in known:
                out[..., number] = seen[..., columns[name]].max(axis=-1)
        values = average_precision.by_class(truth, out, classes)
        reached = average_precision.mean(values, [name for name in counted if name in known])
        found.append((reached or 0.0, _Plain(out, known, HOP_S * over if over > 1 else 0.0)))
    return max(found, key=lambda one: one[0])[1]


def _measured(
    truth: NDArray[np.bool_],
    scores: Mapping[str, NDArray[np.float32]],
    classes: Sequence[str],
    plain: _Plain,
    counted: Sequence[str],
    events: Found,
    seed: int,
) -> Measured:
    values = {name: average_precision.by_class(truth, said, classes) for name, said in scores.items()}
    values["before"] = {name: v if name in plain.known else None for name, v in values["before"].items()}
    there = tuple(name for name in counted if values["after"][name] is not None)
    compared = tuple(name for name in there if name in plain.known)
    rng = np.random.default_rng(seed)
    draws = {
        name: average_precision.resampled(truth, said, draws=DRAWS, rng=rng) for name, said in scores.items()
    }
    means = {}
    for name, column, over in (
        ("before", "before", compared),
        ("linear", "linear", compared),
        ("after", "after", compared),
        ("counted", "after", there),
    ):
        value = average_precision.mean(values[column], over)
        if value is not None:
            drawn = draws[column][:, [list(classes).index(one) for one in over]]
            low, high = np.quantile(np.nanmean(drawn, axis=1), (0.025, 0.975))
            means[name] = Interval(value, float(low), float(high))
    columns = values["before"], values["linear"], values["after"]
    return Measured(*columns, plain.span_s, compared, there, means, events)


def _from(
    progress: Progress | None, stage: str, start: int = 0, total: int | None = None
) -> Callable[[int, int], None] | None:
    """Tell a stage's progress, from ``start`` of ``total`` on."""
    if progress is None:
        return None
    tell = progress
    return lambda done, of: tell(stage, start + done, of if total is None else total)


class _Clock:
    """How long each stage took."""

    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._last = time.monotonic()

    def lap(self, stage: str) -> None:
        now = time.monotonic()
        self.laps[stage] = round(now - self._last, 1)
        self._last = now
