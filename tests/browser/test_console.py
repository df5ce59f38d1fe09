"""The console in a browser: from an empty folder to a report, and by keyboard alone on a phone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.sites import console
from browser.test_every_page import is_for_everybody
from browser.visiting import DESKTOP, PHONE, Device, Visit
from command_line import done
from components import require
from krand.analysis.results_file import read_results
from krand.site.checks import publish as publish_plan
from krand.site.making import folder_of
from krand.survey.plan_file import read_plan
from krand.survey.survey_folder import SurveyFolder
from partners.processes import POLICY, Served, mixer_serving
from site_processes import MIXED, PEOPLE, answered, free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

pytestmark = pytest.mark.check

Begin = Callable[..., Visit]
Source = Callable[[], str]
SAVED = '#saving:has-text("Saved.")'


def begun(visit: Begin, address: str, device: Device) -> Visit:
    visiting = visit(address.partition("?")[0], device)
    visiting.page.goto(address)
    return visiting


def write_questions(page: Page) -> None:
    """A survey of three questions; the form beside them is the real one."""
    page.fill("#title", "How we treat each other")
    page.click("#make")
    page.fill("#q1_text", "Were you treated fairly?")
    page.wait_for_selector(SAVED)
    page.click('button[value="add:scale"]')
    page.wait_for_selector("#q2_text")
    page.fill("#q2_text", "How is the team?")
    page.wait_for_selector(SAVED)
    form = page.frame_locator("#preview")
    form.get_by_text("2 questions").first.wait_for()
    assert form.get_by_text("nothing is sent").is_visible()


def publish(page: Page) -> str:
    """The address of the form."""
    page.check("#yes")
    page.click("#publish")
    page.wait_for_selector("#form-address")
    assert page.locator(".qr svg").is_visible()
    return page.get_attribute("#form-address", "href") or ""


def close(page: Page) -> None:
    page.click("#step-watch")
    page.wait_for_selector("#came")
    page.click("#closing summary")
    page.check("#yes")
    page.click("#close")
    page.wait_for_selector("#report-link")


@contextmanager
def two_partners(tmp_path: Path) -> Iterator[list[Served]]:
    """Mixers of other organisations, running."""
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8")
    options = ("--no-anchor", "--policy", policy)
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setenv(
            "XDG_STATE_HOME", str(tmp_path / "state")
        )
        yield [
            stack.enter_context(mixer_serving(tmp_path / name, "--name", name, *options))
            for name in ("university", "union")
        ]


def in_two_weeks() -> str:
    return (datetime.now(UTC) + timedelta(days=14)).date().isoformat()


def test_from_an_empty_folder_to_a_report_with_two_partners(tmp_path: Path, visit: Begin) -> None:
    """Nothing but the pages is used; the survey outlives the console, and cannot be edited."""
    folder = tmp_path / "surveys"
    with two_partners(tmp_path) as mixers, console(folder) as address:
        page = begun(visit, address, DESKTOP).page
        write_questions(page)
        page.click("#step-promise")
        page.fill("#expected", str(PEOPLE))
        page.wait_for_selector("#curve-table tr.best")
        page.click("#step-partners")
        first, second = mixers
        page.fill("#addresses", f"{first.address}\n{second.url}")
        page.fill("#address", f"https://127.0.0.1:{free_port()}")
        page.fill("#closes", in_two_weeks())
        page.click("#ask")
        assert second.words in page.inner_text("#compare")
        page.check("#compare input")
        page.click("#ask")
        page.wait_for_selector("#paired a")
        page.click("#paired a")
        survey = SurveyFolder(folder / "how-we-treat-each-other" / "survey.krand")
        answered(survey, publish(page))
        page.click("#step-questions")
        assert page.is_disabled("#q1_text")
        close(page)
        page.click("#report-link")
        assert page.inner_text("h1") == "How we treat each other"
        assert read_plan(survey.plan).survey.trust.mixers == 3
        assert read_results(survey.analyst / "results.json").people == PEOPLE


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


@pytest.mark.parametrize("with_partners", [False, True])
def test_by_keyboard_alone_on_a_phone(
    tmp_path: Path, visit: Begin, axe: Source, with_partners: bool
) -> None:
    """The same; every page fits, in light and dark, and axe-core is content."""
    with ExitStack() as stack:
        mixers = stack.enter_context(two_partners(tmp_path)) if with_partners else []
        address = stack.enter_context(console(tmp_path / "surveys"))
        visiting = begun(visit, address, PHONE)
        page, keys = visiting.page, Keys(visiting.page)
        keys.type("#title", "Canteen")
        keys.press("#make")
        page.wait_for_selector("#q1_text")
        keys.type("#q1_text", "Is it good?")
        page.wait_for_selector(SAVED)
        page.frame_locator("#preview").get_by_text("1 question").first.wait_for()
        is_for_everybody(visiting, axe, "console-questions")
        keys.press("#step-promise")
        page.wait_for_selector("#coalitions table")
        is_for_everybody(visiting, axe, "console-promise")
        keys.press("#step-partners")
        page.wait_for_selector("#alone")
        is_for_everybody(visiting, axe, "console-partners")
        if with_partners:
            keys.type("#addresses", "\n".join((mixers[0].address, mixers[1].url)))
            keys.type("#address", f"https://127.0.0.1:{free_port()}")
            keys.to("#closes")
            year, month, day = in_two_weeks().split("-")
            page.keyboard.type(f"{month}{day}{year}")
            keys.press("#ask")
            page.wait_for_selector("#compare input")
            keys.press("#compare input", "Space")
            keys.press("#ask")
            page.wait_for_selector("#paired a")
            is_for_everybody(visiting, axe, "console-paired")
            keys.press("#paired a")
        else:
            keys.press("#alone")
        page.wait_for_selector("#yes")
        keys.press("#yes", "Space")
        keys.press("#publish")
        page.wait_for_selector("#form-address")
        is_for_everybody(visiting, axe, "console-publish")
        survey = SurveyFolder(tmp_path / "surveys" / "canteen" / "survey.krand")
        answered(survey, page.get_attribute("#form-address", "href") or "")
        keys.press("#step-watch")
        page.wait_for_selector("#came")
        assert page.inner_text("#came") in ("Fewer than 32 so far", "At least 32 so far")
        keys.press("#closing summary")
        is_for_everybody(visiting, axe, "console-watch")
        keys.press("#yes", "Space")
        keys.press("#close")
        page.wait_for_selector("#report-link")
        is_for_everybody(visiting, axe, "console-results")
        with page.expect_download() as workbook:
            keys.press("#excel")
        assert workbook.value.suggested_filename == "canteen-results.xlsx"
        file = workbook.value.path().read_bytes()
        sheets = require("openpyxl").load_workbook(BytesIO(file)).sheetnames
        assert sheets == ["Overview", "1 Is it good", "results"]
        assert read_results(survey.analyst / "results.json").people == PEOPLE


def test_the_page_of_mails_is_for_everybody(tmp_path: Path, visit: Begin, axe: Source) -> None:
    """From the addresses to the messages that would leave; and all steps in German."""
    file = tmp_path / "surveys" / "team" / "survey.toml"
    file.parent.mkdir(parents=True)
    file.write_text(f"invitations = true\n{MIXED}", encoding="utf-8")
    found = folder_of(file)
    publish_plan(found, read_plan(found.plan))
    links = found.path / "invitations.csv"
    done("invite", found.plan, "--count 0 --url https://form.example/ -o", links)
    with console(tmp_path / "surveys") as address:
        visiting = begun(visit, address, PHONE)
        page = visiting.page
        page.goto(f"{address.partition('?')[0]}surveys/team/mail")
        page.fill("#addresses", "anna@example.org")
        page.fill("#smtp", "smtps://us@mail.example.org")
        page.fill("#from", "us@example.org")
        page.click("#look")
        page.wait_for_selector("#send")
        is_for_everybody(visiting, axe, "console-mail")
        home = address.partition("?")[0]
        page.goto(f"{home}?language=de")
        for step in ("questions", "promise", "partners", "publish", "watch", "results", "mail"):
            page.goto(f"{home}surveys/team/{step}")
            assert page.get_attribute("html", "lang") == "de"
            is_for_everybody(visiting, axe, f"console-{step}-de")


def test_the_token_can_be_typed(tmp_path: Path, visit: Begin) -> None:
    """A wrong one is told so; the right one opens the page and stands in no address."""
    with console(tmp_path / "surveys") as address:
        home, _, token = address.partition("?token=")
        visiting = visit(home)
        visiting.statuses |= {401, 404}
        page = visiting.page
        page.goto(home)
        page.fill("#token", "a guess")
        page.click("#token-button")
        assert page.inner_text("#wrong-token") == "Wrong token."
        page.fill("#token", token)
        page.keyboard.press("Enter")
        page.wait_for_selector("#new-survey")
        assert page.url == home
        assert page.evaluate("document.cookie") == ""  # scripts cannot read it
        page.goto(f"{home}nowhere")
        page.click("#nav-surveys")
        page.wait_for_selector("#new-survey")


def test_it_says_when_nobody_answers_any_more(tmp_path: Path, visit: Begin) -> None:
    """What was known last stays, marked as such, until there is news."""
    with console(tmp_path / "surveys") as address:
        visiting = begun(visit, address, DESKTOP)
        visiting.expected += ["ERR_INTERNET_DISCONNECTED"]
        page = visiting.page
        page.fill("#title", "Canteen")
        page.click("#make")
        page.wait_for_selector("#q1_text")
        page.clock.install()
        page.click("#step-partners")
        page.wait_for_selector("#state", state="attached")
        assert not page.is_visible("#unreachable")
        page.context.set_offline(True)
        page.clock.run_for(10_000)
        page.wait_for_selector("#unreachable", state="visible")
        page.context.set_offline(False)
        page.clock.run_for(10_000)
        page.wait_for_selector("#unreachable", state="hidden")


def test_an_answer_that_comes_late_is_never_shown(tmp_path: Path, visit: Begin) -> None:
    """Numbers of another promise than the page says stay away, however slow the machine is."""
    with console(tmp_path / "surveys") as address:
        page = begun(visit, address, DESKTOP).page
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
        page.click("#step-promise")
        page.wait_for_timeout(100)
        while not late:
            page.wait_for_timeout(20)
        page.check("#chosen-1")  # ε = 0.5
        late[0].fulfill(body="<p id='late'>Numbers of ε = 1.</p>", headers={"X-State": "planned"})
        page.wait_for_selector('#result:not([aria-busy="true"]) #half-width-value')
        assert page.locator("#late").count() == 0
        assert "0.5" in (page.text_content("#promise-sentence") or "")
