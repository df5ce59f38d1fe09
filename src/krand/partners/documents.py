"""What partners sign for each other: lists of plans, routes, receipts, erasures, heartbeats."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator

from krand.errors import InvalidInput
from krand.mixing.keys import NAME, EraseReason, is_name
from krand.partners.identity import Address, checked_url
from krand.survey.plain_values import Amount, Count, Malformed, Positive, Sha256, digits
from krand.wire import purposes
from krand.wire.signed import Signed, Vouched, signed_in

if TYPE_CHECKING:
    from krand.survey.plan import Plan

ASK_PARTNER = "ask whoever runs that service"

Public = Sha256
"""A party's identity: an Ed25519 public key in hexadecimal, which has as many digits as a hash."""
Nonce = Annotated[str, digits(32)]
"""Random, drawn by whoever asks: the answer was not prepared before."""


def _one_line(value: str) -> str:
    """The name of a party or the id of a survey, which can be shown in one line."""
    if not is_name(value):
        raise ValueError(f"must be {NAME}")
    return value


def _iso_day(value: str) -> str:
    try:
        if date.fromisoformat(value).isoformat() == value:
            return value
    except ValueError:
        pass
    raise ValueError("must be a day, such as 2027-01-31")


Line = Annotated[str, AfterValidator(_one_line)]
Day = Annotated[str, AfterValidator(_iso_day)]


class PlanState(StrEnum):
    """What has become of a plan that was signed."""

    SIGNED = "signed"
    ERASED = "erased"
    """Its keys are erased, so no more batches are mixed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanEntry:
    """One entry in a service's list of the plans that it signed; a new state is a new entry."""

    form: ClassVar[str] = "krand-plan-entry-1"
    purpose: ClassVar[bytes] = purposes.PLAN_ENTRY

    number: Positive
    """Its place in the list."""
    plan: Sha256
    survey: Line
    """The survey's id."""
    organiser: Public
    epsilon: Amount
    delta: Amount
    closes: Day
    state: PlanState
    previous: Annotated[str, digits(64, may_be_empty=True)]
    """The SHA-256 of the entry before it, with its signature; empty for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """Where one party takes batches of a plan."""

    hop: Count
    """Its place in the chain; 0 is the analyst's receiver."""
    name: Line
    identity: Public
    url: str
    """Empty for a party that takes files by hand."""

    def __post_init__(self) -> None:
        if self.url and checked_url("url", self.url) != self.url:
            raise InvalidInput("url", "must not end with /", self.url, "leave the / out")

    @property
    def address(self) -> Address:
        """Where it is asked, and who must answer there."""
        return Address(self.url, self.identity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where every party of a plan is reached; the organiser signs it.

    A route with a higher number replaces the one before it. It may change addresses and no
    identity.
    """

    form: ClassVar[str] = "krand-route-1"
    purpose: ClassVar[bytes] = purposes.ROUTE

    plan: Sha256
    number: Positive
    stations: tuple[Station, ...]

    def __post_init__(self) -> None:
        hops = [station.hop for station in self.stations]
        if sorted(hops) != list(range(len(hops))):
            rule = "must have one station for the analyst (hop 0) and one for each mixer, from 1"
            raise InvalidInput("stations", rule, hops, "krand pair writes a whole route")

    def station(self, hop: int) -> Station:
        """The station of this place in the chain."""
        for station in self.stations:
            if station.hop == hop:
                return station
        rule, hint = f"must be from 0 to {len(self.stations) - 1}", "0 is the analyst"
        raise InvalidInput("hop", rule, hop, hint)

    def after(self, hop: int) -> Station:
        """Where a mixer passes its batches on: to the next one, or from the last to the analyst."""
        return self.station((hop + 1) % len(self.stations))

    def before(self, hop: int) -> Station:
        """Whose batches arrive here; the analyst's come from the last mixer."""
        return self.station((hop - 1) % len(self.stations))


BatchName = Annotated[str, digits(32)]
"""By which partners speak of the batch of a round."""


def batch_name(plan: str, round_number: int) -> str:
    """The name of the only batch of a round."""
    return hashlib.sha256(f"{plan} {round_number}".encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchReceipt:
    """That the whole file of a batch is on the receiver's disk."""

    form: ClassVar[str] = "krand-batch-receipt-1"
    purpose: ClassVar[bytes] = purposes.BATCH_RECEIPT

    plan: Sha256
    round: Positive
    batch_id: BatchName
    sha256: Sha256
    """Of the file."""
    hop: Count
    """The receiver's place in the chain; 0 is the analyst."""
    receiver: Public


@dataclass(frozen=True, slots=True, kw_only=True)
class NotReceived:
    """That the receiver has no whole batch of this id."""

    form: ClassVar[str] = "krand-not-received-1"
    purpose: ClassVar[bytes] = purposes.NOT_RECEIVED

    plan: Sha256
    batch_id: BatchName
    receiver: Public
    nonce: Nonce


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """That a mixer has erased its key of a round."""

    form: ClassVar[str] = "krand-erasure-1"
    purpose: ClassVar[bytes] = purposes.ERASURE

    plan: Annotated[str, digits(64, may_be_empty=True)]
    """Empty for keys that were never in a plan."""
    round: Positive
    mixer: Public
    reason: EraseReason
    batches: Count
    """How many were mixed with it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """That a mixer is there and still has its keys."""

    form: ClassVar[str] = "krand-heartbeat-1"
    purpose: ClassVar[bytes] = purposes.HEARTBEAT

    plan: Sha256
    mixer: Public
    nonce: Nonce
    keys: Sha256
    """Of the public keys whose private keys it still has, in their order in the plan."""


def keys_hash(keys: Iterable[str]) -> str:
    """The hash by which a heartbeat names public keys in hexadecimal."""
    return hashlib.sha256("\n".join(keys).encode()).hexdigest()


def signed_by(
    station: Station, what: str, kind: type[Vouched], values: Any, **expected: object
) -> Signed[Vouched]:
    """What a station has signed, if it says what is expected."""
    field = f"{what} of {station.name}"
    try:
        signed = signed_in(kind, values)
    except Malformed as error:
        rule = f"must be of the format {kind.form}"
        raise InvalidInput(field, rule, str(error), ASK_PARTNER) from None
    for name, value in expected.items():
        if (found := getattr(signed.record, name)) != value:
            raise InvalidInput(f"{field}, {name}", f"must be {value}", found, ASK_PARTNER)
    if not signed.is_by(station.identity):
        rule = f"must be signed by the identity {station.identity}"
        raise InvalidInput(field, rule, signed.signature.hex(), ASK_PARTNER)
    return signed


def check_route(plan: Plan, signed: Signed[Route], before: Signed[Route] | None = None) -> None:
    """Refuse a route that is not the organiser's, or names others than the plan.

    A later one has a higher number, and the same analyst.
    """
    route, mixers = signed.record, plan.mixers
    if route.plan != plan.hash or not signed.is_by(mixers[0].identity):
        rule = "must be signed by the plan's organiser, for this plan"
        raise InvalidInput("route", rule, route.plan, "the organiser is the plan's first mixer")
    named = {station.hop: station.identity for station in route.stations if station.hop}
    if named != {hop: mixer.identity for hop, mixer in enumerate(mixers, 1)}:
        rule = "must name the mixers of the plan, in their order"
        raise InvalidInput("route", rule, [*named.values()], "krand pair writes it")
    if before is not None:
        if route.number <= before.record.number and signed != before:
            rule = f"must have a number above {before.record.number}"
            raise InvalidInput("route", rule, route.number, "a newer route is known here")
        analyst = before.record.station(0).identity
        if route.station(0).identity != analyst:
            rule = f"must keep the analyst's identity, {analyst}"
            hint = "another analyst needs another plan: pair again"
            raise InvalidInput("route", rule, route.station(0).identity, hint)


DOCUMENTS: tuple[Any, ...] = (PlanEntry, Route, BatchReceipt, NotReceived, Erasure, Heartbeat)
