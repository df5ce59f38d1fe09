"""Flips and dummies in one count beside dp-accounting: δ of the same laws, once with each."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from components import require
from krand.accounting.both import BothBound, BothPart
from krand.accounting.dummies import dummy_law
from krand.promise import DUMMY_GRID, DummyLaw

pld = require("dp_accounting.pld.privacy_loss_distribution")


def composed_delta(
    noise: float, crowd: int, law: DummyLaw, count: int, epsilon: float, pessimistic: bool
) -> float:
    """δ(ε) of `count` counts that all rise, or all fall, everybody else answering 0."""
    dummies = np.array(law.weights, dtype=np.float64) / DUMMY_GRID
    others = np.convolve(binom.pmf(np.arange(crowd), crowd - 1, noise), dummies)
    zero = np.convolve(others, [1 - noise, noise])
    one = np.convolve(others, [noise, 1 - noise])
    logs = [
        {x: math.log(p) for x, p in enumerate(masses.tolist()) if p > 1e-290}
        for masses in (zero, one)
    ]
    found = pld.from_two_probability_mass_functions(
        logs[0],
        logs[1],
        pessimistic_estimate=pessimistic,
        value_discretization_interval=epsilon / 20_000,
        log_mass_truncation_bound=-60,
        symmetric=False,
    )
    return float(found.self_compose(count).get_delta_for_epsilon(epsilon))


@pytest.mark.parametrize(("noise", "scale", "count"), [(0.05, 1.0, 2), (0.02, 2.0, 6)])
def test_both_ends_are_on_their_sides_of_another_librarys(
    noise: float, scale: float, count: int
) -> None:
    """Their lower answer for one background is below our upper end, their upper above our lower."""
    law, crowd, epsilon = dummy_law(1.0, scale, 25), 300, 1.0
    ours = BothBound(parts=(BothPart(noise, law, count),), crowd=crowd, mixers=1, epsilon=epsilon)
    low, high = (composed_delta(noise, crowd, law, count, epsilon, way) for way in (False, True))
    assert low <= ours.upper(epsilon)
    assert 0.95 * low <= ours.lower() <= high * (1 + 1e-6)
