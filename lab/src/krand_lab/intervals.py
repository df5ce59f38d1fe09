"""Confidence intervals for simulated probabilities and means."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

ENOUGH = 1000.0
"""From so many effective draws on, the normal interval is not widened."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A simulated number and its confidence interval; no samples: known in closed form."""

    value: float
    low: float
    high: float
    samples: int


def proportion(hits: int, samples: int, confidence: float) -> Estimate:
    """Clopper and Pearson's exact interval."""
    tail = (1.0 - confidence) / 2
    low = float(betaincinv(hits, samples - hits + 1, tail)) if hits else 0.0
    high = float(betaincinv(hits + 1, samples - hits, 1 - tail)) if hits < samples else 1.0
    return Estimate(hits / samples, low, high, samples)


def bounded_mean(values: Floats, confidence: float) -> Estimate:
    """The mean of values in [0, 1]: empirical Bernstein, cut at P[value > 0].

    The error probability is split: a quarter for each end of Bernstein, half for the cut.
    """
    n = len(values)
    mean = float(values.mean())
    log_term = math.log(2 / ((1.0 - confidence) / 4))
    half = math.sqrt(2 * float(values.var(ddof=1)) * log_term / n) + 7 * log_term / (3 * (n - 1))
    cut = proportion(int(np.count_nonzero(values)), n, confidence).high
    return Estimate(mean, max(0.0, mean - half), min(mean + half, cut), n)


def weighted(weight: Floats, payoff: Floats | Flags, untilted: int, confidence: float) -> Estimate:
    """The normal interval, widened while few draws carry the mean.

    If none does, the untilted draws alone bound the chance of what was never seen.
    """
    n = len(weight)
    if not payoff.any():
        return Estimate(0.0, 0.0, proportion(0, untilted, confidence).high, n)
    values = weight * payoff
    top = float(values.max())
    if top == 0.0:
        return Estimate(0.0, 0.0, 0.0, n)
    shares = values / top
    effective = float(shares.sum()) ** 2 / float(shares @ shares)
    half = -float(ndtri((1.0 - confidence) / 2)) * top * float(shares.std(ddof=1)) / math.sqrt(n)
    half *= max(1.0, math.sqrt(ENOUGH / effective))
    mean = top * float(shares.mean())
    return Estimate(mean, max(0.0, mean - half), min(1.0, mean + half), n)


def placed(estimate: Estimate, exact: float, mass: float) -> Estimate:
    """exact + mass · estimate."""
    value, low, high = (
        exact + mass * part for part in (estimate.value, estimate.low, estimate.high)
    )
    return Estimate(value, low, high, estimate.samples)
