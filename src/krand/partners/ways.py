"""What a mixer's service answers over HTTP, and the part of it that every receiver answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from krand.errors import InvalidInput
from krand.files import json_object
from krand.mixing.keys import descriptor_bytes
from krand.partners.documents import Nonce, Route
from krand.partners.http import (
    CHUNK_BODY,
    PLAN_BODY,
    SURVEY_BODY,
    Answer,
    Asking,
    Open,
    Way,
)
from krand.partners.pairing import OPERATOR, WAITS
from krand.partners.records import Stage
from krand.partners.requests import OTHER_VERSION, NotAdmitted
from krand.partners.signing import KeysRequest
from krand.survey.plain_values import Malformed, part, typed
from krand.wire.plan_signatures import PlanSignature, signature_values
from krand.wire.signed import signed_in

if TYPE_CHECKING:
    from krand.partners.mixer_service import MixerService
    from krand.partners.uploads import Uploads

T = TypeVar("T")

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


def batch_ways(receiver: Receives, arrived: Callable[[], None]) -> tuple[Way, ...]:
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
        nonce = _read(_Asked, asking.body).nonce
        uploads = receiver.uploads(asking.parts["plan"])
        return Answer(uploads.answer(asking.parts["batch"], nonce).values)

    return (
        Way(method="POST", path=BATCHES, admit=admit, answer=begin, most=PLAN_BODY),
        Way(method="PATCH", path=BATCH, admit=admit, answer=append, most=CHUNK_BODY),
        Way(method="GET", path=BATCH, admit=admit, answer=look),
        Way(method="POST", path=f"{BATCH}/receipt", admit=admit, answer=receipt),
    )


class MixerWays:
    """Keys, signatures, routes, heartbeats and endings of a mixer's service."""

    def __init__(self, service: MixerService, wake: Callable[[], None]) -> None:
        """`wake` is called when there is something to do."""
        self._service, self._wake = service, wake

    def signed(self) -> tuple[Way, ...]:
        """What partners ask for."""
        way, anybody, partner = Way, self._is_partner, self._only_partners
        return (
            way(
                method="POST",
                path="/v1/keys",
                admit=anybody,
                answer=self._keys,
                most=SURVEY_BODY,
            ),
            way(method="POST", path="/v1/plans", admit=partner, answer=self._sign, most=PLAN_BODY),
            way(method="GET", path=f"{PLAN}/signature", admit=partner, answer=self._signature),
            way(method="POST", path=f"{PLAN}/route", admit=partner, answer=self._route),
            way(method="POST", path=f"{PLAN}/heartbeat", admit=anybody, answer=self._heartbeat),
            way(
                method="POST",
                path=f"{PLAN}/rounds/{{round:int}}/close",
                admit=partner,
                answer=self._close,
            ),
            *batch_ways(self._service, self._wake),
        )

    def open(self) -> tuple[Open, ...]:
        """What everybody may read."""
        service = self._service
        return (
            Open(
                path="/v1/plans",
                answer=lambda _: {"entries": [each.values for each in service.entries()]},
            ),
            Open(
                path=f"{PLAN}/erasures",
                answer=lambda parts: {
                    "erasures": [each.values for each in service.erasures(parts["plan"])]
                },
            ),
            Open(
                path="/v1/unused",
                answer=lambda _: {"erasures": [each.values for each in service.unused()]},
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
        mixer = self._service.ask_keys(asking.identity, _read(KeysRequest, asking.body))
        if mixer is None:
            return self._waiting(asking.identity)
        return Answer(json.loads(descriptor_bytes(mixer)))

    def _sign(self, asking: Asking) -> Answer:
        values = json_object("request", asking.body, "request")
        with _told():
            plan, route = part(str, values, "plan"), signed_in(Route, values.get("route"))
        return self._signed(asking, self._service.ask_signature(asking.identity, plan, route))

    def _signature(self, asking: Asking) -> Answer:
        found = self._service.signature(asking.identity, asking.parts["plan"])
        return self._signed(asking, found)

    def _signed(self, asking: Asking, signature: PlanSignature | None) -> Answer:
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
        values = json_object("request", asking.body, "request")
        with _told():
            route = signed_in(Route, values)
        self._service.set_route(asking.identity, asking.parts["plan"], route)
        self._wake()
        return Answer({"number": route.record.number})

    def _heartbeat(self, asking: Asking) -> Answer:
        nonce = _read(_Asked, asking.body).nonce
        plan = asking.parts["plan"]
        return Answer(self._service.heartbeat(asking.identity, plan, nonce).values)

    def _close(self, asking: Asking) -> Answer:
        number = int(asking.parts["round"])
        erasure = self._service.close_round(asking.identity, asking.parts["plan"], number)
        if erasure is None:
            return self._waiting(asking.identity)
        return Answer(erasure.values)


def mixer_metrics(service: MixerService) -> str:
    """The metrics of a mixer's service: nothing in them is about people."""
    overview = service.overview()
    rounds = [state for survey in overview.surveys for state in survey.rounds]
    return "\n".join(
        (
            "# HELP krand_mixer_surveys Surveys by state.",
            "# TYPE krand_mixer_surveys gauge",
            *_counts("surveys", [survey.state for survey in overview.surveys]),
            "# HELP krand_mixer_rounds Rounds of surveys by state.",
            "# TYPE krand_mixer_rounds gauge",
            *_counts("rounds", rounds),
            "",
        )
    )


def _counts(name: str, states: list[Any]) -> list[str]:
    return [
        f'krand_mixer_{name}{{state="{state}"}} {states.count(state)}'
        for state in sorted(set(states))
    ]


def _offset(asking: Asking) -> int:
    text = asking.query.get("offset", "")
    if not (text.isascii() and text.isdecimal() and int(text[:20]) <= MOST_OFFSET):
        raise InvalidInput("offset", "must be a number of bytes", text, OTHER_VERSION)
    return int(text)


def _read(kind: type[T], body: bytes) -> T:
    values = json_object("request", body, "request")
    with _told():
        found: T = typed(kind, values)
        return found


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong with plain data, told to whoever sent it."""
    try:
        yield
    except Malformed as error:
        raise InvalidInput("request", str(error), None, OTHER_VERSION) from None
