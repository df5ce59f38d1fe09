"""What somebody signs with an Ed25519 key, by the bytes that every signature begins with.

One identity signs many kinds of things. Because none of these strings begins another one, a
signature of one kind can never be taken for one of another kind.

The certificate that an identity signs for TLS is none of them. It begins with the tag of an ASN.1
sequence, which is no letter.
"""

from __future__ import annotations

PLAN = b"krand plan\0"
RECEIPT = b"krand receipt\0"
LINK = b"krand link\0"
REQUEST = b"krand request\0"
PLAN_ENTRY = b"krand signed plans\0"
ROUTE = b"krand route\0"
BATCH_RECEIPT = b"krand batch receipt\0"
NOT_RECEIVED = b"krand not received\0"
ERASURE = b"krand erasure\0"
HEARTBEAT = b"krand heartbeat\0"

ALL = (
    *(PLAN, RECEIPT, LINK, REQUEST),
    *(PLAN_ENTRY, ROUTE, BATCH_RECEIPT, NOT_RECEIVED, ERASURE, HEARTBEAT),
)
