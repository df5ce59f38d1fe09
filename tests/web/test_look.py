"""The pages look like the reports, and need nothing but themselves."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

import pytest

from krand.web.pages import static

if TYPE_CHECKING:
    from starlette.testclient import TestClient

COLOR = re.compile(r"--(\w+): (#[0-9a-f]{6})")


def test_colours_are_those_of_the_reports() -> None:
    """Light and dark."""
    base = files("krand.report").joinpath("templates", "base.html").read_text(encoding="utf-8")
    sheet = static("krand.css").decode()
    shared = COLOR.findall(base)
    assert COLOR.findall(sheet)[: len(shared)] == shared


def test_the_script_is_short_and_asks_nobody_else() -> None:
    """It knows no address but those in the page."""
    script = static("krand.js").decode()
    assert script.count("\n") < 350
    assert "http" not in script
    assert "url(" not in static("krand.css").decode()


@pytest.mark.check
def test_every_control_has_a_label(planner: TestClient) -> None:
    """Fields by a label, sliders by a name of their own; names are used once in a page."""
    planner.post("/", data={"title": "Canteen"})
    for path in ("/", "/surveys/canteen/questions", "/surveys/canteen/promise"):
        page = planner.get(path).text
        labels = set(re.findall(r'<label\b[^>]*\bfor="([^"]*)"', page))
        for tag in re.findall(r"<(?:input|select|textarea)\b[^>]*>", page):
            kind = re.search(r'type="(\w+)"', tag)
            name = re.search(r'\bid="([^"]*)"', tag)
            if kind is not None and kind[1] in ("hidden", "radio", "checkbox"):
                continue  # the last two stand inside their labels
            assert name[1] in labels or "aria-label=" in tag
        names = re.findall(r'\sid="([^"]*)"', page)
        assert len(names) == len(set(names))
