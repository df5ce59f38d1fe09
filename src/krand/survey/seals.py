"""Seals that a survey may ask for, and what follows from each: the version of all that is sent.

This is the one table of versions. A reader of every version that was published stays: a new seal,
or a new version of messages, is a new row. `krand.wire.suites` has the cryptography of each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

TAG_BYTES = 16
"""The authentication tag behind what is sealed."""


class AnalystKey(Protocol):
    """The analyst's public key, of any kind."""

    def public_bytes_raw(self) -> bytes:
        """As a plan holds it, before it is written in hexadecimal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WireFormat:
    """The numbers of one kind of seal."""

    version: int
    """The first byte of messages and submissions; it is in `info` too."""
    suite: bytes
    """What `info` names after the version: HPKE's numbers of KEM, KDF and AEAD. Version 2 has only
    one suite and names none."""
    key_bytes: int
    """Of a public key; private keys have 32 bytes, whatever the seal."""
    enc_bytes: int
    """Of the encapsulated key, with which a sealed message begins."""

    @property
    def added_bytes(self) -> int:
        """What one layer adds to a message."""
        return self.enc_bytes + TAG_BYTES


class Seal(StrEnum):
    """How messages are sealed: the key of `seal` in a survey file.

    >>> from krand.survey.seals import Seal
    >>> Seal("mlkem768-x25519").wire.added_bytes
    1136
    """

    X25519 = "x25519"
    """Elliptic curves alone: the default."""
    MLKEM768_X25519 = "mlkem768-x25519"
    """With ML-KEM-768 beside them (X-Wing): whoever records messages now and has a quantum computer
    later cannot open them."""

    @property
    def wire(self) -> WireFormat:
        """The numbers of this kind."""
        return _FORMATS[self]


_FORMATS = {
    Seal.X25519: WireFormat(version=2, suite=b"", key_bytes=32, enc_bytes=32),
    Seal.MLKEM768_X25519: WireFormat(
        version=3, suite=bytes.fromhex("647a 0001 0001"), key_bytes=1_216, enc_bytes=1_120
    ),
}
