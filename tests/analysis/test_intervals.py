"""The switch between the two intervals is by variance, and costs no coverage."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, simulated_tallies
from krand.analysis.estimates.intervals import (
    normal_quantile,
    simultaneous_confidence,
)
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.mechanisms.devices import EXACT_BELOW, NoiseModel, exact_limits, row_tails
from krand.analysis.mechanisms.models import Floats
from krand.errors import InvalidInput
from krand.survey.questions import YesNo


def _misses(law: NoiseModel, people: int, confidence: float, skew: bool = True) -> Floats:
    """By enumeration: how often the truth lies below the normal interval, and above it."""
    middle = people + (law.trials - 2 * people) * law.noise
    reach = 12 * law.spread**0.5
    window = np.arange(max(0, int(middle - reach)), min(law.trials, int(middle + reach)) + 1)
    at_most = row_tails(law, np.full(len(window), people), window, at_least=False)
    chances = np.diff(at_most, prepend=0.0)
    low, high = law.around(window, confidence)
    if not skew:
        half = normal_quantile(confidence) * law.sigma
        low, high = law.estimate(window) - half, law.estimate(window) + half
    return np.array([chances[people < low].sum(), chances[people > high].sum()])


def _of_variance(spread: float, noise: float) -> NoiseModel:
    people = int(spread / noise / (1 - noise)) + 1
    return NoiseModel(people=people, responses=people, noise=noise)


@pytest.mark.parametrize("noise", [1e-5, 0.01, 0.1, 0.25, 0.35, 0.45])
def test_from_the_switch_on_the_normal_interval_covers_as_it_says(noise: float) -> None:
    """94.5 to 95.5 % by enumeration, and each end is missed about equally often."""
    for spread in np.linspace(EXACT_BELOW, 2 * EXACT_BELOW, 5):
        law = _of_variance(float(spread), noise)
        for people in (0, 1, law.people // 20, law.people // 3, law.people // 2, law.people - 3):
            ends = _misses(law, people, 0.95)
            assert 0.045 <= ends.sum() <= 0.055
            assert max(ends) <= 0.0275


def test_the_normal_interval_needs_variance_not_people() -> None:
    """Ten million people with three flips: far from 95 %; with two hundred flips: fine."""
    worst = max(abs(_misses(_of_variance(3, 3e-7), d, 0.95).sum() - 0.05) for d in (0, 10, 10**5))
    assert worst > 0.015
    worst = max(
        abs(_misses(_of_variance(210, 2.1e-5), d, 0.95).sum() - 0.05) for d in (0, 10, 10**5)
    )
    assert worst < 0.005


def test_the_skewness_matters_where_many_rows_hold_together() -> None:
    """One of a thousand rows, rare answers: without the shift one end is missed too often."""
    law, each = _of_variance(210, 2.1e-5), simultaneous_confidence(0.95, 1000)
    nominal = (1 - each) / 2
    assert max(_misses(law, 100, each, skew=False)) > 1.5 * nominal
    assert max(_misses(law, 100, each)) < 1.3 * nominal


def test_both_intervals_agree_at_the_switch() -> None:
    """Within a person, whose half is what whole ones cost."""
    for noise in (1e-5, 0.001, 0.1):
        law = _of_variance(EXACT_BELOW - 1, noise)
        ones = np.linspace(law.trials * noise, law.trials * (1 - noise), 40).astype(np.int64)
        near = np.clip(law.around(ones, 0.95), 0, law.people)
        exact = exact_limits(law, ones, 0.025, (near[0], near[1]))
        assert np.abs(exact - near).max() < 1.0 / (1 - 2 * noise)


def test_the_variance_decides() -> None:
    """Not the size of the crowd: 200 flips among ten million people, or among a thousand."""
    assert NoiseModel(people=10**7, responses=10**7, noise=1.9e-5).is_exact
    assert not NoiseModel(people=10**7, responses=10**7, noise=2.1e-5).is_exact
    assert not NoiseModel(people=1000, responses=1000, noise=0.3).is_exact
    assert NoiseModel(people=1000, responses=1000, noise=0.1).is_exact


def test_intervals_stay_inside_the_crowd() -> None:
    """Nobody is a negative number of people, and nothing is known exactly."""
    law = NoiseModel(people=10**6, responses=10**6, noise=0.01)
    low, high = law.limits(np.array([9_000, 10_000, 990_000, 995_000]), 0.95)
    assert (low >= 0).all()
    assert (high <= 10**6).all()
    assert 0 < high[0] == high[1]
    assert 10**6 > low[-1] == low[-2]


def test_sidak_makes_rows_hold_together() -> None:
    """The confidence of all is the product of that of each."""
    assert simultaneous_confidence(0.95, 7) ** 7 == pytest.approx(0.95)
    assert normal_quantile(0.95) == pytest.approx(1.959963984540054)


@pytest.mark.parametrize("confidence", [0, 1, 1.5, -0.1, float("nan"), "0.95"])
def test_a_confidence_is_a_probability(confidence: float) -> None:
    """Anything else is refused with the field's name."""
    plan = plan_of([YesNo(name="a")], 0.1, 1000)
    (tally,) = simulated_tallies(plan, np.array([300]), 1000, 1, 1)
    with pytest.raises(InvalidInput, match="confidence"):
        estimate_questions(plan, tally, EstimateOptions(confidence))


@pytest.mark.parametrize("people", [12_000, 10**7])
def test_twenty_rows_hold_together_as_often_as_said(people: int) -> None:
    """In 5,000 surveys with twenty answers that somebody gave: 94 to 96 %, and each row too."""
    random, law = (
        np.random.default_rng(81),
        NoiseModel(people=people, responses=people, noise=250 / people),
    )
    true = (np.linspace(0.01, 0.9, 20) * people).astype(np.int64)
    ones = random.binomial(true, 1 - law.noise, (5_000, 20))
    ones += random.binomial(people - true, law.noise, (5_000, 20))
    for confidence, together in ((0.95, False), (simultaneous_confidence(0.95, 20), True)):
        low, high = law.limits(ones.ravel(), confidence).reshape(2, 5_000, 20)
        held = (low <= true) & (high >= true)
        assert 0.94 <= (held.all(axis=1) if together else held).mean() <= 0.96
