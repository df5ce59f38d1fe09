"""The configuration and the round as they are stored.

Every row is checked when it is read, and carries its digest when it is written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from krand.collector.sqlite.disk import DIGEST_BYTES, TAG_BYTES, Damage, digest_of, named, tag_of
from krand.collector.sqlite.high_water_mark import READ_ATTEMPTS, Progress
from krand.collector.sqlite.tables import MESSAGE_TABLE, TABLES
from krand.collector.store import Round, SpoolConfig, State, check_change
from krand.errors import InvalidInput, Unavailable

VERSION = 1
WAIT_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Entry:
    """The round as it is stored: with the sums of its messages' tags and its people's ids."""

    round: Round
    rows: int = 0
    ids: int = 0

    def with_more(self, people: int, rows: int, ids: int) -> Self:
        """The same after some more people."""
        found = replace(self.round, people=self.round.people + people)
        return replace(self, round=found, rows=self.rows ^ rows, ids=self.ids ^ ids)

    def moved(self, state: State, crowd: int) -> Self:
        """The same in the next state, if that change is allowed."""
        check_change(self.round.state, state, self.round.people, crowd)
        return replace(self, round=replace(self.round, state=state))

    def values(self) -> tuple[Any, ...]:
        """The row of the table."""
        sums = (self.rows.to_bytes(TAG_BYTES), self.ids.to_bytes(DIGEST_BYTES))
        values = (1, self.round.state.value, self.round.people, *sums)
        return (*values, tag_of(repr(values).encode()))

    @classmethod
    def read(cls, row: Sequence[Any], config: SpoolConfig) -> Self:
        """The entry in a row, or Damage."""
        *values, tag = row
        if tag != tag_of(repr(tuple(values)).encode()):
            raise Damage("the row of the round was changed")
        _, state, people, rows, ids = values
        found = Round(state=State(state), people=people)
        too_few = people < config.crowd
        if people < 0 or (too_few != (found.state is State.ERASED) and not found.is_open):
            raise Damage(f"the round is {state} with {people:,} people")
        return cls(found, int.from_bytes(rows), int.from_bytes(ids))


class RoundTable:
    """The round of one spool. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection, config: SpoolConfig) -> None:
        self._connection, self._config = connection, config

    def exists(self) -> bool:
        """Whether there is any table yet."""
        (count,) = self._connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        return bool(count)

    def create(self, own: Mapping[str, bytes]) -> None:
        """The tables of a new spool, its configuration and its own values; the round is open."""
        for statement in (*TABLES.values(), MESSAGE_TABLE):
            self._connection.execute(statement)
        entries = {**_entries_of(self._config), **own}
        entries["digest"] = digest_of(entries)
        self._connection.executemany("INSERT INTO setting VALUES (?, ?)", entries.items())
        self.write(Entry(Round(state=State.OPEN, people=0)))

    def read(self) -> Entry:
        """The round as it is now."""
        rows = self._connection.execute("SELECT * FROM round").fetchall()
        if len(rows) != 1:
            raise Damage("there is no round")
        return Entry.read(rows[0], self._config)

    def write(self, entry: Entry) -> None:
        """Store the round as it is now."""
        self._connection.execute("REPLACE INTO round VALUES (?, ?, ?, ?, ?, ?)", entry.values())


def progress_of(found: Round) -> Progress:
    """What has been acknowledged of a round."""
    return Progress(found.people, int(found.state is State.RELEASED))


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


def round_in(path: Path, config: SpoolConfig) -> Round:
    """The round in the file of a spool that a collector may have open, without disturbing it.

    The file is opened for reading only, for a moment, and its journal is not touched.
    """
    with named(path):
        acknowledged = _acknowledged(path.with_name("spool.mark"))  # first: the file only grows
        # It cannot write, and the collector does not have to wait for it.
        address = f"{path.resolve().as_uri()}?mode=ro"
        reading = sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)
        with closing(reading) as connection:
            connection.execute("BEGIN")
            table = RoundTable(connection, config)
            if not table.exists():
                raise Unavailable("the collector is still creating its spool")
            check_config(connection, config)
            found = table.read().round
            acknowledged.check_reached_by(progress_of(found))
    return found


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
