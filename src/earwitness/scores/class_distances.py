"""How far apart are distributions over classes? KL clip by clip, and the Inception Score of a set.

Conventions
-----------
Distributions are rows of probabilities over the classes of one classifier; divergences are in nats. Nothing
is added to a probability: a KL that would be infinite is an error, and :func:`kl_of_logits` never is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray

from earwitness.scores.distances import finite_rows, interval

Floats = NDArray[np.float64]

SUM = 1e-6  # how far from 1 the sum of a row of probabilities may be


@dataclass(frozen=True, slots=True)
class Score:
    """An Inception Score and its confidence interval (None with fewer than 2 clusters)."""

    value: float
    low: float | None
    high: float | None


def kl(reference: ArrayLike, generated: ArrayLike) -> Floats:
    """KL(reference || generated) of every pair of rows, in nats.

    Args:
        reference, generated: (n, c) probabilities; row k of either is of the same pair of clips.

    Returns:
        (n,), at least 0.

    Raises:
        ValueError: If there are other numbers of rows or classes on one side, if a row is no distribution
            (not finite, negative, or its sum further than 1e-6 from 1), or if the divergence of a pair is
            infinite; names the row.
    """
    truth, made = _distributions("reference", reference), _distributions("generated", generated)
    if truth.shape != made.shape:
        raise ValueError(f"reference has shape {truth.shape} and generated {made.shape}")
    terms = scipy.special.rel_entr(truth, made)
    if not np.isfinite(terms).all():
        row, column = np.argwhere(~np.isfinite(terms))[0]
        raise ValueError(
            f"row {row}: generated gives class {column} no chance, which the reference holds; "
            "the divergence is infinite. Give logits to kl_of_logits instead"
        )
    # rows sum to 1 only within SUM, so that equal distributions may come out below zero
    each: Floats = np.maximum(terms.sum(axis=1), 0.0)
    return each


def kl_of_logits(reference: ArrayLike, generated: ArrayLike) -> Floats:
    """As :func:`kl`, of the softmax of logits (n, c); finite for all finite logits."""
    truth, made = finite_rows("reference", reference), finite_rows("generated", generated)
    if truth.shape != made.shape:
        raise ValueError(f"reference has shape {truth.shape} and generated {made.shape}")
    log_truth = scipy.special.log_softmax(truth, axis=1)
    log_made = scipy.special.log_softmax(made, axis=1)
    each: Floats = np.maximum((np.exp(log_truth) * (log_truth - log_made)).sum(axis=1), 0.0)
    return each


def inception_score(
    p: ArrayLike, clusters: Sequence[str] | None = None, *, level: float = 0.95
) -> Score | str:
    """exp of the mean KL between a clip's distribution and that of all clips (Salimans et al., NeurIPS 2016).

    The distribution of all clips is itself an estimate, so that the score of few clips is too low and rises
    with their number: compare sets of one size. The interval is that of the score's first-order change by
    every clip, on the logarithmic scale; it is one of scores of that many clips, and in simulations of 100
    classes with 2 to 20 clips it never held the score of many.

    Args:
        p: (n, c) probabilities, one row a clip.
        clusters: The cluster of every clip; by default each its own.
        level: Confidence level of the interval, in (0, 1).

    Returns:
        1 (all clips alike) to c, or the reason why there is none: fewer than two clips.

    Raises:
        ValueError: If a row is no distribution or clusters do not match; names the row.
    """
    rows = _distributions("p", p)
    names = list(range(len(rows))) if clusters is None else list(clusters)
    if len(names) != len(rows):
        raise ValueError(f"{len(names)} clusters do not match {len(rows)} rows")
    if len(rows) < 2:
        return f"an Inception Score takes at least 2 clips; there are {len(rows)}"
    each = scipy.special.rel_entr(rows, rows.mean(axis=0)).sum(axis=1)
    mean = float(each.mean())
    codes = np.unique(np.asarray(names), return_inverse=True)[1].ravel()
    found = interval(mean, np.bincount(codes, weights=each - mean) / len(rows), level)
    if found is None:
        return Score(exp(mean), None, None)
    return Score(exp(mean), exp(found[0]), exp(found[1]))


def _distributions(name: str, rows: ArrayLike) -> Floats:
    table = finite_rows(name, rows)
    if (table < 0).any():
        row, column = np.argwhere(table < 0)[0]
        raise ValueError(f"{name}: row {row} is no distribution: class {column} has {table[row, column]:.6g}")
    sums = table.sum(axis=1)
    if (np.abs(sums - 1) > SUM).any():
        row = int(np.flatnonzero(np.abs(sums - 1) > SUM)[0])
        raise ValueError(f"{name}: row {row} is no distribution: its sum is {sums[row]:.6g}, not 1")
    return table
