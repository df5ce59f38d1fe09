"""Seals and opens the messages of a submission, each in the lane of its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.client.randomizer import message_lanes
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.layers import LaneOpener, LayerSealer, Opened, open_layers, plan_layer_info
from krand.wire.messages import Payload, RejectedMessage, Rejection, length_at


def sealed_in_lanes(plan: Plan, payloads: Iterable[Payload], round_number: int = 1) -> list[bytes]:
    """The messages of one submission."""
    sealer = LayerSealer(plan, round_number)
    return [sealer.seal(*each) for each in zip(message_lanes(plan), payloads, strict=True)]


def opened_in_lanes(
    plan: Plan,
    key: X25519PrivateKey,
    sealed: Sequence[bytes],
    lanes: Iterable[Lane] | None = None,
    round_number: int = 1,
) -> Opened:
    """What the analyst finds in messages of these lanes, or of one submission."""
    opener = LaneOpener(key, plan, round_number)
    where = message_lanes(plan) if lanes is None else lanes
    found = [opener.open_all(lane, [each]) for lane, each in zip(where, sealed, strict=True)]
    return Opened(
        np.concatenate([one.positions for one in found]),
        np.concatenate([one.vectors for one in found]),
        sum(one.nulls for one in found),
        sum((one.rejected for one in found), Counter[Rejection]()),
    )


def open_layer(
    key: X25519PrivateKey, plan: Plan, round_number: int, hop: int, lane: int, sealed: bytes
) -> bytes:
    """What is inside the layer of one hop, as a mixer opens it, or RejectedMessage."""
    if len(sealed) != length_at(plan, hop):
        raise RejectedMessage(Rejection.WRONG_LENGTH)
    rows = np.frombuffer(sealed, np.uint8).reshape(1, -1)
    opened, kept = open_layers(key, plan_layer_info(plan, hop, round_number, lane), rows)
    if not kept[0]:
        raise RejectedMessage(Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN)
    return opened[0].tobytes()
