"""What the planner puts together, in English alone: texts.toml; the rest is in its templates.

Names in braces are filled in. Another module of the planner has no sentences of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
class FormTexts:
    """Rules of the experts' form."""

    must_be_given: str
    for_example: str
    one_of: str
    too_many_here: str
    more_allowed: str


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
    form: FormTexts
    facts: FactTexts
    trust: TrustTexts


TEXTS = read_texts(PlannerTexts, "krand.web", "texts.toml")
"""The planner speaks English."""
