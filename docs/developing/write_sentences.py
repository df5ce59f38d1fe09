"""Write every text of the report and of the planner, to be read in one go: `make sentences`.

Most are fields of `Texts`, and of the planner's `PlannerTexts`. The planner's templates are read
without filling them in, and its modules for strings that are sentences.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

from krand.report.languages import language_of
from krand.web.texts import TEXTS
from krand.wording.number_format import NumberFormat
from krand.wording.texts import Plural

READ_ALOUD = ("alt", "aria-label", "placeholder", "title")
FILLED_IN = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
STATEMENT = re.compile(r"\{%.*?%\}|\{#.*?#\}", re.DOTALL)
SENTENCE = re.compile(r"[A-Za-z][a-z]+ .*[a-z]")
HEAD = """# Every sentence of the report and the planner

For people who check or translate what krand says. Names in braces are filled in.
"""

NO_SENTENCES = ("recipes", "texts")
"""Modules whose strings are code, or are listed by their names."""

Group = tuple[str, list[str]]


def sentences_page() -> str:
    """The page as Markdown."""
    parts = [HEAD]
    for title, groups in _rooms():
        parts.append(f"## {title}\n")
        for name, texts in groups:
            listed = "\n".join(f"- {_inline(text)}" for text in dict.fromkeys(texts))
            parts.append(f"### {name}\n\n{listed}\n")
    return "\n".join(parts)


def _rooms() -> Iterator[tuple[str, list[Group]]]:
    english = language_of("en")
    yield "The report", list(_groups(english.texts))
    yield "Shared by the report, commands and the planner", list(_groups(english.shared))
    yield "The planner", list(_groups(TEXTS))
    yield "Pages of krand web", [*_templates(), *_modules()]


def _groups(texts: object) -> Iterator[Group]:
    assert is_dataclass(texts)
    for group in fields(texts):
        found = list(_texts_in(getattr(texts, group.name)))
        if found:
            yield group.name, found


def _texts_in(value: Any) -> Iterator[str]:
    """All strings of a value of texts, in their order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for entry in value.values():
            yield from _texts_in(entry)
    elif isinstance(value, tuple):
        for entry in value:
            yield from _texts_in(entry)
    elif isinstance(value, Plural):
        yield from value.forms.values()
    elif is_dataclass(value) and not isinstance(value, NumberFormat):
        for entry in fields(value):
            yield from _texts_in(getattr(value, entry.name))


def _templates() -> Iterator[Group]:
    folder = files("krand.web") / "templates"
    for template in sorted(folder.iterdir(), key=lambda each: each.name):
        reader = _Reader()
        source = STATEMENT.sub("", template.read_text(encoding="utf-8"))
        reader.feed(
            FILLED_IN.sub(
                lambda found: "{" + found[1].strip(" -").split("|")[0].strip() + "}", source
            )
        )
        if reader.texts:
            yield template.name, reader.texts


class _Reader(HTMLParser):
    """Whatever of a template a person reads or hears."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open.append(tag)
        for name, value in attrs:
            if name in READ_ALOUD:
                self._keep(value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self._open):
            self._keep(data)

    def _keep(self, text: str) -> None:
        text = " ".join(text.split())
        if re.search(r"[A-Za-z]{2}", re.sub(r"\{.*\}", "", text)):
            self.texts.append(text)


def _modules() -> Iterator[Group]:
    """Strings in the code of krand web that look like sentences; no docstrings."""
    for module in sorted(Path(str(files("krand.web"))).glob("*.py")):
        if module.stem in NO_SENTENCES:
            continue
        tree = ast.parse(module.read_text(encoding="utf-8"))
        docs = {
            id(node.value)
            for node in ast.walk(tree)
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        }
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in docs
            and SENTENCE.match(node.value)
        ]
        if texts:
            yield module.name, texts


def _inline(text: str) -> str:
    """A text that Markdown shows as it is."""
    return "`` " + " ".join(text.split()) + " ``"


if __name__ == "__main__":
    (page,) = map(Path, sys.argv[1:])
    page.parent.mkdir(exist_ok=True)
    page.write_text(sentences_page(), encoding="utf-8")
    print(f"wrote {page}")
