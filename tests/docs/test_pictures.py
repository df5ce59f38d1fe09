"""Pictures in the documentation are those that the script makes, and small."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from docs.pages import ROOT, script

DRAWN = {"flow.svg", "flow-narrow.svg"}
"""By docs/draw_flow.py; the gallery has a folder and tests of its own."""
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
    assert len(named) >= 6
    assert sorted(named - set(made.NAMES) - DRAWN) == []


def test_every_picture_is_there_and_small(made: SimpleNamespace) -> None:
    """A clone stays small; what the script no longer makes is removed."""
    for name in made.NAMES:
        assert 0 < (made.STATIC / name).stat().st_size <= made.LARGEST[name], name
    kept = {path.relative_to(made.STATIC).as_posix() for path in _pictures(made.STATIC)}
    assert sorted(kept - set(made.NAMES) - DRAWN) == []


def _pictures(folder: Path) -> list[Path]:
    found = [*folder.iterdir(), *(folder / "pictures").iterdir()]
    return [path for path in found if path.suffix in {".webp", ".png", ".svg", ".jpg"}]


def test_every_report_has_a_survey_file_in_each_language(made: SimpleNamespace) -> None:
    """And every survey file is used."""
    files = {path.name for path in made.SURVEYS.glob("*.toml")}
    assert files == {f"{name}.{code}.toml" for name in made.PEOPLE for code in made.LANGUAGES}
