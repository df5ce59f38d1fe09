"""Intervals by exact laws and by the normal one, of flips and of dummies, and the switch."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from analysis.simulated_surveys import plan_of, simulated_tallies
from enumerated_crowds import binomial_law, convolved, dummies_law
from krand.accounting.dummy_bounds import dummy_law
from krand.analysis.estimates.intervals import (
    normal_quantile,
    quantile_of,
    simultaneous_confidence,
)
from krand.analysis.estimates.questions import estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.mechanisms.devices import EXACT_BELOW, NoiseModel, exact_limits, row_tails
from krand.analysis.mechanisms.mixers import DummyModel
from krand.analysis.mechanisms.models import Floats
from krand.errors import InvalidInput
from krand.promise import DUMMY_GRID, DummyLaw
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


def law_of_ones(law: NoiseModel, true_ones: int) -> list[Fraction]:
    """P[M = 0], P[M = 1], … in rational arithmetic."""
    q, others = Fraction(law.noise), law.trials - true_ones
    return convolved(binomial_law(true_ones, 1 - q), binomial_law(others, q))


SMALL = [
    NoiseModel(people=9, responses=9, noise=0.25),
    NoiseModel(people=12, responses=12, noise=0.03125),
    NoiseModel(people=6, responses=12, noise=0.375),
    NoiseModel(people=4, responses=12, noise=0.25),
    NoiseModel(people=5, responses=5, noise=0.125, cells=3),
    NoiseModel(people=5, responses=8, noise=0.25),
]


@pytest.mark.parametrize("law", SMALL)
def test_tails_are_those_of_rational_arithmetic(law: NoiseModel) -> None:
    """For every count and truth, to twelve digits."""
    for true_ones in range(min(law.trials, law.responses) + 1):
        chances = law_of_ones(law, true_ones)
        ones = np.arange(len(chances))
        truth = np.full(len(ones), true_ones)
        for found, exact in (
            (row_tails(law, truth, ones, at_least=True), [float(sum(chances[m:])) for m in ones]),
            (
                row_tails(law, truth, ones, at_least=False),
                [float(sum(chances[: m + 1])) for m in ones],
            ),
        ):
            np.testing.assert_allclose(found, exact, rtol=1e-12)


@pytest.mark.parametrize("true_ones", [0, 40, 300_000, 10**6])
def test_tails_of_large_crowds_are_those_of_a_convolution(true_ones: int) -> None:
    """By scipy's binomials, as far out as one row of a million needs."""
    law = NoiseModel(people=10**6, responses=10**6, noise=1.9e-4)
    flips = np.arange(600)
    lost, gained = (binom.pmf(flips, n, law.noise) for n in (true_ones, 10**6 - true_ones))
    chances = np.convolve(lost[::-1], gained)
    ones = true_ones - 599 + np.arange(len(chances))
    above, below = chances[::-1].cumsum()[::-1], chances.cumsum()
    truth = np.full(len(ones), true_ones)
    for found, expected in (
        (row_tails(law, truth, ones, at_least=True), above),
        (row_tails(law, truth, ones, at_least=False), below),
    ):
        seen = (expected > 1e-8) & (expected < 0.999)
        np.testing.assert_allclose(found[seen], expected[seen], rtol=1e-4)


@pytest.mark.parametrize("law", SMALL)
@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_ends_are_found_by_trying_every_truth(law: NoiseModel, confidence: float) -> None:
    """The least and the greatest truth that does not contradict the count.

    A count below what nobody gives on average counts as that one, and one above everybody's too.
    """
    tail = (1 - confidence) / 2
    whole = law.responses % law.people == 0
    truths = range(0, law.responses + 1, law.responses // law.people if whole else 1)
    laws = {truth: law_of_ones(law, truth) for truth in truths}
    nobody = law.trials * law.noise
    everybody = nobody + law.responses * (1 - 2 * law.noise)
    for ones in range(law.trials + 1):
        above, below = max(ones, math.ceil(nobody)), min(ones, math.floor(everybody))
        least = [t for t in truths if sum(laws[t][below:]) > tail] or [truths[-1]]
        most = [t for t in truths if sum(laws[t][: above + 1]) > tail] or [0]
        found = law.limits(np.array([ones]), confidence)[:, 0] * law.copies
        assert found == pytest.approx([least[0], most[-1]])


def _coverage(law: NoiseModel, people: int, confidence: float) -> float:
    """By enumeration: how often the interval holds the truth."""
    truth = np.array([round(people * law.copies)])
    middle, reach = truth[0] + (law.trials - 2 * truth[0]) * law.noise, 9 * law.spread**0.5 + 30
    window = np.arange(max(0, int(middle - reach)), min(law.trials, int(middle + reach)) + 1)
    at_most = row_tails(law, np.repeat(truth, len(window)), window, at_least=False)
    chances = np.diff(at_most, prepend=0.0)
    low, high = law.limits(window, confidence)
    return float(chances[(low <= people) & (people <= high)].sum())


@pytest.mark.parametrize(
    ("law", "step"),
    [
        (NoiseModel(people=40, responses=40, noise=0.1), 1),
        (NoiseModel(people=60, responses=60, noise=0.3), 2),
        (NoiseModel(people=30, responses=90, noise=0.2), 1),
        (NoiseModel(people=300, responses=300, noise=0.02), 21),
        (NoiseModel(people=10**7, responses=10**7, noise=1e-6), 1_777_777),
        (NoiseModel(people=10**7, responses=10**7, noise=1.9e-5), 2_777_777),
        (NoiseModel(people=10**5, responses=10**5, noise=0.0004, cells=3), 17_777),
    ],
)
def test_exact_intervals_cover_at_least_as_often_as_they_say(law: NoiseModel, step: int) -> None:
    """95 % or more for every truth tried, alone and as one of a thousand; never all too much."""
    alone = [_coverage(law, people, 0.95) for people in range(0, law.people + 1, step)]
    assert min(alone) >= 0.95
    assert np.mean(alone) <= 0.95 + 0.1 / law.spread**0.5 + 0.01
    each = simultaneous_confidence(0.95, 1000)
    together = [_coverage(law, people, each) for people in range(0, law.people + 1, 3 * step)]
    assert min(together) >= each


def test_copies_move_the_truth_in_whole_people() -> None:
    """Ends are whole people when every copy was counted, and any fraction when some were lost."""
    ends = NoiseModel(people=50, responses=200, noise=0.2).limits(np.arange(20, 180, 7), 0.95)
    np.testing.assert_array_equal(ends, np.rint(ends))
    some = NoiseModel(people=50, responses=199, noise=0.2).limits(np.arange(20, 180, 7), 0.95)
    assert not np.array_equal(some, np.rint(some))


def test_many_rows_at_once_are_as_each_alone() -> None:
    """Rows are searched side by side, in pieces, and equal counts only once."""
    law = NoiseModel(people=10**6, responses=10**6, noise=1e-4)
    ones = np.random.default_rng(5).integers(0, 10**6, 500)
    ones[100:200] = ones[:100]
    found = law.limits(ones, 0.95)
    single = np.concatenate([law.limits(ones[i : i + 1], 0.95) for i in range(0, 500, 50)], axis=1)
    np.testing.assert_array_equal(found[:, ::50], single)


def test_impossible_counts_give_the_nearest_possible_people() -> None:
    """Fewer ones than any truth explains say as much as if nobody had given the answer."""
    law = NoiseModel(people=10**6, responses=10**6, noise=1e-4)
    low, high = law.limits(np.array([0, 100, 10**6 - 100, 10**6]), 0.95)
    assert low[0] == low[1] == 0 < high[0] == high[1]
    assert high[2] == high[3] == 10**6 > low[2] == low[3]


LAW = DummyLaw((DUMMY_GRID // 2, DUMMY_GRID // 8, DUMMY_GRID // 8))
WITH_DUMMIES = [
    DummyModel(people=9, law=LAW, mixes=1),
    DummyModel(people=12, law=dummy_law(1.0, 1.5, 6), mixes=2),
    DummyModel(people=5, law=LAW, mixes=2, cells=3),
]


def law_of_count(law: DummyModel, people: int) -> list[Fraction]:
    """The same of people and dummies."""
    one = [Fraction(0)] * people + [Fraction(1)]
    return convolved(one, *[dummies_law(law.law)] * law.draws)


@pytest.mark.parametrize("law", WITH_DUMMIES)
def test_mean_and_variance_are_those_of_the_law(law: DummyModel) -> None:
    """c + h·b·R, and h·b·σ²."""
    for people in (0, law.people):
        chances = [float(chance) for chance in law_of_count(law, people)]
        estimates = law.estimate(np.arange(len(chances)))
        assert float(estimates @ chances) == pytest.approx(people)
        assert float((estimates - people) ** 2 @ chances) == pytest.approx(law.sigma**2)


@pytest.mark.parametrize("law", WITH_DUMMIES)
@pytest.mark.parametrize("confidence", [0.8, 0.95])
def test_exact_intervals_with_dummies_cover_at_least_as_often_as_they_say(
    law: DummyModel, confidence: float
) -> None:
    """Enumerated over every count, for every truth."""
    for people in range(law.people + 1):
        chances = law_of_count(law, people)
        low, high = law.limits(np.arange(len(chances)), confidence)
        inside = (low - 1e-9 <= people) & (people <= high + 1e-9)
        covered = sum((c for c, held in zip(chances, inside, strict=True) if held), Fraction(0))
        assert covered >= Fraction(confidence)
    assert law.is_exact


@pytest.mark.check
def test_geometric_dummies_need_more_than_the_normal_law() -> None:
    """Heavier tails than flips: more standard deviations for sums; of flips 2.576."""
    geometric = DummyModel(people=100_000, law=dummy_law(1.0, 40.0, 700), mixes=1)
    assert 2.6 < quantile_of(geometric, 0.99) < 4
    flips = NoiseModel(people=10**6, responses=10**6, noise=0.25)
    assert quantile_of(flips, 0.99) == pytest.approx(2.576, abs=0.01)
