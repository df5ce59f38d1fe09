"""Pages as people read them: their text line by line, their forms as a browser sends them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = ("meta", "br", "link", "img", "input", "hr", "base", "source", "col", "wbr")
HIDDEN = ("style", "script", "template", "datalist")
INLINE = ("a", "abbr", "b", "bdi", "code", "em", "i", "mark", "small", "span", "strong", "sub")
INLINE += ("sup", "time", "text", "tspan", "path", "rect", "line", "circle", "g", "title", "label")
READ_ALOUD = ("alt", "aria-label", "placeholder", "title")
Attributes = dict[str, str | None]


@dataclass(slots=True)
class Page:
    """What tests ask a page for; reading it fails where an element is not closed."""

    text: str = ""
    elements: list[tuple[str, Attributes]] = field(default_factory=list)
    forms: list[tuple[str, list[tuple[str, str]]]] = field(default_factory=list)
    """The action of each form, and its fields as they stand."""

    def of(self, tag: str) -> list[Attributes]:
        """The attributes of all elements of a kind."""
        return [attributes for name, attributes in self.elements if name == tag]

    def form(self, action: str) -> dict[str, str]:
        """What a browser sends for the form with this action that nobody changed."""
        (fields,) = (fields for where, fields in self.forms if where == action)
        return dict(fields)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page, self.open, self.cells = Page(), list[str](), 0
        self._area = self._select = ""
        self._option: tuple[str, bool] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.page.elements.append((tag, known))
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("td", "th"):
            self._say(" | " if self.cells else "")
            self.cells += 1
        elif tag == "br" or tag not in (*INLINE, *VOID):
            self._say("\n")
        if tag == "tr":
            self.cells = 0
        if re.fullmatch("h[1-6]", tag):
            self._say(f"{'#' * int(tag[1])} ")
        self._say({"li": "- ", "summary": "> ", "button": "> ", "option": "- "}.get(tag, ""))
        aloud = [known[name] or "" for name in READ_ALOUD if known.get(name)]
        self._say("".join(f"[{text}] " for text in aloud))
        self._take(tag, known)

    def _take(self, tag: str, known: Attributes) -> None:
        """The fields of forms."""
        name, value = known.get("name") or "", known.get("value") or ""
        if tag == "form":
            self.page.forms.append((known.get("action") or "", []))
        elif not self.page.forms or "form" not in self.open:
            return
        elif tag == "input" and name:
            kind = known.get("type") or "text"
            if kind not in ("checkbox", "radio", "submit") or "checked" in known:
                self._field(name, value or ("on" if kind == "checkbox" else ""))
        elif tag == "textarea":
            self._area = name
            self._field(name, "")
        elif tag == "select":
            self._select = name
        elif tag == "option":
            fields = dict(self.page.forms[-1][1])
            if "selected" in known or self._select not in fields:
                self._field(self._select, value)

    def _field(self, name: str, value: str) -> None:
        fields = self.page.forms[-1][1]
        fields[:] = [each for each in fields if each[0] != name] + [(name, value)]

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.page.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> closes nothing"
        if tag not in (*INLINE, "td", "th"):
            self._say("\n")
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            name, value = self.page.forms[-1][1][-1]
            whole = value + data
            self._field(name, whole.removeprefix("\n") if not value else whole)
        elif not set(HIDDEN) & set(self.open):
            self._say(re.sub(r"\s+", " ", data))

    def _say(self, text: str) -> None:
        self.page.text += text


def read_page(html: str) -> Page:
    """The page; every element must be closed where it should be."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == [], f"not closed: {reader.open}"
    text = reader.page.text.replace("\N{NO-BREAK SPACE}", " ").replace("\u202f", " ")
    lines = (re.sub(r" +", " ", line).strip() for line in text.split("\n"))
    reader.page.text = "\n".join(line for line in lines if line.strip("|- ")) + "\n"
    return reader.page


def text_of(html: str) -> str:
    """What people read, and hear."""
    return read_page(html).text


def untranslated(page: str, english: str, own: str = "") -> list[str]:
    """Lines that a page has in common with the English one, but for words of the survey's own."""
    known, names = set(english.splitlines()), set(re.findall("[A-Za-z]{3,}", own))
    return [
        line
        for line in page.splitlines()
        if line in known and len(set(re.findall("[A-Za-z]{3,}", line)) - names) > 2
    ]
