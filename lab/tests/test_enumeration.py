"""The oracle itself: three ways of enumerating agree, fraction for fraction."""

from __future__ import annotations

from dataclasses import astuple
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand_lab.enumeration import (
    Exact,
    collection_law,
    exact_copies_outlier,
    exact_homogeneous,
    exact_one_bit,
    exact_outlier,
    exact_privacy,
    exact_worst,
    vectors,
)
from krand_lab.formulas import (
    mean_ratio_001,
    variance_ratio_001,
)

NOISES = st.fractions(Fraction(1, 50), Fraction(49, 100), max_denominator=100)
LAMBDAS = st.fractions(1, 8, max_denominator=20)


def answers(bits: int) -> st.SearchStrategy[tuple[int, ...]]:
    return st.tuples(*[st.integers(0, 1)] * bits)


def phi(q: Fraction) -> Fraction:
    return (1 - q) / q + q / (1 - q) - 1


def moments_under_d_m(crowd: int, bits: int, q: Fraction, copies: int) -> tuple[Fraction, Fraction]:
    """Mean and variance of R under D_m for the outlier pair, from the laws of all multisets."""
    zeros, ones = (0,) * bits, (1,) * bits
    d = collection_law([zeros] * crowd, q, copies)
    d_m = collection_law([zeros] * (crowd - 1) + [ones], q, copies)
    mean = sum((d_m[s] ** 2 / d[s] for s in d), Fraction(0))
    square = sum((d_m[s] ** 3 / d[s] ** 2 for s in d), Fraction(0))
    return mean, square - mean**2


@settings(max_examples=25)
@given(st.lists(answers(2), max_size=3), NOISES, st.integers(1, 2))
def test_collection_law_is_a_law(users: list[tuple[int, ...]], q: Fraction, copies: int) -> None:
    """The multiset of reports has kN members, probabilities that sum to one, and no order."""
    law = collection_law(users, q, copies)
    assert sum(law.values()) == 1
    assert {len(s) for s in law} == {copies * len(users)}
    assert all(list(s) == sorted(s) for s in law)
    assert law == collection_law(users[::-1], q, copies)


def test_two_users_by_hand() -> None:
    """With one bit, N = 2 and D = {0,0}, D_m = {0,1} the four numbers are those found by hand."""
    # P(S|D) = 9/16, 6/16, 1/16 for 0, 1, 2 ones; P(S|D_m) = 3/16, 10/16, 3/16.
    exact = exact_privacy([(0,)], (0,), (1,), Fraction(1, 4), Fraction(2))
    assert exact == Exact(
        delta_forward=Fraction(1, 16),
        delta_reverse=Fraction(3, 16),
        eta_forward=Fraction(3, 16),
        eta_reverse=Fraction(9, 16),
    )


def test_inequalities_are_strict() -> None:
    """An outcome whose ratio equals λ counts neither as a breach nor towards δ."""
    exact = exact_privacy([(0,)], (0,), (1,), Fraction(1, 4), Fraction(3))
    assert exact == Exact(Fraction(0), Fraction(0), Fraction(0), Fraction(0))


@settings(max_examples=30)
@given(st.lists(answers(2), max_size=2), answers(2), answers(2), NOISES, LAMBDAS)
def test_swapping_the_pair_swaps_the_directions(
    background: list[tuple[int, ...]],
    y: tuple[int, ...],
    y_prime: tuple[int, ...],
    q: Fraction,
    lam: Fraction,
) -> None:
    """Forward of (y, y') is reverse of (y', y), and δ never exceeds η."""
    there = exact_privacy(background, y, y_prime, q, lam)
    back = exact_privacy(background, y_prime, y, q, lam)
    assert astuple(there) == (
        back.delta_reverse,
        back.delta_forward,
        back.eta_reverse,
        back.eta_forward,
    )
    assert 0 <= there.delta_forward <= there.eta_forward <= 1
    assert 0 <= there.delta_reverse <= there.eta_reverse <= 1


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(1, 2), NOISES, LAMBDAS)
def test_outlier_histogram_equals_all_multisets(
    crowd: int, bits: int, q: Fraction, lam: Fraction
) -> None:
    """The histogram of set bits carries all that the multiset of reports says (001 (3.4))."""
    zeros, ones = (0,) * bits, (1,) * bits
    expected = exact_privacy([zeros] * (crowd - 1), zeros, ones, q, lam)
    assert exact_outlier(crowd, bits, q, lam) == expected


@settings(max_examples=20)
@given(st.integers(1, 3), answers(3), answers(3), answers(3), NOISES, LAMBDAS)
def test_homogeneous_equals_all_multisets(
    crowd: int,
    x: tuple[int, ...],
    y: tuple[int, ...],
    y_prime: tuple[int, ...],
    q: Fraction,
    lam: Fraction,
) -> None:
    """For a background of one pattern the two ratios of each report suffice (001 (2.4))."""
    expected = exact_privacy([x] * (crowd - 1), y, y_prime, q, lam)
    assert exact_homogeneous(crowd, x, y, y_prime, q, lam) == expected


@settings(max_examples=20)
@given(
    st.integers(1, 3),
    st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]),
    NOISES,
    LAMBDAS,
)
def test_copies_equal_all_multisets(
    crowd: int, bits_and_copies: tuple[int, int], q: Fraction, lam: Fraction
) -> None:
    """With k copies mixed R is e_k(w)/C(kN,k), as the multisets of kN reports confirm."""
    bits, copies = bits_and_copies
    zeros, ones = (0,) * bits, (1,) * bits
    expected = exact_privacy([zeros] * (crowd - 1), zeros, ones, q, lam, copies)
    assert exact_copies_outlier(crowd, bits, copies, q, lam) == expected
    assert exact_homogeneous(crowd, zeros, zeros, ones, q, lam, copies) == expected


@settings(max_examples=20)
@given(st.integers(1, 5), NOISES, LAMBDAS)
def test_one_bit_worst_equals_the_search_over_everything(
    crowd: int, q: Fraction, lam: Fraction
) -> None:
    """The worst number of ones is the worst background, and both directions reach the same."""
    cases = [exact_one_bit(crowd, ones, q, lam) for ones in range(crowd)]
    worst = Exact(*map(max, zip(*map(astuple, cases), strict=True)))
    assert worst == exact_worst(crowd, vectors(1), q, lam).value
    assert worst.delta_forward == worst.delta_reverse
    assert worst.eta_forward == worst.eta_reverse


@pytest.mark.parametrize(("crowd", "bits"), [(2, 1), (4, 2), (3, 3)])
def test_moments_of_the_draft_are_right(crowd: int, bits: int) -> None:
    """001 §3.1 gives the mean and variance of R under D_m exactly."""
    q = Fraction(1, 8)
    mean, variance = moments_under_d_m(crowd, bits, q, 1)
    assert mean_ratio_001(crowd, bits, float(q)) == pytest.approx(float(mean), rel=1e-13)
    assert variance_ratio_001(crowd, bits, float(q)) == pytest.approx(float(variance), rel=1e-12)
