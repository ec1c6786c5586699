"""One number at a time: two sides of a comparison to a row with value, interval and counts, or a reason."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import scipy.special
from numpy.typing import NDArray

from earwitness.backbones.base import Backbone, Worded
from earwitness.scores.class_distances import inception_score, kl_of_logits
from earwitness.scores.distances import Frechet, Gaussian, Moments, cosines, enough, interval
from earwitness.scores.kernel_distance import kernel_distance
from earwitness.stats.intervals import cluster_interval
from earwitness.tasks.distance_sounds import Frames, Sound
from earwitness.tasks.distances import Distance

NO_PAIR = "no clip has a counterpart in the reference"
NO_CAPTION = "no caption is known"


@dataclass(frozen=True, slots=True)
class Side:
    """Sounds of a set or of a reference.

    Attributes:
        clusters: The cluster of each.
        partners: The same name for a clip and its reference; empty for a sound that has no counterpart.
    """

    sounds: tuple[Sound, ...]
    clusters: tuple[str, ...]
    partners: tuple[str, ...]

    @property
    def frames(self) -> int:
        return sum(sound.frames for sound in self.sounds)


def alone(sounds: Sequence[Sound]) -> Side:
    """Every sound a cluster of its own."""
    return Side(tuple(sounds), tuple(sound.pcm_hash for sound in sounds), ("",) * len(sounds))


class Numbers:
    """The numbers of one backbone.

    Args:
        frames: Of all sounds; only the FAD asks for them.
        level: Confidence level of the intervals.
        draws, seed: Of the bootstrap of means.

    Every method takes a row that names system, part and metric and gives it filled in.
    """

    def __init__(self, backbone: Backbone, frames: Frames, level: float, draws: int, seed: int) -> None:
        self._backbone, self._frames = backbone, frames
        self._level, self._draws, self._seed = level, draws, seed
        self._last: tuple[tuple[str, ...], Gaussian] | None = None
        self.classifies = bool(backbone.classes)
        self.worded = hasattr(backbone, "words")

    def fad(self, row: Distance, side: Side, reference: Side) -> Distance:
        """Fréchet distance of all frames."""
        row = replace(row, n=side.frames, reference_n=reference.frames)
        return self._frechet(row, side, reference, self._backbone.width, of_frames=True)

    def fd(self, row: Distance, side: Side, reference: Side) -> Distance:
        """Fréchet distance of the clips."""
        row = replace(row, n=len(side.sounds), reference_n=len(reference.sounds))
        return self._frechet(row, side, reference, len(side.sounds[0].clip), of_frames=False)

    def kad(self, row: Distance, side: Side, reference: Side) -> Distance:
        """Kernel distance of the clips, none compared with its counterpart or with itself in the other set.

        Only so is the estimate unbiased: a clip is near its counterpart however far the sets are apart
        (Gretton et al., JMLR 13, 2012, leave these pairs out in equation 4).
        """
        row = replace(row, n=len(side.sounds), reference_n=len(reference.sounds))
        same = _together(side, reference)
        found = kernel_distance(
            _clips(side.sounds),
            _clips(reference.sounds),
            same=same,
            x_clusters=side.clusters,
            y_clusters=reference.clusters,
            level=self._level,
        )
        if isinstance(found, str):
            return replace(row, reason=found)
        return replace(row, value=found.value, low=found.low, high=found.high)

    def kl(self, row: Distance, side: Side, counterparts: Sequence[Sound]) -> Distance:
        """Mean KL(reference || clip) of the softmax over classes.

        Args:
            side: The clips that have a counterpart.
            counterparts: One a clip.
        """
        row = replace(row, n=len(side.sounds), reference_n=len(counterparts))
        if not self.classifies:
            return replace(row, reason=f"KL is between classes, and {self._backbone.name} is no classifier")
        if not side.sounds:
            return replace(row, reason=NO_PAIR)
        each = kl_of_logits(_logits(counterparts), _logits(side.sounds))
        return self._mean(row, each, side.clusters)

    def inception(self, row: Distance, side: Side) -> Distance:
        """Inception Score of the softmax over classes."""
        row = replace(row, n=len(side.sounds))
        if not self.classifies:
            return replace(row, reason=f"IS is over classes, and {self._backbone.name} is no classifier")
        chances = scipy.special.softmax(_logits(side.sounds), axis=1)
        found = inception_score(chances, side.clusters, level=self._level)
        if isinstance(found, str):
            return replace(row, reason=found)
        return replace(row, value=found.value, low=found.low, high=found.high)

    def clap(self, row: Distance, side: Side, captions: Sequence[str]) -> Distance:
        """Mean cosine of clip and caption.

        Args:
            side: The clips whose caption is known.
            captions: One a clip.
        """
        row = replace(row, n=len(side.sounds))
        if not self.worded:
            return replace(row, reason=f"{self._backbone.name} knows no words, so there is no CLAP score")
        if not captions:
            return replace(row, reason=NO_CAPTION)
        different = list(dict.fromkeys(captions))
        vectors = dict(zip(different, cast(Worded, self._backbone).words(different), strict=True))
        each = cosines(_clips(side.sounds), np.stack([vectors[caption] for caption in captions]))
        return self._mean(row, each, side.clusters)

    def _mean(self, row: Distance, each: NDArray[np.float64], clusters: Sequence[str]) -> Distance:
        found = cluster_interval(
            each, clusters, level=self._level, draws=self._draws, seed=self._seed, bounds=None
        )
        low, high = (found.low, found.high) if found else (None, None)
        return replace(row, value=float(each.mean()), low=low, high=high)

    def _frechet(
        self, row: Distance, side: Side, reference: Side, width: int, *, of_frames: bool
    ) -> Distance:
        if why := enough(row.n, width, row.reference_n):
            return replace(row, reason=why)
        key = (str(of_frames), *(sound.pcm_hash for sound in reference.sounds))
        if self._last is None or self._last[0] != key:  # sets after another have one reference
            self._last = key, self._gaussian(reference, of_frames)
        found = Frechet(self._gaussian(side, of_frames), self._last[1])
        influences: dict[str, float] = defaultdict(float)
        for sound, cluster in zip(side.sounds, side.clusters, strict=True):
            influences[cluster] += found.influence_a(self._rows(sound, of_frames))
        for sound, cluster in zip(reference.sounds, reference.clusters, strict=True):
            influences[cluster] += found.influence_b(self._rows(sound, of_frames))
        low, high = interval(found.value, influences.values(), self._level) or (None, None)
        return replace(row, value=found.value, low=low, high=high)

    def _gaussian(self, side: Side, of_frames: bool) -> Gaussian:
        moments = Moments()
        for sound in side.sounds:
            moments.add(self._rows(sound, of_frames))
        return moments.gaussian()

    def _rows(self, sound: Sound, of_frames: bool) -> NDArray[np.float32]:
        return self._frames[sound.pcm_hash] if of_frames else sound.clip[np.newaxis]


def _together(side: Side, reference: Side) -> list[tuple[int, int]]:
    """Places of the pairs that are one sound, then of counterparts; every place once."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for names, others in (
        ([sound.pcm_hash for sound in side.sounds], [sound.pcm_hash for sound in reference.sounds]),
        (side.partners, reference.partners),
    ):
        places: dict[str, list[int]] = defaultdict(list)
        for place, name in enumerate(others):
            if name and place not in taken:
                places[name].append(place)
        for place, name in enumerate(names):
            if place not in found and places.get(name):
                found[place] = places[name].pop(0)
                taken.add(found[place])
    return list(found.items())


def _clips(sounds: Sequence[Sound]) -> NDArray[np.float64]:
    return np.stack([sound.clip for sound in sounds]).astype(np.float64)


def _logits(sounds: Sequence[Sound]) -> NDArray[np.float64]:
    rows = [sound.logits for sound in sounds if sound.logits is not None]
    if len(rows) != len(sounds):
        raise ValueError(f"{len(sounds) - len(rows)} of {len(sounds)} sounds have no logits")
    return np.stack(rows).astype(np.float64)
