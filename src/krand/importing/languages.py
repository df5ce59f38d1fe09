"""Which language a column or a row of a questionnaire has, as a BCP 47 tag."""

from __future__ import annotations

import re
from collections.abc import Iterable

from krand.survey.rules import LANGUAGE_PATTERN

NAMES = {
    "arabic": "ar",
    "deutsch": "de",
    "english": "en",
    "español": "es",
    "espanol": "es",
    "french": "fr",
    "français": "fr",
    "francais": "fr",
    "german": "de",
    "hindi": "hi",
    "indonesian": "id",
    "italian": "it",
    "kiswahili": "sw",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swahili": "sw",
    "turkish": "tr",
    "ukrainian": "uk",
}
"""Languages that questionnaires name without a tag."""
_IN_BRACKETS = re.compile(r"\(([A-Za-z-]{2,35})\)\s*$")


def language_tag(name: str) -> str:
    """The tag that a name such as `English (en)` or `German` means; empty if nobody knows."""
    given = name.strip()
    if found := _IN_BRACKETS.search(given):
        given = found[1]
    elif given.casefold() in NAMES:
        return NAMES[given.casefold()]
    is_tag = re.fullmatch(LANGUAGE_PATTERN, given) and (len(given) <= 3 or "-" in given)
    return given if is_tag else ""


def main_language(names: Iterable[str], wanted: str) -> str:
    """The one of these names that a form calls its own; else the first."""
    known = list(names)
    same = [name for name in known if name.casefold() == wanted.strip().casefold()]
    tags = [name for name in known if wanted and language_tag(name) == language_tag(wanted)]
    return [*same, *tags, *known, ""][0]
