"""A survey in several languages: every text is there, and no position depends on the language."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand.survey.choices import Choices
from krand.survey.document import document_of, survey_of, survey_text
from krand.survey.encoding import encode
from krand.survey.layout import layout_of
from krand.survey.questions import Choice, YesNo
from krand.survey.reading import parse_survey
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey
from krand.survey.translations import Translation, texts_of
from survey.drawing import answers, asking, conditional_surveys, reworded, translated
from tables.rows import encode_lists

SURVEY = """\
id = "work"
title = "Work"
organiser = "Institute"
introduction = "One.\\nTwo."
[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = 1000
[[question]]
name = "smokes"
type = "yes_no"
text = "Do you smoke?"
[[question]]
name = "brand"
type = "choice"
choices = ["Camel", "Gauloises", "another \\"brand\\""]
asked_if = { question = "smokes", is = "yes" }
[[question]]
name = "why"
type = "yes_no"
asked_if = { question = "brand", is = "another \\"brand\\"" }
[[question]]
name = "job"
type = "scale"
lowest = 1
highest = 5
labels = ["bad", "good"]
text = "How is your job?"
help = "Take your time."
statements = [{ name = "pay", text = "Pay" }, { name = "people", text = "Colleagues" }]
[[question]]
name = "way"
type = "number"
edges = [0, 10]
open = "above"
unit = "km a day"
"""
FRENCH = """\
[translations.fr]
title = "Travail"
introduction = "Un.\\nDeux."
[translations.fr.question.smokes]
text = "Fumez-vous ?"
[translations.fr.question.brand]
choices = { Camel = "Camel", Gauloises = "Gauloises", "another \\"brand\\"" = "une autre" }
[translations.fr.question.job]
text = "Comment est votre travail ?"
help = "Prenez votre temps."
labels = { bad = "mauvais", good = "bon" }
[translations.fr.question.pay]
text = "Salaire"
[translations.fr.question.people]
text = "Collègues"
[translations.fr.question.way]
unit = "km par jour"
"""
CHOICES = next(line for line in FRENCH.splitlines() if line.startswith("choices"))


def test_every_text_is_found_in_its_language() -> None:
    """Also the answers that conditions name; the organiser's name stays."""
    survey = parse_survey(SURVEY + FRENCH)
    assert survey.languages == ("en", "fr")
    french = survey.in_language("fr")
    assert (french.title, french.about.organiser, french.about.language) == (
        "Travail",
        "Institute",
        "fr",
    )
    own, other = (texts_of(each.about, each.questions) for each in (survey, french))
    unchanged = {text for text in own.values() if text in other.values()}
    assert len(own) == len(other)
    assert unchanged == {"Institute", "Camel", "Gauloises"}
    why = french.questions[2].asked_if
    assert why is not None
    assert why.answers == ("une autre",)
    assert survey.in_language("en") == replace(survey, translations=())
    with pytest.raises(InvalidInput, match="must be a language of the survey: en, fr"):
        survey.in_language("de")


def test_a_translated_survey_is_read_back_from_plan_and_file() -> None:
    """And a dictionary gives the same as a file."""
    survey = parse_survey(SURVEY + FRENCH)
    assert survey_of(document_of(survey)) == survey
    assert parse_survey(survey_text(survey)) == survey
    assert Survey.from_values(document_of(survey)) == survey
    assert hash(survey) == hash(survey_of(document_of(survey)))


@given(st.data())
def test_positions_never_depend_on_the_language(data: st.DataObject) -> None:
    """The same answers in three languages, in which choices exchange their names."""
    survey = translated(data.draw(conditional_surveys()), "fr", "ja")
    person = data.draw(answers(survey))
    for language in ("fr", "ja"):
        other = survey.in_language(language)
        said = reworded(survey, language, person)
        assert encode(layout_of(other), said) == encode(layout_of(survey), person)
        table = encode_lists(layout_of(other), {name: [each] for name, each in said.items()})
        assert tuple(table.positions) == encode(layout_of(survey), person)
        assert [q.text for q in other.questions] == [
            q.text and f"{language}: {q.text}" for q in survey.questions
        ]
    assert survey_of(document_of(survey)) == parse_survey(survey_text(survey)) == survey


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('title = "Travail"\n', "", ["fr.title: must be given", "translate 'Work'"]),
        ("title", "titel", ["fr.title: must be given", "fr.titel: is not a text", "mean 'title'"]),
        ('title = "Travail"', 'title = ""', ["fr.title: must not be empty"]),
        ("title =", 'thanks = "x"\ntitle =', ["fr.thanks: is not a text that the survey has"]),
        ("another", "other", ["is not a choice of the survey", "must translate 'another"]),
        (CHOICES, "", ["brand.choices: must translate 'Camel', 'Gauloises', 'another", "same"]),
        (CHOICES, 'choices = "other"', ["brand.choices: must be a table of keys and texts"]),
        ("une autre", "Camel", ["must be different from the text for 'Camel'", "reword"]),
        ("une autre", "une\u200eautre", ["left-to-right mark"]),
        ("une autre", "une\\nautre", ["line breaks"]),
        ("une autre", " une autre", ["must not begin or end with a space"]),
        ("km par jour", "k" * 201, ["at most 200 characters"]),
        ("Salaire", "\u202eSalaire", ["right-to-left override"]),
        ("question.pay", "question.pai", ["pai: is not a question", "'pay'", "pay.text: must be"]),
        ('bad = "mauvais"', "bad = 1", ["job.labels.bad: must be text"]),
        ('bad = "mauvais", ', "", ["job.labels: must translate 'bad'"]),
        ("translations.fr", "translations.french", ["french: must be a language tag", "pt-BR"]),
        ("translations.fr", "translations.EN", ["EN: must be another language than the others"]),
        ("text = ", "texts = ", ["smokes.text: must be given", "smokes.texts: is not", "'text'"]),
        (CHOICES, "choices.Camel.Gauloises.a.b.c = 1", ["choices.Camel: must be text"]),
        (
            "[translations.fr]",
            "[translations.fr.question.no]\n[translations.fr]",
            ["no: is not a q"],
        ),
        ("[translations.fr]", "[translations.it]\n[translations.fr]", ["it.title: must be given"]),
    ],
)
def test_mistakes_of_a_translation_are_all_named(old: str, new: str, said: list[str]) -> None:
    """With their place and what to do about them."""
    assert old in FRENCH
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(SURVEY + re.sub(re.escape(old), lambda _: new, FRENCH))
    told = str(caught.value)
    for part in said:
        assert part in told
    assert all(
        problem.line and problem.line > SURVEY.count("\n") for problem in caught.value.problems
    )


def test_everything_that_is_missing_is_named_at_once() -> None:
    """Choices and labels in one line each."""
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(SURVEY + '[translations.de]\ntitle = "Arbeit"\n')
    places = [problem.path.removeprefix("translations.de.") for problem in caught.value.problems]
    assert places == [
        "introduction",
        "question.smokes.text",
        "question.brand.choices",
        "question.pay.text",
        "question.job.text",
        "question.job.help",
        "question.job.labels",
        "question.people.text",
        "question.way.unit",
    ]


def test_a_translation_of_another_list_is_refused_in_a_few_lines() -> None:
    """However long it is."""
    wrong = {"question": {"q": {"text": "?", "choices": {str(n): f"{n}!" for n in range(20_000)}}}}
    asked = [{"name": "q", "type": "choice", "text": "?", "choices": ["a", "b"]}]
    survey = document_of(asking(YesNo(name="x"))) | {"question": asked}
    with pytest.raises(SurveyErrors) as caught:
        Survey.from_values(survey | {"translations": {"fr": wrong}})
    assert len(caught.value.problems) == 6


def test_numbers_as_keys_are_texts() -> None:
    """As in a file; and later changes of a dictionary change no survey."""
    choices: dict[Any, str] = {1: "un", 2: "deux"}
    survey = replace(
        asking(Choice(name="q", choices=Choices(["1", "2"]))),
        translations=(Translation("fr", {"question": {"q": {"choices": choices}}}),),
    )
    choices.clear()
    assert survey.in_language("fr").questions[0].position_name(1) == "deux"


def test_names_that_are_the_same_need_no_translation() -> None:
    survey = parse_survey(SURVEY + FRENCH.replace(CHOICES, 'choices = "same"'))
    assert survey.in_language("fr").questions[1] == survey.questions[1]


@pytest.mark.parametrize(
    ("translations", "said"),
    [
        ([Translation("fr", {}), Translation("FR", {})], "must be another language"),
        ([Translation("fr", {"question": "x"})], "must be a table of keys and texts"),
        ([Translation("fr", {"title": "x"})], "is not a text that the survey has"),
    ],
)
def test_python_refuses_what_a_file_may_not_say(translations: Any, said: str) -> None:
    plain = asking(YesNo(name="q"))
    assert replace(plain, translations=(Translation("fr", {}),)).languages == ("en", "fr")
    asked = plain if len(translations) > 1 else asking(YesNo(name="q", text="Q?"))
    with pytest.raises(InvalidInput, match=said):
        replace(asked, translations=translations)


def test_a_matrix_with_the_name_of_a_question_cannot_be_translated() -> None:
    """Nobody could tell whose text is meant."""
    twice = SURVEY.replace('name = "pay"', 'name = "job"')
    assert parse_survey(twice).questions[3].name == "job"
    with pytest.raises(SurveyErrors, match="name of a matrix and of a question"):
        parse_survey(twice + FRENCH)
    with pytest.raises(SurveyErrors, match="must be a table of languages"):
        parse_survey('translations = "fr"\n' + SURVEY)
