"""Any number of results compared: what is later, what is left out, and words by any spelling."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

from components import require
from krand import plots
from krand.analysis.comparing import Comparison, compare_results
from krand.analysis.results import Results, ResultsOptions, law_of, make_results
from krand.cli.main import krand
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import parse_survey
from krand.testing import unsafe_simulated_tally
from survey_texts import question_text, survey_text

PEOPLE = 2_000
SURVEY = survey_text(
    "habits",
    question_text("smokes", "yes_no"),
    question_text("pet", "choice", choices=["cat", "dog"]),
    question_text("tag", "words", positions=512, hashes=2),
    rounds=3,
    epsilon=8,
    delta=0.001,
    assurance="outlier",
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
    smokes, cat = np.arange(PEOPLE) < smokers, "kitten" if survey == RENAMED else "cat"
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


@pytest.mark.check
def test_each_is_compared_with_the_next_and_the_first_with_the_last() -> None:
    """Three results are three comparisons, and adjusted p-values allow for all of them."""
    comparison = compare_results([found(3, 880), found(1, 900), found(2, 500)])
    changes = differences(comparison, "smokes", "yes")
    assert list(changes) == [
        ("round 1", "round 2"),
        ("round 2", "round 3"),
        ("round 1", "round 3"),
    ]
    assert list(changes.values()) == pytest.approx([-0.2, 0.19, -0.01], abs=0.03)
    (row,) = comparison.questions["smokes"][2].differences
    assert row.adjusted_p_value == pytest.approx(min(1.0, 3 * row.p_value))


@pytest.mark.check
def test_words_are_compared_by_any_spelling() -> None:
    """They match as the encoder does, and are shown as most candidates of the later list are."""
    comparison = compare_results([found(1, 900, words="jazz,ROCK"), found(2, 500)], ["tag"])
    (change,) = comparison.questions["tag"]
    shown = {row.label: row.difference for row in change.differences}
    assert shown == {
        "Rock": pytest.approx(0.2, abs=0.03),
        "Jazz": pytest.approx(-0.2, abs=0.03),
    }
    assert max(row.p_value for row in change.differences) < 1e-6


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
        assert law.people == PEOPLE


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


def test_words_and_single_results_are_drawn() -> None:
    """A line for each word that was found last; results of equal rounds stand side by side."""
    require("matplotlib")
    axes = plots.rounds([found(2, 500), found(1, 900)], "tag").figure.axes[0]
    lines = {str(line.get_label()): line for line in axes.lines}
    assert list(lines["Jazz"].get_ydata()) == pytest.approx([45, 25], abs=3)
    assert list(lines["Rock"].get_ydata()) == pytest.approx([55, 75], abs=3)
    other = found(1, 500, OTHER)
    axes = plots.rounds([found(2, 900), other], "smokes").figure.axes[0]
    assert list(axes.lines[0].get_xdata()) == [1, 2]
    assert list(axes.lines[0].get_ydata()) == pytest.approx([45, 25], abs=3)
    assert axes.get_xlabel() == "results, in the order given"
    assert len(plots.rounds([other], "smokes").figure.axes[0].lines[0].get_xdata()) == 1
