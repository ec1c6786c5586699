"""A detector from a bank of sounds: part it, mix, hear, fit, choose thresholds, measure.

Conventions
-----------
Four sets of mixtures, each with a seed of its own: to train on (augmented), to stop by, to choose thresholds
and rules by, and to test on. ``before`` is the plain backbone on the test mixtures: the score of a class is
the greatest of its AudioSet labels at the cell's centre; a class without one has no ``before``. Means that
are compared are over the same classes: those with a ``before``, parted by recording where recordings are
held out. Intervals are 95 % percentile intervals of a bootstrap over test mixtures; they say how much the
mixtures matter, not what other recordings would give.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UserError
from earwitness.listeners.trained_model import Weights
from earwitness.listeners.yamnet_events import Rules
from earwitness.scores import average_precision
from earwitness.training import features, head, naming, tuning
from earwitness.training.features import Mixtures, Source
from earwitness.training.mixtures import Mixing, Pools
from earwitness.training.sides import Sides
from earwitness.training.targets import CENTRES
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
        compared: The classes that ``mean`` is over.
        counted: The classes parted by recording, with or without a ``before``.
        mean: mAP over ``compared`` by name of the column; ``counted`` is the trained head over ``counted``.
        events: Of the trained head with its thresholds and rules.
    """

    before: Mapping[str, float | None]
    linear: Mapping[str, float | None]
    after: Mapping[str, float | None]
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

    def mixed(pools: Pools, number: int, role: int, augment: bool = False) -> Mixtures:
        mixing = replace(settings.mixing, augment=augment)
        return Mixtures(pools, mixing, 10 * settings.seed + role, number)

    sets = {
        "train": mixed(sides.train, settings.scenes, 1, augment=True),
        "held": mixed(sides.held, settings.held, 2),
        "calibration": mixed(sides.held, settings.held, 3),
        "test": mixed(sides.test, settings.test, 4),
    }
    total, before = sum(map(len, sets.values())) + settings.test, 0
    rows = {}
    for name, of in [*sets.items(), ("plain", sets["test"])]:
        rows[name] = features.rows(
            of,
            source,
            plain=name == "plain",
            workers=workers,
            engine=engine,
            progress=_from(progress, "features", before, total),
        )
        before += len(of)
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
    thresholds, rules = tuning.tuned(calibration, classes, _from(progress, "thresholds"))
    clock.lap("thresholds")
    tested = _heard(sets["test"], weights, rows["test"])
    events = tuning.found(tested, classes, thresholds, rules)
    cells = truth["test"].shape[1]
    scores = {name: head.cell_logits(fit.weights, rows["test"], cells) for name, fit in fits.items()}
    plain, heard_before = _plain(rows["plain"], classes, source, cells)
    measured = _measured(
        truth["test"],
        {"before": plain, "linear": scores["linear"], "after": scores["training"]},
        classes,
        heard_before,
        counted,
        events,
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


def recipe(settings: Settings) -> dict[str, object]:
    """The settings as plain data."""
    return asdict(settings)


def _heard(of: Mixtures, weights: Weights, rows: features.Halves) -> tuning.Heard:
    return tuning.heard(of, [weights(one.astype(np.float32)) for one in rows])


def _plain(
    rows: features.Halves, classes: Sequence[str], source: Source, cells: int
) -> tuple[NDArray[np.float32], frozenset[str]]:
    """The plain backbone's score of every class, and the classes that it has a label for."""
    names = {label: number for number, label in enumerate(source.open().classes)}
    at_centres = rows[:, CENTRES][:, :cells].astype(np.float32)
    out = np.zeros((*at_centres.shape[:2], len(classes)), np.float32)
    known = set()
    for number, name in enumerate(classes):
        columns = [names[label] for label in naming.audioset(name) if label in names]
        if columns:
            out[..., number] = at_centres[..., columns].max(axis=-1)
            known.add(name)
    return out, frozenset(known)


def _measured(
    truth: NDArray[np.bool_],
    scores: Mapping[str, NDArray[np.float32]],
    classes: Sequence[str],
    heard_before: frozenset[str],
    counted: Sequence[str],
    events: Found,
    seed: int,
) -> Measured:
    values = {name: average_precision.by_class(truth, said, classes) for name, said in scores.items()}
    values["before"] = {name: v if name in heard_before else None for name, v in values["before"].items()}
    there = tuple(name for name in counted if values["after"][name] is not None)
    compared = tuple(name for name in there if name in heard_before)
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
    return Measured(values["before"], values["linear"], values["after"], compared, there, means, events)


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
