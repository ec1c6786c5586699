"""A detector trained on the user's own sounds: a frozen backbone, and the head that `listeners train` made.

Its features and network are those of its model's folder (:mod:`.trained_model`); how logits become events is
what yamnet does (:mod:`.yamnet_events`), with figures of its own and no competition between classes. The
onset comes from the rise in level near where a class appears, measured at 16 kHz whatever the backbone hears.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from earwitness import audio
from earwitness.backbones import open_backbone
from earwitness.backbones.base import finite
from earwitness.backbones.yamnet_features import RATE_HZ, levelled, log_mel
from earwitness.errors import UserError
from earwitness.events import EventTable
from earwitness.listeners import trained_model
from earwitness.listeners.base import Needs
from earwitness.listeners.detector import MAX_S, QUESTIONS, Detector
from earwitness.listeners.yamnet_events import Rules, Table, events

CODE_VERSION = 1
"""Raised when the same model and samples give another answer."""
PREFIX = "trained:"


class Trained(Detector):
    """Hears the events of a clip, of the classes that it was trained on.

    Args:
        folder: The model's folder.
        weights: The user's weights file for the backbone, if it needs one.
        workers: Clips heard at a time, one thread each; all cores by default. It changes no answer.

    Raises:
        UserError: If the folder holds no sound model.
    """

    def __init__(self, folder: Path, *, weights: Path | None = None, workers: int | None = None) -> None:
        super().__init__(workers)
        self._folder, self._weights = folder, weights
        self._model = trained_model.read(folder)
        card = self._model.card
        self._rules = Rules(**card.rules)
        self._table = Table(
            labels=tuple(one.label for one in card.classes),
            thresholds=np.array([one.threshold for one in card.classes], dtype=np.float32),
            groups=tuple(one.name for one in card.classes),
        )
        self.name = f"{PREFIX}{self._model.name}"
        self.needs = Needs(
            rate_hz=card.backbone.rate_hz,
            min_s=audio.MIN_S,
            max_s=MAX_S,
            resolution_s=0.1,
            questions=QUESTIONS,
            detector=True,
            cost=f"free; as its backbone {card.backbone.name}",
        )

    @cached_property
    def version(self) -> str:
        return f"{self._model.version}-{self._model.card.backbone.version}-{CODE_VERSION}"

    @property
    def settings(self) -> Mapping[str, Any]:
        card = self._model.card
        return {
            **card.rules,
            "classes": [one.name for one in card.classes],
            "weights_sha256": card.weights_sha256,
        }

    @property
    def known_labels(self) -> frozenset[str]:
        return frozenset(self._table.labels)

    @property
    def measured(self) -> str:
        return self._model.card.measured

    def ready(self) -> None:
        """Load the backbone.

        Raises:
            UserError: If its weights cannot be had, or are others than those the model was trained on.
        """
        self._backbone.ready()
        card, found = self._model.card.backbone, self._backbone.version
        if found != card.version:
            raise UserError(
                f"{self._folder} was trained on the backbone {card.name} {card.version}; here it is {found}.",
                "Give the weights it was trained on with --weights FILE, or train again.",
            )
        rate_hz, second = self._backbone.rate_hz, np.zeros(card.rate_hz, np.float32)
        if rate_hz != card.rate_hz:
            raise UserError(
                f"{self._folder} says that {card.name} hears at {card.rate_hz} Hz; it hears at {rate_hz} Hz."
            )
        width, wanted = self._backbone.timed(second, self._rules.hop_s).shape[1], self._model.weights.features
        if width != wanted:
            raise UserError(f"{self._folder} is for {wanted} features of {card.name}, which has {width}.")

    def events(self, clip: audio.Clip) -> EventTable:
        samples = audio.mono(clip, self._backbone.rate_hz)
        with np.errstate(over="ignore", invalid="ignore"):  # told by finite
            logits = self._model.weights(self._backbone.timed(samples, self._rules.hop_s))
        finite(logits, f"The detector in {self._folder}")
        plain = samples if self._backbone.rate_hz == RATE_HZ else audio.mono(clip, RATE_HZ)
        mel = log_mel(levelled(plain), self._rules.hop_frames)
        return events(mel, logits, clip.duration_s, self._table, self._rules)

    @cached_property
    def _backbone(self) -> Any:
        return open_backbone(self._model.card.backbone.name, weights=self._weights)
