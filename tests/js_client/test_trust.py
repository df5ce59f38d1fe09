"""The map of trust on the threat model's page: its verdicts are rows of plans, chosen rightly."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from browser.conftest import browser as browser
from browser.conftest import chromium as chromium
from docs.pages import script
from js_client.javascript import FOLDER, STATIC

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LARGEST = 5_000
NUMBER = re.compile(r"\d+(?:\.\d+)?")
CASES = [
    ("devices", "nobody", (), "whole", "the analyst alone"),
    ("devices", "half", (), "weaker", "the analyst and 50,000 of 100,000 people"),
    ("devices", "all", (), "nothing", "the analyst and all other people, but not the collector"),
    ("devices", "nobody", ("collector",), "nothing", "the analyst and the collector"),
    ("devices", "half", ("collector",), "nothing", "everybody but the person's own device"),
    ("devices", "nobody", ("host of the form",), "nothing", "whoever serves the web form"),
    ("mixers", "nobody", ("mixer 2",), "whole", "the analyst and 2 of 3 mixers"),
    ("mixers", "half", ("collector", "mixer 3"), "whole", "the analyst, all other people and 2"),
    ("mixers", "all", (), "whole", "the analyst, all other people and 2 of 3 mixers"),
    ("mixers", "nobody", ("collector", "mixer 2", "mixer 3"), "nothing", "the analyst and all 3"),
    ("both", "all", ("collector", "mixer 2", "mixer 3"), "nothing", "everybody but the person's"),
    ("both", "nobody", (), "whole", "the analyst alone"),
]
"""Noise, people, whoever else is chosen, what is left, and the row that says so."""


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """The map alone."""
    page = browser.new_page()
    page.set_content("<!doctype html><html lang=en><body><krand-trust></krand-trust>")
    page.add_script_tag(path=STATIC / "trust.js")
    yield page
    page.close()


@pytest.mark.parametrize(("noise", "people", "chosen", "left", "row"), CASES)
def test_who_is_chosen_finds_the_row_of_the_plan(
    page: Page, noise: str, people: str, chosen: tuple[str, ...], left: str, row: str
) -> None:
    """By keyboard; choosing another noise begins anew."""
    other = "both" if noise == "devices" else "devices"
    for name in (other, noise, people):
        page.get_by_role("radio", name=name, exact=True).press("Space")
    for name in chosen:
        page.get_by_role("button", name=name).press("Enter")
    assert page.get_by_role("button", pressed=True).count() == len(chosen)
    assert page.locator("figure").get_attribute("class") == left
    assert f"Row of the plan’s table: {row}" in page.locator(".verdict").inner_text()


def test_the_script_is_small() -> None:
    assert len(gzip.compress((STATIC / "trust.js").read_bytes(), mtime=0)) <= LARGEST


@pytest.mark.check
def test_the_example_is_what_plans_say() -> None:
    """docs/write_trust_example.py brings it up to date."""
    made = script("write_trust_example.py")
    text = (FOLDER / "src" / "trust" / "example.ts").read_text(encoding="utf-8")
    kept: dict[str, Any] = json.loads(text.partition("= ")[2].rstrip(";\n"))
    assert list(kept) == list(made.MIXERS)
    for noise, told in kept.items():
        found = json.loads(json.dumps(made.example(noise)))
        assert found["rows"].keys() == told["rows"].keys()
        for name, row in told["rows"].items():
            now = found["rows"][name]
            numbers = [NUMBER.findall(each.pop("said")) for each in (row, now)]
            assert row == now
            assert list(map(float, numbers[0])) == pytest.approx(list(map(float, numbers[1])), 1e-2)
