"""Dummies of mixers by dp-accounting: δ of the same laws."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pytest

from components import require
from krand.accounting.bounds import Effort
from krand.accounting.division import Share
from krand.accounting.dummy_bounds import DummyBound
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
    ours = DummyBound(parts=((law, count),), epsilon=epsilon).delta(Effort.FULL)
    low, high = (composed_delta(law, count, epsilon, way) for way in (False, True))
    assert low <= ours * (1 + 1e-6)
    assert ours <= high * 1.01
    assert ours <= delta
    assert low <= delta
