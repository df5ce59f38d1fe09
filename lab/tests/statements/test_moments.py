"""The drafts' statements about whole vectors and copies: which hold, and where the others fail."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from krand_lab.enumeration import collection_law
from krand_lab.formulas.copies_moments import copies_condition_001_8_38
from krand_lab.reproduction.statements import verdict as verdict_of
from krand_lab.statements import copies, tail_bound
from krand_lab.statements.ranges import mean_and_variance
from krand_lab.statements.vector_cases import Setting, outcomes


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
