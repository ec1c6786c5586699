"""VGGish (Hershey et al., ICASSP 2017): what the Fréchet Audio Distance was defined on (Kilgour et al. 2019).

128 numbers of every whole 0.96 s, one after the other; what remains at the end is left out, and a clip
shorter than that is padded with zeros. The front end is YAMNet's with log(x + 0.01). The numbers are those
of the last layer itself: neither its ReLU nor the PCA and rounding of AudioSet's released features follow,
as in the authors' FAD. Samples are taken as loud as they are.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from earwitness.backbones import checkpoints
from earwitness.backbones.base import Embedding, finite
from earwitness.backbones.yamnet_features import (
    FRAME_S,
    MELS,
    PATCH_FRAMES,
    PATCH_SAMPLES,
    RATE_HZ,
    log_mel_from_start,
    patches,
)

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float32]

CODE_VERSION = 1
"""Raised when the same weights and samples give other numbers."""

SOURCE = checkpoints.Source(
    "vggish",
    "https://github.com/harritaylor/torchvggish/releases/download/v0.1/vggish-10086976.pth",
    "a torch (or .safetensors) state dict with the weights and biases of features.0, 3, 6, 8, 11, 13 "
    "(convolutions of 3 x 3) and embeddings.0, 2, 4 (12288 to 4096 to 4096 to 128)",
)

_CONVOLUTIONS = {0: True, 3: True, 6: False, 8: True, 11: False, 13: True}
"""Their places in the network, and whether the maximum of 2 x 2 follows."""
_LINEAR = (0, 2, 4)
_LOG_OFFSET = 0.01
_HOP_SAMPLES = round(PATCH_FRAMES * FRAME_S * RATE_HZ)
_BATCH = 16


class Vggish:
    """VGGish as a backbone for Fréchet distances; it is no classifier.

    Args:
        weights: The user's file (see :data:`SOURCE`).

    Raises:
        UserError: If there is no such file.
    """

    name = "vggish"
    rate_hz = RATE_HZ
    classes: tuple[str, ...] = ()

    def __init__(self, *, weights: Path | None = None) -> None:
        self._path = checkpoints.given(weights, SOURCE)

    @cached_property
    def version(self) -> str:
        return checkpoints.version_of(self._path, CODE_VERSION)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "rate_hz": RATE_HZ,
            "window_s": 0.96,
            "hop_s": 0.96,
            "first_window": "begins with the clip",
            "last_window": "whole windows only; a shorter clip padded with zeros",
            "level": "as it is",
            "frames": "last layer before its ReLU, no PCA",
            "clip": "mean of the frames",
        }

    @property
    def width(self) -> int:
        return int(self._network.linear[-1][0].shape[0])

    def ready(self) -> None:
        """Load the weights.

        Raises:
            UserError: If they cannot be read or are not VGGish's, naming the key.
            MissingExtra: If PyTorch is not installed.
        """
        _ = self._network

    def embed(self, samples: Array) -> Embedding:
        """Frames (m, 128) and their mean, of (n,) samples at 16 kHz."""
        later = max(0, samples.shape[0] - PATCH_SAMPLES) // _HOP_SAMPLES
        whole = samples[: later * _HOP_SAMPLES + PATCH_SAMPLES]
        views = patches(log_mel_from_start(whole, PATCH_FRAMES, _LOG_OFFSET), PATCH_FRAMES)
        frames = finite(self._network(views), f"{self.name} with {self._path}")
        return Embedding(frames, frames.mean(axis=0), None)

    @cached_property
    def _network(self) -> "_Network":
        return _Network(self._path)

    def __getstate__(self) -> dict[str, Any]:
        """Without the loaded weights, so that a worker can be sent this and load its own."""
        return {"_path": self._path}


class _Network:
    """The network: (n, 1, 96, 64) patches to (n, 128)."""

    def __init__(self, path: Path) -> None:
        self._torch = checkpoints.torch(SOURCE)
        held = checkpoints.Tensors(path, SOURCE)
        self.convolutions: list[tuple[Tensor, Tensor, bool]] = []
        self.linear: list[tuple[Tensor, Tensor]] = []
        size = 1
        for at, pooled in _CONVOLUTIONS.items():
            weight = held.take(f"features.{at}.weight", None, size, 3, 3)
            size = weight.shape[0]
            self.convolutions.append((weight, held.take(f"features.{at}.bias", size), pooled))
        size *= (PATCH_FRAMES // 16) * (MELS // 16)
        for at in _LINEAR:
            weight = held.take(f"embeddings.{at}.weight", None, size)
            size = weight.shape[0]
            self.linear.append((weight, held.take(f"embeddings.{at}.bias", size)))

    def __call__(self, views: Array) -> Array:
        made: list[Array] = []
        with self._torch.inference_mode():
            for start in range(0, len(views), _BATCH):
                batch = self._torch.from_numpy(views[start : start + _BATCH].copy())
                made.append(self._forward(batch).numpy())
        return np.concatenate(made)

    def _forward(self, x: "Tensor") -> "Tensor":
        f = self._torch.nn.functional
        for weight, bias, pooled in self.convolutions:
            x = f.relu(f.conv2d(x, weight, bias, padding=1))
            x = f.max_pool2d(x, 2) if pooled else x
        x = x.permute(0, 2, 3, 1).flatten(1)  # time, band, channel: the order of the TensorFlow original
        *inner, last = self.linear
        for weight, bias in inner:
            x = f.relu(f.linear(x, weight, bias))
        return f.linear(x, *last)  # type: ignore[no-any-return]
