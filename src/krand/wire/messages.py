"""The plaintext of a message: version, kind, payload; the same length for all messages of a plan.

Bit linkage has tokens (a position that was reported as 1) and nulls (nothing), which have the same
length. Record linkage has vectors (a whole noisy record). Reading is strict: anything that the
writer here would not have written is refused, so that each payload has one encoding and a hidden
mark is impossible.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from enum import IntEnum
from typing import TypeAlias

from krand.errors import InvalidInput
from krand.promise import Linkage
from krand.wire.rejections import RejectedMessage, Rejection

__all__ = [
    "FORMAT_VERSION",
    "MAX_POSITIONS",
    "SEAL_LENGTH",
    "Kind",
    "MessageFormat",
    "Null",
    "Payload",
    "Token",
    "Vector",
]

FORMAT_VERSION = 1
MAX_POSITIONS = 10**7
"""The limit of the format; a survey has fewer (`krand.promise.MAX_BITS`)."""
SEAL_LENGTH = 32 + 16
"""Bytes added by sealing: an encapsulated X25519 key before, an authentication tag after."""

HEADER_LENGTH = 2
POSITION_LENGTH = 4
"""Enough for MAX_POSITIONS, and the same in every plan."""


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
    """The format of a plan's messages: `positions` is P in bit linkage, L in record linkage."""

    linkage: Linkage
    positions: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "linkage", Linkage(self.linkage))
        known = isinstance(self.positions, int) and not isinstance(self.positions, bool)
        if not known or not 1 <= self.positions <= MAX_POSITIONS:
            rule = f"must be a whole number from 1 to {MAX_POSITIONS:,}"
            raise InvalidInput("positions", rule, self.positions)

    @property
    def payload_length(self) -> int:
        """Bytes after version and kind."""
        return POSITION_LENGTH if self.linkage is Linkage.BIT else (self.positions + 7) // 8

    @property
    def plaintext_length(self) -> int:
        """Bytes of each message before sealing."""
        return HEADER_LENGTH + self.payload_length

    @property
    def sealed_length(self) -> int:
        """Bytes of each sealed message."""
        return self.plaintext_length + SEAL_LENGTH

    def encode(self, payload: Payload) -> bytes:
        """The plaintext of a payload."""
        if self.linkage is Linkage.BIT:
            if isinstance(payload, Token):
                return _plaintext(Kind.TOKEN, self._position_bytes(payload.position))
            if isinstance(payload, Null):
                return _plaintext(Kind.NULL, bytes(self.payload_length))
        elif isinstance(payload, Vector):
            return _plaintext(Kind.VECTOR, self._vector_bytes(payload.packed))
        kinds = "Token or Null" if self.linkage is Linkage.BIT else "Vector"
        raise InvalidInput(
            "payload", f"must be {kinds} in {self.linkage} linkage", type(payload).__name__
        )

    def decode(self, plaintext: bytes) -> Payload:
        """The payload of a plaintext, or RejectedMessage with the reason."""
        if len(plaintext) != self.plaintext_length:
            raise RejectedMessage(Rejection.WRONG_LENGTH)
        version, kind, payload = plaintext[0], plaintext[1], plaintext[HEADER_LENGTH:]
        if version != FORMAT_VERSION:
            raise RejectedMessage(Rejection.UNKNOWN_VERSION)
        if self.linkage is Linkage.RECORD:
            if kind == Kind.VECTOR:
                return self._vector(payload)
        elif kind == Kind.TOKEN:
            return self._token(payload)
        elif kind == Kind.NULL:
            return _null(payload)
        raise RejectedMessage(Rejection.UNKNOWN_KIND)

    def _position_bytes(self, position: int) -> bytes:
        number = whole_number(position)
        if number is None or not 0 <= number < self.positions:
            rule = f"must be a whole number from 0 to {self.positions - 1:,}"
            raise InvalidInput("position", rule, position)
        return number.to_bytes(POSITION_LENGTH, "big")

    def _vector_bytes(self, packed: bytes) -> bytes:
        if len(packed) != self.payload_length:
            rule = f"must be {self.payload_length:,} bytes for {self.positions:,} positions"
            raise InvalidInput("vector", rule, f"{len(packed):,} bytes")
        if self._has_padding(packed):
            raise InvalidInput("vector", "must have zeros after its last position", "a one")
        return bytes(packed)

    def _token(self, payload: bytes) -> Token:
        position = int.from_bytes(payload, "big")
        if position >= self.positions:
            raise RejectedMessage(Rejection.POSITION_OUT_OF_RANGE)
        return Token(position)

    def _vector(self, payload: bytes) -> Vector:
        if self._has_padding(payload):
            raise RejectedMessage(Rejection.PADDING_NOT_ZERO)
        return Vector(payload)

    def _has_padding(self, packed: bytes) -> bool:
        """Whether any bit after the last position is set: the lowest bits of the last byte."""
        unused = -self.positions % 8
        return packed[-1] & ((1 << unused) - 1) != 0


def _plaintext(kind: Kind, payload: bytes) -> bytes:
    return bytes((FORMAT_VERSION, kind)) + payload


def _null(payload: bytes) -> Null:
    if any(payload):
        raise RejectedMessage(Rejection.PADDING_NOT_ZERO)
    return Null()


def whole_number(value: object) -> int | None:
    """The value as an int (also for numpy's integers), or None if it is not one."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None
