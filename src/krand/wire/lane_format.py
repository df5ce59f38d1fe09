"""Version 2 of the format: messages that belong to a lane, where mixers add the noise.

A plaintext is that of a token or a null of version 1, but for its first byte. A token must name a
position of its lane. Every mixer but the first removes a layer, so the length says which mixer a
message is for, and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.wire.messages import (
    HEADER_LENGTH,
    POSITION_LENGTH,
    SEAL_LENGTH,
    Kind,
    Null,
    Payload,
    Token,
    whole_number,
)
from krand.wire.rejections import RejectedMessage, Rejection

if TYPE_CHECKING:
    from krand.survey.lanes import Lane
    from krand.survey.plan import Plan

__all__ = ["ANALYST", "LANE_VERSION", "PLAINTEXT_LENGTH", "LaneFormat", "layers_at", "length_at"]

LANE_VERSION = 2
PLAINTEXT_LENGTH = HEADER_LENGTH + POSITION_LENGTH
"""Of every message of every plan."""
ANALYST = 0
"""The hop of the analyst; mixers are 1, 2, … in the order of the chain."""
FIRST_WITH_LAYER = 2
"""The collector, which is mixer 1, removes no layer."""

NULL = bytes((LANE_VERSION, Kind.NULL)) + bytes(POSITION_LENGTH)


@dataclass(frozen=True, slots=True)
class LaneFormat:
    """The format of the messages of one lane."""

    lane: Lane

    def encode(self, payload: Payload) -> bytes:
        """The plaintext of a token of this lane, or of a null."""
        if isinstance(payload, Null):
            return NULL
        if isinstance(payload, Token):
            return bytes((LANE_VERSION, Kind.TOKEN)) + self._position_bytes(payload.position)
        raise InvalidInput("payload", "must be Token or Null in a lane", type(payload).__name__)

    def decode(self, plaintext: bytes) -> Token | Null:
        """The payload of a plaintext, or RejectedMessage with the reason."""
        if len(plaintext) != PLAINTEXT_LENGTH:
            raise RejectedMessage(Rejection.WRONG_LENGTH)
        if plaintext[0] != LANE_VERSION:
            raise RejectedMessage(Rejection.UNKNOWN_VERSION)
        kind, position = plaintext[1], int.from_bytes(plaintext[HEADER_LENGTH:], "big")
        if kind == Kind.TOKEN:
            if not self.lane.holds(position):
                raise RejectedMessage(Rejection.OUTSIDE_ITS_LANE)
            return Token(position)
        if kind != Kind.NULL:
            raise RejectedMessage(Rejection.UNKNOWN_KIND)
        if position:
            raise RejectedMessage(Rejection.PADDING_NOT_ZERO)
        return Null()

    def _position_bytes(self, position: int) -> bytes:
        number, lane = whole_number(position), self.lane
        if number is None or not lane.holds(number):
            last = lane.offset + lane.positions - 1
            rule = f"must be a whole number from {lane.offset:,} to {last:,}"
            raise InvalidInput("position", rule, position, f"lane {lane.number} has no other")
        return number.to_bytes(POSITION_LENGTH, "big")


def layers_at(plan: Plan, hop: int) -> tuple[int, ...]:
    """Who opens a message that arrives at a hop, outermost layer first; the analyst is last."""
    mixers = plan.survey.trust.mixers
    if not ANALYST <= hop <= mixers:
        rule = f"must be from 1 to {mixers}, or {ANALYST} for the analyst"
        raise InvalidInput("hop", rule, hop, "the survey has no other mixers")
    first = mixers + 1 if hop == ANALYST else max(hop, FIRST_WITH_LAYER)
    return (*range(first, mixers + 1), ANALYST)


def length_at(plan: Plan, hop: int) -> int:
    """The length of every message that arrives at a mixer, or at the analyst (hop 0)."""
    return PLAINTEXT_LENGTH + SEAL_LENGTH * len(layers_at(plan, hop))
