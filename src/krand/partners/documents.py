"""What partners send each other: a request for keys, and the answers that they sign."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from krand.partners.identity import Name
from krand.survey.plain_values import Positive, Sha256
from krand.survey.plan import Mixer
from krand.wire import purposes

Nonce = Sha256
"""Random, drawn by whoever asks: the answer was not prepared before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identified:
    """Who answers at an address."""

    form: ClassVar[str] = "krand-identity-1"
    purpose: ClassVar[bytes] = purposes.IDENTITY

    name: Name
    identity: Sha256
    url: str
    nonce: Nonce


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysRequest:
    """What an organiser asks a mixer for; the request is signed, so this need not be."""

    pairing: Nonce
    """Drawn once for each plan: with another one the mixer makes other keys."""
    organiser: Name
    """What the organiser calls itself."""
    url: str
    """Where it is reached."""
    place: Positive
    """That of the mixer in the chain."""
    survey: Mapping[str, Any]
    """As it will stand in the plan."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """How a plan has to describe a mixer, and for which request."""

    form: ClassVar[str] = "krand-keys-1"
    purpose: ClassVar[bytes] = purposes.KEYS

    pairing: Nonce
    mixer: Mixer


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundStatus:
    """How far a round is at a mixer."""

    round: Positive
    key: bool
    """Whether it can still open messages of this round."""
    fetched: bool
    mixed: bool
    expired: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How far a plan is at a mixer."""

    form: ClassVar[str] = "krand-status-1"
    purpose: ClassVar[bytes] = purposes.STATUS

    plan: Sha256
    nonce: Nonce
    rounds: tuple[RoundStatus, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """Which link of a place a party holds. That it holds none is signed too: otherwise whoever ends
    TLS could deny that a batch was mixed."""

    form: ClassVar[str] = "krand-held-1"
    purpose: ClassVar[bytes] = purposes.HELD

    plan: Sha256
    round: Positive
    place: Positive
    nonce: Nonce
    link: Mapping[str, Any] | None
