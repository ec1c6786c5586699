"""From YAMNet's patch logits to events.

Conventions: times are seconds from the start of the clip; levels are dB of the 64 mel bands' summed
power in frames of 10 ms, so only differences mean anything. A label's *excess* at a patch is its
logit, smoothed over time, less its threshold.

A label is heard at the patches where its excess is positive and some frame of the patch is sound;
patches at most ``gap_s`` apart are one event. Labels that the listener claims to know are grouped (all
names of a barking dog are one group), and groups compete: a sound heard as two of them is most often one
sound and a resemblance. YAMNet sees 0.975 s at a time, so a label rises before its sound begins when it
is distinct, and after when it takes a while to be told: the onset is moved to a rise in level near it,
the offset to a fall. The figures in :class:`Rules` were chosen by benchmarks/tune_yamnet.py on mixtures
of the recordings on its ``tune`` side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.special import expit

from earwitness.backbones.yamnet_features import FRAME_S, LOG_OFFSET, MELS, PATCH_FRAMES
from earwitness.errors import UserError
from earwitness.events import Event, EventTable

Array = NDArray[np.float32]

_LEAD_FRAMES = PATCH_FRAMES // 2
"""Frames before the first that is centred inside the clip."""
_SILENCE_DB = 10 * math.log10(MELS * LOG_OFFSET**2) + 3
"""Digital silence is at 3 dB less; noise of about -95 dBFS is here."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How patches become events.

    Attributes:
        hop_s: From one patch to the next: a multiple of 0.01, at most 0.48.
        smooth_s: Logits are averaged over about this long.
        floor_db: Frames this far above the clip's background (10th percentile of its levels) are sound.
        range_db: So are frames at most this far below its loudest frame, for clips without a pause.
        gap_s: Stretches of one label at most this far apart are one event.
        rival: An event is dropped if, at its best patch, a label of another group has at least this
            much more excess.
        echo: It is dropped if a label of another group has more than its excess plus this (negative:
            even a weaker one), provided its own group is heard better elsewhere in the clip
            and is the best group there.
        unclaimed: Sound in which no label at all is heard goes to the known label with the most excess,
            if that is not less than minus this.
        unclaimed_s: Sound shorter than this (in patches) is left alone.
        early_s, back_s, late_s: The onset is the first rise from ``early_s`` before the event's first
            patch to ``late_s`` after it, else the last rise up to ``back_s`` before it. The offset
            mirrors this around the last patch.
        rise: A rise is where the level passes this share (in dB) of the way from the lowest to the
            highest level of the window searched; a fall likewise.
        step_db: A window whose levels span less has no edge: the patch's own time stays.
    """

    hop_s: float = 0.24
    smooth_s: float = 0.72
    floor_db: float = 6.0
    range_db: float = 20.0
    gap_s: float = 0.5
    rival: float = 3.5
    echo: float = -3.0
    unclaimed: float = 1.5
    unclaimed_s: float = 0.48
    early_s: float = 0.2
    back_s: float = 1.0
    late_s: float = 0.75
    rise: float = 0.2
    step_db: float = 6.0

    def __post_init__(self) -> None:
        whole = abs(self.hop_frames * FRAME_S - self.hop_s) < 1e-9
        if not whole or not 1 <= self.hop_frames <= _LEAD_FRAMES:
            raise UserError(f"hop_s must be a multiple of {FRAME_S} s up to 0.48 s, not {self.hop_s!r}.")

    @property
    def hop_frames(self) -> int:
        return round(self.hop_s / FRAME_S)


@dataclass(frozen=True, slots=True)
class Table:
    """What is stated of every label, in the order of the logits.

    Attributes:
        thresholds: (labels,) logits; infinity for a label that is never heard.
        groups: Name of the group of known labels it belongs to; empty if it is not claimed to be known.
    """

    labels: tuple[str, ...]
    thresholds: Array
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Patches ``first`` to ``last`` at which one label is heard, best at ``peak``.

    ``rival`` is the highest excess of another group's label at the peak, None if there is no contest.
    """

    label: int
    group: str
    first: int
    last: int
    peak: int
    excess: float
    rival: float | None


def events(mel: Array, logits: Array, duration_s: float, table: Table, rules: Rules) -> EventTable:
    """The events of a clip; none leaves the clip or is heard in its padding alone.

    Confidence is the logistic function of the best excess: 0.5 at the threshold. It orders the events of
    a label; it is no probability.

    Args:
        mel: (frames, 64) as backbones.yamnet_features.log_mel gives it.
        logits: (n, labels), one row a patch, the first centred on the clip's start.
        duration_s: Length of the clip.
    """
    level = _levels(mel, duration_s)
    steady = smoothed(logits, rules)
    excess, audible = steady - table.thresholds, _audible(level, len(logits), rules)
    heard = _uncontested(_stretches(excess, audible, table, rules), rules)
    found = []
    for one in heard + _unclaimed(excess, audible, heard, table, rules):
        onset = _edge(level, one.first * rules.hop_s, rules)
        after = level[round(onset / FRAME_S) :][::-1]  # an offset is an onset of the clip played backwards
        offset = duration_s - _edge(after, duration_s - max(onset, one.last * rules.hop_s), rules)
        offset = min(max(offset, onset + FRAME_S), duration_s)
        found.append(Event(table.labels[one.label], onset, offset, float(expit(one.excess))))
    return EventTable(tuple(found), duration_s)


def smoothed(logits: Array, rules: Rules) -> Array:
    """(n, labels) logits averaged over about ``smooth_s``; thresholds apply to these."""
    width = max(1, round(rules.smooth_s / rules.hop_s))
    steady: Array = uniform_filter1d(logits, width, axis=0, mode="nearest")
    return steady


def _levels(mel: Array, duration_s: float) -> Array:
    """Level of every 10 ms of the clip itself, without its padding; at least one."""
    inside = mel[_LEAD_FRAMES : _LEAD_FRAMES + max(1, int(duration_s / FRAME_S))]
    level: Array = 10 * np.log10(np.square(np.exp(inside)).sum(axis=1))
    return level


def _audible(level: Array, patches: int, rules: Rules) -> NDArray[np.bool_]:
    """(patches,) True where some frame of the clip within the patch is sound."""
    floor = min(float(np.quantile(level, 0.1)) + rules.floor_db, float(level.max()) - rules.range_db)
    sound = level > max(floor, _SILENCE_DB)
    starts = np.arange(patches) * rules.hop_frames - _LEAD_FRAMES
    return np.array([sound[max(0, start) : start + PATCH_FRAMES].any() for start in starts])


def _stretches(excess: Array, audible: NDArray[np.bool_], table: Table, rules: Rules) -> list[_Stretch]:
    heard = (excess > 0) & audible[:, np.newaxis]
    groups = np.array(table.groups)
    longest_step = rules.gap_s / rules.hop_s + 1e-6
    found = []
    for label in np.flatnonzero(heard.any(axis=0)):
        group = table.groups[label]
        rivals = (groups != "") & (groups != group)
        patches = np.flatnonzero(heard[:, label])
        for run in np.split(patches, np.flatnonzero(np.diff(patches) > longest_step) + 1):
            peak = run[excess[run, label].argmax()]
            rival = float(excess[peak, rivals].max()) if group and rivals.any() else None
            found.append(
                _Stretch(
                    int(label), group, int(run[0]), int(run[-1]), int(peak), float(excess[peak, label]), rival
                )
            )
    return found


def _uncontested(heard: Sequence[_Stretch], rules: Rules) -> list[_Stretch]:
    """Those that are not better explained by another group (see :class:`Rules`, rival and echo)."""

    def lead(one: _Stretch) -> float:
        return -np.inf if one.rival is None else one.rival - one.excess

    def better_elsewhere(one: _Stretch) -> bool:
        return any(o.group == one.group and o.excess > one.excess and lead(o) <= 0 for o in heard)

    return [
        one
        for one in heard
        if lead(one) <= rules.rival and (lead(one) <= rules.echo or not better_elsewhere(one))
    ]


def _unclaimed(
    excess: Array, audible: NDArray[np.bool_], heard: Sequence[_Stretch], table: Table, rules: Rules
) -> list[_Stretch]:
    """Stretches of sound in which nothing is heard, each given to the nearest known label."""
    free = audible.copy()
    for one in heard:
        free[max(0, one.first - 1) : one.last + 2] = False
    known = np.flatnonzero([group != "" for group in table.groups])
    patches = np.flatnonzero(free)
    found = []
    for run in np.split(patches, np.flatnonzero(np.diff(patches) > 1) + 1):
        if len(run) * rules.hop_s < rules.unclaimed_s or not len(known):
            continue
        best, nearest = np.unravel_index(excess[np.ix_(run, known)].argmax(), (len(run), len(known)))
        label, peak = int(known[nearest]), int(run[best])
        near = run[excess[run, label] > -rules.unclaimed]
        if len(near):
            most = float(excess[peak, label])
            found.append(_Stretch(label, table.groups[label], int(near[0]), int(near[-1]), peak, most, None))
    return found


def _edge(level: Array, at_s: float, rules: Rules) -> float:
    """The rise in level that belongs to a label first heard at ``at_s`` (see :class:`Rules`)."""
    at = min(round(at_s / FRAME_S), len(level) - 1)
    start = max(0, at - round(rules.back_s / FRAME_S))
    window = level[start : at + round(rules.late_s / FRAME_S) + 1]
    ordered = np.sort(window)  # np.quantile takes thirty times as long
    low, high = ordered[len(ordered) // 20], ordered[-1 - len(ordered) // 20]
    loud = window >= low + rules.rise * (high - low)
    before = np.concatenate(([start > 0], loud[:-1]))  # a clip may begin with its sound
    rises = start + np.flatnonzero(loud & ~before)
    if high - low < rules.step_db or not len(rises):
        return at * FRAME_S
    due = rises[rises >= at - round(rules.early_s / FRAME_S)]
    return float(due[0] if len(due) else rises[-1]) * FRAME_S
