"""The pool: the most recent submissions, mixed so that none of them can be told apart.

People may submit one by one, and each submission must be on the disk before it is acknowledged. A
row for each would tie the digest of an id to its messages, and one person to the next. So digests
and messages go into a pool of at least 32 people, which is rewritten each time: the digests in the
order of their bytes, the messages in the order of their random keys. The same content always has
the same bytes, in whatever order it came. When the pool holds twice as many people, half of its
digests and half of its messages, drawn independently, move to the tables: half of every lane, so
that each message stays among those of as many people.

A group of 32 people or more hides its own members, and goes to the tables at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

import numpy as np

from krand.collector.sqlite.disk import DIGEST_BYTES, Damage, tag_of
from krand.collector.sqlite.mixing import KEY_BYTES, LaneColumn, sorted_by_key
from krand.collector.store import MINIMUM_GROUP, Messages, SpoolConfig
from krand.randomness.generator import SecureRandom

MOST_PEOPLE = 2 * MINIMUM_GROUP
IDS, MESSAGES = "ids", "messages"


class Pool:
    """Digests and keyed messages of recent submissions. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, config: SpoolConfig) -> None:
        self._connection, self._lanes = connection, LaneColumn(config)
        self._width = KEY_BYTES + self._lanes.stored_length
        self._each = config.format.messages

    def create(self) -> None:
        """Make it, empty."""
        for name in (IDS, MESSAGES):
            self._write(name, b"")

    def ids(self) -> list[bytes]:
        """The digests in it."""
        content = self._read(IDS, DIGEST_BYTES)
        return [content[at : at + DIGEST_BYTES] for at in range(0, len(content), DIGEST_BYTES)]

    def messages(self) -> Messages:
        """The messages in it with their keys."""
        content = self._read(MESSAGES, self._width)
        return np.frombuffer(content, np.uint8).reshape(-1, self._width)

    def sum(self) -> int:
        """What its messages add to the sum of the round."""
        content = self._read(MESSAGES, self._width)
        return int.from_bytes(tag_of(content)) if content else 0

    def keep_ids(self, ids: Sequence[bytes]) -> None:
        """Hold these digests and no others."""
        self._write(IDS, b"".join(sorted(ids)))

    def keep_messages(self, rows: Messages) -> None:
        """Hold these messages and no others."""
        self._write(MESSAGES, sorted_by_key(rows).tobytes())

    def add_ids(self, fresh: Sequence[bytes], random: SecureRandom) -> list[bytes]:
        """Put digests in. Returns those that move to the table."""
        held = [*self.ids(), *fresh]
        leaving = len(held) - MINIMUM_GROUP if len(held) >= MOST_PEOPLE else 0
        order = random.permutation(len(held))
        self.keep_ids([held[at] for at in order[leaving:]])
        return [held[at] for at in order[:leaving]]

    def add_messages(self, fresh: Messages, random: SecureRandom) -> Messages:
        """Put messages in. Returns those that move to the table, in random order."""
        held = np.concatenate([self.messages(), fresh])
        if len(held) < MOST_PEOPLE * self._each:
            self.keep_messages(held)
            return held[:0]
        return self.keep_some(held[random.permutation(len(held))])

    def keep_some(self, shuffled: Messages) -> Messages:
        """Hold as many messages of every lane as a minimum group sends. Returns the others.

        The messages must be in random order; those that are returned are.
        """
        numbers = self._lanes.numbers(shuffled, KEY_BYTES)
        kept = self._lanes.first_of_each(numbers, MINIMUM_GROUP)
        self.keep_messages(shuffled[kept])
        return shuffled[~kept]

    def _read(self, name: str, width: int) -> bytes:
        row = self._connection.execute(
            "SELECT content, tag FROM pool WHERE name = ?", (name,)
        ).fetchone()
        if row is None or not isinstance(row[0], bytes) or row[1] != tag_of(row[0]):
            raise Damage("the pool was changed")
        content: bytes = row[0]
        if len(content) % width:
            raise Damage("the pool was cut short")
        return content

    def _write(self, name: str, content: bytes) -> None:
        self._connection.execute(
            "REPLACE INTO pool VALUES (?, ?, ?)", (name, content, tag_of(content))
        )
