"""What a collector shows and says: fixed pages, and a verdict on each submission."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.survey.canonical import canonical_json
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import PlanSignature, check_signatures, signature_values

if TYPE_CHECKING:
    from krand.survey.plan import Plan

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


def root_of(plan_hash: str) -> str:
    """Where everything about a plan is asked for."""
    return f"/v1/plans/{plan_hash}"


def plan_pages(plan: Plan, signatures: Sequence[PlanSignature]) -> dict[str, Page]:
    """The plan and its signatures, by their paths."""
    signed = canonical_json([signature_values(one) for one in signatures])
    root = root_of(plan.hash)
    return {root: Page(plan.bytes, JSON, (FOREVER,)), f"{root}/signatures": Page(signed, JSON)}


def open_page(is_open: bool, round_number: int) -> Page:
    """Whether a round is open; nobody is told how many came."""
    content = canonical_json({"open": is_open, "round": round_number})
    return Page(content, JSON, tuple(BRIEFLY.items()))


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


def served_signatures(plan: Plan, signatures: Sequence[PlanSignature]) -> tuple[PlanSignature, ...]:
    """The signatures, if they are those of all mixers; none may be given."""
    if not signatures:
        return ()
    check_signatures(plan, signatures)
    own = {mixer.identity for mixer in check_mixers(plan)}
    for signature in signatures:
        if signature.plan != plan.hash or signature.mixer not in own:
            rule = "must be a signature of this plan by one of its mixers"
            raise InvalidInput("signature", rule, signature.mixer, "leave it out")
    return tuple(signatures)
