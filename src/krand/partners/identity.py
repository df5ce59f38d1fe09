"""Who a party is: one Ed25519 key, and the link by which it is introduced to others.

A link is `https://mix.example.org#IDENTITY`. It is given in a way that both sides trust: a mail
that is answered by telephone, a contract, a meeting. What follows the `#` is what is trusted:
whoever answers at the address has to sign with that key.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import AfterValidator

from krand.client.transport import collector_parts, is_loopback
from krand.errors import InvalidInput
from krand.survey.plan import Analyst
from krand.wire.keys import generate_signing_key, private_key_pem, read_signing_key, write_private
from krand.wire.mixers import ADDRESS, LONGEST_ADDRESS
from krand.wire.signed import Signed, Vouched, sign

IDENTITY = re.compile("[0-9a-f]{64}")
HOST = re.compile(
    r"(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?"
)
LONGEST_NAME = 100
HTTPS = 443
NAME = f"must be 1 to {LONGEST_NAME} printable characters, without spaces around them"
COPY = "copy the whole line that the partner's program prints when it starts"
ANALYST = "krand-analyst:"


def _one_line(value: str) -> str:
    if not is_name(value):
        raise ValueError(NAME)
    return value


def is_name(name: str) -> bool:
    """Whether a party may be called that, in plans and in everything that people read."""
    return name.isprintable() and name == name.strip() and 1 <= len(name) <= LONGEST_NAME


Name = Annotated[str, AfterValidator(_one_line)]
"""What a party is called."""


@dataclass(frozen=True, slots=True)
class Identity:
    """A party's private key."""

    key: Ed25519PrivateKey = field(repr=False)

    @property
    def public(self) -> str:
        """The public key in hexadecimal, by which links and plans name the party."""
        return self.key.public_key().public_bytes_raw().hex()

    def sign(self, record: Vouched) -> Signed[Vouched]:
        """The record with this party's signature."""
        return sign(record, self.key)


def ensure_identity(path: Path) -> Identity:
    """The identity in a file that only its owner may read; a new one if there is no file."""
    if not path.exists():
        write_private("identity", path, private_key_pem(generate_signing_key()))
    if os.name == "posix" and path.stat().st_mode & 0o077:
        rule, hint = "must be readable by its owner alone", f"chmod 600 {path}"
        raise InvalidInput("identity", rule, str(path), hint)
    return Identity(read_signing_key(path))


@dataclass(frozen=True, slots=True)
class Link:
    """Where a party is reached, and who must answer there."""

    url: str
    identity: str

    def __str__(self) -> str:
        return f"{self.url}#{self.identity}"


def parse_link(text: str, *, local: bool = False) -> Link:
    """The link that somebody pasted; `local` allows addresses of this machine."""
    url, _, identity = text.strip().partition("#")
    if not IDENTITY.fullmatch(identity):
        rule = "must end with # and an identity of 64 hexadecimal digits"
        raise InvalidInput("link", rule, text, COPY)
    return Link(checked_url("link", url, local=local), identity)


def checked_url(field: str, url: str, *, local: bool = False) -> str:
    """A party's address, without a slash at its end: https, the name of a host, port 443.

    `local` allows this machine too, with http and any port.
    """
    parts = collector_parts(field, url)
    plain = f"{parts.scheme}://{parts.netloc.lower().removesuffix(':443')}{parts.path.rstrip('/')}"
    if len(plain) > LONGEST_ADDRESS or not ADDRESS.fullmatch(plain):
        hint = "put a proxy that has a certificate in front of it; on one machine, add --local"
        raise InvalidInput(field, "must be https://host or https://host/path", url, hint)
    if not (local and is_loopback(parts.hostname)):
        if not HOST.fullmatch(parts.hostname or "") or parts.scheme == "http":
            hint = "for example https://mix.example.org; on one machine, to try things, add --local"
            raise InvalidInput(field, "must have the name of a public host", url, hint)
        if parts.port not in (None, HTTPS):
            hint = "put a proxy there; an operator can name other ports for partners in addresses"
            raise InvalidInput(field, f"must be on port {HTTPS}", url, hint)
    return plain


def analyst_line(analyst: Analyst) -> str:
    """What an analyst elsewhere gives the organiser: one word to paste.

    >>> from krand import Analyst
    >>> analyst_line(Analyst(key="ab" * 32, identity="cd" * 32))[:20]
    'krand-analyst:cdcdcd'
    """
    return f"{ANALYST}{analyst.identity}.{analyst.key}"


def parse_analyst(text: str) -> Analyst:
    """The analyst of such a line."""
    identity, _, key = text.strip().removeprefix(ANALYST).partition(".")
    if not (text.strip().startswith(ANALYST) and all(map(IDENTITY.fullmatch, (identity, key)))):
        rule = f"must be {ANALYST}IDENTITY.KEY"
        raise InvalidInput("analyst", rule, text, "copy the line that krand keygen prints")
    return Analyst(key=key, identity=identity)
