"""A language made of English by replacing every letter, and what of a page is not in it.

Names in braces stay, so that whatever is filled in can be told from the text around it. Each text
ends with a number of its own, by which it is found on a page.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from html.parser import HTMLParser
from itertools import count
from string import Formatter, ascii_letters
from types import MappingProxyType
from typing import Any

from krand.report.languages import Language
from krand.wording.number_format import NumberFormat
from krand.wording.texts import Plural

LETTERS = {ord(letter): chr(ord(letter) + 0xFEE0) for letter in ascii_letters}
"""Latin letters of full width."""
NUMBERS = NumberFormat(thousands="٬", decimal="٫", percent="{number}٪")
ENGLISH_SIGNS = re.compile(r"[A-Za-z]+|\d[.,]\d|%")
READ_ALOUD = ("alt", "aria-label", "title")


@dataclass(frozen=True)
class Foreign:
    """The language, and the number of each of its texts by the text's path."""

    language: Language
    numbers: Mapping[str, int]


def foreign_language(english: Language, *, but: Collection[str] = ()) -> Foreign:
    """Everything that a report says in another language, except for texts left as they are."""
    maker = _Maker(frozenset(but))
    texts = maker.changed("texts", english.texts)
    shared = maker.changed("shared", english.shared)
    return Foreign(Language("xx", texts, shared), maker.numbers)


@dataclass
class _Maker:
    but: frozenset[str]
    places: Iterator[int] = field(default_factory=count)
    numbers: dict[str, int] = field(default_factory=dict)

    def changed(self, path: str, value: Any) -> Any:
        if path in self.but:
            return value
        if isinstance(value, NumberFormat):
            return NUMBERS
        if isinstance(value, str):
            return self._text(path, value)
        if isinstance(value, Mapping):
            return MappingProxyType({k: self.changed(f"{path}.{k}", value[k]) for k in value})
        if isinstance(value, tuple):
            return tuple(self.changed(f"{path}.{i}", each) for i, each in enumerate(value))
        if isinstance(value, Plural):
            return replace(value, forms=self.changed(path, value.forms))
        own = {f.name: getattr(value, f.name) for f in fields(value)}
        return replace(value, **{k: self.changed(f"{path}.{k}", v) for k, v in own.items()})

    def _text(self, path: str, text: str) -> str:
        if not text:
            return text
        self.numbers[path] = next(self.places)
        parts = (
            literal.translate(LETTERS) + ("" if name is None else f"{{{name}}}")
            for literal, name, _, _ in Formatter().parse(text)
        )
        return f"{''.join(parts)}⟦{self.numbers[path]}⟧"


def texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text with its path; of a plural all forms."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key in value:
            yield from texts_in(value[key], f"{path}.{key}")
    elif isinstance(value, tuple):
        for place, each in enumerate(value):
            yield from texts_in(each, f"{path}.{place}")
    elif isinstance(value, Plural):
        yield from texts_in(value.forms, path)
    elif is_dataclass(value):
        for each in fields(value):
            yield from texts_in(getattr(value, each.name), f"{path}.{each.name}")


class _Reader(HTMLParser):
    """Whatever is seen or read aloud, except for commands and the style sheet."""

    def __init__(self) -> None:
        super().__init__()
        self.skipped = 0
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.skipped += tag in ("code", "style")
        self.found += [value for name, value in attrs if name in READ_ALOUD and value]

    def handle_endtag(self, tag: str) -> None:
        self.skipped -= tag in ("code", "style")

    def handle_data(self, data: str) -> None:
        if not self.skipped:
            self.found.append(data)


def untranslated(html: str, known: Collection[str]) -> list[str]:
    """The parts of a page with English words or numbers, once what is known is taken out."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    names = "|".join(map(re.escape, sorted(filter(None, known), key=len, reverse=True)))
    survey = re.compile(rf"(?<![A-Za-z])(?:{names})(?![A-Za-z])")
    return [text for text in reader.found if ENGLISH_SIGNS.search(survey.sub(" ", text))]
