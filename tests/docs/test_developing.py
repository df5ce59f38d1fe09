"""Pages name files and tests that exist; the pictures for developers show the rooms there are."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.pages import ROOT, script

HERE = ROOT / "docs" / "developing"
EXPLAINED = ROOT / "docs" / "explanation"
NAMED = re.compile(r"`((?:src|tests|docs|benchmarks|deploy|examples|clients)/[\w./-]+)`")
"""A path; a name with a * or a blank is none."""
TESTS = re.compile(r"`(?:tests/)?((?:\w+/)*test_\w+\.py)?(?:::(test_\w+))?`")


@pytest.fixture
def drawing() -> SimpleNamespace:
    return script("developing/draw_rooms.py")


@pytest.mark.parametrize("page", sorted(HERE.glob("*.md")), ids=lambda page: page.name)
def test_every_path_that_a_page_names_exists(page: Path) -> None:
    """Moved files take the page with them."""
    named = NAMED.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", ["reliability.md", "threat-model.md"])
def test_every_test_that_a_page_names_exists(page: str) -> None:
    """Who doubts a row can run its test; a name without a file is of the file named before it."""
    text = ""
    for file, test in TESTS.findall((EXPLAINED / page).read_text(encoding="utf-8")):
        if file:
            text = (ROOT / "tests" / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, f"{file}::{test}"


def test_the_pictures_are_drawn_from_the_contracts(drawing: SimpleNamespace) -> None:
    """Otherwise run docs/developing/draw_rooms.py."""
    for name, drawn in drawing.pictures().items():
        assert (HERE / name).read_text(encoding="utf-8") == drawn, f"docs/developing/{name} is old"


def test_every_room_is_in_the_picture_and_exists(drawing: SimpleNamespace) -> None:
    layers, device = drawing.contracts()
    picture = drawing.rooms_svg(layers, device)
    for layer in layers:
        assert f">{layer}</text>" in picture
        place = ROOT / "src" / "krand" / layer
        assert place.is_dir() or place.with_suffix(".py").is_file()
    assert device < set(layers)
    assert picture.count('class="device"') == len(device) + 1  # the legend has one too
