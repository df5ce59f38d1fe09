"""What a mixer's service answers over HTTP, and the part of it that every receiver answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from krand.errors import InvalidInput
from krand.mixing.keys import descriptor_bytes
from krand.partners.documents import Nonce, Route
from krand.partners.http import (
    CHUNK_BODY,
    PLAN_BODY,
    SURVEY_BODY,
    Asking,
    Endpoint,
    Endpoints,
    PublicEndpoint,
)
from krand.partners.records import Stage
from krand.partners.requests import OTHER_VERSION, NotAdmitted
from krand.partners.signing import KeysRequest
from krand.partners.talking import OPERATOR, WAITS, Answer
from krand.survey.plain_values import part
from krand.wire.plan_signatures import signature_values
from krand.wire.signed import Signed, signed_in

if TYPE_CHECKING:
    from krand.partners.mixer_service import MixerService
    from krand.partners.uploads import Uploads

PLAN = "/v1/plans/{plan}"
BATCHES = f"{PLAN}/batches"
BATCH = f"{BATCHES}/{{batch}}"
MOST_OFFSET = 10**15


class Receives(Protocol):
    """Somebody who receives batches of plans."""

    def uploads(self, plan: str) -> Uploads:
        """What has arrived for a plan; NotFound if nothing is received for it."""


@dataclass(frozen=True, slots=True)
class _Asked:
    nonce: Nonce


def batch_endpoints(receiver: Receives, arrived: Callable[[], None]) -> tuple[Endpoint, ...]:
    """How the party before this one sends a batch; `arrived` is told of each that is complete."""

    def admit(identity: str, parts: Mapping[str, str]) -> bool:
        if receiver.uploads(parts["plan"]).sender != identity:
            rule = "must be the party that comes before this one in the plan"
            raise NotAdmitted("identity", rule, identity, "send it to the next party of the route")
        return True

    def begin(asking: Asking) -> Answer:
        _, progress = receiver.uploads(asking.parts["plan"]).begin(asking.body)
        return Answer(progress.values)

    def append(asking: Asking) -> Answer:
        uploads = receiver.uploads(asking.parts["plan"])
        progress = uploads.append(asking.parts["batch"], _offset(asking), asking.body)
        if progress.complete:
            arrived()
        return Answer(progress.values)

    def look(asking: Asking) -> Answer:
        uploads = receiver.uploads(asking.parts["plan"])
        return Answer(uploads.progress(asking.parts["batch"]).values)

    def receipt(asking: Asking) -> Answer:
        nonce = asking.read(_Asked).nonce
        uploads = receiver.uploads(asking.parts["plan"])
        return Answer(uploads.answer(asking.parts["batch"], nonce).values)

    return (
        Endpoint(path=BATCHES, admit=admit, answer=begin, most=PLAN_BODY),
        Endpoint(method="PATCH", path=BATCH, admit=admit, answer=append, most=CHUNK_BODY),
        Endpoint(method="GET", path=BATCH, admit=admit, answer=look),
        Endpoint(path=f"{BATCH}/receipt", admit=admit, answer=receipt),
    )


def mixer_endpoints(service: MixerService, wake: Callable[[], None], **more: Any) -> Endpoints:
    """All that a mixer's service answers; `wake` is called when there is something to do."""
    endpoints = _MixerEndpoints(service, wake)
    return Endpoints(signed=endpoints.signed(), open=endpoints.open(), **more)


class _MixerEndpoints:
    """Keys, signatures, routes, heartbeats and endings of a mixer's service."""

    def __init__(self, service: MixerService, wake: Callable[[], None]) -> None:
        self._service, self._wake = service, wake

    def signed(self) -> tuple[Endpoint, ...]:
        """What partners ask for."""
        anybody, partner = self._is_partner, self._only_partners
        close = f"{PLAN}/rounds/{{round:int}}/close"
        return (
            Endpoint(path="/v1/keys", admit=anybody, answer=self._keys, most=SURVEY_BODY),
            Endpoint(path="/v1/plans", admit=partner, answer=self._sign, most=PLAN_BODY),
            Endpoint(path=f"{PLAN}/route", admit=partner, answer=self._route),
            Endpoint(path=f"{PLAN}/heartbeat", admit=anybody, answer=self._heartbeat),
            Endpoint(path=close, admit=partner, answer=self._close),
            *batch_endpoints(self._service, self._wake),
        )

    def open(self) -> tuple[PublicEndpoint, ...]:
        """What everybody may read."""
        service = self._service

        def listed(name: str, signed: Iterable[Signed[Any]]) -> dict[str, Any]:
            return {name: [each.values for each in signed]}

        return (
            PublicEndpoint(
                path="/v1/plans", answer=lambda _: listed("entries", service.records.entries)
            ),
            PublicEndpoint(
                path=f"{PLAN}/erasures",
                answer=lambda parts: listed("erasures", service.erasures(parts["plan"])),
            ),
            PublicEndpoint(
                path="/v1/unused", answer=lambda _: listed("erasures", service.unused())
            ),
        )

    def _is_partner(self, identity: str, _: Mapping[str, str]) -> bool:
        return self._service.is_partner(identity)

    def _only_partners(self, identity: str, _: Mapping[str, str]) -> bool:
        if self._service.is_partner(identity):
            return True
        rule = "must be one that has asked this mixer for keys"
        raise NotAdmitted("identity", rule, identity, "ask for keys first: krand pair")

    def _keys(self, asking: Asking) -> Answer:
        mixer = self._service.signing.ask_keys(asking.identity, asking.read(KeysRequest))
        if mixer is None:
            return self._waiting(asking.identity)
        return Answer(json.loads(descriptor_bytes(mixer)))

    def _sign(self, asking: Asking) -> Answer:
        with asking.values() as values:
            plan, route = part(str, values, "plan"), signed_in(Route, values.get("route"))
        signature = self._service.signing.ask_signature(asking.identity, plan, route)
        if signature is None:
            return self._waiting(asking.identity)
        return Answer({"signature": signature_values(signature)})

    def _waiting(self, identity: str) -> Answer:
        """For the operator, or for this service, which is told that there is something to do."""
        self._wake()
        waiting = self._service.records.in_stage(Stage.WAITING, Stage.SECOND)
        decides = any(each.organiser == identity for each in waiting)
        return Answer({"waiting": OPERATOR if decides else "the service"}, WAITS)

    def _route(self, asking: Asking) -> Answer:
        with asking.values() as values:
            route = signed_in(Route, values)
        self._service.set_route(asking.identity, asking.parts["plan"], route)
        self._wake()
        return Answer({"number": route.record.number})

    def _heartbeat(self, asking: Asking) -> Answer:
        nonce = asking.read(_Asked).nonce
        plan = asking.parts["plan"]
        return Answer(self._service.heartbeat(asking.identity, plan, nonce).values)

    def _close(self, asking: Asking) -> Answer:
        number = int(asking.parts["round"])
        erasure = self._service.close_round(asking.identity, asking.parts["plan"], number)
        if erasure is None:
            return self._waiting(asking.identity)
        return Answer(erasure.values)


def _offset(asking: Asking) -> int:
    text = asking.query.get("offset", "")
    if not (text.isascii() and text.isdecimal() and int(text[:20]) <= MOST_OFFSET):
        raise InvalidInput("offset", "must be a number of bytes", text, OTHER_VERSION)
    return int(text)
