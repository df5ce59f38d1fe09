"""How many people named each word: a regression that never goes below zero.

The words that were found explain the counts at their positions; what other words add to every
position, and the noise, is left over. Level and spread of what is left over are read off the
positions that no found word touches. The hash makes those a fair sample of what any word's
positions hold besides the word itself, so words on no list widen the intervals instead of being
taken for somebody else's.

A position can only be too full, never too empty: a popular unknown word adds to it. Where far more
is left over than the spread allows, the position is set aside and the word's other positions
speak for it. A word with one hash has no other, so its count is that of everything there.

Where one person names several words that share a position, it is set once, and the regression takes
it for twice. That lowers the count of a word by at most the share (at_most - 1)·h/P of it, on
average over hashes. Whether a word is found does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import splu
from scipy.special import ndtri

__all__ = ["Regression", "regress"]

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

CENTRAL = 0.95
"""The share of the untouched positions that the level is read off."""
TOO_FULL = 5.0
"""A position is set aside if so many times the spread is left over there."""
ENOUGH = 1_000
"""Fewer averages than these do not show their own tails; then the normal law stands in."""
LARGE = 400
"""Above so many words that share positions with each other, sparse solvers are faster."""
HOPELESS = 1e6
"""A variance so many times that of one position is a division by zero but for rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Regression:
    """Counts of all words, found or not."""

    counts: Floats
    """Not held above zero: those of words that nobody named scatter around it."""
    standard_errors: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, slots=True)
class _LeftOver:
    """What is at positions besides the words that were found."""

    level: float
    spread: float
    below: float
    """How far below the level the average of a word's positions may lie; never positive."""
    above: float


def regress(
    estimates: Floats,
    positions: Places,
    found: NDArray[np.bool_],
    sigma: float,
    confidence: float,
    z: float | None = None,
) -> Regression:
    """Counts and intervals; found words explain each other, the others explain nothing.

    z: how many σ averages of counts need on each side; None where the noise is nearly normal.
    """
    z = float(ndtri((1 + confidence) / 2)) if z is None else z
    hashes = positions.shape[1]
    touched = np.zeros(len(estimates), dtype=bool)
    touched[positions[found]] = True
    left = _left_over(estimates[~touched], sigma, hashes, confidence, z)
    beyond, chosen = estimates - left.level, positions[found]
    everywhere = np.ones(len(estimates), dtype=bool)
    rest = beyond - _explained(_solve(beyond, chosen, everywhere)[0], chosen, len(beyond))
    usable = rest <= TOO_FULL * left.spread
    # Where all positions of a word are too full, they are all that is known of it.
    usable[chosen[~usable[chosen].any(axis=1)]] = True
    fitted, inverse = _solve(beyond, chosen, usable)
    rest = beyond - _explained(fitted, chosen, len(beyond))
    counts, used = _averages(rest[positions], usable[positions])
    counts[found] += fitted
    wider = np.sqrt(hashes / used)
    wider[found] = np.sqrt(hashes * inverse)
    return Regression(
        counts,
        left.spread / np.sqrt(hashes) * wider,
        counts - left.above * wider,
        counts - left.below * wider,
    )


def _explained(fitted: Floats, positions: Places, size: int) -> Floats:
    """What these words add to each position."""
    total = np.zeros(size)
    np.add.at(total, positions, fitted[:, None])
    return total


def _averages(values: Floats, usable: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Of each row the average of what is usable, or of all if nothing is; and of how many."""
    usable = usable | ~usable.any(axis=1, keepdims=True)
    used = usable.sum(axis=1).astype(np.float64)
    return np.where(usable, values, 0.0).sum(axis=1) / used, used


def _left_over(
    untouched: Floats, sigma: float, hashes: int, confidence: float, z: float
) -> _LeftOver:
    half = z / np.sqrt(hashes)
    if len(untouched) < 2 / (1 - CENTRAL):
        return _LeftOver(0.0, sigma, -half * sigma, half * sigma)
    low, high = np.quantile(untouched, [(1 - CENTRAL) / 2, (1 + CENTRAL) / 2])
    level = float(untouched[(low <= untouched) & (untouched <= high)].mean())
    spread = max(sigma, float(high - low) / (2 * float(ndtri((1 + CENTRAL) / 2))))
    below, above = -half * spread, half * spread
    # Neighbouring positions are as random as any: averages of them are averages of a word's.
    rows = untouched[: len(untouched) // hashes * hashes].reshape(-1, hashes) - level
    if len(rows) >= ENOUGH:
        # A found word's first fit is the average: too full is what lies far above that.
        averages, _ = _averages(rows, rows - rows.mean(axis=1, keepdims=True) <= TOO_FULL * spread)
        tails = np.quantile(averages, [(1 - confidence) / 2, (1 + confidence) / 2])
        below, above = min(tails[0], -half * sigma), max(tails[1], half * sigma)
    return _LeftOver(level, spread, float(below), float(above))


def _solve(beyond: Floats, positions: Places, usable: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Non-negative least squares, and the diagonal of the inverse normal matrix."""
    words, hashes = positions.shape
    kept = usable[positions]
    averages, used = _averages(beyond[positions], kept)
    counts, inverse = np.maximum(averages, 0.0), 1 / used
    if not words:
        return counts, inverse
    design = _design(positions, len(beyond))
    _, cluster = csgraph.connected_components(design.T @ design, directed=False)
    order = np.argsort(cluster, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        if len(members) > 1:
            places, rows = np.unique(positions[members], return_inverse=True)
            part = _design(rows.reshape(len(members), hashes), len(places))[usable[places]]
            counts[members] = _non_negative(part, beyond[places[usable[places]]])
            inverse[members] = _inverse_diagonal(part)
    return counts, inverse


def _design(positions: Places, size: int) -> sparse.csc_array:
    """One column for each word, a 1 at each of its positions."""
    words, hashes = positions.shape
    columns = np.repeat(np.arange(words), hashes)
    return sparse.csc_array((np.ones(columns.size), (positions.ravel(), columns)), (size, words))


def _non_negative(design: sparse.csc_array, values: Floats) -> Floats:
    if design.shape[1] <= LARGE:
        return np.asarray(optimize.nnls(design.toarray(), values)[0])
    solved = optimize.lsq_linear(design, values, (0, np.inf), tol=1e-8, lsmr_tol="auto")
    return np.asarray(solved.x)


def _inverse_diagonal(design: sparse.csc_array) -> Floats:
    """How much wider counts become because words share positions; ∞ where they are exchangeable.

    Words whose positions form a circle can take over each other's counts.
    """
    words = design.shape[1]
    normal = design.T @ design
    try:
        if words <= LARGE:
            factor = linalg.cho_factor(normal.toarray())
            inverse = np.diag(linalg.cho_solve(factor, np.eye(words))).copy()
        else:
            inverse = _sparse_inverse_diagonal(normal.tocsc())
    except (linalg.LinAlgError, RuntimeError):
        return np.full(words, np.inf)
    inverse[~((inverse > 0) & (inverse < HOPELESS))] = np.inf
    return inverse


def _sparse_inverse_diagonal(normal: sparse.csc_array) -> Floats:
    words, step = normal.shape[0], 128
    factor, inverse = splu(normal), np.empty(words)
    for start in range(0, words, step):
        chosen = np.arange(start, min(start + step, words))
        unit = np.zeros((words, len(chosen)))
        unit[chosen, chosen - start] = 1.0
        inverse[chosen] = factor.solve(unit)[chosen, chosen - start]
    return inverse
