"""Seals and opens the messages of a submission, each in the lane of its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.client.randomizer import message_lanes
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.layers import LaneOpener, LayerSealer, Opened
from krand.wire.messages import Payload
from krand.wire.rejections import Rejection


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
