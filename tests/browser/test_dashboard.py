"""The dashboard in a browser: closed without its token, alive with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from browser.sites import ANOTHER, CROWD, GATHERED, RESULTS, Site
from browser.visiting import Visit
from krand.collector.progress import coarse, step_for
from krand.showing import unbroken
from krand.wording.plans import promise_sentence, promised_guess

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.check

Begin = Callable[..., Visit]
STEP = step_for(CROWD)


def number(page: Page, name: str) -> int:
    """A number of the page: what it shows is what is behind it."""
    value = page.get_attribute(f"#{name}", "data-value")
    assert f"{int(value):,}" in page.inner_text(f"#{name}")
    return int(value)


def test_the_token_can_be_typed(site: Site, visit: Begin) -> None:
    """A wrong one is told so; the right one opens the page and stands in no address."""
    begun = visit(site.url)
    begun.statuses |= {401, 404}
    page = begun.page
    page.goto(f"{site.url}collector")
    page.fill("#token", "a guess")
    page.click("#token-button")
    assert page.inner_text("#wrong-token") == "Wrong token."
    page.fill("#token", site.token)
    page.keyboard.press("Enter")
    page.wait_for_selector("#crowd")
    assert page.url == f"{site.url}collector"
    assert page.evaluate("document.cookie") == ""  # scripts cannot read it
    page.goto(f"{site.url}nowhere")
    page.click("#nav-collector")
    page.wait_for_selector("#crowd")


@pytest.mark.parametrize("script", [True, False], ids=["script", "no script"])
def test_it_shows_the_crowd_the_batches_and_the_promise(
    site: Site, visit: Begin, script: bool
) -> None:
    """People only in coarse steps; every batch with its state; the plan that all belongs to."""
    page = visit(site.url, script=script).page
    page.goto(site.dashboard)
    assert page.url == f"{site.url}collector"
    assert number(page, "needed") == CROWD
    assert number(page, "step") == STEP
    gathered = number(page, "gathered")
    assert gathered >= coarse(GATHERED, STEP)
    assert gathered % STEP == 0
    assert page.get_attribute("#crowd", "value") == str(gathered)
    assert page.get_attribute("#crowd", "max") == str(CROWD)
    states = page.eval_on_selector_all(
        "#batches tbody tr", "rows => rows.map(r => [r.dataset.batch, r.dataset.state])"
    )
    assert states == [["3", "open"], ["2", "sealed"], ["1", "released"]]
    assert [number(page, f"count-{state}") for state in ("open", "sealed", "released")] == [1, 1, 1]
    assert page.get_attribute("#collector", "data-state") == "ready"
    assert page.inner_text("#guess") == promised_guess(site.plan)
    assert not page.is_visible("#promise-sentence")
    page.click("#promise-details")
    assert page.inner_text("#promise-sentence") == unbroken(promise_sentence(site.plan))
    assert page.inner_text("#plan-hash") == site.plan.hash
    assert page.is_visible("#reload") is not script


def test_it_follows_the_collector_by_itself(site: Site, visit: Begin) -> None:
    """More people come; the page counts on, in whole steps, without being loaded again."""
    page = visit(site.url).page
    page.goto(site.dashboard)
    before = number(page, "gathered")
    page.evaluate("window.same = true")
    site.arrive(0, 2 * STEP)
    page.wait_for_function(
        "least => Number(document.getElementById('gathered').dataset.value) >= least",
        arg=before + 2 * STEP,
    )
    assert number(page, "gathered") % STEP == 0
    assert page.get_attribute("#crowd", "value") == str(number(page, "gathered"))
    assert page.evaluate("window.same") is True


def test_it_says_when_nobody_answers_any_more(site: Site, visit: Begin) -> None:
    """What was known last stays, marked as such, until there is news."""
    begun = visit(site.url)
    begun.expected += ["ERR_INTERNET_DISCONNECTED"]
    page = begun.page
    page.clock.install()
    page.goto(site.dashboard)
    assert not page.is_visible("#unreachable")
    page.context.set_offline(True)
    page.clock.run_for(10_000)
    page.wait_for_selector("#unreachable", state="visible")
    assert page.is_visible("#crowd")
    page.context.set_offline(False)
    page.clock.run_for(10_000)
    page.wait_for_selector("#unreachable", state="hidden")


def test_results_open_as_reports(site: Site, visit: Begin) -> None:
    """Each file is listed with its people, one of another plan as such, and opens its report."""
    page = visit(site.url).page
    page.goto(site.dashboard)
    listed = page.locator("#results li")
    assert listed.count() == 2
    own, other = listed.nth(0).inner_text(), listed.nth(1).inner_text()
    results = json.loads((site.folder / "results" / RESULTS).read_bytes())
    assert own.startswith(unbroken(f"{site.plan.survey.id}, {results['people']:,} people"))
    assert (RESULTS in own, ANOTHER in other) == (True, True)
    assert ("another plan" in own, "another plan" in other) == (False, True)
    page.click("#results a >> nth=0")
    assert page.inner_text("h1") == site.plan.survey.id
    assert site.plan.hash in (page.text_content("#content") or "")
    page.go_back()
    page.click("#results a >> nth=1")
    assert page.is_visible("#results")


def test_every_control_is_used_above(site: Site, visit: Begin) -> None:
    """A control that no test of this module knows would be one that nobody has tried."""
    page = visit(site.url).page
    page.goto(site.dashboard)
    found = "main :is(input, select, textarea, button, summary, a:not(#results a))"
    names = page.eval_on_selector_all(found, "found => found.map(e => e.id)")
    assert names == ["reload", "promise-details"]
