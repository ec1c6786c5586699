"""Is it known which clips of a bank come from one recording?

Conventions
-----------
A clip's recording is known if its bank states it: as ``recording_id`` in its metadata, or as the corpora of
:mod:`.corpora` do. Any other clip counts as a recording of its own. Names then tell something, which is said
and never acted on: clips look like pieces of one recording if they lie in one folder and their names differ
in nothing but a number of up to three digits, or a letter, at the end (``horn_1``, ``horn-2``, ``horn.b``,
``horn (3)``). What stands before it must say more than the label or a word such as "clip": those are
numbered all the same, whatever they come from.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from earwitness.scenes.making import UNKNOWN

if TYPE_CHECKING:
    from earwitness.scenes.bank import Source

REMEDY = (
    "Say which clips are of one recording: metadata.csv in the bank, with the columns file_name, label and "
    "recording_id"
)

_PIECE = re.compile(r"(.+?)[\s_.(-]+(?:\d{1,3}|[a-z])\)?", re.IGNORECASE)
_PLAIN = frozenset(
    ("audio", "clip", "file", "rec", "record", "recording", "sample", "sound", "take", "track")
)
_EXAMPLES = 2


@dataclass(frozen=True, slots=True)
class Recordings:
    """What is known of the recordings of some clips.

    Attributes:
        clips: How many there are.
        unknown: Those of them whose recording is not known.
        alike: Names of clips that look like pieces of one recording, by what their names share.
    """

    clips: int
    unknown: int
    alike: dict[str, tuple[str, ...]]

    @property
    def note(self) -> str:
        """What a user must know of it, louder if names look like pieces; empty if all are known."""
        if not self.unknown:
            return ""
        said = f"ecordings are not known for {self.unknown:,} of {self.clips:,} clips"
        if not self.alike:
            return (
                f"R{said}: each is taken as a recording of its own; pieces of one recording may lie on both "
                f"sides of a split. {REMEDY}."
            )
        several = f"{sum(map(len, self.alike.values())):,} of them look by their names like"
        names = [f"{pieces[0]} and {pieces[1]}" for pieces in self.alike.values()][:_EXAMPLES]
        return (
            f"CAUTION: r{said}, and {several} pieces of {len(self.alike):,} recordings (such as "
            f"{'; '.join(names)}): each is taken as a recording of its own, so pieces of one may lie on both "
            f"sides of a split, and what is measured on the test side is too good then. {REMEDY} (such "
            f"as {next(iter(self.alike))} for all its pieces)."
        )

    def settings(self) -> dict[str, int]:
        """The same as a setting of what is made of the clips."""
        return {UNKNOWN: self.unknown}


def recordings(sources: "Iterable[Source]") -> Recordings:
    """What is known of the recordings of some clips."""
    clips = list(sources)
    unknown = [one for one in clips if not one.recording_known]
    alike: dict[str, dict[str, None]] = {}  # a clip may be there under two labels
    for one in unknown:
        if whole := piece_of(one.name, one.label):
            alike.setdefault(whole, {})[one.name] = None
    several = {whole: tuple(names) for whole, names in alike.items() if len(names) > 1}
    return Recordings(len(clips), len(unknown), several)


def wholes(sources: "Iterable[Source]") -> frozenset[str]:
    """What clips whose recordings are not known look like pieces of."""
    return frozenset(piece_of(one.name, one.label) for one in sources if not one.recording_known) - {""}


def piece_of(name: str, label: str) -> str:
    """The recording that a clip of that name looks like a piece of; empty if by its name it is none."""
    path = PurePosixPath(name)
    found = _PIECE.fullmatch(path.stem)
    if found is None or _plain(found[1]) in _PLAIN | {_plain(label), _plain(path.parent.name)}:
        return ""
    return str(path.parent / found[1])


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()
