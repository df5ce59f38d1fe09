"""What the planner puts together: texts.toml; the rest is in its templates. Names in braces are
filled in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import cast

from krand.languages.speaking import Spoken
from krand.wording.texts import read_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTexts:
    """What is said of numbers."""

    width: str
    said_quick: str
    said: str
    said_refused: str
    said_invalid: str
    quick: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTexts:
    """The file."""

    facts: FactTexts


@cache
def planner_texts_in(language: str) -> PlannerTexts:
    """The sentences in a language that has all of them."""
    return read_texts(PlannerTexts, "krand.web", "texts.toml", room="console", language=language)


FACTS = cast(FactTexts, Spoken(lambda language: planner_texts_in(language).facts))
"""In the language that is spoken now."""
