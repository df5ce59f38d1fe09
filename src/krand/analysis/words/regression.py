"""How many people named each word: a regression that is right on average.

The words that were found explain the counts at their positions; what other words add to every
position, and the noise, is left over. Level and spread of what is left over are read off the
positions that no found word touches. The hash makes those a fair sample of what any word's
positions hold besides the word itself, so words on no list widen the intervals instead of being
taken for somebody else's.

A position can only be too full, never too empty: a popular unknown word adds to it. A position is
set aside if far more is left over there than at the word's other positions, which then speak for
the word. What is left over is averaged in the same way to get the level, so setting aside neither
raises counts nor lowers them. A word with one hash has no other position, so its count is that of
everything there but what positions hold that no candidate has.

A word that was not found is itself part of what is left over. So its own positions are left out of
the level that is subtracted from it, and only those of its positions count that no found word
touches: a found word would explain half of it away.

Where one person names several words that share a position, it is set once, and the regression takes
it for twice. That lowers the count of a word by at most the share (at_most - 1)·h/P of it, on
average over hashes. Whether a word is found does not depend on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import lsqr, splu
from scipy.special import ndtri

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


@dataclass(frozen=True, slots=True, eq=False)
class _LeftOver:
    """What is at positions besides the words that were found, from rows of h such positions."""

    averages: Floats
    """Of what is usable of each row, as a word's count is an average."""
    row_of: Places
    """The row of every position; -1 where it is in none."""
    spread: float
    below: float
    """How far below the level the average of a word's positions may lie; never positive."""
    above: float

    @property
    def level(self) -> float:
        return float(self.averages.mean()) if self.averages.size else 0.0

    def level_without(self, positions: Places) -> Floats:
        """The level for each word, without the rows that its own positions are in."""
        if not self.averages.size:
            return np.zeros(len(positions))
        rows = np.sort(self.row_of[positions], axis=1)
        own = rows >= 0
        own[:, 1:] &= rows[:, 1:] != rows[:, :-1]  # each row once
        total = self.averages.sum() - np.where(own, self.averages[rows], 0.0).sum(axis=1)
        return np.asarray(total / np.maximum(len(self.averages) - own.sum(axis=1), 1))


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
    hashes, chosen, others = positions.shape[1], positions[found], positions[~found]
    free = np.ones(len(estimates), dtype=bool)
    free[chosen] = False
    quiet = free.copy()
    if hashes == 1:  # all candidates at a position are counted together: no other one adds to it
        quiet[positions] = False
    left = _left_over(estimates, quiet, sigma, hashes, confidence, z)
    beyond, everywhere = estimates - left.level, np.ones(len(estimates), dtype=bool)
    rest = beyond - _explained(_solve(beyond, chosen, everywhere)[0], chosen, len(beyond))
    usable = rest <= TOO_FULL * left.spread
    # Where all positions of a word are too full, they are all that is known of it.
    usable[chosen[~usable[chosen].any(axis=1)]] = True
    counts, wider = np.empty(len(positions)), np.empty(len(positions))
    counts[found], inverse = _solve(beyond, chosen, usable)
    wider[found] = np.sqrt(hashes * inverse)
    counts[~found], wider[~found] = _not_found(estimates, others, free, left)
    if hashes > 1:
        # No candidate shares all positions with another, or they would be one group; other words
        # may, and the level holds as much of both.
        counts += counts[~found].sum() * (hashes / len(estimates)) ** hashes
    return Regression(
        counts,
        left.spread / np.sqrt(hashes) * wider,
        counts - left.above * wider,
        counts - left.below * wider,
    )


def _not_found(
    estimates: Floats, positions: Places, free: NDArray[np.bool_], left: _LeftOver
) -> tuple[Floats, Floats]:
    """Counts at the positions that no found word touches, and how much wider intervals are.

    Without such a position the count cannot be told apart from those of the found words.
    """
    values, own = estimates[positions], free[positions]
    middle, known = _averages(values, own)[0], own.any(axis=1)
    own &= values - middle[:, None] <= TOO_FULL * left.spread
    averages, used = _averages(values, own)
    counts = np.where(known, averages - left.level_without(positions), 0.0)
    return counts, np.where(known, np.sqrt(positions.shape[1] / used), np.inf)


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
    estimates: Floats,
    quiet: NDArray[np.bool_],
    sigma: float,
    hashes: int,
    confidence: float,
    z: float,
) -> _LeftOver:
    half, row_of = z / np.sqrt(hashes), np.full(len(estimates), -1)
    places = np.flatnonzero(quiet)
    if len(places) < 2 / (1 - CENTRAL):
        return _LeftOver(np.empty(0), row_of, sigma, -half * sigma, half * sigma)
    low, middle, high = np.quantile(estimates[places], [(1 - CENTRAL) / 2, 0.5, (1 + CENTRAL) / 2])
    spread = max(sigma, float(high - low) / (2 * float(ndtri((1 + CENTRAL) / 2))))
    if hashes == 1:  # nothing else tells that a position is too full
        places = places[estimates[places] - middle <= TOO_FULL * spread]
    # Neighbouring positions are as random as any: averages of them are averages of a word's.
    rows = places[: len(places) // hashes * hashes].reshape(-1, hashes)
    row_of[rows] = np.arange(len(rows))[:, None]
    values = estimates[rows]
    # A found word's first fit is the average: too full is what lies far above that.
    usable = values - values.mean(axis=1, keepdims=True) <= TOO_FULL * spread
    averages, _ = _averages(values, usable)
    below, above = -half * spread, half * spread
    if len(rows) >= ENOUGH:
        tails = np.quantile(averages, [(1 - confidence) / 2, (1 + confidence) / 2])
        tails -= averages.mean()
        below, above = min(tails[0], -half * sigma), max(tails[1], half * sigma)
    return _LeftOver(averages, row_of, spread, float(below), float(above))


def _solve(beyond: Floats, positions: Places, usable: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """Least squares, and the diagonal of the inverse normal matrix."""
    words, hashes = positions.shape
    kept = usable[positions]
    averages, used = _averages(beyond[positions], kept)
    counts, inverse = averages, 1 / used
    if not words:
        return counts, inverse
    design = _design(positions, len(beyond))
    _, cluster = csgraph.connected_components(design.T @ design, directed=False)
    order = np.argsort(cluster, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1):
        if len(members) > 1:
            places, rows = np.unique(positions[members], return_inverse=True)
            part = _design(rows.reshape(len(members), hashes), len(places))[usable[places]]
            counts[members] = _least_squares(part, beyond[places[usable[places]]])
            inverse[members] = _inverse_diagonal(part)
    return counts, inverse


def _design(positions: Places, size: int) -> sparse.csc_array:
    """One column for each word, a 1 at each of its positions."""
    words, hashes = positions.shape
    columns = np.repeat(np.arange(words), hashes)
    return sparse.csc_array((np.ones(columns.size), (positions.ravel(), columns)), (size, words))


def _least_squares(design: sparse.csc_array, values: Floats) -> Floats:
    """Of all solutions the shortest, where words are exchangeable."""
    if design.shape[1] <= LARGE:
        return np.asarray(linalg.lstsq(design.toarray(), values)[0])
    return np.asarray(lsqr(design, values, atol=1e-12, btol=1e-12)[0])


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
