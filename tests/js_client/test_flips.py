"""Flips in node and in chromium have the probabilities of the plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from scipy.special import ndtri

from browser.conftest import browser as browser
from browser.conftest import chromium as chromium
from browser.conftest import fonts as fonts
from effort import LONG
from js_client.chromium import running_origin
from js_client.javascript import FOLDER, asked

if TYPE_CHECKING:
    from playwright.sync_api import Browser

DRAWS = 10**7 if LONG else 10**6
ALPHA = 1e-6
GRID = 2**32
NUMERATORS = [0, 4295, 42_949_673, 301_994_896, 1_431_655_765, GRID // 2 - 1]
"""From never and one in a million up to almost one half."""


def check(counts: list[int]) -> None:
    """Every probability lies in Wilson's interval of its count."""
    z = float(ndtri(1 - ALPHA / 2))
    for numerator, count in zip(NUMERATORS, counts, strict=True):
        q = numerator / GRID
        distance = abs(count / DRAWS - q)
        assert distance <= z * (q * (1 - q) / DRAWS) ** 0.5, (numerator, count)


@pytest.mark.loop
def test_flips_in_node(internals: Path) -> None:
    check(asked([{"ask": "flips", "numerators": NUMERATORS, "draws": DRAWS}])[0])


COUNT = """async (asked) => {
  const krand = await import("/internals.js");
  return (await import("/cases.mjs")).flips(krand, asked);
}"""


@pytest.mark.check
@pytest.mark.loop
def test_flips_in_chromium(browser: Browser, internals: Path) -> None:
    scripts = {path.name: path.read_bytes() for path in (internals, FOLDER / "test" / "cases.mjs")}
    with running_origin(scripts) as origin:
        page = browser.new_page()
        page.goto(origin.url)
        counts = page.evaluate(COUNT, {"numerators": NUMERATORS, "draws": DRAWS})
        page.close()
    check(counts)
