"""How a language counts, and writes numbers and dates: Babel's copy of CLDR.

English needs none of it: its signs and dates are in its texts, and Babel is not loaded for it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from babel import Locale

ENGLISH = "en"
FORMS = ("zero", "one", "two", "few", "many", "other")
"""CLDR's names of plural forms, in the order of a catalog."""


@cache
def locale_of(code: str) -> Locale:
    """What CLDR knows about a language."""
    from babel import Locale

    return Locale.parse(code, sep="-")


def direction_of(tag: str) -> str:
    """Which way a language is written.

    >>> direction_of("ar-EG"), direction_of("de"), direction_of("tlh")
    ('rtl', 'ltr', 'ltr')
    """
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(tag, sep="-").text_direction
    except (UnknownLocaleError, ValueError):
        return "ltr"


def plural_form(code: str, number: float) -> str:
    """The form of a text for a number: one of `FORMS`.

    >>> [plural_form("fr", number) for number in (0, 1, 2, 1_000_000)]
    ['one', 'one', 'other', 'many']
    """
    if code == ENGLISH:
        return "one" if number == 1 else "other"
    return locale_of(code).plural_form(number)


@cache
def plural_forms(code: str) -> tuple[str, ...]:
    """All forms of a language, in the order of its catalog.

    >>> plural_forms("de"), len(plural_forms("ar"))
    (('one', 'other'), 6)
    """
    known = {*locale_of(code).plural_form.tags, "other"}
    return tuple(form for form in FORMS if form in known)


def number_signs(code: str) -> dict[str, Any]:
    """The signs of numbers, as `NumberFormat` has them.

    >>> number_signs("de")["percent"]
    '{number}\\xa0%'
    """
    locale = locale_of(code)
    signs = locale.number_symbols["latn"]
    pattern = locale.percent_formats[None].pattern
    return {
        "thousands": signs["group"],
        "decimal": signs["decimal"],
        "percent": re.sub(r"[#,0.]+", "{number}", pattern).replace("%", signs["percentSign"]),
    }


def date_texts(code: str) -> dict[str, Any]:
    """Names of months and the order of a date's parts, as the report's `DateTexts` has them.

    >>> date_texts("de")["day"]
    '{day}. {month} {year}'
    """
    locale = locale_of(code)
    names = locale.months["format"]["wide"]
    return {
        "months": [names[month] for month in range(1, 13)],
        "day": _parts(locale.date_formats["long"].pattern),
        "month": _parts(locale.datetime_skeletons["yMMMM"].pattern),
    }


def _parts(pattern: str) -> str:
    """CLDR's pattern of a date as a text with names in braces."""
    names = {"d": "{day}", "MMMM": "{month}", "y": "{year}"}
    parts = re.findall(r"'([^']*)'|(d|MMMM|y)|([^'])", pattern)
    return "".join(quoted or names.get(name, other) for quoted, name, other in parts)
