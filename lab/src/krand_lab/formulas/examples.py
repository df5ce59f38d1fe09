"""Particular collections: two reports, and one zero among equal reports (003 (7.1)–(7.9), §8).

As printed, from the part of 003 that is headed "IGNORE BELOW THIS POINT". D holds N unit vectors,
or a unit vector and x; in D_m a unit vector is turned to zeros. l_1 and l_2 stand for two reports
and for the numbers of bits set in them, and p(l|x) is the probability of that very report, not of
the number. (7.10) and (8.9) are empty.
"""

from __future__ import annotations

from math import comb

from krand_lab.enumeration import Vector
from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.synthetic import report_probability_002_2

# --- §7: two reports ---------------------------------------------------------------------------


def mean_ratio_003_7_1(bits: int, q: Real) -> Real:
    """Σ_l C(L,l) p^l q^(L-l)·(p/q)^(L-2l), which is 1: the ratio at the expected counts of D."""
    p = 1 - q
    terms = (
        comb(bits, ones) * p**ones * q ** (bits - ones) * (p / q) ** (bits - 2 * ones)
        for ones in range(bits + 1)
    )
    return sum(terms, 0 * q)  # 003 (7.1)


def ratio_of_two_003_7_2(l1: Vector, l2: Vector, z: Vector, x: Vector, q: Real) -> Real:
    """The ratio of two reports when D = {z, x} and z is turned to zeros."""
    zeros = (0,) * len(x)
    above = _either_way(l1, l2, zeros, x, q)
    return above / _either_way(l1, l2, z, x, q)  # 003 (7.2)


def ratio_of_two_003_7_2_divided(l1: Vector, l2: Vector, z: Vector, x: Vector, q: Real) -> Real:
    """(7.2) divided by p(l_1|z)·p(l_2|x) above and below, its right side."""
    zeros = (0,) * len(x)
    first = _given(l1, zeros, q) / _given(l1, z, q)
    cross = _given(l1, x, q) / (_given(l1, z, q) * _given(l2, x, q))
    return (first + cross * _given(l2, zeros, q)) / (1 + cross * _given(l2, z, q))  # 003 (7.2)


def ratio_of_two_003_7_3(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(7.2) with z = 1, its right side."""
    return ratio_of_two_003_7_2_divided(l1, l2, (1,) * len(x), x, q)  # 003 (7.3)


def report_of_zeros_003_7_4(bits: int, ones: int, q: Real) -> Real:
    """p(l|0) = p^(L-l) q^l."""
    return (1 - q) ** (bits - ones) * q**ones  # 003 (7.4)


def report_of_ones_003_7_5(bits: int, ones: int, q: Real) -> Real:
    """p(l|1) = p^l q^(L-l)."""
    return (1 - q) ** ones * q ** (bits - ones)  # 003 (7.5)


def ratio_of_two_003_7_6(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(7.3) with p(l_1|0)/p(l_1|1) = (p/q)^(L-2l_1)."""
    bits, ones = len(x), (1,) * len(x)
    weight = _given(l1, x, q) * _given(l2, ones, q) / (_given(l1, ones, q) * _given(l2, x, q))
    second = _given(l2, (0,) * bits, q) / _given(l2, ones, q)
    first = ((1 - q) / q) ** (bits - 2 * sum(l1))
    return (first + second * weight) / (1 + weight)  # 003 (7.6)


def ratio_of_two_003_7_7(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(7.6) with p^(l_2-l_1) q^(L-(l_2-l_1)) for p(l_2|1)/p(l_1|1).

    Wrong by the factor q^L: the quotient is (p/q)^(l_2-l_1), see `ratio_of_two_003_7_7_corrected`.
    """
    return _weighted(l1, l2, _printed_weight(l1, l2, x, q), q)  # 003 (7.7)


def ratio_of_two_003_7_7_corrected(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(7.6) with (p/q)^(l_2-l_1) for p(l_2|1)/p(l_1|1)."""
    odds = ((1 - q) / q) ** (sum(l2) - sum(l1))
    return _weighted(l1, l2, odds * _given(l1, x, q) / _given(l2, x, q), q)


def ratio_of_two_003_7_8(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(7.7) with (p/q)^(L-2l_1) put in front; wrong as it is."""
    odds, weight = (1 - q) / q, _printed_weight(l1, l2, x, q)
    above = 1 + odds ** (2 * (sum(l1) - sum(l2))) * weight
    return odds ** (len(x) - 2 * sum(l1)) * above / (1 + weight)  # 003 (7.8)


def ratio_of_two_003_7_9(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(p/q)^(L-2l_1)·(1 + q^L (p/q)^(l_1-l_2) r)/(1 + q^L (q/p)^(l_1-l_2) r).

    r = p(l_1|x)/p(l_2|x). Wrong as (7.7) is: without both q^L it is right, see
    `ratio_of_two_003_7_9_corrected`.
    """
    return _ratio_003_7_9(l1, l2, q ** len(x) * _given(l1, x, q) / _given(l2, x, q), q)  # 003 (7.9)


def ratio_of_two_003_7_9_corrected(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """(p/q)^(L-2l_1)·(1 + (p/q)^(l_1-l_2) r)/(1 + (q/p)^(l_1-l_2) r), r = p(l_1|x)/p(l_2|x)."""
    return _ratio_003_7_9(l1, l2, _given(l1, x, q) / _given(l2, x, q), q)


def _given(report: Vector, x: Vector, q: Real) -> Real:
    """p(l|x)."""
    return report_probability_002_2(x, report, q)


def _either_way(l1: Vector, l2: Vector, x: Vector, y: Vector, q: Real) -> Real:
    """p(l_1|x)p(l_2|y) + p(l_1|y)p(l_2|x)."""
    return _given(l1, x, q) * _given(l2, y, q) + _given(l1, y, q) * _given(l2, x, q)


def _printed_weight(l1: Vector, l2: Vector, x: Vector, q: Real) -> Real:
    """p^(l_2-l_1) q^(L-(l_2-l_1))·p(l_1|x)/p(l_2|x)."""
    more = sum(l2) - sum(l1)
    return (1 - q) ** more * q ** (len(x) - more) * _given(l1, x, q) / _given(l2, x, q)


def _weighted(l1: Vector, l2: Vector, weight: Real, q: Real) -> Real:
    """((p/q)^(L-2l_1) + (p/q)^(L-2l_2)·weight)/(1 + weight)."""
    odds, bits = (1 - q) / q, len(l1)
    first, second = odds ** (bits - 2 * sum(l1)), odds ** (bits - 2 * sum(l2))
    return (first + second * weight) / (1 + weight)


def _ratio_003_7_9(l1: Vector, l2: Vector, factor: Real, q: Real) -> Real:
    odds, more = (1 - q) / q, sum(l1) - sum(l2)
    above, below = 1 + odds**more * factor, 1 + factor / odds**more
    return odds ** (len(l1) - 2 * sum(l1)) * above / below


# --- §8 "WILD WEST": one report of zeros, N-1 reports s ----------------------------------------


def probability_003_8_1(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """p(S|D) = N q^L p(s|1)^(N-1), where `ones` bits of s are set.

    N times too large at s = 0, when all reports are equal and there is one arrangement only.
    """
    from_ones = report_of_ones_003_7_5(bits, ones, q)
    return crowd * q**bits * from_ones ** (crowd - 1)  # 003 (8.1)


def probability_modified_003_8_2(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """p(S|D_m) = p(0|0)p(s|1)^(N-1) + (N-1)p(0|1)p(s|0)p(s|1)^(N-2).

    N times too large at s = 0, as (8.1) is.
    """
    from_zeros, from_ones = _reports_of_s(bits, ones, q)
    none_from_zeros, none_from_ones = _reports_of_s(bits, 0, q)
    outlier = none_from_zeros * from_ones ** (crowd - 1)
    other = none_from_ones * from_zeros * from_ones ** (crowd - 2)
    return outlier + (crowd - 1) * other  # 003 (8.2)


def probability_modified_003_8_3(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """p(S|D_m) = p^L p(s|1)^(N-1) + (N-1)q^L p(s|0)p(s|1)^(N-2), wrong at s = 0 as (8.2) is."""
    n, (from_zeros, from_ones) = crowd, _reports_of_s(bits, ones, q)
    other = q**bits * from_zeros * from_ones ** (n - 2)
    return (1 - q) ** bits * from_ones ** (n - 1) + (n - 1) * other  # 003 (8.3)


def ratio_003_8_4(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """p(S|D_m)/p(S|D), (8.3) over (8.1); (8.5) repeats it. Right also at s = 0."""
    above = probability_modified_003_8_3(crowd, bits, ones, q)
    return above / probability_003_8_1(crowd, bits, ones, q)  # 003 (8.4)


def ratio_003_8_6(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """((p/q)^L + (N-1)·p(s|0)/p(s|1))/N."""
    from_zeros, from_ones = _reports_of_s(bits, ones, q)
    odds = ((1 - q) / q) ** bits
    return (odds + (crowd - 1) * (from_zeros / from_ones)) / crowd  # 003 (8.6)


def ratio_003_8_7(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """((p/q)^L + (N-1)(p/q)^(L-2s))/N, where s is now the number of bits set in s."""
    odds = (1 - q) / q
    return (odds**bits + (crowd - 1) * odds ** (bits - 2 * ones)) / crowd  # 003 (8.7)


def ratio_003_8_8(crowd: int, bits: int, ones: int, q: Real) -> Real:
    """1/N·(p/q)^L + (N-1)/N·(p/q)^(L-2s), s the number of bits set."""
    n, odds = crowd, (1 - q) / q
    return odds**bits / n + (n - 1) * odds ** (bits - 2 * ones) / n  # 003 (8.8)


def _reports_of_s(bits: int, ones: int, q: Real) -> tuple[Real, Real]:
    """p(s|0) and p(s|1)."""
    return report_of_zeros_003_7_4(bits, ones, q), report_of_ones_003_7_5(bits, ones, q)
