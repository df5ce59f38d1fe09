"""Test vectors for other implementations: `make vectors` writes tests/wire/vectors.json.

Messages through chains of one, two and three mixers; one mixer is the collector, which opens
nothing. Each run gives the same file except for the values called "sealed", because sealing draws a
new key for each message. An implementation is correct if it opens each of them as the file states.
The keys are derived from public words: they protect nothing and are for tests only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.survey.lanes import Lane
from krand.wire import purposes
from krand.wire.layers import SUITE, layer_info
from krand.wire.messages import (
    ANALYST,
    LAYER_BYTES,
    MAX_POSITIONS,
    VERSION,
    MessageFormat,
    Null,
    Payload,
    Rejection,
    Token,
    Vector,
)

WARNING = "keys for tests only: they are public and protect nothing"
SUITE_VALUES = {
    "name": "RFC 9180 base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM",
    "mode": 0,
    "kem_id": 0x0020,
    "kdf_id": 0x0001,
    "aead_id": 0x0001,
}


def digest(words: str) -> bytes:
    """32 bytes that everybody can derive: keys and hashes of the test vectors."""
    return hashlib.sha256(f"krand test vectors, {words}".encode()).digest()


def packed(ones: list[int], positions: int) -> bytes:
    """A record from the positions that are 1, literally as the format defines it."""
    record = bytearray((positions + 7) // 8)
    for position in ones:
        record[position // 8] |= 1 << (7 - position % 8)
    return bytes(record)


def _records(number: int, positions: int) -> Lane:
    """A lane of whole records; of every lane but these a plan could have all together."""
    return Lane(
        number=number, block="records", offset=0, positions=positions, messages=2, records=True
    )


LANES = (
    Lane(number=0, block="yes or no", offset=0, positions=1, messages=1),
    Lane(number=1, block="choice", offset=1, positions=5, messages=1),
    Lane(number=2, block="long list", offset=6, positions=60, messages=3),
    Lane(
        number=70_000, block="last", offset=66, positions=MAX_POSITIONS - 66, messages=1
    ),  # a number of three bytes
    *map(_records, (101, 108, 140, 1101), (1, 8, 40, 1001)),
)
YES_NO, CHOICE, LIST, LAST, ONE, EIGHT, FORTY, THOUSAND = LANES
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN
CHAINS = (1, 2, 3)
ROUNDS = (1, 2, 0x0102)
PLAN_HASH = digest("plan: mixed")
OTHER_PLAN = digest("plan: another")
PAYLOADS: tuple[tuple[Lane, Payload], ...] = (
    (YES_NO, Token(0)),
    (YES_NO, Null()),
    (CHOICE, Token(1)),
    (CHOICE, Token(5)),
    (CHOICE, Null()),
    (LIST, Token(6)),
    (LIST, Token(65)),
    (LIST, Null()),
    (LAST, Token(0x010203)),
    (LAST, Token(MAX_POSITIONS - 1)),
    (ONE, Vector(packed([], 1))),
    (ONE, Vector(packed([0], 1))),
    (EIGHT, Vector(packed([0, 1, 6], 8))),
    (FORTY, Vector(packed([0, 7, 8, 17, 39], 40))),
    (FORTY, Vector(packed(list(range(40)), 40))),
    (THOUSAND, Vector(packed([3, 500, 999, 1000], 1001))),
)
MALFORMED: tuple[tuple[str, Lane, str, Rejection], ...] = (
    ("a byte too short", CHOICE, "0101000000", Rejection.WRONG_LENGTH),
    ("a byte too long", CHOICE, "01010000000100", Rejection.WRONG_LENGTH),
    ("version 0", CHOICE, "000100000001", Rejection.UNKNOWN_VERSION),
    ("version 2", CHOICE, "020100000001", Rejection.UNKNOWN_VERSION),
    ("a vector", CHOICE, "010200000001", Rejection.UNKNOWN_KIND),
    ("kind 255", CHOICE, "01ff00000000", Rejection.UNKNOWN_KIND),
    ("position before the lane", CHOICE, "010100000000", Rejection.OUTSIDE_ITS_LANE),
    ("position after the lane", CHOICE, "010100000006", Rejection.OUTSIDE_ITS_LANE),
    ("little-endian position", CHOICE, "010101000000", Rejection.OUTSIDE_ITS_LANE),
    ("largest number", LAST, "0101ffffffff", Rejection.OUTSIDE_ITS_LANE),
    ("null with a mark", CHOICE, "010000000001", Rejection.PADDING_NOT_ZERO),
    ("null with a mark in front", CHOICE, "010080000000", Rejection.PADDING_NOT_ZERO),
    ("record a byte too long", EIGHT, "0102c200", Rejection.WRONG_LENGTH),
    ("a token among records", FORTY, "01010000000005", Rejection.UNKNOWN_KIND),
    ("a null among records", FORTY, "01000000000000", Rejection.UNKNOWN_KIND),
    ("lowest padding bit", ONE, "010201", Rejection.PADDING_NOT_ZERO),
    ("highest padding bit", ONE, "0102c0", Rejection.PADDING_NOT_ZERO),
)
"""Name, lane, plaintext, reason; each plaintext is also sealed unchanged, for the analyst."""


def make_vectors() -> dict[str, Any]:
    """The whole file; the values called "sealed" differ from run to run."""
    return {
        "format": "krand message",
        "version": VERSION,
        "warning": WARNING,
        "suite": SUITE_VALUES,
        "plan_hash": PLAN_HASH.hex(),
        "keys": list(_keys()),
        "lanes": [
            {
                "number": lane.number,
                "offset": lane.offset,
                "positions": lane.positions,
                "messages": lane.messages,
                "records": lane.records,
                "plaintext_length": MessageFormat(lane).plaintext_length,
            }
            for lane in LANES
        ],
        "layers": [
            {"mixers": mixers, "hop": hop, "layers": len(_hops(mixers, hop))}
            for mixers in CHAINS
            for hop in (*range(1, mixers + 1), ANALYST)
        ],
        "accepted": [
            _accepted(mixers, round_number, lane, payload)
            for mixers, round_number in zip(CHAINS, ROUNDS, strict=True)
            for lane, payload in PAYLOADS
        ],
        "rejected": [*_malformed(), *_filed_elsewhere(), *_damaged()],
        "plan_signatures": [_plan_signature(hop) for hop in range(1, max(CHAINS) + 1)],
    }


def _key(hop: int, round_number: int) -> X25519PrivateKey:
    """The analyst has one key for all rounds."""
    word = "analyst" if hop == ANALYST else f"mixer {hop}, round {round_number}"
    return X25519PrivateKey.from_private_bytes(digest(f"key: {word}"))


def _keys() -> Iterator[dict[str, Any]]:
    analyst: list[tuple[int, int | None]] = [(ANALYST, None)]
    mixers = [(hop, number) for hop in range(2, max(CHAINS) + 1) for number in ROUNDS]
    for hop, number in [*analyst, *mixers]:
        key = _key(hop, number or 0)
        yield {
            "hop": hop,
            "round": number,
            "private_key": key.private_bytes_raw().hex(),
            "public_key": key.public_key().public_bytes_raw().hex(),
        }


def _hops(mixers: int, hop: int = 1) -> tuple[int, ...]:
    """Who opens what arrives at a hop, literally as the format defines it."""
    first = mixers + 1 if hop == ANALYST else max(hop, 2)
    return (*range(first, mixers + 1), ANALYST)


def _info(hop: int, round_number: int, lane: Lane, plan_hash: bytes = PLAN_HASH) -> bytes:
    return layer_info(hop, plan_hash, round_number, lane.number)


def _accepted(mixers: int, round_number: int, lane: Lane, payload: Payload) -> dict[str, Any]:
    plaintext = MessageFormat(lane).encode(payload)
    layers: list[dict[str, Any]] = []
    sealed = plaintext
    for hop in reversed(_hops(mixers)):
        info = _info(hop, round_number, lane)
        sealed = SUITE.encrypt(sealed, _key(hop, round_number).public_key(), info)
        layers.insert(0, {"hop": hop, "info": info.hex(), "sealed": sealed.hex()})
    return {
        "mixers": mixers,
        "round": round_number,
        "lane": lane.number,
        "payload": _described(payload, lane),
        "plaintext": plaintext.hex(),
        "layers": layers,
    }


def _described(payload: Payload, lane: Lane) -> dict[str, Any]:
    if isinstance(payload, Token):
        return {"kind": "token", "position": payload.position}
    if isinstance(payload, Vector):
        bits = range(lane.positions)
        return {
            "kind": "vector",
            "ones": [j for j in bits if payload.packed[j // 8] >> 7 - j % 8 & 1],
        }
    return {"kind": "null"}


def _malformed() -> Iterator[dict[str, Any]]:
    """Correctly sealed for the analyst, with invalid content."""
    key = _key(ANALYST, 1).public_key()
    for name, lane, plaintext, reason in MALFORMED:
        sealed = SUITE.encrypt(bytes.fromhex(plaintext), key, _info(ANALYST, 1, lane))
        yield _rejected(name, (ANALYST, 1, lane), plaintext, sealed, reason)


def _filed_elsewhere() -> Iterator[dict[str, Any]]:
    """Messages that arrive at mixer 2 of 3 or at the analyst, made for somewhere else."""
    for hop in (2, ANALYST):
        key = _key(hop, 1).public_key()
        inside = (
            MessageFormat(CHOICE).encode(Token(1)) if hop == ANALYST else bytes(6 + 2 * LAYER_BYTES)
        )
        for name, info in (
            ("another lane", _info(hop, 1, YES_NO)),
            ("another round", _info(hop, 2, CHOICE)),
            ("another hop", _info(3, 1, CHOICE)),
            ("another plan", _info(hop, 1, CHOICE, OTHER_PLAN)),
            ("version 2 in info", _version_two(_info(hop, 1, CHOICE))),
            ("another purpose in info", b"krand another" + _info(hop, 1, CHOICE)[13:]),
            ("no info", b""),
        ):
            sealed = SUITE.encrypt(inside, key, info)
            reason = NOT_SEALED
            yield _rejected(f"{name}, at hop {hop}", (hop, 1, CHOICE), None, sealed, reason)


def _damaged() -> Iterator[dict[str, Any]]:
    """A message on its way to mixer 2 of 3 that somebody changed."""
    whole = bytes.fromhex(_accepted(3, 1, CHOICE, Token(1))["layers"][0]["sealed"])
    for name, sealed, reason in (
        ("last byte missing", whole[:-1], Rejection.WRONG_LENGTH),
        ("a layer too few", whole[LAYER_BYTES:], Rejection.WRONG_LENGTH),
        ("first bit changed", _flipped(whole, 0), NOT_SEALED),
        ("the bit that X25519 ignores", _flipped(whole, 31, 0x80), NOT_SEALED),
        ("encapsulated key of low order", bytes(32) + whole[32:], NOT_SEALED),
        ("all zeros", bytes(len(whole)), NOT_SEALED),
        ("inner layer changed", _flipped(whole, 40), NOT_SEALED),
        ("last bit changed", _flipped(whole, -1), NOT_SEALED),
    ):
        yield _rejected(name, (2, 1, CHOICE), None, sealed, reason)


def _version_two(info: bytes) -> bytes:
    return info.replace(b"krand message\x01", b"krand message\x02")


def _flipped(sealed: bytes, place: int, mask: int = 1) -> bytes:
    changed = bytearray(sealed)
    changed[place] ^= mask
    return bytes(changed)


def _rejected(
    name: str, where: tuple[int, int, Lane], plaintext: str | None, sealed: bytes, reason: Rejection
) -> dict[str, Any]:
    hop, round_number, lane = where
    return {
        "name": name,
        "mixers": max(CHAINS),
        "hop": hop,
        "round": round_number,
        "lane": lane.number,
        "plaintext": plaintext,
        "sealed": sealed.hex(),
        "rejection": str(reason),
    }


def _plan_signature(hop: int) -> dict[str, Any]:
    """Ed25519 draws nothing: these are the same in every run."""
    key = Ed25519PrivateKey.from_private_bytes(digest(f"identity: mixer {hop}"))
    signed = purposes.PLAN + PLAN_HASH
    return {
        "hop": hop,
        "private_key": key.private_bytes_raw().hex(),
        "identity": key.public_key().public_bytes_raw().hex(),
        "signed": signed.hex(),
        "signature": key.sign(signed).hex(),
    }


if __name__ == "__main__":
    print(json.dumps(make_vectors(), indent=2))
