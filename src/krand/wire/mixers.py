"""The mixers that a plan names: whether they are all there, and the keys they open with."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.survey.plan_check import check_round
from krand.wire.keys import sealing_key

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from krand.survey.plan import Mixer, Plan

HINT = "make the plan again, with the descriptor of every mixer"


def check_mixers(plan: Plan) -> tuple[Mixer, ...]:
    """All mixers of the plan in the order of the chain; InvalidInput if it is not complete.

    Nobody sends to a plan without them, or takes what was sent.

    Every identity and every key is there once. A party that is there twice would count as two that
    must be honest, and a key for two rounds could not be erased after the first.
    """
    trust, mixers = plan.survey.trust, plan.mixers
    if len(mixers) != trust.mixers:
        rule = f"must be {trust.mixers}, as many as the survey asks for"
        raise InvalidInput("mixers", rule, len(mixers), HINT)
    for hop, mixer in enumerate(mixers, 1):
        _check_keys(plan, hop, mixer)
    _check_once("identity", [mixer.identity for mixer in mixers])
    keys = [key for mixer in mixers for key in mixer.keys]
    _check_once("keys", keys if plan.analyst_key is None else [*keys, plan.analyst_key])
    return mixers


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


def _check_once(name: str, values: list[str]) -> None:
    for value, count in Counter(values).items():
        if count > 1:
            raise InvalidInput(f"mixers.{name}", "must all be different", value, HINT)


def _field(hop: int, mixer: Mixer) -> str:
    return f"mixer {hop} ({mixer.name})"
