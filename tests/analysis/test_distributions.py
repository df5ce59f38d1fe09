"""Numbers known by their bins: shares below edges, quantiles and means hold what they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, simulated_tallies, tally_of
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.values import Distribution
from krand.survey.questions import Number

PEOPLE, SURVEYS = 5_000, 600
AGE = Number(name="age", edges=(0, 10, 20, 40, 80, 100))
TRUE = np.array([400, 900, 1_500, 700, 0])
ANSWERED = TRUE.sum()


@pytest.fixture(scope="module")
def found() -> list[Distribution]:
    plan = plan_of([AGE], 0.08, PEOPLE)
    tallies = simulated_tallies(plan, TRUE, PEOPLE, SURVEYS, seed=21)
    options = EstimateOptions(quantiles=(0.1, 0.5, 0.9))
    spreads = [estimate_question(plan, tally, "age", options).distribution for tally in tallies]
    return [spread for spread in spreads if spread is not None]


def test_the_cdf_is_covered_edge_by_edge_and_as_a_band(found: list[Distribution]) -> None:
    """Alone 94 to 96 %; as a band at least as often as said; certain at both ends."""
    assert len(found) == SURVEYS
    truth = np.concatenate([[0], np.cumsum(TRUE)]) / ANSWERED
    alone = np.array(
        [
            [p.interval.low <= f <= p.interval.high for p, f in zip(d.cdf, truth, strict=True)]
            for d in found
        ]
    )
    assert alone[:, [0, 5]].all()
    assert 0.93 <= alone[:, 1:4].mean() <= 0.965
    assert alone[:, 1:5].mean() >= 0.935
    band = [
        all(
            p.simultaneous.low <= f <= p.simultaneous.high
            for p, f in zip(d.cdf, truth, strict=True)
        )
        for d in found
    ]
    assert 0.935 <= np.mean(band) <= 0.985
    unadjusted = np.array([[p.unadjusted for p in d.cdf] for d in found])
    error = unadjusted.std(axis=0)[1:5] / SURVEYS**0.5
    assert (np.abs(unadjusted.mean(axis=0) - truth)[1:5] < 4 * error).all()


def test_the_cdf_never_falls(found: list[Distribution]) -> None:
    """Shares from consistent counts rise from 0 to 1."""
    for spread in found:
        shares = [point.share for point in spread.cdf]
        assert shares[0] == 0
        assert shares[-1] == 1
        assert all(a <= b for a, b in itertools.pairwise(shares))


def test_quantile_intervals_hold_the_true_quantile(found: list[Distribution]) -> None:
    """Wherever in its bin it lies, and all of them together: the bin is inside the interval."""
    bins = [(0, 10), (20, 40), (40, 80)]  # where 350, 1,750 and 3,150 of 3,500 lie
    held = []
    for spread in found:
        ends = [(quantile.low, quantile.high) for quantile in spread.quantiles]
        held.append(
            all(
                low is not None and high is not None and low <= a and high >= b
                for (low, high), (a, b) in zip(ends, bins, strict=True)
            )
        )
        median = spread.quantiles[1]
        assert median.value is not None
        assert median.low is not None
        assert median.high is not None
        assert median.low <= median.value <= median.high
    assert np.mean(held) >= 0.94


def test_a_quantile_inside_a_bin_is_interpolated() -> None:
    """With hardly any noise: the median of 350 + 450 + … lies at 20 + 20·450/1,500."""
    plan = plan_of([AGE], 1e-9, PEOPLE)
    spread = estimate_question(plan, tally_of(plan, PEOPLE, TRUE), "age").distribution
    assert spread is not None
    median = spread.quantiles[1]
    assert median.value == pytest.approx(20 + 20 * 450 / 1_500, abs=1e-3)
    assert (median.low, median.high) == (20, 40)


def test_the_mean_is_covered_with_its_assumption_and_bounded_without(
    found: list[Distribution],
) -> None:
    """Middles: 94 to 96 %. Bounds hold for numbers at either end of their bins."""
    edges = np.array(AGE.edges)
    middle = float(TRUE @ (edges[1:] + edges[:-1]) / 2 / ANSWERED)
    least, most = TRUE @ edges[:-1] / ANSWERED, TRUE @ edges[1:] / ANSWERED
    covered, bounded = [], []
    for spread in found:
        mean = spread.mean
        assert mean.interval is not None
        assert mean.low is not None
        assert mean.high is not None
        covered.append(mean.interval.low <= middle <= mean.interval.high)
        bounded.append(mean.low <= least and most <= mean.high)
    assert 0.93 <= np.mean(covered) <= 0.97
    assert 0.93 <= np.mean(bounded) <= 0.98


@pytest.mark.parametrize(("below", "above"), [(True, False), (False, True), (True, True)])
def test_open_bins_have_no_mean_and_no_outer_bound(below: bool, above: bool) -> None:
    """A mean needs ends; a quantile in an open bin has none."""
    question = Number(name="n", edges=(10, 20, 30), open_below=below, open_above=above)
    plan = plan_of([question], 0.01, 10_000)
    tally = tally_of(plan, 10_000, np.full(question.positions, 2_500))
    options = EstimateOptions(quantiles=(0.01, 0.5, 0.99))
    spread = estimate_question(plan, tally, "n", options).distribution
    assert spread is not None
    assert spread.mean.value is None
    assert spread.mean.interval is None
    assert (spread.mean.low is None) == below
    assert (spread.mean.high is None) == above
    least, _, most = spread.quantiles
    assert (least.value is None) == (least.low is None) == below
    assert (most.value is None) == (most.high is None) == above
    assert len(spread.cdf) == 3


RATING = Number(name="n", edges=tuple(range(12)), integer=True)
RATED = np.array([9, 30, 60, 130, 250, 400, 620, 900, 800, 500, 201])


def test_whole_numbers_one_to_a_range_need_no_assumption() -> None:
    """Ratings from 0 to 10: mean, its interval and quantiles are those of the numbers."""
    people = int(RATED.sum())
    truth = float(RATED @ np.arange(11)) / people
    plan = plan_of([RATING], 0.02, people)
    held = []
    for tally in simulated_tallies(plan, RATED, people, 60, 4):
        spread = estimate_question(plan, tally, "n").distribution
        assert spread is not None
        assert spread.exact
        assert spread.integer
        mean = spread.mean
        assert mean.interval is not None
        assert (mean.low, mean.high) == (mean.interval.low, mean.interval.high)
        assert mean.value == pytest.approx(truth, abs=0.2)
        held.append(mean.interval.low <= truth <= mean.interval.high)
        median = spread.quantiles[1]
        assert (median.low, median.value, median.high) == (7, 7, 7)
    assert np.mean(held) > 0.85


def test_ranges_of_whole_numbers_end_below_the_next_edge() -> None:
    """5 to 10 holds 5 to 9, whose middle is 7; a quantile is one of them."""
    question = Number(name="n", edges=(0, 1, 5, 10), open_above=True, integer=True)
    names = [question.level_name(level) for level in range(question.levels)]
    assert names == ["0", "1 to 4", "5 to 9", "10 or above"]
    closed = Number(name="n", edges=(0, 5, 10), integer=True)
    plan = plan_of([closed], 1e-6, 1_000)
    spread = estimate_question(plan, tally_of(plan, 1_000, np.array([0, 1_000])), "n").distribution
    assert spread is not None
    assert not spread.exact
    assert spread.mean.value == pytest.approx(7, abs=0.1)
    assert spread.mean.low == pytest.approx(5, abs=0.1)
    assert spread.mean.high == 9
    assert [entry.value for entry in spread.quantiles] == [6, 7, 8]
    assert all((entry.low, entry.high) == (5, 9) for entry in spread.quantiles)


def test_nobody_answered_is_no_distribution() -> None:
    """And all but nobody: every share is possible."""
    plan = plan_of([AGE], 0.1, 10_000)
    none = estimate_question(plan, tally_of(plan, 10_000, np.full(5, 900)), "age")
    assert none.distribution is None
    few = estimate_question(plan, tally_of(plan, 10_000, np.full(5, 1_003)), "age").distribution
    assert few is not None
    assert (few.cdf[1].interval.low, few.cdf[1].interval.high) == (0, 1)
    assert few.mean.interval is not None
    assert (few.mean.interval.low, few.mean.interval.high) == (5, 90)


@pytest.mark.check
def test_sampling_widens_what_is_said_of_a_population() -> None:
    """Crowds drawn from a population: its mean and shares are covered, and not without sampling."""
    random = np.random.default_rng(22)
    plan = plan_of([AGE], 0.125, 2_000)
    shares = np.array([0.1, 0.3, 0.3, 0.2, 0.05, 0.05])  # the last are silent
    edges = np.array(AGE.edges)
    mean = shares[:5] @ (edges[1:] + edges[:-1]) / 2 / 0.95
    covered, narrow, edge = [], [], []
    for _ in range(500):
        true = random.multinomial(2_000, shares)[:5]
        counts = random.binomial(true, 0.875) + random.binomial(2_000 - true, 0.125)
        tally = tally_of(plan, 2_000, counts)
        for sampling, into in ((Sampling(), covered), (None, narrow)):
            spread = estimate_question(
                plan, tally, "age", EstimateOptions(sampling=sampling)
            ).distribution
            assert spread is not None
            assert spread.mean.interval is not None
            into.append(spread.mean.interval.low <= mean <= spread.mean.interval.high)
            if sampling is not None:
                point = spread.cdf[2].interval
                edge.append(point.low <= 0.4 / 0.95 <= point.high)
    assert 0.925 <= np.mean(covered) <= 0.975
    assert 0.925 <= np.mean(edge) <= 0.975
    assert np.mean(narrow) < 0.93
