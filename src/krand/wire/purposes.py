"""What somebody signs with an Ed25519 key, by the bytes that every signature begins with.

One identity signs many kinds of things. Because none of these strings begins another one, a
signature of one kind can never be taken for one of another kind.
"""

from __future__ import annotations

PLAN = b"krand plan\0"
LINK = b"krand link\0"
REQUEST = b"krand request\0"
IDENTITY = b"krand identity\0"
KEYS = b"krand keys\0"
STATUS = b"krand status\0"
HELD = b"krand held\0"

ALL = (PLAN, LINK, REQUEST, IDENTITY, KEYS, STATUS, HELD)
