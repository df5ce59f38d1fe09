"""A batch: raw records of one length, lane after lane, each lane shuffled by itself.

There is nothing in the file to parse. How many messages each lane has is signed in the last link of
its chain; how long they are follows from the plan. So the size of the file is known beforehand.

A message is known by its encapsulated key (`enc`), which no two honest messages share. A copy that
left a mixer twice would mark the person who sent it, and one that is counted twice would be another
person. So only the first one in a lane is mixed or counted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from krand.errors import InvalidInput
from krand.files import unreadable
from krand.wire.messages import ENC_BYTES

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]
    Digests = NDArray[np.uint64]

ENDING, CHAIN_ENDING = ".batch", ".chain.json"
BUCKETS = 256
"""Digests are compared by their first byte, so that few are in memory at a time."""
DIGEST = np.dtype("<u8")
"""How digests are kept, on every machine."""
DIGESTED_AT_A_TIME = 2**16


def chain_beside(batch: Path) -> Path:
    """The file with the signed links of a batch."""
    return batch.with_name(batch.name.removesuffix(ENDING) + CHAIN_ENDING)


def batch_beside(chain: Path) -> Path:
    """The batch that a file of signed links is about."""
    return chain.with_name(chain.name.removesuffix(CHAIN_ENDING) + ENDING)


def records_in(path: Path, counts: Sequence[int], length: int) -> Rows:
    """All messages of a batch, one in each row, as a map of the file."""
    try:
        size, wanted = path.stat().st_size, sum(counts) * length
        if size != wanted:
            rule = f"must have {wanted:,} bytes: {sum(counts):,} messages of {length}"
            hint = f"the file is {path}; is it of this chain, and of this place in it?"
            raise InvalidInput("batch", rule, f"{size:,} bytes", hint)
        if not size:
            return np.empty((0, length), np.uint8)
        return np.memmap(path, np.uint8, "r").reshape(-1, length)
    except OSError as error:
        raise unreadable("batch", path, error) from None


def by_lane(records: Rows, counts: Sequence[int]) -> list[Rows]:
    """The messages of each lane."""
    return np.split(records, np.cumsum(counts)[:-1])


def sha256_of_file(path: Path) -> str:
    """The hash of a batch, which its chain names."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable("batch", path, error) from None


def digests_of(rows: Rows) -> Digests:
    """One digest for each message, of all bytes of its encapsulated key."""
    return np.concatenate([np.empty(0, DIGEST), *_digests(rows)])


def _digests(rows: Rows) -> Iterator[Digests]:
    for start in range(0, len(rows), DIGESTED_AT_A_TIME):
        heads = memoryview(rows[start : start + DIGESTED_AT_A_TIME, :ENC_BYTES].tobytes())
        places = range(0, len(heads), ENC_BYTES)
        each = (
            hashlib.sha256(heads[i : i + ENC_BYTES]).digest()[: DIGEST.itemsize] for i in places
        )
        yield np.frombuffer(b"".join(each), DIGEST)


def repeated(digests: Digests) -> NDArray[np.bool_]:
    """Which messages of a lane are copies of an earlier one."""
    mask = np.zeros(len(digests), np.bool_)
    lowest = digests.view(np.uint8)[:: DIGEST.itemsize]
    for bucket in range(BUCKETS):
        own = np.flatnonzero(lowest == bucket)
        _, first = np.unique(digests[own], return_index=True)
        again = np.ones(len(own), np.bool_)
        again[first] = False
        mask[own] = again
    return mask
