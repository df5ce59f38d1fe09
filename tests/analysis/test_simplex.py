"""Consistent counts are possible, and none that are possible are nearer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from krand.analysis.estimates.counted import nearest_possible

COUNTS = st.lists(st.floats(-300, 400), min_size=1, max_size=12)


@given(COUNTS, st.integers(1, 4))
def test_nearest_counts_are_possible_and_nearest(raw: list[float], most: int) -> None:
    """No step towards a corner of what is possible comes nearer (variational inequality)."""
    values, people = np.array(raw), 100.0
    found = nearest_possible(values, people, most)
    assert (found >= 0).all()
    assert (found <= people).all()
    assert found.sum() <= most * people + 1e-6
    gap = values - found
    # The corner farthest along the gap: the largest positive entries, at most `most` of them.
    corner = people * np.sort(np.maximum(gap, 0))[::-1][:most].sum()
    assert corner <= gap @ found + 1e-5


@pytest.mark.parametrize("most", [1, 2])
def test_a_general_optimizer_finds_the_same(most: int) -> None:
    """scipy's SLSQP, which knows nothing of corners and shifts."""
    random = np.random.default_rng(7)
    for _ in range(20):
        raw = random.normal(25, 40, 6)
        found = nearest_possible(raw, 100.0, most)
        other = minimize(
            lambda x, raw=raw: ((x - raw) ** 2).sum(),
            np.full(6, 10.0),
            jac=lambda x, raw=raw: 2 * (x - raw),
            bounds=[(0, 100)] * 6,
            constraints={"type": "ineq", "fun": lambda x: 100 * most - x.sum()},
            options={"ftol": 1e-12, "maxiter": 500},
        )
        np.testing.assert_allclose(found, other.x, atol=1e-3)


def test_possible_counts_are_left_alone() -> None:
    """What is possible is nearest to itself, people who did not answer included."""
    raw = np.array([10.0, 0.0, 30.0])
    np.testing.assert_array_equal(nearest_possible(raw, 100), raw)


def test_too_many_people_are_taken_off_evenly() -> None:
    """20 too many are 10 from each of two."""
    np.testing.assert_allclose(nearest_possible(np.array([80.0, 40.0, -5.0]), 100), [70, 30, 0])


def test_a_million_answers_are_no_search() -> None:
    """A million positions with millions of people keep their sum to a thousandth of a person."""
    raw = np.random.default_rng(3).normal(0, 40, 10**6)
    assert nearest_possible(raw, 10**7).sum() == pytest.approx(10**7, abs=1e-3)
