"""Repeats: copies of a message, in one batch or across all batches of a round.

A message is known by its encapsulated key (`enc`), which no two honest messages share. A copy that
left twice would mark the person who sent it, so only the first one is mixed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from krand.mixing.store import BUCKETS, DIGEST, Digests, in_bucket


def digests_of(rows: NDArray[np.uint8], enc_bytes: int) -> Digests:
    """One digest for each message, in their order, of all bytes of its encapsulated key."""
    heads = memoryview(np.ascontiguousarray(rows[:, :enc_bytes]).tobytes())
    places = range(0, len(heads), enc_bytes)
    found = (hashlib.sha256(heads[i : i + enc_bytes]).digest()[: DIGEST.itemsize] for i in places)
    return np.frombuffer(b"".join(found), DIGEST)


def repeated(digests: Digests, seen: Callable[[int], Digests]) -> NDArray[np.bool_]:
    """Which messages are copies of an earlier one; `seen` gives earlier digests of a bucket."""
    mask = np.zeros(len(digests), np.bool_)
    for bucket in range(BUCKETS):
        own = in_bucket(digests, bucket)
        _, first = np.unique(digests[own], return_index=True)
        again = np.ones(len(own), np.bool_)
        again[first] = False
        mask[own] = again | np.isin(digests[own], seen(bucket))
    return mask


def content_hash(digests: Digests) -> str:
    """A name for the messages, whatever their order."""
    found = hashlib.sha256()
    for bucket in range(BUCKETS):
        found.update(np.sort(digests[in_bucket(digests, bucket)]).tobytes())
    return found.hexdigest()
