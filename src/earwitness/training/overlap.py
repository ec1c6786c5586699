"""Was a listener trained on the sounds that it is now asked about?

What a detector reaches on sounds that it was fitted to says little of others, and it is the ceiling that
every system is read against. A data set of scenes names the sounds in it by their hashes and recordings, a
trained detector's folder those that it was trained on or that its thresholds were chosen by.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from earwitness.listeners import trained_in, trained_model
from earwitness.listeners.trained_model import Fitted
from earwitness.scenes import scene
from earwitness.scenes.dataset import SCENES
from earwitness.scenes.making import NAME as MADE
from earwitness.scenes.recordings import piece_of

TRAINED_ON = "trained_on"
"""Where a run's settings keep its :class:`Overlap`, as plain data."""


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
        same: Those that it was trained on: this is certain.
        related: Others whose recording_id is that of a recording that it was trained on. They may be of it:
            an id as short as ``1`` may stand for something else in another bank.
        alike: Others that look by their names like pieces of clips that it was trained on. They may be.
        unknown: Clips that it was trained on whose recording is not known; None if nothing is known of what
            it was trained on.
    """

    sounds: int
    same: int = 0
    related: int = 0
    alike: int = 0
    unknown: int | None = 0

    @property
    def count(self) -> str:
        """How many sounds were in the training and how many more may be, in words; empty if none."""
        of, may = f"of the data set's {self.sounds:,} sounds", self.related + self.alike
        if not self.same:
            recordings = _one_or_more(may, "a recording that was", "recordings that were")
            return f"{may:,} {of} may be of {recordings} in the listener's training" if may else ""
        more = f"; {may:,} more may be of {_one_or_more(may, 'a recording that was', 'recordings that were')}"
        were = _one_or_more(self.same, "was", "were")
        return f"{self.same:,} {of} {were} in the listener's training{more if may else ''}"

    @property
    def short(self) -> str:
        """A sentence for a paper, to stand beside the ceiling; empty if no sound was in the training."""
        return f"{self.count}: its ceiling {self._much} too high." if self.count else ""

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
            clips = _one_or_more(self.unknown, "clip", "clips")
            recordings = _one_or_more(self.unknown, "recording is", "recordings are")
            unsure = (
                f" Pieces of one recording may be on both sides unseen: of {self.unknown:,} {clips} that it "
                f"was trained on the {recordings} not known."
            )
        if not self.count:
            return f"None of the data set's {self.sounds:,} sounds was in the listener's training.{unsure}"
        counts = {"recording id": self.related, "name": self.alike}
        by = " and ".join(f"{count:,} by {what}" for what, count in counts.items() if count)
        return (
            f"CAUTION: {self.count}{f' ({by})' if by else ''}: what it reaches here, its ceiling included, "
            f"{self._much} too high.{unsure}"
        )

    @property
    def _much(self) -> str:
        return "is" if self.same else "may be"


def _one_or_more(count: int, one: str, more: str) -> str:
    return one if count == 1 else more


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


def kept(meta: Mapping[str, Any]) -> Overlap | None:
    """What the settings of a run say of it; None if its listener or its data were none to be held so."""
    found = meta.get(TRAINED_ON)
    return Overlap(**found) if found else None


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
