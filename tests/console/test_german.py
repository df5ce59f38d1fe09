"""The console in German: the language is chosen, and nothing English is left on a page."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs.pages import ROOT, script
from krand.languages.catalogs import room_of, serves
from krand.languages.speaking import speaking
from krand.web.app import ROOMS
from krand.web.worker import TASKS
from web.conftest import BASE

if TYPE_CHECKING:
    from starlette.testclient import TestClient

GERMAN = {"Accept-Language": "de-AT,de;q=0.9,en;q=0.5"}
SURVEY = """
id = "habits"
title = "Gewohnheiten"
expected = {people}
language = "de"
[policy]
epsilon = 1.0
delta = 1e-6
{crowd}
{trust}
[[question]]
name = "rauchen"
type = "yes_no"
text = "Rauchen Sie?"
[[question]]
name = "ort"
type = "choice"
text = "Wo?"
choices = ["Nord", "Ost", "West"]
[[together]]
questions = ["rauchen", "ort"]
"""
MIXERS = SURVEY.format(people=400, crowd="", trust='[trust]\nnoise = "mixers"\nmixers = {}')
DEVICES = SURVEY.format(people=20_000, crowd="minimum_crowd = 20000", trust="")


@pytest.fixture(scope="module")
def english() -> list[re.Pattern[str]]:
    """The sentences and phrases that pages may show, with anything where values are filled in."""
    texts = script("developing/update_catalogs.py").english_texts()
    forms = [
        (name, form)
        for name, text in texts.items()
        if room_of(name) in ROOMS
        for form in ([text] if isinstance(text, str) else text.values())
    ]
    found = {re.sub(r"%\(\w+\)s|\{\w+\}", "\0", form).replace("%%", "%") for _, form in forms}
    long = (text for text in found if len(re.findall(r"[A-Za-z]{2,}", text)) > 2)
    return [re.compile(re.escape(text).replace("\0", ".{1,80}?")) for text in long]


def shown(html: str) -> str:
    """What people read and hear, without what files and commands say."""
    html = re.sub(r"<(code|textarea|style|script)\b.*?</\1>", "", html, flags=re.DOTALL)
    html = re.sub(r' data-row="[^"]*"', "", html)  # for tests alone
    return " ".join(unescape(html).replace("’", "'").split())


def left(html: str, english: list[re.Pattern[str]]) -> list[str]:
    page = shown(html)
    return [text.pattern for text in english if text.search(page)]


def test_the_language_is_the_browsers_until_another_is_chosen(console: TestClient) -> None:
    """A cookie keeps the choice, and nothing else; English where the pages lack a language."""
    assert serves("de", *ROOMS)
    assert '<html lang="en">' in console.get("/", headers={"Accept-Language": "fr"}).text
    page = console.get("/", headers=GERMAN)
    assert '<html lang="de">' in page.text
    assert "Es gibt noch keine Umfragen" in page.text
    assert '<a href="?language=en" lang="en" hreflang="en">English</a>' in page.text
    chosen = console.get("/?language=en", headers=GERMAN, follow_redirects=False)
    assert (chosen.status_code, chosen.headers["location"]) == (303, "/")
    assert chosen.headers["set-cookie"].lower().endswith("samesite=strict")
    assert chosen.headers["set-cookie"].startswith("language=en;")
    assert '<html lang="en">' in console.get("/", headers=GERMAN).text
    for unknown in ("fr", "xx", "//evil.example"):
        assert "set-cookie" not in console.get(f"/?language={unknown}", headers=GERMAN).headers
    elsewhere = console.get(f"{BASE}//evil.example/?language=de", follow_redirects=False)
    assert elsewhere.headers["location"] == "/evil.example/"


def test_no_page_has_a_sentence_in_english(
    console: TestClient, tmp_path: Path, english: list[re.Pattern[str]]
) -> None:
    """Every page of a draft, what is refused, and what is not there."""
    console.post("/", data={"title": "Gewohnheiten"}, headers=GERMAN)
    steps = ("questions", "promise", "partners", "publish", "watch", "results", "mail")
    paths = ["/", "/nobody", *(f"/surveys/gewohnheiten/{step}" for step in steps)]
    for path in paths:
        page = console.get(path, headers=GERMAN)
        assert left(page.text, english) == [], path
        assert '<html lang="de">' in page.text, path
    refused = console.post(f"{paths[2]}", data={"base": "0"}, headers=GERMAN)
    assert "anderswo geändert" in refused.text or "Jemand anderes" in refused.text
    partners = console.post(
        "/surveys/gewohnheiten/partners", data={"addresses": "x"}, headers=GERMAN
    )
    assert partners.status_code == 422
    assert left(partners.text, english) == []
    console.cookies.clear()
    assert "brauchen ihr Token" in console.get("/", headers=GERMAN).text
    assert 'language = "de"' in (tmp_path / "gewohnheiten" / "survey.toml").read_text("utf-8")


@pytest.mark.check
@pytest.mark.parametrize("text", [MIXERS.format(1), MIXERS.format(2), DEVICES])
def test_no_part_about_a_plan_has_a_sentence_in_english(
    text: str, tmp_path: Path, english: list[re.Pattern[str]]
) -> None:
    """Promise, curve, coalitions, preview; numbers are written as in German."""
    with speaking("de"):
        for task in ("promise_quick", "promise", "curve", "more"):
            answer = TASKS[task](text=text, directory=str(tmp_path))
            assert answer["state"] in ("planned", "quick", "unknown"), answer
            assert left(answer["html"] + answer["said"], english) == [], task
        more = shown(TASKS["more"](text=text, directory=str(tmp_path))["html"])
        assert "simuliert" in more
        broken = TASKS["promise"](text=text + "[x]", directory=str(tmp_path))
        assert "Die Umfrage hat 1 Fehler" in broken["html"]
        assert '<span lang="en">is not a key of this table</span>' in broken["html"], broken["html"]


WORD = re.compile(r"[A-Za-z]{3,}")
NO_TEXT = {"krand", "Excel", "survey", "toml", "results", "json", "xlsx", "Plan"}
"""Names, and a word that both languages have."""


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "src/krand").glob("[cw][oe]*/templates/*.html")),
    ids=lambda path: path.name,
)
def test_templates_have_no_text_that_is_not_marked(path: Path) -> None:
    """In elements, and in what is read aloud."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"\{% block style %\}.*?\{% endblock %\}", "", text, flags=re.DOTALL)
    text = re.sub(r"\{% trans .*?endtrans %\}|\{% trans %\}.*?endtrans %\}", "", text, flags=re.S)
    text = re.sub(r"\{#.*?#\}|\{%.*?%\}|\{\{.*?\}\}", "", text, flags=re.DOTALL)
    said = re.findall(r'(?:aria-label|title|placeholder|alt|data-said)="([^"]*)"', text)
    said.append(re.sub(r"<[^>]*>", " ", text))
    words = {word for part in said for word in WORD.findall(re.sub(r"\S+(://|@)\S+", "", part))}
    assert words <= NO_TEXT, words


REFUSED = [
    ("publish", {"count": "3"}, "must be complete before it is published"),
    ("mail", {"kind": "letter"}, "must be one of invitation, reminder"),
]


@pytest.mark.parametrize(("path", "form", "said"), REFUSED)
def test_an_error_is_in_english_and_marked_as_such(
    console: TestClient, path: str, form: dict[str, str], said: str
) -> None:
    """The page around it is in German."""
    console.post("/", data={"title": "Gewohnheiten"})
    page = console.post(f"/surveys/gewohnheiten/{path}", data=form, headers=GERMAN)
    assert page.status_code == 422
    assert re.search(f'<span lang="en">[^<]*{said}', unescape(page.text))
    assert '<html lang="de">' in page.text or "<html" not in page.text
