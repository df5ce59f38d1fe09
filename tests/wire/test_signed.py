"""Records with signatures: none can be taken for another, and none can be changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import ClassVar

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.errors import InvalidInput
from krand.survey.plain_values import Count
from krand.wire import purposes
from krand.wire.signed import parse_signed, sign

KEY = Ed25519PrivateKey.generate()


@dataclass(frozen=True, slots=True, kw_only=True)
class Apples:
    form: ClassVar[str] = "krand-apples-1"
    purpose: ClassVar[bytes] = b"apples\0"

    count: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Pears:
    form: ClassVar[str] = "krand-apples-1"
    purpose: ClassVar[bytes] = b"pears\0"

    count: Count


def test_no_purpose_begins_another() -> None:
    """Otherwise the rest of one could be chosen so that it reads like the other."""
    assert set(purposes.ALL) == {
        value for name, value in vars(purposes).items() if isinstance(value, bytes)
    }
    for one, other in permutations(purposes.ALL, 2):
        assert not other.startswith(one), (one, other)


def test_a_record_comes_back_with_its_signature() -> None:
    """By its own key alone, given as a key or in hexadecimal."""
    signed = sign(Apples(count=3), KEY)
    found = parse_signed(Apples, signed.content, "apples")
    assert found == signed
    assert found.sha256 == signed.sha256
    assert found.is_by(KEY.public_key())
    assert found.is_by(KEY.public_key().public_bytes_raw().hex())
    assert not found.is_by(Ed25519PrivateKey.generate().public_key())
    assert not found.is_by("no key")


@pytest.mark.parametrize("kind", [Apples, Pears])
def test_a_signature_is_for_its_purpose_and_content_alone(kind: type[Apples]) -> None:
    """Even if everything that can be seen is the same."""
    content = sign(Apples(count=3), KEY).content
    changed = content.replace(b'"count":3', b'"count":4') if kind is Apples else content
    assert not parse_signed(kind, changed, "fruit").is_by(KEY.public_key())


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"count":3}', b'{"count":-1,"format":"krand-apples-1","signature":"%s"}'],
)
def test_anything_else_is_refused_by_name(content: bytes) -> None:
    """With the format that is expected."""
    with pytest.raises(InvalidInput, match="apples: must be a file of the format krand-apples-1"):
        parse_signed(Apples, content.replace(b"%s", b"00" * 64), "apples")
