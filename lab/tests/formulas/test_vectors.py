"""R of whole vectors, its law and its moments agree with each other, by hand and in floats."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand_lab import formulas as drafts
from krand_lab.enumeration import Vector, collection_law, exact_outlier, report_law

THIRD, QUARTER = Fraction(1, 3), Fraction(1, 4)
FRACTIONS = st.fractions(Fraction(1, 30), Fraction(29, 60), max_denominator=60)


@given(st.tuples(*[st.integers(0, 1)] * 3), FRACTIONS)
def test_report_probability_is_the_channel(x: Vector, q: Fraction) -> None:
    """p(s|x) is the law that everything else in the package enumerates."""
    law = report_law(x, q)
    assert {s: drafts.report_probability_001_1_3(s, x, q) for s in law} == law


@pytest.mark.parametrize("lam", [Fraction(1), Fraction(3, 2), Fraction(2), Fraction(4)])
def test_exceedance_is_that_of_the_oracle(lam: Fraction) -> None:
    """(1.6) and (1.7) from the laws of all multisets give the η of `exact_outlier`."""
    zeros, ones = (0, 0), (1, 1)
    law, law_m = (collection_law([zeros, zeros, x], QUARTER) for x in (zeros, ones))
    ratio_law = drafts.ratio_law_001_1_6(law_m, law)
    assert sum(ratio_law.values()) == 1
    eta = drafts.exceedance_001_1_7(ratio_law, lam)
    assert eta == exact_outlier(3, 2, QUARTER, lam).eta_forward


@settings(max_examples=40)
@given(st.lists(st.tuples(*[st.integers(0, 1)] * 2), min_size=1, max_size=5), FRACTIONS)
def test_ratios_agree(reports: list[Vector], q: Fraction) -> None:
    """All formulas for R are one, from vectors or from set bits, and 000 has it upside down."""
    counts, histogram = Counter(reports), drafts.set_bit_histogram_001_3_3(reports, 2)
    assert sum(histogram) == len(reports)
    ratio = drafts.ratio_001_3_4(histogram, q)
    assert ratio == drafts.ratio_001_3_6(histogram, q)
    assert ratio == drafts.ratio_001_3_1(counts, q) == drafts.ratio_001_2_4(counts, (0, 0), q)
    assert 1 / ratio == drafts.ratio_000_2_7(counts, q) == drafts.ratio_000_2_10(histogram, q)
    by_conditioning = [
        drafts.collection_probability_000_2_1(counts, (0, 0), y, q) for y in ((1, 1), (0, 0))
    ]
    assert ratio == by_conditioning[0] / by_conditioning[1]
    assert drafts.ratio_003_6_10(histogram[::-1], q) == ratio
    flipped = Counter(tuple(1 - bit for bit in v) for v in reports)
    assert drafts.ratio_003_6_7(flipped, q) == ratio


@pytest.mark.parametrize(("crowd", "bits"), [(1, 1), (4, 2), (3, 4)])
def test_laws_sum_to_one(crowd: int, bits: int) -> None:
    """T, X, X_0, X_1 and every X_l have probabilities that sum to one."""
    assert sum(drafts.histogram_law_001_3_5(crowd, bits, THIRD).values()) == 1
    assert sum(drafts.generating_function_001_3_11(crowd, bits, THIRD).values()) == 1
    assert sum(drafts.generating_function_001_3_8(bits, THIRD).values()) == 1
    assert sum(drafts.generating_function_001_3_10(bits, THIRD).values()) == 1
    for ones in range(bits + 1):
        assert sum(drafts.bucket_law_000_2_14(ones, crowd, bits, THIRD).values()) == 1
    assert sum(drafts.expected_histogram_003_6_11(crowd, bits, THIRD)) == crowd


@given(st.floats(0.3, 1.2), FRACTIONS)
def test_generating_function_is_a_product(t: float, q: Fraction) -> None:
    """(3.11) at t is (3.8) to the power N-1 times (3.10)."""
    zero, one, whole = (
        drafts.generating_function_value_001_3_8(terms, t)
        for terms in (
            drafts.generating_function_001_3_8(2, q),
            drafts.generating_function_001_3_10(2, q),
            drafts.generating_function_001_3_11(4, 2, q),
        )
    )
    assert whole == pytest.approx(zero**3 * one, rel=1e-9)


@given(st.integers(1, 1000), st.integers(1, 12), FRACTIONS)
def test_exact_moments_and_those_safe_from_overflow(n: int, bits: int, q: Fraction) -> None:
    """`mean_ratio_001` and `variance_ratio_001` are the printed formulas, to rounding."""
    assert drafts.phi_001_3_14(float(q)) == pytest.approx(float(drafts.exact_phi_001_3_14(q)))
    mean, variance = (
        formula(n, bits, q)
        for formula in (drafts.exact_mean_ratio_001, drafts.exact_variance_ratio_001)
    )
    assert drafts.mean_ratio_001(n, bits, float(q)) == pytest.approx(float(mean), rel=1e-9)
    assert drafts.variance_ratio_001(n, bits, float(q)) == pytest.approx(float(variance), rel=1e-9)


@given(st.integers(2, 1000), st.integers(1, 12), FRACTIONS, st.integers(1, 5))
def test_exact_tail_exponents(n: int, bits: int, q: Fraction, beta: int) -> None:
    """Both exponents of §3.4 give the tail bounds of `moments`, and the printed one is larger."""
    printed = drafts.exact_tail_exponent_001_3_17(n, bits, q, Fraction(beta**2))
    unreduced = drafts.exact_tail_exponent_001_3_17_unreduced(n, bits, q, Fraction(beta**2))
    assert drafts.tail_bound_001_3_17(n, bits, float(q), beta) == pytest.approx(math.exp(-printed))
    assert drafts.tail_bound_001_3_17_unreduced(n, bits, float(q), beta) == pytest.approx(
        math.exp(-unreduced)
    )
    assert unreduced < printed < Fraction(beta**2, 2)


def test_every_state_within_three_deviations_stays_below_the_limit() -> None:
    """(6.18) holds for every histogram whose counts are all within 3σ of their means."""
    n, bits, q = 6, 2, 0.3
    expected = drafts.expected_histogram_003_6_11(n, bits, q)
    deviations = [
        math.sqrt((n - 1) * one * (1 - one) + zero * (1 - zero))
        for one, zero in (
            (
                drafts.set_bits_of_one_001_3_9(i, bits, q),
                drafts.set_bits_of_zero_001_3_7(i, bits, q),
            )
            for i in range(bits + 1)
        )
    ]
    limit, inside = drafts.ratio_limit_003_6_18(n, bits, q), 0
    for histogram in product(range(n + 1), repeat=bits + 1):
        reaches = zip(histogram, expected, deviations, strict=True)
        if sum(histogram) == n and all(abs(s - e) <= 3 * d for s, e, d in reaches):
            inside += 1
            assert drafts.ratio_003_6_10(histogram, q) < limit
    assert inside > 10
