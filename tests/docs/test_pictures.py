"""Pictures in the documentation are those that scripts make, small, and can be read aloud."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from docs.pages import ROOT, script

DRAWN = {"flow.svg", "flow-narrow.svg", "pictures/method.webp"}
"""By docs/draw_flow.py, and one picture that never changes."""
SHOWN = re.compile(r"static/((?:pictures/)?[\w.-]+\.(?:webp|png|svg|jpg|gif))")


def shown_in(text: str) -> list[str]:
    """The pictures that a page names, by their paths in docs/static."""
    return SHOWN.findall(text)


@pytest.fixture(scope="module")
def made() -> SimpleNamespace:
    """The names of the script; without its pictures it needs neither a browser nor Pillow."""
    return script("make_pictures.py")


def test_pages_show_only_pictures_that_the_script_makes(made: SimpleNamespace) -> None:
    """Nothing is drawn by hand; a page that names no picture proves nothing."""
    assert shown_in("![a](../static/pictures/b.webp) ![c](docs/static/d.svg)") == [
        "pictures/b.webp",
        "d.svg",
    ]
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in shown_in(page.read_text(encoding="utf-8"))}
    assert len(named) >= 3
    assert sorted(named - set(made.SHOTS) - DRAWN) == []


def test_every_picture_is_there_and_small(made: SimpleNamespace) -> None:
    """A clone stays small; what the script no longer makes is removed."""
    for name in made.SHOTS:
        assert 0 < (made.STATIC / name).stat().st_size <= made.LARGEST, name
    kept = {path.relative_to(made.STATIC).as_posix() for path in _pictures(made.STATIC)}
    assert sorted(kept - set(made.SHOTS) - DRAWN) == []


def _pictures(folder: Path) -> list[Path]:
    found = [*folder.iterdir(), *(folder / "pictures").iterdir()]
    return [path for path in found if path.suffix in {".webp", ".png", ".svg", ".jpg"}]


STATIC = ROOT / "docs" / "static"
PAGES = (ROOT / "README.md", ROOT / "docs" / "index.md")
NARROW = 340
"""A phone's line, in pixels: what is drawn wider is shrunk, and its text with it."""
SMALLEST = 12


@pytest.fixture(scope="module")
def drawing() -> SimpleNamespace:
    return script("draw_flow.py")


def test_the_flow_is_what_its_script_draws(drawing: SimpleNamespace) -> None:
    """`docs/draw_flow.py` brings both pictures up to date."""
    for name, drawn in drawing.pictures().items():
        assert (STATIC / name).read_text(encoding="utf-8") == drawn


def test_the_flow_can_be_read_on_a_phone(drawing: SimpleNamespace) -> None:
    """The narrow picture has a phone's width, a title, and no small print."""
    flow = ElementTree.fromstring(drawing.pictures()["flow-narrow.svg"])
    assert int(flow.attrib["width"]) <= NARROW
    assert all(step.name in (flow[0].text or "") for step in drawing.STEPS)
    assert min(map(int, re.findall(r"(\d+)px", drawing.STYLE))) >= SMALLEST


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_picture_of_the_first_pages_is_there_and_has_words(page: Path) -> None:
    """For those who do not see it, and before it is loaded."""
    text = page.read_text(encoding="utf-8")
    markdown = re.findall(r"!\[([^\]]*)\]\(([^)]+)\)", text)
    html = re.findall(r'<img src="([^"]+)" alt="([^"]*)"', text)
    shown = [*markdown, *((alt, source) for source, alt in html)]
    shown += [("other sizes", source) for source in re.findall(r'srcset="([^"]+)"', text)]
    assert {Path(source).name for _, source in shown} >= {
        *("flow.svg", "flow-narrow.svg"),
        *("form.webp", "planner.webp", "report.webp"),
    }
    for alt, source in shown:
        assert alt
        assert (page.parent / source).is_file(), source
