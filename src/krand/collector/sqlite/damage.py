"""Digests by which a changed bit is noticed.

SQLite checks the structure of its pages, not their content. A number of people that grew by a
flipped bit would seal a batch too early. So every such row carries a digest of itself, and a batch
carries the sum of the tags of all its messages and of the digests of all its people's ids. The sum
is an exclusive or, so that it does not depend on an order. This detects accidents, not attacks:
whoever can write the file can compute digests too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import xor

DIGEST_BYTES, TAG_BYTES = 16, 8


class Damage(Exception):
    """Something in the spool is not as it was written."""


def added_up(values: Iterable[int]) -> int:
    """Their exclusive or: the same in any order."""
    return reduce(xor, values, 0)


def tag_of(content: bytes) -> bytes:
    """A short digest of stored bytes."""
    return hashlib.blake2b(content, digest_size=TAG_BYTES).digest()


def digest_of(values: Mapping[str, bytes]) -> bytes:
    """A digest of the whole configuration, so that no entry can change alone."""
    return hashlib.blake2b(repr(sorted(values.items())).encode(), digest_size=16).digest()
