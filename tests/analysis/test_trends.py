"""Trends: answers over rounds, smoothed, and where they changed."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.simulated_years import results_of_round, yearly_plan
from analysis.trend_years import (
    changes_in,
    drifting,
    found_within,
    law_in,
    noisy,
)
from krand.analysis.estimates.difference_tests import chance_of_difference
from krand.analysis.estimates.intervals import quantile_of, simultaneous_confidence
from krand.analysis.mechanisms.devices import NoiseModel
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_comparison import compare_results, moved_by_people
from krand.analysis.trends import local_level
from krand.analysis.trends.changes import looks
from krand.analysis.trends.local_level import DRIFTS, Levels, levels
from krand.analysis.trends.series import LineKind, answers_counted
from krand.analysis.trends.trend import Trend, _limits, make_trend, rounds_of, series_of
from krand.client.ledger import Submission
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.survey.choices import Choices
from krand.survey.kinds.words import plain_positions
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Question, Words, YesNo
from krand.survey.reading import parse_survey
from krand.survey.schedule import Schedule
from krand.testing import SMALL_SURVEY, UnsafeMemoryLedger, simulated_table, unsafe_simulated_tally

CONFIDENCE = 0.95
CRASH = YesNo(name="crash", text="Did it crash?")


def browser(*names: str) -> Choice:
    return Choice(name="browser", choices=Choices(names))


@cache
def plan(rounds: int = 52, mixers: int = 1) -> Plan:
    return yearly_plan([CRASH], rounds, mixers)


def smoothed(the_plan: Plan, counts: Any) -> Levels:
    """By a trend's own way: standard errors and quantiles of the plan's law."""
    law, (years, rounds) = law_in(the_plan), counts.shape
    together = simultaneous_confidence(CONFIDENCE, rounds)
    wide = tuple(np.full(years, quantile_of(law, level)) for level in (CONFIDENCE, together))
    errors, numbers = np.full(counts.shape, law.sigma), np.arange(1.0, rounds + 1)
    return levels(counts, errors, numbers, CONFIDENCE, (wide[0], wide[1]))


def covered(told: Levels, true: Any) -> tuple[float, float]:
    """How often whole bands hold, and how often intervals of the smoothed level do."""
    off = np.abs(told.smoothed - true)
    return float((off <= told.band_half).all(axis=1).mean()), float(
        (off <= told.smoothed_half).mean()
    )


def missed(estimate: Any, true: Any) -> float:
    return float(np.sqrt(np.mean((estimate - true)[:, 26:] ** 2)))


def test_filter_and_smoother_are_the_conditional_laws_of_a_normal_vector() -> None:
    """Computed with whole covariance matrices instead of round by round, over all drifts."""
    random = np.random.default_rng(4)
    numbers, errors = np.array([1.0, 2.0, 4.0, 5.0, 9.0]), np.array([1.0, 1.2, 0.8, 1.0, 2.0])
    values = random.standard_normal(5) * 3
    told = levels(values[None], errors[None], numbers, CONFIDENCE)
    for seen, mean, half in (
        (5, told.smoothed[0], told.smoothed_half[0]),
        *((t, told.filtered[0, :t], told.filtered_half[0, :t]) for t in (1, 3)),
    ):
        expected, spread = _by_matrices(values[:seen], errors[:seen], numbers[:seen], errors)
        assert mean[seen - 1] == pytest.approx(expected[-1], rel=1e-6, abs=1e-6)
        assert half[seen - 1] == pytest.approx(1.959964 * spread[-1], rel=1e-4)
    expected, spread = _by_matrices(values, errors, numbers, errors)
    assert told.smoothed[0] == pytest.approx(expected, rel=1e-6, abs=1e-6)
    assert told.smoothed_half[0] == pytest.approx(1.959964 * spread, rel=1e-4)


def _by_matrices(values: Any, errors: Any, numbers: Any, all_errors: Any) -> tuple[Any, Any]:
    """A level that is unknown before the first round has a huge variance there."""
    unit = np.mean(all_errors**-2.0) ** -0.5
    means, variances, logs = [], [], []
    for drift in DRIFTS:
        walk = (drift * unit) ** 2 * np.minimum.outer(numbers - 1, numbers - 1)
        level = walk + 1e6
        seen = level + np.diag(errors**2)
        gain = level @ np.linalg.inv(seen)
        means.append(gain @ values)
        variances.append(np.diag(level - gain @ level))
        logs.append(-np.linalg.slogdet(seen)[1] / 2 - values @ np.linalg.solve(seen, values) / 2)
    weights = local_level._prior() * np.exp(np.array(logs) - max(logs))
    weights /= weights.sum()
    mean = weights @ np.array(means)
    spread = weights @ (np.array(variances) + (np.array(means) - mean) ** 2)
    return mean, np.sqrt(spread)


def test_a_round_of_few_people_leaves_the_bands_of_the_others() -> None:
    """They are about as wide as if it were missing."""
    counts, errors = np.random.default_rng(9).standard_normal((50, 6)), np.ones((50, 6))
    counts[:, 3], errors[:, 3] = counts[:, 3] * 50, 50
    others, numbers = [0, 1, 2, 4, 5], np.arange(1.0, 7)
    told = levels(counts, errors, numbers, CONFIDENCE)
    without = levels(counts[:, others], errors[:, others], numbers[others], CONFIDENCE)
    assert told.smoothed_half[:, others] == pytest.approx(without.smoothed_half, rel=0.12)
    wider = told.smoothed_half[:, others].mean() / without.smoothed_half.mean()
    assert wider == pytest.approx(1, abs=0.02)


@pytest.mark.check
def test_the_smoother_errs_by_about_seven_people_where_a_count_errs_by_thirty() -> None:
    """σ = 30.4, a drift of 3 people a week: 6.7 and 9.3 if the drift is known, which it is not."""
    true = drifting(300, 52, 3.0, seed=1)
    counts = noisy(plan(), true, seed=2)
    told = smoothed(plan(), counts)
    assert law_in(plan()).sigma == pytest.approx(30.4, abs=0.01)
    assert missed(counts, true) == pytest.approx(30.4, rel=0.05)
    assert missed(told.smoothed, true) == pytest.approx(8, abs=1)
    assert missed(told.filtered, true) == pytest.approx(10.5, abs=1.2)


@pytest.mark.check
@pytest.mark.parametrize(("rounds", "drift"), [(52, 1.0), (6, 1.0), (6, 3.0)])
def test_smoothed_bands_hold(rounds: int, drift: float) -> None:
    """In standard errors of one count, with noise of the plan's own law."""
    true = drifting(400, rounds, drift * law_in(plan(rounds)).sigma, seed=3, start=20_000)
    band, single = covered(smoothed(plan(rounds), noisy(plan(rounds), true, seed=4)), true)
    assert band > 0.92
    assert single > 0.93


@pytest.mark.long
@pytest.mark.parametrize("mixers", [1, 3])
@pytest.mark.parametrize("rounds", [52, 6])
@pytest.mark.parametrize("drift", [0.0, 0.1, 0.33, 1.0, 3.0])
def test_a_thousand_years_of_bands(mixers: int, rounds: int, drift: float) -> None:
    """At least 95 % less 1.5; more where drift is small, because nobody knows that it is."""
    the_plan = plan(rounds, mixers)
    true = drifting(1_000, rounds, drift * law_in(the_plan).sigma, seed=5, start=20_000)
    band, _ = covered(smoothed(the_plan, noisy(the_plan, true, seed=6)), true)
    print(f"{mixers} mixers, {rounds} rounds, drift {drift} σ: {100 * band:.1f} %")
    assert band >= 0.935


@pytest.mark.check
def test_bands_for_no_drift_would_miss_a_drift_that_nobody_can_see() -> None:
    """0.05 σ a week, as docs/howto/follow-rounds.md says: so bands are wide without any drift."""
    drift, random = 0.05, np.random.default_rng(8)
    noise = random.standard_normal((20_000, 52))
    true = np.cumsum(drift * random.standard_normal(noise.shape), axis=1)
    still, counts = noise[:10_000], (noise + true)[10_000:]
    true = true[10_000:]
    steps = np.diff(np.eye(52), axis=0)  # they do not depend on the unknown level
    seen = steps @ steps.T
    inverse = np.linalg.inv(seen) - np.linalg.inv(seen + drift**2 * np.eye(51))
    likelier, found = (
        ((x @ steps.T @ inverse) * (x @ steps.T)).sum(axis=1) for x in (still, counts)
    )
    power = (found > np.quantile(likelier, 0.95)).mean()  # by Neyman and Pearson no test has more
    assert power == pytest.approx(0.13, abs=0.02)
    off = np.abs(counts.mean(axis=1, keepdims=True) - true).max(axis=1)
    assert (off <= 1.96 / np.sqrt(52)).mean() == pytest.approx(0.22, abs=0.02)
    told = levels(counts[:150], np.ones((150, 52)), np.arange(1.0, 53), CONFIDENCE)
    assert covered(told, true[:150])[0] > 0.93


@pytest.mark.long
@pytest.mark.parametrize("mixers", [1, 3])
@pytest.mark.parametrize("rounds", [52, 6])
def test_years_whose_drift_is_as_likely_as_the_model_says(mixers: int, rounds: int) -> None:
    """95 ± 1.5 %, with noise of the plan's own law; 4,000 years, since 96.3 is near the edge."""
    the_plan, random = plan(rounds, mixers), np.random.default_rng(7)
    drifts = np.minimum(np.abs(random.standard_cauchy((4_000, 1))) * local_level.SCALE, 60.0)
    steps = random.standard_normal((4_000, rounds)) * drifts * law_in(the_plan).sigma
    true = np.rint(np.cumsum(steps, axis=1)).astype(np.int64)
    band, _ = covered(smoothed(the_plan, noisy(the_plan, true, seed=8)), true)
    print(f"{mixers} mixers, {rounds} rounds: {100 * band:.1f} %")
    assert band == pytest.approx(0.95, abs=0.015)


@pytest.mark.long
@pytest.mark.parametrize("mixers", [1, 3])
def test_raw_bands_hold_for_a_thousand_years(mixers: int) -> None:
    """95 ± 1.5 %, by the exact law, whatever the truth."""
    the_plan = plan(52, mixers)
    law, together = law_in(the_plan), simultaneous_confidence(CONFIDENCE, 52)
    counts = noisy(the_plan, np.full((1_000, 52), 1_000), seed=9)
    off = np.abs(counts - 1_000) <= law.distance(together)
    print(f"{mixers} mixers: {100 * off.all(axis=1).mean():.1f} %")
    assert off.all(axis=1).mean() == pytest.approx(0.95, abs=0.015)


@pytest.mark.check
def test_a_jump_is_no_drift() -> None:
    """Raw bands hold where the smoothed one misses: that is why it says if changes are gradual."""
    the_plan, jump = plan(), 5 * law_in(plan()).sigma
    true = np.full((300, 52), 1_000)
    true[:, 26:] += round(jump)
    counts = noisy(the_plan, true, seed=10)
    band, _ = covered(smoothed(the_plan, counts), true)
    raw = np.abs(counts - true) <= law_in(the_plan).distance(simultaneous_confidence(0.95, 52))
    assert band < 0.9
    assert raw.all(axis=1).mean() > 0.92


def test_nothing_is_claimed_twice_or_too_early() -> None:
    """A jump of five σ is found in the round in which it happens, once, and its way back too."""
    true = np.full((20, 52), 1_000)
    true[:, 26:40] += round(6.5 * law_in(plan()).sigma)
    found = changes_in(plan(), noisy(plan(), true, seed=11))
    ups = [[c for c in each if c.difference > 0] for each in found]
    downs = [[c for c in each if c.difference < 0] for each in found]
    assert sum(len(each) == 1 and each[0].found in (27, 28) for each in ups) >= 18
    assert sum(len(each) == 1 and each[0].found in (41, 42) for each in downs) >= 18
    assert all(c.interval.low * c.interval.high > 0 for each in found for c in each)


@pytest.mark.long
@pytest.mark.parametrize("mixers", [1, 3])
def test_false_alarms_over_a_thousand_years(mixers: int) -> None:
    """At most 5 % of years with five answers and a look every week claim a change."""
    counts = noisy(plan(52, mixers), np.full((5_000, 52), 1_000), seed=12)
    found = changes_in(plan(52, mixers), counts, answers=5)
    alarms = np.array([bool(each) for each in found]).reshape(1_000, 5).any(axis=1).sum()
    print(f"{mixers} mixers: {alarms} of 1,000 years")
    assert alarms <= 50 + 3 * 7


@pytest.mark.long
@pytest.mark.parametrize(
    ("mixers", "within", "people"),
    [(1, 2, 114), (1, 4, 83), (1, 8, 62), (3, 2, 197), (3, 4, 143), (3, 8, 108)],
)
def test_sizes_that_are_found(mixers: int, within: int, people: int) -> None:
    """Nine in ten, as docs/howto/follow-rounds.md says."""
    found = found_within(plan(52, mixers), people, within, 1_000, seed=13)
    assert found == pytest.approx(0.9, abs=0.04)


@pytest.mark.parametrize("rounds", [2, 3, 5, 9, 17, 52])
def test_windows_are_the_last_rounds_and_those_before(rounds: int) -> None:
    """Each ends with the last round, and none is compared twice."""
    compared = list(looks(rounds))
    assert len(set(compared)) == len(compared) <= 8
    assert all(0 <= look.start < look.middle < look.end == rounds for look in compared)


LAWS: tuple[CountModel, ...] = (
    law_in(plan(6, 2)),
    NoiseModel(people=300, responses=300, noise=0.1),
)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: type(law).__name__)
def test_a_window_has_the_law_of_the_sum_of_its_rounds(law: CountModel) -> None:
    """Convolved round by round, and pooled."""
    whole = law.pooled([law, law])
    assert whole is not None
    first, masses, _ = law.errors(0.25)
    low, pooled, _ = whole.errors(0.25)
    convolved = np.convolve(np.convolve(masses, masses), masses)
    start = round(3 * first - low)
    there = convolved[max(0, -start) :][: len(pooled) - max(0, start)]
    assert there == pytest.approx(pooled[max(0, start) :][: len(there)], abs=1e-9)
    assert whole.people == 3 * law.people


def test_rounds_with_other_noise_are_not_pooled() -> None:
    """They are tested by standard errors instead."""
    assert law_in(plan(6)).pooled([law_in(plan(52))]) is None
    assert LAWS[1].pooled([LAWS[0]]) is None


@pytest.mark.parametrize(("before", "after"), [(6, 4), (4, 7), (5, 5)])
def test_people_who_come_or_leave_move_a_share_by_at_most_their_part(
    before: int, after: int
) -> None:
    """Over all answers of those who stay and of those who do not."""
    stay, strangers = min(before, after), abs(before - after)
    moves = []
    for yes, more in itertools.product(range(stay + 1), range(strangers + 1)):
        small, large = yes / stay, (yes + more) / max(before, after)
        moves.append(abs(large - small))
    assert max(moves) == pytest.approx(moved_by_people(before, after))


def two_questions(rounds: int = 6) -> Plan:
    return yearly_plan([browser("fox", "chrome"), CRASH], rounds)


@pytest.fixture(scope="module")
def year() -> list[Results]:
    """Six rounds; the last has more crashes."""
    the_plan = two_questions()
    return [
        results_of_round(the_plan, n, [300, 500, 20 + 300 * (n == 6)], 1_000 - n, seed=1)
        for n in range(1, 7)
    ]


def test_what_is_spent_adds_up_to_the_error_rate(year: list[Results]) -> None:
    """Over all rounds but the first, all answers and all comparisons."""
    rounds = rounds_of(year)
    series = series_of(rounds)
    limits = _limits(rounds, series, 0.05)
    spent = sum(each for key in limits for number, each in limits[key].items() if number > 1)
    assert spent == pytest.approx(0.05)
    assert answers_counted(year[0]) == {"browser": 3, "crash": 1}


@pytest.fixture(scope="module")
def trend(year: list[Results]) -> Trend:
    return make_trend(year)


def test_points_are_what_results_say(year: list[Results], trend: Trend) -> None:
    """Counts, shares and intervals are those of the results; changed lines come first."""
    assert (trend.lines[0].question, trend.lines[0].answer) == ("crash", "yes")
    assert [change.found for change in trend.lines[0].changes] == [6]
    line = trend.line("browser", "fox")
    for results, point in zip(year, line.points, strict=True):
        row = results.questions[0].rows[0]
        assert (point.round, point.people) == (results.round, results.people)
        assert (point.count, point.share) == (row.count, row.share)
        assert point.interval.low <= row.interval.low / results.people + 1e-12
        assert point.band.low <= point.interval.low <= point.interval.high <= point.band.high
    assert all(each.exact for each in trend.lines)
    assert not trend.line("browser", "fox").changes


def test_a_trend_as_a_table_and_as_files(trend: Trend, tmp_path: Path) -> None:
    """One row for each answer and round; JSON has the format's name."""
    table = trend.to_arrow()
    assert table.num_rows == 4 * 6
    assert trend.to_pandas()["change"].dropna().tolist() == ["up"]
    for name in ("trend.csv", "trend.parquet", "trend.json"):
        trend.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000
    assert trend.values()["format"] == "krand-trend-1"


def test_an_option_that_is_added_is_a_break(year: list[Results]) -> None:
    """Lines of the question break there, with the reason; other questions go on."""
    wider = yearly_plan([browser("fox", "chrome", "edge"), CRASH], 6)
    later = [results_of_round(wider, n, [300, 400, 100, 20], 1_000, seed=2) for n in (4, 6)]
    trend = make_trend([*year[:3], *later])
    line = trend.line("browser", "chrome")
    assert [(each.round, each.reason) for each in line.breaks] == [(4, "'edge' added")]
    assert [point.smoothed is None for point in line.points] == [False] * 3 + [True] * 2
    assert not line.changes, "nothing is compared across a break"
    assert [point.round for point in trend.line("browser", "edge").points] == [4, 6]
    assert not trend.line("crash", "yes").breaks
    assert trend.missing == (5,)
    assert trend.epsilon == 2, "two plans are two promises"


def test_a_changed_survey_of_one_campaign_goes_on() -> None:
    """An option that is added with a new quarter is a break; the year promises what it did."""
    found, spent = [], UnsafeMemoryLedger()
    for name, first, options in (
        ("old", 1, ("fox", "edge")),
        ("new", 14, ("fox", "edge", "chrome")),
    ):
        schedule = Schedule(
            every="week", starts=date(2027, 1, 4), campaign="app", promise="quarter", first=first
        )
        survey = yearly_plan([browser(*options), CRASH], 26).survey
        the_plan = make_plan(replace(survey, id=name, schedule=schedule))
        true = [300, *[200] * (len(options) - 1), 20]
        for number in (first, first + 12):
            found.append(results_of_round(the_plan, number, true, 1_000, seed=7))
            spent.submission(the_plan, number, lambda: Submission(bytes(16), (b"m",)))
    trend = make_trend(found)
    assert (trend.survey, trend.epsilon, trend.promises) == ("app", 2.0, 2)
    charge = found[0].plan.charge(1)
    assert charge is not None
    assert spent.spent().epsilon == trend.epsilon == charge.most_epsilon
    assert trend.rounds[-1].opened == date(2027, 6, 28)
    assert json.loads(json.dumps(trend.values()))["rounds"][-1]["opened"] == "2027-06-28"
    (named,) = trend.line("browser", "fox").breaks
    assert (named.round, named.reason) == (14, "'chrome' added")
    assert trend.line("crash", "yes").breaks == ()
    assert len(trend.line("crash", "yes").points) == 4
    (change,) = compare_results([found[2], found[1]], ["crash"]).questions["crash"]
    assert (change.earlier, change.later) == ("round 13", "round 14")


def test_a_renamed_option_is_two_lines(year: list[Results]) -> None:
    """krand cannot know that it is the same, and says what was added and removed."""
    renamed = yearly_plan([browser("fox", "chromium"), CRASH], 6)
    trend = make_trend([*year[:3], results_of_round(renamed, 4, [300, 500, 20], 1_000, seed=3)])
    (found,) = trend.line("browser", "fox").breaks
    assert found.reason == "'chromium' added and 'chrome' removed"
    assert len(trend.line("browser", "chrome").points) == 3
    assert len(trend.line("browser", "chromium").points) == 1


def _another(questions: Sequence[Question], **changes: Any) -> Results:
    the_plan = yearly_plan(questions, changes.pop("rounds", 6))
    the_plan = replace(the_plan, survey=replace(the_plan.survey, **changes))
    return replace(results_of_round(two_questions(), 6, [1, 1, 1], 100, seed=4), plan=the_plan)


@pytest.mark.parametrize(
    ("others", "field", "rule"),
    [
        (lambda year: year[:1], "results", "must be of at least two rounds"),
        (lambda year: [*year, year[2]], "results", "must be of different rounds; results 3 is of"),
        (
            lambda year: [*year, results_of_round(two_questions(), 3, [9, 9, 9], 99, seed=5)],
            "results",
            "must be of different rounds",
        ),
        (
            lambda year: [*year[:2], _another([CRASH], id="another")],
            "results",
            "must be of one survey, 'weekly' as in results 1",
        ),
        (
            lambda year: [*year[:2], _another([CRASH], rounds=8)],
            "rounds",
            "must be the same in all rounds, 6 as in results 1",
        ),
        (
            lambda year: [
                *year[:2],
                _another([CRASH], policy=replace(two_questions().survey.policy, epsilon=2.0)),
            ],
            "policy.epsilon",
            "must be the same in all rounds, 1.0 as in results 1",
        ),
    ],
)
def test_what_is_no_trend_is_refused(
    year: list[Results], others: Any, field: str, rule: str
) -> None:
    """With the file, the field and what to do."""
    with pytest.raises(InvalidInput) as refused:
        make_trend(others(year))
    assert refused.value.field == field
    assert refused.value.rule.startswith(rule)
    assert refused.value.hint


@pytest.mark.parametrize("name", ["error_rate", "confidence"])
def test_a_probability_must_be_one(year: list[Results], name: str) -> None:
    with pytest.raises(InvalidInput, match=name):
        make_trend(year, **{name: 1.5})


@pytest.mark.check
def test_words_and_joint_tables_are_followed() -> None:
    """A word that is not on the list of a round has a gap there; cells have exact laws."""
    wish = Words(name="wish", size=1024, hashes=2)
    the_plan = yearly_plan(
        [browser("fox", "chrome"), CRASH, wish], 3, together=[["browser", "crash"]]
    )
    true = np.zeros(the_plan.layout.positions, np.int64)
    for word, people in (("speed", 2_000), ("tabs", 1_000)):
        for place in plain_positions("weekly", wish, word):
            true[the_plan.layout.first_block_of("wish").offset + place] += people
    found = [
        results_of_round(
            the_plan, number, true.tolist(), 5_000, 6, ResultsOptions(candidates={"wish": words})
        )
        for number, words in ((1, ["speed", "tabs"]), (2, ["speed"]), (3, ["Speed", "tabs"]))
    ]
    trend = make_trend(found)
    speed, tabs = trend.line("wish", "Speed"), trend.line("wish", "tabs")
    assert [point.round for point in speed.points] == [1, 2, 3]
    assert [point.round for point in tabs.points] == [1, 3]
    assert all(abs(point.count - 2_000) < 300 for point in speed.points)
    assert (speed.kind, speed.exact) == (LineKind.WORD, False)
    cell = trend.line("browser × crash", "fox × yes")
    assert (cell.kind, cell.exact) == (LineKind.CELL, True)


def test_noise_of_devices_is_followed_too() -> None:
    """Those who gave no answer are what others leave: their law is that of the others' sum."""
    the_plan = make_plan(parse_survey(f"rounds = 3\n{SMALL_SURVEY}"))
    found = []
    for number in (1, 2, 3):
        people = simulated_table(the_plan.survey, 400, seed=number)
        tally = unsafe_simulated_tally(the_plan, people, seed=9, round_number=number)
        found.append(make_results(the_plan, tally))
    trend = make_trend(found)
    silent = trend.line("pet", "unanswered")
    assert silent.exact
    for results, point in zip(found, silent.points, strict=True):
        row = results.questions[1].unanswered
        assert row is not None
        assert point.count == row.count
        assert point.interval.high * 400 == pytest.approx(row.interval.high, abs=1e-6)


def test_a_p_value_of_two_windows_is_that_of_enumerated_noise() -> None:
    """Two windows of unlike length, with few dummies: all outcomes, one by one."""
    law = law_in(plan(6))
    short = replace(law, law=type(law.law)((2**62, 2**61)), people=10)
    one, three = short.pooled([]), short.pooled([short] * 2)
    assert one is not None
    assert three is not None
    weights = {-1: 0.25, 0: 0.5, 1: 0.25}
    x = 0.1 + 1e-9
    expected = 0.0
    for places in itertools.product(weights, repeat=4):
        chance = float(np.prod([weights[place] for place in places]))
        expected += chance * (places[0] / 10 - sum(places[1:]) / 30 >= x - 1e-6)
    (found,) = chance_of_difference((three, one), np.array([x]))
    assert found == pytest.approx(min(1.0, 2 * expected), abs=1e-9)
