"""The plaintext of a message: version, kind, payload; the same length for all messages of a plan.

Bit linkage has tokens (a position that was reported as 1) and nulls (nothing), which have the same
length. A token must name a position of its lane. Record linkage has vectors (a whole noisy record).
Reading is strict: anything that the writer here would not have written is refused, so that each
payload has one encoding and a hidden mark is impossible. Every mixer but the first removes a layer
of seals, so the length says which mixer a message is for, and nothing else.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import TYPE_CHECKING, TypeAlias

from krand.errors import InvalidInput

if TYPE_CHECKING:
    from krand.survey.lanes import Lane
    from krand.survey.plan import Plan

MAX_POSITIONS = 10**7
"""The limit of the format; a survey has fewer (`krand.promise.MAX_BITS`)."""

ANALYST = 0
"""The hop of the analyst; mixers are 1, 2, … in the order of the chain."""
FIRST_WITH_LAYER = 2
"""The collector, which is mixer 1, removes no layer."""

VERSION = 1
"""The first byte of messages and submissions; it is in `info` too."""
ENC_BYTES = 32
"""Of the encapsulated key, with which a sealed message begins."""
LAYER_BYTES = ENC_BYTES + 16
"""What one layer adds to a message: the encapsulated key and a tag."""

HEADER_LENGTH = 2
POSITION_LENGTH = 4
"""Enough for MAX_POSITIONS, and the same in every plan."""


REPEATED = "repeated"
"""The reason for a copy of another message in the batch; only a reader of the batch can see it."""


class Rejection(StrEnum):
    """The reasons, in the order in which a reader checks them; the first that applies counts."""

    WRONG_LENGTH = "wrong_length"
    NOT_SEALED_FOR_THIS_KEY_OR_PLAN = "not_sealed_for_this_key_or_plan"
    UNKNOWN_VERSION = "unknown_version"
    UNKNOWN_KIND = "unknown_kind"
    OUTSIDE_ITS_LANE = "outside_its_lane"
    PADDING_NOT_ZERO = "padding_not_zero"

    @property
    def rule(self) -> str:
        """The rule that such a message violates."""
        return _RULES[self]


_RULES = {
    Rejection.WRONG_LENGTH: "must have the same length as all messages of the plan",
    Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN: "must be sealed, unchanged, for this key, plan and"
    " version of the format",
    Rejection.UNKNOWN_VERSION: "must have a known version of the format",
    Rejection.UNKNOWN_KIND: "must be of a kind that belongs to the plan's linkage",
    Rejection.OUTSIDE_ITS_LANE: "must name a position of the lane that it was sent in",
    Rejection.PADDING_NOT_ZERO: "must have zeros in all unused bits",
}


class RejectedMessage(InvalidInput):
    """A message is refused; the error names the reason, but no content of the message."""

    def __init__(self, reason: Rejection) -> None:
        self.reason = reason
        super().__init__("message", reason.rule, str(reason))

    def __reduce__(self) -> tuple[type[RejectedMessage], tuple[Rejection]]:
        """Lets a worker process return the error: it is rebuilt from its reason."""
        return type(self), (self.reason,)


class Kind(IntEnum):
    """The second byte of a message."""

    NULL = 0
    TOKEN = 1
    VECTOR = 2


@dataclass(frozen=True, slots=True)
class Null:
    """An empty message: it fills a submission up to the plan's number of messages."""


@dataclass(frozen=True, slots=True)
class Token:
    """A position that was reported as 1, counted from 0."""

    position: int


@dataclass(frozen=True, slots=True)
class Vector:
    """A noisy record, packed: position j is bit 7 - j mod 8 of byte j div 8 (numpy.packbits)."""

    packed: bytes


Payload: TypeAlias = Null | Token | Vector


@dataclass(frozen=True, slots=True)
class MessageFormat:
    """The format of the messages of one lane."""

    lane: Lane

    @property
    def payload_length(self) -> int:
        """Bytes after version and kind."""
        return (self.lane.positions + 7) // 8 if self.lane.records else POSITION_LENGTH

    @property
    def plaintext_length(self) -> int:
        """Bytes of each message before sealing."""
        return HEADER_LENGTH + self.payload_length

    def encode(self, payload: Payload) -> bytes:
        """The plaintext of a payload."""
        if self.lane.records:
            if isinstance(payload, Vector):
                return self._plaintext(Kind.VECTOR, self._vector_bytes(payload.packed))
        elif isinstance(payload, Token):
            return self._plaintext(Kind.TOKEN, self._position_bytes(payload.position))
        elif isinstance(payload, Null):
            return self._plaintext(Kind.NULL, bytes(POSITION_LENGTH))
        kinds = "Vector in a lane of records" if self.lane.records else "Token or Null in its lane"
        raise InvalidInput("payload", f"must be {kinds}", type(payload).__name__)

    def decode(self, plaintext: bytes) -> Payload:
        """The payload of a plaintext, or RejectedMessage with the reason."""
        if len(plaintext) != self.plaintext_length:
            raise RejectedMessage(Rejection.WRONG_LENGTH)
        version, kind, payload = plaintext[0], plaintext[1], plaintext[HEADER_LENGTH:]
        if version != VERSION:
            raise RejectedMessage(Rejection.UNKNOWN_VERSION)
        if self.lane.records:
            if kind == Kind.VECTOR:
                if self._has_padding(payload):
                    raise RejectedMessage(Rejection.PADDING_NOT_ZERO)
                return Vector(payload)
        elif kind == Kind.TOKEN:
            position = int.from_bytes(payload, "big")
            if not self.lane.holds(position):
                raise RejectedMessage(Rejection.OUTSIDE_ITS_LANE)
            return Token(position)
        elif kind == Kind.NULL:
            if any(payload):
                raise RejectedMessage(Rejection.PADDING_NOT_ZERO)
            return Null()
        raise RejectedMessage(Rejection.UNKNOWN_KIND)

    def _plaintext(self, kind: Kind, payload: bytes) -> bytes:
        return bytes((VERSION, kind)) + payload

    def _position_bytes(self, position: int) -> bytes:
        number, lane = whole_number(position), self.lane
        if number is None or not lane.holds(number):
            last = lane.offset + lane.positions - 1
            rule = f"must be a whole number from {lane.offset:,} to {last:,}"
            raise InvalidInput("position", rule, position, f"lane {lane.number} has no other")
        return number.to_bytes(POSITION_LENGTH, "big")

    def _vector_bytes(self, packed: bytes) -> bytes:
        if len(packed) != self.payload_length:
            rule = f"must be {self.payload_length:,} bytes for {self.lane.positions:,} positions"
            raise InvalidInput("vector", rule, f"{len(packed):,} bytes")
        if self._has_padding(packed):
            raise InvalidInput("vector", "must have zeros after its last position", "a one")
        return bytes(packed)

    def _has_padding(self, packed: bytes) -> bool:
        """Whether any bit after the last position is set: the lowest bits of the last byte."""
        unused = -self.lane.positions % 8
        return packed[-1] & ((1 << unused) - 1) != 0


def whole_number(value: object) -> int | None:
    """The value as an int (also for numpy's integers), or None if it is not one."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


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
    return MessageFormat(plan.lanes[0]).plaintext_length + LAYER_BYTES * len(layers_at(plan, hop))
