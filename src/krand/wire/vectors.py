"""Test vectors for other implementations: `python -m krand.wire.vectors > vectors.json`.

Each run gives the same file except for the values called "sealed", because sealing draws a new key
for each message. An implementation is correct if it opens each of them as the file states. The keys
are derived from public words: they protect nothing and are for tests only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.promise import Linkage
from krand.wire.keys import fingerprint, public_key_pem
from krand.wire.messages import (
    FORMAT_VERSION,
    MAX_POSITIONS,
    MessageFormat,
    Null,
    Payload,
    Token,
    Vector,
)
from krand.wire.rejections import Rejection
from krand.wire.sealing import PURPOSE, SUITE, Sealer, seal_info

__all__ = ["SUITE_VALUES", "WARNING", "digest", "make_vectors", "packed"]

WARNING = "keys for tests only: they are public and protect nothing"
SUITE_VALUES = {
    "name": "RFC 9180 base mode: DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM",
    "mode": 0,
    "kem_id": 0x0020,
    "kdf_id": 0x0001,
    "aead_id": 0x0001,
}

FORMATS = {
    "one bit": MessageFormat(Linkage.BIT, 1),
    "40 bits": MessageFormat(Linkage.BIT, 40),
    "most bits": MessageFormat(Linkage.BIT, MAX_POSITIONS),
    "record of 1": MessageFormat(Linkage.RECORD, 1),
    "record of 8": MessageFormat(Linkage.RECORD, 8),
    "record of 40": MessageFormat(Linkage.RECORD, 40),
    "record of 1001": MessageFormat(Linkage.RECORD, 1001),
}
PAYLOADS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("one bit", {"kind": "token", "position": 0}),
    ("one bit", {"kind": "null"}),
    ("40 bits", {"kind": "token", "position": 0}),
    ("40 bits", {"kind": "token", "position": 39}),
    ("40 bits", {"kind": "null"}),
    ("most bits", {"kind": "token", "position": 0x010203}),
    ("most bits", {"kind": "token", "position": MAX_POSITIONS - 1}),
    ("most bits", {"kind": "null"}),
    ("record of 1", {"kind": "vector", "ones": []}),
    ("record of 1", {"kind": "vector", "ones": [0]}),
    ("record of 8", {"kind": "vector", "ones": [0, 1, 6]}),
    ("record of 40", {"kind": "vector", "ones": []}),
    ("record of 40", {"kind": "vector", "ones": [0, 7, 8, 17, 39]}),
    ("record of 40", {"kind": "vector", "ones": list(range(40))}),
    ("record of 1001", {"kind": "vector", "ones": [3, 500, 999, 1000]}),
)
MALFORMED: tuple[tuple[str, str, str, Rejection], ...] = (
    ("empty", "40 bits", "", Rejection.WRONG_LENGTH),
    ("a byte too short", "40 bits", "0101000000", Rejection.WRONG_LENGTH),
    ("a byte too long", "40 bits", "01010000000500", Rejection.WRONG_LENGTH),
    ("record a byte too long", "record of 8", "0102c200", Rejection.WRONG_LENGTH),
    ("version 0", "40 bits", "000100000005", Rejection.UNKNOWN_VERSION),
    ("version 2", "40 bits", "020100000005", Rejection.UNKNOWN_VERSION),
    ("version 255, kind 255", "40 bits", "ffff00000005", Rejection.UNKNOWN_VERSION),
    ("kind 3", "40 bits", "010300000005", Rejection.UNKNOWN_KIND),
    ("a vector in bit linkage", "40 bits", "010200000005", Rejection.UNKNOWN_KIND),
    ("a token in record linkage", "record of 40", "01010000000005", Rejection.UNKNOWN_KIND),
    ("a null in record linkage", "record of 40", "01000000000000", Rejection.UNKNOWN_KIND),
    ("first position beyond", "40 bits", "010100000028", Rejection.POSITION_OUT_OF_RANGE),
    ("little-endian position", "40 bits", "010105000000", Rejection.POSITION_OUT_OF_RANGE),
    ("largest number", "most bits", "0101ffffffff", Rejection.POSITION_OUT_OF_RANGE),
    ("most bits, first beyond", "most bits", "010100989680", Rejection.POSITION_OUT_OF_RANGE),
    ("null with a mark", "40 bits", "010000000001", Rejection.PADDING_NOT_ZERO),
    ("null with a mark in front", "40 bits", "010080000000", Rejection.PADDING_NOT_ZERO),
    ("lowest padding bit", "record of 1", "010201", Rejection.PADDING_NOT_ZERO),
    ("highest padding bit", "record of 1", "0102c0", Rejection.PADDING_NOT_ZERO),
)
"""Name, plan, plaintext, reason; each plaintext is also sealed unchanged."""


def make_vectors() -> dict[str, Any]:
    """The whole file; the values called "sealed" differ from run to run."""
    key = _test_key("recipient")
    return {
        "format": "krand message",
        "version": FORMAT_VERSION,
        "warning": WARNING,
        "suite": SUITE_VALUES,
        "recipient": {
            "private_key": key.private_bytes_raw().hex(),
            "public_key": key.public_key().public_bytes_raw().hex(),
            "public_key_pem": public_key_pem(key.public_key()).decode(),
            "fingerprint": fingerprint(key.public_key()),
        },
        "plans": [_plan(name, form) for name, form in FORMATS.items()],
        "accepted": [_accepted(key, plan, payload) for plan, payload in PAYLOADS],
        "rejected": [*_malformed(key), *_badly_sealed(key)],
    }


def packed(ones: list[int], positions: int) -> bytes:
    """A record from the positions that are 1, literally as the format defines it."""
    record = bytearray((positions + 7) // 8)
    for position in ones:
        record[position // 8] |= 1 << (7 - position % 8)
    return bytes(record)


def _test_key(word: str) -> X25519PrivateKey:
    return X25519PrivateKey.from_private_bytes(digest(f"key: {word}"))


def _plan_hash(plan: str) -> bytes:
    return digest(f"plan: {plan}")


def digest(words: str) -> bytes:
    """32 bytes that everybody can derive: keys and hashes of the test vectors."""
    return hashlib.sha256(f"krand test vectors, {words}".encode()).digest()


def _plan(name: str, form: MessageFormat) -> dict[str, Any]:
    return {
        "name": name,
        "linkage": str(form.linkage),
        "positions": form.positions,
        "plan_hash": _plan_hash(name).hex(),
        "info": seal_info(_plan_hash(name)).hex(),
        "plaintext_length": form.plaintext_length,
        "sealed_length": form.sealed_length,
    }


def _payload(form: MessageFormat, description: dict[str, Any]) -> Payload:
    if description["kind"] == "token":
        return Token(description["position"])
    if description["kind"] == "vector":
        return Vector(packed(description["ones"], form.positions))
    return Null()


def _accepted(key: X25519PrivateKey, plan: str, description: dict[str, Any]) -> dict[str, Any]:
    form = FORMATS[plan]
    payload = _payload(form, description)
    return {
        "plan": plan,
        "payload": description,
        "plaintext": form.encode(payload).hex(),
        "sealed": Sealer(key.public_key(), form, _plan_hash(plan)).seal(payload).hex(),
    }


def _malformed(key: X25519PrivateKey) -> Iterator[dict[str, Any]]:
    """Correctly sealed messages with invalid content."""
    for name, plan, plaintext, reason in MALFORMED:
        info = seal_info(_plan_hash(plan))
        sealed = SUITE.encrypt(bytes.fromhex(plaintext), key.public_key(), info)
        yield _rejected(name, plan, plaintext, sealed, reason)


def _badly_sealed(key: X25519PrivateKey) -> Iterator[dict[str, Any]]:
    """Valid plaintexts whose seal is broken, or made for something else."""
    plan, reader = "40 bits", key.public_key()
    plaintext = FORMATS[plan].encode(Token(5))
    info = seal_info(_plan_hash(plan))
    other_version = PURPOSE + bytes((FORMAT_VERSION + 1,)) + _plan_hash(plan)
    other_purpose = b"krand another" + info[len(PURPOSE) :]
    good = SUITE.encrypt(plaintext, reader, info)
    for name, sealed in (
        ("nothing", b""),
        ("last byte missing", good[:-1]),
        ("first byte missing", good[1:]),
        ("a byte too many", good + b"\0"),
        ("not sealed at all", plaintext),
    ):
        yield _rejected(name, plan, None, sealed, Rejection.WRONG_LENGTH)
    other_plan = seal_info(_plan_hash("record of 40"))
    for name, sealed in (
        ("another key", SUITE.encrypt(plaintext, _test_key("other").public_key(), info)),
        ("another plan", SUITE.encrypt(plaintext, reader, other_plan)),
        ("another version in info", SUITE.encrypt(plaintext, reader, other_version)),
        ("another purpose in info", SUITE.encrypt(plaintext, reader, other_purpose)),
        ("no info", SUITE.encrypt(plaintext, reader)),
        ("first bit changed", _flipped(good, 0, 0x80)),
        ("the bit that X25519 ignores", _flipped(good, 31, 0x80)),
        ("first bit of the ciphertext changed", _flipped(good, 32, 0x80)),
        ("last bit changed", _flipped(good, len(good) - 1, 0x01)),
        ("encapsulated key of low order", bytes(32) + good[32:]),
        ("all zeros", bytes(len(good))),
    ):
        reason = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN
        yield _rejected(name, plan, None, sealed, reason)


def _flipped(sealed: bytes, index: int, mask: int) -> bytes:
    return sealed[:index] + bytes((sealed[index] ^ mask,)) + sealed[index + 1 :]


def _rejected(
    name: str, plan: str, plaintext: str | None, sealed: bytes, reason: Rejection
) -> dict[str, Any]:
    return {
        "name": name,
        "plan": plan,
        "plaintext": plaintext,
        "sealed": sealed.hex(),
        "rejection": str(reason),
    }


if __name__ == "__main__":
    print(json.dumps(make_vectors(), indent=2))
