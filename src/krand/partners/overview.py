"""What a mixer's service tells everybody about itself: the content of its page.

It has no number that people can change: how many came, and when, is nobody's business here. A round
is open, mixed or closed, as the signed lists say too.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum


class RoundState(StrEnum):
    """How far a round of a survey is at this mixer."""

    OPEN = "open"
    """Its key is there, and no batch was mixed yet."""
    MIXED = "mixed"
    """Batches were mixed; further ones may come."""
    CLOSED = "closed"
    """Its key is erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownSurvey:
    """A survey whose plan this mixer signed."""

    survey: str
    plan: str
    organiser: str
    """What the organiser calls itself."""
    organiser_words: str
    """The fingerprint of the identity that asked."""
    epsilon: float
    delta: float
    hop: int
    mixers: int
    closes: date
    erased_by: date
    """The day on which keys that are left are erased."""
    state: str
    rounds: tuple[RoundState, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What was refused, on which day, and why."""

    day: date
    asked: str
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """All that the page shows."""

    name: str
    identity: str
    words: str
    digits: str
    surveys: tuple[ShownSurvey, ...] = ()
    refusals: tuple[Refusal, ...] = ()
