"""Layers of seals: for the analyst inside, around it for mixer h, then h - 1, …, 2.

A seal is HPKE (RFC 9180), base mode, one message for each encapsulated key. The library accepts no
additional data for a single message, so all that a seal is bound to goes into `info` (RFC 9180,
8.1).

Every layer is bound to its hop, plan, round and lane through `info`: a mixer that files a message
elsewhere only spoils it. The collector is mixer 1 and has no layer. A mixer's dummies have the
layers that other messages still have when they leave it.
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
from krand.survey.plan_check import check_round
from krand.wire.keys import analyst_key_of
from krand.wire.messages import (
    ANALYST,
    FIRST_WITH_LAYER,
    LAYER_BYTES,
    VERSION,
    MessageFormat,
    Payload,
    RejectedMessage,
    Rejection,
    Token,
    Vector,
    layers_at,
    length_at,
)
from krand.wire.mixers import opening_key_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from krand.survey.lanes import Lane
    from krand.survey.plan import Plan

SUITE = Suite(KEM.X25519, KDF.HKDF_SHA256, AEAD.AES_128_GCM)

LARGEST_HOP = 2**8 - 1
LARGEST_ROUND = 2**16 - 1
LARGEST_LANE = 2**32 - 1
PURPOSE = b"krand message"
PLAN_HASH_LENGTH = 32


def layer_info(hop: int, plan_hash: bytes, round_number: int, lane: int) -> bytes:
    """What a layer is bound to: purpose, version, hop, plan, round, lane."""
    check_plan_hash(plan_hash)
    if hop != ANALYST:
        _check_range("hop", hop, FIRST_WITH_LAYER, LARGEST_HOP)
    _check_range("round", round_number, 1, LARGEST_ROUND)
    _check_range("lane", lane, 0, LARGEST_LANE)
    where = round_number.to_bytes(2, "big") + lane.to_bytes(4, "big")
    return PURPOSE + bytes((VERSION, hop)) + plan_hash + where


def plan_layer_info(plan: Plan, hop: int, round_number: int, lane: int) -> bytes:
    """The same for a plan; `lane` is the lane's number."""
    return layer_info(hop, bytes.fromhex(plan.hash), round_number, lane)


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


@dataclass(frozen=True, slots=True, eq=False)
class LayerSealer:
    """Seals messages of one plan and round: a device's, or the dummies of a mixer.

    `after` is the mixer whose dummies they are. A device's messages have all layers, as have the
    dummies of the collector, mixer 1.
    """

    plan: Plan
    round_number: int
    after: int = 1
    _keys: tuple[tuple[int, X25519PublicKey], ...] = field(init=False, repr=False)
    """Hop and key of every layer, the innermost first."""
    _lanes: dict[Lane, _SealedLane] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        check_round(self.plan, self.round_number)
        mixers, after = self.plan.survey.trust.mixers, self.after
        if not 1 <= after <= mixers:
            raise InvalidInput("after", f"must be a mixer, from 1 to {mixers}", after)
        hops = layers_at(self.plan, after + 1 if after < mixers else ANALYST)[::-1]
        keys = tuple(
            (hop, analyst_key_of(self.plan))
            if hop == ANALYST
            else (hop, opening_key_of(self.plan, hop, self.round_number))
            for hop in hops
        )
        object.__setattr__(self, "_keys", keys)

    @property
    def length(self) -> int:
        """Of every sealed message."""
        return length_at(self.plan, ANALYST) + LAYER_BYTES * (len(self._keys) - 1)

    def seal(self, lane: Lane, payload: Payload) -> bytes:
        """A message of the lane in all its layers; sealing it again gives different bytes."""
        known = self._lanes.get(lane)
        if known is None:
            known = self._lanes[lane] = self._sealed_lane(lane)
        sealed = known.format.encode(payload)
        for key, info in known.layers:
            sealed = SUITE.encrypt(sealed, key, info)
        return sealed

    def _sealed_lane(self, lane: Lane) -> _SealedLane:
        form = _format_of(self.plan, lane)
        layers = tuple(
            (key, plan_layer_info(self.plan, hop, self.round_number, lane.number))
            for hop, key in self._keys
        )
        return _SealedLane(form, layers)


@dataclass(frozen=True, slots=True)
class _SealedLane:
    """What all messages of a lane have in common."""

    format: MessageFormat
    layers: tuple[tuple[X25519PublicKey, bytes], ...]
    """Key and info, the innermost first."""


def open_layers(
    key: X25519PrivateKey, info: bytes, rows: NDArray[np.uint8]
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """What is inside the layers of one lane, and which of the rows opened; the order stays.

    Nothing but the seal decides what is kept.
    """
    import numpy as np

    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] <= LAYER_BYTES:
        rule = f"must be a 2-D array of uint8 with rows above {LAYER_BYTES} bytes"
        raise InvalidInput("rows", rule, f"{rows.dtype}, {rows.shape}")
    count, length = rows.shape
    joined, opened = memoryview(rows.tobytes()), bytearray()
    kept = np.zeros(count, np.bool_)
    for place in range(count):
        try:
            opened += SUITE.decrypt(joined[place * length : (place + 1) * length], key, info)
        except InvalidTag:
            continue
        kept[place] = True
    return np.frombuffer(opened, np.uint8).reshape(-1, length - LAYER_BYTES), kept


@dataclass(frozen=True, slots=True, eq=False)
class LaneOpener:
    """Opens messages of one plan and round, lane by lane, with the analyst's key."""

    key: X25519PrivateKey = field(repr=False)
    plan: Plan
    round_number: int

    def __post_init__(self) -> None:
        check_round(self.plan, self.round_number)

    def open(self, lane: Lane, sealed: bytes) -> Payload:
        """The payload of one message, or RejectedMessage with the reason."""
        return self._open(_format_of(self.plan, lane), self._info(lane), sealed)

    def open_all(self, lane: Lane, sealed: Iterable[bytes] | NDArray[np.uint8]) -> Opened:
        """The payloads of many messages of a lane; refused ones are counted by reason.

        Takes separate bytes objects, or a 2-D array of bytes with one message per row.
        """
        form, info = _format_of(self.plan, lane), self._info(lane)
        return open_each(
            sealed, lambda message: self._open(form, info, message), form.payload_length
        )

    def _open(self, form: MessageFormat, info: bytes, sealed: bytes) -> Payload:
        if len(sealed) != length_at(self.plan, ANALYST):
            raise RejectedMessage(Rejection.WRONG_LENGTH)
        return form.decode(_opened(self.key, info, sealed))

    def _info(self, lane: Lane) -> bytes:
        return plan_layer_info(self.plan, ANALYST, self.round_number, lane.number)


def _opened(key: X25519PrivateKey, info: bytes, sealed: bytes) -> bytes:
    try:
        return SUITE.decrypt(sealed, key, info)
    except InvalidTag:
        raise RejectedMessage(Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN) from None


def _format_of(plan: Plan, lane: Lane) -> MessageFormat:
    """Of the lane, if the plan has it: a lane of another plan may have other positions."""
    if plan.lanes[lane.number : lane.number + 1] != (lane,):
        raise InvalidInput("lane", "must be a lane of the plan", lane.number)
    return MessageFormat(lane)


def _check_range(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InvalidInput(name, f"must be from {low:,} to {high:,}", value)
