"""What people read about a survey: it is checked, stands in the plan, and decides no noise."""

from __future__ import annotations

import json
from datetime import date, datetime

import pytest

from krand.errors import InvalidInput
from krand.survey.about import About
from krand.survey.document import document_of, survey_of
from krand.survey.layout import layout_of
from krand.survey.questions import Number, YesNo
from krand.survey.reading import SurveyErrors, parse_survey, survey_from_document
from krand.survey.survey import Survey
from survey.drawing import POLICY

REST = """
[policy]
epsilon = 1
delta = 1e-6
minimum_crowd = 1000

[[question]]
name = "hours"
type = "number"
edges = [0, 10, 20]
"""
ABOUT = """
id = "s"
title = "Müde? 😴"
organiser = "Institute of Sleep"
contact = "sleep@example.org"
introduction = "First line.\\nSecond line."
thanks = "Thank you."
language = "de-AT"
closes = 2026-12-24
invitations = true
"""
QUESTION = 'help = "On a usual day.\\nRounded."\nrequired = true\nunit = "hours"\n'
FULL = ABOUT + REST + QUESTION


def refused(key: str, value: str, below: str = "") -> tuple[str, str, str]:
    """Path, rule and hint of the only complaint about a key above the tables, or below them."""
    text = f'id = "s"\n{"" if below else f"{key} = {value}"}\n{REST}'
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(text + (f"{key} = {value}\n" if below else ""))
    (problem,) = caught.value.problems
    return problem.path, problem.rule, problem.hint


def test_every_key_has_its_place() -> None:
    """The file's keys become one value beside the questions, and two keys of a question."""
    survey = parse_survey(FULL)
    assert survey.about == About(
        title="Müde? 😴",
        organiser="Institute of Sleep",
        contact="sleep@example.org",
        introduction="First line.\nSecond line.",
        thanks="Thank you.",
        language="de-AT",
        closes=date(2026, 12, 24),
    )
    assert survey.invitations is True
    (hours,) = survey.questions
    assert isinstance(hours, Number)
    assert (hours.help, hours.required, hours.unit) == ("On a usual day.\nRounded.", True, "hours")
    assert survey.title == "Müde? 😴"


def test_what_is_left_out() -> None:
    """A survey without any of it: English, open to all, without end; its id is its title."""
    survey = parse_survey('id = "s"' + REST)
    assert (survey.about, survey.invitations, survey.title) == (About(), False, "s")
    document = document_of(survey)
    assert (document["language"], document["invitations"]) == ("en", False)
    texts = {"title", "organiser", "contact", "introduction", "thanks", "closes"}
    assert not texts & set(document)
    (question,) = document["question"]
    assert question["required"] is False
    assert not {"help", "unit"} & set(question)


def test_a_plan_carries_it_under_the_same_keys() -> None:
    """As plain data, the day as text; both readers make the same survey of it."""
    survey = parse_survey(FULL)
    document = json.loads(json.dumps(document_of(survey)))
    assert document["title"] == "Müde? 😴"
    assert document["closes"] == "2026-12-24"
    assert document["invitations"] is True
    (question,) = document["question"]
    assert question["help"] == "On a usual day.\nRounded."
    assert (question["required"], question["unit"]) == (True, "hours")
    assert survey_of(document) == survey_from_document(document) == survey


def test_it_decides_no_position() -> None:
    """The layout, from which noise is computed, is the same with it and without it."""
    plain, full = parse_survey('id = "s"' + REST), parse_survey(FULL)
    sizes = [
        (block.positions, block.sensitivity, block.weight)
        for survey in (plain, full)
        for block in layout_of(survey).blocks
    ]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("value", ["2026-12-24", '"2026-12-24"'])
def test_a_day_is_a_date_or_text(value: str) -> None:
    """TOML has dates; JSON has not."""
    survey = parse_survey(f'id = "s"\ncloses = {value}\n{REST}')
    assert survey.about.closes == date(2026, 12, 24)


@pytest.mark.parametrize("value", ["2026-12-24T20:00:00", "2026-12-24 20:00:00+01:00"])
def test_a_time_is_no_day(value: str) -> None:
    """The message says which day to write."""
    path, rule, hint = refused("closes", value)
    assert (path, rule) == ("closes", "must be a day without a time")
    assert "write closes = 2026-12-24" in hint


@pytest.mark.parametrize(
    "value", ['"2026-02-30"', '"24.12.2026"', '"20261224"', '"2026-W52-4"', "20261224", "true"]
)
def test_other_days_are_refused(value: str) -> None:
    """Python would read some of them; other languages would not."""
    path, rule, hint = refused("closes", value)
    assert (path, rule) == ("closes", "must be a day, YYYY-MM-DD")
    assert hint == "for example closes = 2026-12-24"


@pytest.mark.parametrize("key", ["title", "organiser", "contact"])
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ('"a\\nb"', "must not contain control characters, line breaks"),
        ('"a\\u202eb"', "must not contain control characters, line breaks"),
        ('" a"', "must not begin or end with a space"),
        (json.dumps("a" * 201), "must be text of at most 200 characters"),
        ("1", "must be text between quotes"),
    ],
)
def test_lines_are_one_visible_line(key: str, value: str, rule: str) -> None:
    """As strict as choices: nothing hides, nothing is reordered."""
    path, found, _ = refused(key, value)
    assert path == key
    assert found.startswith(rule)
    assert refused("unit", value, "question")[1] == found


@pytest.mark.parametrize("key", ["introduction", "thanks", "help"])
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        ('"a\\u202eb"', "must not contain control characters, or others that hide"),
        (json.dumps("a" * 10_001), "must be text of at most 10,000 characters"),
        ("true", "must be text between quotes"),
    ],
)
def test_texts_show_all_that_they_contain(key: str, value: str, rule: str) -> None:
    """As strict as the wording of questions."""
    path, found, _ = refused(key, value, "question" if key == "help" else "")
    assert path.endswith(key)
    assert found.startswith(rule)


@pytest.mark.parametrize("value", ['"german"', '""', '"de_DE"', '"d"', '"de-"', '"de-ä"', "1"])
def test_languages_are_tags(value: str) -> None:
    """Browsers choose a voice and hyphens by the tag."""
    path, rule, hint = refused("language", value)
    assert path == "language"
    assert "language tag" in rule or rule == "must be text between quotes"
    assert 'language = "de"' in hint


@pytest.mark.parametrize("value", ["1", '"yes"'])
def test_flags_are_true_or_false(value: str) -> None:
    """1 is not true."""
    assert refused("invitations", value)[1] == "must be true or false"
    assert refused("required", value, "question")[1] == "must be true or false"


def test_values_keep_the_same_rules() -> None:
    """Neither can it be built in Python, nor read from a plan."""
    question = YesNo(name="a")
    for make, field in (
        (lambda: About(title="a\nb"), "title"),
        (lambda: About(thanks="\u202e"), "thanks"),
        (lambda: About(language="german"), "language"),
        (lambda: About(closes=datetime(2026, 12, 24)), "closes"),
        (lambda: About(closes="2026-12-24"), "closes"),  # type: ignore[arg-type]
        (lambda: YesNo(name="a", help="\u202e"), "a.help"),
        (lambda: YesNo(name="a", required=1), "a.required"),  # type: ignore[arg-type]
        (lambda: Number(name="n", edges=(0, 1), unit="a\nb"), "n.unit"),
        (
            lambda: Survey(id="s", policy=POLICY, questions=(question,), invitations=1),  # type: ignore[arg-type]
            "invitations",
        ),
        (lambda: survey_of(document_of(parse_survey(FULL)) | {"closes": "soon"}), "closes"),
    ):
        with pytest.raises(InvalidInput) as caught:
            make()
        assert caught.value.field == field
