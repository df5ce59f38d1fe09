"""Seals: HPKE (RFC 9180), base mode, one message for each encapsulated key; and what was inside.

The library accepts no additional data for a single message, so all that a seal is bound to goes
into `info` (RFC 9180, 8.1): see `krand.wire.layers`. `krand.wire.suites` has the cryptography.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.errors import InvalidInput
from krand.wire.messages import Payload, Token, Vector
from krand.wire.rejections import RejectedMessage, Rejection

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "PLAN_HASH_LENGTH",
    "PURPOSE",
    "Opened",
    "check_plan_hash",
    "open_each",
]

PURPOSE = b"krand message"
PLAN_HASH_LENGTH = 32


def check_plan_hash(plan_hash: bytes) -> None:
    """Refuse a hash that was shortened or printed."""
    if len(plan_hash) != PLAN_HASH_LENGTH:
        rule = f"must be the {PLAN_HASH_LENGTH} bytes of a SHA-256"
        raise InvalidInput("plan_hash", rule, f"{len(plan_hash)} bytes")


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
