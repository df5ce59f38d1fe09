"""How many of 2^b positions are flipped: the exact binomial distribution, without huge fractions.

The number of flips is drawn by inversion: K is the smallest k with U < F(k), for a uniform real
U and the distribution function F. Neither is ever known completely. U is known to `precision`
binary digits, u/2^precision ≤ U < (u+1)/2^precision, and F(k) lies between two whole numbers over
2^precision, rounded outwards. If these decide U < F(k) for all k, K is the same as with complete
knowledge; if not, more digits of U are drawn and F is computed more precisely. So K has exactly the
distribution F. One round decides, except with a probability of about 2^-50, and each further one
doubles the digits: that MOST_PRECISION digits do not decide has a probability below 2^-64.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache

from krand.promise import NOISE_GRID
from krand.randomness.generator import SecureRandom, stuck

GRID_BITS = NOISE_GRID.bit_length() - 1
FIRST_PRECISION, MOST_PRECISION = 64, 512
GUARD_BITS = 64
"""Digits beyond the precision, so that rounding rarely affects the digits that are compared."""


@dataclass(frozen=True, slots=True)
class BinomialBounds:
    """low[k] ≤ 2^precision · F(k) ≤ high[k] for k = 0, 1, … as far as the precision reaches."""

    precision: int
    low: tuple[int, ...]
    high: tuple[int, ...]

    def settle(self, digits: int) -> int | None:
        """K, or None if the digits of U do not decide it."""
        flips = bisect_right(self.low, digits)  # U < F(flips), and for no smaller k surely so
        if flips == len(self.low):
            return None
        return flips if flips == 0 or digits >= self.high[flips - 1] else None


def draw_flips(size_bits: int, numerator: int, random: SecureRandom) -> int:
    """The number of flips among 2^size_bits positions, each with probability numerator/2^32."""
    precision = FIRST_PRECISION
    digits = random.below(1 << precision)
    while precision <= MOST_PRECISION:
        flips = binomial_bounds(size_bits, numerator, precision).settle(digits)
        if flips is not None:
            return flips
        digits = digits << precision | random.below(1 << precision)
        precision *= 2
    raise stuck()


@lru_cache(maxsize=256)
def binomial_bounds(size_bits: int, numerator: int, precision: int) -> BinomialBounds:
    """F(k) from both sides, by whole numbers: one power, then from each mass to the next."""
    size = 1 << size_bits
    mean = (size * numerator >> GRID_BITS) + 1
    # P(no flip) = (1-q)^size ≥ 2^(-2·mean); this many additional digits represent it.
    scale = precision + GUARD_BITS + size_bits + 2 * mean
    low, high = _no_flip(size_bits, numerator, scale)
    drop = scale - precision
    lows, highs = [low >> drop], [(high >> drop) + 1]
    total_low, total_high = low, high
    for k in range(size):
        up, down = (size - k) * numerator, (k + 1) * (NOISE_GRID - numerator)
        low, high = low * up // down, -(-high * up // down)
        total_low, total_high = total_low + low, total_high + high
        lows.append(total_low >> drop)
        highs.append((total_high >> drop) + 1)
        if k > mean and high >> drop == 0:
            break
    return BinomialBounds(precision, tuple(lows), tuple(highs))


def _no_flip(size_bits: int, numerator: int, scale: int) -> tuple[int, int]:
    """(1 - q)^(2^size_bits) · 2^scale from both sides: squared again and again."""
    low = high = (NOISE_GRID - numerator) << (scale - GRID_BITS)
    for _ in range(size_bits):
        low, high = low * low >> scale, (high * high >> scale) + 1
    return low, high
