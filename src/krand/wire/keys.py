"""Creates, identifies, writes and reads key pairs, with errors that say what is wrong.

Messages are sealed for the analyst (X25519); the collector signs what it releases (Ed25519).

Private keys are PKCS#8 and public keys SubjectPublicKeyInfo, both in PEM, the usual formats.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from krand.errors import InvalidInput
from krand.files import EVERYBODY, OWNER_ONLY, read_whole, unwritable

if TYPE_CHECKING:
    from krand.survey.plan import Plan

FINGERPRINT_DIGITS = 16
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


def fingerprint(key: PublicKey) -> str:
    """The fingerprint of a public key, for people to compare: 64 bits of its SHA-256."""
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()[:FINGERPRINT_DIGITS]


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


def public_key_pem(key: PublicKey) -> bytes:
    """The public key as PEM."""
    from cryptography.hazmat.primitives import serialization  # slow, and no device needs it

    return key.public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def read_private_key(path: str | Path, passphrase: bytes | None = None) -> X25519PrivateKey:
    """The private key in a PEM file.

    >>> from pathlib import Path
    >>> from krand import generate_private_key, read_private_key
    >>> from krand.wire.keys import write_key_pair
    >>> key = generate_private_key()
    >>> write_key_pair(key, Path("key.pem"), Path("key.pub.pem"), b"a long passphrase")
    >>> read_private_key("key.pem", b"a long passphrase").public_key() == key.public_key()
    True
    """
    return parse_private_key(read_whole("private key", path), passphrase, str(path))


def read_public_key(path: str | Path) -> X25519PublicKey:
    """The public key in a PEM file.

    >>> from pathlib import Path
    >>> from krand import generate_private_key, read_public_key
    >>> from krand.wire.keys import write_key_pair
    >>> key = generate_private_key()
    >>> write_key_pair(key, Path("key.pem"), Path("key.pub.pem"))
    >>> read_public_key("key.pub.pem") == key.public_key()
    True
    """
    return parse_public_key(read_whole("public key", path), str(path))


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
        damage = "cannot be read: wrong passphrase, or damaged" if encrypted else _DAMAGED
        raise InvalidInput("private key", damage, source) from None


def parse_public_key(pem: bytes, source: str = "PEM text") -> X25519PublicKey:
    """The public key in a PEM text; errors name `source`."""
    key = _public_key(pem, source)
    if not isinstance(key, X25519PublicKey):
        raise InvalidInput("public key", "must be an X25519 key", source, _found(key))
    return sealing_key(key.public_bytes_raw(), "public key", source)


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
    if plan.analyst_key is None:
        rule = "must be in the plan of a sealed collection"
        hint = "recreate it: krand plan survey.toml --analyst-key key.pub.pem -o plan.json"
        raise InvalidInput("analyst_key", rule, None, hint)
    return sealing_key(bytes.fromhex(plan.analyst_key), "analyst_key", plan.analyst_key)


def check_analyst_key(plan: Plan, private_key: X25519PrivateKey) -> None:
    """Reject a private key that cannot open the plan's messages."""
    planned, given = analyst_key_of(plan), private_key.public_key()
    if given.public_bytes_raw() != planned.public_bytes_raw():
        rule = f"must belong to the public key in the plan, fingerprint {fingerprint(planned)}"
        hint = "these messages were sealed for another key; krand keygen printed its fingerprint"
        raise InvalidInput("private key", rule, fingerprint(given), hint)


def _public_key(pem: bytes, source: str) -> object:
    """A public key of any type."""
    from cryptography.hazmat.primitives import serialization  # slow, and no device needs it

    _check_pem("public key", pem, b"PUBLIC KEY-----", source)
    try:
        return serialization.load_pem_public_key(pem)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise InvalidInput("public key", _DAMAGED, source) from None


_DAMAGED = "must be a complete PEM file"


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


def write_key_pair(
    key: PrivateKey,
    private_path: Path,
    public_path: Path,
    passphrase: bytes | None = None,
    *,
    overwrite: bool = False,
) -> None:
    """Write both files or neither; only the owner can read the private one, from the start.

    An existing file is replaced only if `overwrite` is true: without its private key, what was
    sealed for it is lost.
    """
    if private_path.resolve() == public_path.resolve():
        rule = "must not be the file of the private key"
        raise InvalidInput("public", rule, str(public_path))
    for field, path in (("output", private_path), ("public", public_path)):
        if path.is_dir():  # checked now, because later one of the two files may already be written
            raise InvalidInput(field, "must be a file, not a folder", str(path))
    private, public = private_key_pem(key, passphrase), public_key_pem(key.public_key())
    with ExitStack() as cleanup:
        hidden = _staged("output", private_path, private, OWNER_ONLY, cleanup)
        open_ = _staged("public", public_path, public, EVERYBODY, cleanup)
        _place("output", hidden, private_path, overwrite)
        try:
            _place("public", open_, public_path, overwrite)
        except InvalidInput:
            if not overwrite:
                private_path.unlink()
            raise


def write_private(field: str, path: Path, content: bytes, *, overwrite: bool = False) -> None:
    """Write a file that only its owner can read, from the start, in one step."""
    with ExitStack() as cleanup:
        hidden = _staged(field, path, content, OWNER_ONLY, cleanup)
        _place(field, hidden, path, overwrite)


def _staged(field: str, path: Path, content: bytes, mode: int, cleanup: ExitStack) -> Path:
    """A complete temporary file next to `path`; `cleanup` removes it if it is left over."""
    temporary = path.parent / f".{path.name}.{secrets.token_hex(8)}"
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        cleanup.callback(temporary.unlink, missing_ok=True)
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
    except OSError as error:
        raise unwritable(field, path, error) from None
    return temporary


def _place(field: str, temporary: Path, path: Path, overwrite: bool) -> None:
    """Name the file in one step; unlike a rename, a link never replaces a file."""
    try:
        if overwrite:
            os.replace(temporary, path)
        else:
            os.link(temporary, path)
    except FileExistsError:
        hint = "name another file, or replace it with --force"
        raise InvalidInput(field, "must not exist yet", str(path), hint) from None
    except OSError as error:
        raise unwritable(field, path, error) from None
