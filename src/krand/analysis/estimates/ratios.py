"""Intervals for a ratio of two estimated counts: a share of those who answered, a mean.

Fieller: θ = X/Y is plausible where X - θY, which is normal with mean 0, lies within z of its own
deviation. No linearisation, and honest where the bottom is all but lost in the noise: then every
ratio is plausible.

Cells that are counted independently have a variance each. If the crowd is a sample, a cell of x
people adds x, times the finite population correction: X - θY is a sum over people, and at the true
θ its mean is 0, so its variance is that of a sum of independent people.
"""

from __future__ import annotations

import numpy as np

from krand.analysis.mechanisms.models import Floats


def ratio_limits(
    top: Floats,
    bottom: Floats,
    top_variance: Floats,
    bottom_variance: Floats,
    covariance: Floats,
    z: Floats | float,
) -> tuple[Floats, Floats]:
    """All θ with (X-θY)² ≤ z²·Var(X-θY); everything where Y itself could be 0."""
    square = bottom**2 - z**2 * bottom_variance
    cross = top * bottom - z**2 * covariance
    rest = top**2 - z**2 * top_variance
    known = (square > 0) & (bottom > 0)
    half = np.sqrt(np.maximum(cross**2 - square * rest, 0.0))
    divisor = np.where(known, square, 1.0)
    low = np.where(known, (cross - half) / divisor, -np.inf)
    high = np.where(known, (cross + half) / divisor, np.inf)
    return low, high


def weighted_limits(
    weights: Floats, cells: Floats, variances: Floats, z: float
) -> tuple[float, float]:
    """The interval of Σwx / Σx for independent cells."""
    low, high = ratio_limits(
        np.asarray(weights @ cells),
        np.asarray(cells.sum()),
        np.asarray(weights**2 @ variances),
        np.asarray(variances.sum()),
        np.asarray(weights @ variances),
        z,
    )
    return float(low), float(high)


def ratio_error(
    ratio: Floats, bottom: Floats, top_variance: Floats, bottom_variance: Floats, covariance: Floats
) -> Floats:
    """The standard error of X/Y to first order (delta method)."""
    variance = top_variance - 2 * ratio * covariance + ratio**2 * bottom_variance
    error: Floats = np.sqrt(np.maximum(variance, 0.0)) / bottom
    return error
