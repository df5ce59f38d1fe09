"""Simulated and exact values agree exactly when their intervals allow it."""

from __future__ import annotations

import pytest

from krand_lab.agreement import Agreement
from krand_lab.exact.bounds import Bounds
from krand_lab.simulation import Estimate

EXACT = Bounds(2.0, 1.9, 2.1)


@pytest.mark.parametrize(
    ("low", "high", "meets", "stays_below"),
    [
        (1.8, 2.2, True, True),
        (2.1, 3.0, True, True),
        (1.0, 1.9, True, True),
        (2.2, 3.0, False, False),
        (1.0, 1.8, False, True),
    ],
)
def test_intervals_must_meet_and_a_bound_must_not_be_exceeded(
    low: float, high: float, meets: bool, stays_below: bool
) -> None:
    """An exact value must be met; an upper bound may lie above the whole interval."""
    estimate = Estimate((low + high) / 2, low, high, 100)
    assert (
        Agreement(quantity="delta", direction="forward", simulated=estimate, exact=EXACT).agree
        is meets
    )
    assert (
        Agreement(
            quantity="delta", direction="forward", simulated=estimate, exact=EXACT, bound_only=True
        ).agree
        is stays_below
    )
