"""The noise that a trusted curator, who sees all answers, would add: by the textbook.

One person can change so many counts by 1 each; all of them together keep (ε, δ).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import betainc, expit, log_ndtr, ndtr

WIDE = 50.0
"""From this σ of the sum of all counts on, discrete Gaussian noise is Gaussian noise."""
SPREADS = 12.0


def gaussian_sigma(epsilon: float, delta: float, counts: int) -> float:
    """Of each count, by the analytic Gaussian mechanism (Balle and Wang 2018, Theorem 8)."""

    def given_away(shift: float) -> float:
        """δ(ε) of two unit Gaussians that lie `shift` apart."""
        near = float(ndtr(shift / 2 - epsilon / shift))
        return near - math.exp(epsilon + float(log_ndtr(-shift / 2 - epsilon / shift)))

    return math.sqrt(counts) / _largest(lambda shift: given_away(shift) <= delta, 1e-9)


def laplace_sigma(epsilon: float, delta: float, counts: int) -> float:
    """Of each count, by discrete Laplace noise, P(z) ∝ e^(-a|z|), with δ used.

    A changed count has the loss +a with probability e^a/(1+e^a) and -a otherwise, so all of them
    have the loss a(2K-t) with a binomial K.
    """

    def given_away(loss: float) -> float:
        least = math.floor((counts + epsilon / loss) / 2) + 1
        if least > counts:
            return 0.0
        near, far = (betainc(least, counts - least + 1, expit(sign * loss)) for sign in (1, -1))
        return float(near - math.exp(epsilon) * far)

    loss = _largest(lambda loss: given_away(loss) <= delta, epsilon / counts)
    return 1 / (math.sqrt(2) * math.sinh(loss / 2))


def discrete_gaussian_sigma(epsilon: float, delta: float, counts: int) -> float:
    """Of each count; the same as Gaussian noise where that is wide."""
    gaussian = gaussian_sigma(epsilon, delta, counts)
    if gaussian * math.sqrt(counts) > WIDE:
        return gaussian

    def given_away(parameter: float) -> float:
        """x with P(x) ∝ e^(-x²/2s²) moved by 1 has the loss (2x+1)/2s²; t of them add up."""
        furthest = math.ceil(SPREADS * parameter * math.sqrt(counts)) + counts
        x = np.arange(-furthest, furthest + 1)
        mass = np.exp(-(x**2) / (2 * parameter**2))
        mass /= mass.sum()
        total = mass
        if counts > 1:
            size = 2 * furthest + 1
            spectrum = np.fft.rfft(np.roll(mass, -furthest))
            total = np.roll(np.fft.irfft(spectrum**counts, size), furthest)
        loss = (2 * x + counts) / (2 * parameter**2)
        above = loss > epsilon
        return float((total[above] * -np.expm1(epsilon - loss[above])).sum())

    parameter = 1 / _largest(lambda s: given_away(1 / s) <= delta, 1 / (4 * gaussian + 1), 1e-7)
    x = np.arange(-math.ceil(SPREADS * parameter) - 1, math.ceil(SPREADS * parameter) + 2)
    mass = np.exp(-(x**2) / (2 * parameter**2))
    return math.sqrt(float((x**2 * mass).sum() / mass.sum()))


def _largest(passes: Callable[[float], bool], low: float, width: float = 1e-12) -> float:
    """The first value above `low` that does not pass, to a relative `width`."""
    high = 2 * low
    while passes(high):
        low, high = high, 2 * high
    while high - low > width * high:
        middle = (low + high) / 2
        low, high = (middle, high) if passes(middle) else (low, middle)
    return low
