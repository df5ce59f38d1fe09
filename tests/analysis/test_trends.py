"""Trends: answers over rounds, the mean of the last ones, and where they changed."""

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
from analysis.trend_years import PEOPLE, changes_in, found_within, law_in, noisy, years_of
from krand.analysis.estimates.share_differences import chance_of_difference
from krand.analysis.mechanisms.devices import NoiseModel
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.results import Results, ResultsOptions, make_results
from krand.analysis.results_comparison import compare_results, moved_by_people
from krand.analysis.results_file import read_results
from krand.analysis.tallying import tally_responses
from krand.analysis.trends.changes import looks
from krand.analysis.trends.series import LineKind, answers_counted, summed
from krand.analysis.trends.trend import Trend, _limits, make_trend, rounds_of, series_of
from krand.client.ledger import Submission
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.report.trend_texts import words_for
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.kinds.words import plain_positions
from krand.survey.plan import Plan
from krand.survey.questions import Choice, Question, Words, YesNo
from krand.survey.reading import parse_survey
from krand.survey.schedule import Schedule
from krand.tables.randomizing import randomize_table
from krand.testing import SMALL_SURVEY, UnsafeMemoryLedger, simulated_table, unsafe_simulated_tally
from schedules import WEEKLY

CRASH = YesNo(name="crash", text="Did it crash?")


def browser(*names: str) -> Choice:
    return Choice(name="browser", choices=Choices(names))


@cache
def plan(rounds: int = 52, mixers: int = 1) -> Plan:
    return yearly_plan([CRASH], rounds, mixers)


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
    assert all(each.exact for each in trend.lines)
    assert not trend.line("browser", "fox").changes


@pytest.mark.parametrize("answer", ["fox", "unanswered"])
def test_the_mean_is_of_all_people_of_the_last_four_rounds(trend: Trend, answer: str) -> None:
    """With the interval of a count that has the dummies of four rounds."""
    line, law = trend.line("browser", answer), law_in(two_questions())
    last, mean = line.points[2:], line.mean
    people = sum(point.people for point in last)
    assert mean is not None
    assert (mean.rounds, mean.exact) == ((3, 6), True)
    assert mean.share == pytest.approx(sum(point.count for point in last) / people)
    half = replace(law, mixes=4).distance(0.95) / people
    assert (mean.interval.low, mean.interval.high) == pytest.approx(
        (mean.share - half, mean.share + half)
    )
    spread = [point.standard_error * point.people for point in last]
    assert float(np.hypot.reduce(spread)) == pytest.approx(2 * spread[0])


@pytest.mark.check
@pytest.mark.parametrize("mixers", [1, 3])
def test_means_hold_whatever_the_truth_does(mixers: int) -> None:
    """At least 95 %, by the exact law, over rounds that jump from few people to many."""
    the_plan, random = plan(52, mixers), np.random.default_rng(3)
    true = random.integers(0, PEOPLE, (2_000, 4))
    series = years_of(the_plan, noisy(the_plan, true, seed=9))
    held = 0
    for each, truth in zip(series, true.sum(axis=1).tolist(), strict=True):
        low, high = summed(list(each.counted.values())).limits(0.95)
        held += low <= truth <= high
    assert held >= 0.95 * 2_000 - 3 * (0.95 * 0.05 * 2_000) ** 0.5


def test_a_mean_over_plans_with_other_noise_says_so(year: list[Results]) -> None:
    """It has standard errors; of one round there is none."""
    other = yearly_plan([browser("fox", "chrome"), CRASH, YesNo(name="slow")], 6)
    later = [results_of_round(other, n, [300, 500, 20, 9], 1_000, seed=2) for n in (5, 6)]
    trend = make_trend([*year[:4], *later])
    mean = trend.line("browser", "fox").mean
    assert mean is not None
    assert (mean.rounds, mean.exact) == ((3, 6), False)
    spread = [each.standard_error * each.people for each in trend.line("browser", "fox").points]
    half = 1.96 * float(np.hypot.reduce(spread[2:])) / (997 + 996 + 2_000)
    assert half <= mean.interval.half <= 1.1 * half
    assert "a new plan changed the noise" in "".join(
        words_for(trend).notes(trend.line("browser", "fox"))
    )
    alone = yearly_plan([browser("fox", "chrome", "edge"), CRASH], 6)
    broken = make_trend([*year[:5], results_of_round(alone, 6, [300, 400, 100, 20], 1_000, seed=2)])
    assert broken.line("browser", "fox").mean is None


@pytest.mark.parametrize("copies", [1, 4])
def test_records_with_a_joint_table_are_followed(copies: int, tmp_path: Path) -> None:
    """From files, too: cells of records have intervals by standard errors."""
    survey = parse_survey(
        f'linkage = "record"\ncopies = {copies}\nrounds = 3\n{SMALL_SURVEY}{WEEKLY}'
    )
    the_plan, paths = make_plan(survey), []
    for number in (1, 2):
        people = simulated_table(survey, 400, seed=number)
        noisy_file = tmp_path / f"{number}.parquet"
        randomize_table(the_plan, people, noisy_file, round_number=number)
        tally = tally_responses(the_plan, [noisy_file])
        paths.append(tmp_path / f"{number}.json")
        options = ResultsOptions(joint=(("smokes", "pet"),))
        make_results(the_plan, tally, options).save(paths[-1])
    trend = make_trend(paths)
    cells = [line for line in trend.lines if line.kind is LineKind.CELL]
    assert {line.question for line in cells} == {"smokes × pet"}
    for line in cells:
        assert line.mean is not None
        assert not line.mean.exact
        assert not line.exact
    assert set(compare_results([read_results(path) for path in paths]).questions) == {
        "smokes",
        "pet",
    }


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
    assert line.mean is not None
    assert line.mean.rounds == (4, 6)
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
        the_plan = make_plan(replace(survey, id=name, schedule=schedule, about=About()))
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


def _another(questions: Sequence[Question], rounds: int = 6, campaign: str = "weekly") -> Results:
    the_plan = yearly_plan(questions, rounds)
    schedule = the_plan.survey.schedule
    assert schedule is not None
    schedule = replace(schedule, campaign=campaign)
    the_plan = replace(the_plan, survey=replace(the_plan.survey, schedule=schedule))
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
            lambda year: [*year[:2], _another([CRASH], campaign="another")],
            "results",
            "must be of one survey, 'weekly' as in results 1",
        ),
        (
            lambda year: [*year[:2], _another([CRASH], rounds=8)],
            "rounds",
            "must be the same in all rounds, 6 as in results 1",
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
    the_plan = make_plan(parse_survey(f"rounds = 3\n{SMALL_SURVEY}{WEEKLY}"))
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
