"""Seals: only the analyst's key opens a message, and only as a message of its plan.

HPKE (RFC 9180), base mode, one message for each encapsulated key. The library accepts no additional
data for a single message, so purpose, version and plan are bound through `info` (RFC 9180, 8.1):
a message of another plan or version cannot be opened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite

from krand.errors import InvalidInput
from krand.wire.messages import FORMAT_VERSION, MessageFormat, Payload, Token, Vector
from krand.wire.rejections import RejectedMessage, Rejection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "PLAN_HASH_LENGTH",
    "PURPOSE",
    "SUITE",
    "Opened",
    "Opener",
    "Sealer",
    "check_plan_hash",
    "open_each",
    "seal_info",
]

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)
PURPOSE = b"krand message"
PLAN_HASH_LENGTH = 32


def seal_info(plan_hash: bytes) -> bytes:
    """What each seal is bound to: purpose, version, plan; of fixed length, so unambiguous."""
    check_plan_hash(plan_hash)
    return PURPOSE + bytes((FORMAT_VERSION,)) + plan_hash


def check_plan_hash(plan_hash: bytes) -> None:
    """Refuse a hash that was shortened or printed."""
    if len(plan_hash) != PLAN_HASH_LENGTH:
        rule = f"must be the {PLAN_HASH_LENGTH} bytes of a SHA-256"
        raise InvalidInput("plan_hash", rule, f"{len(plan_hash)} bytes")


@dataclass(frozen=True, slots=True)
class Sealer:
    """Seals messages of one plan for the analyst, on a device."""

    key: X25519PublicKey
    format: MessageFormat
    plan_hash: bytes
    _info: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_info", seal_info(self.plan_hash))

    def seal(self, payload: Payload) -> bytes:
        """A sealed message; sealing the same payload again gives different bytes."""
        return SUITE.encrypt(self.format.encode(payload), self.key, self._info)


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The content of many messages, in their order, and what was refused."""

    positions: NDArray[np.int64]
    """Bit linkage: the position of each token."""
    vectors: NDArray[np.uint8]
    """Record linkage: one packed record in each row."""
    nulls: int
    rejected: Counter[Rejection]

    @property
    def messages(self) -> int:
        """The number of all messages, opened or refused."""
        kept = len(self.positions) + len(self.vectors)
        return kept + self.nulls + self.rejected.total()


@dataclass(frozen=True, slots=True)
class Opener:
    """Opens messages of one plan, with the analyst's key."""

    key: X25519PrivateKey = field(repr=False)
    format: MessageFormat
    plan_hash: bytes
    _info: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_info", seal_info(self.plan_hash))

    def open(self, sealed: bytes) -> Payload:
        """The payload of one message, or RejectedMessage with the reason."""
        if len(sealed) != self.format.sealed_length:
            raise RejectedMessage(Rejection.WRONG_LENGTH)
        try:
            plaintext = SUITE.decrypt(sealed, self.key, self._info)
        except InvalidTag:
            raise RejectedMessage(Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN) from None
        return self.format.decode(plaintext)

    def open_all(self, sealed: Iterable[bytes] | NDArray[np.uint8]) -> Opened:
        """The payloads of many messages; refused ones are counted by reason, without an error.

        Takes separate bytes objects, or a 2-D array of bytes with one message per row.
        """
        return open_each(sealed, self.open, self.format.payload_length)


def open_each(
    sealed: Iterable[bytes] | NDArray[np.uint8],
    open_one: Callable[[bytes], Payload],
    payload_length: int,
) -> Opened:
    """The payloads of many messages, and how many were refused for which reason."""
    import numpy as np

    positions: list[int] = []
    vectors = bytearray()
    nulls, rejected = 0, Counter[Rejection]()
    for message in _messages(sealed):
        try:
            payload = open_one(message)
        except RejectedMessage as refusal:
            rejected[refusal.reason] += 1
            continue
        if isinstance(payload, Token):
            positions.append(payload.position)
        elif isinstance(payload, Vector):
            vectors += payload.packed
        else:
            nulls += 1
    rows = np.frombuffer(vectors, np.uint8).reshape(-1, payload_length)
    return Opened(np.array(positions, np.int64), rows, nulls, rejected)


def _messages(sealed: Iterable[bytes] | NDArray[np.uint8]) -> Iterator[bytes]:
    """The messages one by one; InvalidInput if the argument holds no messages."""
    import numpy as np

    if isinstance(sealed, np.ndarray):
        if sealed.dtype != np.uint8 or sealed.ndim != 2:
            found = f"{sealed.dtype} with {sealed.ndim} dimensions"
            raise InvalidInput("sealed", "must be a 2-D array of uint8, or bytes", found)
        for row in sealed:
            yield row.tobytes()
        return
    for message in sealed:
        if not isinstance(message, (bytes, bytearray, memoryview)):
            found = type(message).__name__
            raise InvalidInput("sealed", "must hold one bytes object for each message", found)
        yield bytes(message)
