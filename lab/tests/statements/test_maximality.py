"""001 §1.2: where the outlier pair is the worst, and where it is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from krand_lab.enumeration import Vector, exact_outlier, exact_privacy, report_law, vectors
from krand_lab.statements.worst_case import equal_laws, maximality
from krand_lab.statements.worst_case.comparison import Measure, compare
from krand_lab.statements.worst_case.divergence import (
    check_chi_squares,
    check_means,
    chi_squared,
    counts_of_bits,
    mean_ratio,
    pattern_chi_squared,
    phi,
)
from krand_lab.statements.worst_case.maximality import dense_cases, outlier
from krand_lab.statements.worst_case.profiles import Bound, Case, profile, ratio

THIRD, QUARTER, TWO_FIFTHS = Fraction(1, 3), Fraction(1, 4), Fraction(2, 5)


def both_ways(crowd: int, bits: int, q: Fraction) -> Bound:
    star = outlier(crowd, bits, q)
    return Bound.of([profile(star), profile(star.swapped())])


def test_three_bits_two_users() -> None:
    """N = 2, L = 3, q = 2/5, λ = 2: δ is 87/3125 one bit nearer to the other answer (math §5)."""
    case = Case(((1, 1, 0),), (0, 0, 0), (1, 1, 1), TWO_FIFTHS)
    assert profile(case) in {profile(c) for c in dense_cases(2, 3, TWO_FIFTHS)}
    assert profile(case).delta(Fraction(2)) == Fraction(87, 3125)
    assert both_ways(2, 3, TWO_FIFTHS).delta(Fraction(2)) == Fraction(81, 3125)


@pytest.mark.parametrize("measure", list(Measure))
@pytest.mark.parametrize(("crowd", "bits"), [(3, 1), (5, 1), (3, 2)])
def test_failures_by_plain_enumeration(crowd: int, bits: int, measure: Measure) -> None:
    """As many backgrounds exceed the pair as are found by trying many λ, one by one."""
    bound, name = both_ways(crowd, bits, QUARTER), measure.name.lower()
    cases = list(dense_cases(crowd, bits, QUARTER))
    values = {ratio(v) for c in cases for v in profile(c).values} | {
        ratio(lam) for lam, _ in bound.corners()
    }
    points = sorted({Fraction(1), *values})
    failing = 0
    for case in cases:
        for lam in points + [(a + b) / 2 for a, b in pairwise(points)]:
            own = exact_privacy(case.background, case.y, case.y_prime, QUARTER, lam)
            star = exact_outlier(crowd, bits, QUARTER, lam)
            allowed = max(getattr(star, f"{name}_forward"), getattr(star, f"{name}_reverse"))
            if getattr(own, f"{name}_forward") > allowed:
                failing += 1
                break
    assert compare(cases, [bound])[0][measure].failures == failing > 0


@pytest.mark.parametrize("crowd", [3, 6, 15])
def test_one_bit_factor_does_not_fade(crowd: int) -> None:
    """With two zeros among ones δ is 1 + q(p-q)/p² times the pair's, at any N: 5/4 for q = 1/3."""
    background: tuple[Vector, ...] = ((0,), *[(1,)] * (crowd - 2))
    tallies = compare([Case(background, (0,), (1,), THIRD)], [both_ways(crowd, 1, THIRD)])
    largest = tallies[0][Measure.DELTA].largest
    assert largest is not None
    assert largest.factor == 1 + THIRD * (1 - 2 * THIRD) / (1 - THIRD) ** 2 == Fraction(5, 4)


def test_a_crowd_of_one_bit() -> None:
    """N = 100, q = .05: .00461 against .00452 at ε = 1.5, and 7 % at ε = .84."""
    q, lam = Fraction(1, 20), Fraction(44816890703, 10**10)
    bound = both_ways(100, 1, q)
    one_set_bit = profile(Case(((0,),) + ((1,),) * 98, (0,), (1,), q))
    assert float(one_set_bit.delta(lam)) == pytest.approx(0.00461, abs=5e-6)
    assert float(bound.delta(lam)) == pytest.approx(0.00452, abs=5e-6)
    largest = compare(dense_cases(100, 1, q), [bound])[0][Measure.DELTA].largest
    assert largest is not None
    assert float(largest.factor) == pytest.approx(1.0689, abs=5e-5)
    assert float(largest.lam) == pytest.approx(2.317, abs=1e-3)


@pytest.mark.parametrize("x", list(vectors(3)))
def test_chi_squared_of_one_pattern(x: Vector) -> None:
    """φ^c(φ^a + φ^b - 2) is the sum over all reports, and the outlier pair has φ^L - 1."""
    y, y_prime = (0, 0, 0), (1, 1, 0)
    law, first, second = (report_law(v, THIRD) for v in (x, y, y_prime))
    total = sum((second[v] - first[v]) ** 2 / law[v] for v in law)
    assert chi_squared([x], y, y_prime, THIRD) == total
    assert pattern_chi_squared(counts_of_bits(x, y, y_prime), THIRD) == total
    assert chi_squared([x] * 4, x, tuple(1 - b for b in x), THIRD) == phi(THIRD) ** 3 - 1


def test_mean_of_the_outlier_pair() -> None:
    """The mean is 1 + (φ^L - 1)/N (001 §3.1), and larger for the outlier that leaves."""
    star = outlier(4, 2, QUARTER)
    assert mean_ratio(star) == 1 + (phi(QUARTER) ** 2 - 1) / 4
    assert mean_ratio(star.swapped()) > mean_ratio(star)


def test_corrections_can_fail() -> None:
    """A bound too low by any amount is noticed, and the case is named."""
    star = outlier(3, 2, THIRD)
    mean, tiny = mean_ratio(star), Fraction(1, 10**9)
    assert check_means([(star, mean)]).failures == 0
    assert check_means([(star, mean - tiny)]).failures == 1
    value = phi(THIRD) ** 2 - 1
    assert check_chi_squares([(star, value)]).failures == 0
    failed = check_chi_squares([(star, value - tiny)])
    assert failed.failures == 1
    assert "all others hold $00$" in (failed.first_failure or "")


def test_one_direction_is_not_the_largest_mean() -> None:
    """As printed, with one direction only, the statement of the mean would be false too."""
    star = outlier(2, 1, THIRD)
    assert check_means([(c, mean_ratio(star)) for c in dense_cases(2, 1, THIRD)]).failures == 1


def test_claim_2_can_fail() -> None:
    """A pair that is not opposite has another law than the outlier pair of that many bits."""
    star = outlier(3, 2, QUARTER)
    nearer = Case(((0, 1), (0, 1)), star.y, star.y_prime, QUARTER)
    assert equal_laws.ratio_law(nearer) != equal_laws.ratio_law(star)
    assert not equal_laws.claim_2(nearer)
    law = equal_laws.ratio_law(star)
    assert sum(d for d, _ in law.values()) == sum(m for _, m in law.values()) == 1
    assert all(m == r * d for r, (d, m) in law.items())


def test_ranges_are_told() -> None:
    """What is covered names the very limits that the code runs to."""
    for bits, users in maximality.MOST_USERS.items():
        assert rf"$2 \le N \le {users}$ with $L = {bits}$" in maximality.ALL_USERS
