"""The exact law against two methods that share nothing with it: Monte Carlo and ball arithmetic."""

from __future__ import annotations

import math

import numpy as np
import pytest

from components import require
from effort import LONG
from krand.accounting import inversion
from krand.accounting.channel import outlier_law
from krand.accounting.ratio import RatioLaw, _scores
from krand_lab.simulation import simulate

SETTINGS = 50 if LONG else 20


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


@pytest.mark.loop
@pytest.mark.parametrize("chunk", range(5))
def test_monte_carlo_meets_the_bounds(chunk):
    """For random larger settings the simulated interval meets [lower, upper], all four ways.

    20 of them, four in each chunk; `make long` takes 50.
    """
    for bits, crowd, q, epsilon in larger_settings(SETTINGS)[chunk::5]:
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
