"""One bit: the drafts' formulas against enumeration, against each other and their own numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand_lab import formulas as drafts
from krand_lab.formulas.arithmetic import root

NOISES = st.fractions(Fraction(1, 30), Fraction(29, 60), max_denominator=60)
NUMBERS = st.floats(0.001, 0.499)
Q = Fraction(1, 4)


def chances(bits: tuple[int, ...], q: Fraction) -> list[Fraction]:
    """The law of the observed count by going through every pattern of flips."""
    result = [Fraction(0)] * (len(bits) + 1)
    for flips in product((0, 1), repeat=len(bits)):
        weight = math.prod(q if f else 1 - q for f in flips)
        result[sum(b ^ f for b, f in zip(bits, flips, strict=True))] += weight
    return result


@given(st.integers(1, 5), NOISES)
def test_counts_of_000(crowd: int, q: Fraction) -> None:
    """000 (0.1)–(0.4) are the laws and the ratio that all patterns of flips give."""
    modified, original = chances((0,) * crowd, q), chances((1,) + (0,) * (crowd - 1), q)
    for i in range(crowd + 1):
        assert drafts.probability_modified_000_0_1(crowd, i, q) == modified[i]
        assert drafts.probability_original_000_0_2(crowd, i, q) == original[i]
        assert drafts.ratio_000_0_3(crowd, i, q) == modified[i] / original[i]
        assert drafts.inverse_ratio_000_0_4(crowd, i, q) == original[i] / modified[i]


@given(st.integers(1, 5), NOISES)
def test_counts_of_003(crowd: int, q: Fraction) -> None:
    """003 (4.30), (4.32) and the corrected (4.31) are exact; the printed (4.31) sums to 1 - p²."""
    original, modified = chances((1,) * crowd, q), chances((0,) + (1,) * (crowd - 1), q)
    for i in range(crowd + 1):
        assert drafts.probability_original_003_4_30(crowd, i, q) == original[i]
        assert drafts.probability_modified_003_4_31_corrected(crowd, i, q) == modified[i]
        assert drafts.ratio_003_4_32(crowd, i, q) == modified[i] / original[i]
    printed = [drafts.probability_modified_003_4_31(crowd, i, q) for i in range(crowd + 1)]
    assert sum(printed) == 1 - (1 - q) ** 2
    assert printed[-1] == modified[-1]


@given(st.integers(1, 5), st.data(), NOISES)
def test_generating_function(crowd: int, data: st.DataObject, q: Fraction) -> None:
    """G_m of 003 §4.2 and the sum of (9.1) are the law of the count of m ones among N bits."""
    ones = data.draw(st.integers(0, crowd))
    exact = chances((1,) * ones + (0,) * (crowd - ones), q)
    assert drafts.generating_function_003_4_2(crowd, ones, q) == exact
    assert [drafts.probability_003_9_1(crowd, ones, k, q) for k in range(crowd + 1)] == exact
    assert drafts.mean_count_003_9_3(crowd, ones, q) == sum(k * c for k, c in enumerate(exact))
    assert drafts.probability_003_9_1(crowd, ones, crowd + 1, q) == 0


def test_factor_form() -> None:
    """The gap after 003 (4.15) is right with its indices one lower, and wrong as printed."""
    low, here, high = (drafts.generating_function_003_4_2(4, m, Q) for m in (1, 2, 3))
    b = drafts.generating_function_003_4_2(2, 1, Q)
    gaps = [here[i] ** 2 - low[i] * high[i] for i in range(5)]
    assert [drafts.gap_003_4_15_corrected(b, i, Q) for i in range(5)] == gaps
    assert [drafts.gap_003_4_15(b, i, Q) for i in range(4)] == gaps[1:]


def test_means_and_deviations_of_the_count() -> None:
    """The means are those of the laws, but for 000 (0.24), which is too large by q."""

    def mean(bits: tuple[int, ...]) -> Fraction:
        return sum((i * c for i, c in enumerate(chances(bits, Q))), Fraction(0))

    assert drafts.mean_count_000_0_22(4, Q) == mean((0, 0, 0, 0))
    assert drafts.mean_count_000_0_24_corrected(4, Q) == mean((1, 0, 0, 0))
    assert drafts.mean_count_000_0_24(4, Q) == mean((1, 0, 0, 0)) + Q
    assert drafts.mean_count_003_4_48(4, Q) == mean((1, 1, 1, 1))
    assert drafts.mean_count_003_4_50(4, Q) == mean((0, 1, 1, 1))
    assert (
        drafts.sigma_count_000_0_23(100, Fraction(1, 5))
        == 4
        == drafts.sigma_count_000_0_25(100, Fraction(1, 5))
    )


def test_intervals_of_000() -> None:
    """(0.26), (0.27) and (0.29) as printed: with the estimate's deviation, and about (0.24)."""
    # 000 (0.26): q = .333 and 3·44.7, the deviation rounded before it is used.
    assert drafts.observed_interval_000_0_26(1000, 0.333) == pytest.approx((198.9, 467.1), abs=0.3)
    # 000 (0.27): 198.6 must be a misprint for 199.6, as the interval is as wide as (0.26).
    assert drafts.observed_interval_000_0_27(1000, 0.333) == pytest.approx((199.6, 467.8), abs=0.3)
    assert drafts.observed_interval_000_0_29(1000, 0.033) == pytest.approx(
        (17.02, 50.91), abs=0.005
    )
    assert drafts.observed_interval_000_0_28(1000, 1, 0.033) == pytest.approx(
        (16.99, 50.88), abs=0.005
    )
    assert drafts.observed_interval_000_0_28(1000, 0, 1 / 3) == pytest.approx(
        (288.6, 378.1), abs=0.05
    )


def test_estimates() -> None:
    """003 (4.1) and 000 (1.1) are the estimate of 001 §4, here without error."""
    assert drafts.estimate_003_4_1(5, 8, Q) == 6
    assert drafts.estimate_copies_000_1_1(10, 8, Q, 2) == 6
    assert drafts.estimate_001_4(10, 8, 0.25, 2) == 6
    assert drafts.variance_of_estimate_003_4_3(8, Q) == 6
    assert drafts.variance_of_estimate_copies_000_1_3(8, Q, 2) == 3
    assert drafts.sigma_001_4(8, 0.25, 2) ** 2 == pytest.approx(3)


@given(st.integers(1, 10**6), NUMBERS)
def test_three_deviations_of_000(crowd: int, q: float) -> None:
    """000 (0.9)–(0.13) are (0.4) at the count of (0.5), in floating point as well."""
    exact = drafts.inverse_ratio_000_0_4(crowd, drafts.count_below_mean_000_0_5(crowd, q), q)
    for value in (
        drafts.inverse_ratio_below_mean_000_0_9(crowd, q),
        drafts.inverse_ratio_below_mean_000_0_10(crowd, q),
        drafts.inverse_ratio_below_mean_000_0_11(crowd, q),
        1 - drafts.shortfall_000_0_12(crowd, q),
        1 - drafts.shortfall_000_0_13(crowd, q),
    ):
        assert value == pytest.approx(exact, rel=1e-9, abs=1e-9)


@given(st.integers(1, 10**6), NUMBERS)
def test_three_deviations_of_003(crowd: int, q: float) -> None:
    """003 (4.36)–(4.39) are (4.32) at the count of (4.33); (4.35) has a wrong sign."""
    exact = drafts.ratio_003_4_32(crowd, drafts.count_below_mean_003_4_33(crowd, q), q)
    for form in (
        drafts.largest_ratio_003_4_36,
        drafts.largest_ratio_003_4_37,
        drafts.largest_ratio_003_4_38,
        drafts.largest_ratio_003_4_39,
    ):
        assert form(crowd, q) == pytest.approx(exact, rel=1e-9)
    slip = 6 * q * math.sqrt(q / (1 - q) / crowd)
    assert drafts.largest_ratio_003_4_35(crowd, q) - exact == pytest.approx(
        slip, rel=1e-4, abs=1e-9 * exact
    )


@given(st.integers(10, 10**6), st.floats(1.1, 20))
def test_least_deviations(crowd: int, lam: float) -> None:
    """At the noise of 000 (0.19) and 003 (4.45) the estimate has just the least deviation."""
    for noise, sigma, variance in (
        (
            drafts.single_bit_noise_000_0_19,
            drafts.least_sigma_000_0_16,
            drafts.least_variance_000_0_14,
        ),
        (
            drafts.single_bit_noise_003_4_45,
            drafts.least_sigma_003_4_42,
            drafts.least_variance_003_4_40,
        ),
    ):
        q = noise(crowd, lam)
        assert drafts.sigma_001_4(crowd, q) == pytest.approx(sigma(lam), rel=1e-6)
        assert drafts.variance_of_estimate_003_4_3(crowd, q) == pytest.approx(
            variance(lam), rel=1e-6
        )


def test_one_copy_is_the_single_report() -> None:
    """With k = 1 the formulas of copies are those of one report, and their bounds are exact."""
    for s in range(6):
        inverse = drafts.inverse_ratio_000_0_4(5, s, Q)
        assert drafts.inverse_ratio_copies_000_1_8(5, s, Q, 1) == inverse
        assert drafts.inverse_ratio_bound_000_1_12(5, s, Q, 1) == inverse
        assert drafts.ratio_copies_003_5_9(5, s, Q, 1) == drafts.ratio_003_4_32(5, s, Q)
        assert drafts.ratio_bound_003_5_13(5, s, Q, 1) == drafts.ratio_003_4_32(5, s, Q)


@given(st.integers(1, 5000), NUMBERS, st.integers(1, 20))
def test_three_deviations_of_copies(crowd: int, q: float, copies: int) -> None:
    """(1.12) and (5.13) three deviations below the mean are (1.19) and (5.20)."""
    below = drafts.count_below_mean_copies_000_1_12(crowd, q, copies)
    limit = drafts.inverse_ratio_limit_000_1_19(crowd, q, copies)
    # Far below the mean s is negative and the sum alternates: its terms set the error.
    scale = abs(1 - below / (copies * crowd)) * (q / (1 - q))
    scale = (scale + abs(below / (copies * crowd)) * ((1 - q) / q)) ** copies
    assert drafts.inverse_ratio_bound_000_1_12(crowd, below, q, copies) == pytest.approx(
        limit, rel=1e-9, abs=1e-9 * scale
    )
    above = drafts.count_below_mean_copies_003_5_13(crowd, q, copies)
    if above >= 0:
        assert drafts.ratio_bound_003_5_13(crowd, above, q, copies) == pytest.approx(
            drafts.ratio_limit_003_5_20(crowd, q, copies), rel=1e-7
        )


@given(st.integers(10, 10**6), st.floats(1.1, 20), st.integers(1, 30))
def test_least_spread(crowd: int, lam: float, copies: int) -> None:
    """The noise of 000 (1.23) and 003 (5.24) meets (1.22) and (5.23) with equality."""
    for noise, least in (
        (drafts.single_bit_copies_noise_000_1_23, drafts.least_spread_000_1_22),
        (drafts.single_bit_copies_noise_003_5_24, drafts.least_spread_003_5_23),
    ):
        q = noise(crowd, lam, copies)
        spread = q * (1 - q) * copies * crowd / (1 - 2 * q) ** 2
        assert spread == pytest.approx(least(lam, copies), rel=1e-6)


@pytest.mark.parametrize("crowd", [1000, 100_000])
@pytest.mark.parametrize(("copies", "lam"), [(4, 2.0), (16, 2.0), (16, math.exp(2))])
def test_excess_of_000_does_not_vanish(crowd: int, copies: int, lam: float) -> None:
    """At the noise of 000 (1.23) log R exceeds log λ by about (k-1)/k·ε²/18 in any crowd."""
    q = drafts.single_bit_copies_noise_000_1_23(crowd, lam, copies)
    s = round(drafts.count_below_mean_copies_000_1_12(crowd, q, copies))
    reports, odds = copies * crowd, q / (1 - q)
    inverse = sum(  # (1.8) by its product form, whose factors stay in range
        float(drafts.share_000_1_9_product(crowd, s, i, copies))
        * math.comb(copies, i)
        * odds ** (copies - 2 * i)
        for i in range(copies + 1)
    )
    bound = drafts.inverse_ratio_bound_000_1_12(crowd, s, q, copies)
    assert s < q * reports
    assert math.log(bound / inverse) == pytest.approx(
        (copies - 1) / copies * math.log(lam) ** 2 / 18, rel=0.08
    )


def test_steps_of_section_9() -> None:
    """003 (9.4), (9.6) and the ends of (9.5), (9.7) are (9.2); the middle of (9.5) is not."""
    for k in range(1, 9):
        assert drafts.step_no_ones_003_9_4(8, k, Q) == drafts.step_003_9_2(8, 0, k, Q)
        assert drafts.step_no_ones_003_9_6(8, 2 - Fraction(k), Q) == drafts.step_003_9_2(8, 0, k, Q)
        assert drafts.step_all_ones_003_9_5(8, k, Q) == drafts.step_003_9_2(8, 8, k, Q)
        assert drafts.step_all_ones_003_9_7(8, 6 - Fraction(k), Q) == drafts.step_003_9_2(
            8, 8, k, Q
        )
        assert drafts.step_all_ones_003_9_5_quotient(8, k, Q) == drafts.step_003_9_2(8, 0, k, Q)


@given(st.integers(2, 1000), st.floats(0.05, 0.45), st.floats(0.05, 0.95))
def test_the_dropped_one_matters(crowd: int, q: float, share: float) -> None:
    """(9.8) holds for the approximations, for (9.6) and (9.7) just where α(α+1) > pqN."""
    distance = share * q * crowd
    rough = drafts.step_no_ones_003_9_6_approximate(crowd, distance, q)
    assert rough > drafts.step_all_ones_003_9_7_approximate(crowd, distance, q)
    margin = distance * (distance + 1) - q * (1 - q) * crowd
    if abs(margin) > 1e-6 * crowd:
        larger = drafts.step_no_ones_003_9_6(crowd, distance, q)
        assert (larger > drafts.step_all_ones_003_9_7(crowd, distance, q)) == (margin > 0)


def test_roots() -> None:
    """A root of a fraction is exact or refused, a root of a number is the usual one."""
    assert root(Fraction(9, 4)) == Fraction(3, 2)
    assert root(2.0) == math.sqrt(2)
    with pytest.raises(InvalidInput, match="square"):
        root(Fraction(1, 2))


@given(NUMBERS, st.integers(2, 30))
def test_ratio_falls_with_the_count(q: float, crowd: int) -> None:
    """R_i of 000 and of 003 falls from p/q to q/p as more ones are seen."""
    for ratios in (
        [1 / drafts.inverse_ratio_000_0_4(crowd, i, q) for i in range(crowd + 1)],
        [drafts.ratio_003_4_32(crowd, i, q) for i in range(crowd + 1)],
    ):
        assert all(a > b for a, b in pairwise(ratios))
        assert ratios[0] == pytest.approx((1 - q) / q)
        assert ratios[-1] == pytest.approx(q / (1 - q))
