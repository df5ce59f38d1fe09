"""Several results of one survey: what changed between them, and every answer over all rounds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import estimates
import krand
from coverage_table import Case, rounds_of
from draws import Draws
from effort import EFFORT
from krand.testing import MIXED_SURVEY

SURVEY = f"""rounds = 6
{MIXED_SURVEY.replace('id = "pets"', 'id = "weekly"').replace("mixers = 2", "mixers = 1")}
[schedule]
every = "week"
starts = 2099-01-05
campaign = "weekly"
"""
WIDER = SURVEY.replace('"dog", ', '"dog", "fish", ').replace('id = "weekly"', 'id = "wider"')
RENAMED = SURVEY.replace('"dog"', '"puppy"').replace('id = "weekly"', 'id = "renamed"')
LONGER = SURVEY.replace("rounds = 6", "rounds = 8").replace('id = "weekly"', 'id = "longer"')
MORE = SURVEY.replace('id = "weekly"', 'id = "more"').replace(
    "[schedule]", '[[question]]\nname = "slow"\ntype = "yes_no"\n[schedule]'
)
OTHER = SURVEY.replace('"weekly"', '"another"')
PEOPLE = 1_000


@cache
def plan_of(text: str) -> krand.Plan:
    return krand.make_plan(krand.parse_survey(text))


@cache
def found(number: int, smokers: int = 20, text: str = SURVEY, seed: int = 3) -> krand.Results:
    """A round: so many smoke and have a dog (or what is second on the list), the others a cat."""
    plan = plan_of(text)
    second = plan.survey.questions[1].choices[1]  # type: ignore[union-attr]
    kinds = ({"smokes": True, "pet": second}, {"smokes": False, "pet": "cat"}, {})
    people = [smokers, PEOPLE - smokers - 100, 100]
    random = np.random.default_rng([seed, number])
    return krand.make_results(plan, Draws(plan, kinds).tally(people, random, number))


@cache
def year() -> tuple[krand.Results, ...]:
    """Six rounds; in the last one more people smoke."""
    return tuple(found(number, 20 + 300 * (number == 6)) for number in range(1, 7))


def differences(comparison: Any, question: str, answer: str) -> dict[tuple[str, str], float]:
    return {
        (change.earlier, change.later): row.difference
        for change in comparison.questions[question]
        for row in change.differences
        if row.label == answer
    }


@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_later_less_earlier_by_round(places: tuple[int, int]) -> None:
    """Fewer smokers are a negative difference, whichever is given first."""
    rounds = found(1, 450), found(2, 250)
    comparison = krand.compare_results([rounds[place] for place in places])
    ((between, change),) = differences(comparison, "smokes", "yes").items()
    assert between == ("round 1", "round 2")
    assert change == pytest.approx(-0.2, abs=0.03)
    assert comparison.left_out == {}
    seen, p_value = estimates.changed(comparison, "smokes")["yes"]
    assert seen.high < 0
    assert 1e-12 < p_value < 1e-6, "no p-value is zero"


def test_results_of_other_surveys_are_taken_in_the_order_given() -> None:
    """Rounds of different surveys do not tell which is later."""
    mine, other = found(2, 450), found(1, 250, OTHER)
    for pair, sign in (((mine, other), -1), ((other, mine), 1)):
        ((between, change),) = differences(krand.compare_results(pair), "smokes", "yes").items()
        assert between == ("results 1", "results 2")
        assert change == pytest.approx(0.2 * sign, abs=0.03)


def test_each_is_compared_with_the_next_and_the_first_with_the_last() -> None:
    """Three results are three comparisons, and adjusted p-values allow for all of them."""
    three = krand.compare_results([found(3, 440), found(1, 450), found(2, 250)])
    changes = differences(three, "smokes", "yes")
    assert list(changes) == [("round 1", "round 2"), ("round 2", "round 3"), ("round 1", "round 3")]
    assert list(changes.values()) == pytest.approx([-0.2, 0.19, -0.01], abs=0.03)
    (row,) = three.questions["smokes"][2].differences
    assert row.adjusted_p_value == pytest.approx(min(1.0, 3 * row.p_value))
    for row in three.questions["pet"][2].differences:
        alone = 1 - (1 - row.p_value) ** 3
        assert row.adjusted_p_value == pytest.approx(min(1.0, 3 * alone))
        assert (
            row.simultaneous.low <= row.interval.low <= row.interval.high <= row.simultaneous.high
        )


def test_what_was_not_asked_alike_is_named_and_the_rest_is_compared() -> None:
    """An option that was renamed, and a question that one of the results lacks."""
    comparison = krand.compare_results([found(1), found(2, text=RENAMED)])
    assert list(comparison.questions) == ["smokes"]
    reason = "'dog' is an answer only in round 1; 'puppy' is an answer only in round 2"
    assert comparison.left_out == {"pet": reason}
    comparison = krand.compare_results([found(1), found(2, text=MORE)])
    assert comparison.left_out == {"slow": "is not in round 1"}


@pytest.mark.parametrize(
    ("given", "questions", "says"),
    [
        ([1], None, "at least two"),
        ([1, 2, 1], None, "the same results are given twice"),
        ([1, 2], ["age"], "the questions are smokes, pet"),
    ],
)
def test_what_cannot_be_compared_is_refused(given: list[int], questions: Any, says: str) -> None:
    with pytest.raises(krand.InvalidInput, match=says):
        krand.compare_results([found(number) for number in given], questions)
    with pytest.raises(krand.InvalidInput, match="'dog' is an answer only in round 1"):
        krand.compare_results([found(1), found(2, text=RENAMED)], ["pet"])


def _with_words(number: int, words: Sequence[str]) -> krand.Results:
    """The rounds of the coverage table, with another list of candidates."""
    *_, last = rounds_of(Case("mixer", 3_000), number, 1)
    options = krand.ResultsOptions(candidates={"town": words})
    return krand.make_results(last.results.plan, last.tally, options)


def test_words_are_compared_and_followed_by_any_spelling() -> None:
    """They match as the encoder does; one that is on one list alone is named, and has a gap."""
    lists = (["ulm", "GRAZ", "Rome"], ["graz"], ["Ulm", "Graz"])
    rounds = [_with_words(number, words) for number, words in enumerate(lists, 1)]
    comparison = krand.compare_results([rounds[0], rounds[2]], ["town"])
    assert set(estimates.changed(comparison, "town")) == {"Ulm", "Graz"}
    comparison = krand.compare_results(rounds[:2], ["town"])
    assert list(estimates.changed(comparison, "town")) == ["graz"]
    assert comparison.left_out == {"town, ulm": "is not among the candidates of round 2"}
    trend = krand.make_trend(rounds)
    assert [point.round for point in trend.line("town", "Ulm").points] == [1, 3]
    assert [point.round for point in trend.line("town", "Graz").points] == [1, 2, 3]
    assert (str(trend.line("town", "Ulm").kind), trend.line("town", "Ulm").exact) == ("word", False)
    cell = trend.line("team × happy", "red × yes")
    assert (str(cell.kind), cell.exact) == ("cell", True)


def test_points_are_what_results_say_and_a_jump_is_found_once() -> None:
    """Changed lines come first; people who give no answer are what others leave."""
    trend = krand.make_trend(year())
    first = trend.lines[0]
    assert (first.question, first.answer) == ("smokes", "yes")
    assert [change.found for change in first.changes] == [6]
    (change,) = first.changes
    assert (change.before[1], change.after) == (5, (6, 6))
    assert change.interval.low <= 0.3 <= change.interval.high
    assert change.p_value <= change.limit
    for answer in ("cat", "dog", "unanswered"):
        line = trend.line("pet", answer)
        for results, point in zip(year(), line.points, strict=True):
            row = estimates.counts(results, "pet")[answer]
            assert (point.round, point.people) == (results.round, PEOPLE)
            assert point.count == row.unbiased
            assert point.share == pytest.approx(point.count / PEOPLE)
            assert row.low - 1e-9 <= point.interval.low * PEOPLE <= point.count
    assert not trend.line("pet", "unanswered").changes
    assert all(line.exact for line in trend.lines)


def test_jumps_are_found_in_their_round_and_their_way_back_too() -> None:
    """A jump of many standard errors, once, in the round after which it can be seen."""
    numbers = [50, 50, 110, 110, 50, 50]
    for seed in range(4 * EFFORT):
        results = [found(n, people, SURVEY, seed + 2) for n, people in enumerate(numbers, 1)]
        changes = krand.make_trend(results).line("smokes", "yes").changes
        assert {change.found for change in changes if change.difference > 0} == {3}
        assert {change.found for change in changes if change.difference < 0} <= {5, 6}
        for change in changes:
            before, after = (
                np.mean(numbers[first - 1 : last]) for first, last in (change.before, change.after)
            )
            truth = float(after - before) / PEOPLE
            assert change.interval.low <= truth <= change.interval.high
            assert change.difference * truth > 0


def test_what_may_be_claimed_falsely_is_divided_over_all_looks() -> None:
    """Each of the rounds but the first, each question, each answer, each pair of windows."""
    rare = krand.make_trend(year(), error_rate=0.001).line("smokes", "yes").changes
    usual = krand.make_trend(year()).line("smokes", "yes").changes
    assert [c.found for c in rare] == [c.found for c in usual] == [6]
    assert usual[0].limit == pytest.approx(50 * rare[0].limit)
    assert 0 < usual[0].limit <= 0.05 / 5 / 2


@pytest.mark.parametrize(
    ("text", "reason", "alone"),
    [
        (WIDER, "'fish' added", "fish"),
        (RENAMED, "'puppy' added and 'dog' removed", "puppy"),
    ],
)
def test_a_changed_question_is_another_one(text: str, reason: str, alone: str) -> None:
    """Its lines break there, with the reason; nothing is compared or added up across."""
    trend = krand.make_trend([*year()[:3], found(4, text=text), found(6, text=text)])
    line = trend.line("pet", "cat")
    assert [(each.round, each.reason) for each in line.breaks] == [(4, reason)]
    assert line.mean is not None
    assert line.mean.rounds == (4, 6)
    assert not line.changes
    assert [point.round for point in trend.line("pet", alone).points] == [4, 6]
    assert not trend.line("smokes", "yes").breaks
    assert (trend.missing, trend.epsilon, trend.promises) == ((5,), 4, 2)


def test_a_mean_over_plans_with_other_noise_says_so() -> None:
    """It has standard errors; of one round there is none."""
    later = [found(number, text=MORE) for number in (5, 6)]
    trend = krand.make_trend([*year()[:4], *later])
    mean = trend.line("smokes", "yes").mean
    assert mean is not None
    assert (mean.rounds, mean.exact) == ((3, 6), False)
    errors = [each.standard_error * PEOPLE for each in trend.line("smokes", "yes").points[2:]]
    half = 1.96 * float(np.hypot.reduce(errors)) / (4 * PEOPLE)
    assert half * 0.99 <= mean.interval.half <= 1.2 * half
    broken = krand.make_trend([*year()[:5], found(6, text=WIDER)])
    assert broken.line("pet", "cat").mean is None


def test_a_changed_survey_of_one_campaign_goes_on() -> None:
    """Two quarters are two promises; what a device spends is what the trend adds up."""
    results = []
    for first, text in ((1, SURVEY), (14, WIDER)):
        quarters = text.replace("rounds = 6", "rounds = 26").replace(
            'campaign = "weekly"', f'campaign = "app"\npromise = "quarter"\nfirst = {first}'
        )
        draws = Draws(plan_of(quarters), ({"smokes": True, "pet": "cat"}, {}))
        for number in (first, first + 12):
            tally = draws.tally([300, 700], np.random.default_rng(number), number)
            results.append(krand.make_results(draws.plan, tally))
    trend = krand.make_trend(results)
    assert (trend.survey, trend.epsilon, trend.promises) == ("app", 4.0, 2)
    charge = results[0].plan.charge(1)
    assert charge is not None
    assert charge.most_epsilon == trend.epsilon
    assert trend.rounds[-1].opened == date(2099, 6, 29)
    assert len(trend.line("smokes", "yes").points) == 4
    assert [each.reason for each in trend.line("pet", "cat").breaks] == ["'fish' added"]
    (change,) = krand.compare_results([results[2], results[1]], ["smokes"]).questions["smokes"]
    assert (change.earlier, change.later) == ("round 13", "round 14")


@pytest.mark.parametrize("noise", ["flips", "copies"])
def test_flips_are_followed_too_and_from_files(noise: str, tmp_path: Path) -> None:
    """Those who gave no answer are what others leave; cells of records have no exact law."""
    rounds, files = list(rounds_of(Case(noise, 150), 3, 2)), []
    for each in rounds:
        files.append(tmp_path / f"{each.results.round}.json")
        each.results.save(files[-1])
    trend = krand.make_trend(files)
    silent = trend.line("mood", "unanswered")
    assert silent.exact
    for each, point in zip(rounds, silent.points, strict=True):
        row = estimates.counts(each.results, "mood")["unanswered"]
        assert point.count == pytest.approx(row.unbiased)
        assert point.interval.high * 150 <= row.high + 1e-6
    cells = [line for line in trend.lines if line.question == "team × happy"]
    assert cells
    assert {line.exact for line in cells} == ({False} if noise == "copies" else {True})


def test_a_trend_as_a_table_and_as_files(tmp_path: Path) -> None:
    """One row for each answer and round; JSON has the format's name."""
    trend = krand.make_trend(year())
    assert trend.to_arrow().num_rows == 5 * 6
    changes = [change for change in trend.to_arrow()["change"].to_pylist() if change]
    assert sorted(changes) == ["down", "up", "up"]
    for name in ("trend.csv", "trend.parquet", "trend.json", "trend.html"):
        trend.save(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 1_000
    values = json.loads((tmp_path / "trend.json").read_text(encoding="utf-8"))
    assert (values["format"], values["rounds"][-1]["opened"]) == ("krand-trend-1", "2099-02-09")


@pytest.mark.parametrize(
    ("more", "field", "rule"),
    [
        ([], "results", "must be of at least two rounds"),
        ([(1, SURVEY)], "results", "must be of different rounds; results 1 is of"),
        ([(2, OTHER)], "results", "must be of one survey, 'weekly' as in results 1"),
        ([(2, LONGER)], "rounds", "must be the same in all rounds, 6 as in results 1"),
    ],
)
def test_what_is_no_trend_is_refused(more: list[Any], field: str, rule: str) -> None:
    """With the field and what to do."""
    others = [found(number, 30, text, 9) for number, text in more]
    with pytest.raises(krand.InvalidInput) as refused:
        krand.make_trend([found(1), *others])
    assert (refused.value.field, refused.value.rule[: len(rule)]) == (field, rule)
    assert refused.value.hint


@pytest.mark.parametrize("name", ["error_rate", "confidence"])
def test_a_probability_must_be_one(name: str) -> None:
    with pytest.raises(krand.InvalidInput, match=name):
        krand.make_trend(year(), **{name: 1.5})
