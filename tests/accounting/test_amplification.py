"""The local bound, rounded up; and what clones do and do not prove, in rationals."""

from __future__ import annotations

import math
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from enumerated_crowds import worst_delta
from krand.accounting.blanket import blanket_law
from krand.accounting.channel import local_delta, local_epsilon
from krand.accounting.ratio import upper_delta
from krand.promise import FreeBits
from krand_lab.enumeration import report_law, vectors

QS = [Fraction(1, 20), Fraction(1, 4), Fraction(2, 5), Fraction(9, 20)]
LAMBDAS = [Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(4)]


def local_by_enumeration(q: Fraction, distance: int, lam: Fraction) -> Fraction:
    """Σ_v (K(1…1)(v) - λK(0…0)(v))⁺ over all reports."""
    near, far = report_law((1,) * distance, q), report_law((0,) * distance, q)
    return sum((max(Fraction(0), near[v] - lam * far[v]) for v in near), Fraction(0))


def clones(
    q: Fraction, distance: int, bits: int, crowd: int, lam: Fraction, told: bool = False
) -> tuple[Fraction, Fraction]:
    """Both directions of (A+Δ₁, C-A+Δ₂) against (A+Δ₂, C-A+Δ₁), outcome by outcome.

    With `told` the observer also learns whether the own report is one of the two clones.
    """
    rho = (1 - q) / q
    alpha = local_by_enumeration(q, distance, Fraction(1)) / (rho**distance - 1)
    hit, share = alpha * rho**distance, alpha * rho ** (distance - bits)
    first: dict[tuple[int, int, bool], Fraction] = defaultdict(Fraction)
    second: dict[tuple[int, int, bool], Fraction] = defaultdict(Fraction)
    for c in range(crowd):
        rest = (1 - 2 * share) ** (crowd - 1 - c)
        of_c = math.comb(crowd - 1, c) * (2 * share) ** c * rest
        for a in range(c + 1):
            chance = of_c * Fraction(math.comb(c, a), 2**c)
            for one, two, weight in ((1, 0, hit), (0, 1, alpha), (0, 0, 1 - hit - alpha)):
                silent = told and one == two
                first[a + one, c - a + two, silent] += chance * weight
                second[a + two, c - a + one, silent] += chance * weight
    assert sum(first.values()) == sum(second.values()) == 1
    zero = Fraction(0)
    return (
        sum((max(zero, first[o] - lam * second[o]) for o in first.keys() | second.keys()), zero),
        sum((max(zero, second[o] - lam * first[o]) for o in first.keys() | second.keys()), zero),
    )


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


def plain_clones(q: Fraction, distance: int, crowd: int, lam: Fraction) -> Fraction:
    """A+Bern(1-r) against A+Bern(r), A ~ Bin(C, ½), C ~ Bin(N-1, 2r) known, r = 1/(e^ε₀+1)."""
    rare = 1 / (1 + ((1 - q) / q) ** distance)
    total = Fraction(0)
    for c in range(crowd):
        rest = (1 - 2 * rare) ** (crowd - 1 - c)
        of_c = math.comb(crowd - 1, c) * (2 * rare) ** c * rest
        for a in range(c + 2):
            low = Fraction(math.comb(c, a), 2**c)
            high = Fraction(math.comb(c, a - 1), 2**c) if a else Fraction(0)
            first = rare * low + (1 - rare) * high
            second = (1 - rare) * low + rare * high
            total += of_c * max(Fraction(0), first - lam * second)
    return total


@pytest.mark.slow
@pytest.mark.parametrize("lam", [*LAMBDAS, Fraction(1000)])
@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_the_blanket_is_never_worse_than_clones(
    crowd: int, bits: int, q: Fraction, lam: Fraction
) -> None:
    """For linked bits clones are a bound for every background, and the blanket a better one."""
    bound = plain_clones(q, bits, crowd, lam)
    blanket = upper_delta(blanket_law(float(q), [FreeBits(bits)]), crowd, math.log(lam))
    assert bound >= worst_delta(crowd, vectors(bits), q, lam)
    assert blanket <= float(bound) * (1 + 1e-9) + 1e-15


def test_published_pair_does_not_cover_two_bits() -> None:
    """Two users, two bits, q=2/5, λ=2: the outcome {00, 00} alone costs more than the pair says."""
    q, lam = Fraction(2, 5), Fraction(2)
    both_zero = (1 - q) ** 4 - lam * (1 - q) ** 2 * q**2
    assert worst_delta(2, vectors(2), q, lam) == both_zero == Fraction(9, 625)
    assert clones(q, 2, 2, 2, lam) == (Fraction(4, 625), Fraction(4, 625))


@pytest.mark.slow
@pytest.mark.parametrize("lam", LAMBDAS)
@pytest.mark.parametrize("q", QS)
@pytest.mark.parametrize(("crowd", "bits"), [(2, 2), (3, 2), (4, 2), (2, 3)])
def test_clones_told_apart_cover_every_background_and_add_nothing(
    crowd: int, bits: int, q: Fraction, lam: Fraction
) -> None:
    """Told whether the own report is a clone the pair is a bound, and the blanket lies below it."""
    bound, _ = clones(q, bits, bits, crowd, lam, told=True)
    blanket = upper_delta(blanket_law(float(q), [FreeBits(bits)]), crowd, math.log(lam))
    assert bound >= worst_delta(crowd, vectors(bits), q, lam)
    assert blanket <= float(bound) * (1 + 1e-9)
