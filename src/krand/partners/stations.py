"""What is asked of another party's service, and must come back signed by it."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput
from krand.partners.documents import (
    ASK_PARTNER,
    BatchReceipt,
    Erasure,
    Heartbeat,
    NotReceived,
    Station,
    keys_hash,
    signed_by,
)
from krand.survey.plain_values import Malformed, part
from krand.wire.signed import Signed

if TYPE_CHECKING:
    from krand.partners.talking import Talks
    from krand.survey.plan import Plan


def ask_receipt(
    talk: Talks, station: Station, plan: str, batch_id: str
) -> Signed[BatchReceipt] | None:
    """The station's receipt of a batch, or None if it signs that it has none.

    Any other answer is an error: nobody can tell then whether the batch has left.
    """
    nonce = secrets.token_hex(16)
    path = f"/v1/plans/{plan}/batches/{batch_id}/receipt"
    values = talk.post(path, {"nonce": nonce}).values
    about = {"plan": plan, "batch_id": batch_id, "receiver": station.identity}
    if values.get("format") == NotReceived.form:
        signed_by(station, "receipt", NotReceived, values, **about, nonce=nonce)
        return None
    return signed_by(station, "receipt", BatchReceipt, values, **about, hop=station.hop)


def has_batch(talk: Talks, station: Station, plan: str, batch_id: str) -> bool:
    """Whether the station has a batch, or has taken its chain and perhaps a part of it."""
    if ask_receipt(talk, station, plan, batch_id) is not None:
        return True
    try:
        talk.get(f"/v1/plans/{plan}/batches/{batch_id}")
    except InvalidInput:
        return False
    return True


def held_keys(talk: Talks, station: Station, plan: Plan) -> int:
    """How many rounds' keys a mixer still has: all but the first ones, or but those it says.

    It answers with a nonce, so it could not have prepared that.
    """
    nonce = secrets.token_hex(16)
    values = talk.post(f"/v1/plans/{plan.hash}/heartbeat", {"nonce": nonce}).values
    about = {"plan": plan.hash, "mixer": station.identity, "nonce": nonce}
    beat = signed_by(station, "heartbeat", Heartbeat, values, **about).record
    keys = plan.mixing.mixers[station.hop - 1].keys
    for erased in range(len(keys) + 1):
        if beat.keys == keys_hash(keys[erased:]):
            return len(keys) - erased
    gone = {one.round for one in erased_keys(talk, station, plan)}  # a round may be left out
    left = tuple(key for number, key in enumerate(keys, 1) if number not in gone)
    if beat.keys == keys_hash(left):
        return len(left)
    rule, hint = (
        "must be of keys that the plan names",
        "its store is another one than when it signed",
    )
    raise InvalidInput(f"heartbeat of {station.name}", rule, beat.keys, hint)


def erased_keys(talk: Talks, station: Station, plan: Plan) -> list[Erasure]:
    """What a mixer signs that it has erased."""
    values = talk.get(f"/v1/plans/{plan.hash}/erasures").values
    try:
        listed = part(tuple[Any, ...], values, "erasures")
    except Malformed as error:
        rule = "must be a list"
        field = f"erasures of {station.name}"
        raise InvalidInput(field, rule, str(error), ASK_PARTNER) from None
    about = {"plan": plan.hash, "mixer": station.identity}
    return [signed_by(station, "erasures", Erasure, each, **about).record for each in listed]
