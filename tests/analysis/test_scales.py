"""Scales and numbers in ranges: mean, boxes, quantiles and shares below edges hold the truth."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, simulated_tallies, tally_of, true_counts
from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.questions import estimate_question, estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.values import Distribution, Statistic, Summary
from krand.survey.questions import Number, Scale, YesNo

RATING = Scale(name="rating", lowest=-2, highest=2, labels=("bad", "good"))
PEOPLE, SURVEYS = 10_000, 1_500
ANSWERS = np.array([500, 1_000, 2_000, 3_000, 1_500])
"""Of -2 to 2; the other 2,000 people give none."""
TRUTH = {
    Statistic.MEAN: (-1_000 - 1_000 + 3_000 + 3_000) / 8_000,
    Statistic.TOP_BOX: 4_500 / 8_000,
    Statistic.BOTTOM_BOX: 1_500 / 8_000,
}


def _by_statistic(summaries: tuple[Summary, ...]) -> dict[Statistic, Summary]:
    return {summary.statistic: summary for summary in summaries}


def test_without_noise_mean_and_boxes_are_exact() -> None:
    """Every value is known: there is nothing to assume, and next to nothing to doubt."""
    plan = plan_of([RATING], 1e-9, PEOPLE)
    found = _by_statistic(
        estimate_question(plan, tally_of(plan, PEOPLE, ANSWERS), "rating").summaries
    )
    assert {name: summary.value for name, summary in found.items()} == pytest.approx(
        TRUTH, abs=1e-5
    )
    for name, summary in found.items():
        assert summary.interval.low == pytest.approx(TRUTH[name], abs=1e-3)
        assert summary.interval.high == pytest.approx(TRUTH[name], abs=1e-3)
    assert found[Statistic.TOP_BOX].answers == ("1", "2 (good)")
    assert found[Statistic.BOTTOM_BOX].answers == ("-2 (bad)", "-1")
    assert len(found[Statistic.MEAN].answers) == 5


@pytest.mark.check
def test_intervals_of_mean_and_boxes_cover_the_truth() -> None:
    """95 of 100 of them, and the unadjusted value is right on average."""
    plan = plan_of([RATING], 0.1, PEOPLE)
    tallies = simulated_tallies(plan, ANSWERS, PEOPLE, SURVEYS, seed=5)
    found = [_by_statistic(estimate_question(plan, tally, "rating").summaries) for tally in tallies]
    for name, truth in TRUTH.items():
        ends = [one[name].interval for one in found]
        covered = np.mean([end.low <= truth <= end.high for end in ends])
        assert 0.93 <= covered <= 0.97, name
        values = np.array([one[name].unadjusted for one in found], dtype=np.float64)
        assert abs(values.mean() - truth) < 4 * values.std() / SURVEYS**0.5


def test_a_sample_is_known_less_well_than_a_crowd() -> None:
    """Intervals for the population are wider than those for the crowd."""
    plan = plan_of([RATING], 0.01, PEOPLE)
    tally = tally_of(plan, PEOPLE, ANSWERS)
    crowd = estimate_question(plan, tally, "rating").summaries
    sample = estimate_question(
        plan, tally, "rating", EstimateOptions(sampling=Sampling())
    ).summaries
    for one, other in zip(crowd, sample, strict=True):
        assert other.interval.low < one.interval.low < one.interval.high < other.interval.high


def test_nobody_answered_is_no_mean() -> None:
    """And loud noise gives no mean that is not on the scale."""
    plan = plan_of([RATING], 0.1, PEOPLE)
    nobody = estimate_question(plan, tally_of(plan, PEOPLE, np.full(5, 900)), "rating")
    assert nobody.summaries == ()
    counts = np.array([900, 900, 900, 900, 1_003])
    few = estimate_question(plan, tally_of(plan, PEOPLE, counts), "rating")
    mean = _by_statistic(few.summaries)[Statistic.MEAN]
    assert -2 <= mean.interval.low <= mean.value <= mean.interval.high <= 2


def test_a_scale_in_a_group_is_its_margin() -> None:
    """Mean and boxes are those of the sums over the cells of the group."""
    smokes = YesNo(name="smokes")
    plan = plan_of([RATING, smokes], 1e-9, PEOPLE, together=[("rating", "smokes")])
    crowd = {
        (("rating", value), ("smokes", smoker)): int(people) // 2
        for value, people in zip(range(-2, 3), ANSWERS, strict=True)
        for smoker in (True, False)
    }
    tally = tally_of(plan, PEOPLE, true_counts(plan, crowd))
    found = _by_statistic(estimate_questions(plan, tally)[0].summaries)
    assert {name: summary.value for name, summary in found.items()} == pytest.approx(
        TRUTH, abs=1e-5
    )


CROWD, DRAWS = 5_000, 600
AGE = Number(name="age", edges=(0, 10, 20, 40, 80, 100))
TRUE = np.array([400, 900, 1_500, 700, 0])
ANSWERED = TRUE.sum()


@pytest.fixture(scope="module")
def found() -> list[Distribution]:
    plan = plan_of([AGE], 0.08, CROWD)
    tallies = simulated_tallies(plan, TRUE, CROWD, DRAWS, seed=21)
    options = EstimateOptions(quantiles=(0.1, 0.5, 0.9))
    spreads = [estimate_question(plan, tally, "age", options).distribution for tally in tallies]
    return [spread for spread in spreads if spread is not None]


def test_the_cdf_is_covered_edge_by_edge_and_as_a_band(found: list[Distribution]) -> None:
    """Alone 94 to 96 %; as a band at least as often as said; certain at both ends."""
    assert len(found) == DRAWS
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
    error = unadjusted.std(axis=0)[1:5] / DRAWS**0.5
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
        assert median.low <= median.value <= median.high
    assert np.mean(held) >= 0.94


def test_a_quantile_inside_a_bin_is_interpolated() -> None:
    """With hardly any noise: the median of 350 + 450 + … lies at 20 + 20·450/1,500."""
    plan = plan_of([AGE], 1e-9, CROWD)
    spread = estimate_question(plan, tally_of(plan, CROWD, TRUE), "age").distribution
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
    assert spread.mean.value is None
    assert spread.mean.interval is None
    assert (spread.mean.low is None) == below
    assert (spread.mean.high is None) == above
    least, _, most = spread.quantiles
    assert (least.value is None) == (least.low is None) == below
    assert (most.value is None) == (most.high is None) == above
    assert len(spread.cdf) == 3


RATINGS = Number(name="n", edges=tuple(range(12)), integer=True)
RATED = np.array([9, 30, 60, 130, 250, 400, 620, 900, 800, 500, 201])


def test_whole_numbers_one_to_a_range_need_no_assumption() -> None:
    """Ratings from 0 to 10: mean, its interval and quantiles are those of the numbers."""
    people = int(RATED.sum())
    truth = float(RATED @ np.arange(11)) / people
    plan = plan_of([RATINGS], 0.02, people)
    held = []
    for tally in simulated_tallies(plan, RATED, people, 60, 4):
        spread = estimate_question(plan, tally, "n").distribution
        assert spread.exact
        assert spread.integer
        mean = spread.mean
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
    assert (few.cdf[1].interval.low, few.cdf[1].interval.high) == (0, 1)
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
            into.append(spread.mean.interval.low <= mean <= spread.mean.interval.high)
            if sampling is not None:
                point = spread.cdf[2].interval
                edge.append(point.low <= 0.4 / 0.95 <= point.high)
    assert 0.925 <= np.mean(covered) <= 0.975
    assert 0.925 <= np.mean(edge) <= 0.975
    assert np.mean(narrow) < 0.93
