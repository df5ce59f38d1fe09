"""A report in another language of the survey: the same numbers, beside its words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from krand import make_plan, make_results, randomize_table, tally_responses
from krand.analysis.results import Results
from krand.errors import InvalidInput
from krand.promise import Policy
from krand.report import report_page
from krand.report.labels import labels_of, spoken_survey
from krand.report.languages import language_of
from krand.report.questions import asked_in
from krand.survey.about import About
from krand.survey.choices import Choices
from krand.survey.conditions import Condition
from krand.survey.questions import Choice, Matrix, Number, PickAny, Scale, YesNo
from krand.survey.survey import Survey, Together
from krand.survey.translations import texts_of
from krand.testing import simulated_table
from survey.drawing import translated

PETS = Choices(["cat", "dog", "none at all"])
WORK = Matrix(name="work", text="How is work?")
SURVEY = Survey(
    id="pets",
    about=About(title="Pets in town", organiser="Council"),
    policy=Policy(epsilon=40.0, delta=1e-3, minimum_crowd=300),
    questions=(
        YesNo(name="smokes", text="Do you smoke?"),
        Choice(name="pet", text="Which pet?", choices=PETS),
        PickAny(name="other", text="Which others?", choices=PETS, asked_if=Condition("pet", "dog")),
        Scale(name="pay", text="Pay", lowest=1, highest=3, labels=("bad", "good"), matrix=WORK),
        Scale(name="boss", text="Boss", lowest=1, highest=3, labels=("bad", "good"), matrix=WORK),
        Number(name="way", text="How far?", edges=(0, 5), open_above=True, unit="km"),
    ),
    together=(Together(("smokes", "pet")),),
)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Of a survey in three languages, in which choices exchange their names."""
    plan = make_plan(translated(SURVEY, "de", "pl"))
    responses = tmp_path_factory.mktemp("translated") / "responses.parquet"
    randomize_table(plan, simulated_table(plan.survey, 300, seed=5), responses)
    return make_results(plan, tally_responses(plan, [responses]))


@pytest.mark.parametrize(("language", "interface"), [("de", "de"), ("pl", "en"), ("DE-at", "de")])
def test_a_page_has_every_text_of_the_survey_in_its_language(
    results: Results, language: str, interface: str
) -> None:
    """What krand says is German or, where it lacks the language, English."""
    page = report_page(results, language=language)
    assert f'<html lang="{interface}">' in page
    tag = language.split("-")[0].lower()
    texts = texts_of(*_of(results.plan.survey.in_language(tag)))
    assert all(text in page for text in texts.values())
    own = texts_of(*_of(results.plan.survey))
    for place, text in own.items():
        if len(place) < 4:
            assert page.count(text) == page.count(texts[place]), text
    assert results.plan.hash in page


def _of(survey: Survey) -> tuple[About, tuple]:  # type: ignore[type-arg]
    return survey.about, survey.questions


def test_numbers_stay_with_their_answers(results: Results) -> None:
    """Whatever they are called; also the answer that a condition names."""
    counted, words = results.plan.survey, language_of("de")
    shown = replace(results, plan=results.plan.in_language("de"))
    labels = labels_of(shown.plan.survey, words, counted)
    own = asked_in(results, labels_of(counted, words), words)
    german = asked_in(shown, labels, words)
    for ours, theirs in zip(own, german, strict=True):
        assert [row.size for row in ours.rows] == [row.size for row in theirs.rows]
    assert [row.label for row in own[1].rows] == ["cat", "dog", "none at all", "keine Antwort"]
    assert [row.label for row in german[1].rows] == ["dog", "none at all", "cat", "keine Antwort"]
    assert "none at all" in german[2].condition[0]
    assert "dog" in own[2].condition[0]
    assert [row.label for row in german[3].rows] == ["1 (good)", "2", "3 (bad)", "keine Antwort"]
    assert german[3].matrix == "de: How is work?"


def test_without_a_language_the_page_is_in_the_surveys_own(results: Results) -> None:
    page = report_page(results)
    assert "Which pet?" in page
    assert "de: How" not in page
    polish, survey = spoken_survey(results.plan.survey, "pl")
    assert (polish.code, survey.about.language) == ("en", "pl")
    for unknown in ("fr", "xx"):
        with pytest.raises(InvalidInput, match=f"must be one of: de, en, pl, found '{unknown}'"):
            report_page(results, language=unknown)
