"""The simulation against exact sums, exact integers and the figures of the mathematics."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln, xlog1py, xlogy

from krand_lab.simulation import (
    Estimate,
    Simulation,
    draw_histograms,
    log_elementary_symmetric,
    log_ratio,
    simulate,
)

Floats = NDArray[np.float64]

NAMES = ("eta_forward", "delta_forward", "eta_reverse", "delta_reverse")
SURE = 0.9999


def binomial(n: int, p: float) -> Floats:
    j = np.arange(n + 1.0)
    log_choices = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return np.asarray(np.exp(log_choices + xlogy(j, p) + xlog1py(n - j, -p)))


def one_bit(noise: float, crowd: int, epsilon: float, copies: int = 1) -> dict[str, float]:
    """Exact sums for L = 1, where an outcome is a number of ones; no ratio of reports is used."""
    d = binomial(copies * crowd, noise)
    others = binomial(copies * crowd - copies, noise)
    d_m = np.convolve(others, binomial(copies, 1 - noise))
    lam = math.exp(epsilon)
    return {
        "eta_forward": float(d_m[d_m > lam * d].sum()),
        "delta_forward": float(np.maximum(d_m - lam * d, 0).sum()),
        "eta_reverse": float(d[d > lam * d_m].sum()),
        "delta_reverse": float(np.maximum(d - lam * d_m, 0).sum()),
    }


def polynomial(counts: list[int], weights: list[Fraction], order: int) -> Fraction:
    """[t^order] Π (1 + w t)^T, factor by factor."""
    coefficients = [Fraction(1)] + [Fraction(0)] * order
    for count, w in zip(counts, weights, strict=True):
        for _ in range(count):
            for j in range(order, 0, -1):
                coefficients[j] += w * coefficients[j - 1]
    return coefficients[order]


def log_of(value: Fraction) -> float:
    return math.log(value.numerator) - math.log(value.denominator)


def agrees(estimate: Estimate, truth: float, within: float) -> bool:
    """The interval holds the truth (or its rounding) and is no wider than ± `within`·truth."""
    slack = 1e-10 * truth
    holds = estimate.low - slack <= truth <= estimate.high + slack
    return holds and (estimate.high - estimate.low) / 2 <= within * truth


def disagreements(result: Simulation, truth: dict[str, float], within: float) -> list[object]:
    pairs = ((name, getattr(result, name)) for name in truth)
    return [(n, truth[n], e) for n, e in pairs if not agrees(e, truth[n], within)]


# --- elementary symmetric polynomials ----------------------------------------------------------


@given(data=st.data())
def test_symmetric_polynomial_equals_the_product_of_its_factors(data: st.DataObject) -> None:
    """Every e_k of up to 24 variables equals the coefficient got by exact rational arithmetic."""
    exponents = data.draw(st.lists(st.integers(-10, 10), min_size=1, max_size=4))
    mantissas = [data.draw(st.integers(1, 9)) for _ in exponents]
    counts = [data.draw(st.integers(0, 6)) for _ in exponents]
    weights = [m * Fraction(10) ** e for m, e in zip(mantissas, exponents, strict=True)]
    order = data.draw(st.integers(0, sum(counts)))
    log_w = np.array([log_of(w) for w in weights])
    found = float(log_elementary_symmetric(np.array(counts), log_w, order))
    assert math.isclose(found, log_of(polynomial(counts, weights, order)), abs_tol=1e-10)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("first", "second", "w", "inverse"),
    [
        (10**10, 10**10, 10**10, 10**10),
        (1000, 10**7, 10**10, 10),
        (1024, 10**10, 10**10, 10**10),
        (3, 10**10, 10**10, 10),
        (2000, 50, 7, 3),
    ],
)
def test_symmetric_polynomial_of_order_1024(first: int, second: int, w: int, inverse: int) -> None:
    """Order 1024 of two weights, up to 10^20 apart, equals the sum of exact integers."""
    k = 1024
    terms = (
        math.comb(first, j) * math.comb(second, k - j) * (w * inverse) ** j for j in range(k + 1)
    )
    exact = math.log(sum(terms)) - k * math.log(inverse)
    log_w = np.array([math.log(w), -math.log(inverse)])
    found = float(log_elementary_symmetric(np.array([first, second]), log_w, k))
    assert abs(found - exact) < 1e-10


# --- outcomes and their ratio ------------------------------------------------------------------


@pytest.mark.parametrize("copies", [1, 2, 7])
def test_ratio_is_the_quotient_of_the_two_laws(copies: int) -> None:
    """For one bit R(S) equals P(S|D_m)/P(S|D) as computed from binomials alone."""
    noise, crowd = 0.2, 12
    responses = copies * crowd
    d = binomial(responses, noise)
    d_m = np.convolve(binomial(responses - copies, noise), binomial(copies, 1 - noise))
    ones = np.arange(responses + 1)
    found = log_ratio(np.stack([responses - ones, ones], axis=1), noise, copies)
    np.testing.assert_allclose(found, np.log(d_m / d), rtol=0, atol=1e-11)


def test_ratio_of_one_copy_is_the_mean_of_its_reports() -> None:
    """R of a single histogram is Σ T_l (p/q)^(2l-L) / N, also where the powers overflow."""
    histogram = np.array([700, 200, 90, 10])
    mean = float(histogram @ (3.0 ** np.array([-3, -1, 1, 3]))) / 1000
    assert math.isclose(float(log_ratio(histogram, 0.25)), math.log(mean), rel_tol=1e-12)
    wide = np.zeros(2001, dtype=np.int64)
    wide[[0, 2000]] = 3, 1
    exact = 2000 * math.log(9) - math.log(4)
    assert math.isclose(float(log_ratio(wide, 0.1)), exact, rel_tol=1e-12)


def test_histograms_have_the_moments_of_their_laws() -> None:
    """Totals are kN, the mean of each cell is Bin(L, q) per report, and k reports lean to y'."""
    rng = np.random.default_rng(2)
    bits, noise, crowd, copies, samples = 3, 0.3, 50, 4, 200_000
    plain = draw_histograms(rng, bits, noise, crowd, samples, copies)
    changed = draw_histograms(rng, bits, noise, crowd, samples, copies, changed=True)
    from_y, from_other = binomial(bits, noise), binomial(bits, 1 - noise)
    for drawn, expected in (
        (plain, 200 * from_y),
        (changed, 196 * from_y + 4 * from_other),
    ):
        assert (drawn.sum(axis=1) == 200).all()
        tolerance = 4.5 * np.sqrt(expected / samples)
        assert (np.abs(drawn.mean(axis=0) - expected) < tolerance).all()
    covariance = float(np.cov(plain[:, 0], plain[:, 1])[0, 1])
    assert math.isclose(covariance, -200 * from_y[0] * from_y[1], rel_tol=0.05)


# --- η and δ -----------------------------------------------------------------------------------

ONE_BIT_CASES = [
    (0.01056, 1000, math.log(2), 1),
    (0.3, 2, 0.5, 1),
    (0.0021, 1000, 1.0, 1),
    (0.2, 2, 0.5, 4),
    (0.05, 300, 1.0, 4),
    (0.2, 300, 1.0, 16),
]


@pytest.mark.parametrize(("noise", "crowd", "epsilon", "copies"), ONE_BIT_CASES)
def test_one_bit_by_importance_sampling(
    noise: float, crowd: int, epsilon: float, copies: int
) -> None:
    """Tilted and weighted, all four figures of one bit agree with exact sums within 6 %."""
    truth = one_bit(noise, crowd, epsilon, copies)
    found = simulate(1, noise, crowd, epsilon, copies, 50_000, seed=4, confidence=SURE)
    assert not disagreements(found, truth, within=0.06)


@pytest.mark.parametrize(("noise", "crowd", "epsilon", "copies"), ONE_BIT_CASES)
def test_one_bit_by_plain_sampling(noise: float, crowd: int, epsilon: float, copies: int) -> None:
    """Plain η agrees within 30 % and δ lies in its interval, which holds for every sample size."""
    truth = one_bit(noise, crowd, epsilon, copies)
    found = simulate(
        1, noise, crowd, epsilon, copies, 100_000, 5, importance=False, confidence=SURE
    )
    etas = {name: truth[name] for name in NAMES if name.startswith("eta")}
    assert not disagreements(found, etas, within=0.3)
    assert not disagreements(found, truth, within=math.inf)


@pytest.mark.parametrize(
    ("noise", "crowd", "epsilon", "copies", "scale"),
    [
        (0.3, 50, 0.5, 1, 1e-8),
        (0.05, 1000, math.log(2), 1, 1e-12),
        (0.02, 10_000, 0.5, 1, 1e-19),
        (0.25, 200, 1.0, 4, 1e-9),
        (0.1, 100, 3.0, 2, 1e-44),
    ],
)
def test_rare_tails(noise: float, crowd: int, epsilon: float, copies: int, scale: float) -> None:
    """Tails from 10^-7 down to 10^-45, never seen by plain sampling, are found within 15 %."""
    truth = one_bit(noise, crowd, epsilon, copies)
    assert truth["delta_forward"] < scale
    found = simulate(1, noise, crowd, epsilon, copies, 50_000, seed=6, confidence=SURE)
    assert not disagreements(found, truth, within=0.15)


# --- intervals and edges -----------------------------------------------------------------------


@pytest.mark.nightly
def test_intervals_hold_as_often_as_they_say() -> None:
    """Of 150 intervals at 80 %, 68 to 92 % hold η (tilted); plain δ never falls short of 80 %."""
    truth = one_bit(0.05, 300, 1.0)
    tilted = plain = 0
    for seed in range(150):
        found = simulate(1, 0.05, 300, 1.0, samples=4000, seed=seed, confidence=0.8)
        tilted += found.eta_reverse.low <= truth["eta_reverse"] <= found.eta_reverse.high
        found = simulate(
            1, 0.05, 300, 1.0, samples=1000, seed=seed, importance=False, confidence=0.8
        )
        plain += found.delta_reverse.low <= truth["delta_reverse"] <= found.delta_reverse.high
    assert 102 <= tilted <= 138
    assert plain >= 120


def test_what_needs_no_sampling_is_not_sampled() -> None:
    """Below the local bound nothing can happen; a report worth λN alone has a closed form."""
    nothing = simulate(3, 0.3, 100, 3 * math.log(7 / 3) + 1e-9)
    assert {getattr(nothing, name) for name in NAMES} == {Estimate(0.0, 0.0, 0.0, 0)}
    alone = simulate(1, 1e-5, 1000, 1.0)
    truth = one_bit(1e-5, 1000, 1.0)
    assert alone.eta_forward.samples == alone.delta_forward.samples == 0
    assert math.isclose(alone.eta_forward.value, truth["eta_forward"], rel_tol=1e-9)
    assert math.isclose(alone.delta_forward.value, truth["delta_forward"], rel_tol=1e-9)


def test_same_seed_same_answer() -> None:
    """A seed fixes the outcome; no seed does not."""
    ask = (2, 0.2, 100, 1.0, 2, 200)
    assert simulate(*ask, seed=1) == simulate(*ask, seed=1)
    assert simulate(*ask) != simulate(*ask)


@settings(max_examples=40)
@given(
    bits=st.sampled_from([1, 2, 5, 40, 300, 1000]),
    noise=st.floats(1e-9, 0.4999),
    crowd=st.sampled_from([2, 3, 100, 10**5, 10**9]),
    epsilon=st.floats(0, 20),
    copies=st.sampled_from([1, 2, 10]),
    importance=st.booleans(),
)
def test_every_request_gets_ordered_probabilities(
    bits: int, noise: float, crowd: int, epsilon: float, copies: int, importance: bool
) -> None:
    """Whatever the request: 0 ≤ low ≤ value ≤ high ≤ 1, and δ never exceeds η."""
    found = simulate(bits, noise, crowd, epsilon, copies, 100, 15, importance)
    for name in NAMES:
        estimate = getattr(found, name)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1 + 1e-12
    assert found.delta_forward.value <= found.eta_forward.value * (1 + 1e-9)
    assert found.delta_reverse.value <= found.eta_reverse.value * (1 + 1e-9)
