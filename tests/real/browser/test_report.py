"""The report in a browser: for everybody, on screen, phone and paper; its bars are its numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import world
from command_line import done
from krand import save_report
from real.browser.visiting import DESKTOP, PHONE, Device, Visit

Begin = Callable[..., Visit]
HIDDEN = """() => [...document.querySelectorAll("main :is(h1, h2, h3, p, dt, dd, li, tr, svg)")]
    .filter(e => !e.closest("nav, details.long") && !e.checkVisibility({visibilityProperty: true}))
    .map(e => e.outerHTML.slice(0, 100))"""
BARS = """() => [...document.querySelectorAll("table.answers")].map(table =>
    [...table.querySelectorAll("td.bar")].filter(cell => cell.checkVisibility()).map(cell => [
        cell.querySelector(".fill").getBoundingClientRect().width,
        parseFloat(cell.nextElementSibling.innerText.replace(",", "")),
    ]))"""
CLIPPED = """() => [...document.querySelectorAll("main *")].filter(e =>
        e.checkVisibility() && !e.closest(".wide") && !(e instanceof SVGElement) &&
        (e.getBoundingClientRect().right > innerWidth || e.getBoundingClientRect().left < 0))
    .map(e => e.outerHTML.slice(0, 120))"""


@cache
def report(name: str) -> Path:
    """The report of a survey of the world."""

    def make(folder: Path) -> None:
        if name == "trend":
            at = world.files("weeks", folder)
            done("trend results.json results-2.json results-3.json -o report.html", at=at)
        else:
            save_report(world.results(name), folder / "report.html")

    return world.once(f"page-{name}", make) / "report.html"


def opened(visit: Begin, name: str, *device: Device, **options: bool) -> Visit:
    """The report, straight from the disk."""
    begun = visit("file:", *device, **options)
    begun.page.goto(report(name).as_uri())
    return begun


@pytest.mark.parametrize("device", [DESKTOP, PHONE], ids=lambda device: device.name)
@pytest.mark.parametrize("name", ["kinds", "branches", "copies", "mixers", "trend"])
def test_a_report_is_for_everybody(visit: Begin, name: str, device: Device) -> None:
    """In light and dark, folded and open, narrow and wide: nothing is clipped."""
    begun = opened(visit, name, device)
    begun.page.evaluate("document.querySelectorAll('details').forEach(e => { e.open = true; })")
    begun.is_for_everybody(f"report-{name}")
    if name != "trend":
        assert begun.page.evaluate(CLIPPED) == []


def test_bars_are_as_long_as_their_numbers(visit: Begin) -> None:
    """As they are drawn, in each table."""
    tables = opened(visit, "kinds").page.evaluate(BARS)
    assert sum(map(len, tables)) > 20
    for bars in filter(None, tables):
        longest, most = max(bars)
        for length, share in bars:
            assert length * most == pytest.approx(longest * share, abs=0.02 * longest * most)


def test_details_open_by_keyboard(visit: Begin) -> None:
    """Every fold: Tab reaches it, visibly, and Enter opens it; without any script."""
    page = opened(visit, "kinds", script=False).page
    folds = page.locator("details")
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
    assert reached == folds.count() >= 2
    assert page.locator("details:not([open])").count() == 0
    page.click("nav a[href='#annex']")
    assert 0 <= page.locator("#annex").bounding_box()["y"] < 900


def test_paper_shows_all_that_the_screen_shows(visit: Begin) -> None:
    """And what is folded on the screen as well: paper cannot be opened. A phone has every word."""
    page = opened(visit, "kinds", dark=True).page
    words = "document.querySelector('main').innerText.split(/\\s+/).filter(Boolean)"
    assert opened(visit, "kinds", PHONE).page.evaluate(words) == page.evaluate(words)
    assert page.evaluate(HIDDEN) != []
    page.emulate_media(media="print")
    assert page.evaluate(HIDDEN) == []
    colours = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"
    assert page.evaluate(colours) == ["rgb(28, 33, 40)", "rgba(0, 0, 0, 0)"]  # ink, no ground


def test_the_top_needs_no_scrolling_on_a_laptop(visit: Begin) -> None:
    """Title, badges, people, margin and all findings come first; the promise begins there."""
    page = opened(visit, "branches", Device("laptop", 1280, 800)).page
    for part in ("h1", ".badges", ".facts", ".glance"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 800, part
