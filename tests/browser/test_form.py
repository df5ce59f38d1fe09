"""The survey as a form: people answer in a browser, and the collector gets what they saw."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from browser.forms import (
    PEOPLE,
    FormSite,
    by_keyboard,
    every_kind_plan,
    filled,
    form_site,
    go_on,
    press,
    press_by_keyboard,
    reported,
    sent,
    staff_plan,
    started,
    verdict,
)
from browser.visiting import DESKTOP, PHONE, Device, Visit
from components import require
from krand.showing import unbroken
from krand.wire.receipts import check_receipt
from krand.wording.plans import promise_sentence
from krand.wording.promises import assumption_texts

require("starlette")
require("uvicorn")

Begin = Callable[..., Visit]
TRANSFERRED = 60_000
"""Bytes of page, script and style that a browser may get from a collector, headers included."""
UNPACKED = 125_000
"""The same files as they are; whoever needs more raises it knowingly."""
SMALLEST_TARGET = 44
SCREENS = [(DESKTOP, False), (PHONE, True), (DESKTOP, True), (PHONE, False)]
"""Devices, and whether they are dark."""


@pytest.fixture
def form(chromium: str, tmp_path: Path) -> Iterator[FormSite]:
    """A form that nobody has answered."""
    with form_site(tmp_path, every_kind_plan()) as site:
        yield site


@pytest.mark.check
def test_results_are_what_browsers_said_they_sent(form: FormSite, visit: Begin) -> None:
    """Every count of the tally is that of the positions which people were shown."""
    crowd = form.plan.promise.crowd
    expected: Counter[int] = Counter()
    for number in range(crowd):
        begun = visit(form.url, (DESKTOP, PHONE)[number % 2])
        page = filled(started(begun.page, form.url), PEOPLE[number % len(PEOPLE)])
        press(page, "Show me what is sent")
        expected.update(reported(page))
        sent(page)
    assert form.people == crowd
    tally = form.tally()
    assert (tally.people, tally.rejected) == (crowd, {})
    assert list(tally.counts) == [expected[place] for place in range(form.plan.layout.positions)]


def test_what_is_shown_is_what_is_sent(form: FormSite, visit: Begin) -> None:
    """Byte for byte; afterwards answers cannot be changed, and go back leads nowhere else."""
    page = filled(started(visit(form.url).page, form.url), PEOPLE[0])
    press(page, "Show me what is sent")
    page.get_by_text("The sealed bytes").click()
    shown = page.wait_for_selector("pre:not(:empty)").inner_text()
    assert page.inner_text(".why").startswith("Why is an answer protected that is sent unchanged?")
    assert page.get_by_role("button", name="Change").count() == 0
    page.go_back()
    assert page.inner_text("h1") == "Check your answers"
    with page.expect_request("**/submissions") as request:
        sent(page)
    assert request.value.post_data_buffer.hex() == shown


@pytest.mark.check
def test_reload_double_click_and_two_tabs_are_one_submission(form: FormSite, visit: Begin) -> None:
    """A reload keeps answers, two clicks send once, and another tab learns that it is done."""
    begun = visit(form.url)
    page = filled(started(begun.page, form.url), PEOPLE[1])
    page.reload()
    page.get_by_text("by car").wait_for()
    other = page.context.new_page()
    other.goto(form.url)
    press(other, "Continue")
    other.get_by_text("Check your answers").wait_for()
    page.get_by_role("button", name="Send my answers").dblclick()
    page.wait_for_selector("#said")
    press(other, "Send my answers")
    other.wait_for_selector("#said")
    assert "already answered" in other.inner_text("#said")
    page.reload()
    page.wait_for_selector("#said")
    assert form.people == 1
    kept = page.evaluate("indexedDB.databases().then(all => all.map(each => each.name))")
    assert "krand-form" in kept
    assert page.evaluate(DRAFTS) == 0


DRAFTS = """() => new Promise(done => { const open = indexedDB.open("krand-form");
    open.onsuccess = () => {
        const count = open.result.transaction("drafts").objectStore("drafts").count();
        count.onsuccess = () => done(count.result); }; })"""


@pytest.mark.check
def test_offline_and_a_crash_lose_nothing(form: FormSite, visit: Begin) -> None:
    """The page says so; a new page sends the bytes that were kept, and they are the same."""
    begun = visit(form.url)
    begun.expected.append("ERR_INTERNET_DISCONNECTED|ERR_FAILED")
    page = filled(started(begun.page, form.url), PEOPLE[0])
    bodies = []
    page.context.on(
        "request", lambda r: bodies.append(r.post_data_buffer) if r.method == "POST" else None
    )
    page.context.set_offline(True)
    press(page, "Send my answers")
    page.get_by_text("That did not work (attempt 1)").wait_for()
    context = page.context
    page.close()
    context.set_offline(False)
    later = context.new_page()
    later.goto(form.url)
    press(later, "Send now")
    later.wait_for_selector("#said")
    assert form.people == 1
    assert len(bodies) >= 2
    assert len(set(bodies)) == 1


def test_the_page_promises_what_krand_promises(form: FormSite, visit: Begin) -> None:
    """First as a guess, then in the very words of the plan's other pages, number by number."""
    page = visit(form.url).page
    page.goto(form.url)
    assert form.plan.promise.epsilon == 40
    assert "may be able to tell what you answered" in page.inner_text("#guess")
    assert page.locator(".way li").all_inner_texts() == [
        "you",
        "4\xa0people or more",
        "the results",
    ]
    assert not page.locator("#promise").is_visible()
    page.get_by_text("Details").click()
    assert page.locator("#promise").is_visible()
    assert page.text_content("#promise") == unbroken(promise_sentence(form.plan))
    assert page.locator("#assumptions li").all_text_contents() == [
        text.replace("'", "’") for text in assumption_texts(form.plan.promise)
    ]
    assert not page.locator("#host").is_visible()
    page.get_by_text("What leaves this device").click()
    assert "replace its code" in page.inner_text("#host")
    assert "<b>living</b>" in page.inner_text("main")


@pytest.mark.check
def test_a_receipt_can_be_saved_and_checked(form: FormSite, visit: Begin) -> None:
    """It has the collector's signature of plan and round, and nothing else of the submission."""
    page = filled(started(visit(form.url).page, form.url), PEOPLE[2])
    sent(page)
    assert verdict(page).startswith("The signature is valid.")
    again = page.context.new_page()
    again.goto(form.url)
    again.wait_for_selector("#said")
    assert "does not sign" not in again.inner_text("main")
    assert "This browser does not keep it." in verdict(again)
    again.close()
    page.get_by_text("Receipt", exact=True).click()
    with page.expect_download() as download:
        press(page, "Save the receipt")
    text = Path(download.value.path()).read_text(encoding="utf-8")
    lines = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
    assert lines["Plan (SHA-256)"] == form.plan.hash
    signature = lines["Collector’s signature"]
    assert check_receipt(form.signer.public_key(), signature, form.plan.hash, 1)


@pytest.mark.check
def test_only_the_forms_own_files_are_asked_for(form: FormSite, visit: Begin) -> None:
    """Page, script, style, plan, then the collector; what is transferred stays in the budget."""
    begun = visit(form.url)
    page = started(begun.page, form.url)
    sizes = {name: (packed, whole) for name, packed, whole in page.evaluate(SIZES)}
    sent(filled(page, PEOPLE[0]))
    root = f"{form.url}v1/{form.plan.hash}/"
    names = ("", "form.js", "form.css", "plan.json")
    own = {form.url + name for name in names} | {root + "status", root + "submissions"}
    assert set(begun.requests) == own
    needed = [sizes[form.url + name] for name in ("", "form.js", "form.css")]
    assert min(min(each) for each in needed) > 0
    assert sum(packed for packed, _ in needed) <= TRANSFERRED
    assert sum(whole for _, whole in needed) <= UNPACKED


SIZES = """["navigation", "resource"].flatMap(kind => performance.getEntriesByType(kind))
    .map(e => [e.name, e.transferSize, e.decodedBodySize])"""


def test_a_plan_that_was_changed_is_refused(form: FormSite, visit: Begin) -> None:
    """Before the first question, with what to do."""
    page = visit(form.url).page
    changed = form.plan.bytes.replace(b"Life in our town", b"Life in your town")
    page.route("**/plan.json", lambda route: route.fulfill(body=changed))
    page.goto(form.url)
    page.wait_for_selector('[data-problem="wrong-plan"]')
    assert "ask the organiser" in page.inner_text("main")


@pytest.mark.check
@pytest.mark.parametrize(
    ("device", "dark"),
    SCREENS,
    ids=lambda value: {True: "dark", False: "light"}.get(value) or value.name,
)
def test_every_page_is_accessible(
    form: FormSite, visit: Begin, axe: Callable[[], str], device: Device, dark: bool
) -> None:
    """axe-core finds nothing, nothing scrolls sideways, and fingers hit every control."""
    begun = visit(form.url, device, dark=dark)
    page, source = begun.page, axe()

    def check(name: str) -> None:
        accessible(begun, source, name, dark)

    page.goto(form.url)
    page.get_by_role("button", name="Start").wait_for()
    check("start")
    press(page, "Start")
    for number in range(1, 8):
        check(f"question-{number}")
        if number == 2:
            go_on(page)
            check("error")
            page.get_by_role("radio", name="by car").check()
        if number == 3:
            page.get_by_role("combobox").fill("k")
            check("search")
            page.keyboard.press("Escape")
            page.get_by_role("combobox").fill("")
        go_on(page)
    check("review")
    press(page, "Show me what is sent")
    page.get_by_text("The sealed bytes").click()
    check("shown")
    check_the_way_of_a_submission(begun, check)


def accessible(begun: Visit, source: str, name: str, dark: bool) -> None:
    """axe-core has nothing to say of the page as it is."""
    page = begun.page
    page.evaluate(f"(() => {{ {source} }})()")
    found = page.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
    assert found == [], name
    begun.fits()
    assert page.evaluate(SMALL, SMALLEST_TARGET) == [], name
    begun.keep(f"form-{name}-{'dark' if dark else 'light'}")


def check_the_way_of_a_submission(begun: Visit, check: Callable[[str], None]) -> None:
    """Refused, sent in vain, left pending, delivered."""
    page = begun.page
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
    check("sending")
    page.reload()
    page.get_by_role("button", name="Send now").wait_for()
    check("pending")
    page.unroute("**/submissions")
    press(page, "Send now")
    page.wait_for_selector("#said")
    check("thanks")


@pytest.fixture
def staff(chromium: str, tmp_path: Path) -> Iterator[FormSite]:
    """A form with a condition and with tables."""
    with form_site(tmp_path, staff_plan()) as site:
        yield site


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


def test_questions_appear_and_vanish_with_the_answers_before(staff: FormSite, visit: Begin) -> None:
    """What is no longer asked is neither required nor sent; whoever goes back finds it again.

    A page has one number, whatever was answered before.
    """
    page = visit(staff.url).page
    page.goto(staff.url)
    page.get_by_text("Up to 8 questions").wait_for()
    press(page, "Start")
    page.get_by_text("Question 1 of 8").wait_for()
    pressed(page, "Yes")
    page.get_by_text("Question 2 of 8").wait_for()
    go_on(page)
    page.get_by_text("Please answer this question.").wait_for()
    pressed(page, "5 to 19")
    page.get_by_text("Questions 3 to 5 of 8").wait_for()
    pressed(page, "My pay is fair. 1: not at all", "We laugh. Prefer not to say")
    go_on(page)
    page.get_by_text("Please answer every statement.").wait_for()
    assert page.evaluate("document.activeElement.closest('tr').innerText").startswith("On Monday")
    pressed(page, "On Monday nobody", "On Friday people of my own team")
    pressed(page, "No")
    rest = ["1: not at all", "No answer", "Prefer not to say", "nobody", "people of my own team"]
    assert reviewed(page) == ["Yes", "5 to 19 (people)", *rest, "No"]
    rows = [text.split("\n") for text in page.locator(".answers dt").all_inner_texts()]
    assert rows[2] == ["How far do you agree?", "Tell us openly.", "", "My pay is fair."]
    assert [rows[3], rows[5]] == [
        ["My manager listens to me."],
        ["Who helped you?", "", "On Monday"],
    ]
    page.get_by_role("button", name="Change your answer: Do you lead a team?").click()
    pressed(page, "No")
    page.get_by_text("Questions 3 to 5 of 8").wait_for()
    page.go_back()
    pressed(page, "Yes")
    assert page.get_by_role("radio", name="5 to 19").is_checked()
    press(page, "Back")
    pressed(page, "No")
    for _ in range(3):
        go_on(page)
    assert reviewed(page) == ["No", *rest, "No"]
    press(page, "Show me what is sent")
    page.wait_for_selector(".shown")
    mine = page.locator(".reported li:is(.kept, .gone)").all_inner_texts()
    assert [text.split(":")[0] for text in mine] == [
        "Do you lead a team? – No",
        "My pay is fair. – 1",
        "On Monday – nobody",
        "On Friday – people of my own team",
    ]
    sent(page)
    assert staff.people == 1


@pytest.mark.check
@pytest.mark.parametrize(
    ("device", "dark"),
    SCREENS,
    ids=lambda value: {True: "dark", False: "light"}.get(value) or value.name,
)
def test_statements_are_a_table_or_one_after_another(
    staff: FormSite, visit: Begin, axe: Callable[[], str], device: Device, dark: bool
) -> None:
    """Headings above columns where there is room; written out below each statement on phones."""
    begun = visit(staff.url, device, dark=dark)
    page = started(begun.page, staff.url)
    pressed(page, "Yes")
    accessible(begun, axe(), "ranges", dark)
    pressed(page, "20 or above")
    lines = page.get_by_role("heading", name="How far do you agree?").inner_text()
    assert lines.splitlines() == ["How far do you agree?", "Tell us openly."]
    rows = page.locator(".matrix tbody tr")
    heading, first = page.locator("thead th").first, rows.first.locator(".option").first
    wide = device is DESKTOP
    assert heading.is_visible() == wide
    assert first.locator("span").is_visible() != wide
    cells = [box["y"] for box in (cell.bounding_box() for cell in rows.first.locator("td").all())]
    assert (len(set(cells)) == 1) == wide
    for key in ("Tab", "Space", "ArrowRight", "Tab", "ArrowDown"):
        page.keyboard.press(key)
    accessible(begun, axe(), "matrix", dark)
    checked = page.locator(".matrix :checked")
    names = checked.evaluate_all("all => all.map(e => e.closest('tr').innerText.split('\\n')[0])")
    assert [name.strip() for name in names] == ["My pay is fair.", "My manager listens to me."]
    go_on(page)
    page.get_by_role("heading", name="Who helped you?").wait_for()
    go_on(page)
    accessible(begun, axe(), "matrix-choices", dark)


SMALL = """smallest => [...document.querySelectorAll(
        "button, .option, summary, input[type=text], .found li")]
    .filter(e => e.checkVisibility() && e.getBoundingClientRect().height < smallest)
    .map(e => e.outerHTML.slice(0, 80))"""


@pytest.mark.check
def test_the_keyboard_alone_is_enough(form: FormSite, visit: Begin) -> None:
    """Tab, space, arrows and Enter lead from the start to the receipt."""
    page = by_keyboard(visit(form.url).page, form.url)
    answers = page.locator(".answers dd:first-of-type").all_inner_texts()
    assert answers == ["Yes", "by bicycle", "Köln 1", "baker", "7 m²", "1: not at all", "p"]
    press_by_keyboard(page, "Send my answers")
    page.wait_for_selector("#said")
    assert form.people == 1


README = Path(__file__).parents[2] / "README.md"


def answered_with(kind: str, body: str) -> Callable[[Any], None]:
    """A file that the collector does not have."""
    return lambda route: route.fulfill(body=body, content_type=f"text/{kind}")


@pytest.mark.check
def test_the_four_lines_of_the_readme_work_on_every_visit(
    chromium: str, browser: Any, tmp_path: Path
) -> None:
    """As they stand there, with another address, hash and answers; later visits send nothing."""
    found = re.findall(r"```html\n<script.*?>(.*?)</script>", README.read_text("utf-8"), re.DOTALL)
    (lines,) = found
    with form_site(tmp_path, every_kind_plan()) as form:
        script = lines.replace("https://collector.example", form.url.rstrip("/"))
        script = script.replace("PLAN HASH", form.plan.hash)
        script = script.replace("crashed: false, tabs: 12", 'bicycle: true, way: "by car"')
        assert script.count(form.url) == 1
        page, posted = browser.new_page(), []
        page.on("request", lambda r: posted.append(r.url) if r.method == "POST" else None)
        page.route("**/mine", answered_with("html", "<!doctype html>"))
        page.route("**/mine.js", answered_with("javascript", script))
        for _ in range(3):
            page.goto(f"{form.url}mine")
            page.evaluate("() => import('/mine.js')")  # throws what the lines throw
        assert form.people == len(posted) == 1
        page.close()
