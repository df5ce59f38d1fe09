"""The pool: who came last waits here among others, so that nobody stands alone in the file.

People may come one by one, and each must be on the disk before being told so. A row of their own
for each would tie the digest of an id to its messages, and one person to the next. So both go
into a pool of at least 32 people, which is written anew each time, the digests in the order of
their bytes and the messages in the order of their random keys: whatever came when, the same pool
has the same bytes. When it holds twice as many, half of its digests and half of its messages, drawn
apart from each other, move on to the tables.

A group of 32 people or more hides its own, and goes to the tables at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from krand.collector.disk import Damage
from krand.collector.mixing import KEY_BYTES, sorted_by_key
from krand.collector.records import DIGEST_BYTES, tag_of
from krand.randomness.generator import SecureRandom

__all__ = ["FEWEST", "Pool"]

FEWEST = 32
"""People among whom everybody in the file is hidden, once so many have come."""
MOST = 2 * FEWEST
IDS, MESSAGES = "ids", "messages"

Rows = NDArray[np.uint8]


class Pool:
    """Digests and keyed messages of the last to come; whoever calls holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, length: int, messages: int) -> None:
        self._connection = connection
        self._width, self._each = KEY_BYTES + length, messages

    def create(self) -> None:
        """Empty."""
        for name in (IDS, MESSAGES):
            self._write(name, b"")

    def ids(self) -> list[bytes]:
        """The digests in it."""
        content = self._read(IDS, DIGEST_BYTES)
        return [content[at : at + DIGEST_BYTES] for at in range(0, len(content), DIGEST_BYTES)]

    def messages(self) -> Rows:
        """The messages in it with their keys."""
        content = self._read(MESSAGES, self._width)
        return np.frombuffer(content, np.uint8).reshape(-1, self._width)

    def sum(self) -> int:
        """What its messages add to the sum of their batch."""
        content = self._read(MESSAGES, self._width)
        return int.from_bytes(tag_of(content)) if content else 0

    def keep_ids(self, ids: Sequence[bytes]) -> None:
        """These and no others."""
        self._write(IDS, b"".join(sorted(ids)))

    def keep_messages(self, rows: Rows) -> None:
        """These and no others."""
        self._write(MESSAGES, sorted_by_key(rows).tobytes())

    def add_ids(self, fresh: Sequence[bytes], random: SecureRandom) -> list[bytes]:
        """Put them in; those that leave for the table."""
        held = [*self.ids(), *fresh]
        leaving = len(held) - FEWEST if len(held) >= MOST else 0
        order = random.permutation(len(held))
        self.keep_ids([held[at] for at in order[leaving:]])
        return [held[at] for at in order[:leaving]]

    def add_messages(self, fresh: Rows, random: SecureRandom) -> Rows:
        """Put them in; those that leave for the table, in random order."""
        held = np.concatenate([self.messages(), fresh])
        leaving = len(held) - FEWEST * self._each if len(held) >= MOST * self._each else 0
        order = random.permutation(len(held))
        self.keep_messages(held[order[leaving:]])
        return held[order[:leaving]]

    def sample_size(self) -> int:
        """Messages of as many people as it holds at least."""
        return FEWEST * self._each

    def _read(self, name: str, width: int) -> bytes:
        row = self._connection.execute(
            "SELECT content, tag FROM pool WHERE name = ?", (name,)
        ).fetchone()
        if row is None or not isinstance(row[0], bytes) or row[1] != tag_of(row[0]):
            raise Damage("the pool was changed")
        content: bytes = row[0]
        if len(content) % width:
            raise Damage("the pool was cut")
        return content

    def _write(self, name: str, content: bytes) -> None:
        self._connection.execute(
            "REPLACE INTO pool VALUES (?, ?, ?)", (name, content, tag_of(content))
        )
