"""Signed requests: who asks what of whom, in one header.

    Authorization: Krand IDENTITY TIME SIGNATURE

The signature is over method, recipient, path with its query, the hash of the body, and the time. A
request that is captured can be sent again for an hour. Nothing is lost by that: every request only
reads, or is answered alike when it is repeated, and none destroys anything of a signed plan.
"""

from __future__ import annotations

import hashlib
import re

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from krand.partners.identity import Identity
from krand.survey.canonical import canonical_json
from krand.wire import purposes

LATE_SECONDS = 3600
HEADER = re.compile("Krand ([0-9a-f]{64}) ([0-9]{1,12}) ([0-9a-f]{128})")


def authorization(
    own: Identity, recipient: str, method: str, path: str, body: bytes, now: int
) -> str:
    """The header of a request to this recipient."""
    signature = own.key.sign(_signed(recipient, method, path, body, now))
    return f"Krand {own.public} {now} {signature.hex()}"


def asker(header: str, recipient: str, method: str, path: str, body: bytes, now: int) -> str | None:
    """The identity that asked exactly this of this recipient, within the hour; or None."""
    found = HEADER.fullmatch(header)
    if found is None or abs(int(found[2]) - now) > LATE_SECONDS:
        return None
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(found[1]))
        said = _signed(recipient, method, path, body, int(found[2]))
        key.verify(bytes.fromhex(found[3]), said)
    except (InvalidSignature, ValueError):
        return None
    return found[1]


def _signed(recipient: str, method: str, path: str, body: bytes, time: int) -> bytes:
    digest = hashlib.sha256(body).hexdigest()
    return purposes.REQUEST + canonical_json(
        {"method": method, "recipient": recipient, "path": path, "body": digest, "time": time}
    )
