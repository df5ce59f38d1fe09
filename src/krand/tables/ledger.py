"""A data holder's record of what has been randomized.

Two randomizations of the same table reveal more than one. Therefore each run is recorded before its
file appears, and the next run for the same plan and round is refused, unless the data holder
declares that it is about other people, or that the earlier file was deleted before anybody saw it.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from enum import Enum
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import state_folder
from krand.sqlite_files import checked_version, connected, make_private, transaction
from krand.survey.plan import Plan

VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    run TEXT PRIMARY KEY,       -- random; the file of responses carries it
    plan TEXT NOT NULL,
    round INTEGER NOT NULL,
    survey TEXT NOT NULL,
    people INTEGER NOT NULL,
    output TEXT NOT NULL,       -- where the file was written
    discarded INTEGER NOT NULL  -- 1: declared to have been deleted before anybody saw it
) WITHOUT ROWID
"""
WAIT_SECONDS = 30.0


class Declared(Enum):
    """What the data holder declares about earlier runs of the same plan and round."""

    NOTHING = "nothing"
    OTHER_PEOPLE = "other_people"
    """Nobody in this table was in the table of an earlier run."""
    DISCARDED = "discarded"
    """The files of earlier runs were deleted before anybody saw them."""


def declaration(*, other_people: bool, discarded: bool) -> Declared:
    """The declaration of two options; both at once would be a contradiction."""
    if other_people and discarded:
        rule = "must not be declared together with other_people"
        raise InvalidInput("discarded", rule, True, "remove one of them")
    if other_people:
        return Declared.OTHER_PEOPLE
    return Declared.DISCARDED if discarded else Declared.NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One randomization of a table."""

    run: str
    plan: str
    round: int
    survey: str
    people: int
    output: str


class AlreadyRandomized(InvalidInput):
    """A table has been randomized for this plan and round; `earlier` are the runs that count."""

    def __init__(self, plan: Plan, round_number: int, earlier: tuple[Run, ...]) -> None:
        self.earlier = earlier
        first, rounds = earlier[0], plan.survey.last_round
        later = (
            f"for a later round of the same people use round_number={round_number + 1}"
            if round_number < rounds
            else f"the plan has {rounds:,} round{'s' if rounds > 1 else ''}, so the same people"
            " cannot be asked again"
        )
        super().__init__(
            "round",
            f"of survey {plan.survey.id} must not have been randomized before",
            f"{round_number}, randomized for {first.people:,} people into {first.output}",
            f"use that file: a second randomization of the same answers would reveal more than the"
            f" plan promises; {later}; for a table of other people add other_people=True; if the"
            " file was deleted before anybody saw it add discarded=True",
        )


def default_table_ledger() -> Path:
    """The default place, in the user's folder for state."""
    return state_folder() / "randomized.sqlite"


class TableLedger:
    """A file that records all runs of a data holder; created if it does not exist.

    >>> from krand.tables.ledger import TableLedger
    >>> TableLedger("randomized.sqlite").runs()
    ()
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = default_table_ledger() if path is None else Path(path)
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            make_private(self.path)  # it reveals which tables somebody holds
        except OSError as error:
            raise _unusable(self.path, error) from None
        with self._open() as connection:
            checked_version(connection, VERSION, "ledger")
            connection.execute(SCHEMA)
            connection.execute(f"PRAGMA user_version = {VERSION}")

    def runs(self) -> tuple[Run, ...]:
        """All runs that were not discarded, in no particular order."""
        with self._open() as connection:
            return _read(connection, "discarded = 0", ())

    def admit(self, plan: Plan, round_number: int, declared: Declared) -> tuple[str, ...]:
        """The earlier runs of other people, as declared; an error if the run is not allowed."""
        with self._open() as connection:
            return _admitted(connection, plan, round_number, declared)

    def add(self, plan: Plan, run: Run, declared: Declared) -> None:
        """Record a run if it is still allowed: another one may have finished in the meantime."""
        with self._open() as connection, transaction(connection):
            _admitted(connection, plan, run.round, declared)
            if declared is Declared.DISCARDED:
                of = (plan.hash, run.round)
                connection.execute("UPDATE runs SET discarded = 1 WHERE plan = ? AND round = ?", of)
            values = (run.run, run.plan, run.round, run.survey, run.people, run.output, 0)
            connection.execute("INSERT INTO runs VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def remove(self, run: str) -> None:
        """Remove a run whose file was not written."""
        with self._open() as connection:
            connection.execute("DELETE FROM runs WHERE run = ?", (run,))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            opened = connected(self.path, "synchronous = FULL", seconds=WAIT_SECONDS)
            with closing(opened) as connection:
                yield connection
        except sqlite3.DatabaseError as error:
            raise _unusable(self.path, error) from None


def _admitted(
    connection: sqlite3.Connection, plan: Plan, round_number: int, declared: Declared
) -> tuple[str, ...]:
    of = (plan.hash, round_number)
    earlier = _read(connection, "plan = ? AND round = ? AND discarded = 0", of)
    if not earlier or declared is Declared.OTHER_PEOPLE:
        return tuple(entry.run for entry in earlier)
    if declared is Declared.NOTHING:
        raise AlreadyRandomized(plan, round_number, earlier)
    for entry in earlier:
        if os.path.lexists(entry.output):
            rule = "must be true for the file of every earlier run of this round"
            raise InvalidInput("discarded", rule, entry.output, "the file still exists: delete it")
    return ()


def _read(
    connection: sqlite3.Connection, where: str, values: tuple[object, ...]
) -> tuple[Run, ...]:
    names = [field.name for field in fields(Run)]
    rows = connection.execute(
        f"SELECT {', '.join(names)} FROM runs WHERE {where} ORDER BY run", values
    )
    return tuple(Run(**dict(zip(names, row, strict=True))) for row in rows)


def _unusable(path: Path, error: Exception) -> InvalidInput:
    hint = f"{error}; name another file as ledger"
    return InvalidInput("ledger", "must be a usable ledger", str(path), hint)
