"""The spool: what has been acknowledged is on the disk, mixed, and counted once.

One SQLite file for one plan and round. A submission and the number of people change in one
transaction that is synced before anybody is told. Messages lie in a table of their own for each
batch, under random keys; a retry is known by a keyed digest of its id. Nothing here knows a clock,
an address or an order of arrival.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from krand.client.randomness import secure_random
from krand.collect.states import State, check_change
from krand.collect.strata import KEY_BYTES, mixed_rows
from krand.errors import InvalidInput, KrandError
from krand.wire.submissions import Shape, Submitted

__all__ = ["Batch", "Setting", "Spool", "SpoolUnavailable"]

VERSION = 1
SCHEMA = (
    "CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    """
    CREATE TABLE IF NOT EXISTS batches (
        number INTEGER PRIMARY KEY,
        state TEXT NOT NULL,
        population INTEGER NOT NULL, -- of the plan: never changes
        people INTEGER NOT NULL,
        messages INTEGER NOT NULL,
        sha256 TEXT                  -- of the released file
    )
    """,
    "CREATE TABLE IF NOT EXISTS seen (id BLOB PRIMARY KEY) WITHOUT ROWID",
)
DIGEST_BYTES, TAG_BYTES = 16, 8
WAIT_SECONDS = 10.0


class SpoolUnavailable(KrandError):
    """The disk is full, or fails: nothing was stored, nothing may be acknowledged."""

    exit_code = 75


@dataclass(frozen=True, slots=True)
class Setting:
    """What a spool is for; it cannot be changed afterwards."""

    plan_hash: str
    population: int
    shape: Shape

    def entries(self) -> dict[str, bytes]:
        """As they are stored."""
        numbers = (self.population, self.shape.round, self.shape.message_length)
        values = (VERSION, self.plan_hash, *numbers, self.shape.messages)
        names = ("version", "plan", "population", "round", "message_length", "messages")
        return {n: str(v).encode() for n, v in zip(names, values, strict=True)}


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch and how far it is."""

    number: int
    state: State
    population: int
    people: int
    messages: int
    sha256: str | None


class Spool:
    """A folder with the file of messages that were acknowledged and not yet released."""

    def __init__(self, folder: Path, setting: Setting) -> None:
        self.folder, self.setting = folder, setting
        self.path = folder / "spool.sqlite"
        _make(folder)
        with _named(self.path):
            self._connection = _connected(self.path)
            self._prepare()
        self._digest_key = self._stored("digest_key")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave nothing in the journal, then close."""
        self.settle()
        self._connection.close()

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        """Store them, durably and whole; for each, whether it is new. Retries are counted once."""
        with _named(self.path), self._transaction():
            fresh, verdicts = self._fresh(submissions)
            self._store(fresh)
        return verdicts

    def batches(self) -> tuple[Batch, ...]:
        """All batches, the open one last."""
        with _named(self.path):
            rows = self._connection.execute("SELECT * FROM batches ORDER BY number").fetchall()
        return tuple(Batch(n, State(s), *rest) for n, s, *rest in rows)

    def rows_of(self, batch: Batch) -> Iterator[bytes]:
        """Every row of a sealed batch: keys and messages, end to end; damage is noticed."""
        table = _table(batch.number)
        length = KEY_BYTES + self.setting.shape.message_length
        with _named(self.path):
            for key, content, tag in self._connection.execute(f"SELECT * FROM {table}"):
                if tag != _tag(key, content) or len(content) % length:
                    raise _damaged(self.path, "a message was changed on the disk")
                yield content

    def mark_released(self, batch: Batch, sha256: str) -> None:
        """The files are written: forget the messages for good."""
        check_change(batch.state, State.RELEASED, batch.people, batch.population)
        with _named(self.path), self._transaction():
            self._connection.execute(f"DROP TABLE {_table(batch.number)}")
            self._connection.execute(
                "UPDATE batches SET state = ?, sha256 = ? WHERE number = ?",
                (State.RELEASED, sha256, batch.number),
            )
        self.settle()

    def settle(self) -> None:
        """Move everything from the journal to its place, where only keys decide the order."""
        with _named(self.path):
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> None:
        """Read everything once; an error names what is damaged."""
        with _named(self.path):
            (verdict,) = self._connection.execute("PRAGMA integrity_check(1)").fetchone()
        if verdict != "ok":
            raise _damaged(self.path, verdict)
        length = KEY_BYTES + self.setting.shape.message_length
        for batch in self.batches():
            if batch.state is State.RELEASED:
                continue
            found = sum(len(row) // length for row in self.rows_of(batch))
            if found != batch.messages:
                raise _damaged(self.path, f"{found:,} messages instead of {batch.messages:,}")

    def _fresh(self, submissions: Sequence[Submitted]) -> tuple[list[bytes], list[bool]]:
        fresh, verdicts = [], []
        for submission in submissions:
            digest = hashlib.blake2b(
                submission.id, digest_size=DIGEST_BYTES, key=self._digest_key
            ).digest()
            done = self._connection.execute("INSERT OR IGNORE INTO seen VALUES (?)", (digest,))
            verdicts.append(done.rowcount == 1)
            if verdicts[-1]:
                fresh.append(submission.messages)
        return fresh, verdicts

    def _store(self, bodies: list[bytes]) -> None:
        """Into the open batch; when it is full it is sealed, and the rest opens the next one."""
        while bodies:
            batch = self._open_batch()
            now, bodies = _split(bodies, batch.population - batch.people)
            length = self.setting.shape.message_length
            rows = [
                (key, content, _tag(key, content))
                for key, content in mixed_rows(now, length, secure_random())
            ]
            self._connection.executemany(
                f"INSERT INTO {_table(batch.number)} VALUES (?, ?, ?)", sorted(rows)
            )
            people = batch.people + len(now)
            messages = batch.messages + sum(map(len, now)) // length
            state = batch.state
            if people >= batch.population:
                check_change(state, State.SEALED, people, batch.population)
                state = State.SEALED
            self._connection.execute(
                "UPDATE batches SET state = ?, people = ?, messages = ? WHERE number = ?",
                (state, people, messages, batch.number),
            )
            if state is State.SEALED:
                self._begin_batch(batch.number + 1)

    def _open_batch(self) -> Batch:
        row = self._connection.execute(
            "SELECT * FROM batches WHERE state = ?", (State.OPEN,)
        ).fetchone()
        number, state, *rest = row
        return Batch(number, State(state), *rest)

    def _begin_batch(self, number: int) -> None:
        self._connection.execute(
            f"CREATE TABLE {_table(number)}"
            " (key BLOB PRIMARY KEY, content BLOB NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID"
        )
        self._connection.execute(
            "INSERT INTO batches VALUES (?, ?, ?, 0, 0, NULL)",
            (number, State.OPEN, self.setting.population),
        )

    def _prepare(self) -> None:
        """A new spool gets its setting; an old one must have the same."""
        with self._transaction():
            for statement in SCHEMA:
                self._connection.execute(statement)
            rows = dict(self._connection.execute("SELECT name, value FROM setting").fetchall())
            if not rows:
                entries = {**self.setting.entries(), "digest_key": os.urandom(32)}
                self._connection.executemany("INSERT INTO setting VALUES (?, ?)", entries.items())
                self._begin_batch(1)
                return
        for name, value in self.setting.entries().items():
            if rows.get(name) != value:
                raise InvalidInput(
                    "spool",
                    f"must be of {name} {value.decode()}",
                    rows.get(name, b"").decode(errors="replace"),
                    "use another folder; what was planned cannot be changed",
                )

    def _stored(self, name: str) -> bytes:
        with _named(self.path):
            row = self._connection.execute(
                "SELECT value FROM setting WHERE name = ?", (name,)
            ).fetchone()
        value: bytes = row[0]
        return value

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise


def _split(bodies: list[bytes], room: int) -> tuple[list[bytes], list[bytes]]:
    return bodies[:room], bodies[room:]


def _table(number: int) -> str:
    return f"messages_{number}"


def _tag(key: bytes, content: bytes) -> bytes:
    """Tells damage, not malice: SQLite itself does not notice a flipped bit."""
    return hashlib.blake2b(key + content, digest_size=TAG_BYTES).digest()


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    for pragma in (
        "journal_mode = WAL",
        "synchronous = FULL",
        "secure_delete = ON",
        "cache_size = -65536",
        "cell_size_check = ON",
    ):
        connection.execute(f"PRAGMA {pragma}")
    return connection


def _make(folder: Path) -> None:
    """For the collector's eyes only."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(folder / "spool.sqlite", os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        rule, why = "must be a folder that can be written to", (error.strerror or "").lower()
        raise InvalidInput("spool", rule, str(folder), why) from None


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """SQLite's errors in krand's own words: damaged, or not available now."""
    try:
        yield
    except sqlite3.OperationalError as error:  # full, locked, failing: may be better later
        raise SpoolUnavailable(f"the spool cannot be written now: {error}") from None
    except sqlite3.DatabaseError as error:
        raise _damaged(path, str(error)) from None


def _damaged(path: Path, what: str) -> InvalidInput:
    mend = "restore it from a backup; what is in it must not be released as it is"
    return InvalidInput("spool", f"must be undamaged ({what})", str(path), mend)
