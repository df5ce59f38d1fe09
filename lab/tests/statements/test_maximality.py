"""001 §1.2: where the outlier pair is the worst, and where it is not."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from krand_lab.enumeration import Vector, exact_outlier, exact_privacy, report_law, vectors
from krand_lab.statements.worst_case import equal_laws
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


@pytest.mark.parametrize("x", list(vectors(3)))
def test_chi_squared_of_one_pattern(x: Vector) -> None:
    """φ^c(φ^a + φ^b - 2) is the sum over all reports, and the outlier pair has φ^L - 1."""
    y, y_prime = (0, 0, 0), (1, 1, 0)
    law, first, second = (report_law(v, THIRD) for v in (x, y, y_prime))
    total = sum((second[v] - first[v]) ** 2 / law[v] for v in law)
    assert chi_squared([x], y, y_prime, THIRD) == total
    assert pattern_chi_squared(counts_of_bits(x, y, y_prime), THIRD) == total
    assert chi_squared([x] * 4, x, tuple(1 - b for b in x), THIRD) == phi(THIRD) ** 3 - 1


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


def test_claim_2_can_fail() -> None:
    """A pair that is not opposite has another law than the outlier pair of that many bits."""
    star = outlier(3, 2, QUARTER)
    nearer = Case(((0, 1), (0, 1)), star.y, star.y_prime, QUARTER)
    assert equal_laws.ratio_law(nearer) != equal_laws.ratio_law(star)
    assert not equal_laws.claim_2(nearer)
    law = equal_laws.ratio_law(star)
    assert sum(d for d, _ in law.values()) == sum(m for _, m in law.values()) == 1
    assert all(m == r * d for r, (d, m) in law.items())
