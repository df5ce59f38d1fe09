"""The configuration and the batches as they are stored.

Every row is checked when it is read, and carries its digest when it is written. One batch is open,
the last, until the round is closed. All batches are of the crowd that the plan requires.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from krand.collector.sqlite.disk import DIGEST_BYTES, TAG_BYTES, Damage, digest_of, named, tag_of
from krand.collector.sqlite.high_water_mark import READ_ATTEMPTS, Progress
from krand.collector.sqlite.tables import TABLES, message_table, tables_of
from krand.collector.store import Batch, RoundClosed, SpoolConfig, State, check_change
from krand.errors import InvalidInput, Unavailable

VERSION = 1
ID_BYTES = 16
WAIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch as it is stored: with the sums of its messages' tags and its people's ids."""

    batch: Batch
    rows: int = 0
    ids: int = 0

    def with_more(self, people: int, messages: int, rows: int, ids: int) -> Self:
        """The same after some more people."""
        old = self.batch
        batch = replace(old, people=old.people + people, messages=old.messages + messages)
        return replace(self, batch=batch, rows=self.rows ^ rows, ids=self.ids ^ ids)

    def moved(self, state: State, sha256: str | None = None) -> Self:
        """The same in the next state, if that change is allowed."""
        check_change(self.batch.state, state, self.batch.people, self.batch.crowd)
        return replace(self, batch=replace(self.batch, state=state, sha256=sha256))

    def values(self) -> tuple[Any, ...]:
        """The row of the table."""
        batch = self.batch
        values = (
            *(batch.number, batch.state.value, batch.crowd, batch.people, batch.messages),
            *(self.rows.to_bytes(TAG_BYTES), self.ids.to_bytes(DIGEST_BYTES)),
            *(batch.sha256, batch.id),
        )
        return (*values, tag_of(repr(values).encode()))

    @classmethod
    def read(cls, row: Sequence[Any], config: SpoolConfig) -> Self:
        """The entry in a row, or Damage. A batch of another crowd than planned is damaged."""
        *values, tag = row
        if tag != tag_of(repr(tuple(values)).encode()):
            raise Damage("the row of a batch was changed")
        number, state, crowd, people, messages, rows, ids, sha256, batch_id = values
        batch = Batch(
            number=number,
            state=State(state),
            crowd=crowd,
            people=people,
            messages=messages,
            sha256=sha256,
            id=batch_id,
        )
        _check(batch, config)
        return cls(batch, int.from_bytes(rows), int.from_bytes(ids))


def _check(batch: Batch, config: SpoolConfig) -> None:
    """What holds for every batch, whoever wrote its row."""
    if batch.crowd != config.crowd:
        raise Damage(f"batch {batch.number} is not of the planned crowd")
    if not _may_have(batch, config):
        raise Damage(f"batch {batch.number} is {batch.state} with {batch.people:,} people")
    if batch.messages != batch.people * config.format.messages:
        raise Damage(f"batch {batch.number} has {batch.messages:,} messages")


def _may_have(batch: Batch, config: SpoolConfig) -> bool:
    """Whether a batch in this state can have so many people."""
    if batch.state is State.ERASED:
        return 0 <= batch.people < config.crowd
    if batch.state is not State.OPEN:
        return batch.people >= config.crowd
    room = config.room_of(batch.number)
    return batch.people >= 0 and (not room or batch.people < room)


class BatchTable:
    """The batches of one spool. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, config: SpoolConfig) -> None:
        self._connection, self._config = connection, config

    def exists(self) -> bool:
        """Whether there is any table yet."""
        (count,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return bool(count)

    def create(self, own: Mapping[str, bytes]) -> None:
        """The tables of a new spool, its configuration, its own values and its first batch."""
        for statement in TABLES.values():
            self._connection.execute(statement)
        entries = {**_entries_of(self._config), **own}
        entries["digest"] = digest_of(entries)
        self._connection.executemany("INSERT INTO setting VALUES (?, ?)", entries.items())
        self.begin(1)

    def begin(self, number: int) -> None:
        """Open a new batch."""
        batch = Batch(
            number=number,
            state=State.OPEN,
            crowd=self._config.crowd,
            people=0,
            messages=0,
            sha256=None,
            id=os.urandom(ID_BYTES).hex(),
        )
        self._connection.execute(tables_of([batch])[message_table(number)])
        self.write(Entry(batch))

    def all(self) -> list[Entry]:
        """Every batch in order. A missing batch, or a second open one, is Damage.

        Once the round is closed, none is open.
        """
        rows = self._connection.execute("SELECT * FROM batches ORDER BY number").fetchall()
        entries = [Entry.read(row, self._config) for row in rows]
        numbers = [entry.batch.number for entry in entries]
        if not numbers or numbers != list(range(1, len(numbers) + 1)):
            raise Damage("a batch is missing")
        closings = self._config.closings
        if closings and len(numbers) > closings:
            raise Damage("there are more batches than the plan allows")
        ends = (State.OPEN, State.ERASED)
        if any(entry.batch.state in ends for entry in entries[:-1]):
            raise Damage("a batch after the last one that was open")
        if not self._may_be_last(entries[-1].batch):
            raise Damage("the last batch is not open")
        return entries

    def _may_be_last(self, batch: Batch) -> bool:
        """Whether no batch has to follow: it is open, or the round ended with it."""
        if batch.state in (State.OPEN, State.ERASED):
            return True
        return self._config.ends_with(batch.number)

    def one(self, number: int | None) -> Entry:
        """The batch of that number."""
        row = self._connection.execute(
            "SELECT * FROM batches WHERE number = ?", (number,)
        ).fetchone()
        if row is None:
            raise Damage("a batch is missing")
        return Entry.read(row, self._config)

    def last(self) -> Entry:
        """The batch that began last, open or not."""
        (number,) = self._connection.execute("SELECT max(number) FROM batches").fetchone()
        return self.one(number)

    def open(self) -> Entry:
        """The batch that takes people. There is none when the round is closed: RoundClosed."""
        entry = self.last()
        if entry.batch.state is not State.OPEN:
            if self._may_be_last(entry.batch):
                raise RoundClosed
            raise Damage("the last batch is not open")
        return entry

    def write(self, entry: Entry) -> None:
        """Store a batch as it is now."""
        self._connection.execute(
            "REPLACE INTO batches VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry.values()
        )

    def progress(self) -> Progress:
        """The progress of all batches together."""
        people, released = self._connection.execute(
            "SELECT sum(people), sum(state = ?) FROM batches", (State.RELEASED,)
        ).fetchone()
        return Progress(people, released)


def check_config(connection: sqlite3.Connection, config: SpoolConfig) -> dict[str, bytes]:
    """The configuration must be undamaged and the one that is asked for. Its stored entries."""
    rows = dict(connection.execute("SELECT name, value FROM setting").fetchall())
    if rows.pop("digest", None) != digest_of(rows):
        raise Damage("its configuration was changed")
    expected = _entries_of(config)
    version = expected["version"]
    if rows.get("version") != version:
        raise InvalidInput(
            "spool",
            f"must be of version {version.decode()} of the format",
            rows.get("version", b"").decode(errors="replace"),
            "release what is in it with the krand that wrote it, then start with an empty folder",
        )
    for name, value in expected.items():
        if rows.get(name) != value:
            raise InvalidInput(
                "spool",
                f"must be of {name} {value.decode()}",
                rows.get(name, b"").decode(errors="replace"),
                "use another folder: the plan and round of a spool cannot be changed",
            )
    return rows


def _entries_of(config: SpoolConfig) -> dict[str, bytes]:
    """The configuration as it is stored."""
    numbers = (config.crowd, config.format.round, config.format.message_length)
    values = (VERSION, config.plan_hash, *numbers, config.format.messages)
    names = ("version", "plan", "crowd", "round", "message_length", "messages")
    return {n: str(v).encode() for n, v in zip(names, values, strict=True)}


def batches_in(path: Path, config: SpoolConfig) -> tuple[Batch, ...]:
    """The batches in the file of a spool that a collector may have open, without disturbing it.

    The file is opened for reading only, for a moment, and its journal is not touched.
    """
    with named(path):
        acknowledged = _acknowledged(path.with_name("spool.mark"))  # first: the file only grows
        # It cannot write, and the collector does not have to wait for it.
        address = f"{path.resolve().as_uri()}?mode=ro"
        reading = sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)
        with closing(reading) as connection:
            connection.execute("BEGIN")
            table = BatchTable(connection, config)
            if not table.exists():
                raise Unavailable("the collector is still creating its spool")
            check_config(connection, config)
            batches = tuple(entry.batch for entry in table.all())
            acknowledged.check_reached_by(table.progress())
    return batches


def _acknowledged(path: Path) -> Progress:
    """What has been acknowledged, at least. The collector may be writing it at this moment."""
    for _ in range(READ_ATTEMPTS - 1):
        try:
            return Progress.read(path.read_bytes())
        except Damage:
            pass
        except OSError:
            return Progress()
    return Progress.read(path.read_bytes())
