"""Who a party is: one Ed25519 key, a fingerprint that people compare, and where it is reached.

A fingerprint has 112 bits in digits, and 110 in ten words of the English list of BIP 39, which
people can read out on the telephone. Nobody can make another key with the same ten words.

The text of an address is a link, `https://mix.example.org:8443/#IDENTITY`. What follows the `#` is
never sent to anybody. A link that asks somebody to join has a code behind the identity.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from krand.client.transport import collector_parts, is_loopback
from krand.errors import InvalidInput, MissingComponent
from krand.files import OWNER_FOLDER, Exists, ensure_directory, sync_folder
from krand.wire.keys import generate_signing_key, private_key_pem, read_signing_key, write_private
from krand.wire.signed import Signed, Vouched, sign

PURPOSE = b"krand identity\0"
DIGITS, GROUP = 28, 4
WORDS, WORD_BITS = 10, 11
IDENTITY = re.compile("[0-9a-f]{64}")
CODE = re.compile("[0-9a-f]{32}")
LONGEST_URL = 500


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """A short name of a public key, to be compared by people."""

    words: str
    """Ten words."""
    digits: str
    """28 hexadecimal digits in groups of four."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A party's private key."""

    key: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> str:
        """The public key in hexadecimal, by which plans and routes name the party."""
        return self.key.public_key().public_bytes_raw().hex()

    def sign(self, record: Vouched) -> Signed[Vouched]:
        """The record with this party's signature."""
        return sign(record, self.key)


def make_identity(path: Path) -> Identity:
    """A new identity in a new file, which only its owner can read."""
    if os.path.lexists(path):
        hint = "whoever knows this party knows it by that key"
        raise Exists("identity", "must not exist yet", str(path), hint)
    identity = Identity(generate_signing_key())
    write_private("identity", path, private_key_pem(identity.key))
    sync_folder(path.parent)
    return identity


def ensure_identity(path: Path) -> Identity:
    """The identity in a file; if there is none, a new one in a folder for its owner alone."""
    if path.exists():
        return read_identity(path)
    ensure_directory("identity", path.parent)
    path.parent.chmod(OWNER_FOLDER)
    return make_identity(path)


def read_identity(path: Path) -> Identity:
    """The identity in a file, if nobody but its owner can read it."""
    key = read_signing_key(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        rule, hint = "must be readable by its owner alone", f"chmod 600 {path}"
        raise InvalidInput("identity", rule, str(path), hint)
    return Identity(key)


def fingerprint(public: str) -> Fingerprint:
    """The fingerprint of a public key in hexadecimal."""
    digest = hashlib.sha256(PURPOSE + bytes.fromhex(public)).digest()
    number, listed = int.from_bytes(digest), _listed_words()
    places = (
        number >> (8 * len(digest) - WORD_BITS * (place + 1)) & (len(listed) - 1)
        for place in range(WORDS)
    )
    digits = digest.hex()[:DIGITS]
    groups = (digits[start : start + GROUP] for start in range(0, DIGITS, GROUP))
    return Fingerprint(words=" ".join(listed[place] for place in places), digits=" ".join(groups))


def _listed_words() -> list[str]:
    try:
        from mnemonic import Mnemonic
    except ImportError:
        raise MissingComponent("mnemonic", "serve") from None
    return Mnemonic("english").wordlist


@dataclass(frozen=True, slots=True)
class Address:
    """The URL of a partner's service, and the identity that it must have, if that is known."""

    url: str
    identity: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url("address", self.url))
        if self.identity is not None and not IDENTITY.fullmatch(self.identity):
            rule = "must have 64 hexadecimal digits after its #"
            hint = "copy the whole link; the partner's service shows it when it starts"
            raise InvalidInput("address", rule, self.identity, hint)

    def __str__(self) -> str:
        return self.url + (f"/#{self.identity}" if self.identity else "")


@dataclass(frozen=True, slots=True)
class JoinLink:
    """An address with a code, which whoever joins shows there once."""

    address: Address
    code: str

    def __post_init__(self) -> None:
        if self.address.identity is None or not CODE.fullmatch(self.code):
            rule = "must end with #, an identity, - and a code"
            raise InvalidInput("link", rule, str(self), "copy the whole link")

    def __str__(self) -> str:
        return f"{self.address}-{self.code}"


def parse_address(text: str) -> Address:
    """The address that a text stands for; the identity may be missing."""
    url, _, identity = text.strip().partition("#")
    return Address(url, identity or None)


def parse_join_link(text: str) -> JoinLink:
    """The link that a text stands for."""
    address, _, code = text.strip().rpartition("-")
    if "#" not in address:
        rule = "must end with #, an identity, - and a code"
        raise InvalidInput("link", rule, text, "copy the whole link")
    return JoinLink(parse_address(address), code)


def checked_url(field: str, url: str) -> str:
    """The URL of a service without a slash at its end: https, or plain http on this machine."""
    parts = collector_parts(field, url)
    if len(url) > LONGEST_URL:
        rule, hint = f"must have at most {LONGEST_URL} characters", "use a shorter path"
        raise InvalidInput(field, rule, url, hint)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        rule = "must begin with https://, or name this machine (localhost, 127.0.0.1, [::1])"
        hint = (
            "over http:// everybody on the way can hold back or replace what partners send;"
            " krand mix serve needs no bought certificate: its link names the identity"
        )
        raise InvalidInput(field, rule, url, hint)
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
