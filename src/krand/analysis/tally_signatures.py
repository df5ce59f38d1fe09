"""Who signed a tally: holders of the analyst's key, each of whom counted its batches.

Nobody else can count sealed messages again. So a second holder, a works council for example, counts
too and signs the same numbers. A signature binds a tally to a key; that the key belongs to whom the
signature names is for the reader to check, by a key or fingerprint that they got elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.errors import InvalidInput
from krand.survey.canonical import canonical_json
from krand.wire import purposes
from krand.wire.keys import fingerprint

LONGEST_NAME = 100
DIGITS = {"key": 64, "signature": 128}


@dataclass(frozen=True, slots=True, kw_only=True)
class TallySignature:
    """One holder's signature of a tally, which may not have been verified yet."""

    signer: str
    """The name that the signer gives."""
    key: str
    """An Ed25519 public key, in hexadecimal."""
    signature: str

    def __post_init__(self) -> None:
        check_signer(self.signer)
        for field, digits in DIGITS.items():
            if not re.fullmatch(f"[0-9a-f]{{{digits}}}", getattr(self, field)):
                rule = f"must be {digits} hexadecimal digits"
                raise InvalidInput(f"signatures.{field}", rule, getattr(self, field))

    @property
    def shown(self) -> str:
        """The name, and the fingerprint by which the key is compared."""
        return f"{self.signer} (key {self.fingerprint})"

    @property
    def fingerprint(self) -> str:
        """Of the key."""
        return fingerprint(self.public_key)

    @property
    def public_key(self) -> Ed25519PublicKey:
        """The key that the signature names."""
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(self.key))

    def is_valid(self, sha256: str) -> bool:
        """Whether this key signed the tally of this hash, under this name."""
        try:
            self.public_key.verify(bytes.fromhex(self.signature), _signed(sha256, self.signer))
        except InvalidSignature:
            return False
        return True


def signature_of(sha256: str, key: Ed25519PrivateKey, signer: str) -> TallySignature:
    """A new signature of the tally of this hash."""
    check_signer(signer)
    public = key.public_key().public_bytes_raw().hex()
    signature = key.sign(_signed(sha256, signer)).hex()
    return TallySignature(signer=signer, key=public, signature=signature)


def check_signer(name: str) -> None:
    """Refuse a name that cannot be shown on one line."""
    if not (1 <= len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()):
        rule = f"must be 1 to {LONGEST_NAME} printable characters, without spaces around"
        raise InvalidInput("signer", rule, name)


def holders(signatures: Iterable[TallySignature]) -> tuple[str, ...]:
    """Who says that they hold the analyst's key, each name once."""
    return tuple(dict.fromkeys(entry.signer for entry in signatures))


def _signed(sha256: str, signer: str) -> bytes:
    return purposes.TALLY + canonical_json({"signer": signer, "tally": sha256})
