"""YAMNet's front end: 16 kHz samples to log-mel patches.

Conventions: a frame is 10 ms; frame k covers samples 160 k to 160 k + 400 of the padded signal. A
patch is 96 frames, 0.975 s with the tail of the last. Clips are framed in one of two ways, padded with
zeros as needed. *Centred* (:func:`log_mel`): patch i is centred on ``i * hop_s`` of the clip, and the last
centre lies within one hop of the clip's end; this is what events are found with. *From the start*
(:func:`log_mel_from_start`): the first patch begins with the clip and the last reaches its end, as
YAMNet's authors frame clips. The figures (periodic Hann of 400, FFT of 512, magnitudes, 64 HTK mels from
125 to 7500 Hz, log(x + 0.001)) are those the network was trained with (Plakal and Ellis, YAMNet, 2019).
"""

from functools import cache

import numpy as np
import scipy.fft
import scipy.sparse
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.float32]

RATE_HZ = 16000
FRAME_S = 0.01
PATCH_FRAMES = 96
MELS = 64
LOG_OFFSET = 0.001

_WINDOW = 400
_STEP = 160
PATCH_SAMPLES = (PATCH_FRAMES - 1) * _STEP + _WINDOW
_FFT = 512
_LOW_HZ, _HIGH_HZ = 125.0, 7500.0
_PEAK = 10 ** (-1 / 20)
_MOST_GAIN = 10 ** (30 / 20)
_BLOCK_FRAMES = 128  # keeps the spectra of one block in the processor's cache


def levelled(samples: Array) -> Array:
    """The clip with its peak at -1 dBFS, raised by at most 30 dB: no system is misheard for being quiet.

    (The offset in the logarithm makes YAMNet's features, and so its answers, depend on level.)
    """
    peak = float(np.abs(samples).max())
    gain = min(_PEAK / peak, _MOST_GAIN) if peak > 0 else 1.0
    scaled: Array = samples * np.float32(gain)
    return scaled


def log_mel(samples: Array, hop_frames: int) -> Array:
    """Log-mel frames of a clip, padded so that a patch can be centred on every hop up to its end.

    Args:
        samples: (n,) at 16 kHz, full scale 1.
        hop_frames: Frames from one patch to the next.

    Returns:
        (frames, 64) natural logarithms; frame k is centred on ``k * 0.01 - 0.475`` s of the clip.
    """
    patches = samples.shape[0] // (hop_frames * _STEP) + 1
    frames = (patches - 1) * hop_frames + PATCH_FRAMES
    padded = np.zeros((frames - 1) * _STEP + _WINDOW, dtype=np.float32)
    lead = PATCH_SAMPLES // 2
    kept = min(samples.shape[0], padded.shape[0] - lead)
    padded[lead : lead + kept] = samples[:kept]
    return _log_mel(padded, LOG_OFFSET)


def log_mel_from_start(samples: Array, hop_frames: int, offset: float = LOG_OFFSET) -> Array:
    """Log-mel frames of a clip, padded at its end so that patches a hop apart take in every sample.

    Args:
        samples: (n,) at 16 kHz, full scale 1.
        hop_frames: Frames from one patch to the next.
        offset: Added before the logarithm.

    Returns:
        (frames, 64) natural logarithms; frame k begins at ``k * 0.01`` s of the clip.
    """
    hops = max(0, -(-(samples.shape[0] - PATCH_SAMPLES) // (hop_frames * _STEP)))
    padded = np.zeros(hops * hop_frames * _STEP + PATCH_SAMPLES, dtype=np.float32)
    padded[: samples.shape[0]] = samples
    return _log_mel(padded, offset)


def patches(mel: Array, hop_frames: int) -> Array:
    """View of the (n, 1, 96, 64) patches in log-mel frames; patch i begins at frame ``i * hop_frames``."""
    views = sliding_window_view(mel, PATCH_FRAMES, axis=0)[::hop_frames]
    return views.transpose(0, 2, 1)[:, np.newaxis]


def _log_mel(padded: Array, offset: float) -> Array:
    """(frames, 64) of every whole frame of (n,) samples."""
    framed = sliding_window_view(padded, _WINDOW)[::_STEP]
    frames = len(framed)
    mel = np.empty((frames, MELS), dtype=np.float32)
    for start in range(0, frames, _BLOCK_FRAMES):
        block = framed[start : start + _BLOCK_FRAMES] * _hann()
        spectrum = np.abs(scipy.fft.rfft(block, _FFT, axis=1, overwrite_x=True))
        mel[start : start + _BLOCK_FRAMES] = (_mel_bands() @ spectrum.T).T
    mel += offset
    return np.log(mel, out=mel)


@cache
def _hann() -> Array:
    return (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_WINDOW) / _WINDOW)).astype(np.float32)


@cache
def _mel_bands() -> scipy.sparse.csr_array:
    """(64, 257) triangles, linear on HTK's mel scale, 2595 log10(1 + f / 700).

    Sparse, for a frequency is in two bands at most, and BLAS would start threads of its own.
    """

    def mel_of(hz: NDArray[np.float64]) -> NDArray[np.float64]:
        return 2595.0 * np.log10(1.0 + hz / 700.0)

    bins = mel_of(np.linspace(0.0, RATE_HZ / 2, _FFT // 2 + 1))
    low, high = mel_of(np.array([_LOW_HZ, _HIGH_HZ]))
    edges = np.linspace(low, high, MELS + 2)[:, np.newaxis]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return scipy.sparse.csr_array(np.maximum(0.0, np.minimum(rising, falling)).astype(np.float32))
