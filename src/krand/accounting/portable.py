"""exp and powers with the same bits on every processor, for numbers that go into plans.

Libraries of mathematics differ in the last digit of exp and log. Here they are made of additions,
multiplications and divisions, which are rounded in one way everywhere (IEEE 754), of a scaling by
powers of two, which is exact, and of nothing else. Sums that go into plans are whole numbers or
`math.fsum`, which rounds once. The results are good to 13 digits, and the same ones for everybody.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

LN_2_HIGH, LN_2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
"""ln 2 in two parts: products of the first with whole numbers below 2^20 are exact."""
SQRT_HALF = 0.7071067811865476
EXP_TERMS = 14
LOG_TERMS = 12
LEAST = -700.0
"""What is smaller has an exp of this: next to nothing."""


def portable_exp(x: Floats) -> Floats:
    """e^x for x ≤ 700; relative error below 1e-13.

    >>> portable_exp(np.array([0.0, 1.0]))
    array([1.        , 2.71828183])
    """
    x = np.maximum(x, LEAST)
    twos = np.rint(x / (LN_2_HIGH + LN_2_LOW))
    rest = (x - twos * LN_2_HIGH) - twos * LN_2_LOW
    total = np.ones_like(rest)
    for term in range(EXP_TERMS, 0, -1):  # 1 + r(1 + r/2(1 + r/3(…)))
        total = 1.0 + total * rest / term
    return np.asarray(np.ldexp(total, twos.astype(np.int32)))


def portable_log(x: Floats) -> Floats:
    """ln x for x > 0: with x = m·2^k, ln m = 2·artanh((m-1)/(m+1))."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < SQRT_HALF
    mantissa = np.where(small, 2 * mantissa, mantissa)
    twos = (exponent - small).astype(np.float64)
    ratio = (mantissa - 1.0) / (mantissa + 1.0)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for term in range(2 * LOG_TERMS + 1, 0, -2):
        total = 1.0 / term + square * total
    return np.asarray(twos * LN_2_HIGH + (twos * LN_2_LOW + 2.0 * ratio * total))


def portable_power(x: Floats, exponent: float) -> Floats:
    """x^p for x ≥ 0 and p > 0."""
    if exponent == 1.0:
        return x
    if exponent == 2.0:
        return x * x
    above = x > 0
    return np.where(above, portable_exp(exponent * portable_log(np.where(above, x, 1.0))), 0.0)
