"""The table of batches: every row is checked when it is read, and carries its digest when written.

One of them is open, the last; all are of the crowd that the plan wants.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping

from krand.collector.disk import Damage
from krand.collector.high_water_mark import Progress
from krand.collector.records import (
    TABLES,
    Batch,
    Entry,
    SpoolConfig,
    digest_of,
    message_table,
    tables_of,
)
from krand.collector.states import State

__all__ = ["BatchTable"]

ID_BYTES = 16


class BatchTable:
    """The batches of one spool; whoever calls holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, setting: SpoolConfig) -> None:
        self._connection, self._setting = connection, setting

    def exists(self) -> bool:
        """Whether there is any table yet."""
        (count,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return bool(count)

    def create(self, own: Mapping[str, bytes]) -> None:
        """The tables of a new spool, its setting, what is its own, and its first batch."""
        for statement in TABLES.values():
            self._connection.execute(statement)
        entries = {**self._setting.entries(), **own}
        entries["digest"] = digest_of(entries)
        self._connection.executemany("INSERT INTO setting VALUES (?, ?)", entries.items())
        self.begin(1)

    def begin(self, number: int) -> None:
        """A new batch that is open."""
        batch = Batch(
            number, State.OPEN, self._setting.population, 0, 0, None, os.urandom(ID_BYTES).hex()
        )
        self._connection.execute(tables_of([batch])[message_table(number)])
        self.write(Entry(batch))

    def all(self) -> list[Entry]:
        """Every batch in order; a missing one, or another that is open, is Damage."""
        rows = self._connection.execute("SELECT * FROM batches ORDER BY number").fetchall()
        entries = [Entry.read(row, self._setting) for row in rows]
        numbers = [entry.batch.number for entry in entries]
        if not numbers or numbers != list(range(1, len(numbers) + 1)):
            raise Damage("a batch is missing")
        if [e.batch.number for e in entries if e.batch.state is State.OPEN] != numbers[-1:]:
            raise Damage("not one batch is open, the last one")
        return entries

    def one(self, number: int | None) -> Entry:
        """The batch of that number."""
        row = self._connection.execute(
            "SELECT * FROM batches WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            raise Damage("a batch is missing")
        return Entry.read(row, self._setting)

    def open(self) -> Entry:
        """The batch that takes people."""
        (number,) = self._connection.execute("SELECT max(number) FROM batches").fetchone()
        entry = self.one(number)
        if entry.batch.state is not State.OPEN:
            raise Damage("the last batch is not open")
        return entry

    def write(self, entry: Entry) -> None:
        """A batch as it is now."""
        self._connection.execute(
            "REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry.values()
        )

    def progress(self) -> Progress:
        """How far all of them are together."""
        people, released = self._connection.execute(
            "SELECT sum(people), sum(state = ?) FROM batches", (State.RELEASED,)
        ).fetchone()
        return Progress(people, released)
