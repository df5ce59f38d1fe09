"""The languages in which a report can be written."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from krand.errors import InvalidInput
from krand.languages.catalogs import languages_of, serves
from krand.report import texts as report_texts
from krand.wording import texts as shared_texts
from krand.wording.number_format import NumberFormat
from krand.wording.texts import read_texts


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


ROOMS = ("report", "wording")
"""Whose texts a report needs."""


def languages() -> tuple[str, ...]:
    """The codes of all languages in which a report can be written, English first."""
    return languages_of(*ROOMS)


@cache
def language_of(code: str, others: tuple[str, ...] = ()) -> Language:
    """The language of this code; an error names all of them, and `others`, if there is none."""
    if not serves(code, *ROOMS):
        known = sorted({*languages(), *others})
        raise InvalidInput("language", f"must be one of: {', '.join(known)}", code)
    return Language(
        code,
        read_texts(report_texts.Texts, "krand.report", room="report", language=code),
        read_texts(shared_texts.Texts, "krand.wording", room="wording", language=code),
    )
