"""Embedding models: one file each, found by name, imported only when asked for."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from earwitness.backbones.base import Backbone
from earwitness.errors import UserError


@dataclass(frozen=True, slots=True)
class About:
    """What is to be known of a backbone before it is opened.

    Attributes:
        needs: Extra and weights.
        gives: Sizes of a frame, a clip and its logits.
        serves: Metrics it can be used for (tasks.distances.METRICS).
        timed: Whether a detector can be trained on it (base.Timed).
        paper: Where it comes from.
    """

    needs: str
    gives: str
    serves: tuple[str, ...]
    timed: bool
    paper: str


NAMES: dict[str, About] = {
    "yamnet": About(
        needs="nothing: the weights are fetched once",
        gives="1,024 numbers every 0.48 s, their mean, 521 logits",
        serves=("fad", "fd", "kad", "kl", "is"),
        timed=True,
        paper="Plakal and Ellis, YAMNet, 2019",
    ),
}
"""Every backbone by name."""


def open_backbone(name: str, *, weights: Path | None = None) -> Backbone:
    """The backbone of that name; its weights are loaded when they are first needed, or by ``ready``.

    Args:
        name: One of :data:`NAMES`.
        weights: A weights file (``clap``: a folder) of the user's; its sha256 is in ``version``. Optional for
            ``yamnet`` alone.

    Raises:
        UserError: If there is no such backbone (with the nearest name), or it has no weights of its own and
            none are given or they cannot be read.
    """
    if name == "yamnet":
        from earwitness.backbones.yamnet import Yamnet

        return Yamnet(weights=weights)
    near = difflib.get_close_matches(name, NAMES, n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise UserError(f"there is no backbone {name!r}.", f"{hint}Known: {', '.join(NAMES)}.")
