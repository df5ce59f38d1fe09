"""The count of ones at a position that is reported alone, as one of its answers changes.

Over a background of so many ones and zeros the others' count is Bin(km, p) + Bin(kz, q), p = 1-q;
one person's k own reports of a 0 or of a 1 come on top.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from krand_lab.exact.reports import log_binomial

Floats = NDArray[np.float64]

UNIT = 2.0**-53
TAIL = 13.0
"""Standard deviations kept of each binomial; what is left out is below 1e-30."""
DIRECT = 1_000_000
"""Products up to which convolutions are done term by term."""
TILT, EDGE = 4.0, 10.0
"""Wide convolutions are tilted by e^(±4 deviations) and cut at ±10 deviations."""


def one_bit_pair(q: float, ones: int, zeros: int, copies: int = 1) -> tuple[int, Floats, Floats]:
    """The count that the first entries are of, and its law where one person more has a 0, or a 1.

    To rounding, but for outcomes that have a probability below e^-50 under both.
    """
    low, kept = window_binomial(copies * ones, q, TAIL)
    high, raised = window_binomial(copies * zeros, q, TAIL)
    start = copies * ones - low - (kept.size - 1) + high
    others = _convolved(kept[::-1], raised)
    own = np.exp(log_binomial(copies, q))
    return start, np.convolve(others, own), np.convolve(others, own[::-1])


def one_bit_delta(q: float, ones: int, zeros: int, epsilon: float, copies: int = 1) -> float:
    """δ(ε) over this background, the worse direction: sums over all counts."""
    _, zero, one = one_bit_pair(q, ones, zeros, copies)
    lam = math.exp(epsilon)
    ways = (one - lam * zero, zero - lam * one)
    return max(float(np.maximum(way, 0.0).sum()) for way in ways)


def window_binomial(n: int, p: float, tail: float) -> tuple[int, Floats]:
    """(first, pmf) of Bin(n, p) on the window that holds all but e^(-tail²/2) of it.

    Built from the ratios of neighbours and normalised: log-gamma would lose six digits at n = 10^9.
    """
    if n == 0:
        return 0, np.ones(1)
    reach = int(tail * math.sqrt(n * p * (1 - p)) + 2.5 * tail) + 1
    low, high = max(0, int(n * p) - reach), min(n, int(n * p) + reach)
    k = np.arange(low, high, dtype=np.float64)
    steps = np.log((n - k) / (k + 1)) + (math.log(p) - math.log1p(-p))
    log_pmf = np.append(0.0, np.cumsum(steps))
    pmf = np.exp(log_pmf - log_pmf.max())
    return low, pmf / pmf.sum()


def window_error(size: int, p: float) -> float:
    """Relative error of every entry of `window_binomial` with so many entries, generously.

    An entry sums up logarithms of the same rounded log-odds, each with an error of its own: at
    most 24 times what stands in the brackets, in 6,000 windows.
    """
    return 32 * UNIT * (64 + 4 * size * (2 + abs(math.log(p) - math.log1p(-p))))


def _convolved(a: Floats, b: Floats) -> Floats:
    """a∗b; of long laws by FFT, each half tilted towards its tail, which so keeps its digits."""
    if a.size * b.size <= DIRECT or min(a.size, b.size) <= 8:
        return np.convolve(a, b)
    length = a.size + b.size - 1
    size = 1 << (length - 1).bit_length()
    (mean_a, var_a), (mean_b, var_b) = _moments(a), _moments(b)
    deviation = math.sqrt(var_a + var_b)
    where = (np.arange(length) - mean_a - mean_b) / deviation
    mass = np.zeros(length)
    for sign, half in (
        (-1.0, (where >= -EDGE) & (where < 0)),
        (1.0, (where >= 0) & (where <= EDGE)),
    ):
        spectra = [
            np.fft.rfft(law * np.exp(sign * TILT / deviation * (np.arange(law.size) - mean)), size)
            for law, mean in ((a, mean_a), (b, mean_b))
        ]
        product = np.fft.irfft(spectra[0] * spectra[1], size)[:length]
        mass[half] = np.maximum(product[half], 0.0) * np.exp(-sign * TILT * where[half])
    return mass


def _moments(mass: Floats) -> tuple[float, float]:
    k = np.arange(mass.size, dtype=np.float64)
    mean = float((mass * k).sum())
    return mean, float((mass * (k - mean) ** 2).sum())
