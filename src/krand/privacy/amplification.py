"""Bounds that know the channel only by its worst ratio: the local bound and clones.

They hold for every background. The blanket is never worse than clones and the one-bit supremum is
better than both; these are the yardsticks, and the local bound is the one that remains when the
shuffler is not trusted.

The sharper variation-ratio pair of Wang et al. (2024), which adds a silent own report to the
clones, is left out on purpose. Read as (A+Δ₁, C-A+Δ₂) it is not a bound here: two users, two bits,
q = 2/5 and λ = 2 give δ = 9/625 while that pair gives 4/625 (see the tests).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from krand.privacy.channel import local_epsilon, log_binomial, window_binomial

__all__ = ["clones_delta", "local_delta", "total_variation"]

Floats = NDArray[np.float64]

LEFT_OUT = 1e-30


def local_delta(q: float, distance: int, epsilon: float) -> float:
    """δ of one report seen alone: the shuffler is not trusted at all. 0 once ε ≥ ε₀."""
    if epsilon >= local_epsilon(q, distance):
        return 0.0
    log_q, log_p = math.log(q), math.log1p(-q)
    log_near = log_binomial(distance, log_p, log_q)
    log_far = log_binomial(distance, log_q, log_p) + epsilon
    # The score grows with the side of y', so the positive terms are those with near > λ·far.
    sure = log_near > log_far
    gain = float((np.exp(log_near[sure]) * -np.expm1((log_far - log_near)[sure])).sum())
    return min(1.0, gain * (1 + 1e-11) + LEFT_OUT)


def total_variation(q: float, distance: int) -> float:
    """Total variation between the reports of two answers at this distance."""
    return local_delta(q, distance, 0.0)


def clones_delta(q: float, distance: int, population: int, epsilon: float) -> float:
    """Feldman, McMillan, Talwar 2023: each other user is, with probability 2/(e^ε₀+1), a clone.

    Every K(x) ≥ r·(K(y)+K(y')), r = 1/(e^ε₀+1), and K(y), K(y') mix the same two extreme laws with
    weights e^ε₀ : 1 and 1 : e^ε₀. So the pair is A+Bern(1-r) against A+Bern(r), A ~ Bin(C, ½), with
    C ~ Bin(N-1, 2r) known.
    """
    odds = local_epsilon(q, distance)
    if odds > 600:
        return 1.0
    rare = 1 / (1 + math.exp(odds))
    first, weight = window_binomial(population - 1, 2 * rare)
    total: Floats = np.arange(first + 1, first + weight.size + 1, dtype=np.float64)
    lam = math.exp(epsilon)
    # Relative to Bin(T, ½), T = C+1, the score of a ones is linear in a.
    up, down = 2 / total * ((1 - rare) - lam * rare), 2 / total * (rare - lam * (1 - rare))
    slope, level = up - down, down * total
    start = np.clip(np.floor(-level / slope) + 1, 0, total + 1)
    mean = total / 2 * _upper_tail(start - 1, total - 1)
    gain = weight * (level * _upper_tail(start, total) + slope * mean)
    return min(1.0, float(np.maximum(gain, 0.0).sum()) * (1 + 1e-9) + LEFT_OUT)


def _upper_tail(start: Floats, total: Floats) -> Floats:
    """P[Bin(total, ½) ≥ start], 1 for start ≤ 0 and 0 beyond the total."""
    inside = (start > 0) & (start <= total)
    tail = betainc(np.where(inside, start, 1.0), np.where(inside, total - start + 1, 1.0), 0.5)
    return np.asarray(np.where(inside, tail, np.where(start <= 0, 1.0, 0.0)))
