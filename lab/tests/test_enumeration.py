"""The oracle itself: three ways of enumerating agree, fraction for fraction."""

from __future__ import annotations

import math
from dataclasses import astuple
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InternalError, InvalidInput
from krand_lab import enumeration
from krand_lab.enumeration import (
    Exact,
    Neighbours,
    collection_law,
    exact_copies_outlier,
    exact_homogeneous,
    exact_one_bit,
    exact_one_bit_worst,
    exact_outlier,
    exact_privacy,
    exact_worst,
    report_law,
    vectors,
)
from krand_lab.formulas import (
    copies_mean_001_6_1,
    copies_variance_001_6_2,
    mean_ratio_001,
    planner_001_3_12,
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


def hypergeometric_mean(crowd: int, bits: int, q: Fraction, copies: int) -> Fraction:
    """E[φ^(Lc)], c ~ Hypergeometric(kN, k, k)."""
    n, k = crowd * copies, copies
    subsets = [math.comb(k, c) * math.comb(n - k, k - c) for c in range(k + 1)]
    return sum(
        (Fraction(m, math.comb(n, k)) * phi(q) ** (bits * c) for c, m in enumerate(subsets)),
        Fraction(0),
    )


@given(answers(3), NOISES)
def test_report_law_is_a_law(x: tuple[int, ...], q: Fraction) -> None:
    """A report's probabilities sum to one and its unflipped self has probability p^L."""
    law = report_law(x, q)
    assert sum(law.values()) == 1
    assert law[x] == (1 - q) ** 3
    assert law[tuple(1 - b for b in x)] == q**3


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


def test_copies_of_a_third_pattern_equal_all_multisets() -> None:
    """The elementary symmetric form holds in numerator and denominator alike."""
    x, y, y_prime = (1, 0), (0, 1), (1, 1)
    q, lam = Fraction(1, 5), Fraction(3, 2)
    expected = exact_privacy([x, x], y, y_prime, q, lam, copies=2)
    assert exact_homogeneous(3, x, y, y_prime, q, lam, copies=2) == expected


@settings(max_examples=30)
@given(st.integers(1, 6), st.data(), NOISES, LAMBDAS)
def test_one_bit_count_equals_all_multisets(
    crowd: int, data: st.DataObject, q: Fraction, lam: Fraction
) -> None:
    """For one bit the number of ones carries all that the multiset of reports says."""
    ones = data.draw(st.integers(0, crowd - 1))
    background = [(1,)] * ones + [(0,)] * (crowd - 1 - ones)
    expected = exact_privacy(background, (0,), (1,), q, lam)
    assert exact_one_bit(crowd, ones, q, lam) == expected


@settings(max_examples=20)
@given(st.integers(1, 5), NOISES, LAMBDAS)
def test_one_bit_worst_equals_the_search_over_everything(
    crowd: int, q: Fraction, lam: Fraction
) -> None:
    """The worst number of ones is the worst background, and both directions reach the same."""
    worst = exact_one_bit_worst(crowd, q, lam)
    assert worst == exact_worst(crowd, vectors(1), q, lam).value
    assert worst.delta_forward == worst.delta_reverse
    assert worst.eta_forward == worst.eta_reverse


@settings(max_examples=20)
@given(st.integers(1, 12), NOISES, LAMBDAS)
def test_more_users_never_hurt(crowd: int, q: Fraction, lam: Fraction) -> None:
    """One more user never raises δ, whatever the background."""
    fewer = exact_one_bit_worst(crowd, q, lam)
    more = exact_one_bit_worst(crowd + 1, q, lam)
    assert more.delta_forward <= fewer.delta_forward


def test_one_set_bit_beats_the_homogeneous_background() -> None:
    """The conjecture of 001 §1.2 fails on the lattice: L=1, N=100, q=.05, ε=1.5."""
    q, lam = Fraction(1, 20), Fraction(math.exp(1.5))
    homogeneous, one_set = (exact_one_bit(100, ones, q, lam) for ones in (0, 1))
    worst = exact_one_bit_worst(100, q, lam)
    assert round(float(homogeneous.delta_reverse), 5) == 0.00452
    assert round(float(one_set.delta_reverse), 5) == 0.00461
    assert worst.delta_reverse == one_set.delta_reverse


def test_the_ignored_direction_is_the_worse_one() -> None:
    """One bit, N=1000, λ=2, the noise of 001 (3.12): its four numbers."""
    exact = exact_one_bit(1000, 0, Fraction(round(planner_001_3_12(1000, 1, 2.0), 8)), Fraction(2))
    assert float(exact.eta_forward) == pytest.approx(0.002781, abs=5e-7)
    assert float(exact.eta_reverse) == pytest.approx(0.04771, abs=5e-6)
    assert float(exact.delta_forward) == pytest.approx(0.0001833, abs=5e-8)
    assert float(exact.delta_reverse) == pytest.approx(0.007321, abs=5e-7)


def test_one_bit_is_the_outlier_of_length_one() -> None:
    """With an empty background the count of ones and the outlier's histogram are one thing."""
    q, lam = Fraction(1056, 100_000), Fraction(2)
    assert exact_one_bit(200, 0, q, lam) == exact_outlier(200, 1, q, lam)


def test_largest_outlier_case_of_the_oracle() -> None:
    """Thirty users with four bits, 46,376 histograms, are within reach and sum to one."""
    exact = exact_outlier(30, 4, Fraction(2446, 10_000), Fraction(2))
    assert float(exact.eta_forward) == pytest.approx(0.3957349854954325, rel=1e-14)
    assert float(exact.delta_reverse) == pytest.approx(0.11072583803199834, rel=1e-14)


def test_bits_on_which_all_agree_do_not_matter() -> None:
    """Twelve one-hot users of six options are as private as with the three options in play."""
    q, lam = Fraction(1, 5), Fraction(2)
    three = exact_homogeneous(12, (1, 0, 0), (0, 1, 0), (0, 0, 1), q, lam)
    six = exact_homogeneous(12, (1, 0, 0, 0, 0, 0), (0, 1, 0, 0, 0, 0), (0, 0, 1, 0, 0, 0), q, lam)
    assert three == six


def test_third_pattern_is_the_worst_one_hot_background() -> None:
    """Four one-hot users: δ is largest where the others hold a third option."""
    q, lam = Fraction(1, 5), Fraction(2)
    worst = exact_worst(4, vectors(3, exactly=1), q, lam)
    at = worst.at["delta_forward"]
    (third,) = set(at.background)
    assert {third, at.y, at.y_prime} == set(vectors(3, exactly=1))
    assert (
        worst.value.delta_forward
        == exact_homogeneous(4, third, at.y, at.y_prime, q, lam).delta_forward
    )
    draft = exact_homogeneous(4, at.y, at.y, at.y_prime, q, lam)
    assert worst.value.delta_forward > max(draft.delta_forward, draft.delta_reverse)


def test_worst_names_where_it_is_reached() -> None:
    """Each maximum is the value of its own number at the neighbours it names."""
    q, lam = Fraction(1, 4), Fraction(3, 2)
    worst = exact_worst(3, vectors(2, max_set_bits=1), q, lam, copies=1)
    for name, where in worst.at.items():
        assert isinstance(where, Neighbours)
        there = exact_privacy(where.background, where.y, where.y_prime, q, lam)
        assert getattr(there, name) == getattr(worst.value, name)


@pytest.mark.parametrize(
    ("bits", "options", "count"),
    [(4, {}, 16), (4, {"max_set_bits": 2}, 11), (4, {"exactly": 2}, 6), (4, {"exactly": 0}, 1)],
)
def test_vectors_counts(bits: int, options: dict[str, int], count: int) -> None:
    """The domain holds each admissible vector once."""
    domain = list(vectors(bits, **options))
    assert len(domain) == len(set(domain)) == count


@pytest.mark.parametrize(("crowd", "bits"), [(2, 1), (4, 2), (3, 3)])
def test_moments_of_the_draft_are_right(crowd: int, bits: int) -> None:
    """001 §3.1 gives the mean and variance of R under D_m exactly."""
    q = Fraction(1, 8)
    mean, variance = moments_under_d_m(crowd, bits, q, 1)
    assert mean_ratio_001(crowd, bits, float(q)) == pytest.approx(float(mean), rel=1e-13)
    assert variance_ratio_001(crowd, bits, float(q)) == pytest.approx(float(variance), rel=1e-12)


@pytest.mark.parametrize(("crowd", "bits", "copies"), [(4, 1, 1), (4, 1, 2), (3, 2, 2)])
def test_copies_mean_is_hypergeometric(crowd: int, bits: int, copies: int) -> None:
    """E[R | D_m] = 1 + Var[R | D] = E[φ^(Lc)], c ~ Hypergeometric(kN,k,k)."""
    q = Fraction(1, 10)
    mean, _ = moments_under_d_m(crowd, bits, q, copies)
    assert mean == hypergeometric_mean(crowd, bits, q, copies)


def test_copies_moments_of_the_draft_are_wrong() -> None:
    """For k = 2 the exact mean and variance exceed what 001 (6.1) and (6.2) call upper bounds."""
    crowd, bits, copies, q = 10, 1, 2, Fraction(1, 10)
    mean, variance = moments_under_d_m(crowd, bits, q, copies)
    assert float(mean) > copies_mean_001_6_1(crowd, bits, float(q), copies)
    assert float(variance) > copies_variance_001_6_2(crowd, bits, float(q), copies)


@pytest.mark.parametrize("q", [Fraction(0), Fraction(1, 2), Fraction(-1, 3)])
def test_noise_outside_its_range_is_refused(q: Fraction) -> None:
    """Noise must be above 0 and below 1/2 everywhere."""
    for call in (
        lambda: report_law((0,), q),
        lambda: exact_outlier(3, 2, q, Fraction(2)),
        lambda: exact_one_bit(3, 0, q, Fraction(2)),
    ):
        with pytest.raises(InvalidInput, match="noise"):
            call()


def test_malformed_cases_are_refused() -> None:
    """Mixed lengths, impossible counts, λ below 1 and a domain of one answer are all named."""
    q, lam = Fraction(1, 4), Fraction(2)
    with pytest.raises(InvalidInput, match="answers"):
        exact_privacy([(0,)], (0, 1), (1, 0), q, lam)
    with pytest.raises(InvalidInput, match="ones"):
        exact_one_bit(3, 3, q, lam)
    with pytest.raises(InvalidInput, match="crowd"):
        exact_outlier(0, 2, q, lam)
    with pytest.raises(InvalidInput, match="copies"):
        exact_privacy([(0,)], (0,), (1,), q, lam, copies=0)
    with pytest.raises(InvalidInput, match="lam"):
        exact_outlier(3, 2, q, Fraction(1, 2))
    with pytest.raises(InvalidInput, match="domain"):
        exact_worst(3, [(0, 1)], q, lam)


def test_the_oracle_checks_itself() -> None:
    """Outcomes that do not sum to one are a contradiction, not a result."""
    with pytest.raises(InternalError):
        enumeration._exact([(1, 2)], 2, Fraction(2))
