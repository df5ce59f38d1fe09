"""Pages become pictures: a browser shows them, and small files hold what it showed."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]  # the pages are our own
PATIENCE = 8_000
"""Milliseconds that a page has to load everything."""
BUSY = 600_000
"""Milliseconds after which a page that has not come at all is a failure."""
COLORS = (64, 40, 24, 12)
"""Text and bars need few; the first number that makes a file small enough is taken."""
GAP = 12
BEHIND = "#8b949e"
"""What a sheet shows between its tiles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What a page is shown on; `scale` is the pixels of the picture to one of the page."""

    width: int = 800
    height: int = 960
    scheme: str = "light"
    media: str = "screen"
    scale: float = 0.63
    script: str = ""
    """What runs before the page's own scripts."""


MARGIN = 40
"""Of a printed page: a browser's print style leaves it to the printer."""


@contextmanager
def browsing() -> Iterator[Browser]:
    """The machine's chromium, or the one that playwright has installed."""
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def opened(browser: Browser, address: str, look: Look) -> Iterator[Page]:
    """A page in a window of its own."""
    page = browser.new_page(
        viewport={"width": look.width, "height": look.height},
        color_scheme="dark" if look.scheme == "dark" else "light",
        device_scale_factor=look.scale,
        reduced_motion="reduce",
    )
    page.emulate_media(media="print" if look.media == "print" else "screen")
    page.set_default_timeout(BUSY)
    page.add_init_script(look.script)
    page.goto(address)
    _settle(page)
    yield page
    page.close()


def _settle(page: Page) -> None:
    """Wait until the page asks for nothing more; one that never stops asking is shown as it is."""
    from playwright.sync_api import TimeoutError as TooLate

    with suppress(TooLate):
        page.wait_for_load_state("networkidle", timeout=PATIENCE)


def shot(page: Page) -> Image.Image:
    """What the window shows."""
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def sheet(rows: Sequence[Sequence[Image.Image]]) -> Image.Image:
    """Tiles in rows, all rows as wide as the first."""
    width = sum(tile.width for tile in rows[0]) + GAP * (len(rows[0]) + 1)
    height = sum(row[0].height + GAP for row in rows) + GAP
    found, top = Image.new("RGB", (width, height), BEHIND), GAP
    for row in rows:
        room = width - sum(tile.width for tile in row)
        left = room // (len(row) + 1)
        for tile in row:
            found.paste(tile, (left, top))
            left += tile.width + room // (len(row) + 1)
        top += row[0].height + GAP
    return found


def save(image: Image.Image, path: Path, most: int) -> None:
    """Write the picture in at most so many bytes, if few colours can do that."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for colors in COLORS:
        palette = _palette(image, colors)
        few = image.quantize(palette=palette, dither=Image.Dither.NONE).convert("RGB")
        few.save(path, lossless=True, quality=100, method=4)
        if path.stat().st_size <= most:
            return


def _palette(image: Image.Image, colors: int) -> Image.Image:
    """The most frequent colours as they are, such as backgrounds, and as many for all others."""
    exact = colors // 2
    counted = image.getcolors(image.width * image.height) or []
    frequent = [color for _, color in sorted(counted, reverse=True)[:exact]]
    others = image.quantize(colors - exact, Image.Quantize.MAXCOVERAGE).getpalette() or []
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for color in frequent for part in color] + others)
    return palette
