"""What is shown to everybody, and said of each submission."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from krand.errors import InvalidInput

JSON = "application/json"
FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
BRIEFLY = {"Cache-Control": "no-store"}
SAFE = (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"))
CLOSE = {"Connection": "close"}
"""With every refusal: whoever is refused has to come again for more."""
ORIGIN = re.compile(r"https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
MOST_ORIGINS, MOST_ORIGIN_CHARACTERS = 100, 300


class Verdict(IntEnum):
    """What became of a submission, as whoever stores it says."""

    ACCEPTED = 0
    """It is on the disk."""
    KNOWN = 1
    """It was before: a retry."""
    REFUSED = 2
    """It is none of this plan and of the round that is open."""
    UNINVITED = 3
    CLOSED = 4
    UNAVAILABLE = 5
    """Nothing was stored; it may be sent again."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fixed page: its bytes, its type, and headers such as Content-Security-Policy."""

    content: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


def check_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """The origins, each once; scheme, host and port, as a browser sends them."""
    found = tuple(dict.fromkeys(origins))
    if len(found) > MOST_ORIGINS:
        raise InvalidInput("origin", f"must be given at most {MOST_ORIGINS} times", len(found))
    for origin in found:
        if len(origin) > MOST_ORIGIN_CHARACTERS or not ORIGIN.fullmatch(origin):
            rule = "must be scheme://host or scheme://host:port, in small letters"
            hint = "without a path: --origin https://form.example"
            raise InvalidInput("origin", rule, origin[:MOST_ORIGIN_CHARACTERS], hint)
    return found
