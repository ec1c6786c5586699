"""Was a listener trained on the sounds that it is now asked about?

What a detector reaches on sounds that it was fitted to says little of others, and it is the ceiling that
every system is read against. A data set of scenes names the sounds in it by their hashes and recordings, a
trained detector's folder those that it was trained on or that its thresholds were chosen by.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from earwitness.listeners import trained_in, trained_model
from earwitness.listeners.trained_model import Fitted
from earwitness.scenes import scene
from earwitness.scenes.dataset import SCENES
from earwitness.scenes.making import NAME as MADE
from earwitness.scenes.recordings import piece_of


class Sound(NamedTuple):
    """A clip that scenes are made of: audio.pcm_hash of it as it lay in its bank, its recording, and what it
    looks like a piece of by its name (scenes.recordings)."""

    pcm_hash: str
    recording_id: str
    piece: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """How much of a data set a listener was trained on.

    Attributes:
        sounds: Different sounds in the data set.
        same: Those that it was trained on.
        related: Others of a recording that it was trained on, by recording_id.
        alike: Others that look by their names like pieces of clips that it was trained on.
        unknown: Clips that it was trained on whose recording is not known; None if nothing is known of what
            it was trained on.
    """

    sounds: int
    same: int = 0
    related: int = 0
    alike: int = 0
    unknown: int | None = 0

    @property
    def doubtful(self) -> bool:
        """Whether a reader of scores must be warned."""
        return self.unknown is None or bool(self.same + self.related + self.alike + self.unknown)

    @property
    def sentence(self) -> str:
        """What a reader of scores must know."""
        if self.unknown is None:
            return (
                f"Whether any of the data set's {self.sounds:,} sounds was in the listener's training is not "
                "known, as its model was made before that was kept; train it again to have them counted."
            )
        unsure = ""
        if self.unknown:
            unsure = (
                f" Pieces of one recording may be on both sides unseen: of {self.unknown:,} clips that it "
                "was trained on the recordings are not known."
            )
        counts = {
            "the very sound": self.same,
            "of a recording that was": self.related,
            "pieces of such clips, as far as names tell": self.alike,
        }
        if not any(counts.values()):
            return f"None of the data set's {self.sounds:,} sounds was in the listener's training.{unsure}"
        parts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
        return (
            f"CAUTION: {sum(counts.values()):,} of the data set's {self.sounds:,} sounds were in the "
            f"listener's training ({parts}): what it reaches here is too high, its ceiling included.{unsure}"
        )


def overlap(listener: str, data: Path) -> Overlap | None:
    """How much of a data set of scenes a listener was trained on; None if it is no trained detector, or the
    data are no such data set.

    Args:
        listener: As :func:`earwitness.listeners.open_listener` takes it.
        data: The folder of the data set, its ``metadata.csv``, or the folder of its clips.

    Raises:
        UserError: If the model, or a scene, cannot be read.
    """
    folder = trained_in(listener)
    if folder is None:
        return None
    used = sounds_in(data) or sounds_in(data.parent)
    return counted(trained_model.read(folder).fitted, used) if used else None


def sounds_in(data: Path) -> frozenset[Sound]:
    """The sounds of every scene of a data set; none if the folder is no data set with scenes.

    Raises:
        UserError: If a scene cannot be read.
    """
    if not (data / MADE).is_file():
        return frozenset()
    scenes = map(scene.read, (data / SCENES).rglob("*.json"))
    return frozenset(
        Sound(one.source, one.recording_id, piece_of(one.name, one.label))
        for found in scenes
        for one in found.sounds
    )


def counted(fitted: Fitted | None, used: Collection[Sound]) -> Overlap:
    """How many of these sounds a model was fitted to."""
    sounds = {one.pcm_hash for one in used}
    if fitted is None:
        return Overlap(len(sounds), unknown=None)
    same = {one for one in sounds if fitted.holds(one)}
    related = {one.pcm_hash for one in used if one.recording_id in fitted.recordings} - same
    alike = {one.pcm_hash for one in used if one.piece in fitted.pieces} - same - related
    return Overlap(len(sounds), len(same), len(related), len(alike), fitted.unknown)
