"""What a collector serves besides submissions, and to whom; checked at the start."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.wire.mixers import check_mixers
from krand.wire.plan_signatures import PlanSignature, check_signatures

if TYPE_CHECKING:
    from krand.collector.invitations import Followed
    from krand.survey.plan import Plan

ANY_ORIGIN = "*"
ORIGIN = re.compile(r"https?://([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?")
MOST_ORIGINS = 100
MOST_ORIGIN_CHARACTERS = 300


@dataclass(frozen=True, slots=True)
class Page:
    """A fixed page: its bytes, its type, and headers such as Content-Security-Policy."""

    content: bytes
    content_type: str
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a collector serves besides submissions."""

    plan: Plan | None = None
    """Served under its hash."""
    signatures: tuple[PlanSignature, ...] = ()
    origins: tuple[str, ...] = ()
    """Whose pages may ask from a browser; "*" for everybody's."""
    invitations: Followed | None = None
    """Who may submit; None where everybody may."""
    is_over: Callable[[], bool] | None = None
    """Whether the survey's last day has passed. A collector has no clock, so it has to ask."""

    def __post_init__(self) -> None:
        closes = None if self.plan is None else self.plan.survey.closes
        if closes is not None and self.is_over is None:
            rule = f"must be given, because the survey closes on {closes}"
            raise InvalidInput("is_over", rule, None, "pass plan.survey.is_over")


def check_origins(origins: Iterable[str]) -> tuple[str, ...]:
    """The origins, each once; scheme, host and port, as a browser sends them, or "*"."""
    found = tuple(dict.fromkeys(origins))
    if len(found) > MOST_ORIGINS:
        raise InvalidInput("origin", f"must be given at most {MOST_ORIGINS} times", len(found))
    for origin in found:
        fits = len(origin) <= MOST_ORIGIN_CHARACTERS
        if origin != ANY_ORIGIN and not (fits and ORIGIN.fullmatch(origin)):
            rule = 'must be scheme://host or scheme://host:port, in small letters, or "*"'
            hint = "without a path: --origin https://form.example"
            raise InvalidInput("origin", rule, origin[:MOST_ORIGIN_CHARACTERS], hint)
    if ANY_ORIGIN in found and len(found) > 1:
        hint = 'leave out "*", or all others'
        raise InvalidInput("origin", 'must be "*" alone', ", ".join(found), hint)
    return found


def served_signatures(plan: Plan, signatures: Sequence[PlanSignature]) -> tuple[PlanSignature, ...]:
    """The signatures, if they are those of all mixers; none may be given."""
    if not signatures:
        return ()
    if not plan.survey.trust.chain:
        rule = "must be given only where mixers add the noise"
        raise InvalidInput("signature", rule, plan.hash, "leave it out")
    check_signatures(plan, signatures)
    own = {mixer.identity for mixer in check_mixers(plan)}
    for signature in signatures:
        if signature.plan != plan.hash or signature.mixer not in own:
            rule = "must be a signature of this plan by one of its mixers"
            raise InvalidInput("signature", rule, signature.mixer, "leave it out")
    return tuple(signatures)
