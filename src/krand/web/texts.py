"""What the planner puts together: texts.toml; the rest is in its templates. Names in braces are
filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

from krand.languages.speaking import Spoken
from krand.wording.texts import Plural, read_texts


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldTexts:
    """Labels and hints of fields, by their names."""

    labels: Mapping[str, str]
    hints: Mapping[str, str]
    options: Mapping[str, str]
    slider: str
    no_limit: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTexts:
    """Titles and notes of numbers."""

    of_crowd: str
    noise: str
    sigma: str
    people: str
    bytes: str
    bytes_value: str
    sealed: Plural
    collusion: str
    local: str
    proven_delta: str
    eta: str
    krand: str
    rappor: str
    krand_note: str
    width: str
    at_most: str
    noise_q: str
    noise_sigma: str
    density: str
    frontier: str
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

    fields: FieldTexts
    facts: FactTexts
    trust: TrustTexts


@cache
def planner_texts_in(language: str) -> PlannerTexts:
    """The sentences in a language that has all of them."""
    return read_texts(PlannerTexts, "krand.web", "texts.toml", room="console", language=language)


TEXTS = cast(PlannerTexts, Spoken(planner_texts_in))
FACTS = cast(FactTexts, Spoken(lambda language: planner_texts_in(language).facts))
"""Those of the language that is spoken now."""
