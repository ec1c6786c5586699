"""Embedding models: one file each, found by name, imported only when asked for."""

from dataclasses import dataclass
from pathlib import Path

from earwitness.backbones.base import Backbone
from earwitness.errors import UserError, choices, nearest


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


_EMBEDS = ("fad", "fd", "kad")
_CLASSIFIES = ("kl", "is")

NAMES: dict[str, About] = {
    "yamnet": About(
        needs="nothing: the weights are fetched once",
        gives="1,024 numbers every 0.48 s, their mean, 521 logits",
        serves=(*_EMBEDS, *_CLASSIFIES),
        timed=True,
        paper="Plakal and Ellis, YAMNet, 2019",
    ),
    "vggish": About(
        needs="extra torch, your weights file",
        gives="128 numbers every 0.96 s, their mean",
        serves=_EMBEDS,
        timed=False,
        paper="Hershey et al., CNN Architectures for Large-Scale Audio Classification, ICASSP 2017",
    ),
    "panns": About(
        needs="extra torch, your weights file (Cnn14)",
        gives="2,048 numbers a clip, 527 logits",
        serves=(*_EMBEDS, *_CLASSIFIES),
        timed=False,
        paper="Kong et al., PANNs, IEEE/ACM TASLP 28, 2020",
    ),
    "panns-framewise": About(
        needs="extra torch, your weights file (Cnn14_DecisionLevelMax)",
        gives="2,048 numbers every 0.32 s, their mean, 527 logits",
        serves=(*_EMBEDS, *_CLASSIFIES),
        timed=True,
        paper="Kong et al., PANNs, IEEE/ACM TASLP 28, 2020",
    ),
    "clap": About(
        needs="extra clap, your folder of weights",
        gives="512 numbers every 10 s, their mean (length 1), and of words",
        serves=(*_EMBEDS, "clap"),
        timed=False,
        paper="Wu et al., Large-Scale Contrastive Language-Audio Pretraining, ICASSP 2023",
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
            none are given or they are not there.
    """
    if name == "yamnet":
        from earwitness.backbones.yamnet import Yamnet

        return Yamnet(weights=weights)
    if name == "vggish":
        from earwitness.backbones.vggish import Vggish

        return Vggish(weights=weights)
    if name == "panns":
        from earwitness.backbones.panns import Panns

        return Panns(weights=weights)
    if name == "panns-framewise":
        from earwitness.backbones.panns import PannsFramewise

        return PannsFramewise(weights=weights)
    if name == "clap":
        from earwitness.backbones.clap import Clap

        return Clap(weights=weights)
    raise UserError(f"there is no backbone {name!r}.", choices(nearest(name, NAMES), NAMES))
