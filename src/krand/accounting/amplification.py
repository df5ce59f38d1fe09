"""The bound that knows the channel only by its worst ratio: each response protects itself.

It holds for every background, and it is what remains when the collector is not trusted.

Clones (Feldman, McMillan, Talwar 2023) are not computed: the privacy blanket is never worse. The
sharper variation-ratio pair of Wang et al. (2024), which adds an own response that reveals nothing
to the clones, is not a bound here if it is read as (A+Δ₁, C-A+Δ₂): two users, two bits, q = 2/5 and
λ = 2 give δ = 9/625 while that pair gives 4/625 (see the tests).
"""

from __future__ import annotations

import math

import numpy as np

from krand.accounting.channel import local_epsilon, log_binomial, uncertainty

MOST_BITS = 1_000_000
"""Beyond so many noisy bits of one person the law is not summed up but bounded."""
SMALLEST = 1e-300
ROUNDING, ROUNDING_EACH = 1e-11, 1e-15
"""Relative error of a binomial law, generously: of all, and more for each bit."""


def local_delta(q: float, distance: int, epsilon: float) -> float:
    """δ of one response seen alone, rounded up: the collector is not trusted at all.

    It is 0 only where ε exceeds ε₀ for certain: a loss that cannot be told from ε counts.
    """
    odds, lower = local_epsilon(q), epsilon - uncertainty(epsilon)
    if lower > distance * odds * (1 + uncertainty(1.0)):
        return 0.0
    if distance > MOST_BITS:
        return _hoeffding(q, distance, lower)
    flips = np.arange(distance + 1, dtype=np.float64)
    loss = (2 * flips - distance) * odds
    loss += uncertainty(np.abs(loss))
    sure = loss > lower
    near = np.exp(log_binomial(distance, math.log1p(-q), math.log(q))[sure])
    gain = float((near * -np.expm1(lower - loss[sure])).sum())
    return min(1.0, gain * (1 + ROUNDING + distance * ROUNDING_EACH) + SMALLEST)


def _hoeffding(q: float, distance: int, epsilon: float) -> float:
    """δ ≤ P[loss > ε]: the loss is a sum of so many ±ln(p/q) with mean (p-q)·ln(p/q)."""
    odds = local_epsilon(q)
    over = epsilon - distance * (1 - 2 * q) * odds
    return math.exp(-((over / odds) ** 2) / (2 * distance)) if over > 0 else 1.0


def total_variation(q: float, distance: int) -> float:
    """Total variation between the responses of two answers at this distance."""
    return local_delta(q, distance, 0.0)
