"""The form in the languages of a survey: which is shown, and that changing it changes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.forms import CITIES, FormSite, form_site, press
from browser.test_form import accessible
from browser.visiting import DEVICES, PHONE, Device, Visit
from components import require
from krand import Survey, make_plan
from krand.survey.encoding import encode
from krand.survey.plan import Plan

if TYPE_CHECKING:
    from playwright.sync_api import Page as Tab

require("starlette")
require("uvicorn")

pytestmark = pytest.mark.check

Begin = Callable[..., Visit]
SURVEY: dict[str, Any] = {
    "id": "town-2026",
    "title": "Life in our town",
    "introduction": "Five questions about living here.",
    "thanks": "We will publish the results in May.",
    "policy": {"epsilon": 60, "delta": 0.01, "minimum_crowd": 4},
    "question": [
        {
            "name": "way",
            "type": "choice",
            "text": "How do you get to work?",
            "help": "The way that you use most.",
            "choices": ["on foot", "by bicycle", "by car"],
        },
        {
            "name": "trips",
            "type": "number",
            "text": "How far do you drive?",
            "edges": [0, 10, 50],
            "open": "above",
            "unit": "km a day",
            "asked_if": {"question": "way", "is": "by car"},
        },
        {
            "name": "city",
            "type": "choice",
            "text": "Where did you live before?",
            "choices": [*CITIES, "abroad"],
        },
        {
            "name": "shops",
            "type": "pick_any",
            "text": "Which shops do you miss?",
            "choices": ["baker", "books", "tools"],
        },
        {
            "name": "here",
            "type": "scale",
            "text": "How much do you like it here?",
            "lowest": 1,
            "highest": 5,
            "labels": ["not at all", "very much"],
            "statements": [
                {"name": "parks", "text": "The parks"},
                {"name": "people", "text": "The people"},
            ],
        },
    ],
    "translations": {
        "de": {
            "title": "Leben in unserer Stadt",
            "introduction": "Fünf Fragen zum Leben hier.",
            "thanks": "Die Ergebnisse erscheinen im Mai.",
            "question": {
                "way": {
                    "text": "Wie kommen Sie zur Arbeit?",
                    "help": "So, wie Sie meistens kommen.",
                    "choices": {
                        "on foot": "zu Fuß",
                        "by bicycle": "mit dem Rad",
                        "by car": "mit dem Auto",
                    },
                },
                "trips": {"text": "Wie weit fahren Sie?", "unit": "km am Tag"},
                "city": {
                    "text": "Wo haben Sie vorher gelebt?",
                    "choices": {city: city for city in CITIES} | {"abroad": "im Ausland"},
                },
                "shops": {
                    "text": "Welche Läden fehlen Ihnen?",
                    "choices": {"baker": "Bäcker", "books": "Bücher", "tools": "Werkzeug"},
                },
                "here": {
                    "text": "Wie gut gefällt es Ihnen hier?",
                    "labels": {"not at all": "gar nicht", "very much": "sehr"},
                },
                "parks": {"text": "Die Parks"},
                "people": {"text": "Die Leute"},
            },
        },
        "ar": {
            "title": "الحياة في مدينتنا",
            "introduction": "خمسة أسئلة عن الحياة هنا.",
            "thanks": "ستُنشر النتائج في مايو.",
            "question": {
                "way": {
                    "text": "كيف تذهب إلى العمل؟",
                    "help": "الطريقة التي تستخدمها أكثر.",
                    "choices": {
                        "on foot": "سيرًا على الأقدام",
                        "by bicycle": "بالدراجة",
                        "by car": "بالسيارة",
                    },
                },
                "trips": {"text": "كم تقود؟", "unit": "كم في اليوم"},
                "city": {"text": "أين كنت تعيش من قبل؟", "choices": "same"},
                "shops": {
                    "text": "أي متاجر تفتقد؟",
                    "choices": {"baker": "مخبز", "books": "كتب", "tools": "أدوات"},
                },
                "here": {
                    "text": "كم يعجبك المكان هنا؟",
                    "labels": {"not at all": "لا يعجبني", "very much": "كثيرًا"},
                },
                "parks": {"text": "الحدائق"},
                "people": {"text": "الناس"},
            },
        },
    },
}
ANSWERS = {"way": "by car", "trips": 12, "city": "abroad", "shops": ["tools", "baker"], "people": 5}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Survey.from_values(SURVEY))


@pytest.fixture
def form(chromium: str, tmp_path: Path, plan: Plan) -> Iterator[FormSite]:
    """A form in three languages."""
    with form_site(tmp_path, plan) as site:
        yield site


DRAFT_HAS = """async (text) => {
    const opening = indexedDB.open("krand-form");
    await new Promise((done) => { opening.onsuccess = done; });
    const reading = opening.result.transaction("drafts").objectStore("drafts").getAll();
    await new Promise((done) => { reading.onsuccess = done; });
    opening.result.close();
    const [{ iv, key, data }] = reading.result;
    const bytes = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, data);
    return new TextDecoder().decode(bytes).includes(text); }"""
"""Whether the browser has stored an answer: it does so after the click, not with it."""


def choose(page: Tab, language: str) -> None:
    """By the menu; the page is then in this language."""
    page.locator("select").select_option(language)


@pytest.mark.parametrize(
    ("locale", "address", "title", "written"),
    [
        ("en-GB", "", "Life in our town", ("en", "ltr")),
        ("de-AT", "", "Leben in unserer Stadt", ("de", "ltr")),
        ("fr-FR", "", "Life in our town", ("en", "ltr")),
        ("de-AT", "?lang=ar", "الحياة في مدينتنا", (None, "rtl")),
        ("ar-EG", "?lang=EN-us", "Life in our town", ("en", "ltr")),
        ("de-DE", "?lang=xx", "Leben in unserer Stadt", ("de", "ltr")),
        ("de-DE", "?lang=%25-%00", "Leben in unserer Stadt", ("de", "ltr")),
    ],
)
def test_the_link_decides_then_the_browser_then_the_survey(
    form: FormSite,
    visit: Begin,
    locale: str,
    address: str,
    title: str,
    written: tuple[str | None, str],
) -> None:
    page = visit(form.url, locale=locale).page
    page.goto(form.url + address)
    page.get_by_role("heading", name=title).wait_for()
    html = page.locator("html")
    assert html.get_attribute("lang") in (written[0], *(("en", "ar") if not written[0] else ()))
    assert html.get_attribute("dir") == written[1]
    assert page.title() == title
    assert page.locator("option").all_inner_texts() == ["English", "العربية", "Deutsch"]


@pytest.mark.parametrize("device", DEVICES, ids=lambda each: each.name)
def test_changing_the_language_keeps_answers_and_what_is_sent(
    form: FormSite, visit: Begin, device: Device
) -> None:
    """In the middle of a survey, over a reload; the positions are those of the own words."""
    begun = visit(form.url, device)
    page: Tab = begun.page
    page.goto(form.url)
    begun.keep("languages-start-en")
    press(page, "Start")
    page.get_by_role("radio", name="by car").check()
    choose(page, "de")
    assert page.get_by_role("radio", name="mit dem Auto").is_checked()
    begun.keep("languages-choice-de")
    begun.fits()
    press(page, "Weiter")
    page.get_by_role("textbox", name="Wie weit fahren Sie?").fill("12")
    assert page.inner_text(".unit") == "km am Tag"
    press(page, "Weiter")
    page.get_by_role("combobox", name="Wo haben Sie").fill("ausland")
    page.keyboard.press("Enter")
    choose(page, "en")
    assert page.get_by_role("combobox", name="Where did you live").input_value() == "abroad"
    choose(page, "ar")
    begun.keep("languages-list-ar")
    begun.fits()
    choose(page, "de")
    press(page, "Weiter")
    page.get_by_role("checkbox", name="Werkzeug").check()
    page.get_by_role("checkbox", name="Bäcker").check()
    while not page.evaluate(DRAFT_HAS, "baker"):
        page.wait_for_timeout(50)
    page.reload()
    assert page.get_by_role("checkbox", name="Bäcker").is_checked(), "language and answers are kept"
    press(page, "Weiter")
    page.get_by_role("radio", name="Die Leute 5: sehr").check()
    begun.keep("languages-matrix-de")
    begun.fits()
    press(page, "Weiter")
    page.get_by_text("Bäcker, Werkzeug").wait_for()
    press(page, "Zeigen")
    page.wait_for_selector(".shown")
    choose(page, "en")
    page.get_by_text("baker, tools").wait_for()
    shown = page.eval_on_selector_all(
        ".reported li:is(.kept, .gone)", "all => all.map(e => Number(e.dataset.position))"
    )
    assert tuple(shown) == encode(form.plan.layout, ANSWERS)
    assert "How do you get to work? – by car" in page.inner_text(".reported")
    choose(page, "de")
    press(page, "Meine Antworten senden")
    page.wait_for_selector("#said")
    assert "Die Ergebnisse erscheinen im Mai." in page.inner_text("main")
    assert page.locator("select").count() == 0
    assert form.people == 1


@pytest.mark.parametrize("device", DEVICES, ids=lambda each: each.name)
def test_the_menu_is_accessible(
    form: FormSite, visit: Begin, axe: Callable[[], str], device: Device
) -> None:
    """On the first page and beside a question, in both directions of writing."""
    begun = visit(form.url, device)
    begun.page.goto(form.url)
    for number, language in enumerate(("en", "ar", "de")):
        choose(begun.page, language)
        accessible(begun, axe(), f"languages-{language}", dark=number == 1)
    press(begun.page, "Beginnen")
    accessible(begun, axe(), "languages-question", dark=False)


def test_nothing_that_is_loaded_tells_the_language(form: FormSite, visit: Begin) -> None:
    """Whichever is read: the same files, in the same order."""
    loaded = []
    for locale in ("en-GB", "de-DE", "ar-EG"):
        begun = visit(form.url, PHONE, locale=locale)
        begun.page.goto(form.url)
        begun.page.locator("select").wait_for()
        choose(begun.page, "de")
        begun.page.get_by_role("heading", name="Leben in").wait_for()
        loaded.append(sorted(begun.requests))
    assert loaded[0] == loaded[1] == loaded[2]
