"""Whether a mixer is there, with which keys: an answer that it could not have prepared."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.partners.documents import Heartbeat, Station, keys_hash
from krand.partners.talking import ASK_PARTNER, Talks
from krand.survey.plain_values import Malformed
from krand.wire.signed import signed_in

if TYPE_CHECKING:
    from krand.survey.plan import Plan


def held_keys(talk: Talks, station: Station, plan: Plan) -> int:
    """How many rounds' keys a mixer still has; the first ones are erased first."""
    nonce = os.urandom(16).hex()
    values = talk.post(f"/v1/plans/{plan.hash}/heartbeat", {"nonce": nonce}).values
    field = f"heartbeat of {station.name}"
    try:
        signed = signed_in(Heartbeat, values)
    except Malformed as error:
        rule = f"must be of the format {Heartbeat.form}"
        raise InvalidInput(field, rule, str(error), ASK_PARTNER) from None
    beat, keys = signed.record, plan.mixing.mixers[station.hop - 1].keys
    expected = (plan.hash, station.identity, nonce)
    if (beat.plan, beat.mixer, beat.nonce) != expected or not signed.is_by(station.identity):
        rule = "must be signed by this mixer, for this plan and this question"
        raise InvalidInput(field, rule, beat.mixer, ASK_PARTNER)
    for erased in range(len(keys) + 1):
        if beat.keys == keys_hash(keys[erased:]):
            return len(keys) - erased
    rule = "must be of keys that the plan names"
    raise InvalidInput(field, rule, beat.keys, "its store is another one than when it signed")
