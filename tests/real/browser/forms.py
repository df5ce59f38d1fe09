"""The survey as a form at parties of its own, and people who fill it in."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import krand
from parties import PATIENCE, Chain

if TYPE_CHECKING:
    from playwright.sync_api import Page

CITIES = [f"{name} {number}" for number in range(1, 11) for name in ("Aachen", "Köln", "Ulm")]
HEAD = """\
id = "town-2026"
title = "Life in our town"
organiser = "City of Examples"
contact = "survey@example.org"
introduction = "A few questions about <b>living</b> here."
thanks = "We will publish the results in May."
language = "en"
closes = 2099-12-31
"""
HERE = "http://127.0.0.1:"
"""Where a page and the parties of its plan are, on different ports."""
DEVICES = "[policy]\nepsilon = 40.0\ndelta = 0.01\nminimum_crowd = 4\n[trust]\nnoise = 'devices'\n"
MIXERS = '[policy]\nepsilon = 4.0\ndelta = 0.01\n[trust]\nnoise = "mixers"\nmixers = 3\n'
EVERY_KIND = f"""
[[question]]
name = "bicycle"
type = "yes_no"
text = "Do you own a bicycle?"
[[question]]
name = "way"
type = "choice"
text = "How do you get to work?"
help = "The way that you use most."
choices = ["on foot", "by bicycle", "by car"]
required = true
[[question]]
name = "city"
type = "choice"
text = "Where did you live before?"
choices = {CITIES}
[[question]]
name = "shops"
type = "pick_any"
text = "Which shops do you miss?"
choices = ["baker", "books", "tools", "shoes"]
at_most = 2
[[question]]
name = "rent"
type = "number"
text = "How large is your home?"
unit = "m²"
edges = [0, 50.5, 100, 200]
[[question]]
name = "mood"
type = "scale"
text = "How much do you like living here?"
lowest = 1
highest = 5
labels = ["not at all", "very much"]
[[question]]
name = "wish"
type = "words"
text = "What should be built next?"
positions = 16
hashes = 1
"""
SHORT = """
[[question]]
name = "bicycle"
type = "yes_no"
text = "Do you own a bicycle?"
[[question]]
name = "way"
type = "choice"
text = "How do you get to work?"
choices = ["on foot", "by bicycle", "by car"]
"""
PEOPLE: tuple[dict[str, Any], ...] = (
    {"bicycle": "Yes", "way": "on foot", "city": "koln 7", "shops": ["baker"], "rent": "50,5"},
    {
        "bicycle": "No",
        "way": "by car",
        "city": "Ulm 10",
        "shops": ["books", "shoes"],
        "rent": "99",
        "wish": "A library",
    },
    {"way": "by bicycle", "shops": [], "rent": "", "wish": "Park"},
)
"""Answers as people give them; whoever leaves a question out goes on without an answer."""
KEYS = (
    "Tab Tab Enter",  # a link to the organiser, then the start
    "Tab Space Enter",
    "Tab ArrowDown Enter",
    "Tab k ArrowDown Enter Tab Tab Enter",
    "Tab Space Enter",
    "Tab 7 Enter",
    "Tab Space Enter",
    "Tab p Enter",
)
"""From the start to the review, by keyboard alone."""


@dataclass(frozen=True, slots=True)
class FormSite:
    """Where the form is, and who has a part in it."""

    chain: Chain
    loop: asyncio.AbstractEventLoop

    @property
    def plan(self) -> krand.Plan:
        return self.chain.plan

    @property
    def url(self) -> str:
        """The link that people get."""
        return self.plan.page_url

    @property
    def root(self) -> str:
        """What the collector serves of the plan, and where submissions go."""
        return f"{self.plan.mixers[0].url}/v1/plans/{self.plan.hash}/"

    @property
    def counted(self) -> Path:
        """What the analyst has counted."""
        return self.chain.analyst.folder.results(self.plan)

    def results(self) -> krand.Results:
        """Everybody, mixed and counted; from now on the round is closed."""

        async def counted() -> None:
            self.chain.close()
            await self.chain.analyst.told("reported")

        asyncio.run_coroutine_threadsafe(counted(), self.loop).result(PATIENCE)
        return krand.read_results(self.counted / "results.json")


@contextmanager
def form_site(folder: Path, text: str) -> Iterator[FormSite]:
    """All parties of a survey, in a thread of this process, with their listeners beside it."""
    survey = krand.parse_survey(text)
    own = survey.trust.analyst_runs
    chain = Chain.made(folder, krand.make_plan(survey), analyst=own[0] if own else None)
    loop, serving = asyncio.new_event_loop(), threading.Event()
    ends = asyncio.Event()

    async def live() -> None:
        async with chain.running():
            serving.set()
            await ends.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(live(),))
    thread.start()
    try:
        assert serving.wait(PATIENCE)
        yield FormSite(chain, loop)
    finally:
        loop.call_soon_threadsafe(ends.set)
        thread.join()
        loop.close()


def unfolded(page: Page, what: str = "What leaves this device") -> None:
    """What would be sent, below the review."""
    page.get_by_text(what, exact=True).click()
    page.wait_for_selector(".shown")


def reported(page: Page) -> list[int]:
    """The positions that are sent, as the fold says."""
    page.wait_for_selector(".shown")
    found: list[int] = page.eval_on_selector_all(
        ".reported li:is(.kept, .added)", "all => all.map(e => Number(e.dataset.position))"
    )
    return found


def press(page: Page, name: str) -> None:
    page.get_by_role("button", name=name).click()


def started(page: Page, url: str) -> Page:
    """The first question."""
    page.goto(url)
    press(page, "Start")
    return page


def go_on(page: Page) -> None:
    press(page, "Next")


def filled(page: Page, person: dict[str, Any]) -> Page:
    """All questions answered, by roles and names as a screen reader tells them."""
    if "bicycle" in person:
        page.get_by_role("radio", name=person["bicycle"], exact=True).check()
    go_on(page)
    page.get_by_role("radio", name=person["way"]).check()
    go_on(page)
    if "city" in person:
        page.get_by_role("combobox", name="Where did you live before?").fill(person["city"])
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
    go_on(page)
    for shop in person["shops"]:
        page.get_by_role("checkbox", name=shop).check()
    go_on(page)
    page.get_by_role("textbox", name="How large is your home?").fill(person["rent"])
    go_on(page)
    page.get_by_role("radio", name="5: very much").check()
    go_on(page)
    page.get_by_role("textbox", name="What should be built next?").fill(person.get("wish", ""))
    go_on(page)
    page.get_by_text("Check your answers").wait_for()
    return page


def by_keyboard(page: Page, url: str) -> Page:
    """All questions answered with Tab, space, arrows and Enter."""
    page.goto(url)
    page.get_by_role("button", name="Start").wait_for()
    for number, keys in enumerate(KEYS, 1):
        for key in keys.split():
            page.keyboard.press(key)
        heading = f"Question {number} of 7" if number < len(KEYS) else "Check your answers"
        page.get_by_text(heading).wait_for()
    return page


def press_by_keyboard(page: Page, label: str) -> None:
    """Tab until a button has the focus, then Enter."""
    while page.evaluate("document.activeElement.textContent") != label:
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")


def answered(page: Page) -> Page:
    """The short form, from its first question to the review."""
    page.get_by_role("radio", name="Yes").check()
    go_on(page)
    page.get_by_role("radio", name="by car").check()
    go_on(page)
    page.get_by_text("Check your answers").wait_for()
    return page


def send(page: Page) -> None:
    press(page, "Send my answers")


def sent(page: Page) -> None:
    send(page)
    page.wait_for_selector("#said")


def problem(page: Page, code: str) -> str:
    """What the page says about it, and not about something else."""
    told = page.wait_for_selector("[data-problem], #said")
    assert told.get_attribute("data-problem") == code, told.inner_text()
    return str(told.inner_text())
