"""The report in a browser: the numbers of the results, for everybody, on screen and on paper."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from browser.visiting import DEVICES, PHONE, Device, Visit
from krand.report import report_page
from krand.report.languages import languages
from report.examples import LAID_OUT, WHOLE, Example, bit_example, odd_results

if TYPE_CHECKING:
    from playwright.sync_api import Page

Begin = Callable[..., Visit]
ROWS = """table => [...table.querySelectorAll("tbody tr")].map(row =>
    [...row.children].map(cell => cell.innerText.replace(/\\s+/g, " ").trim()))"""
ENDS = """() => [...document.querySelectorAll("table.answers")].flatMap(table =>
    [-1, -2].map(column => [...table.rows].map(row => {
        const number = document.createRange();
        number.selectNodeContents([...row.cells].at(column));
        return Math.round(number.getBoundingClientRect().right);
    })))"""
"""Where the number of each row ends, and where its heading ends, column by column."""
HIDDEN = """() => [...document.querySelectorAll("main :is(h1, h2, h3, p, dt, dd, li, tr, svg)")]
    .filter(e => !e.closest("nav, details.long") && !e.checkVisibility({visibilityProperty: true}))
    .map(e => e.outerHTML.slice(0, 100))"""


def opened(visit: Begin, path: Path, *device: Device, **options: bool) -> Page:
    """The report, straight from the disk."""
    page = visit("file:", *device, **options).page
    page.goto(path.as_uri())
    return page


def close(shown: str, share: float) -> bool:
    """Whether a percentage is this share, to its last digit."""
    text = shown.removesuffix(" %").replace("−", "-").replace(",", "")
    digits = len(text.partition(".")[2])
    return math.isclose(float(text), 100 * share, rel_tol=0, abs_tol=0.5000001 / 10**digits)


def texts(example: Example) -> dict[str, str]:
    """Every question's heading."""
    asked = example.values["plan"]["survey"]["question"]
    return {question["name"]: question.get("text") or question["name"] for question in asked}


BOX = re.compile(r"([\d.]+ %) (.+?) ([\d.]+ to [\d.]+)(?: · |$)")


@pytest.mark.check
@pytest.mark.parametrize("name", WHOLE)
def test_every_question_has_the_numbers_of_the_results(
    visit: Begin, reports: dict[str, Path], name: str
) -> None:
    """The share and the interval of every answer are seen; the page has no script."""
    page, example = opened(visit, reports[name]), WHOLE[name]()
    headings = page.locator("[aria-labelledby=results] .panel h3").all_inner_texts()
    assert headings == list(texts(example).values())
    assert page.locator("script").count() == 0
    for question in example.values["questions"]:
        heading = texts(example)[question["name"]]
        panel = page.locator(".panel", has=page.get_by_role("heading", name=heading, exact=True))
        if question["kind"] == "yes_no":
            line = panel.locator(".boxes").inner_text().replace("\N{NO-BREAK SPACE}", " ")
            shown = [(label, share, ends) for share, label, ends in BOX.findall(line)]
        else:
            cells = panel.locator("table.answers").first.evaluate(ROWS)
            shown = [(row[0], row[-2], row[-1]) for row in cells]
        rows = question["rows"] + ([question["unanswered"]] if question["unanswered"] else [])
        for (label, share, ends), row in zip(shown, rows, strict=True):
            assert label.replace(",", "") == row["label"]
            assert close(share, row["consistent_share"])
            low, high = ends.split(" to ")
            assert close(low, row["share_interval"]["low"])
            assert close(high, row["share_interval"]["high"])


@pytest.mark.check
def test_details_open_by_keyboard(visit: Begin, reports: dict[str, Path]) -> None:
    """Every fold: Tab reaches it, visibly, and Enter opens it; without any script."""
    page = opened(visit, reports["bits"], script=False)
    folds = page.locator("details")
    assert folds.count() >= 2
    reached = 0
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
        if page.evaluate("document.activeElement.tagName") == "SUMMARY":
            reached += 1
            outline = "getComputedStyle(document.activeElement).outlineStyle"
            assert page.evaluate(outline) == "solid"
            page.keyboard.press("Enter")
    assert reached == folds.count()
    assert page.locator("details:not([open])").count() == 0


@pytest.mark.check
def test_links_lead_to_their_part_of_the_page(visit: Begin, reports: dict[str, Path]) -> None:
    """Every link has a part of the page that it leads to, and none leads elsewhere."""
    page = opened(visit, reports["bits"])
    links = page.eval_on_selector_all("a", "found => found.map(e => e.getAttribute('href'))")
    assert len(links) > 7
    for link in links:
        assert link.startswith("#")
        assert page.locator(link).count() == 1
    page.click("nav a[href='#annex']")
    box = page.locator("#annex").bounding_box()
    assert 0 <= box["y"] < 900


def test_nine_questions_are_short_on_a_phone(visit: Begin, reports: dict[str, Path]) -> None:
    """Below 6,000 px at 360 px, with everything that is not folded; each question has its line."""
    page = opened(visit, reports["staff"], PHONE)
    assert page.evaluate("document.documentElement.scrollHeight") < 6_000
    assert page.locator("[aria-labelledby=results] .panel").count() == 9
    assert page.locator(".glance li").count() >= 9


@pytest.mark.check
@pytest.mark.parametrize("name", WHOLE)
def test_paper_shows_all_that_the_screen_shows(
    visit: Begin, reports: dict[str, Path], name: str
) -> None:
    """And what is folded on the screen as well: paper cannot be opened."""
    begun = visit("file:", dark=True)
    page = begun.page
    page.goto(reports[name].as_uri())
    folded = page.evaluate(HIDDEN)
    assert (folded != []) is (page.locator("details").count() > 0)
    page.emulate_media(media="print")
    assert page.evaluate(HIDDEN) == []
    colours = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
    assert page.evaluate(colours) == ["rgb(28, 33, 40)", "rgba(0, 0, 0, 0)"]  # ink, no ground
    begun.keep(f"report-{name}-print")


LINES = """() => [...document.querySelectorAll(":is(td, th):not(.aloud *)")].filter(cell => {
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT), range = new Range();
    const bottoms = [];
    while (walk.nextNode()) {
        const text = walk.currentNode, around = text.parentElement;
        if (!around.checkVisibility() || around.closest(".unreadable, .hush")) {
            continue;
        }
        range.selectNodeContents(text);
        const boxes = [...range.getClientRects()].filter(box => box.width);
        bottoms.push(...boxes.map(box => box.bottom));
    }
    bottoms.sort((a, b) => a - b);
    return bottoms.filter((at, i) => i === 0 || at - bottoms[i - 1] > 8).length > 2;
}).map(cell => cell.innerText)"""
"""Cells of tables whose words take more than two lines; that they are uncertain is a line more."""
CLIPPED = """() => [...document.querySelectorAll("main *")].filter(e =>
        e.checkVisibility() && !e.closest(".wide") && !(e instanceof SVGElement) &&
        (e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0 ||
            (e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== "visible"
                && e.clientWidth > 0 &&
                !e.matches("pre, .stacked span, .hush, thead.aloud *, thead.aloud"))))
    .map(e => e.outerHTML.slice(0, 120))"""


@pytest.mark.check
@pytest.mark.parametrize("name", LAID_OUT)
def test_a_phone_clips_nothing_and_wraps_little(
    visit: Begin, reports: dict[str, Path], name: str
) -> None:
    """No element is wider than the screen, and no cell of a table has more than two lines."""
    page = opened(visit, reports[name], PHONE)
    page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert page.evaluate(CLIPPED) == []
    assert page.evaluate(LINES) == []
    page.evaluate("document.querySelector('tbody td.n').innerText = 'word '.repeat(60)")
    assert len(page.evaluate(LINES)) == 1  # a cell that wraps would be found


@pytest.mark.check
@pytest.mark.parametrize("device", DEVICES, ids=lambda device: device.name)
def test_an_odd_survey_fits_the_page(visit: Begin, tmp_path: Path, device: Device) -> None:
    """Long words, a thousand options, emoji, another direction; few people."""
    path = tmp_path / "report.html"
    path.write_text(report_page(odd_results(4)), encoding="utf-8")
    begun = visit("file:", device)
    begun.page.goto(path.as_uri())
    begun.page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    begun.fits()
    begun.keep("report-odd")


@pytest.mark.check
@pytest.mark.parametrize("name", ["small", "staff"])
def test_the_top_needs_no_scrolling_on_a_laptop(
    visit: Begin, reports: dict[str, Path], name: str
) -> None:
    """Title, badges, people, margin and all findings fit on 1280 × 800; the promise begins."""
    page = opened(visit, reports[name], Device("laptop", 1280, 800))
    for part in ("h1", ".badges", ".facts", ".glance", "#safe"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part


@pytest.mark.check
def test_the_browser_example_is_few_pages_of_paper(visit: Begin, reports: dict[str, Path]) -> None:
    """A4, with all that paper shows."""
    page = opened(visit, reports["browser"])
    paper = page.pdf(format="A4")
    assert 1 < len(re.findall(rb"/Type\s*/Page\b(?!s)", paper)) <= 7


@pytest.mark.check
@pytest.mark.parametrize("language", languages())
def test_headings_stand_over_their_columns(visit: Begin, tmp_path: Path, language: str) -> None:
    """However few digits the numbers have and however long the heading is."""
    path = tmp_path / "report.html"
    path.write_text(report_page(bit_example().results, language=language), encoding="utf-8")
    columns = opened(visit, path).evaluate(ENDS)
    assert columns
    for ends in columns:
        assert max(ends) - min(ends) <= 2


@pytest.mark.check
def test_a_phone_gets_the_same_page(visit: Begin, reports: dict[str, Path]) -> None:
    """The same words in the same order, only narrower."""
    wide, narrow = opened(visit, reports["bits"]), opened(visit, reports["bits"], PHONE)
    words = "document.querySelector('main').innerText.split(/\\s+/).filter(Boolean)"
    assert narrow.evaluate(words) == wide.evaluate(words)
