"""Arithmetic of the drafts' formulas that neither overflows nor cancels."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, exp, expm1, inf, isqrt, log, log1p, sqrt
from typing import TypeVar

from krand.errors import CannotMeet, InvalidInput

Real = TypeVar("Real", float, Fraction)
"""A float, or a fraction where a formula is to be held against exact enumeration."""


def half_gap(x: float) -> float:
    """½(1 - √(1 - x)), without cancellation when x is small; 1 - 1/√(1+z) is x = z/(1+z)."""
    return x / (2 * (1 + sqrt(1 - x)))


def phi_less_one(q: float) -> float:
    """φ - 1 = (p - q)²/(pq)."""
    if not 0 < q <= 0.5:
        raise InvalidInput("noise", "must be above 0 and at most 1/2", q)
    return (1 - 2 * q) ** 2 / (q * (1 - q))


def log_powers(bits: int, phi_less_one: float) -> tuple[float, float]:
    """L·ln φ, and L·ln((φ²+φ-1)/φ²): the fourth moment beyond the square of the second."""
    phi = 1 + phi_less_one
    return bits * log1p(phi_less_one), bits * log1p(phi_less_one / phi / phi)


def outlier_variance(crowd: int, log_power: float, log_growth: float) -> float:
    """((φ²+φ-1)^L - φ^(2L))/N², in logarithms."""
    if log_growth == 0:
        return 0.0
    log_excess = log_growth + log(-expm1(-log_growth))  # ln(e^growth - 1)
    return exp_or_inf(2 * (log_power - log(crowd)) + log_excess)


def log_of_lambda(lam: float) -> float:
    if not lam > 1:
        raise InvalidInput("lam", "must be above 1", lam)
    return log(lam)


def exp_or_inf(x: float) -> float:
    return exp(x) if x < 709 else inf


def expm1_or_inf(x: float) -> float:
    return expm1(x) if x < 709 else inf


def least_noise(fits: Callable[[float], bool], source: str) -> float:
    """The least q in (0, ½] that fits, to the last bit; every condition here is monotone in q."""
    low, high = 0.0, 0.5
    if not fits(high):
        raise cannot_meet(source)
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def cannot_meet(source: str) -> CannotMeet:
    return CannotMeet(f"{source}: no noise satisfies this condition, not even 1/2")


def root(x: Real) -> Real:
    """√x: of a fraction without error, which must then be the square of a fraction."""
    if isinstance(x, float):
        return sqrt(x)
    result = Fraction(isqrt(x.numerator), isqrt(x.denominator))
    if result * result != x:
        raise InvalidInput("square", "must be the square of a fraction", x)
    return result


def choose(n: int, k: int) -> int:
    """C(n, k), which is 0 outside 0 ≤ k ≤ n as the drafts' sums need it."""
    return comb(n, k) if k >= 0 else 0
