"""Make sheets of every kind of page, to be looked at: build/sheets, one PNG for each kind.

    python docs/make_sheets.py          # all of them; `make pictures` does the same
    python docs/make_sheets.py form     # these alone

A row is a page in one language, whole, on screens of three widths, light and dark, and on paper.
The documentation is shown as `make docs` has built it.
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from make_pictures import SURVEYS, Studio, console, report_page, running
from pictures.shooting import BEHIND, GAP, MARGIN, Look, browsing, opened
from pictures.simulated import simulated_rounds
from PIL import Image, ImageDraw, ImageFont

if TYPE_CHECKING:
    from playwright.sync_api import Page

BUILD = Path(__file__).resolve().parents[1] / "build"
WIDTHS, PAPER = (360, 768, 1280), 794 - 2 * MARGIN  # A4
SEEN = partial(Look, height=700, scale=0.5)
LOOKS = {
    **{
        f"{width} px, {scheme}": SEEN(width=width, scheme=scheme)
        for scheme in ("light", "dark")
        for width in WIDTHS
    },
    "print": SEEN(width=PAPER, media="print"),
}
LABEL = 30
"""The room above a tile for its name."""

Walk = Callable[["Page"], Iterator[str]]
"""Goes from one state of a page to the next, and names each."""
Kind = Callable[[Studio, ExitStack], dict[str, tuple[str, Walk]]]
"""Begins what a kind of pages needs: its rows, each with an address and a walk."""


def as_it_is(_: Page) -> Iterator[str]:
    """A page that has one state."""
    yield ""


def reports(studio: Studio, _: ExitStack) -> dict[str, tuple[str, Walk]]:
    """Nine questions, crossed once."""
    pages = {language: report_page("staff", language, studio) for language in ("en", "de")}
    return {language: (page.as_uri(), as_it_is) for language, page in pages.items()}


def trends(studio: Studio, _: ExitStack) -> dict[str, tuple[str, Walk]]:
    """Twelve rounds with a change."""
    from krand import make_trend
    from krand.report.trend_page import trend_page

    trend, found = make_trend(simulated_rounds(SURVEYS / "weekly.toml", 2_000)), {}
    for language in ("en", "de"):
        page = studio.folder / f"trend-{language}.html"
        page.write_text(trend_page(trend, language), encoding="utf-8")
        found[language] = (page.as_uri(), as_it_is)
    return found


def documentation(_studio: Studio, _: ExitStack) -> dict[str, tuple[str, Walk]]:
    """The first page."""
    return {"en": ((BUILD / "docs" / "docs" / "index.html").as_uri(), as_it_is)}


def forms(studio: Studio, stack: ExitStack) -> dict[str, tuple[str, Walk]]:
    """From the first page to the last, with a collector that takes the answers."""
    address = _form(studio, stack)
    return {language: (f"{address}?lang={language}", _answered) for language in ("en", "de", "ar")}


def _answered(page: Page) -> Iterator[str]:
    page.locator("h1").wait_for()
    yield "start"
    forward = page.locator("form button:not([type])")
    page.locator("button").first.click()
    page.locator(".scale .option").nth(3).click()
    yield "scale"
    forward.click()
    page.locator(".option").nth(3).click()
    yield "choice"
    forward.click()
    page.locator(".option").nth(0).click()
    forward.click()
    page.locator(".matrix").wait_for()
    yield "statements"
    forward.click()
    page.locator(".answers").wait_for()
    page.locator("summary").last.click()
    page.locator(".shown").wait_for()
    yield "what is sent"
    page.locator("button:not(.second):not(.link)").first.click()
    page.locator("#verdict").wait_for(state="attached")
    yield "end"


def _form(studio: Studio, stack: ExitStack) -> str:
    """Of a survey that runs, so that it takes answers."""
    survey = studio.folder / "town.toml"
    shutil.copy(SURVEYS / "town.toml", survey)
    told = stack.enter_context(running(survey, "--yes", "--no-console", until="published"))
    return str(told["form"])


def consoles(studio: Studio, stack: ExitStack) -> dict[str, tuple[str, Walk]]:
    """What an organiser sees before a survey is published."""
    address = stack.enter_context(console(studio.folder / "surveys"))
    home = address.partition("?")[0]
    return {code: (address, partial(_steps, home, code)) for code in ("en", "de")}


def _steps(address: str, language: str, page: Page) -> Iterator[str]:
    page.goto(f"{address}?language={language}")
    yield "surveys"
    for step in ("questions", "promise", "publish"):
        page.goto(f"{address}surveys/work/{step}")
        if step == "promise":
            page.locator("#coalitions").wait_for()
        elif step == "questions":
            # On paper it is hidden.
            page.frame_locator("iframe").locator("h1").wait_for(state="attached")
        yield step


KINDS: dict[str, Kind] = {
    "report": reports,
    "form": forms,
    "console": consoles,
    "documentation": documentation,
    "trend": trends,
}


def rows_of(kind: Kind, studio: Studio) -> dict[str, dict[str, Image.Image]]:
    """Every page of a kind, as each look shows it."""
    rows: dict[str, dict[str, Image.Image]] = {}
    with ExitStack() as stack:
        for language, (address, walk) in kind(studio, stack).items():
            for name, look in LOOKS.items():
                with opened(studio.browser, address, look) as page:
                    for state in walk(page):
                        seen = Image.open(io.BytesIO(page.screenshot(full_page=True)))
                        rows.setdefault(f"{language} {state}".strip(), {})[name] = seen
    return rows


def sheet_of(rows: dict[str, dict[str, Image.Image]]) -> Image.Image:
    """Pages below each other, their looks beside each other, each below its name."""
    heights = [max(tile.height for tile in row.values()) + LABEL for row in rows.values()]
    widths = [sum(tile.width + GAP for tile in row.values()) + GAP for row in rows.values()]
    found, top = Image.new("RGB", (max(widths), sum(heights)), BEHIND), 0
    draw, font = ImageDraw.Draw(found), ImageFont.load_default(16)
    for (name, row), height in zip(rows.items(), heights, strict=True):
        left = GAP
        for look, tile in row.items():
            draw.text((left, top + 6), f"{name}: {look}", "black", font)
            found.paste(tile, (left, top + LABEL))
            left += tile.width + GAP
        top += height
    return found


def main(wanted: Sequence[str]) -> None:
    """Make the sheets of these kinds, or of all."""
    (BUILD / "sheets").mkdir(parents=True, exist_ok=True)
    for name in wanted or KINDS:
        with TemporaryDirectory() as place, browsing() as browser:
            sheet = sheet_of(rows_of(KINDS[name], Studio(browser, Path(place))))
            sheet.save(BUILD / "sheets" / f"{name}.png")
            print(f"build/sheets/{name}.png: {sheet.width} × {sheet.height}")


if __name__ == "__main__":
    main(sys.argv[1:])
