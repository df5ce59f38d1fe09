"""Signed requests: who asks for what, of whom, once.

Four headers go with a request. Its signature is over the method, the recipient's identity, the
path, the hash of the body and a nonce that the recipient gave. So no request can be sent again,
sent to somebody else, or changed. Nobody's clock is compared with anybody else's.

The recipient keeps nothing about the nonces that it gives: each carries the second of the
recipient's own clock, and a code that only the recipient's process can make. It remembers those
that were used by requests with a valid signature, for as long as they would be valid.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from krand.errors import InvalidInput
from krand.partners.documents import Public
from krand.partners.identity import Identity
from krand.survey.plain_values import Malformed, Sha256, Signature, digits, typed
from krand.wire import purposes
from krand.wire.signed import Signed

VALID_SECONDS = 60
RANDOM_BYTES, SECOND_BYTES, CODE_BYTES = 16, 8, 32
NONCE_BYTES = RANDOM_BYTES + SECOND_BYTES + CODE_BYTES
GivenNonce = Annotated[str, digits(2 * NONCE_BYTES)]

IDENTITY, NONCE = "krand-identity", "krand-nonce"
BODY, SIGNATURE = "krand-body", "krand-signature"
OTHER_VERSION = "it was written by another version of krand"
HEADERS = {IDENTITY: Public, NONCE: GivenNonce, BODY: Sha256, SIGNATURE: Signature}


class NotAuthenticated(InvalidInput):
    """A request that nobody can be held to: unsigned, changed, or sent before."""


class NotAdmitted(InvalidInput):
    """A request of somebody who may not ask for this."""


class NotFound(InvalidInput):
    """A request for something that this service does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is signed."""

    form: ClassVar[str] = "krand-request-1"
    purpose: ClassVar[bytes] = purposes.REQUEST

    method: str
    recipient: Public
    path: str
    """With its query, as the service sees it."""
    body: Sha256
    nonce: GivenNonce


@dataclass(frozen=True, slots=True)
class Asked:
    """A request whose signature is valid. Its body has not been looked at."""

    identity: str
    """Who asks."""
    body: str
    """The hash that its body must have."""

    def check_body(self, content: bytes) -> None:
        """Refuse another body than the one that was signed."""
        found = hashlib.sha256(content).hexdigest()
        if found != self.body:
            rule = f"must have the SHA-256 that was signed, {self.body}"
            raise NotAuthenticated("body", rule, found, "it was changed on its way: send it again")


def signed_headers(
    identity: Identity, recipient: str, method: str, path: str, body: bytes, nonce: str
) -> dict[str, str]:
    """The headers of a request to this recipient."""
    digest = hashlib.sha256(body).hexdigest()
    signed = identity.sign(
        Request(method=method, recipient=recipient, path=path, body=digest, nonce=nonce)
    )
    return {
        IDENTITY: identity.public,
        NONCE: nonce,
        BODY: digest,
        SIGNATURE: signed.signature.hex(),
    }


class Nonces:
    """Numbers that are valid once, for a minute, in this process."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._secret, self._lock = now, os.urandom(CODE_BYTES), threading.Lock()
        self._used: dict[str, float] = {}
        """When each was used; the first one first."""

    def give(self) -> str:
        """A new one."""
        content = os.urandom(RANDOM_BYTES) + int(self._now()).to_bytes(SECOND_BYTES)
        return (content + self._code(content)).hex()

    def check(self, nonce: str) -> None:
        """Refuse one that is not this process's own, is too old, or was used."""
        raw = bytes.fromhex(nonce)
        content, code = raw[:-CODE_BYTES], raw[-CODE_BYTES:]
        if not hmac.compare_digest(code, self._code(content)):
            raise _refused("must be one that this service gave", nonce)
        if int(self._now()) - _second(raw) > VALID_SECONDS:
            raise _refused(f"must be at most {VALID_SECONDS} seconds old", nonce)
        if nonce in self._used:
            raise _refused("must not have been used before", nonce)

    def use(self, nonce: str) -> None:
        """From now on it is used; refused if another request was faster."""
        with self._lock:
            self.check(nonce)
            self._used[nonce] = now = self._now()
            while now - self._used[first := next(iter(self._used))] > VALID_SECONDS + 1:
                del self._used[first]  # it was given before it was used, so it is too old by now

    def _code(self, content: bytes) -> bytes:
        return hmac.digest(self._secret, content, "sha256")


def check_request(
    nonces: Nonces, recipient: str, method: str, path: str, headers: Mapping[str, str]
) -> Asked:
    """Who sent a request, by its headers alone; their names are in lower case.

    The nonce counts as used only if the signature is valid.
    """
    given = {}
    for name, kind in HEADERS.items():
        try:
            given[name] = typed(kind, headers.get(name))
        except Malformed as error:
            hint = "partners send it with every request"
            raise NotAuthenticated(name, str(error), headers.get(name), hint) from None
    nonces.check(given[NONCE])
    request = Request(
        method=method, recipient=recipient, path=path, body=given[BODY], nonce=given[NONCE]
    )
    if not Signed(request, bytes.fromhex(given[SIGNATURE])).is_by(given[IDENTITY]):
        rule = "must be that of this request, to this service, by the identity that it names"
        raise NotAuthenticated(SIGNATURE, rule, given[SIGNATURE], "send the request again")
    nonces.use(given[NONCE])
    return Asked(given[IDENTITY], given[BODY])


def _second(raw: bytes) -> int:
    return int.from_bytes(raw[RANDOM_BYTES:-CODE_BYTES])


def _refused(rule: str, nonce: str) -> NotAuthenticated:
    return NotAuthenticated(NONCE, rule, nonce, "ask for a new one: POST /v1/nonce")
