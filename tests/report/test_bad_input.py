"""Odd surveys and results: refused by their rule, or a report that can be read."""

from __future__ import annotations

import re
from html import unescape

import pytest

from krand import CrowdTooSmall
from krand.report import report_page
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey
from report.examples import ODD, odd_results

SURVEY = {
    "id": "odd",
    "policy": {"epsilon": 1, "delta": 0.01, "minimum_crowd": 4},
    "question": [{"name": "one", "type": "choice", "choices": ["this", "that"]}],
}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": "t" * 300}, "title: must be text of at most 200 characters"),
        (
            {"question": [{"name": "one", "type": "choice", "choices": ["this"]}]},
            "must hold 2 to 1,000,000 choices, found '1 choice'\n    one choice is a yes_no",
        ),
        ({"question": []}, "question"),
    ],
    ids=["a title of 300 characters", "one option", "no question"],
)
def test_what_cannot_be_asked_is_refused_by_its_rule(changes: dict[str, object], said: str) -> None:
    assert Survey.from_values(SURVEY).questions
    with pytest.raises(SurveyErrors, match=re.escape(said)):
        Survey.from_values({**SURVEY, **changes})


def test_nobody_has_no_results() -> None:
    with pytest.raises(CrowdTooSmall, match="found 0"):
        odd_results(0)


@pytest.mark.parametrize(("people", "refused"), [(4, 0), (40, 240)], ids=["few", "all refused"])
def test_a_report_of_anything_can_be_read(people: int, refused: int) -> None:
    """Each question by its text or its name; nothing that is only noise is called a result."""
    page = unescape(report_page(odd_results(people, refused)))
    for question in ODD.questions:
        assert (question.text or question.name) in page
    glance = page[page.index('id="glance"') : page.index('id="results"')]
    assert glance.count("too uncertain to read") == len(ODD.questions)
    assert "Q" * 60 in glance  # cut, but not to nothing
    assert not re.search(r"\b(nan|inf|None)\b|-0 %", re.sub(r"<[^>]*>", " ", page))
    assert ("240 messages were refused" in page.replace("\xa0", " ")) == bool(refused)
