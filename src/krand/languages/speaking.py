"""The language of the pages that are being made: English, unless somebody chose another one.

A request, or a task of a planning process, sets it once; whatever puts texts together reads it.
Texts of templates and modules are English there, marked by these functions (in templates by
Jinja's `trans` and `_`), and in catalogs by their room and their English text. A name that is
filled in stands as `%(name)s`, a sign of percent as `%%`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Generic, TypeVar

from krand.languages.catalogs import catalog, named
from krand.languages.cldr import ENGLISH, plural_form

T = TypeVar("T")

ROOM = "console"
_language: ContextVar[str] = ContextVar("language", default=ENGLISH)


def language() -> str:
    """The code of the language that is spoken now."""
    return _language.get()


@contextmanager
def speaking(code: str) -> Iterator[None]:
    """Speak this language inside, in this task and in those that it starts.

    >>> with speaking("de"):
    ...     language()
    'de'
    """
    before = _language.set(code)
    try:
        yield
    finally:
        _language.reset(before)


def text_of(english: str) -> str:
    """A marked text as it is in the catalog; a text that is not in it stays."""
    code = language()
    found = None if code == ENGLISH else catalog(code).texts.get(named(ROOM, english))
    return found if isinstance(found, str) else english


def plural_of(one: str, other: str, number: float) -> str:
    """The form of a marked plural for a number."""
    code = language()
    found = None if code == ENGLISH else catalog(code).texts.get(named(ROOM, one))
    if found is None or isinstance(found, str):
        return one if number == 1 else other
    return found[plural_form(code, number)]


def gettext(english: str, /, **values: Any) -> str:
    """A text, filled in."""
    return text_of(english) % values


def ngettext(one: str, other: str, number: float, /, **values: Any) -> str:
    """The text for a number, filled in."""
    return plural_of(one, other, number) % values


def marked(english: str) -> str:
    """A text that is said later: `make catalogs` finds it."""
    return english


class Spoken(Generic[T]):
    """The texts of a kind in the language that is spoken now, by their names."""

    def __init__(self, texts_in: Callable[[str], T]) -> None:
        self._texts_in = texts_in

    def __getattr__(self, name: str) -> Any:
        return getattr(self._texts_in(language()), name)
