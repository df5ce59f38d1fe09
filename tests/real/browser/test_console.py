"""The console in a browser: from an empty folder to a report, by keyboard alone on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from chaos import Program
from components import require
from golden import Golden
from html_pages import text_of
from krand import Client, read_results
from krand.testing import UnsafeMemoryLedger
from real.browser.visiting import DESKTOP, PHONE, Device, Visit

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

Begin = Callable[..., Visit]
SAVED = '#saving:has-text("Saved.")'
PEOPLE = 9


@contextmanager
def console(folder: Path) -> Iterator[str]:
    """`krand run` on an empty folder; the address that it prints."""
    folder.mkdir(exist_ok=True)
    with Program("run", folder, "--json", errors=folder.parent / "run.log") as program:
        yield program.wait("console")["url"]


def begun(visit: Begin, address: str, device: Device) -> Visit:
    visiting = visit(address.partition("?")[0], device)
    visiting.page.goto(address)
    return visiting


def answered(form: str) -> None:
    """People answer in the survey's form, each on a device of their own."""
    url, _, plan_hash = form.rstrip("/").rpartition("/")
    for number in range(PEOPLE):
        client = Client.open(url, plan_hash, UnsafeMemoryLedger())
        (question,) = client.plan.survey.questions
        client.submit({question.name: number % 3 > 0})


class Keys:
    """A person who uses the keyboard alone."""

    def __init__(self, page: Page) -> None:
        self._page = page

    def to(self, place: str) -> None:
        """Tab until the focus is there."""
        for _ in range(400):
            if self._page.evaluate("place => document.activeElement.matches(place)", place):
                return
            self._page.keyboard.press("Tab")
        raise AssertionError(f"the keyboard does not reach {place}")

    def type(self, place: str, text: str) -> None:
        self.to(place)
        self._page.keyboard.insert_text(text)

    def press(self, place: str, key: str = "Enter") -> None:
        self.to(place)
        self._page.keyboard.press(key)


def test_from_an_empty_folder_to_a_report_by_keyboard_on_a_phone(
    tmp_path: Path, visit: Begin, golden: Golden
) -> None:
    """The token is typed; every page fits, in light and dark, and axe-core is content."""
    with console(tmp_path / "surveys") as address:
        home, _, token = address.partition("?token=")
        visiting = visit(home, PHONE)
        visiting.statuses |= {401}
        page, keys = visiting.page, Keys(visiting.page)
        page.goto(home)
        keys.type("#token", "a guess")
        keys.press("#token-button")
        assert page.inner_text("#wrong-token") == "Wrong token."
        keys.type("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#new-survey")
        assert page.url == home
        assert page.evaluate("document.cookie") == ""  # scripts cannot read it
        keys.type("#title", "Canteen")
        keys.press("#make")
        page.wait_for_selector("#q1_text")
        keys.type("#q1_text", "Is it good?")
        page.wait_for_selector(SAVED)
        page.frame_locator("#preview").get_by_text("1 question").first.wait_for()
        visiting.is_for_everybody("console-questions")
        keys.press("#step-promise")
        page.wait_for_selector("#coalitions table")
        visiting.is_for_everybody("console-promise")
        keys.press("#step-publish")
        page.wait_for_selector("#yes")
        visiting.is_for_everybody("console-publishing")
        keys.press("#yes", "Space")
        keys.press("#publish")
        page.wait_for_selector("#form-address")
        assert page.locator(".qr svg").is_visible()
        visiting.is_for_everybody("console-publish")
        answered(page.get_attribute("#form-address", "href") or "")
        keys.press("#step-questions")
        assert page.is_disabled("#q1_text")
        keys.press("#step-watch")
        page.wait_for_selector("#came")
        assert page.inner_text("#came") == "At least 5 so far", "people are told in steps of five"
        keys.press("#closing summary")
        visiting.is_for_everybody("console-watch")
        said = text_of(page.content()).partition("# ")[2]
        golden("console/watch", said, {r"krand \d[\d.]+": ""})
        keys.press("#yes", "Space")
        keys.press("#close")
        page.wait_for_selector("#report-link")
        visiting.is_for_everybody("console-results")
        with page.expect_download() as workbook:
            keys.press("#excel")
        assert workbook.value.suggested_filename == "canteen-results.xlsx"
        require("openpyxl").load_workbook(BytesIO(workbook.value.path().read_bytes()))
        (results,) = (tmp_path / "surveys").glob(".krand/results/*/results.json")
        assert read_results(results).people == PEOPLE
        keys.press("#report-link")
        assert page.inner_text("h1") == "Canteen"
        page.goto(f"{home}?language=de")
        for step in ("questions", "promise", "publish", "watch", "results"):
            page.goto(f"{home}surveys/canteen/{step}")
            assert page.get_attribute("html", "lang") == "de"
            visiting.fits()


def test_what_comes_late_or_not_at_all(tmp_path: Path, visit: Begin) -> None:
    """Numbers of another promise than the page says stay away; what was known last is marked."""
    with console(tmp_path / "surveys") as address:
        visiting = begun(visit, address, DESKTOP)
        visiting.expected += ["ERR_INTERNET_DISCONNECTED"]
        page = visiting.page
        page.fill("#title", "Canteen")
        page.click("#make")
        page.wait_for_selector("#q1_text")
        page.fill("#q1_text", "Is it good?")
        page.wait_for_selector(SAVED)
        late: list[Route] = []

        def hold_the_first(route: Route) -> None:
            if late:
                route.continue_()
            else:
                late.append(route)

        page.route("**/part/promise", hold_the_first)
        with page.expect_request("**/part/promise"):
            page.click("#step-promise")
        while not late:
            page.wait_for_timeout(20)
        page.check("#chosen-1")  # ε = 0.5
        late[0].fulfill(body="<p id='late'>Numbers of ε = 1.</p>", headers={"X-State": "planned"})
        page.wait_for_selector('#result:not([aria-busy="true"]) #half-width-value')
        assert page.locator("#late").count() == 0
        assert "0.5" in (page.text_content("#promise-sentence") or "")
        page.clock.install()
        page.click("#step-publish")
        page.wait_for_selector("#state", state="attached")
        assert not page.is_visible("#unreachable")
        page.context.set_offline(True)
        page.clock.run_for(10_000)
        page.wait_for_selector("#unreachable", state="visible")
        page.context.set_offline(False)
        page.clock.run_for(10_000)
        page.wait_for_selector("#unreachable", state="hidden")
