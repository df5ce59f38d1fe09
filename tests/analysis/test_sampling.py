"""A crowd as a sample: intervals for the population it was drawn from."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from analysis.simulated_surveys import plan_of, tally_of
from krand.analysis.estimates.intervals import Sampling, share_limits
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import EstimateOptions
from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.questions import PickAny, YesNo


@pytest.mark.parametrize("population", [None, 4_000])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_shares_of_the_population_are_covered(population: int | None, share: float) -> None:
    """Drawn at random, with or without a limit: 94 to 96 % up to what 3,000 draws can tell."""
    people, noise = 1_000, 0.02
    plan = plan_of([YesNo(name="a")], noise, people)
    random = np.random.default_rng(31)
    if population is None:
        true = random.binomial(people, share, 3_000)
    else:
        with_it = round(population * share)
        true = random.hypergeometric(with_it, population - with_it, people, 3_000)
    ones = random.binomial(true, 1 - noise) + random.binomial(people - true, noise)
    options = EstimateOptions(sampling=Sampling(population))
    covered = {}
    for count, times in zip(*np.unique(ones, return_counts=True), strict=True):
        tally = tally_of(plan, people, np.array([count]))
        interval = estimate_question(plan, tally, "a", options).rows[0].share_interval
        covered[count] = times * (interval.low <= share <= interval.high)
    assert 0.938 <= sum(covered.values()) / 3_000 <= 0.965


def test_without_noise_it_is_wilsons_interval() -> None:
    """As scipy computes it, for 15 of 50."""
    low, high = share_limits(np.asarray(0.3), 0.0, 1 / 50, 1.959963984540054)
    wilson = binomtest(15, 50).proportion_ci(0.95, method="wilson")
    assert (float(low), float(high)) == pytest.approx((wilson.low, wilson.high))


def test_without_sampling_it_is_the_normal_interval() -> None:
    """s ± zσ."""
    low, high = share_limits(np.asarray(0.3), 0.01**2, 0.0, 2.0)
    assert (float(low), float(high)) == pytest.approx((0.28, 0.32))


def test_a_census_adds_nothing() -> None:
    """Everybody took part: no uncertainty but the noise; fewer: more than the noise."""
    assert Sampling(1_000).factor(1_000) == 0
    assert 0 < Sampling(2_000).factor(1_000) < Sampling().factor(1_000) == 1 / 1_000


@pytest.mark.parametrize("population", [0, 999])
def test_a_sample_is_no_larger_than_its_population(population: int) -> None:
    """Anything else is refused."""
    with pytest.raises(InvalidInput, match="population"):
        Sampling(population).factor(1_000)


def test_picks_of_a_sample_are_covered_whatever_the_people() -> None:
    """All or nothing, the people who differ most: still 95 %."""
    random = np.random.default_rng(32)
    plan = plan_of([PickAny(name="s", choices=Choices("abcd"))], 0.0625, 4_000)
    covered = []
    for _ in range(500):
        true = np.full(4, random.binomial(4_000, 0.4))
        counts = random.binomial(true, 0.9375) + random.binomial(4_000 - true, 0.0625)
        picks = estimate_question(
            plan, tally_of(plan, 4_000, counts), "s", EstimateOptions(sampling=Sampling())
        ).picks
        covered.append(picks.interval.low <= 1.6 <= picks.interval.high)
    assert 0.925 <= np.mean(covered) <= 0.975
