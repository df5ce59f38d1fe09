"""A page as its reader meets it: tables, headings, links, text, by the standard library alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ("meta", "br", "link", "img", "input", "hr", "base", "source")
Attributes = dict[str, str | None]


@dataclass(slots=True)
class Cell:
    tag: str
    attributes: Attributes
    text: str = ""
    small: str = ""


@dataclass(slots=True)
class Table:
    """A caption and rows of cells."""

    caption: str = ""
    rows: list[list[Cell]] = field(default_factory=list)
    below: str = ""
    """The heading that it stands below."""


@dataclass(slots=True)
class Paragraph:
    """Its class, its text, and the heading that it stands below."""

    kind: str
    below: str
    text: str = ""


@dataclass(slots=True)
class Page:
    """Everything that tests ask for."""

    elements: list[tuple[str, Attributes]] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    paragraphs: list[Paragraph] = field(default_factory=list)
    headings: list[tuple[int, str]] = field(default_factory=list)
    text: str = ""
    title: str = ""

    def table(self, caption: str) -> Table:
        """The one table whose caption begins like this."""
        (found,) = (t for t in self.tables if t.caption.startswith(caption))
        return found

    def below(self, heading: str) -> list[Table]:
        """The tables below a heading."""
        return [table for table in self.tables if table.below == heading]

    def of(self, tag: str) -> list[Attributes]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        page = self.page
        page.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            page.tables.append(Table(below=page.headings[-1][1]))
        elif tag == "p":
            heading = page.headings[-1][1] if page.headings else ""
            page.paragraphs.append(Paragraph(dict(attrs).get("class") or "", heading))
        elif tag == "tr":
            page.tables[-1].rows.append([])
        elif tag in ("th", "td"):
            page.tables[-1].rows[-1].append(Cell(tag, dict(attrs)))
        elif re.fullmatch("h[1-6]", tag):
            page.headings.append((int(tag[1]), ""))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        page = self.page
        if "style" in self.open:
            return
        page.text += data
        if self.open and self.open[-1] == "title":
            page.title += data
        if self.open and re.fullmatch("h[1-6]", self.open[-1]):
            level, text = page.headings[-1]
            page.headings[-1] = (level, text + data)
        if "p" in self.open:
            page.paragraphs[-1].text += data
        if "caption" in self.open:
            page.tables[-1].caption += data
        elif "th" in self.open or "td" in self.open:
            cell = page.tables[-1].rows[-1][-1]
            if "small" in self.open:
                cell.small += data
            else:
                cell.text += data


def spaced(text: str) -> str:
    """A text with spaces where lines must not end; powers of ten keep theirs."""
    return re.sub("(?<!×)\N{NO-BREAK SPACE}(?!×)", " ", text)


def read_page(html: str) -> Page:
    """The page; every element must be closed where it should be."""
    reader = _Reader()
    reader.feed(spaced(html))
    reader.close()
    assert reader.open == []
    return reader.page


def colours(html: str, *, dark: bool) -> dict[str, tuple[float, float, float]]:
    """The named colours of a page's style sheet, from 0 to 1."""
    found: dict[str, tuple[float, float, float]] = {}
    for block in re.finditer(r"(@media[^{]*dark\)\s*\{\s*)?:root\s*\{([^}]*)\}", html):
        if block[1] and not dark:
            continue
        for name, value in re.findall(r"--([\w-]+):\s*#([0-9a-f]{6})", block[2]):
            red, green, blue = (int(value[i : i + 2], 16) / 255 for i in (0, 2, 4))
            found[name] = (red, green, blue)
        for name, value in re.findall(r"--([\w-]+):\s*(\d+ \d+ \d+)", block[2]):
            red, green, blue = (int(part) / 255 for part in value.split())
            found[name] = (red, green, blue)
    return found


def contrast(first: tuple[float, float, float], second: tuple[float, float, float]) -> float:
    """WCAG's contrast ratio of two colours, from 1 to 21."""
    light, dark = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: tuple[float, float, float]) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
