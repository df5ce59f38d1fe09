"""R of k copies and its moments: what is printed, what is right, and how far they are apart."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand_lab import formulas as drafts
from krand_lab.enumeration import collection_law

THIRD, TENTH = Fraction(1, 3), Fraction(1, 10)
FRACTIONS = st.fractions(Fraction(1, 20), Fraction(19, 40), max_denominator=40)
MIXTURES = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(1, 4))
CASES = st.tuples(st.integers(2, 40), st.integers(1, 5), FRACTIONS, st.integers(1, 5))


@given(MIXTURES, st.floats(0.05, 0.45))
def test_moments_by_generating_functions(mixture: tuple[int, int, int], q: float) -> None:
    """(8.1)–(8.3) with M_r of (8.26) give (8.27)–(8.29)."""
    zeros, ones, bits = mixture
    factor = (q / (1 - q)) ** ((zeros + ones) * bits)
    base = ((1 - q) / q) ** 2

    def mgf(t: float) -> float:
        return drafts.mgf_001_8_26(t, zeros, ones, bits, q)

    mean = factor * drafts.power_mean_001_8_1(mgf, base)
    square = factor**2 * drafts.power_square_001_8_2(mgf, base)
    variance = factor**2 * drafts.power_variance_001_8_3(mgf, base)
    assert mean == pytest.approx(drafts.mean_x_r_001_8_27(ones, bits, q))
    assert square == pytest.approx(drafts.square_x_r_001_8_28(zeros, ones, bits, q))
    printed = drafts.variance_x_r_001_8_29(zeros, ones, bits, q)
    assert variance == pytest.approx(printed, rel=1e-7, abs=1e-7 * square)


@settings(max_examples=40)
@given(st.lists(st.integers(0, 2), min_size=3, max_size=7), st.integers(1, 3), FRACTIONS)
def test_printed_ratios_of_copies(set_bits: list[int], copies: int, q: Fraction) -> None:
    """(8.21) and (8.22) are R over k!; (8.20) is the product of all likelihood ratios over k!."""
    right = drafts.copies_ratio_001_8_21_corrected(set_bits, 2, copies, q)
    missing = math.factorial(copies)
    assert drafts.copies_ratio_001_8_21(set_bits, 2, copies, q) * missing == right
    assert drafts.copies_ratio_001_8_22(set_bits, 2, copies, q) * missing == right
    product = math.prod(
        (drafts.likelihood_ratio_001_3_2(i, 2, q) for i in set_bits), start=Fraction(1)
    )
    assert drafts.copies_ratio_001_8_20(set_bits, 2, copies, q) * missing == product


@pytest.mark.parametrize(
    ("crowd", "bits", "copies"), [(1, 1, 3), (2, 1, 2), (2, 1, 4), (3, 2, 2), (4, 1, 3)]
)
def test_corrected_moments_by_enumeration(crowd: int, bits: int, copies: int) -> None:
    """Mean and variance under D_m and the variance under D are those of all multisets."""
    zeros, ones, q = (0,) * bits, (1,) * bits, Fraction(1, 5)
    law = collection_law([zeros] * crowd, q, copies)
    law_m = collection_law([zeros] * (crowd - 1) + [ones], q, copies)
    mean = sum(law_m[s] ** 2 / law[s] for s in law)
    square = sum(law_m[s] ** 3 / law[s] ** 2 for s in law)
    case = crowd, bits, q, copies
    assert drafts.copies_mean_001_8_31_corrected(*case) == mean
    assert drafts.copies_variance_under_original_001_8_37_corrected(*case) == mean - 1
    assert drafts.copies_square_001_8_37_corrected(*case) == square
    assert drafts.copies_variance_001_8_37_corrected(*case) == square - mean**2


@given(st.integers(2, 200), st.integers(1, 6), FRACTIONS)
def test_one_copy_has_the_moments_of_before(crowd: int, bits: int, q: Fraction) -> None:
    """At k = 1 corrected and printed moments are those of 001 §3.1."""
    mean = drafts.exact_mean_ratio_001(crowd, bits, q)
    variance = drafts.exact_variance_ratio_001(crowd, bits, q)
    for formula in (
        drafts.copies_mean_001_8_31,
        drafts.copies_mean_001_8_31_corrected,
        drafts.copies_mean_001_8_37_corrected,
    ):
        assert formula(crowd, bits, q, 1) == mean
    assert drafts.copies_variance_001_8_37(crowd, bits, q, 1) == variance
    assert drafts.copies_variance_001_8_37_corrected(crowd, bits, q, 1) == variance


@given(CASES)
def test_printed_bounds_and_those_safe_from_overflow(case: tuple[int, int, Fraction, int]) -> None:
    """`copies_mean_001_6_1` and `copies_variance_001_6_2` are the printed formulas, to rounding."""
    crowd, bits, q, copies = case
    rounded = crowd, bits, float(q), copies
    mean = float(drafts.exact_copies_mean_001_6_1(*case))
    assert drafts.copies_mean_001_6_1(*rounded) == pytest.approx(mean, rel=1e-9)
    variance = float(drafts.exact_copies_variance_001_6_2(*case))
    assert drafts.copies_variance_001_6_2(*rounded) == pytest.approx(variance, rel=1e-6)


def test_printed_bound_is_missed() -> None:
    """N = 10, k = 2, L = 1, q = 1/10: the mean is 2.688, (6.1) allows 1.976."""
    case = 10, 1, TENTH, 2
    assert round(float(drafts.copies_mean_001_8_31_corrected(*case)), 3) == 2.688
    assert round(float(drafts.exact_copies_mean_001_6_1(*case)), 3) == 1.976
