"""Bounds that know the channel only by its worst ratio: the local bound, clones, variation-ratio.

They hold for every background. The blanket and the one-bit supremum are usually tighter; these are
kept because now and then, for few users or loud noise, one of them is the best there is.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from krand.privacy.channel import local_epsilon, log_binomial, window_binomial

__all__ = ["local_delta", "total_variation", "variation_ratio_delta"]

Floats = NDArray[np.float64]

LEFT_OUT = 1e-30


def local_delta(q: float, distance: int, epsilon: float) -> float:
    """δ of one report seen alone: the shuffler is not trusted at all. 0 once ε ≥ ε₀."""
    if epsilon >= local_epsilon(q, distance):
        return 0.0
    log_q, log_p = math.log(q), math.log1p(-q)
    near = np.exp(log_binomial(distance, log_p, log_q))
    far = np.exp(log_binomial(distance, log_q, log_p))
    gain = float(np.maximum(near - math.exp(epsilon) * far, 0.0).sum())
    return min(1.0, gain * (1 + 1e-11) + LEFT_OUT)


def total_variation(q: float, distance: int) -> float:
    """Total variation between the reports of two answers at this distance."""
    return local_delta(q, distance, 0.0)


def variation_ratio_delta(
    q: float, distance: int, bits: int, population: int, epsilon: float
) -> float:
    """Wang et al. 2024, Theorem 4.8: a user differing in `distance` of `bits` bits among N.

    The pair is (A+Δ₁, C-A+Δ₂) against (A+Δ₂, C-A+Δ₁), C ~ Bin(N-1, 2r), A ~ Bin(C, ½), with
    α = β/(e^ε₀-1), r = α·e^(ε₀-ε₀'), Δ₁ ~ Bern(e^ε₀·α), Δ₂ ~ Bern(α) exclusive. For one bit
    this is the clones bound of Feldman, McMillan, Talwar 2023.
    """
    own, other = local_epsilon(q, distance), local_epsilon(q, bits)
    if own > 600 or epsilon >= own:
        return 0.0 if epsilon >= own else 1.0
    alpha = total_variation(q, distance) / math.expm1(own)
    hit = alpha * math.exp(own)
    share = hit * math.exp(-other)
    rest = max(0.0, 1 - hit - alpha)
    if share <= 1e-300 or 2 * share >= 1:
        return 1.0
    first, weight = window_binomial(population - 1, 2 * share)
    total = np.arange(first, first + weight.size, dtype=np.float64)
    lam = math.exp(epsilon)
    # Score of outcome (a, T-a) is linear in a: both clones at rate κ, the silent rest flat.
    with np.errstate(divide="ignore"):
        kappa = (1 - 2 * share) / ((population - total) * share)
    up, down = kappa * (hit - lam * alpha), kappa * (alpha - lam * hit)
    slope, level = up - down, down * total + rest * (1 - lam)
    start = np.clip(np.floor(-level / slope) + 1, 0, total + 1)
    beyond = _upper_tail(start, total)
    mean = total / 2 * _upper_tail(start - 1, total - 1)
    gain = float(np.maximum(weight * (level * beyond + slope * mean), 0.0).sum())
    return min(1.0, gain * (1 + 1e-9) + LEFT_OUT)


def _upper_tail(start: Floats, total: Floats) -> Floats:
    """P[Bin(total, ½) ≥ start], 1 for start ≤ 0 and 0 beyond the total."""
    inside = (start > 0) & (start <= total)
    tail = betainc(np.where(inside, start, 1.0), np.where(inside, total - start + 1, 1.0), 0.5)
    return np.asarray(np.where(inside, tail, np.where(start <= 0, 1.0, 0.0)))
