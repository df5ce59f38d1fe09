"""The exact law of the privacy ratio for the outlier pair, also by simulation and balls."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from components import require
from effort import EFFORT
from krand_lab.enumeration import exact_outlier
from krand_lab.exact import inversion
from krand_lab.exact.backgrounds import outlier_law, swapped
from krand_lab.exact.bounds import Bounds
from krand_lab.exact.direct import summable
from krand_lab.exact.ratio import RatioLaw, _scores
from krand_lab.simulation import simulate

LN2 = math.log(2)
SETTINGS = 8 * EFFORT


def close(value: float, printed: str) -> bool:
    """Whether the value is within one unit of the last digit the mathematics page prints."""
    digits = len(printed.split("e")[0].replace(".", "").lstrip("0"))
    return abs(value - float(printed)) <= 1.0 * 10 ** (
        math.floor(math.log10(float(printed))) - digits + 1
    )


# The mathematics page prints .000665 in one cell; see the test after the table.
TABLE_001_3_3 = [
    (2, 1000, 0.2446, ".007068", ".0005023", ".002142", ".0001106"),
    (2, 3000, 0.2109, ".006412", ".0004449", ".002045", "9.22e-5"),
    (2, 5000, 0.1778, ".04271", ".00544", ".0322", ".002265"),
    (2, 5000, 0.1963, ".006682", ".0004332", ".0024", ".000103"),
    (math.e**2, 1000, 0.1692, ".003706", ".000750", ".000158", "8.6e-6"),
    (math.e**2, 3000, 0.1424, ".00679", ".0009406", ".000664", "3.8e-5"),
    (math.e**2, 5000, 0.1310, ".008633", ".0009833", ".000879", "7.4e-5"),
]


@pytest.mark.parametrize(("lam", "crowd", "q", "ef", "df", "er", "dr"), TABLE_001_3_3)
def test_table_of_001_3_3(lam, crowd, q, ef, df, er, dr):
    """The four exact figures of every row of 001 §3.3 are those of the mathematics page."""
    law = RatioLaw(q, 5, crowd)
    eta, delta = law.eta(math.log(lam)), law.delta(math.log(lam))
    assert close(eta.forward.value, ef)
    assert close(delta.forward.value, df)
    assert close(eta.reverse.value, er)
    assert close(delta.reverse.value, dr)


def brackets(bounds: Bounds, exact: Fraction) -> bool:
    return bounds.lower <= float(exact) * (1 + 1e-13) and bounds.upper >= float(exact) * (1 - 1e-13)


def random_small_settings(count: int) -> list[tuple[int, int, Fraction, Fraction]]:
    rng = np.random.default_rng(20161)
    settings = []
    while len(settings) < count:
        bits, crowd = int(rng.integers(1, 5)), int(rng.integers(2, 13))
        q = Fraction(int(rng.integers(1, 500)), 1024)
        lam = Fraction(int(rng.integers(17, 120)), 16)
        settings.append((crowd, bits, q, lam))
    return settings


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(8))
def test_bounds_hold_the_exact_value(chunk):
    """For random small settings upper ≥ exact enumeration ≥ lower, by sums and by inversion.

    64 of them, eight in each chunk; `make nightly` takes 200.
    """
    for crowd, bits, q, lam in random_small_settings(SETTINGS)[chunk::8]:
        exact = exact_outlier(crowd, bits, q, lam)
        epsilon = math.log(lam)
        law = RatioLaw(float(q), bits, crowd)
        delta, eta = law.delta(epsilon), law.eta(epsilon)
        assert brackets(delta.forward, exact.delta_forward)
        assert brackets(delta.reverse, exact.delta_reverse)
        assert brackets(eta.forward, exact.eta_forward)
        assert brackets(eta.reverse, exact.eta_reverse)
        for way, d, e in (
            (law.law, exact.delta_forward, exact.eta_forward),
            (swapped(law.law), exact.delta_reverse, exact.eta_reverse),
        ):
            top, low = (_scores(way, epsilon, side) for side in (1, -1))
            if top.score.max() <= 0:
                continue
            assert inversion.mean_positive_part(top, crowd).upper >= d
            assert inversion.tail_probability(top, crowd).upper >= e
            if low.score.max() <= 0:
                continue
            assert inversion.mean_positive_part(low, crowd).lower <= d
            assert inversion.tail_probability(low, crowd).lower <= e


def test_small_cases_agree_to_twelve_digits():
    """Where histograms can be counted the sums equal rational enumeration to 1e-12."""
    for crowd, bits, q, lam in [
        (30, 4, Fraction(1, 4), Fraction(2)),
        (30, 2, Fraction(1, 10), Fraction(3)),
    ]:
        exact = exact_outlier(crowd, bits, q, lam)
        law = RatioLaw(float(q), bits, crowd)
        delta = law.delta(math.log(lam))
        assert summable(law.law.log_reference, crowd)
        assert delta.forward.value == pytest.approx(
            float(exact.delta_forward), rel=1e-12, abs=1e-15
        )
        assert delta.reverse.value == pytest.approx(
            float(exact.delta_reverse), rel=1e-12, abs=1e-15
        )


def wide(bounds: Bounds) -> float:
    return bounds.upper / bounds.lower - 1


WIDTHS = [
    (2, 1000, 0.499, 0.1),
    (10, 1000, 0.4999, 0.01),
    (1000, 5, 0.2446, LN2),
    (10**5, 300, 0.45, 3.0),
    (10**6, 10, 0.2, 0.1),
    (10**6, 10, 0.28, 0.1),
    (10**7, 40, 0.350914, 2.0),
    (10**7, 40, 0.42, 0.05),
    (10**9, 3, 0.002, 0.5),
    (10**9, 40, 0.31, 1.0),
    (10**9, 1000, 0.475, 1.0),
    (10**9, 1000, 0.4775, 0.5),
]


@pytest.mark.parametrize(("crowd", "bits", "q", "epsilon"), WIDTHS)
def test_bounds_are_one_percent_wide_at_most(crowd, bits, q, epsilon):
    """upper/lower - 1 ≤ 1 % for δ ≥ 1e-9 (η likewise) over N = 2…10⁹ and L = 3…1000."""
    law = RatioLaw(q, bits, crowd)
    delta, eta = law.delta(epsilon), law.eta(epsilon)
    for d, e in ((delta.forward, eta.forward), (delta.reverse, eta.reverse)):
        if d.upper >= 1e-9:
            assert wide(d) <= 0.01
            assert wide(e) <= 0.01


def test_one_bit_is_a_binomial():
    """For one bit the law is a binomial: compare with sums written out independently."""
    from scipy.stats import binom

    crowd, q, lam = 1000, 0.0105, 2.0
    p = 1 - q
    ones = np.arange(crowd + 1)
    ratio = ((crowd - ones) * (q / p) + ones * (p / q)) / crowd
    weight = binom.pmf(ones, crowd, q)
    law = RatioLaw(q, 1, crowd)
    delta, eta = law.delta(LN2), law.eta(LN2)
    assert delta.forward.value == pytest.approx(
        (weight * np.maximum(ratio - lam, 0)).sum(), rel=1e-9
    )
    assert delta.reverse.value == pytest.approx(
        (weight * np.maximum(1 - lam * ratio, 0)).sum(), rel=1e-9
    )
    assert eta.forward.value == pytest.approx((weight * ratio)[ratio > lam].sum(), rel=1e-9)
    assert eta.reverse.value == pytest.approx(weight[1 / ratio > lam].sum(), rel=1e-9)


def test_reports_alone_protect_when_epsilon_reaches_the_local_one():
    """Once ε ≥ ε₀ = L·ln(p/q) no outcome exceeds the limit: δ and η are exactly 0."""
    law = RatioLaw(0.45, 3, 1000)
    epsilon = 3 * math.log(0.55 / 0.45) + 1e-9
    assert law.delta(epsilon).upper == 0
    assert law.eta(epsilon).upper == 0


def test_more_users_and_more_noise_never_hurt():
    """δ falls with N and with q (both are post-processing)."""
    by_crowd = [RatioLaw(0.2, 4, n).delta(1.0).upper for n in (50, 200, 1000, 5000)]
    by_noise = [RatioLaw(q, 4, 500).delta(1.0).upper for q in (0.1, 0.2, 0.3, 0.4)]
    assert by_crowd == sorted(by_crowd, reverse=True)
    assert by_noise == sorted(by_noise, reverse=True)


LARGER = 4 * EFFORT


def larger_settings(count: int) -> list[tuple[int, int, float, float]]:
    """Random (L, N, q, ε) whose δ can be seen: the noise follows from φ^L = 1 + N·V."""
    rng = np.random.default_rng(2017)
    found = []
    for _ in range(count):
        bits = int(rng.integers(2, 60))
        crowd = int(10 ** rng.uniform(2, 8))
        epsilon = float(rng.uniform(0.3, 2.5))
        spread = (epsilon / rng.uniform(1.5, 4.5)) ** 2
        phi = (1 + crowd * spread) ** (1 / bits)
        root = ((phi + 1) + math.sqrt((phi + 1) ** 2 - 4)) / 2
        found.append((bits, crowd, 1 / (1 + root), epsilon))
    return found


@pytest.mark.nightly
@pytest.mark.parametrize("chunk", range(5))
def test_monte_carlo_meets_the_bounds(chunk):
    """For random larger settings the simulated interval meets [lower, upper], all four ways.

    20 of them, four in each chunk; `make nightly` takes 50.
    """
    for bits, crowd, q, epsilon in larger_settings(LARGER)[chunk::5]:
        law = RatioLaw(q, bits, crowd)
        delta, eta = law.delta(epsilon), law.eta(epsilon)
        seen = simulate(bits, q, crowd, epsilon, samples=8000, seed=11, confidence=0.99999)
        for bounds, estimate in (
            (delta.forward, seen.delta_forward),
            (delta.reverse, seen.delta_reverse),
            (eta.forward, seen.eta_forward),
            (eta.reverse, seen.eta_reverse),
        ):
            assert estimate.low <= bounds.upper
            assert estimate.high >= bounds.lower


def ball_delta(flint, crowd: int, bits: int, q, epsilon: float) -> tuple[float, float]:
    """[lower, upper] of δ_fwd by summing over all histograms of two kinds in ball arithmetic."""
    arb = flint.arb
    p = 1 - q
    lam = arb(epsilon).exp()
    weights = [math.comb(bits, k) * q**k * p ** (bits - k) for k in range(bits + 1)]
    ratios = [(p / q) ** (2 * k - bits) for k in range(bits + 1)]
    factorial = [arb(1)]
    for i in range(1, crowd + 1):
        factorial.append(factorial[-1] * i)
    powers = [[w**n for n in range(crowd + 1)] for w in weights]
    total = arb(0)
    for b in range(crowd + 1):
        for c in range(crowd - b + 1):
            a = crowd - b - c
            gain = a * ratios[0] + b * ratios[1] + c * ratios[2] - lam * crowd
            if gain < 0:
                continue
            ways = factorial[crowd] / (factorial[a] * factorial[b] * factorial[c])
            total += ways * powers[0][a] * powers[1][b] * powers[2][c] * gain
    total /= crowd
    return float(total.mid() - total.rad()), float(total.mid() + total.rad())


@pytest.mark.parametrize(("crowd", "q", "epsilon"), [(60, "0.2", 0.5), (150, "0.11", 1.0)])
def test_ball_arithmetic_lies_inside_the_bounds(crowd, q, epsilon):
    """Two bits: rigorous ball arithmetic confirms the inversion's bounds at 128 bits."""
    flint = require("flint")
    flint.ctx.prec = 128
    low, high = ball_delta(flint, crowd, 2, flint.arb(float(q)), epsilon)
    assert high - low < 1e-25
    above, below = (
        inversion.mean_positive_part(_scores(outlier_law(float(q), 2), epsilon, side), crowd)
        for side in (1, -1)
    )
    assert below.lower <= high
    assert above.upper >= low
    assert above.upper <= low * 1.01
