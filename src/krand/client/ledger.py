"""The device's memory of what it has answered: one answer for each plan and round.

Two different randomizations of one answer would tell more than one. So the messages are stored
before the first of them can leave, and whoever asks again gets the same bytes. Nothing here looks
at a clock: a device whose time is wrong forgets nothing and repeats nothing.

Once the collector has acknowledged them, the messages and the submission's id are forgotten: the
id would tell a collector who gets hold of the device which submission was this person's. They are
overwritten in the file and in its journal. What the disk itself keeps elsewhere, as solid-state
disks do, is beyond a program's reach.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from krand.errors import InvalidInput
from krand.survey.limits import check_round
from krand.survey.plan import Plan

__all__ = ["AlreadySubmitted", "Entry", "Ledger", "Spent", "Submission"]

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    plan BLOB NOT NULL,
    round INTEGER NOT NULL,
    survey TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    submission BLOB NOT NULL, -- random; a retry carries it again, so that it counts once
    messages BLOB,            -- NULL once the collector has acknowledged them; then no id either
    message_length INTEGER NOT NULL,
    PRIMARY KEY (plan, round)
) WITHOUT ROWID
"""
FORGET = "UPDATE answers SET messages = NULL, submission = x''"
WAIT_SECONDS = 30.0


class AlreadySubmitted(InvalidInput):
    """This round has been answered and acknowledged; nothing is sent twice."""

    def __init__(self, plan: Plan, round_number: int) -> None:
        super().__init__(
            "round",
            f"of survey {plan.survey.id} must not have been answered on this device before",
            round_number,
            "the first answers stand, and a collector has them; the new ones were not sent",
        )


@dataclass(frozen=True, slots=True)
class Submission:
    """What one person sends for one round: sealed messages of one length, in random order."""

    id: bytes
    messages: tuple[bytes, ...]
    kept: bool = field(default=False, compare=False)
    """Whether it was made earlier and kept: then the answers given first stand in it."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A round that has been answered."""

    plan_hash: str
    round: int
    survey: str
    epsilon: float
    delta: float
    acknowledged: bool


@dataclass(frozen=True, slots=True)
class Spent:
    """What all surveys together may have revealed about this person (basic composition)."""

    epsilon: float
    delta: float
    surveys: int


class Ledger:
    """A file on the device, safe against crashes at any moment; made if it is not there yet.

    With `create=False` it must be there, and nothing is written by looking at it.

    >>> from krand import Ledger
    >>> Ledger("answered.ledger").spent()
    Spent(epsilon=0, delta=0, surveys=0)
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if create:
            _create(self.path)
        elif not self.path.exists():
            hint = "it is made when the first survey is answered"
            raise InvalidInput("ledger", "must be a file that exists", str(path), hint)
        with self._open() as connection:
            if _version(connection) == 0:
                if not create:
                    raise InvalidInput("ledger", "must be a ledger of krand", str(path))
                connection.execute(SCHEMA)
                connection.execute(f"PRAGMA user_version = {VERSION}")
            elif create:
                self._forget_acknowledged(connection)

    def submission(
        self, plan: Plan, round_number: int, make: Callable[[], Submission]
    ) -> Submission:
        """That of this round: the one stored, or a new one, stored before it is returned."""
        check_round(plan, round_number)
        key = (bytes.fromhex(plan.hash), round_number)
        with self._open() as connection, self._at_once(connection):
            row = connection.execute(
                "SELECT submission, messages, message_length FROM answers"
                " WHERE plan = ? AND round = ?",
                key,
            ).fetchone()
            if row is not None:
                name, joined, length = row
                if joined is None:
                    raise AlreadySubmitted(plan, round_number)
                return Submission(name, _split(joined, length), kept=True)
            made = make()
            promise = plan.promise
            values = (plan.survey.id, promise.epsilon, promise.delta, made.id)
            stored = (b"".join(made.messages), _one_length(made.messages))
            connection.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*key, *values, *stored)
            )
        return made

    def acknowledge(self, plan: Plan, round_number: int) -> None:
        """The collector has them: forget messages and id, remember that the round is answered."""
        with self._open() as connection, self._at_once(connection):
            connection.execute(
                f"{FORGET} WHERE plan = ? AND round = ?", (bytes.fromhex(plan.hash), round_number)
            )

    def entries(self) -> tuple[Entry, ...]:
        """All rounds that have been answered, in no order that tells anything."""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT plan, round, survey, epsilon, delta, messages IS NULL FROM answers"
            ).fetchall()
        return tuple(
            Entry(plan.hex(), number, survey, epsilon, delta, bool(done))
            for plan, number, survey, epsilon, delta, done in rows
        )

    def spent(self) -> Spent:
        """The sum over all plans; a plan's promise covers all of its rounds at once."""
        plans = {entry.plan_hash: entry for entry in self.entries()}
        return Spent(
            sum(entry.epsilon for entry in plans.values()),
            sum(entry.delta for entry in plans.values()),
            len(plans),
        )

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = sqlite3.connect(
                f"{self.path.absolute().as_uri()}?mode=rw",  # a lost file is not made again
                timeout=WAIT_SECONDS,
                isolation_level=None,
                uri=True,
            )
        except sqlite3.Error as error:
            raise _unreadable(self.path, error) from None
        try:
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA secure_delete = ON")  # what is forgotten is overwritten
            yield connection
        except (sqlite3.DatabaseError, OSError) as error:
            raise _unreadable(self.path, error) from None
        finally:
            connection.close()

    @contextmanager
    def _at_once(self, connection: sqlite3.Connection) -> Iterator[None]:
        """A transaction that holds the file from the first look until its journal is wiped."""
        connection.execute("PRAGMA journal_mode = PERSIST")
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # beyond the transaction's end
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            self._wipe_journal(connection)
            raise
        self._wipe_journal(connection)

    def _wipe_journal(self, connection: sqlite3.Connection) -> None:
        """It holds pages as they were; with the transaction it has ended, and counts no more."""
        resolved = self.path.resolve()
        with suppress(FileNotFoundError):
            _overwrite(resolved.with_name(f"{resolved.name}-journal"))
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("PRAGMA journal_mode = DELETE")

    def _forget_acknowledged(self, connection: sqlite3.Connection) -> None:
        """Earlier versions kept the ids."""
        where = "messages IS NULL AND submission != x''"
        if connection.execute(f"SELECT 1 FROM answers WHERE {where} LIMIT 1").fetchone():
            with self._at_once(connection):
                connection.execute(f"{FORGET} WHERE {where}")


def _create(path: Path) -> None:
    """For its owner's eyes only: it tells which surveys somebody has answered."""
    try:
        with suppress(FileExistsError):  # a link that leads nowhere is not followed
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise _unreadable(path, error) from None


def _overwrite(path: Path) -> None:
    """Zeros over all of a file, on the disk."""
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "wb") as stream:
        stream.write(bytes(os.fstat(handle).st_size))
        stream.flush()
        os.fsync(handle)


def _version(connection: sqlite3.Connection) -> int:
    """That of the file's format, 0 before there is any; another one is refused."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        raise InvalidInput("ledger", f"must have version {VERSION}", version, "use a newer krand")
    return int(version)


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput("ledger", "must be a ledger that can be used", str(path), str(error))


def _one_length(messages: Sequence[bytes]) -> int:
    lengths = {len(message) for message in messages}
    if len(lengths) != 1:
        raise InvalidInput("messages", "must all have one length", sorted(lengths))
    return lengths.pop()


def _split(joined: bytes, length: int) -> tuple[bytes, ...]:
    return tuple(joined[start : start + length] for start in range(0, len(joined), length))
