"""The yardstick: the better of Gaussian and geometric noise of a trusted curator."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand import Policy, ResponseFormat
from krand.accounting.curator import (
    CentralNoise,
    central_gaussian_sigma,
    curator,
    divided_curator,
    geometric_delta,
    geometric_eta,
    geometric_loss,
    geometric_sigma,
)
from krand.accounting.division import Share

REACH = 70
"""Beyond this the noise of these tests has less than 1e-15 left."""


def by_definition(losses: list[float], epsilon: float) -> tuple[float, float]:
    """δ(ε) and P[loss > ε] from the noise itself: all outcomes of Z, and of Z+1."""
    points = np.arange(-REACH, REACH + 1)
    laws = []
    for loss in losses:
        law = np.tanh(loss / 2) * np.exp(-loss * np.abs(points))
        shifted = np.tanh(loss / 2) * np.exp(-loss * np.abs(points - 1))
        laws.append(list(zip(law, shifted, strict=True)))
    delta, eta = [], []
    for outcome in itertools.product(*laws):
        here, there = (math.prod(side) for side in zip(*outcome, strict=True))
        delta.append(max(0.0, here - math.exp(epsilon) * there))
        eta.append(here if here > math.exp(epsilon) * there * (1 + 1e-12) else 0.0)
    return math.fsum(delta), math.fsum(eta)


@pytest.mark.parametrize(("counts", "loss"), [(1, 0.7), (1, 1.3), (2, 0.6), (2, 0.9)])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0])
def test_geometric_noise_summed_over_all_outcomes(counts: int, loss: float, epsilon: float) -> None:
    """δ and the tail are those of the noise itself, point by point."""
    delta, eta = by_definition([loss] * counts, epsilon)
    assert geometric_delta(loss, counts, epsilon) == pytest.approx(delta, rel=1e-9, abs=1e-14)
    assert geometric_eta(loss, counts, epsilon) == pytest.approx(eta, rel=1e-9, abs=1e-14)


@pytest.mark.parametrize("loss", [0.3, 1.0, 2.5])
def test_deviation_of_geometric_noise(loss: float) -> None:
    """σ² is Σ z²·P(z)."""
    points = np.arange(-200, 201)
    law = np.tanh(loss / 2) * np.exp(-loss * np.abs(points))
    assert law.sum() == pytest.approx(1)
    assert geometric_sigma(loss) ** 2 == pytest.approx(float(law @ points**2))


@pytest.mark.parametrize(
    ("epsilon", "sigmas"),
    [
        (1.0, {1: 1.357, 2: 2.799, 4: 5.642, 8: 11.30, 16: 21.75, 40: 36.38}),
        (2.0, {1: 0.6017, 2: 1.357, 4: 2.799, 8: 5.642, 16: 11.17, 40: 19.20}),
    ],
)
def test_table_of_geometric_noise(epsilon: float, sigmas: dict[int, float]) -> None:
    """σ at δ = 10⁻⁶ as other programs found it, and which of the two mechanisms is better."""
    policy = Policy(epsilon=epsilon, minimum_crowd=100_000, delta=1e-6)
    for counts, sigma in sigmas.items():
        assert geometric_sigma(geometric_loss(policy, counts)) == pytest.approx(sigma, rel=5e-4)
        better = CentralNoise.GEOMETRIC if counts <= 8 else CentralNoise.GAUSSIAN
        assert curator(policy, ResponseFormat(counts)).noise is better


@settings(max_examples=60, deadline=None)
@given(
    st.floats(0.01, 20.0),
    st.floats(-12.0, -0.5),
    st.integers(1, 10_000),
    st.integers(1, 100),
    st.booleans(),
)
def test_the_yardstick_keeps_the_promise_and_no_better_one_does(
    epsilon: float, exponent: float, bits: int, rounds: int, by_delta: bool
) -> None:
    """The better of the two, found where the promise just breaks."""
    limit = 10.0**exponent
    policy = Policy(epsilon=epsilon, minimum_crowd=10**6, **{"delta" if by_delta else "eta": limit})
    responses = ResponseFormat(bits, rounds=rounds)
    found, counts = curator(policy, responses), bits * rounds
    loss = geometric_loss(policy, counts)
    ask = geometric_delta if by_delta else geometric_eta
    assert ask(loss * (1 - 1e-9), counts, epsilon) <= limit * (1 + 1e-6)
    assert ask(loss * (1 + 1e-6), counts, epsilon) >= limit * (1 - 1e-6)
    assert found.sigma == min(geometric_sigma(loss), central_gaussian_sigma(policy, responses))


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("limit", [{"delta": 1e-6}, {"delta": 1e-14}, {"eta": 1e-3}])
def test_equal_shares_are_one(limit: dict[str, float], rounds: int) -> None:
    """Where questions are all but alike, each gets the noise of them all."""
    policy = Policy(epsilon=1.0, minimum_crowd=100_000, **limit)
    for counts in (1, 3, 6, 30):
        nearly = [Share(1, 1 + n * 1e-9) for n in range(counts)]
        divided = divided_curator(policy, nearly, rounds)
        whole = curator(policy, ResponseFormat(counts, rounds=rounds))
        assert divided.noise is whole.noise
        assert divided.sigmas == pytest.approx([whole.sigma] * counts, rel=1e-5)


def test_unequal_geometric_noise_summed_over_all_outcomes() -> None:
    """A question of weight 8 beside one of weight 1: together they use up δ, and no more."""
    policy = Policy(epsilon=1.0, minimum_crowd=100_000, delta=1e-3)
    found = divided_curator(policy, [Share(1, 8.0), Share(1, 1.0)])
    assert found.noise is CentralNoise.GEOMETRIC
    losses = [2 * math.asinh(1 / (math.sqrt(2) * sigma)) for sigma in found.sigmas]
    assert losses[0] / losses[1] == pytest.approx(2, rel=0.02)
    assert by_definition(losses, 1.0)[0] == pytest.approx(1e-3, rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("bits", [1, 10**6])
@pytest.mark.parametrize("rounds", [1, 10**4])
@pytest.mark.parametrize("epsilon", [0.001, 100.0])
@pytest.mark.parametrize("limit", [{"delta": 1e-300}, {"delta": 0.999}, {"eta": 0.999}])
def test_extreme_promises_have_a_yardstick(
    bits: int, rounds: int, epsilon: float, limit: dict[str, float]
) -> None:
    """Every corner that a policy may have gives a positive, finite σ, divided or not."""
    policy = Policy(epsilon=epsilon, minimum_crowd=100, **limit)
    found = curator(policy, ResponseFormat(bits, rounds=rounds))
    assert 0 < found.sigma < math.inf
    divided = divided_curator(policy, [Share(bits), Share(bits, 8.0)], rounds)
    assert all(0 < sigma < math.inf for sigma in divided.sigmas)


def test_a_survey_of_very_unequal_weights_has_a_yardstick() -> None:
    """Weights that differ by a factor of 10¹² are divided without losing the light question."""
    found = divided_curator(
        Policy(epsilon=1.0, minimum_crowd=1000, delta=1e-6), [Share(1, 1e6), Share(2, 1e-6)]
    )
    assert all(0 < sigma < math.inf for sigma in found.sigmas)
    assert found.sigmas[0] < found.sigmas[1]
