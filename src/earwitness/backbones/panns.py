"""PANNs (Kong et al., 2020): Cnn14, which tags clips, and Cnn14_DecisionLevelMax, which also says when.

The two share every key of their weights, so the name tells them apart: ``panns`` and ``panns-framewise``.
Sizes and rate are read off the weights: a window of 1,024 samples is the network for 32 kHz, one of 512 that
for 16 kHz, one of 256 that for 8 kHz.

Front end: frames of one window (periodic Hann) every hundredth of a second, centred, the clip's ends
mirrored; power, the mel bands of the weights, 10 log10 with a floor of 1e-10. Six blocks of two convolutions
halve time five times, so a segment is 32 frames: 0.32 s. The classifier's 527 classes are AudioSet's, in its
own order. A clip shorter than a segment is padded with zeros; the network ignores an unfinished segment at
the end of a longer one. Samples are taken as loud as they are, except in :meth:`PannsFramewise.timed` and
``class_scores``, where the peak is brought to -1 dBFS as for YAMNet.
"""

from collections.abc import Mapping
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.fft
import scipy.sparse
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from earwitness.backbones import checkpoints
from earwitness.backbones.base import Embedding, finite
from earwitness.backbones.yamnet_features import levelled
from earwitness.errors import UnusableAudio, UserError

if TYPE_CHECKING:
    from torch import Tensor

Array = NDArray[np.float32]

CODE_VERSION = 1
"""Raised when the same weights and samples give other numbers."""

MAX_S = 120.0
"""A longer clip is ``too_long``: the network sees a clip as a whole, and holds 5 MB for every second."""

_LAYOUT = (
    "a torch file with the state dict under 'model' (or .safetensors): logmel_extractor.melW, bn0, "
    "conv_block1 to conv_block6, fc1, fc_audioset (527 classes)"
)
_SOURCES = {
    "panns": checkpoints.Source("panns", "https://zenodo.org/records/3987831 (Cnn14_mAP=0.431.pth)", _LAYOUT),
    "panns-framewise": checkpoints.Source(
        "panns-framewise",
        "https://zenodo.org/records/3987831 (Cnn14_DecisionLevelMax_mAP=0.385.pth)",
        _LAYOUT,
    ),
}

_RATES_HZ = {1024: 32000, 512: 16000, 256: 8000}  # by window
_BLOCKS = 6
_SEGMENT = 32  # frames, of a hundredth of a second
_CLASSES = 527


class Panns:
    """Cnn14 as a backbone: one embedding of the whole clip, and its logits.

    Args:
        weights: The user's file.

    Raises:
        UserError: If there is no such file, with where it is published.
    """

    name = "panns"

    def __init__(self, *, weights: Path | None = None) -> None:
        self._path = checkpoints.given(weights, _SOURCES[self.name])

    @cached_property
    def version(self) -> str:
        return checkpoints.version_of(self._path, CODE_VERSION)

    @property
    def settings(self) -> Mapping[str, Any]:
        return {
            "rate_hz": self.rate_hz,
            "window_samples": self._network.window,
            "hop_s": 0.01,
            "level": "as it is",
            "shortest_s": (_SEGMENT - 1) / 100,
            "last_segment": "whole segments of 0.32 s only; a shorter clip padded with zeros",
            **self._made_of,
        }

    _made_of: Mapping[str, str] = {"frames": "one: the clip", "clip": "fc1 of maximum plus mean over time"}

    @property
    def rate_hz(self) -> int:
        return self._network.rate_hz

    @property
    def width(self) -> int:
        return self._network.width

    @property
    def classes(self) -> tuple[str, ...]:
        return audioset_classes()

    def ready(self) -> None:
        """Load the weights.

        Raises:
            UserError: If they cannot be read or are not those of a Cnn14, naming the key.
            MissingExtra: If PyTorch is not installed.
        """
        _ = self._network

    def embed(self, samples: Array) -> Embedding:
        """One frame (1, 2048), which is the clip's embedding, and 527 logits, of (n,) samples.

        Raises:
            UnusableAudio: ``too_long`` over :data:`MAX_S`.
        """
        clip, logits = (self._finite(part) for part in self._network.tagged(samples))
        return Embedding(clip[np.newaxis], clip, logits)

    def timed(self, samples: Array, hop_s: float) -> Array:
        """Refused: the tagger has no times.

        Raises:
            UserError: Naming the backbone that has.
        """
        raise UserError(
            f"the backbone {self.name!r} tags whole clips and has no times.",
            "Use 'panns-framewise' with the weights of Cnn14_DecisionLevelMax, or 'yamnet'.",
        )

    def class_scores(self, samples: Array, hop_s: float) -> Array:
        """Refused, as :meth:`timed`."""
        return self.timed(samples, hop_s)

    def _finite(self, numbers: Array) -> Array:
        return finite(numbers, f"{self.name} with {self._path}")

    @cached_property
    def _network(self) -> "_Network":
        return _Network(self._path, _SOURCES[self.name])

    def __getstate__(self) -> dict[str, Any]:
        """Without the loaded weights, so that a worker can be sent this and load its own."""
        return {"_path": self._path}


class PannsFramewise(Panns):
    """Cnn14_DecisionLevelMax as a backbone: an embedding of every 0.32 s (base.Timed)."""

    name = "panns-framewise"

    _made_of: Mapping[str, str] = {
        "frames": "fc1 of every segment",
        "clip": "mean of the frames",
        "logits": "maximum over the segments",
        "timed": "segments interpolated linearly, peak at -1 dBFS, raised by 30 dB at most",
    }

    def embed(self, samples: Array) -> Embedding:
        """Frames (m, 2048), their mean, and the maximum of their 527 logits, of (n,) samples.

        Raises:
            UnusableAudio: ``too_long`` over :data:`MAX_S`.
        """
        frames, logits = (self._finite(part) for part in self._network.segments(samples))
        return Embedding(frames, frames.mean(axis=0), logits.max(axis=0))

    def timed(self, samples: Array, hop_s: float) -> Array:
        """(m, 2048): row k is at ``k * hop_s``, between the centres of the segments beside it.

        m = floor(n / hop) + 1. Before the first centre and after the last it is their own.

        Raises:
            UserError: If a hop is not a whole number of samples.
            UnusableAudio: ``too_long`` over :data:`MAX_S`.
        """
        return self._at(self._network.segments(levelled(samples))[0], samples, hop_s)

    def class_scores(self, samples: Array, hop_s: float) -> Array:
        """(m, 527) logits, framed as :meth:`timed`; raises the same."""
        return self._at(self._network.segments(levelled(samples))[1], samples, hop_s)

    def _at(self, segments: Array, samples: Array, hop_s: float) -> Array:
        hop = round(hop_s * self.rate_hz)
        if hop < 1 or abs(hop - hop_s * self.rate_hz) > 1e-6:
            raise UserError(f"hop_s must be a whole number of samples at {self.rate_hz} Hz, not {hop_s!r}.")
        wanted_s = np.arange(samples.shape[0] // hop + 1) * hop_s
        place = np.clip((100 * wanted_s - (_SEGMENT - 1) / 2) / _SEGMENT, 0, len(segments) - 1)
        before = place.astype(np.intp)
        after = np.minimum(before + 1, len(segments) - 1)
        share = (place - before).astype(np.float32)[:, np.newaxis]
        mixed: Array = segments[before] * (1 - share) + segments[after] * share
        return self._finite(mixed)


@cache
def audioset_classes() -> tuple[str, ...]:
    """The 527 classes of AudioSet in their own order."""
    text = (files(__package__) / "audioset_classes.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if not line.startswith("#"))


class _Network:
    """Both networks: they differ in what follows the last block.

    Attributes:
        window: Samples of a frame.
        width: Size of an embedding.
    """

    def __init__(self, path: Path, source: checkpoints.Source) -> None:
        self._torch = checkpoints.torch(source)
        held = checkpoints.Tensors(path, source, inside="model")
        mel = held.take("logmel_extractor.melW", None, None)
        bins, bands = mel.shape
        self.window = 2 * (bins - 1)
        if self.window not in _RATES_HZ:
            known = ", ".join(str(window // 2 + 1) for window in _RATES_HZ)
            raise UserError(
                f"{path}: 'logmel_extractor.melW' has {bins} rows; known are {known}.", source.remedy
            )
        self.rate_hz = _RATES_HZ[self.window]
        self._hop = self.rate_hz // 100
        self._mel = scipy.sparse.csr_array(mel.numpy().T)  # a frequency is in two bands at most
        self._before = _norm(held, "bn0", bands)
        self._layers: list[tuple[Tensor, tuple[Tensor, ...]]] = []
        size = 1
        for block in range(1, _BLOCKS + 1):
            for part in (1, 2):
                weight = held.take(f"conv_block{block}.conv{part}.weight", None, size, 3, 3)
                size = weight.shape[0]
                self._layers.append((weight, _norm(held, f"conv_block{block}.bn{part}", size)))
        weight = held.take("fc1.weight", None, size)
        self.width = int(weight.shape[0])
        self._inner = weight, held.take("fc1.bias", self.width)
        self._last = (
            held.take("fc_audioset.weight", _CLASSES, self.width),
            held.take("fc_audioset.bias", _CLASSES),
        )

    def tagged(self, samples: Array) -> tuple[Array, Array]:
        """(d,) embedding and (527,) logits of the clip, by Cnn14."""
        with self._torch.inference_mode():
            x = self._blocks(samples)
            embedding, logits = self._ends(x.amax(dim=1) + x.mean(dim=1))
            return embedding.numpy(), logits.numpy()

    def segments(self, samples: Array) -> tuple[Array, Array]:
        """(m, d) embeddings and (m, 527) logits of segments, by Cnn14_DecisionLevelMax."""
        f = self._torch.nn.functional
        with self._torch.inference_mode():
            x = self._blocks(samples)[np.newaxis]
            x = f.max_pool1d(x, 3, stride=1, padding=1) + f.avg_pool1d(x, 3, stride=1, padding=1)
            embeddings, logits = self._ends(x[0].T)
            return embeddings.numpy(), logits.numpy()

    def _blocks(self, samples: Array) -> "Tensor":
        """(channels, segments): the last block, its mean over the bands."""
        f = self._torch.nn.functional
        x = self._torch.from_numpy(self.log_mel(samples))
        x = self._normed(x, self._before)[np.newaxis, np.newaxis]  # bands take the place of channels here
        for number, (weight, norm) in enumerate(self._layers, 1):
            x = f.relu(self._normed(f.conv2d(x, weight, padding=1), norm))
            if number % 2 == 0 and number < len(self._layers):
                x = f.avg_pool2d(x, 2)
        last: Tensor = x[0].mean(dim=2)
        return last

    def _ends(self, x: "Tensor") -> tuple["Tensor", "Tensor"]:
        f = self._torch.nn.functional
        embedding = f.relu(f.linear(x, *self._inner))
        return embedding, f.linear(embedding, *self._last)

    def _normed(self, x: "Tensor", norm: tuple["Tensor", ...]) -> "Tensor":
        mean, variance, weight, bias = norm
        f = self._torch.nn.functional
        return f.batch_norm(x, mean, variance, weight, bias, training=False)  # type: ignore[no-any-return]

    def log_mel(self, samples: Array) -> Array:
        """(frames, bands) in dB, of (n,) samples; frame k is centred on sample ``k * hop``.

        Raises:
            UnusableAudio: ``too_long`` over :data:`MAX_S`.
        """
        n = samples.shape[0]
        if n > MAX_S * self.rate_hz:
            raise UnusableAudio(
                "too_long", f"{n / self.rate_hz:.0f} s; PANNs take in at most {MAX_S:g} s at a time"
            )
        enough = np.zeros(max(n, (_SEGMENT - 1) * self._hop), np.float32)
        enough[:n] = samples
        mirrored = np.pad(enough, self.window // 2, mode="reflect")
        framed = sliding_window_view(mirrored, self.window)[:: self._hop]
        spectrum = scipy.fft.rfft(framed * _hann(self.window), axis=1)
        power = spectrum.real**2 + spectrum.imag**2
        decibels: Array = 10 * np.log10(np.maximum((self._mel @ power.T).T, np.float32(1e-10)))
        return decibels


def _norm(held: checkpoints.Tensors, key: str, size: int) -> tuple["Tensor", ...]:
    """Mean, variance, weight and bias of a batch normalisation."""
    return tuple(
        held.take(f"{key}.{part}", size) for part in ("running_mean", "running_var", "weight", "bias")
    )


@cache
def _hann(window: int) -> Array:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(window) / window)).astype(np.float32)
