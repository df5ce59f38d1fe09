"""Two surveys compared, and several combined."""

from __future__ import annotations

import numpy as np
import pytest

from analysis.simulated_surveys import noisy_counts, plan_of, tally_of
from krand.analysis.estimates.comparison import combine_surveys, compare_surveys
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.values import QuestionEstimate
from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice

C = Choice(name="c", choices=Choices(["x", "y", "z"]))
LOUD, QUIET = plan_of([C], 0.08, 4_000), plan_of([C], 0.03, 10_000)
FIRST, SECOND = np.array([1_200, 400, 2_000]), np.array([2_500, 1_000, 5_000])
PEOPLE = {LOUD.hash: 4_000, QUIET.hash: 10_000}


def _estimates(
    plan: Plan, true: np.ndarray, repeats: int, seed: int, options: EstimateOptions | None = None
) -> list[QuestionEstimate]:
    people, random = PEOPLE[plan.hash], np.random.default_rng(seed)
    counts = noisy_counts(plan, true, people, repeats, random)
    return [estimate_question(plan, tally_of(plan, people, c), "c", options) for c in counts]


def test_differences_are_unbiased_and_covered() -> None:
    """Between two given crowds, by the noise alone."""
    pairs = zip(
        _estimates(LOUD, FIRST, 1_000, 71), _estimates(QUIET, SECOND, 1_000, 72), strict=True
    )
    found = [compare_surveys(*pair) for pair in pairs]
    truth = FIRST / 4_000 - SECOND / 10_000
    off = np.array([[row.difference for row in rows] for rows in found]) - truth
    sigma = np.hypot(LOUD.precisions[0].sigma / 4_000, QUIET.precisions[0].sigma / 10_000)
    assert found[0][0].standard_error == pytest.approx(sigma)
    assert np.abs(off.mean(axis=0)).max() < 3 * sigma / 1_000**0.5
    covered = [
        row.interval.low <= t <= row.interval.high
        for rows in found
        for row, t in zip(rows, truth, strict=True)
    ]
    assert 0.94 <= np.mean(covered) <= 0.96


@pytest.mark.parametrize("sampling", [None, Sampling()])
def test_equal_shares_are_rarely_called_different(sampling: Sampling | None) -> None:
    """p < 5 % in about 5 %, p-values are even, and adjusted ones look at all rows at once."""
    random = np.random.default_rng(73)
    options, p_values, adjusted, covered = EstimateOptions(sampling=sampling), [], [], []
    shares = [0.3, 0.02, 0.5, 0.18]
    for _ in range(600):
        pair = []
        for plan, people in ((LOUD, 4_000), (QUIET, 10_000)):
            drawn = random.multinomial(people, shares)[:3]
            true = drawn if sampling else np.rint(np.array(shares[:3]) * people).astype(np.int64)
            counts = noisy_counts(plan, true, people, 1, random)[0]
            pair.append(estimate_question(plan, tally_of(plan, people, counts), "c", options))
        rows = compare_surveys(pair[0], pair[1])
        p_values += [row.p_value for row in rows]
        adjusted.append(min(row.adjusted_p_value for row in rows))
        covered += [row.interval.low <= 0 <= row.interval.high for row in rows]
    assert 0.04 <= np.mean(np.array(p_values) < 0.05) <= 0.06
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.02)
    assert 0.035 <= np.mean(np.array(adjusted) < 0.05) <= 0.065
    assert 0.94 <= np.mean(covered) <= 0.96


def test_a_real_difference_is_found() -> None:
    """Ten deviations apart."""
    (first,), (second,) = _estimates(LOUD, FIRST, 1, 74), _estimates(QUIET, SECOND, 1, 75)
    rows = compare_surveys(first, second)
    assert rows[0].label == "x"
    assert rows[2].p_value > 1e-4
    assert rows[0].p_value < 1e-4
    back = compare_surveys(second, first)[0]
    assert back.z == pytest.approx(-rows[0].z)
    assert back.interval.low == pytest.approx(-rows[0].interval.high)


def test_rounds_with_different_noise_combine_by_inverse_variance() -> None:
    """Better than either, with the deviation it says, and covered alone and together."""
    true = np.array([3_000, 100, 5_000])
    loud = plan_of([C], 0.06, 10_000)
    PEOPLE[loud.hash] = 10_000
    pairs = zip(_estimates(loud, true, 1_000, 76), _estimates(QUIET, true, 1_000, 77), strict=True)
    found = [combine_surveys(pair) for pair in pairs]
    shares = np.array([[row.share for row in rows] for rows in found])
    one, other = (plan.precisions[0].sigma / 10_000 for plan in (loud, QUIET))
    sigma = (1 / (one**-2 + other**-2)) ** 0.5
    assert found[0][0].standard_error == pytest.approx(sigma)
    off = (shares - true / 10_000) / sigma
    assert (off**2).mean() ** 0.5 == pytest.approx(1, rel=0.04)
    assert np.abs(off.mean(axis=0)).max() < 3 / 1_000**0.5
    alone = [
        row.interval.low <= t <= row.interval.high
        for rows in found
        for row, t in zip(rows, true / 10_000, strict=True)
    ]
    assert 0.94 <= np.mean(alone) <= 0.96
    together = [
        all(
            row.simultaneous.low <= t <= row.simultaneous.high
            for row, t in zip(rows, true / 10_000, strict=True)
        )
        for rows in found
    ]
    assert 0.93 <= np.mean(together) <= 0.97


def test_only_what_was_asked_alike_is_compared() -> None:
    """Other answers or a single survey are refused."""
    (first,) = _estimates(LOUD, FIRST, 1, 78)
    other = plan_of([Choice(name="c", choices=Choices(["x", "y", "w"]))], 0.08, 4_000)
    second = estimate_question(other, tally_of(other, 4_000, np.full(3, 900)), "c")
    with pytest.raises(InvalidInput, match="same kind and answers"):
        compare_surveys(first, second)
    with pytest.raises(InvalidInput, match="at least two"):
        combine_surveys([first])
