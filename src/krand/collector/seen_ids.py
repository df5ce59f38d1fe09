"""Who has been counted: a digest of every submission's id, so that a retry is known.

Ids are random, so that each of a group would change another page of a large table. Those that came
last are therefore kept in a small table of their own, and moved to the others many at a time, or in
a quiet moment: until then the file tells, as the journal does, which digests came last.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from krand.collector.arranging import SEEN, rearrange
from krand.collector.pool import FEWEST, Pool
from krand.randomness.generator import SecureRandom

__all__ = ["Seen"]

MOST_ASKED = 400
"""Ids in one question: each is named twice, and SQLite's limit was 999 once."""
MOST_RECENT = 1_024


class Seen:
    """The digests of one spool; whoever calls holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Those that were counted before; asked for together, for every question costs a switch."""
        found: set[bytes] = set()
        for start in range(0, len(digests), MOST_ASKED):
            some = digests[start : start + MOST_ASKED]
            marks = ", ".join("?" * len(some))
            question = " UNION ALL ".join(
                f"SELECT id FROM {table} WHERE id IN ({marks})" for table in ("recent", "seen")
            )
            found.update(digest for (digest,) in self._connection.execute(question, [*some, *some]))
        return found

    def add(self, digests: Iterable[bytes]) -> None:
        """Count these; none of them may be known."""
        self._connection.executemany("INSERT INTO recent VALUES (?)", ((d,) for d in digests))
        (recent,) = self._connection.execute("SELECT count(*) FROM recent").fetchone()
        if recent >= MOST_RECENT:
            self.settle()

    def settle(self) -> None:
        """Let nobody be more recent than others."""
        self._connection.execute("INSERT INTO seen SELECT id FROM recent")
        self._connection.execute("DELETE FROM recent")

    def exchange(self, pool: Pool, random: SecureRandom) -> None:
        """Let the pool hold any of those who were counted, not the last ones."""
        self._connection.executemany("INSERT INTO seen VALUES (?)", ((d,) for d in pool.ids()))
        pool.keep_ids([])
        drawn = self._some(FEWEST, random)
        self._connection.executemany("DELETE FROM seen WHERE id = ?", ((d,) for d in drawn))
        pool.keep_ids(drawn)

    def _some(self, count: int, random: SecureRandom) -> list[bytes]:
        """So many of all, or all if there are few."""
        question = "SELECT id FROM seen WHERE id >= ? ORDER BY id LIMIT ?"
        few = self._connection.execute(question, (b"", 2 * count + 1)).fetchall()
        if len(few) <= 2 * count:
            return [few[at][0] for at in random.permutation(len(few))[:count]]
        drawn: set[bytes] = set()
        while len(drawn) < count:
            # Digests are random themselves: the first one after a random point is any of them.
            row = self._connection.execute(question, (random.bytes(16), 1)).fetchone()
            drawn.update(row or ())
        return list(drawn)

    def rearrange(self) -> None:
        """Let the pages say nothing of an order, either."""
        rearrange(self._connection, "seen", SEEN)

    def __iter__(self) -> Iterator[object]:
        """Everything that is there, whatever damage has made of it."""
        for table in ("seen", "recent"):
            for (digest,) in self._connection.execute(f"SELECT id FROM {table}"):
                yield digest
