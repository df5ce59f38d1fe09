"""What the planner puts together: texts.toml; the rest is in its templates. Names in braces are
filled in."""

from __future__ import annotations

from collections.abc import Mapping
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
class TrustTexts:
    """The map of trust to click."""

    lead: str
    noise: str
    helpers: str
    nobody: str
    some: str
    every: str
    you: str
    host: str
    collector: str
    mixer: str
    analyst: str
    verdicts: Mapping[str, str]
    guess: str
    coin: str
    certain: str
    row: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannerTexts:
    """All groups."""

    facts: FactTexts
    trust: TrustTexts


@cache
def planner_texts_in(language: str) -> PlannerTexts:
    """The sentences in a language that has all of them."""
    return read_texts(PlannerTexts, "krand.web", "texts.toml", room="console", language=language)


TEXTS = cast(PlannerTexts, Spoken(planner_texts_in))
FACTS = cast(FactTexts, Spoken(lambda language: planner_texts_in(language).facts))
"""Those of the language that is spoken now."""
