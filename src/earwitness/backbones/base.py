"""What turns a clip into numbers that distances and detectors are made of.

Conventions
-----------
A backbone hears mono float32 samples at its own rate. Its *frames* are embeddings of short windows in the
order of time; its *clip* embedding stands for the whole clip; its *logits*, if it is a classifier, are those
of the whole clip, before any softmax or sigmoid. The same samples give the same numbers alone or among
others: no random crop, no dependence on a batch. Everything that changes a number is in ``version`` and
``settings``, which enter the cache's key and the recipe that is printed under every distance.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from earwitness.errors import UserError

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Embedding:
    """What a backbone makes of one clip.

    Attributes:
        frames: (m, d) float32, m >= 1, finite.
        clip: (e,) float32; the mean of the frames unless the backbone has an embedding of whole clips.
        logits: (classes,) float32 of the whole clip; None if the backbone is no classifier.
    """

    frames: Floats
    clip: Floats
    logits: Floats | None


class Backbone(Protocol):
    """An embedding model with its front end. ``version`` states the weights, by hash."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """Rate, window, hop, padding and whatever else changes a frame, as plain JSON data."""
        ...

    @property
    def rate_hz(self) -> int: ...

    @property
    def width(self) -> int:
        """d, the size of a frame."""
        ...

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the logits; empty if it is no classifier."""
        ...

    def ready(self) -> None:
        """Load the weights.

        Raises:
            UserError: Naming the file or package that is missing and the remedy.
        """
        ...

    def embed(self, samples: Floats) -> Embedding:
        """Of (n,) mono samples at ``rate_hz``; a clip shorter than a window is padded.

        Raises:
            UnusableAudio: ``too_long`` for a backbone that sees clips as a whole, and not so long ones.
        """
        ...


class Timed(Backbone, Protocol):
    """A backbone whose features can be asked for at any moment: what a detector is trained on."""

    def timed(self, samples: Floats, hop_s: float) -> Floats:
        """(m, features) float32: row k is centred on ``k * hop_s`` of the clip; m = floor(n / hop) + 1."""
        ...

    def class_scores(self, samples: Floats, hop_s: float) -> Floats:
        """(m, classes) logits, framed as :meth:`timed`."""
        ...


class Worded(Backbone, Protocol):
    """A backbone that places words in the space of its clip embeddings (CLAP)."""

    def words(self, texts: Sequence[str]) -> Floats:
        """(n, e) embeddings of n texts."""
        ...


def finite(numbers: Floats, of: str) -> Floats:
    """The numbers themselves.

    Args:
        of: The backbone and its weights, for the error.

    Raises:
        UserError: If any is NaN or infinite: no distance could be made of them.
    """
    if not np.isfinite(numbers).all():
        raise UserError(f"{of} gave NaN or infinite numbers.", "Are these weights whole? Fetch them again.")
    return numbers
