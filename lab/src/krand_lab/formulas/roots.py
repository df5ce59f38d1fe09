"""Square roots that stay exact where they can, to hold the 3σ formulas to the letter."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt, sqrt

from krand.errors import InvalidInput
from krand_lab.formulas.arithmetic import Real

__all__ = ["root"]


def root(x: Real) -> Real:
    """√x: of a fraction without error, which must then be the square of a fraction."""
    if isinstance(x, float):
        return sqrt(x)
    result = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if result * result != x:
        raise InvalidInput("square", "must be the square of a fraction", x)
    return result
