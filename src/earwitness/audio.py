"""The only door to sound: read, downmix, resample, level facts, PCM hash, write.

Conventions
-----------
Samples are float32 of shape (channels, samples) in [-1, 1] full scale; rates are Hz; levels are
dBFS (0 dBFS = a full-scale square wave), so silence has no level (None), never -inf.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Clip:
    """Decoded sound. It knows nothing of its file, so no listener can see a path or a system's name.

    Attributes:
        samples: (channels, n) float32, finite.
        rate_hz: Rate of the file.
        pcm_hash: sha256 over rate, shape and samples.
        warnings: Facts a reader should know (silent channel, clipping).
    """

    samples: Samples
    rate_hz: int
    pcm_hash: str
    warnings: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        return self.samples.shape[1] / self.rate_hz
