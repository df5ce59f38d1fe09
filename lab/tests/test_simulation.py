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

from krand.errors import InvalidInput
from krand_lab.simulation import (
    Estimate,
    Simulation,
    draw_histograms,
    log_elementary_symmetric,
    log_ratio,
    simulate,
)
from krand_lab.symmetric import log_choose

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


@pytest.mark.check
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


def test_symmetric_polynomial_of_equal_weights_counts_subsets() -> None:
    """With all weights equal to c, e_k = C(n, k)·c^k, however the n are spread over the cells."""
    histogram = np.array([123_456, 0, 7, 10**9])
    found = float(log_elementary_symmetric(histogram, np.full(4, 1.5), 300))
    exact = math.log(math.comb(int(histogram.sum()), 300)) + 300 * 1.5
    assert abs(found - exact) < 1e-10


def test_symmetric_polynomial_of_too_many_and_of_all() -> None:
    """No subset is larger than the whole; the whole is one product; the empty subset gives 1."""
    histogram, log_w = np.array([2, 1]), np.array([0.25, -3.0])
    assert log_elementary_symmetric(histogram, log_w, 4) == -math.inf
    assert math.isclose(float(log_elementary_symmetric(histogram, log_w, 3)), -2.5)
    assert log_elementary_symmetric(histogram, log_w, 0) == 0.0
    with pytest.raises(InvalidInput):
        log_elementary_symmetric(histogram, log_w, -1)


def test_symmetric_polynomial_of_many_histograms_is_taken_row_by_row() -> None:
    """Rows computed in blocks, mixed with quite different ones, equal rows computed alone."""
    rng = np.random.default_rng(1)
    log_w = np.linspace(-20, 20, 41)
    histograms = rng.integers(0, 10 ** rng.integers(1, 9, size=(3000, 1)), size=(3000, 41))
    together = log_elementary_symmetric(histograms, log_w, 17)
    alone = [float(log_elementary_symmetric(row, log_w, 17)) for row in histograms[::500]]
    np.testing.assert_allclose(together[::500], alone, rtol=0, atol=1e-11)


@given(n=st.integers(0, 10**12), k=st.integers(0, 60))
def test_log_choose_is_the_logarithm_of_comb(n: int, k: int) -> None:
    """log C(n, k) agrees with the exact integer, also where C(n, k) = 0."""
    exact = math.log(math.comb(n, k)) if k <= n else -math.inf
    assert math.isclose(log_choose(n, k), exact, rel_tol=1e-13, abs_tol=1e-12)


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


def test_ratio_needs_equally_many_reports_per_histogram() -> None:
    """Outcomes of different crowds have no common C(kN, k)."""
    with pytest.raises(InvalidInput, match="histograms"):
        log_ratio(np.array([[1, 2], [2, 2]]), 0.1)


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


def test_rare_cells_of_huge_crowds_are_drawn_faithfully() -> None:
    """Ten billion reports: the rarest cell expects .1 and gets it; rounding adds none."""
    noise = 0.0422
    drawn = draw_histograms(np.random.default_rng(3), 8, noise, 10**9, 200_000, copies=10)
    expected = 1e10 * noise**8
    assert abs(float(drawn[:, 8].mean()) - expected) < 4.5 * math.sqrt(expected / 200_000)
    assert (drawn.sum(axis=1) == 10**10).all()
    never = draw_histograms(np.random.default_rng(3), 40, noise, 10**12, 500, copies=10**4)
    assert not never[:, 30:].any()


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


FIGURES = {
    (5, 0.2446, 1000, math.log(2)): (0.007067, 0.0005023, 0.002142, 0.0001106),
    (5, 0.2109, 3000, math.log(2)): (0.006412, 0.0004449, 0.002045, 9.22e-5),
    (5, 0.1310, 5000, 2.0): (0.008633, 0.0009833, 0.000879, 7.4e-5),
    (40, 0.350914, 10**7, 2.0): (0.0013411, 0.0006106),
}


@pytest.mark.parametrize("case", FIGURES)
def test_figures_of_the_exact_law(case: tuple[int, float, int, float]) -> None:
    """The exact figures of the drafts' cases are reproduced."""
    found = simulate(*case, samples=60_000, seed=7, confidence=SURE)
    for name, figure in zip(NAMES, FIGURES[case], strict=False):
        estimate = getattr(found, name)
        digit = 0.001 * figure  # the figures are rounded
        assert estimate.low - digit <= figure <= estimate.high + digit, (name, figure, estimate)
        assert estimate.high - estimate.low < 0.1 * figure


def test_heavy_tails_of_long_records() -> None:
    """A thousand bits, a billion users: a single report makes the tail, and is found within 5 %."""
    found = simulate(1000, 0.48, 10**9, 1.0, samples=10_000, seed=8, confidence=SURE)
    assert agrees(found.eta_forward, 5.3592e-13, within=0.05)  # the exact law, by inversion
    assert agrees(found.delta_forward, 7.9334e-14, within=0.05)


@pytest.mark.check
def test_copies_are_all_but_the_composition_of_batches() -> None:
    """One batch of 16 copies has the tails of 16 batches of one copy, which bound its δ."""
    bits, noise, crowd, epsilon, copies = 40, 0.3593, 10**7, 2.0, 16
    mixed = simulate(bits, noise, crowd, epsilon, copies, 20_000, 9, confidence=SURE)
    rng = np.random.default_rng(10)
    parts = [
        log_ratio(draw_histograms(rng, bits, noise, crowd, 16_000, changed=True), noise)
        for _ in range(12)
    ]
    sums = np.concatenate(parts).reshape(-1, copies).sum(axis=1)
    tail = float((sums > epsilon).mean())
    assert abs(mixed.eta_forward.value - tail) < 4 * math.sqrt(tail / sums.size)
    assert 0.0043 < mixed.eta_forward.low < mixed.eta_forward.high < 0.0053


@pytest.mark.check
@pytest.mark.parametrize(
    ("copies", "noise", "figure"), [(256, 0.375, 0.0034), (1024, 0.3832, 0.0041)]
)
def test_hundreds_of_copies(copies: int, noise: float, figure: float) -> None:
    """With the noise that composition asks for, the tail is what composition says."""
    found = simulate(40, noise, 10**7, 2.0, copies, 15_000, seed=11, confidence=SURE)
    assert agrees(found.eta_forward, figure, within=0.1)


@pytest.mark.parametrize(
    ("copies", "noise", "share"),
    [(4, 0.346563, 0.008), (16, 0.340052, 0.13), (200, 0.330037, 0.987)],
)
def test_printed_condition_for_copies_breaks_its_promise(
    copies: int, noise: float, share: float
) -> None:
    """The noise that the drafts' (6.3) allows lets R exceed λ more and more often."""
    found = simulate(40, noise, 10**7, 2.0, copies, 4000, 12, importance=False, confidence=SURE)
    assert found.eta_forward.low < share < found.eta_forward.high


# --- intervals and edges -----------------------------------------------------------------------


@pytest.mark.check
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


def test_seeing_nothing_proves_little() -> None:
    """Without a single hit the upper end is Clopper and Pearson's, for η and for δ."""
    found = simulate(1, 0.25, 1000, 1.0, samples=500, seed=13, importance=False)
    high = 1 - 0.025 ** (1 / 500)
    for name in NAMES:
        estimate = getattr(found, name)
        assert (estimate.value, estimate.low) == (0.0, 0.0)
        assert math.isclose(estimate.high, high, rel_tol=1e-9)


def test_few_effective_draws_widen_the_interval() -> None:
    """A hundred tilted draws claim much less than their own deviation would."""
    truth = one_bit(0.05, 1000, math.log(2))["eta_forward"]
    few = simulate(1, 0.05, 1000, math.log(2), samples=100, seed=14).eta_forward
    many = simulate(1, 0.05, 1000, math.log(2), samples=100_000, seed=14).eta_forward
    assert few.low <= truth <= few.high
    assert few.high - few.low > 2 * math.sqrt(1000) * (many.high - many.low)


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


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("bits", 0),
        ("noise", 0.5),
        ("crowd", 1),
        ("epsilon", -0.1),
        ("epsilon", math.nan),
        ("copies", 0),
        ("samples", 99),
        ("confidence", 1.0),
    ],
)
def test_nonsense_is_refused(field: str, value: float) -> None:
    """A value outside its range is an error that names the field."""
    request = {"bits": 2, "noise": 0.2, "crowd": 10, "epsilon": 1.0, field: value}
    with pytest.raises(InvalidInput, match=field):
        simulate(**request)  # type: ignore[arg-type]
