"""The languages in which a report can be written."""

from __future__ import annotations

from dataclasses import dataclass

from krand.errors import InvalidInput
from krand.report import texts as report_texts
from krand.wording import texts as shared_texts
from krand.wording.number_format import NumberFormat
from krand.wording.texts import read_texts

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
    code: Language(
        code,
        read_texts(report_texts.Texts, "krand.report", f"texts_{code}.toml"),
        read_texts(shared_texts.Texts, "krand.wording", f"texts_{code}.toml"),
    )
    for code in (DEFAULT_LANGUAGE, "de")
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
