"""Dummies of mixers, and flips beside them, by dp-accounting: δ of the same laws by both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from components import require
from krand.accounting.both import BothBound, BothPart
from krand.accounting.division import Share
from krand.accounting.dummy_bounds import DummyBound, dummy_law
from krand.accounting.dummy_division import divide_dummies
from krand.promise import DUMMY_GRID, DummyLaw, Policy

pld = require("dp_accounting.pld.privacy_loss_distribution")


def theirs(logs: Sequence[dict[int, float]], count: int, epsilon: float, **how: Any) -> float:
    """δ(ε) of `count` pairs of laws, given by the logarithms of their masses."""
    found = pld.from_two_probability_mass_functions(*logs, log_mass_truncation_bound=-60, **how)
    return float(found.self_compose(count).get_delta_for_epsilon(epsilon))


def composed_delta(law: DummyLaw, count: int, epsilon: float, pessimistic: bool) -> float:
    """δ(ε) of `count` pairs (Z, Z+1); an outcome that only one of them has is infinitely bad."""
    upper = {x: math.log(w / DUMMY_GRID) for x, w in enumerate(law.weights)}
    lower = {x + 1: log for x, log in upper.items()}
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": epsilon / 40_000}
    return theirs((lower, upper), count, epsilon, **how)


@pytest.mark.parametrize("delta", [1e-6, 1e-12])
@pytest.mark.parametrize(("count", "epsilon"), [(1, 1.0), (2, 1.0), (4, 0.5), (8, 2.0), (40, 2.0)])
def test_the_least_noise_keeps_its_promise_by_another_library(
    count: int, epsilon: float, delta: float
) -> None:
    """Their lower answer is below ours, their upper one not much above; δ is kept by both.

    Theirs rounds losses to a grid, which matters where geometric losses add up to ε exactly.
    """
    law = divide_dummies(
        Policy(epsilon=epsilon, delta=delta, minimum_crowd=2), [Share(count)]
    ).laws[0]
    ours = DummyBound(parts=((law, count),), epsilon=epsilon)
    low, high = (composed_delta(law, count, epsilon, way) for way in (False, True))
    assert low <= ours.upper(epsilon) * (1 + 1e-6)
    assert ours.lower() <= high * (1 + 1e-6)
    assert ours.upper(epsilon) <= high * 1.01
    assert ours.upper(epsilon) <= delta
    assert low <= delta


def delta_of_both(
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
    how = {"pessimistic_estimate": pessimistic, "value_discretization_interval": epsilon / 20_000}
    return theirs(logs, count, epsilon, **how, symmetric=False)


@pytest.mark.parametrize(("noise", "scale", "count"), [(0.05, 1.0, 2), (0.02, 2.0, 6)])
def test_both_ends_are_on_their_sides_of_another_librarys(
    noise: float, scale: float, count: int
) -> None:
    """Their lower answer for one background is below our upper end, their upper above our lower."""
    law, crowd, epsilon = dummy_law(1.0, scale, 25), 300, 1.0
    ours = BothBound(parts=(BothPart(noise, law, count),), crowd=crowd, mixers=1, epsilon=epsilon)
    low, high = (delta_of_both(noise, crowd, law, count, epsilon, way) for way in (False, True))
    assert low <= ours.upper(epsilon)
    assert 0.95 * low <= ours.lower() <= high * (1 + 1e-6)
