"""Two surveys compared, several combined; results of any number, and words by any spelling."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray
from scipy.stats import binom

from analysis.mixed_surveys import mixed_plan_of
from analysis.simulated_surveys import noisy_counts, plan_of, tally_of
from krand.accounting.dummy_sums import sum_law
from krand.analysis.estimates.counted import question_law
from krand.analysis.estimates.intervals import Sampling, chance_beyond, quantile_of
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import EstimateOptions
from krand.analysis.estimates.share_differences import chance_of_difference, compare_surveys
from krand.analysis.estimates.values import QuestionEstimate
from krand.analysis.mechanisms.devices import NoiseModel
from krand.analysis.mechanisms.models import CountModel
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.analysis.results_comparison import Comparison, compare_results
from krand.cli.main import krand
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, YesNo
from krand.survey.reading import parse_survey
from krand.testing import unsafe_simulated_tally
from survey_texts import question_text, survey_text

C = Choice(name="c", choices=Choices(["x", "y", "z"]))
LOUD, QUIET = plan_of([C], 0.08, 4_000), plan_of([C], 0.03, 10_000)
FIRST, SECOND = np.array([1_200, 400, 2_000]), np.array([2_500, 1_000, 5_000])
PEOPLE = {LOUD.hash: 4_000, QUIET.hash: 10_000}
LAWS = question_law(LOUD, "c", 4_000, 4_000), question_law(QUIET, "c", 10_000, 10_000)


def _estimates(
    plan: Plan, true: np.ndarray, repeats: int, seed: int, options: EstimateOptions | None = None
) -> list[QuestionEstimate]:
    people, random = PEOPLE[plan.hash], np.random.default_rng(seed)
    counts = noisy_counts(plan, true, people, repeats, random)
    return [estimate_question(plan, tally_of(plan, people, c), "c", options) for c in counts]


@pytest.mark.check
def test_differences_are_unbiased_and_covered() -> None:
    """Between two given crowds, by the noise alone."""
    pairs = zip(
        _estimates(LOUD, FIRST, 1_000, 71), _estimates(QUIET, SECOND, 1_000, 72), strict=True
    )
    found = [compare_surveys(*pair, LAWS) for pair in pairs]
    truth = SECOND / 10_000 - FIRST / 4_000
    off = np.array([[row.difference for row in rows] for rows in found]) - truth
    sigma = np.hypot(
        LOUD.blocks[0].precision.sigma / 4_000, QUIET.blocks[0].precision.sigma / 10_000
    )
    assert found[0][0].standard_error == pytest.approx(sigma)
    assert np.abs(off.mean(axis=0)).max() < 3 * sigma / 1_000**0.5
    covered = [
        row.interval.low <= t <= row.interval.high
        for rows in found
        for row, t in zip(rows, truth, strict=True)
    ]
    assert 0.94 <= np.mean(covered) <= 0.96


@pytest.mark.check
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
        rows = compare_surveys(pair[0], pair[1], LAWS)
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
    rows = compare_surveys(first, second, LAWS)
    assert rows[0].label == "x"
    assert rows[2].p_value > 1e-4
    assert rows[0].p_value < 1e-4
    back = compare_surveys(second, first, LAWS[::-1])[0]
    assert back.z == pytest.approx(-rows[0].z)
    assert back.interval.low == pytest.approx(-rows[0].interval.high)


def test_only_what_was_asked_alike_is_compared() -> None:
    """Other answers are refused."""
    (first,) = _estimates(LOUD, FIRST, 1, 78)
    other = plan_of([Choice(name="c", choices=Choices(["x", "y", "w"]))], 0.08, 4_000)
    second = estimate_question(other, tally_of(other, 4_000, np.full(3, 900)), "c")
    with pytest.raises(InvalidInput, match=r"same kind and answers .*'w, z'"):
        compare_surveys(first, second, LAWS)


def _law(noise: str, people: int) -> CountModel:
    if noise == "devices":
        return NoiseModel(people=people, responses=people, noise=0.05 if people == 100 else 0.03)
    mixers = 3 if noise == "three mixers" else 1
    plan = mixed_plan_of([YesNo(name="asked")], mixers=mixers)
    return question_law(plan, "asked", people, people)


def _counted(law: CountModel, true: int) -> NDArray[np.float64]:
    """The probability of every count, from 0 on."""
    if isinstance(law, NoiseModel):
        kept = binom.pmf(np.arange(true + 1), true, 1 - law.noise)
        others = law.trials - true
        return np.convolve(kept, binom.pmf(np.arange(others + 1), others, law.noise))
    least, masses = sum_law(law.law, law.draws)
    return np.concatenate([np.zeros(true + least), masses])


@pytest.mark.parametrize("noise", ["one mixer", "three mixers", "devices"])
@pytest.mark.parametrize(
    ("people", "true"),
    [
        ((800, 800), (400, 400)),
        ((800, 600), (400, 300)),
        ((800, 200), (40, 10)),
        ((800, 200), (0, 0)),
        ((200, 800), (200, 800)),
        ((60, 20), (30, 10)),
        ((100, 50), (48, 24)),
    ],
)
def test_equal_shares_have_small_p_values_no_more_often_than_these_say(
    noise: str, people: tuple[int, int], true: tuple[int, int]
) -> None:
    """Enumerated over all counts of both surveys, far out as well; and not never."""
    laws = _law(noise, people[0]), _law(noise, people[1])
    chances = [_counted(law, ones) for law, ones in zip(laws, true, strict=True)]
    places = [np.flatnonzero(chance > 1e-16) for chance in chances]
    shares = [law.estimate(at) / law.people for law, at in zip(laws, places, strict=True)]
    apart = np.round(shares[1][None, :] - shares[0][:, None], 13)
    weights = np.outer(*(chance[at] for chance, at in zip(chances, places, strict=True)))
    differences, which = np.unique(apart, return_inverse=True)
    p_values = chance_of_difference(laws, differences)[which].reshape(apart.shape)
    levels = (0.05, 0.001, 1e-6)
    sizes = [float(weights[p_values <= level].sum()) for level in levels]
    assert all(size <= level for size, level in zip(sizes, levels, strict=True)), sizes
    assert sizes[0] > 0.01  # few counts are possible where few people have little noise


@pytest.mark.parametrize("noise", ["one mixer", "devices"])
def test_p_values_of_sums_belong_to_their_quantiles(noise: str) -> None:
    """Where a crowd is a sample: beyond the ends of an interval is 1 - its confidence, or less."""
    law = _law(noise, 800)
    for confidence in (0.9, 0.95, 0.999, 1 - 1e-6):
        end = quantile_of(law, confidence)
        inside, outside = chance_beyond(law, np.array([0.999 * end, 1.001 * end + 1e-9]))
        assert outside <= (1 - confidence) * (1 + 1e-6)
        assert inside >= outside
        assert inside >= math.erfc(0.999 * end / math.sqrt(2)) * (1 - 1e-9)  # the normal law


def test_many_comparisons_need_smaller_p_values() -> None:
    """Each of several comparisons counts; no adjusted p-value is above 1."""
    (first,), (second,) = _estimates(LOUD, FIRST, 1, 79), _estimates(QUIET, SECOND, 1, 80)
    one = compare_surveys(first, second, LAWS)
    three = compare_surveys(first, second, LAWS, comparisons=3)
    for alone, together in zip(one, three, strict=True):
        assert together.p_value == alone.p_value
        assert alone.adjusted_p_value >= alone.p_value
        assert together.adjusted_p_value == pytest.approx(min(1.0, 3 * alone.adjusted_p_value))


CROWD = 2_000
SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog"]),
    question_text("tag", "words", positions=512, hashes=2),
    rounds=3,
    epsilon=8,
    delta=0.001,
    minimum_crowd=1000,
)
WORDS = "JAZZ,Rock,Jazz,Jazz,Pop"
RENAMED = SURVEY.replace('"smokes"', '"vapes"').replace('"cat", "dog"', '"kitten", "dog", "fish"')
OTHER = SURVEY.replace('"habits"', '"other-habits"')


@cache
def plan_for(survey: str) -> Plan:
    return make_plan(parse_survey(survey))


@cache
def found(number: int, smokers: int, survey: str = SURVEY, words: str = WORDS) -> Results:
    """Of 2,000 people so many smoke, have a dog and name jazz; the others have cats and rock."""
    plan = plan_for(survey)
    smokes, cat = np.arange(CROWD) < smokers, "kitten" if survey == RENAMED else "cat"
    table = pa.table(
        {
            plan.survey.questions[0].name: smokes,
            "pet": np.where(smokes, "dog", cat),
            "tag": np.where(smokes, "jazz", "rock"),
        }
    )
    tally = unsafe_simulated_tally(plan, table, seed=1, round_number=number)
    return make_results(plan, tally, ResultsOptions(candidates={"tag": words.split(",")}))


def differences(comparison: Comparison, question: str, answer: str) -> dict[tuple[str, str], float]:
    return {
        (change.earlier, change.later): row.difference
        for change in comparison.questions[question]
        for row in change.differences
        if row.label == answer
    }


@pytest.mark.check
@pytest.mark.parametrize("places", [(0, 1), (1, 0)])
def test_later_less_earlier_by_round(places: tuple[int, int]) -> None:
    """Fewer smokers are a negative difference, whichever is given first."""
    rounds = found(1, 900), found(2, 500)
    comparison = compare_results([rounds[place] for place in places])
    assert comparison.order.by_round
    ((between, change),) = differences(comparison, "smokes", "yes").items()
    assert between == ("round 1", "round 2")
    assert change == pytest.approx(-0.2, abs=0.03)
    assert comparison.left_out == {}


@pytest.mark.check
def test_results_of_other_surveys_are_taken_in_the_order_given() -> None:
    """Equal rounds, or rounds of different surveys, do not tell which is later."""
    other = found(1, 500, OTHER)
    for first, second, sign in ((found(2, 900), other, -1), (other, found(2, 900), 1)):
        comparison = compare_results([first, second])
        assert not comparison.order.by_round
        ((between, change),) = differences(comparison, "smokes", "yes").items()
        assert between == ("results 1", "results 2")
        assert change == pytest.approx(0.2 * sign, abs=0.03)


def test_the_same_results_twice_are_refused() -> None:
    """Their noise is the same: intervals of the difference would be of another law."""
    rounds = found(1, 900), found(2, 500)
    with pytest.raises(InvalidInput, match="the same results are given twice"):
        compare_results([*rounds, rounds[0]])


@pytest.mark.check
def test_each_is_compared_with_the_next_and_the_first_with_the_last() -> None:
    """Three results are three comparisons, and adjusted p-values allow for all of them."""
    comparison = compare_results([found(3, 880), found(1, 900), found(2, 500)])
    changes = differences(comparison, "smokes", "yes")
    assert list(changes) == [("round 1", "round 2"), ("round 2", "round 3"), ("round 1", "round 3")]
    assert list(changes.values()) == pytest.approx([-0.2, 0.19, -0.01], abs=0.03)
    (row,) = comparison.questions["smokes"][2].differences
    assert row.adjusted_p_value == pytest.approx(min(1.0, 3 * row.p_value))


@pytest.mark.check
def test_words_are_compared_by_any_spelling() -> None:
    """They match as the encoder does, and are shown as most candidates of the later list are."""
    comparison = compare_results([found(1, 900, words="jazz,ROCK"), found(2, 500)], ["tag"])
    (change,) = comparison.questions["tag"]
    shown = {row.label: row.difference for row in change.differences}
    assert shown == {"Rock": pytest.approx(0.2, abs=0.03), "Jazz": pytest.approx(-0.2, abs=0.03)}
    assert max(row.p_value for row in change.differences) < 1e-6


def test_no_p_value_is_zero() -> None:
    """The normal law is not that of a count a hundred standard deviations out."""
    assert chance_beyond(LAWS[0], np.array([-100.0, 40.0])).tolist() == [1e-11, 1e-11]


@pytest.mark.check
def test_a_word_without_a_partner_is_named() -> None:
    """The others are compared all the same."""
    comparison = compare_results([found(1, 900, words="Rock,Pop"), found(2, 500)], ["tag"])
    (change,) = comparison.questions["tag"]
    assert [row.label for row in change.differences] == ["Rock"]
    assert comparison.left_out == {"tag, Jazz": "is not among the candidates of round 1"}


@pytest.mark.check
def test_a_renamed_option_names_itself_and_blocks_only_its_question() -> None:
    """So do questions that one of the results lacks."""
    comparison = compare_results([found(1, 900), found(2, 500, RENAMED)])
    assert list(comparison.questions) == ["tag"]
    assert comparison.left_out == {
        "smokes": "is not in round 2",
        "pet": (
            "'cat' is an answer only in round 1; 'kitten' is an answer only in round 2;"
            " 'fish' is an answer only in round 2"
        ),
        "vapes": "is not in round 1",
    }
    with pytest.raises(InvalidInput, match="'cat' is an answer only in round 1"):
        compare_results([found(1, 900), found(2, 500, RENAMED)], ["pet"])


@pytest.mark.check
def test_what_cannot_be_compared_is_refused() -> None:
    """One of the results alone, and questions that nobody was asked."""
    with pytest.raises(InvalidInput, match="at least two"):
        compare_results([found(1, 900)])
    with pytest.raises(InvalidInput, match="the questions are smokes, pet, tag"):
        compare_results([found(1, 900), found(2, 500)], ["age"])


def test_laws_are_those_of_the_rows() -> None:
    """For a question of devices, and for a position of words."""
    results = found(1, 900)
    for question in results.questions:
        law = law_of(results, question.name)
        assert law.sigma == pytest.approx(question.rows[0].standard_error)
        assert law.people == CROWD


@pytest.mark.check
def test_the_command_says_which_is_later(tmp_path: Path) -> None:
    """Order, tables, and what was left out because it was renamed."""
    files = []
    for number, survey in ((2, RENAMED), (1, SURVEY)):
        files.append(str(tmp_path / f"{number}.json"))
        found(number, 900, survey).save(files[-1])
    told = CliRunner().invoke(krand, ["compare", *files])
    assert told.exit_code == 0, told.output
    text = " ".join(told.stdout.split())
    assert "Differences are later - earlier, by round: round 1 (" in text
    assert "points" in text
    assert "Left out: pet: 'cat' is an answer only in round 1;" in text
    values = json.loads(CliRunner().invoke(krand, ["compare", *files, "--json"]).stdout)
    assert values["results"] == files[::-1]
    assert (values["order"], list(values["left_out"])) == ("rounds", ["smokes", "pet", "vapes"])
    for row in values["questions"]["tag"]:
        assert (row["earlier"], row["later"]) == (files[1], files[0])
