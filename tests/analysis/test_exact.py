"""The exact law of a count is the exact law, and its intervals never cover too rarely."""

from __future__ import annotations

import math
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom

from krand.analysis.estimates.intervals import simultaneous_confidence
from krand.analysis.mechanisms.devices import NoiseModel, row_tails

Floats = NDArray[np.float64]


def _law_of_ones(law: NoiseModel, true_ones: int) -> list[Fraction]:
    """P[M = 0], P[M = 1], … in rational arithmetic."""
    q = Fraction(law.noise)

    def binomial(n: int, chance: Fraction) -> list[Fraction]:
        return [comb(n, i) * chance**i * (1 - chance) ** (n - i) for i in range(n + 1)]

    kept, gained = binomial(true_ones, 1 - q), binomial(law.trials - true_ones, q)
    total = [Fraction(0)] * (law.trials + 1)
    for i, a in enumerate(kept):
        for j, b in enumerate(gained):
            total[i + j] += a * b
    return total


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
    """To twelve digits, for every count and every truth."""
    ones = np.arange(law.trials + 1)
    for true_ones in range(min(law.trials, law.responses) + 1):
        chances = _law_of_ones(law, true_ones)
        above = [float(sum(chances[m:])) for m in ones]
        below = [float(sum(chances[: m + 1])) for m in ones]
        truth = np.full(len(ones), true_ones)
        np.testing.assert_allclose(row_tails(law, truth, ones, at_least=True), above, rtol=1e-12)
        np.testing.assert_allclose(row_tails(law, truth, ones, at_least=False), below, rtol=1e-12)


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
    laws = {truth: _law_of_ones(law, truth) for truth in truths}
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
