"""What people read in a survey: it is checked, hides nothing, and decides no noise."""

from __future__ import annotations

import json
import sys
import unicodedata
from datetime import date
from pathlib import Path

import pytest

from krand.errors import InvalidInput
from krand.survey.about import About
from krand.survey.document import document_of, survey_of
from krand.survey.layout import layout_of
from krand.survey.questions import Number, YesNo
from krand.survey.reading import SurveyErrors, parse_survey, survey_from_document
from krand.survey.rules import item_rules, text_rules, visible

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


OF_A_QUESTION = ("help", "required", "unit")
TIMES = ("2026-12-24T20:00:00", "2026-12-24 20:00:00+01:00")
NO_DAYS = ('"2026-02-30"', '"24.12.2026"', '"20261224"', '"2026-W52-4"', "20261224", "true")
NO_TAGS = ('"german"', '""', '"de_DE"', '"d"', '"de-"', '"de-ä"')
NO_LINES = {
    '"a\\nb"': "must not contain control characters, line breaks",
    '"a\\u202eb"': "must not contain control characters, line breaks",
    '" a"': "must not begin or end with a space",
    json.dumps("a" * 201): "must be text of at most 200 characters",
    "1": "must be text between quotes",
}
NO_TEXTS = {
    '"a\\u202eb"': "must not contain control characters, or others that hide",
    json.dumps("a" * 10_001): "must be text of at most 10,000 characters",
    "true": "must be text between quotes",
}
REFUSED = [
    *(("closes", v, "must be a day without a time", "write closes = 2026-12-24") for v in TIMES),
    *(
        ("closes", v, "must be a day, YYYY-MM-DD", "for example closes = 2026-12-24")
        for v in NO_DAYS
    ),
    *(("language", v, "must be a language tag", 'language = "de"') for v in NO_TAGS),
    ("language", "1", "must be text between quotes", 'language = "de"'),
    *(
        (k, v, "must be true or false", "")
        for k in ("invitations", "required")
        for v in ("1", '"yes"')
    ),
    *((k, v, NO_LINES[v], "") for k in ("title", "organiser", "contact", "unit") for v in NO_LINES),
    *((k, v, NO_TEXTS[v], "") for k in ("introduction", "thanks", "help") for v in NO_TEXTS),
]


@pytest.mark.parametrize(("key", "value", "rule", "hint"), REFUSED)
def test_what_is_not_meant_is_refused_at_its_key(
    key: str, value: str, rule: str, hint: str
) -> None:
    """Days have no time and one form; nothing hides in a text; 1 is not true; a tag is a tag.

    Python would read some of the days; other languages would not. Browsers need the tag.
    """
    text = f"{key} = {value}\n"
    with pytest.raises(SurveyErrors) as caught:
        parse_survey('id = "s"\n' + (REST + text if key in OF_A_QUESTION else text + REST))
    (problem,) = caught.value.problems
    assert problem.path.removeprefix("question[0].") == key
    assert problem.rule.startswith(rule)
    assert hint in problem.hint


SEEN = {
    *range(0x0600, 0x0606),  # signs that embrace the numbers behind them
    *(0x06DD, 0x070F, 0x0890, 0x0891, 0x08E2, 0x110BD, 0x110CD),
    *range(0x13430, 0x13440),  # how hieroglyphs are grouped
}
"""Format characters of scripts that people see, or whose effect they see."""
JOINERS = {0x200C, 0x200D}


def survey_with(label: str, text: str = "") -> str:
    return f"""id = "pets"
[policy]
epsilon = 1.0
delta = 1e-3
minimum_crowd = 1000
[[question]]
name = "pet"
type = "choice"
text = {json.dumps(text)}
choices = [
    "cat",
    {json.dumps(label)},
]
"""


def broken(label: str) -> bool:
    return any(True for _ in item_rules(["cat", label]))


def test_every_character_without_a_shape_is_refused() -> None:
    """Categories Cc, Cf, Cs, Zl, Zp, save those that scripts need."""
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp"):
            refused = broken(f"a{character}b")
            assert refused == (code not in SEEN), f"U+{code:04X}"
            if code not in JOINERS | SEEN | {0x09, 0x0A}:
                assert any(True for _ in text_rules(f"a{character}b")), f"U+{code:04X}"
                assert character not in visible(f"a{character}b")


UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2065\U000e0100"


@pytest.mark.parametrize(
    "label", [*(f"a{each}b" for each in UNSEEN), "ca\u200dt", "\u200ccat", "é\u200d\u200dx"]
)
def test_what_nobody_sees_and_joiners_that_join_nothing_are_refused(label: str) -> None:
    assert broken(label)


@pytest.mark.parametrize("label", ["می‌خواهم", "👩‍🔬", "क्‍ष", "❤️", "naïve café", "東京", "٣؀"])
def test_joiners_and_marks_that_scripts_need_are_allowed(label: str) -> None:
    assert not broken(label)
    assert visible(label) == label


def test_the_error_names_line_character_and_remedy() -> None:
    with pytest.raises(SurveyErrors) as caught:
        parse_survey(survey_with("dog\u202egod", "Which\u2066pet?"))
    said = str(caught.value)
    assert "line 9, question[0].text: must not contain" in said
    assert "remove U+2066, left-to-right isolate" in said
    assert "line 12, question[0].choices[1]: must not contain" in said
    assert "remove U+202E, right-to-left override" in said
    assert "\u202e" not in said
    assert "\u2066" not in said


def test_lists_in_files_are_checked_too(tmp_path: Path) -> None:
    (tmp_path / "pets.txt").write_text("cat\ndog\u200b\n", encoding="utf-8")
    text = survey_with("x")
    start = text.index("choices = [")
    with pytest.raises(SurveyErrors, match=r"line 2 of pets\.txt.*\n.*remove U\+200B"):
        parse_survey(text[:start] + 'choices_file = "pets.txt"\n', tmp_path)


def test_wording_may_have_lines() -> None:
    assert YesNo(name="a", text="one\n\ttwo").text == "one\n\ttwo"
    with pytest.raises(InvalidInput, match=r"remove U\+001B, a control character"):
        YesNo(name="a", text="one\x1b[2J")
