"""The parties that a plan names: whether they are all there, where, and the keys they open with."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.survey.plan_check import check_round
from krand.wire.keys import sealing_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from krand.survey.plan import Mixer, Plan

HINT = "make the plan again, with the keys and the address of every mixer"
HOST = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?"
LOOPBACK = r"localhost|127(\.[0-9]{1,3}){3}|\[::1\]"
ADDRESS = re.compile(
    rf"(https://({HOST}|\[::1\])|http://({LOOPBACK}))"
    r"(:(?!443\b)[1-9][0-9]{0,4})?(/[A-Za-z0-9._~-]+)*"
)
"""So plain that it can stand in a page's security policy, and is written in one way."""
LONGEST_ADDRESS = 300


def check_mixers(plan: Plan) -> tuple[Mixer, ...]:
    """All mixers of the plan in the order of the chain; InvalidInput if it is not complete.

    Nobody sends to a plan without them, or takes what was sent.

    Every identity, every host and every key is there once. A party that is there twice would
    count as two that must be honest, as would whoever runs a host of two; and a key for two rounds
    could not be erased after the first.
    An analyst who is a mixer, too, is told to people as one party. A single mixer may have no
    address: one party alone serves the page and takes what people send, from wherever it is.
    """
    trust, mixers = plan.survey.trust, plan.mixers
    if len(mixers) != trust.mixers:
        rule = f"must be {trust.mixers}, as many as the survey asks for"
        raise InvalidInput("mixers", rule, len(mixers), HINT)
    for hop, mixer in enumerate(mixers, 1):
        _check_keys(plan, hop, mixer)
    _check_once("identity", [mixer.identity for mixer in mixers])
    _check_once("url", [origin_of(mixer.url) for mixer in mixers])
    keys = [key for mixer in mixers for key in mixer.keys]
    _check_once("keys", [*keys, plan.analyst.key] if plan.analyst else keys)
    others = [one for place, one in enumerate(mixers, 1) if place not in trust.analyst_runs]
    if plan.analyst and plan.analyst.identity in {mixer.identity for mixer in others}:
        rule = "must not be a mixer's, unless the survey's analyst_runs names its place"
        raise InvalidInput("analyst.identity", rule, plan.analyst.identity, HINT)
    return mixers


def origin_of(url: str) -> str:
    """The scheme, host and port of a mixer's address: what browsers call the page's origin."""
    return "/".join(url.split("/")[:3])


def opening_key_of(plan: Plan, hop: int, round_number: int) -> X25519PublicKey:
    """The key that a mixer's layer of a round is sealed for."""
    check_round(plan, round_number)
    mixers = check_mixers(plan)
    if not 2 <= hop <= len(mixers):
        rule = f"must be from 2 to {len(mixers)}"
        raise InvalidInput("hop", rule, hop, "no other mixers have a layer")
    raw = mixers[hop - 1].keys[round_number - 1]
    return sealing_key(bytes.fromhex(raw), _field(hop, mixers[hop - 1]), raw)


def _check_keys(plan: Plan, hop: int, mixer: Mixer) -> None:
    wanted = 0 if hop == 1 else plan.survey.rounds
    if len(mixer.keys) != wanted:
        rule = (
            "must have no keys: the collector, which is the first mixer, removes no layer"
            if hop == 1
            else f"must have one key for each round, {wanted}"
        )
        raise InvalidInput(_field(hop, mixer), rule, len(mixer.keys), HINT)
    alone = plan.survey.trust.mixers == 1 and not mixer.url
    if not alone and not (len(mixer.url) <= LONGEST_ADDRESS and ADDRESS.fullmatch(mixer.url)):
        rule = "must have an address: https://host or https://host/path, in small letters"
        raise InvalidInput(_field(hop, mixer), rule, mixer.url, HINT)


def _check_once(name: str, values: list[str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise InvalidInput(f"mixers.{name}", "must all be different", value, HINT)


def _field(hop: int, mixer: Mixer) -> str:
    return f"mixer {hop} ({mixer.name})"
