"""The law of a sum of dummies: how far it lies from its mean, with which probability.

The analyst sees the dummies of all mixers, all batches and all positions of a row added up: S, the
sum of n independent numbers Z. With φ the characteristic function of Z - R, which is real because
the law is symmetric, the law of S around its mean has φ^n, and a finite Fourier transform gives its
probabilities modulo a period.

* A period above 2nR + 1 changes nothing. Otherwise it is so long that what lies outside has a
  probability below 2·10⁻¹⁶, by Bernstein's inequality (|Z-R| ≤ R, variance σ²).
* 1-φ is a sum of positive terms, so it is known to a few units in the last place, and so is
  n·ln φ: |a·e^-a| < 1 makes the error of φ^n some units, however large n is. A transform of N
  values adds less than log₂ N units to their Euclidean norm, and a sum of at most N probabilities
  at most √N times the norm of their errors.

Both errors are added to every tail: a quantile is never too near to the mean.

Ratios of probabilities need each of them with few relative errors, far out as well. `sum_law` has
them by convolution: all terms are positive, so that no digit is lost.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krand.promise import DUMMY_GRID, DummyLaw

Floats = NDArray[np.float64]

UNIT = 2.0**-52
OUTSIDE = 36.1
"""-ln of the probability, 2·10⁻¹⁶, of what may lie outside the period, on one side."""
RAREST = 1e-290
"""Sums that are rarer are not listed; of up to 15 draws there are none."""
AT_ONCE = 2**20
"""Terms of characteristic functions that are held in memory together."""


def sum_distance(law: DummyLaw, draws: int, tail: float) -> int:
    """The largest w with P[S - nR ≥ w] above `tail`: beyond it the sum lies no more often.

    >>> from krand.accounting.dummy_bounds import dummy_law
    >>> sum_distance(dummy_law(1.0, 1.0, 14), 1, 0.025)
    3
    """
    tails = sum_tails(law, draws)
    beyond = int(np.searchsorted(-tails, -tail, side="left"))  # tails fall
    if beyond < len(tails):
        return max(0, beyond - 1)
    return draws * law.reach  # the tail is below what can be computed: nothing is further out


@lru_cache(maxsize=64)
def sum_tails(law: DummyLaw, draws: int) -> Floats:
    """P[S - nR ≥ w] for w = 0, 1, …, rounded up; n is the number of draws."""
    period = _period(law, draws)
    half = period // 2
    masses = np.fft.irfft(_characteristic(law, draws, period), period)[: half + 1]
    error = math.sqrt(period) * UNIT * (64 + 8 * math.log2(period)) + 4e-16
    tails = np.minimum(np.cumsum(np.maximum(masses[::-1], 0.0))[::-1] + error, 1.0)
    tails.setflags(write=False)
    return np.asarray(tails)


@lru_cache(maxsize=64)
def sum_law(law: DummyLaw, draws: int) -> tuple[int, Floats]:
    """The least sum that is listed, and the probabilities of it and of those that follow.

    >>> sum_law(DummyLaw((2**62, 2**61)), 2)
    (0, array([0.0625, 0.25  , 0.375 , 0.25  , 0.0625]))
    """
    if draws == 1:
        start, masses = 0, np.array(law.weights, dtype=np.float64) / DUMMY_GRID
    else:
        half, rest = sum_law(law, draws // 2), sum_law(law, draws - draws // 2)
        start, masses = half[0] + rest[0], np.convolve(half[1], rest[1])
        kept = np.flatnonzero(masses > RAREST)
        start, masses = start + int(kept[0]), masses[kept[0] : kept[-1] + 1]
    masses.setflags(write=False)
    return start, masses


def _period(law: DummyLaw, draws: int) -> int:
    """A power of two, above all sums or at least above all but very rare ones."""
    part = OUTSIDE * law.reach / 3
    rare = part + math.sqrt(part * part + 2 * OUTSIDE * draws * law.variance)  # Bernstein
    most = min(draws * law.reach, math.ceil(rare))
    return 1 << (2 * most + 1).bit_length()


def _characteristic(law: DummyLaw, draws: int, period: int) -> Floats:
    """φ^n at the frequencies 0 … N/2 of the period."""
    lacking = _lacking(law, period)
    with np.errstate(divide="ignore"):
        logs = draws * np.log(np.abs(1 - lacking))
        near = lacking < 0.5
        logs[near] = draws * np.log1p(-lacking[near])
    signs = np.where((lacking > 1) & (draws % 2 == 1), -1.0, 1.0)
    return np.asarray(signs * np.exp(logs))


@lru_cache(maxsize=16)
def _lacking(law: DummyLaw, period: int) -> Floats:
    """1 - φ = 2 Σ w·(1 - cos 2xθ) = 4 Σ w·sin² xθ: the same for all sums with this period."""
    weights = 4 * np.array(law.half[1:], dtype=np.float64) / DUMMY_GRID
    distance = np.arange(1, law.reach + 1)
    angles = np.pi * np.arange(period // 2 + 1) / period
    lacking = np.empty(angles.size)
    step = max(1, AT_ONCE // max(1, law.reach))
    for start in range(0, angles.size, step):
        part = slice(start, start + step)
        lacking[part] = np.sin(np.outer(angles[part], distance)) ** 2 @ weights
    lacking.setflags(write=False)
    return lacking
