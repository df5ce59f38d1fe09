"""The method in 30 seconds, as the collector serves it: words, keyboard, motion, for everybody."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.forms import FormSite, every_kind_plan, form_site
from browser.test_every_page import is_for_everybody
from browser.test_form_trouble import short_plan
from browser.visiting import DEVICES, PHONE, Device, Visit
from components import require

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

require("starlette")
require("uvicorn")

Begin = Callable[..., Visit]
TOLD = re.compile(
    r"(\d+) simulated people\. (\d+) say yes\. (?:Devices flipped|A mixer added) (\d+) \w+.*"
    r" counts (\d+) and estimates (\d+), plus or minus (\d+)\. Two histograms"
)


@pytest.fixture(scope="module")
def form(chromium: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FormSite]:
    """A form with its picture of the method."""
    with form_site(tmp_path_factory.mktemp("form"), every_kind_plan()) as site:
        yield site


def told(page: Page, people: int) -> list[int]:
    """The numbers that screen readers are told of so many people, once they are."""
    place = page.locator(".told", has_text=f"{people:,} simulated")
    place.wait_for(state="attached")
    found = TOLD.match((place.text_content() or "").replace("\u00a0", " ").replace(",000", "000"))
    assert found is not None, place.text_content()
    return [int(each) for each in found.groups()]


def captions(page: Page) -> list[str]:
    """The sentences below the four pictures."""
    return [each.replace("\u00a0", " ") for each in page.locator(".panel p").all_inner_texts()]


def choose(place: Locator) -> None:
    """By keyboard alone."""
    place.focus()
    place.press("Space")


def test_the_form_leads_to_the_method(form: FormSite, visit: Begin) -> None:
    """A link, which loads nothing before it is followed; the page has the form's language."""
    begun = visit(form.url)
    begun.page.goto(form.url)
    link = begun.page.locator("#method")
    assert link.get_attribute("href") == "method.html#devices"
    assert not [url for url in begun.requests if "method" in url]
    with begun.page.context.expect_page() as opened:
        link.click()
    opened.value.get_by_role("heading", name="The method in 30 seconds").wait_for()


@pytest.mark.check
def test_by_keyboard_and_told_in_words(form: FormSite, visit: Begin) -> None:
    """What is told is what the pictures show; a changed answer changes the count by at most one."""
    page = visit(form.url, PHONE).page
    page.goto(f"{form.url}method.html")
    people, yes, flips, count, estimate, margin = told(page, 200)
    assert (people, yes) == (200, 76)
    assert [f"{yes} of {people}" in captions(page)[0], f"{flips} did" in captions(page)[1]] == [
        True
    ] * 2
    assert f"Counted: {count}. Corrected for the noise: {estimate} ± {margin}." in captions(page)[3]
    choose(page.get_by_role("radio", name="yes"))
    page.locator(".told", has_text="77 say yes").wait_for(state="attached")
    assert abs(told(page, 200)[3] - count) <= 1
    slider = page.get_by_role("slider", name="People")
    slider.focus()
    slider.press("End")
    assert told(page, 1000)[:2] == [1000, 381]
    choose(page.get_by_role("radio", name="mixers"))
    page.locator(".told", has_text="A mixer added 28 dummies").wait_for(state="attached")
    assert "one mixer is honest" in page.locator(".promise").inner_text()


@pytest.mark.check
def test_people_move_only_where_motion_is_welcome(form: FormSite, visit: Begin) -> None:
    """The pictures of later steps are faint while the animation runs."""
    page = visit(form.url).page
    page.goto(f"{form.url}method.html")
    again, coming = page.get_by_role("button", name="Ask them again"), page.locator(".coming")
    again.press("Enter")
    assert coming.count() == 0
    page.emulate_media(reduced_motion="no-preference")
    again.press("Enter")
    coming.first.wait_for()
    coming.first.wait_for(state="detached")


@pytest.mark.check
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_the_method_is_for_everybody(
    form: FormSite, visit: Begin, axe: Callable[[], str], device: Device
) -> None:
    """It fits, in light and dark, and axe-core finds nothing to mend."""
    begun = visit(form.url, device)
    begun.page.goto(f"{form.url}method.html")
    told(begun.page, 200)
    is_for_everybody(begun, axe, "method")


@pytest.mark.check
def test_the_method_of_a_german_survey_is_told_in_german(tmp_path: Path, visit: Begin) -> None:
    """The page of its form, its title and its language."""
    with form_site(tmp_path, short_plan(language="de-AT")) as form:
        page = visit(form.url).page
        page.goto(f"{form.url}method.html#mixers")
        page.get_by_role("heading", name="Das Verfahren in 30 Sekunden").wait_for()
        assert page.title() == "Das Verfahren in 30 Sekunden"
        assert page.locator("html").get_attribute("lang") == "de"
        assert "28 Blindnachrichten" in captions(page)[1]


@pytest.mark.check
def test_without_scripts_the_page_says_what_it_needs(form: FormSite, visit: Begin) -> None:
    page = visit(form.url, script=False).page
    page.goto(f"{form.url}method.html")
    assert page.get_by_text("This page needs JavaScript").is_visible()
