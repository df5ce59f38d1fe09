"""Creates, writes and reads private keys, with errors that say what is wrong.

Messages are sealed for mixers and the analyst (X25519); every party signs (Ed25519). Private keys
are PKCS#8 in PEM, the usual format; public ones stand in plans, as hexadecimal digits.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, complete_file, read_whole

if TYPE_CHECKING:
    from krand.survey.plan import Plan

DAMAGED = "must be a complete PEM file"
MAX_PASSPHRASE = 1023
"""OpenSSL's limit, in bytes."""

PrivateKey = X25519PrivateKey | Ed25519PrivateKey
PublicKey = X25519PublicKey | Ed25519PublicKey


def generate_private_key() -> X25519PrivateKey:
    """A new private key for the analyst, from the operating system's randomness.

    >>> from krand import generate_private_key
    >>> len(generate_private_key().public_key().public_bytes_raw())
    32
    """
    return X25519PrivateKey.generate()


def generate_signing_key() -> Ed25519PrivateKey:
    """A new key that signs: a party's identity."""
    return Ed25519PrivateKey.generate()


def public_hex(key: PrivateKey) -> str:
    """The public half of a key, as plans have it."""
    return key.public_key().public_bytes_raw().hex()


def private_key_pem(key: PrivateKey, passphrase: bytes | None = None) -> bytes:
    """The private key as PEM, encrypted if there is a passphrase."""
    from cryptography.hazmat.primitives import serialization  # slow, and no device needs it

    if passphrase is not None and not 1 <= len(passphrase) <= MAX_PASSPHRASE:
        rule = f"must have 1 to {MAX_PASSPHRASE:,} bytes"
        raise InvalidInput("passphrase", rule, f"{len(passphrase):,} bytes")
    encryption: serialization.KeySerializationEncryption = serialization.NoEncryption()
    if passphrase is not None:
        encryption = serialization.BestAvailableEncryption(passphrase)
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption
    )


def read_private_key(path: str | Path, passphrase: bytes | None = None) -> X25519PrivateKey:
    """The private key in a PEM file.

    >>> from pathlib import Path
    >>> from krand import generate_private_key, read_private_key
    >>> from krand.wire.keys import private_key_pem
    >>> key = generate_private_key()
    >>> written = Path("key.pem").write_bytes(private_key_pem(key, b"a long passphrase"))
    >>> read_private_key("key.pem", b"a long passphrase").public_key() == key.public_key()
    True
    """
    return parse_private_key(read_whole("private key", path), passphrase, str(path))


def read_signing_key(path: Path, passphrase: bytes | None = None) -> Ed25519PrivateKey:
    """The collector's private key in a PEM file."""
    key = _private_key(read_whole("private key", path), passphrase, str(path))
    if not isinstance(key, Ed25519PrivateKey):
        raise InvalidInput("private key", "must be an Ed25519 key", str(path), _found(key))
    return key


def parse_private_key(
    pem: bytes, passphrase: bytes | None = None, source: str = "PEM text"
) -> X25519PrivateKey:
    """The private key in a PEM text; errors name `source`."""
    key = _private_key(pem, passphrase, source)
    if not isinstance(key, X25519PrivateKey):
        raise InvalidInput("private key", "must be an X25519 key", source, _found(key))
    return key


def _private_key(pem: bytes, passphrase: bytes | None, source: str) -> object:
    """A private key of any type."""
    from cryptography.hazmat.primitives import serialization  # slow, and no device needs it

    _check_pem("private key", pem, b"PRIVATE KEY-----", source)
    encrypted = b"-----BEGIN ENCRYPTED PRIVATE KEY-----" in pem
    if encrypted and passphrase is None:
        raise InvalidInput("private key", "is encrypted: a passphrase must be given", source)
    if passphrase is not None and not encrypted:
        raise InvalidInput("private key", "is not encrypted: give no passphrase", source)
    try:
        return serialization.load_pem_private_key(pem, passphrase)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        damage = "cannot be read: wrong passphrase, or damaged" if encrypted else DAMAGED
        raise InvalidInput("private key", damage, source) from None


def sealing_key(raw: bytes, name: str, source: str) -> X25519PublicKey:
    """The public key in these bytes; errors call it `name`, and say where it comes from.

    The few values that are not real keys are refused: anybody could open what is sealed for them.
    """
    try:
        key = X25519PublicKey.from_public_bytes(raw)
    except ValueError:
        raise InvalidInput(name, "must be an X25519 public key", source) from None
    try:
        X25519PrivateKey.generate().exchange(key)
    except ValueError:
        raise InvalidInput(name, "must not be a point of low order", source) from None
    return key


def analyst_key_of(plan: Plan) -> X25519PublicKey:
    """The key that messages are sealed for; only the plan contains it."""
    if plan.analyst is None:
        rule = "must be in a plan that people send to"
        hint = "krand run publishes a survey; in Python, plan.with_parties names everybody"
        raise InvalidInput("analyst", rule, None, hint)
    return sealing_key(bytes.fromhex(plan.analyst.key), "analyst.key", plan.analyst.key)


def check_analyst_key(plan: Plan, private_key: X25519PrivateKey) -> None:
    """Reject a private key that cannot open the plan's messages."""
    planned = analyst_key_of(plan).public_bytes_raw().hex()
    given = public_hex(private_key)
    if given != planned:
        rule = f"must belong to the analyst's key in the plan, {planned}"
        hint = "these messages were sealed for another key"
        raise InvalidInput("private key", rule, given, hint)


def _check_pem(field: str, pem: bytes, ending: bytes, source: str) -> None:
    """Check that a PEM text is of the right type, because the two are easily confused."""
    if b"-----BEGIN " not in pem:
        raise InvalidInput(field, "must be PEM, a text with the line -----BEGIN …-----", source)
    if ending not in pem:
        other = "public" if field == "private key" else "private"
        hint = f"this is a {other} key" if f"{other.upper()} KEY-----".encode() in pem else ""
        raise InvalidInput(field, f"must be the PEM of a {field}", source, hint)


def _found(key: object) -> str:
    hint = "krand keygen creates the right one, with --signing for a collector"
    return f"this is another type of key ({type(key).__name__}); {hint}"


def write_private(field: str, path: Path, content: bytes) -> None:
    """A new file that only its owner can read, before anything is in it."""
    with complete_file(field, path, replace=False) as stream:
        os.chmod(stream.fileno(), OWNER_ONLY)
        stream.write(content)
