"""How the sounds of a prompt are placed, so that the clip meets it.

Conventions
-----------
- ``before`` and ``after``: one sound after the other, at least :data:`GAP_S` between them.
- ``together``: the shorter sound lies wholly within the longer one, which begins at most
  :data:`TOGETHER_S` before it.
- ``closefirst``, ``farfirst``, ``equaldist``: the same slice twice. The pause between the copies is the
  longest (see :func:`spatial_gap`), as a listener tells two sounds apart by it. The level at 1 m is drawn,
  and a copy at d metres is 20 lg d dB below it (free field).
- ``count``, ``and``, ``or``, ``if_then_else``, ``not``: every sound begins anywhere; what overlaps adds.
- Each other level is drawn evenly from :data:`LOUDEST_DB` down to :data:`QUIETEST_DB`.
- A slice that does not fit is never drawn; none is moved or shortened.

The clip of ``or`` holds the first sound and its reference the second; that of ``if_then_else`` holds the
condition with what follows from it and its reference the alternative; that of ``not`` holds another sound.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from earwitness.scenes import placing, render
from earwitness.scenes.bank import Bank
from earwitness.scenes.recipe import MIX
from earwitness.scenes.ritta.deal import generator
from earwitness.scenes.ritta.prompts import Asked
from earwitness.scenes.scene import Placed, Scene
from earwitness.scenes.slices import Slice, Slices
from earwitness.scores.relations import SPATIAL

REFERENCES = "references"
"""Role of the scene that holds the second alternative of ``or`` and ``if_then_else``."""

GAP_S, SPATIAL_GAP_S, TOGETHER_S = 0.5, 1.5, 0.5
LONGER_S = 0.5
"""By how much the pause between two copies of a slice is longer than any within it."""
QUIETEST_DB, LOUDEST_DB = -29.0, -19.0

Chosen = tuple[list[Slice], list[int]]


def spatial_gap(piece: Slice, rate_hz: int) -> int:
    """Least samples between two copies of a slice: :data:`SPATIAL_GAP_S`, or more if it holds long pauses."""
    return max(round(SPATIAL_GAP_S * rate_hz), piece.pause + round(LONGER_S * rate_hz))


def fits_twice(piece: Slice, samples: int, rate_hz: int) -> bool:
    """Whether two copies of a slice and the gap between them fit into so many samples."""
    return 2 * piece.length + spatial_gap(piece, rate_hz) <= samples


@dataclass(frozen=True, slots=True)
class Stage:
    """Where sounds are placed.

    Attributes:
        bank: What the scenes are rendered from.
        slices: By class; one of each at least fits twice (see :func:`fits_twice`), so that any two classes
            fit one after the other.
        samples: Length of a scene.
        measure: Of levels, see :mod:`earwitness.scenes.levels`.
        ambience: What may lie under a scene, each at its level; empty for nothing.
    """

    bank: Bank
    slices: Slices
    rate_hz: int
    samples: int
    measure: str
    ambience: tuple[Placed, ...] = ()

    def scenes(self, key: str, asked: Asked, *, seed: int, where: Sequence[object]) -> dict[str, Scene]:
        """The scenes of a prompt by role, each with its gain chosen.

        Args:
            key: Their ``scene_id``.
            seed: To be kept in them.
            where: Names the draw (see :mod:`.deal`); nothing else decides it.
        """
        alternatives = asked.expected.alternatives
        present = {MIX: alternatives[0].present or (asked.heard,)}
        if asked.expected.relation in ("or", "if_then_else"):
            present[REFERENCES] = alternatives[1].present
        return {
            role: self._scene(key, asked, labels, seed, generator(*where, role))
            for role, labels in present.items()
        }

    def _scene(
        self, key: str, asked: Asked, labels: Sequence[str], seed: int, rng: np.random.Generator
    ) -> Scene:
        events = self._events(asked, labels, rng)
        scene = Scene(
            scene_id=key,
            family="ritta",
            rate_hz=self.rate_hz,
            samples=self.samples,
            level=self.measure,
            gain_db=0.0,
            events=events,
            prompt=asked.prompt,
            seed=seed,
            expected=asked.expected,
            ambience=self.ambience[int(rng.integers(len(self.ambience)))] if self.ambience else None,
        )
        return render.settled(scene, self.bank)

    def _events(self, asked: Asked, labels: Sequence[str], rng: np.random.Generator) -> tuple[Placed, ...]:
        relation, metres = asked.expected.relation, asked.expected.distances_m
        pools = [self.slices[label] for label in labels]
        if relation in SPATIAL and metres is not None:
            pieces, onsets = self._twice(pools[0], rng)
            at_1_m = rng.uniform(QUIETEST_DB, LOUDEST_DB)
            return tuple(
                placing.placed(label, piece, onset, at_1_m - piece.level_db - 20 * math.log10(m), m)
                for label, piece, onset, m in zip(labels, pieces, onsets, metres, strict=True)
            )
        if relation in ("before", "after"):
            pieces, onsets = self._in_turn(pools, rng)
        elif relation == "together":
            pieces, onsets = self._at_once(pools, rng)
        else:
            pieces = self._each(pools, rng)
            onsets = [placing.free(rng, piece.length, self.samples, self.rate_hz) for piece in pieces]
        return tuple(
            placing.placed(label, piece, onset, rng.uniform(QUIETEST_DB, LOUDEST_DB) - piece.level_db)
            for label, piece, onset in zip(labels, pieces, onsets, strict=True)
        )

    def _in_turn(self, pools: Sequence[Sequence[Slice]], rng: np.random.Generator) -> Chosen:
        gap = self._n(GAP_S)
        pieces = placing.fitting(rng, pools, self.samples, gap, self.rate_hz)
        lengths = [piece.length for piece in pieces]
        return pieces, placing.apart(rng, lengths, self.samples, gap, self.rate_hz)

    def _twice(self, pool: Sequence[Slice], rng: np.random.Generator) -> Chosen:
        fitting = [piece for piece in pool if fits_twice(piece, self.samples, self.rate_hz)]
        piece = fitting[int(rng.integers(len(fitting)))]
        gap = spatial_gap(piece, self.rate_hz)
        return 2 * [piece], placing.apart(rng, 2 * [piece.length], self.samples, gap, self.rate_hz)

    def _at_once(self, pools: Sequence[Sequence[Slice]], rng: np.random.Generator) -> Chosen:
        pieces = self._each(pools, rng)
        long, short = sorted((piece.length for piece in pieces), reverse=True)
        onset = placing.free(rng, long, self.samples, self.rate_hz)
        later = onset + int(rng.integers(min(self._n(TOGETHER_S), long - short), endpoint=True))
        return pieces, [onset, later] if pieces[0].length == long else [later, onset]

    def _each(self, pools: Sequence[Sequence[Slice]], rng: np.random.Generator) -> list[Slice]:
        """One slice of each pool, whether or not they would fit one after another."""
        return [placing.fitting(rng, [pool], self.samples, 0, self.rate_hz)[0] for pool in pools]

    def _n(self, seconds: float) -> int:
        return round(seconds * self.rate_hz)
