"""Each picture of the gallery is what the code above it draws."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

from components import require
from docs.pages import ROOT, script
from rounded_texts import same_but_for_rounding

DOCS = ROOT / "docs"
FOLDER = DOCS / "static" / "gallery"
MOST_BYTES = 400_000
SVG_ROUNDING = 1e-4
"""Of a point; files have six decimals."""


@pytest.fixture(scope="module")
def gallery() -> SimpleNamespace:
    require("matplotlib")
    return script("make_gallery.py")


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    return json.loads((FOLDER / "drawn.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def drawn(gallery: SimpleNamespace, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The page is run once, in an empty folder."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(tmp_path_factory.mktemp("gallery"))
        return dict(gallery.plots(gallery.PAGE))


@pytest.mark.check
def test_the_pictures_show_what_the_code_draws(
    gallery: SimpleNamespace, drawn: dict[str, Any], written: dict[str, Any]
) -> None:
    """The same texts, points and bars, whatever version of matplotlib draws them."""
    assert list(drawn) == list(written["pictures"])
    for picture, plot in drawn.items():
        expected, found = written["pictures"][picture], gallery.described(plot.figure)
        assert found["texts"] == expected["texts"], picture
        for part in ("points", "shapes"):
            assert found[part] == pytest.approx(expected[part], rel=1e-6), picture


@pytest.mark.check
def test_the_pictures_are_the_files_that_the_code_writes(
    drawn: dict[str, Any], written: dict[str, Any]
) -> None:
    """But for rounding if the version of matplotlib is the same, otherwise by title."""
    import matplotlib

    for picture, plot in drawn.items():
        content = (DOCS / picture).read_text(encoding="utf-8")
        assert ElementTree.fromstring(content).findtext("{*}title") == plot.title
        if matplotlib.__version__ == written["matplotlib"]:
            same = same_but_for_rounding(plot._repr_svg_(), content, SVG_ROUNDING)
            assert same, f"{picture}: run python docs/make_gallery.py"


def test_no_picture_is_left_over_and_all_are_small(written: dict[str, Any]) -> None:
    """The folder holds what the page shows."""
    files = {str(file.relative_to(DOCS)) for file in FOLDER.glob("*.svg")}
    assert files == set(written["pictures"])
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= MOST_BYTES


def test_every_figure_of_krand_is_in_the_gallery() -> None:
    """A new one cannot be forgotten."""
    from krand import figures

    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    assert [
        name for name in figures.__all__ if name != "Plot" and f"\nfigures.{name}(" not in page
    ] == []


@pytest.mark.check
def test_other_code_is_noticed(gallery: SimpleNamespace, drawn: dict[str, Any]) -> None:
    """The check above can fail: one point that moved makes another description."""
    figure = drawn["static/gallery/rounds.svg"].figure
    before, line = gallery.described(figure), figure.axes[0].lines[0]
    places = list(line.get_ydata())
    line.set_ydata([y + 0.01 for y in places])
    try:
        assert gallery.described(figure)["points"] != pytest.approx(before["points"], rel=1e-6)
    finally:
        line.set_ydata(places)


def test_a_block_without_a_figure_is_refused(gallery: SimpleNamespace, tmp_path: Path) -> None:
    """Where the page shows a picture."""
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\n```\n\n![a](static/a.svg)\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="does not end with a figure"):
        list(gallery.plots(page))
