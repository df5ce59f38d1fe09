"""The languages in which a report can be written."""

from __future__ import annotations

from dataclasses import dataclass

from krand.errors import InvalidInput
from krand.report import texts as report_texts
from krand.report import texts_de as german_report_texts
from krand.wording import texts as shared_texts
from krand.wording import texts_de as german_shared_texts
from krand.wording.number_format import NumberFormat

__all__ = ["DEFAULT_LANGUAGE", "LANGUAGES", "Language", "language_for", "language_of"]

DEFAULT_LANGUAGE = "en"


@dataclass(frozen=True, slots=True)
class Language:
    """All that a report says in one language; `code` is the one that HTML uses."""

    code: str
    texts: report_texts.Texts
    """The sentences of the report alone."""
    shared: shared_texts.Texts
    """Those that other rooms show too."""

    @property
    def numbers(self) -> NumberFormat:
        """How the language writes numbers."""
        return self.shared.numbers


LANGUAGES = {
    "en": Language("en", report_texts.ENGLISH, shared_texts.ENGLISH),
    "de": Language("de", german_report_texts.GERMAN, german_shared_texts.GERMAN),
}
"""Every language by its code."""


def language_of(code: str) -> Language:
    """The language of this code; an error that names all of them if there is none."""
    if code not in LANGUAGES:
        raise InvalidInput("language", f"must be one of: {', '.join(sorted(LANGUAGES))}", code)
    return LANGUAGES[code]


def language_for(tag: str) -> str:
    """The code for texts with this BCP 47 tag, "de" for "de-AT"; English if krand lacks it."""
    primary = tag.partition("-")[0].lower()
    return primary if primary in LANGUAGES else DEFAULT_LANGUAGE
