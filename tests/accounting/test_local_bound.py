"""The local bound, rounded up, in rationals."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from krand.accounting.channel import local_delta, local_epsilon
from krand_lab.enumeration import report_law

QS = [Fraction(1, 20), Fraction(1, 4), Fraction(2, 5), Fraction(9, 20)]
LAMBDAS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4)]


def local_by_enumeration(q: Fraction, distance: int, lam: Fraction) -> Fraction:
    """Σ_v (K(1…1)(v) - λK(0…0)(v))⁺ over all reports."""
    near, far = report_law((1,) * distance, q), report_law((0,) * distance, q)
    return sum((max(Fraction(0), near[v] - lam * far[v]) for v in near), Fraction(0))


@pytest.mark.parametrize("lam", [Fraction(1), *LAMBDAS, Fraction(20)])
@pytest.mark.parametrize("q", [Fraction(1, 1000), *QS])
@pytest.mark.parametrize("distance", [1, 2, 5])
def test_local_bound_is_the_sum_over_reports(distance: int, q: Fraction, lam: Fraction) -> None:
    """δ of one report seen alone is the sum over all its values."""
    expected = float(local_by_enumeration(q, distance, lam))
    found = local_delta(float(q), distance, math.log(lam))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-14)
    assert found >= expected * (1 - 1e-12) - 1e-15


@pytest.mark.parametrize("distance", [1, 3, 40, 1000])
@pytest.mark.parametrize("q", [1e-6, 0.1, 0.4999])
def test_local_bound_ends_beyond_the_local_epsilon(q: float, distance: int) -> None:
    """δ is 0 above ε₀ and positive below it; at ε₀, which is a rounded number, it is tiny."""
    limit = local_epsilon(q, distance)
    assert 0 < local_delta(q, distance, limit) < 1e-10
    assert local_delta(q, distance, limit * (1 + 1e-12)) == 0
    assert local_delta(q, distance, limit + 1) == 0
    assert local_delta(q, distance, min(100.0, 0.9 * limit)) > 0


@given(st.floats(1e-12, 0.49999), st.integers(1, 6), st.integers(-3, 3))
def test_ties_are_rounded_up(q: float, distance: int, units: int) -> None:
    """At a loss, or a few units in the last place beside it, the bound is never below the truth."""
    loss = distance * (math.log1p(-q) - math.log(q))
    epsilon = loss + units * math.ulp(loss)
    assume(0 < epsilon <= 100)
    exact = local_by_enumeration(Fraction(q), distance, just_below_exp(epsilon))
    assert local_delta(q, distance, epsilon) >= exact


def just_below_exp(epsilon: float) -> Fraction:
    """A rational within 1e-40 below e^ε, relatively."""
    with localcontext(prec=60):
        return Fraction(Decimal(epsilon).exp() * (1 - Decimal(10) ** -40))


@pytest.mark.parametrize("distance", [10**6, 10**7, 10**14])
def test_very_many_bits_are_bounded_by_hoeffding(distance: int) -> None:
    """Far beyond what can be summed up there is still a bound, falling as ε grows."""
    q = 0.5 - 0.01 / math.sqrt(distance)
    bounds = [local_delta(q, distance, epsilon) for epsilon in (1e-6, 0.1, 0.3, 1.0)]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[-1] < 1e-6


@pytest.mark.parametrize("q", QS)
def test_total_variation(q: Fraction) -> None:
    """Reports of two answers lie p-q apart for one bit, and further apart for more bits."""
    assert local_delta(float(q), 1, 0.0) == pytest.approx(float(1 - 2 * q), rel=1e-10)
    apart = [local_delta(float(q), d, 0.0) for d in (1, 3, 5, 41, 401)]
    assert apart == sorted(apart)
    assert apart[-1] <= 1
