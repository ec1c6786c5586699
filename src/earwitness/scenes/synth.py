"""The built-in sounds: pure arithmetic, so no licence is attached to any of them.

Each class is a random family: the seed decides pitch, rhythm, timbre, room and length. The same label,
seed and duration give the same samples on the same machine and versions of numpy and scipy.
"""

import zlib

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UserError
from earwitness.manifest.table import near
from earwitness.scenes import sounds, tones
from earwitness.scenes.classes import SoundClass, builtin

RATE_HZ = tones.RATE_HZ
PEAK = 0.5
MIN_S, MAX_S = 1.0, 10.0

CLASSES: dict[str, SoundClass] = {name: builtin()[name] for name in sounds.RECIPES}
"""What can be rendered, by name; each is a class of the prompt sets."""


def render(label: str, seed: int, duration_s: float | None = None) -> NDArray[np.float32]:
    """One instance of a class.

    Args:
        label: A name of :data:`CLASSES`.
        seed: Any integer from 0; another seed is another instance.
        duration_s: Length in seconds, :data:`MIN_S` to :data:`MAX_S`; drawn between 1.6 and 2.8 by default.

    Returns:
        (n,) float32 at :data:`RATE_HZ`, peak :data:`PEAK`; it begins at once and ends in silence.

    Raises:
        UserError: If there is no such class.
        ValueError: If the duration is out of range.
    """
    if label not in sounds.RECIPES:
        raise UserError(
            f"There is no built-in sound {label!r}{near(label, CLASSES)}.",
            f"There are: {', '.join(CLASSES)}.",
        )
    rng = np.random.default_rng([zlib.crc32(label.encode()), seed])
    drawn_s = rng.uniform(1.6, 2.8)
    seconds = drawn_s if duration_s is None else duration_s
    if not MIN_S <= seconds <= MAX_S:
        raise ValueError(f"duration_s must lie in [{MIN_S}, {MAX_S}], not {seconds}")
    n = round(seconds * RATE_HZ)
    sound = sounds.RECIPES[label](rng, n)
    fall = int(0.1 * RATE_HZ)
    sound[n - fall :] *= np.linspace(1, 0, fall)
    return np.asarray(PEAK * sound / np.abs(sound).max(), np.float32)
