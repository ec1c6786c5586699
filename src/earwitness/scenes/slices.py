"""Slices: the pieces of a bank's clips that scenes are made of.

Conventions
-----------
A clip is made mono at the scene's rate and searched from its first to its last sample above
:data:`AUDIBLE_DB` below its peak. From there it is cut, front to back, into pieces that do not overlap;
each begins and ends with an audible sample and lasts ``shortest_s`` to ``longest_s`` seconds, so onset and
offset in the truth are where sound begins and ends. What is left over is not used.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from earwitness.scenes.bank import Source

AUDIBLE_DB = 40.0


@dataclass(frozen=True, slots=True)
class Slice:
    """A piece of a source.

    Attributes:
        pcm_hash: Of the whole source, decoded as it is in its bank.
        start, length: Samples of the source, mono at the scene's rate.
        level_db: Level of the piece, faded as it will be, before any gain.
        fade: Samples of the ramps at its ends.
    """

    source: Source
    pcm_hash: str
    start: int
    length: int
    level_db: float
    fade: int


Slices = Mapping[str, tuple[Slice, ...]]
"""Label -> its slices, in an order that depends on the bank's content alone."""
