"""Catalogs of translations: whole, up to date, and with everything that is filled in."""

from __future__ import annotations

import re
import runpy
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from babel import Locale
from babel.messages.catalog import Catalog, Message
from babel.messages.pofile import read_po
from babel.plural import to_python

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "src" / "krand" / "languages"
CODES = sorted(path.stem for path in FOLDER.glob("*.po"))
ASKED = {"form", "mail"}
"""Rooms that people who are asked read: every language has them."""
FORMS = ("zero", "one", "two", "few", "many", "other")
SOME = ("zero", "one", "two")
"""Plural forms that may say a number as a word."""


@cache
def catalog(code: str) -> Catalog:
    with (FOLDER / f"{code}.po").open("rb") as stream:
        return read_po(stream, locale=code, abort_invalid=True)


def entries(code: str) -> list[Message]:
    return [message for message in catalog(code) if message.id]


def room(message: Message) -> str:
    return str(message.context).partition(".")[0].partition("\x04")[0]


def filled_in(text: str) -> set[str]:
    """The names in braces, or as %(name)s."""
    braced = {name for _, name, _, _ in Formatter().parse(text) if name is not None}
    return braced | set(re.findall(r"%\((\w+)\)s", text))


def test_there_are_languages() -> None:
    """German has all rooms, and all languages what people who are asked read."""
    assert {"ar", "de", "es", "fr"} <= set(CODES)
    for code in CODES:
        assert set(map(room, entries(code))) >= ASKED, code
    assert {"report", "wording", "console"} <= set(map(room, entries("de")))


@pytest.mark.parametrize("code", CODES)
def test_every_text_is_translated(code: str) -> None:
    """Of its English text as it is now, once, and in every plural form of the language."""
    assert str(catalog(code).locale) == code
    assert (catalog(code).charset or "").lower() == "utf-8"
    known = set(Locale.parse(code).plural_form.tags) | {"other"}
    names = [name for name in FORMS if name in known]
    seen: set[tuple[str, Any]] = set()
    for message in entries(code):
        key = str(message.context), message.id
        assert key not in seen, f"{key} stands twice"
        seen.add(key)
        assert not message.fuzzy, f"{key} is a translation of an older text"
        said = (message.string,) if isinstance(message.string, str) else message.string
        assert all(said), f"{key} is not translated"
        assert len(said) == (len(names) if message.pluralizable else 1), key


@pytest.mark.parametrize("code", CODES)
def test_translations_fill_in_what_the_english_texts_do(code: str) -> None:
    """No name is lost or invented; one, two or none may be words."""
    known = set(Locale.parse(code).plural_form.tags) | {"other"}
    names = [name for name in FORMS if name in known]
    for message in entries(code):
        if isinstance(message.id, str):
            assert filled_in(message.string) == filled_in(message.id), message.context
            continue
        one, other = map(filled_in, message.id)
        for name, said in zip(names, message.string, strict=True):
            needed = (one & other) - {"number"} if name in SOME else other
            found = filled_in(said)
            assert needed <= found <= one | other, (message.context, name, said)


@pytest.mark.parametrize("code", CODES)
def test_catalogs_count_as_cldr_does(code: str) -> None:
    """The formula of the header, which translators' tools use, gives Babel's forms in order."""
    rule = Locale.parse(code).plural_form
    names = [name for name in FORMS if name in set(rule.tags) | {"other"}]
    place = _gettext_rule(catalog(code).plural_expr)
    by_name = to_python(rule)
    for number in (*range(1_200), 10**5, 10**6, 10**6 + 1, 3 * 10**6):
        assert names[place(number)] == by_name(number), number


def _gettext_rule(formula: str) -> Any:
    from gettext import c2py

    return c2py(formula)


@pytest.fixture(scope="module")
def updating() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "docs" / "developing" / "update_catalogs.py"))


def test_catalogs_are_up_to_date(updating: dict[str, Any]) -> None:
    """They have every English text as it is now; run make catalogs, and translate what is new."""
    english = updating["english_texts"]()
    for code in CODES:
        content = (FOLDER / f"{code}.po").read_bytes()
        assert updating["updated"](content, code, english) == content, "run: make catalogs"


def test_texts_are_marked_where_they_can_be_found() -> None:
    """Babel does not look into f-strings, and cannot know what a name stands for."""
    lost = []
    for path in (ROOT / "src" / "krand").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lost += re.findall(r"""\b(?:_|n?gettext|marked)\(\s*f["'].*""", text)
        lost += re.findall(r"""\bf["'][^"'\n]*\{_\(["'].*""", text)
    assert not lost


PAGES = ({"form"}, {"mail"}, {"report", "wording"})
"""Columns of the page of languages, by the rooms that they need."""


def test_the_page_of_languages_is_true() -> None:
    """What each of them serves, and whether a second reader has read it."""
    page = (ROOT / "docs" / "reference" / "languages.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.split("|")[2:-1]] for line in page.splitlines()]
    told = {row[0].strip("`"): row[1:] for row in rows if row and row[0].startswith("`")}
    assert set(told) == {"en", *CODES}
    for code in CODES:
        rooms = set(map(room, entries(code)))
        found = ["yes" if needed <= rooms else "–" for needed in PAGES]
        assert told[code][: len(PAGES)] == found, code
        head = (FOLDER / f"{code}.po").read_text(encoding="utf-8").partition("\n\n")[0]
        read = "yes" if "X-Second-Reader: yes" in head else "not yet"
        assert told[code][-1] == read, code
