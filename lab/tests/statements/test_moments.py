"""The drafts' statements about whole vectors and copies: which hold, and where the others fail."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand_lab.enumeration import collection_law
from krand_lab.formulas.copies_moments import copies_condition_001_8_38
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements import copies, tail_bound
from krand_lab.statements.ranges import mean_and_variance
from krand_lab.statements.vector_cases import Range, Setting, outcomes


@pytest.mark.parametrize("key", ["001-8.31", "001-6.2", "001-8.37-variance"])
def test_copies_fail_always(key: str) -> None:
    """These fail in every case with two copies or more, and in none with one."""
    several = [case for case in copies.COPIES if case.copies > 1]
    assert verdict_of(key).printed.failures == len(several) == 128


def test_variance_bound_fails_without_the_missing_factorial() -> None:
    """The comment says so: (6.2) times k!² still fails wherever there are copies."""
    assert "still fails in 128 of these 232 cases" in verdict_of("001-6.2").statement.comment


def test_condition_for_copies_fails_with_copies_only() -> None:
    """(8.38) keeps its promise for one copy; with four it may be broken more often than not."""
    one_copy = [case for case in copies.CONDITION if case.copies == 1]
    met = 0
    for case, lam in product(one_copy, copies.LAMBDAS):
        printed = copies_condition_001_8_38(case.crowd, case.bits, case.q, 1)
        if copies.within_three_deviations(*printed, lam):
            met += 1
            assert copies.beyond_lambda(case, lam) <= Fraction(1, 10)
    assert met > 30
    worse = Setting(2, 1, Fraction(3, 13), 4)
    printed = copies_condition_001_8_38(2, 1, worse.q, 4)
    assert copies.within_three_deviations(*printed, Fraction(4))
    assert copies.beyond_lambda(worse, Fraction(4)) > Fraction(2, 3)
    assert "up to 83 in 100 outcomes" in verdict_of("001-8.38").statement.comment


def test_ranges_say_what_they_hold() -> None:
    """A range names its limits and yields exactly what lies within them, small cases first."""
    cases = Range(range(2, 5), range(1, 3), 4, range(1, 3), most_reports={1: 6, 2: 3})
    assert str(cases) == (
        r"all $2 \le N \le 4$, all $1 \le L \le 2$, all $1 \le k \le 2$, $kN \le 6$ where "
        r"$L = 1$, $kN \le 3$ where $L = 2$, all fractions $0 < q < \frac{1}{2}$ with "
        r"denominators up to 4"
    )
    listed = [(case.crowd, case.bits, case.copies, case.q) for case in cases]
    noises = [Fraction(1, 3), Fraction(1, 4)]
    expected = [(2, 1, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1), (3, 1, 2), (3, 2, 1), (4, 1, 1)]
    assert listed == [(*case, q) for case in expected for q in noises]


def test_outcomes_are_both_laws() -> None:
    """The cases of the statements are the collections of the draft, fraction for fraction."""
    case = Setting(3, 2, Fraction(1, 4), 2)
    original = collection_law([(0, 0)] * 3, case.q, 2)
    modified = collection_law([(0, 0), (0, 0), (1, 1)], case.q, 2)
    assert {s.reports: s.original for s in outcomes(case)} == original
    assert {s.reports: s.modified for s in outcomes(case)} == modified
    assert mean_and_variance((s.ratio, s.original) for s in outcomes(case))[0] == 1


@given(st.fractions(0, 1, max_denominator=1000), st.fractions(0, 12, max_denominator=1000))
def test_exponentials_are_compared_without_rounding(value: Fraction, exponent: Fraction) -> None:
    """Where floats can tell, they agree; the comparison is strict at exponent 0."""
    rounded = math.exp(-exponent)
    if abs(value - rounded) > 1e-12:
        assert tail_bound.exceeds_exponential(value, exponent) == (value > rounded)
    assert not tail_bound.exceeds_exponential(Fraction(1), Fraction(0))


@pytest.mark.parametrize("digits", [5, 20, 40])
def test_exponentials_that_floats_cannot_tell(digits: int) -> None:
    """1/e cut off after many digits is below 1/e, one unit more is above."""
    e_inverse = int("3678794411714423215955237701614608674458")  # 40 digits of 1/e
    cut = e_inverse // 10 ** (40 - digits)
    assert not tail_bound.exceeds_exponential(Fraction(cut, 10**digits), Fraction(1))
    assert tail_bound.exceeds_exponential(Fraction(cut + 1, 10**digits), Fraction(1))
