"""The built pages: no warning, nothing from another host, formulas that browsers set themselves."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from docs.pages import ROOT, pages

pytestmark = pytest.mark.check
LOADING = {
    "link": "href",
    "script": "src",
    "img": "src",
    "source": "src",
    "iframe": "src",
    "object": "data",
    "embed": "src",
    "video": "src",
    "audio": "src",
    "form": "action",
}


class Loads(HTMLParser):
    """What a page would fetch, and the elements it has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        known = dict(attrs)
        if tag in LOADING and known.get(LOADING[tag]):
            self.found.append(known[LOADING[tag]] or "")
        self.found += [known["srcset"] or ""] if "srcset" in known else []


def test_pages_load_nothing_from_another_host(built: Path) -> None:
    """Scripts, styles, fonts and pictures are all within the built folder."""
    checked = 0
    for page in built.rglob("*.html"):
        reader = Loads()
        reader.feed(page.read_text(encoding="utf-8"))
        for target in filter(lambda target: target != "#", reader.found):
            assert not target.startswith(("http:", "https:", "//")), f"{page.name}: {target}"
            assert target.startswith("data:") or (page.parent / target.split("?")[0]).exists()
            checked += 1
    assert checked > 100


def test_styles_load_nothing_from_another_host(built: Path) -> None:
    """No style imports a font or a picture."""
    for style in built.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        assert "url(http" not in text.replace('"', "").replace("'", "")
        assert "@import" not in text
        assert "@font-face" not in text


def test_formulas_are_mathml(built: Path) -> None:
    """The drafts' formulas are set by the browser: no script, nothing left as LaTeX."""
    text = (built / "docs" / "lab" / "drafts.html").read_text(encoding="utf-8")
    assert text.count("<math") > 500
    assert "MathJax" not in text
    assert "\\frac" not in text


def test_every_page_is_built_and_reachable(built: Path) -> None:
    """Each page of docs/ has become HTML, and the first page leads to it."""
    first = (built / "docs" / "index.html").read_text(encoding="utf-8")
    for page in pages():
        if page.is_relative_to(ROOT / "docs"):
            place = page.relative_to(ROOT).with_suffix(".html")
            assert (built / place).exists()
            assert page.stem == "index" or str(place.relative_to("docs")) in first
    assert "docs/index.html" in (built / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_says_first_what_it_is_for(page: Path) -> None:
    """A heading, then a sentence; no page begins with a list, a table or code."""
    lines = [line for line in page.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert lines[0].startswith("# ")
    assert lines[1][0].isalpha() or lines[1].startswith(("**", "`", "<!--")), lines[1]


def test_links_lead_somewhere() -> None:
    """Every relative link of every page, also in the repository's own view of it."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "check_links.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
