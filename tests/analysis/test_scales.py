"""Scales: mean and boxes hold the truth."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.simulated_surveys import plan_of, simulated_tallies, tally_of, true_counts
from krand.analysis.estimates.questions import estimate_question, estimate_questions
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.values import Statistic, Summary
from krand.survey.questions import Scale, YesNo

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
    few = estimate_question(
        plan, tally_of(plan, PEOPLE, np.array([900, 900, 900, 900, 1_003])), "rating"
    )
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
