"""The law of a sum of dummies, against convolution of integers and the normal law."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import ndtri

from krand.accounting.dummies import dummy_law
from krand.accounting.dummy_sums import sum_distance, sum_tails
from krand.promise import DummyLaw

LAWS = [dummy_law(1.0, 0.5, 10), dummy_law(1.0, 2.0, 27), dummy_law(1.3, 4.0, 20)]


def _exact_tails(law: DummyLaw, draws: int) -> list[Fraction]:
    """P[S - nR ≥ w] for w = 0, 1, …, by whole numbers."""
    weights = np.array(law.weights, dtype=object)
    sums = weights
    for _ in range(draws - 1):
        sums = np.convolve(sums, weights)
    upper = np.cumsum(sums[::-1])[::-1][draws * law.reach :]
    return [Fraction(int(weight), 2 ** (63 * draws)) for weight in upper]


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("draws", [1, 2, 3, 8])
def test_tails_are_those_of_whole_numbers_and_never_below(law: DummyLaw, draws: int) -> None:
    """Rounded up, by less than 10⁻¹¹."""
    true, found = _exact_tails(law, draws), sum_tails(law, draws)
    for exact, bound in zip(true, found.tolist(), strict=False):
        assert float(exact) <= bound <= float(exact) + 1e-11
    assert all(exact <= Fraction(found[-1]) for exact in true[len(found) :])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("tail", [0.2, 0.025, 1e-4, 1e-8])
def test_distance_is_the_last_one_that_is_not_too_rare(law: DummyLaw, tail: float) -> None:
    """One step further out lies no more than the tail."""
    true = [*_exact_tails(law, 3), Fraction(0)]
    found = sum_distance(law, 3, tail)
    assert true[found] > tail >= true[found + 1]


def test_rarer_than_can_be_computed_is_everything() -> None:
    """The safe side: the whole range of the sum."""
    law = LAWS[1]
    assert sum_distance(law, 4, 1e-30) == 4 * law.reach


@pytest.mark.parametrize("draws", [10_000, 1_000_000])
def test_many_draws_are_normal(draws: int) -> None:
    """The window is short, and nothing outside is lost."""
    law = LAWS[1]
    sigma = math.sqrt(draws * law.variance)
    for tail in (0.025, 1e-4):
        assert sum_distance(law, draws, tail) == pytest.approx(-ndtri(tail) * sigma, rel=2e-3)
    assert sum_tails(law, draws)[0] == pytest.approx(0.5, abs=0.5 / sigma)
