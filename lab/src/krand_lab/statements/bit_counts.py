"""The law of the number of ones among randomized bits, in whole numbers.

With q = a/b every probability of n bits is a whole number over b^n, so a law is a list of weights
and only ratios become fractions. Weights outside the support are zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from math import comb

__all__ = ["at", "count_weights", "count_weights_by_outcomes", "noises", "power", "times"]


def noises(max_denominator: int) -> tuple[Fraction, ...]:
    """Every 0 < q < 1/2 with a denominator up to this one, smaller denominators first."""
    return tuple(
        Fraction(a, b)
        for b in range(3, max_denominator + 1)
        for a in range(1, (b + 1) // 2)
        if Fraction(a, b).denominator == b
    )


def power(constant: int, linear: int, exponent: int) -> tuple[int, ...]:
    """Coefficients of (constant + linear·x)^exponent."""
    return tuple(
        comb(exponent, i) * constant ** (exponent - i) * linear**i for i in range(exponent + 1)
    )


def times(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...]:
    """Coefficients of the product of two polynomials."""
    result = [0] * (len(left) + len(right) - 1)
    for i, x in enumerate(left):
        for j, y in enumerate(right):
            result[i + j] += x * y
    return tuple(result)


@cache
def count_weights(ones: int, zeros: int, q: Fraction) -> tuple[int, ...]:
    """P(s = i) times b^n, i = 0..n: coefficients of (q + px)^ones (p + qx)^zeros (003 §4.2)."""
    flip, keep = q.numerator, q.denominator - q.numerator
    return times(power(flip, keep, ones), power(keep, flip, zeros))


def count_weights_by_outcomes(bits: Sequence[int], q: Fraction) -> tuple[int, ...]:
    """The same by the definition 002 (2.1): the sum over all 2^n outcomes of the randomization."""
    flip, keep = q.numerator, q.denominator - q.numerator
    weights = [0] * (len(bits) + 1)
    for outcome in product((0, 1), repeat=len(bits)):
        flips = sum(x != y for x, y in zip(bits, outcome, strict=True))
        weights[sum(outcome)] += flip**flips * keep ** (len(bits) - flips)
    return tuple(weights)


def at(weights: Sequence[int], index: int) -> int:
    """The weight with this index, zero outside the support."""
    return weights[index] if 0 <= index < len(weights) else 0
