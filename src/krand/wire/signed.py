"""A record with a signature: what somebody vouches for, as canonical JSON.

A record is a frozen dataclass that says what its file is called (`form`) and which purpose its
signature has (`purpose`, one of `krand.wire.purposes`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from krand.files import json_object
from krand.survey.canonical import canonical_json
from krand.survey.plain_values import Malformed, Signature, as_file, part, typed

HINT = "it was written by another version of krand, or changed"


class Record(Protocol):
    """A frozen dataclass that can be signed."""

    form: ClassVar[str]
    purpose: ClassVar[bytes]
    __dataclass_fields__: ClassVar[dict[str, Any]]


Vouched = TypeVar("Vouched", bound=Record)


@dataclass(frozen=True)  # without slots, with which Signed[Link](…) fails in Python 3.11
class Signed(Generic[Vouched]):
    """What somebody vouches for, and the signature, which may not have been verified yet.

    The purpose is signed before the content, so that a signature cannot be mistaken for one of
    another kind.
    """

    record: Vouched
    signature: bytes

    @property
    def values(self) -> dict[str, Any]:
        """Plain data, as in the file."""
        return {**_content(self.record), "signature": self.signature.hex()}

    @property
    def content(self) -> bytes:
        """The file: canonical JSON with the signature inside."""
        return canonical_json(self.values)

    @property
    def sha256(self) -> str:
        """By which another record names this one."""
        return hashlib.sha256(self.content).hexdigest()

    def is_by(self, key: Ed25519PublicKey | str) -> bool:
        """Whether the holder of this key signed it, and nothing was changed since.

        A text is a public key in hexadecimal.
        """
        try:
            if isinstance(key, str):
                key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key))
            key.verify(self.signature, _message(self.record))
        except (InvalidSignature, ValueError):
            return False
        return True


def sign(record: Vouched, key: Ed25519PrivateKey) -> Signed[Vouched]:
    """The same with a signature."""
    return Signed(record, key.sign(_message(record)))


def parse_signed(
    kind: type[Vouched], content: bytes, name: str, source: str = "", hint: str = HINT
) -> Signed[Vouched]:
    """The record in these bytes, whose signature is not verified yet; errors begin with `name`."""
    rule, source = f"must be a file of the format {kind.form}", source or name
    values = json_object(name, content, source, rule)
    with as_file(name, kind.form, source, hint):
        return signed_in(kind, values)


def signed_in(kind: type[Vouched], values: Any) -> Signed[Vouched]:
    """The same in plain data: format and signature are beside the fields."""
    left = typed(Mapping[str, Any], values)
    signature = part(Signature, left, "signature")
    if left.pop("format", None) != kind.form:
        raise Malformed(f"should be {kind.form}", ("format",))
    del left["signature"]
    return Signed(typed(kind, left), bytes.fromhex(signature))


def _message(record: Record) -> bytes:
    return record.purpose + canonical_json(_content(record))


def _content(record: Record) -> dict[str, Any]:
    return {"format": record.form, **asdict(record)}
