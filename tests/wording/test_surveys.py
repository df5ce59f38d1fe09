"""A survey is shown by its title, with who asks until when, wherever it is shown."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from html import unescape
from pathlib import Path

import pytest

from command_line import done
from krand.collector import serving
from krand.collector.opening import open_spool
from krand.notebook import html_of
from krand.planning.making import make_plan
from krand.report import report_page
from krand.survey.about import About
from krand.survey.plan import Plan
from krand.survey.schedule import Schedule
from krand.survey.survey import Survey
from krand.testing import SMALL_SURVEY, small_plan
from krand.wire.keys import generate_private_key
from krand.wording.surveys import about_rows, about_sentence, survey_name
from report.examples import bit_example
from survey.drawing import translated

TITLE = "Pets & [bold]smoke[/bold] <b>2026</b>"
ABOUT = About(
    title=TITLE,
    organiser="City <i>council</i>",
    contact="pets@example.org",
    language="pt-BR",
    closes=date(2126, 12, 4),
)
WHO = "Organiser: City <i>council</i> · Contact: pets@example.org"
LAST = "Last day for answers: 2126-12-04"


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(replace(small_plan().survey, about=ABOUT))


def told(survey: Survey) -> tuple[str, str]:
    return survey_name(survey), about_sentence(survey)


def test_a_survey_without_texts_is_its_id() -> None:
    """Nothing is said about nobody."""
    assert told(small_plan().survey) == ("pets", "")
    assert about_rows(small_plan().survey) == ()


def test_a_survey_with_texts_is_title_and_id(plan: Plan) -> None:
    """What is left out leaves no gap."""
    assert told(plan.survey) == (f"{TITLE} (pets)", f"{WHO} · {LAST}")
    only = replace(plan.survey, about=About(contact="x@example.org"))
    assert told(only) == ("pets", "Contact: x@example.org")
    assert told(translated(only, "fr", "ar"))[1] == "Contact: x@example.org · Languages: en, ar, fr"


def test_the_last_day_of_a_round_is_that_of_its_window() -> None:
    schedule = Schedule(every="week", starts=date(2027, 3, 15), time_zone="Europe/Berlin")
    survey = replace(small_plan().survey, rounds=3, schedule=schedule)
    ((_, last),) = about_rows(survey)
    ((_, first),) = about_rows(survey, round_number=1)
    assert (first, last) == ("2027-03-21", "2027-04-04")


def test_krand_plan_says_who_asks(tmp_path: Path) -> None:
    """Above the table, as it is: brackets are no markup. Without texts there is no such line."""
    lines = 'title = "Pets [b]"\norganiser = "City council"\ncloses = 2126-12-04\n'
    for name, text in (("plain", SMALL_SURVEY), ("titled", lines + SMALL_SURVEY)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    first, second, *_ = done("plan titled", at=tmp_path).stdout.splitlines()
    assert first == f"Organiser: City council · {LAST}"
    assert second.strip() == "Pets [b] (pets): expected precision"
    assert done("plan plain", at=tmp_path).stdout.startswith("pets: expected precision")


@pytest.fixture
def place(plan: Plan, tmp_path: Path) -> Path:
    """The plan with a key, and its spool."""
    sealed = plan.sealed_for(generate_private_key().public_key())
    sealed.save(tmp_path / "plan.json")
    open_spool(sealed, tmp_path / "spool").close()
    return tmp_path


def test_krand_status_shows_the_title(place: Path) -> None:
    """Brackets are no markup of the terminal."""
    text = done("status --plan plan.json --spool spool", at=place).stdout
    assert f"{TITLE} (pets), round 1" in " ".join(text.split())


def test_krand_serve_says_what_it_collects(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In its first line."""
    monkeypatch.setattr(serving, "serve", lambda _, listener, **__: listener.close())
    said = done("serve --plan plan.json --spool spool --port 0", at=place).stderr
    assert said.startswith(f"Collecting {TITLE} (pets), round 1, for at least 100 people\n")


def test_notebooks_show_the_title(plan: Plan) -> None:
    """Escaped; the survey also says who asks."""
    assert f"Plan of {TITLE} (pets)" in unescape(html_of(plan))
    shown = html_of(plan.survey)
    assert "<b>2026" not in shown
    assert "<i>" not in shown
    assert f"Survey {TITLE} (pets)" in unescape(shown)
    assert f"{WHO} · {LAST}; " in unescape(shown)


def test_a_report_has_the_title_as_its_heading() -> None:
    """With who asks until when; the id is in the annex; all is escaped and in its language."""
    results = bit_example().results
    survey = replace(results.plan.survey, about=ABOUT)
    page = report_page(replace(results, plan=replace(results.plan, survey=survey)))
    (heading,) = re.findall(r"<h1 dir=\"auto\" lang=\"pt-BR\">(.*?)</h1>", page)
    assert unescape(heading) == TITLE
    assert "<b>" not in heading
    (below,) = re.findall(r'<dl class="about">(.*?)</dl>', page, re.DOTALL)
    rows = re.findall(r'<dt>(.*?)</dt><dd dir="auto">(.*?)</dd>', below)
    assert [(name, unescape(text)) for name, text in rows] == [
        ("Organiser", ABOUT.organiser),
        ("Contact", ABOUT.contact),
        ("Last day for answers", "4 December 2126"),
    ]
    assert f'<dd class="hash">{survey.id}</dd>' in page.partition('id="annex"')[2]
    (title,) = re.findall("<title>(.*?)</title>", page)
    assert unescape(title).startswith(f"{TITLE}: answers of ")


def test_a_report_without_texts_has_the_id_alone() -> None:
    """As its heading, and nothing below it."""
    results = bit_example().results
    page = report_page(results)
    assert f'<h1 dir="auto">{results.plan.survey.id}</h1>' in page
    assert '<dl class="about">' not in page
