"""The survey as a form: people answer in a browser, and the collector gets what they saw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import krand
from golden import Golden
from html_pages import text_of
from real.browser.forms import (
    DEVICES,
    EVERY_KIND,
    HEAD,
    HERE,
    MIXERS,
    PEOPLE,
    SHORT,
    FormSite,
    by_keyboard,
    filled,
    form_site,
    go_on,
    press,
    press_by_keyboard,
    reported,
    sent,
    started,
    unfolded,
)
from real.browser.visiting import DESKTOP, PHONE, Device, Visit

Begin = Callable[..., Visit]
TRANSFERRED, UNPACKED = 55_000, 125_000
"""Bytes of page, script and style that a browser may get from a collector; whoever needs more
raises them knowingly."""
FILES = ("", "form.js", "form.css", "form.en.json", "plan.json")
SIZES = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
    .map(e => [e.name, e.transferSize, e.decodedBodySize])"""


@pytest.fixture(scope="module")
def form(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FormSite]:
    """Every kind of question, for visits that send nothing that is counted."""
    with form_site(tmp_path_factory.mktemp("form"), HEAD + DEVICES + EVERY_KIND) as site:
        yield site


@pytest.mark.parametrize("noise", [DEVICES, MIXERS], ids=["devices", "mixers"])
def test_results_are_what_browsers_said_they_sent(tmp_path: Path, visit: Begin, noise: str) -> None:
    """Every count is that of the positions which people were shown, byte for byte what is sent.

    One person has a keyboard alone; with mixers their dummies come on top.
    """
    expected: Counter[int] = Counter()
    with form_site(tmp_path, HEAD + noise + EVERY_KIND) as form:
        for number in range(4):
            begun = visit(HERE, (DESKTOP, PHONE)[number % 2])
            page = begun.page
            if number == 3:
                by_keyboard(page, form.url)
                answers = page.locator(".answers dd:first-of-type").all_inner_texts()
                told = ["Yes", "by bicycle", "Köln 1", "baker", "7 m²", "1: not at all", "p"]
                assert answers == told
                press_by_keyboard(page, "What leaves this device")
                expected.update(reported(page))
                press_by_keyboard(page, "Send my answers")
                page.wait_for_selector("#said")
                continue
            filled(started(page, form.url), PEOPLE[number])
            unfolded(page)
            expected.update(reported(page))
            page.get_by_text("The sealed bytes").click()
            shown = page.wait_for_selector("pre:not(:empty)").inner_text()
            with page.expect_request("**/submissions") as request:
                sent(page)
            assert request.value.post_data_buffer.hex() == shown
            own = {form.url + name for name in (*FILES, "signatures.json")}
            assert set(begun.requests) == own | {form.root + "open", form.root + "submissions"}
        results = form.results()
    tally = results.people, dict(results.rejected)
    assert tally == (4, {})
    if noise == DEVICES:
        counts = krand.read_tally(form.counted / "tally.json").counts
        assert list(counts) == [expected[place] for place in range(len(counts))]


def test_every_page_is_for_everybody_and_small(form: FormSite, visit: Begin) -> None:
    """On a phone, from the start over a mistake and a refusal to the thanks; then on a desk."""
    for device in (PHONE, DESKTOP):
        begun = visit(HERE, device)
        page, check = begun.page, begun.is_for_everybody
        page.goto(form.url)
        page.get_by_role("button", name="Start").wait_for()
        check("start")
        sizes = {name: (packed, whole) for name, packed, whole in page.evaluate(SIZES)}
        needed = [sizes[form.url + name] for name in FILES[:4]]
        assert min(min(each) for each in needed) > 0
        assert sum(packed for packed, _ in needed) <= TRANSFERRED
        assert sum(whole for _, whole in needed) <= UNPACKED
        press(page, "Start")
        for number in range(1, 8):
            check(f"question {number}")
            if number == 2:
                go_on(page)
                check("mistake")
                page.get_by_role("radio", name="by car").check()
            if number == 3:
                page.get_by_role("combobox").fill("k")
                check("search")
                page.keyboard.press("Escape")
                page.get_by_role("combobox").fill("")
            go_on(page)
        check("review")
        unfolded(page)
        page.get_by_text("The sealed bytes").click()
        check("shown")
        begun.statuses.add(404)
        begun.expected.append("ERR_FAILED")
        page.route("**/submissions", lambda route: route.fulfill(status=404))
        press(page, "Send my answers")
        page.wait_for_selector('[data-problem="unknown-plan"]')
        check("problem")
        page.unroute("**/submissions")
        page.route("**/submissions", lambda route: route.abort())
        press(page, "Try again")
        page.get_by_text("That did not work (attempt 1)").wait_for()
        page.reload()
        page.get_by_role("button", name="Send now").wait_for()
        check("pending")
        page.unroute("**/submissions")
        press(page, "Send now")
        page.wait_for_selector("#said")
        check("thanks")


ONE_HAND = MIXERS.replace("mixers = 3", "analyst_runs = [1]")
TWO_ROLES = MIXERS.replace("mixers = 3", "mixers = 3\nanalyst_runs = [1, 2]")
PROMISES = {"devices": DEVICES, "mixers": MIXERS, "one-hand": ONE_HAND, "two-roles": TWO_ROLES}


@pytest.mark.parametrize("name", PROMISES)
def test_what_is_promised_is_said_before_the_first_question(
    tmp_path: Path, visit: Begin, golden: Golden, name: str
) -> None:
    """Who can read the answers, how good a guess can be, and what leaves the device."""
    text = HEAD + PROMISES[name].replace("epsilon = 40.0", "epsilon = 20.0") + SHORT
    with form_site(tmp_path, text) as form:
        page = visit(HERE).page
        page.goto(form.url)
        page.get_by_role("button", name="Start").wait_for()
        assert page.is_visible("#guess")
        assert not page.locator("#promise").is_visible()
        assert (page.locator("#one-hand").count() == 1) == (name == "one-hand")
        begin = page.locator(".buttons").bounding_box()
        if name == "one-hand":
            assert page.locator("#one-hand").bounding_box()["y"] < begin["y"]
        golden(f"form/promise-{name}", text_of(page.content()))


def _file(folder: Path, route: Any) -> Path:
    """The file that a browser asks for."""
    return folder / (route.request.url.rpartition("/")[2] or "index.html")


def test_a_page_says_whom_it_comes_from(tmp_path: Path, visit: Begin) -> None:
    """By its own address and those in the plan: the same bytes at every party, and elsewhere."""
    with form_site(tmp_path, HEAD + MIXERS + SHORT) as form:
        pages = [f"{mixer.url}/{form.plan.hash}/" for mixer in form.plan.mixers]
        assert form.url == pages[1]
        for number, address in enumerate(pages, 1):
            page = visit(HERE).page
            page.goto(address)
            said = page.locator("#page-from").inner_text()
            assert said.startswith(f"This page comes from party {number}, and"), said
        first = page.request.get(pages[0])
        for address in pages[1:]:
            assert page.request.get(address).body() == first.body()
        elsewhere, saved = "http://127.0.0.1:9/town/", tmp_path / "saved"
        krand.save_form(form.plan, saved, form.chain.signatures)
        begun = visit(HERE)
        begun.expected.append("CORS|ERR_FAILED")  # the collector was told no such address
        page = begun.page
        page.route(f"{elsewhere}**", lambda route: route.fulfill(path=_file(saved, route)))
        page.goto(elsewhere)
        said = page.locator("#page-from").inner_text()
        assert "127.0.0.1:9, which is none of those who run this survey" in said


LANGUAGES = [
    "de",
    "ar",
    "he",
    *(pytest.param(tag, marks=pytest.mark.nightly) for tag in ("fr", "es")),
]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_survey_is_asked_in_its_language(
    tmp_path: Path, visit: Begin, golden: Golden, language: str
) -> None:
    """From the first page to the thanks; from right to left, also if the form lacks it."""
    head = HEAD.replace('language = "en"', f'language = "{language}"')
    noise = DEVICES.replace("40.0", "20.0")
    with form_site(tmp_path, head + noise + SHORT) as form:
        begun = visit(HERE, PHONE)
        page = begun.page
        page.goto(form.url)
        page.locator(".buttons button").first.wait_for()
        told = [text_of(page.content())]
        direction = "rtl" if language in ("ar", "he") else "ltr"
        assert page.get_attribute("html", "dir") == direction
        assert page.evaluate("getComputedStyle(document.body).direction") == direction
        begun.is_for_everybody(f"start {language}")
        page.locator(".buttons button").first.click()
        for _ in range(2):
            page.get_by_role("radio").first.check()
            begun.fits()
            box = page.locator(".option").first.bounding_box()
            button = page.get_by_role("radio").first.bounding_box()
            middle = box["x"] + box["width"] / 2
            assert (button["x"] > middle) == (direction == "rtl"), "a button on the wrong side"
            told.append(text_of(page.content()))
            page.locator(".buttons button").first.click()
        page.locator(".answers").wait_for()
        told.append(text_of(page.content()))
        page.locator(".buttons button").first.click()
        page.wait_for_selector("#said")
        told.append(text_of(page.content()))
        golden(f"form/{language}", "\n----\n".join(told))


TRANSLATED = """
[translations.de]
title = "Leben in unserer Stadt"
organiser = "Stadt"
contact = "umfrage@example.org"
introduction = "Ein paar Fragen."
thanks = "Danke!"
[translations.de.question.bicycle]
text = "Haben Sie ein Rad?"
[translations.de.question.way]
text = "Wie kommen Sie zur Arbeit?"
[translations.de.question.way.choices]
"on foot" = "zu Fuß"
"by bicycle" = "mit dem Rad"
"by car" = "mit dem Auto"
"""


def test_changing_the_language_keeps_answers_and_what_is_sent(tmp_path: Path, visit: Begin) -> None:
    """The link decides, then the browser, then the survey; which is read is told to nobody."""
    loaded = []
    with form_site(tmp_path, HEAD + DEVICES + SHORT + TRANSLATED) as form:
        for locale, address, title in (
            ("en-GB", "", "Life in our town"),
            ("de-AT", "", "Leben in unserer Stadt"),
            ("fr-FR", "", "Life in our town"),
            ("en-GB", "?lang=de", "Leben in unserer Stadt"),
            ("de-DE", "?lang=EN-us", "Life in our town"),
            ("de-DE", "?lang=%25-%00", "Leben in unserer Stadt"),
        ):
            begun = visit(HERE, PHONE, locale=locale)
            begun.page.goto(form.url + address)
            begun.page.get_by_role("heading", name=title).wait_for()
            assert begun.page.title() == title
            loaded.append(sorted(url.partition("?")[0] for url in begun.requests))
        assert all(each == loaded[0] for each in loaded), "what is loaded tells the language"
        page = started(visit(HERE).page, form.url)
        page.get_by_role("radio", name="Yes").check()
        page.locator("select").select_option("de")
        assert page.get_by_role("radio", name="Ja", exact=True).is_checked()
        press(page, "Weiter")
        page.get_by_role("radio", name="mit dem Auto").check()
        press(page, "Weiter")
        unfolded(page, "Was dieses Gerät verlässt")
        page.locator("select").select_option("en")
        unfolded(page)
        mine = page.eval_on_selector_all(
            ".reported li:is(.kept, .gone)", "all => all.map(e => Number(e.dataset.position))"
        )
        assert mine == [0, 3]
        assert "How do you get to work? – by car" in page.inner_text(".reported")
        sent(page)


STAFF = """
[[question]]
name = "leads"
type = "yes_no"
text = "Do you lead a team?"
counts = "both"
required = true
[[question]]
name = "size"
type = "number"
text = "How many people?"
edges = [1, 5, 20]
open = "above"
integer = true
unit = "people"
asked_as = "ranges"
required = true
asked_if = { question = "leads", is = "yes" }
[[question]]
name = "work"
type = "scale"
text = "How far do you agree?"
help = "Think of the last month."
lowest = 1
highest = 5
labels = ["not at all", "completely"]
statements = [
    { name = "pay", text = "My pay is fair." },
    { name = "boss", text = "My manager listens to me." },
]
[[question]]
name = "help"
type = "choice"
text = "Who helped you?"
choices = ["nobody", "people of my own team"]
required = true
statements = [{ name = "monday", text = "On Monday" }, { name = "friday", text = "On Friday" }]
[[question]]
name = "stays"
type = "yes_no"
text = "Will you stay?"
"""


def pressed(page: Any, *names: str) -> None:
    """Choose these answers, by the names that a screen reader tells, and go on."""
    for name in names:
        page.get_by_role("radio", name=name, exact=True).check()
    go_on(page)


def reviewed(page: Any) -> list[str]:
    """The answers on the last page."""
    page.get_by_text("Check your answers").wait_for()
    found: list[str] = page.locator(".answers dd:first-of-type").all_inner_texts()
    return found


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=lambda device: device.name)
def test_questions_appear_and_vanish_with_the_answers_before(
    tmp_path: Path, visit: Begin, device: Device
) -> None:
    """What is no longer asked is neither required nor sent; whoever goes back finds it again.

    Statements are a table where there is room, and stand one after another on phones.
    """
    noise = DEVICES.replace("40.0", "60.0")
    with form_site(tmp_path, HEAD + noise + STAFF) as form:
        begun = visit(HERE, device)
        page = begun.page
        page.goto(form.url)
        page.get_by_text("Up to 7 questions").wait_for()
        press(page, "Start")
        pressed(page, "Yes")
        page.get_by_text("Question 2 of 7").wait_for()
        go_on(page)
        told = page.get_by_text(re.compile("Please answer this question|Questions 3")).first
        assert told.inner_text() == "Please answer this question."
        begun.is_for_everybody("ranges")
        pressed(page, "5 to 19")
        page.get_by_text("Questions 3 to 4 of 7").wait_for()
        begun.is_for_everybody("matrix")
        pressed(page, "My pay is fair. 1: not at all", "My manager listens to me. 5: completely")
        go_on(page)
        page.get_by_text("Please answer every statement.").wait_for()
        assert page.evaluate("document.activeElement.closest('tr').innerText").startswith("On Mon")
        pressed(page, "On Monday nobody", "On Friday people of my own team")
        pressed(page, "No")
        rest = ["1: not at all", "5: completely", "nobody", "people of my own team"]
        assert reviewed(page) == ["Yes", "5 to 19 (people)", *rest, "No"]
        page.get_by_role("button", name="Change your answer: Do you lead a team?").click()
        pressed(page, "No")
        page.get_by_text("Questions 3 to 4 of 7").wait_for()
        page.go_back()
        pressed(page, "Yes")
        assert page.get_by_role("radio", name="5 to 19").is_checked()
        press(page, "Back")
        pressed(page, "No")
        for _ in range(3):
            go_on(page)
        assert reviewed(page) == ["No", *rest, "No"]
        unfolded(page)
        mine = page.locator(".reported li:is(.kept, .gone)").all_inner_texts()
        assert [text.split(":")[0] for text in mine] == [
            "Do you lead a team? – No",
            "My pay is fair. – 1",
            "My manager listens to me. – 5",
            "On Monday – nobody",
            "On Friday – people of my own team",
        ]
        sent(page)
