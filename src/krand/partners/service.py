"""What a party answers to other parties; the listener passes these requests on, signed and whole.

Whoever asks is known by their signature, which the worker checked. A request that breaks a rule is
answered with the field and the rule, and never with a value of its own.
"""

from __future__ import annotations

import re
from sqlite3 import DatabaseError
from typing import TYPE_CHECKING

from krand.errors import InvalidInput, KrandError
from krand.partners.documents import Held, Identified, RoundStatus, Status
from krand.partners.pairing import Denied
from krand.survey.canonical import canonical_json
from krand.wire.plan_signatures import signature_bytes

if TYPE_CHECKING:
    from krand.site.worker import Worker
    from krand.survey.plan import Plan

HEX = "[0-9a-f]{64}"
WHO = re.compile(rf"/v1/identity\?nonce=({HEX})")
STATUS = re.compile(rf"/v1/plans/({HEX})/status\?nonce=({HEX})")
LINK = re.compile(
    rf"/v1/plans/({HEX})/rounds/([0-9]{{1,5}})/link/([1-9][0-9]{{0,2}})\?nonce=({HEX})"
)
LONGEST_REQUEST = 2**18
OK, WAITS, INVALID, UNSIGNED, ABSENT, BROKEN, LATER = 200, 202, 400, 401, 404, 422, 503


def answer(
    worker: Worker, identity: str | None, method: str, path: str, body: bytes
) -> tuple[int, bytes]:
    """Status and content of the answer to a request of this identity."""
    try:
        return _answer(worker, identity, method, path, body)
    except Denied as error:
        return error.status, _error(error.field, error.rule)
    except InvalidInput as error:
        return BROKEN, _error(error.field, error.rule)
    except (KrandError, OSError, DatabaseError):  # a full disk, as a rule
        return LATER, _error("request", "must be sent again later")


def _answer(
    worker: Worker, identity: str | None, method: str, path: str, body: bytes
) -> tuple[int, bytes]:
    if method == "GET" and (found := WHO.fullmatch(path)):
        told = worker.settings
        name, own = told.name, worker.identity
        record = Identified(name=name, identity=own.public, url=told.url, nonce=found[1])
        return OK, own.sign(record).content
    if identity is None:
        return UNSIGNED, _error("authorization", "must be given, and signed within the hour")
    if (method, path) == ("POST", "/v1/keys"):
        if len(body) > LONGEST_REQUEST:
            return INVALID, _error("request", f"must have at most {LONGEST_REQUEST:,} bytes")
        keys = worker.pairings.ask(identity, body)
        return (OK, keys.content) if keys else (WAITS, _waiting("the operator"))
    if (method, path) == ("POST", "/v1/plans"):
        signature = worker.pairings.submit(identity, body)
        return (OK, signature_bytes(signature)) if signature else (WAITS, _waiting("the promise"))
    if method == "GET" and (found := STATUS.fullmatch(path)):
        return OK, _status(worker, _plan_of(worker, identity, found[1]), found[2])
    if method == "GET" and (found := LINK.fullmatch(path)):
        plan = _plan_of(worker, identity, found[1])
        return OK, _held(worker, plan, int(found[2]), int(found[3]), found[4])
    return ABSENT, _error("path", "must be one of this service")


def _plan_of(worker: Worker, identity: str, plan_hash: str) -> Plan:
    """A plan of which the asker is a party."""
    plan = worker.plans.get(plan_hash)
    if plan is None or identity not in _parties(plan):
        raise Denied(ABSENT, "plan", "must be one that this service and you are parties of")
    return plan


def _parties(plan: Plan) -> set[str]:
    analyst = {plan.analyst.identity} if plan.analyst else set()
    return analyst | {mixer.identity for mixer in plan.mixers}


def _status(worker: Worker, plan: Plan, nonce: str) -> bytes:
    numbers = range(plan.survey.first_round, plan.survey.rounds + 1)
    shown = [(number, worker.rounds.get((plan.hash, number))) for number in numbers]
    rounds = tuple(RoundStatus(round=number, **each.status()) for number, each in shown if each)
    return worker.identity.sign(Status(plan=plan.hash, nonce=nonce, rounds=rounds)).content


def _held(worker: Worker, plan: Plan, number: int, place: int, nonce: str) -> bytes:
    """That a link is there, or is not: both signed, for this question alone."""
    current = worker.rounds.get((plan.hash, number))
    if current is None:
        raise Denied(ABSENT, "round", "must be one of the plan, at one of its mixers")
    link = current.links().get(place)
    values = None if link is None else link.values
    held = Held(plan=plan.hash, round=number, place=place, nonce=nonce, link=values)
    return worker.identity.sign(held).content


def _waiting(what: str) -> bytes:
    return canonical_json({"waiting": what})


def _error(field: str, rule: str) -> bytes:
    return canonical_json({"field": field, "rule": rule})
