"""The planner's first page in a browser: it leads, and never shows a stale promise as current."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from browser.reading import leave_out, settled
from browser.sites import Site
from browser.staleness import CHANGE, seen, watch
from browser.visiting import PHONE, Visit
from krand import make_plan, parse_survey
from krand.showing import unbroken
from krand.web.survey_form import PRESETS, survey_form_from
from krand.web.texts import TEXTS
from krand.wording.phrases import people
from krand.wording.plans import promise_sentence, promised_guess

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

Begin = Callable[..., Visit]
SMALL = {"people": "500", "questions": "Do you smoke?"}
"""A survey that is planned in a moment."""
CHANGES = (
    ("people", "600"),
    ("epsilon-slider", "700"),
    ("noise", "mixers"),
    ("questions", "Do you smoke?\nDo you drink?"),
    ("counts", "both"),
    ("rate", "no"),
    ("rate", "80"),
)
FORM = """() => Object.fromEntries(new FormData(document.querySelector("form[data-live]")))"""


def opened(site: Site, visit: Begin, **options: object) -> Page:
    """The first page with a small survey, without advice."""
    page: Page = visit(site.url, **options).page
    leave_out(page, "advice")
    page.goto(f"{site.url}?{urlencode(SMALL)}")
    return page


def agrees(page: Page) -> None:
    """What the page shows is the plan of what its form says."""
    plan = make_plan(survey_form_from(page.evaluate(FORM)).survey())
    worst = max((b.precision for b in plan.blocks), key=lambda known: known.half_width_95)
    assert page.inner_text("#half-width-value") == unbroken(people(worst))
    assert page.inner_text("#guess") == promised_guess(plan)
    assert page.text_content("#promise-sentence") == unbroken(promise_sentence(plan))
    assert page.inner_text("#plan-hash") == plan.hash


@pytest.mark.check
@pytest.mark.parametrize("first", ["", "numbers"], ids=["survey", "numbers"])
def test_no_moment_shows_an_old_promise_as_current(site: Site, visit: Begin, first: str) -> None:
    """Looked at every 20 ms and at every event: what belongs to other values is struck out."""
    page: Page = visit(site.url).page
    leave_out(page, "advice", "frontier")
    small = SMALL if first == "" else {"crowd": "10k", "bits": "4", "epsilon": "1"}
    page.goto(f"{site.url}{first}?{urlencode(small)}")
    watch(page)
    numbers = (("crowd", "20k"), ("epsilon-slider", "700"), ("linkage", "record"))
    for change in CHANGES if first == "" else numbers:
        page.evaluate(CHANGE, change)
        settled(page)
        found = seen(page)
        assert found.faults == []
        assert found.first is not None
    assert found.looks > len(CHANGES)


@pytest.mark.check
def test_the_watch_itself_can_see_a_fault(site: Site, visit: Begin) -> None:
    """A page that forgets to strike out is caught."""
    page = opened(site, visit)
    watch(page)
    page.evaluate("document.getElementById('people').value = '777'")  # no event, no handler
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    assert any(fault.startswith("result: ") for fault in seen(page).faults)


@pytest.mark.check
def test_numbers_are_struck_out_in_the_handler_of_the_change(site: Site, visit: Begin) -> None:
    """Before any request: the server is not asked at all here."""
    page = opened(site, visit)
    page.route("**/part/*", lambda route: None)
    stale = page.evaluate(
        f"""change => {{ ({CHANGE})(change);
        return document.getElementById("result").classList.contains("stale"); }}""",
        ["people", "700"],
    )
    assert stale
    assert page.inner_text("#status").startswith("Computing")
    assert page.get_attribute("#status", "aria-live") == "polite"
    line = "e => getComputedStyle(e).textDecorationLine"
    assert page.eval_on_selector("#half-width-value", line) == "line-through"


@pytest.mark.check
def test_a_proven_bound_comes_first_and_is_refined(site: Site, visit: Begin) -> None:
    """It says that it is a bound; then the plan takes its place."""
    page = opened(site, visit)
    held: list[Route] = []
    page.route("**/part/first?*", lambda route: held.append(route))
    with page.expect_request("**/part/first?*"):
        page.fill("#people", "900")
    page.wait_for_selector('#result[data-state="quick"]')
    assert page.inner_text("#half-width-value").startswith("at most ±")
    assert "refining" in page.inner_text("#result")
    assert page.get_attribute("#result", "aria-busy") == "true"
    held[0].continue_()
    settled(page)
    agrees(page)


@pytest.mark.check
def test_values_that_the_browser_filled_in_are_answered(site: Site, visit: Begin) -> None:
    """A page whose form says something else than its numbers asks again by itself."""
    page: Page = visit(site.url).page
    leave_out(page, "advice")

    def refilled(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace('value="500"', 'value="501"'))

    page.route(f"{site.url}?*", refilled)
    page.goto(f"{site.url}?{urlencode(SMALL)}")
    assert page.input_value("#people") == "501"
    settled(page)
    agrees(page)


@pytest.mark.check
def test_without_a_quick_bound_the_plan_comes_all_the_same(site: Site, visit: Begin) -> None:
    """A bound that fails or takes too long is not waited for, and is not the last word."""
    page = opened(site, visit)
    busy = {"X-State": "busy", "X-Field": ""}
    page.route(
        "**/part/first_quick?*",
        lambda route: route.fulfill(body="<p id='busy'>Busy.</p>", headers=busy),
    )
    page.fill("#people", "800")
    settled(page)
    agrees(page)
    assert page.locator("#busy").count() == 0


@pytest.mark.check
def test_presets_fill_in_the_form(site: Site, visit: Begin) -> None:
    """One click, no other page; the answer is that of the preset."""
    page = opened(site, visit)
    page.click("#preset-clinic")
    assert page.evaluate(FORM) == PRESETS["clinic"]
    settled(page)
    agrees(page)
    assert page.inner_text("#needed-value") == "any number"
    page.wait_for_selector("#coalitions")
    assert "3 mixers" in page.inner_text("#coalitions")


@pytest.mark.check
def test_the_keyboard_alone_plans_and_saves(site: Site, visit: Begin) -> None:
    """Every control is reached by Tab in the order of the page, and files are saved by Enter."""
    page = opened(site, visit)
    page.focus("#people")
    reached = ["people"]
    for _ in range(16):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "save-survey":
            break
    order = ["people-slider", "rate", "topic", "questions", "epsilon", "delta", "noise-devices"]
    assert [name for name in reached if name in order] == order
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    assert parse_survey(text) == survey_form_from(SMALL).survey()


@pytest.mark.check
def test_advice_can_be_tried(site: Site, visit: Begin) -> None:
    """A row's link fills in the form, and the page then shows what the row says."""
    page: Page = visit(site.url).page
    page.goto(f"{site.url}?{urlencode(SMALL)}")
    page.wait_for_selector("#advice-table")
    row = page.locator("#advice-table tr:has(a)").first
    becomes = row.locator("td").first.inner_text()
    row.locator("a").click()
    settled(page)
    agrees(page)
    assert becomes.startswith(page.inner_text("#half-width-value"))


@pytest.mark.check
def test_without_a_script_the_button_plans(site: Site, visit: Begin) -> None:
    """The page that comes is the whole answer, on a phone too."""
    begun = visit(site.url, PHONE, script=False)
    page = begun.page
    page.goto(f"{site.url}?{urlencode(SMALL)}")
    page.fill("#people", "700")
    page.click("#plan-button")
    plan = make_plan(survey_form_from({**SMALL, "people": "700"}).survey())
    assert page.inner_text("#plan-hash") == plan.hash
    assert page.is_visible("#coalitions")
    assert page.is_visible("#advice-link")
    begun.fits()


@pytest.mark.check
def test_the_form_can_be_edited_as_a_survey_file(site: Site, visit: Begin) -> None:
    """The other page begins with the same survey."""
    page = opened(site, visit)
    page.click("#edit-survey")
    page.wait_for_selector("#survey")
    assert parse_survey(page.input_value("#survey")) == survey_form_from(SMALL).survey()


def test_every_control_is_named_above(site: Site, visit: Begin) -> None:
    """A new control needs a test."""
    names = opened(site, visit).eval_on_selector_all(
        "#first-form :is(input, textarea, button)", "found => found.map(e => e.id)"
    )
    numbers = ("people", "rate", "epsilon", "delta", "mixers")
    noises = {f"noise-{source}" for source in ("devices", "mixers", "both")}
    counts = {"counts-yes", "counts-both"}
    saving = {f"save-{name}" for name in ("survey", "plan", "script", "notebook")}
    buttons = {"plan-button", "edit-survey", *saving}
    sliders = {f"{name}-slider" for name in numbers}
    assert set(names) == {*numbers, *sliders, "topic", "questions", *noises, *counts, *buttons}
    assert set(TEXTS.form.presets) == set(PRESETS)
