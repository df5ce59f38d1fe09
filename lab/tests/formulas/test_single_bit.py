"""One bit: the drafts' formulas against enumeration, against each other and their own numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand_lab import formulas as drafts

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
