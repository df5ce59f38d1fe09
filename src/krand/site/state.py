"""state.sqlite: the plans of a party and how far their rounds are. It holds no secret.

    WAITING ──▶ FETCHED ──▶ MIXED ──▶ DONE ──▶ EXPIRED      a mixer
    WAITING ──▶ MIXED or MISSED ──▶ DONE ──▶ EXPIRED        the collector, which fetches nothing
    WAITING ──▶ FETCHED ──▶ COUNTED                         the analyst

A round that waits too long is EXPIRED as well.

A state is recorded before what follows from it is done: whoever is killed does it at the next
start. The file may be copied and put back: what it then wants to do again is refused, since
the keys are gone.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from krand.errors import InvalidInput, Unavailable
from krand.partners.organising import TABLES as ORGANISED
from krand.partners.pairing import TABLES as PAIRINGS
from krand.site.folder import Folder
from krand.sqlite_files import may_pass, transaction
from krand.storage import database
from krand.survey.canonical import canonical_json
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.wire.plan_signatures import PlanSignature, signature_values, signatures_in

TABLES = f"""
CREATE TABLE plans (hash TEXT PRIMARY KEY, content BLOB NOT NULL, signatures BLOB NOT NULL)
    WITHOUT ROWID;
CREATE TABLE rounds (
    plan TEXT, round INTEGER, part TEXT, state TEXT NOT NULL, chain BLOB, link BLOB, after BLOB,
    PRIMARY KEY (plan, round, part)
) WITHOUT ROWID;
CREATE TABLE facts (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
{PAIRINGS}{ORGANISED}
"""


class At(StrEnum):
    """How far a round is."""

    WAITING = "WAITING"
    FETCHED = "FETCHED"
    """A chain was taken: no other one ever is."""
    MIXED = "MIXED"
    DONE = "DONE"
    COUNTED = "COUNTED"
    MISSED = "MISSED"
    """Fewer came than the plan asks for, or the organiser opened no further round."""
    EXPIRED = "EXPIRED"
    """The last day of the round's keys has passed; no copy is left."""


class Part(StrEnum):
    """What a party is in a plan; the analyst may be one of the mixers as well."""

    MIXER = "mixer"
    ANALYST = "analyst"


class Row(NamedTuple):
    """What is recorded of a round."""

    state: At
    chain: bytes | None = None
    """That of the party before."""
    link: bytes | None = None
    """This party's own."""
    after: bytes | None = None
    """That of the party after."""


NOTHING = Row(At.WAITING)


class State:
    """The database. One connection, one thread."""

    def __init__(self, folder: Folder) -> None:
        with _errors_named(folder.state):
            self.database = database(folder.state, TABLES)
        self._path = folder.state

    def plans(self) -> list[Plan]:
        """All plans in which this is a party."""
        found = self.database.execute("SELECT content FROM plans ORDER BY hash")
        return [parse_plan(content) for (content,) in found]

    def signatures(self, plan_hash: str) -> tuple[PlanSignature, ...]:
        """The signatures of a plan that are known here."""
        query = "SELECT signatures FROM plans WHERE hash = ?"
        found = self.database.execute(query, (plan_hash,)).fetchone()
        return signatures_in(found[0]) if found else ()

    def add_plan(self, plan: Plan, signatures: Sequence[PlanSignature]) -> None:
        """A plan, whose rounds wait from now on; once more with further signatures."""
        listed = canonical_json([signature_values(one) for one in signatures])
        add = "INSERT INTO plans VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET signatures = ?"
        with _errors_named(self._path), transaction(self.database):
            self.database.execute(add, (plan.hash, plan.bytes, listed, listed))

    def row(self, plan_hash: str, number: int, part: Part) -> Row:
        """What is recorded of a round."""
        query = "SELECT state, chain, link, after FROM rounds WHERE (plan, round, part) = (?, ?, ?)"
        found = self.database.execute(query, (plan_hash, number, part)).fetchone()
        return Row(At(found[0]), *found[1:]) if found else NOTHING

    def enter(self, plan_hash: str, number: int, part: Part, now: Row) -> None:
        """Record how far a round is, for good."""
        with _errors_named(self._path), transaction(self.database):
            values = (plan_hash, number, part, *now)
            self.database.execute("REPLACE INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?)", values)

    def fact(self, name: str) -> float | None:
        """What was remembered under a name."""
        query = "SELECT value FROM facts WHERE name = ?"
        found = self.database.execute(query, (name,)).fetchone()
        return float(found[0]) if found else None

    def remember(self, name: str, value: float) -> None:
        """Remember it, for good."""
        with _errors_named(self._path), transaction(self.database):
            self.database.execute("REPLACE INTO facts VALUES (?, ?)", (name, value))

    def close(self) -> None:
        """Close the file."""
        self.database.close()


@contextmanager
def _errors_named(path: Path) -> Iterator[None]:
    """A disk that is full or busy may pass; a file that is damaged does not."""
    try:
        yield
    except sqlite3.Error as error:
        if may_pass(error):
            raise Unavailable(f"{path} cannot be written now: {error}") from None
        rule, hint = f"must be undamaged ({error})", "put back a copy of this file, without keys/"
        raise InvalidInput("state", rule, str(path), hint) from None


@contextmanager
def alone(folder: Folder) -> Iterator[State]:
    """The database of a folder in which no worker is, and none begins meanwhile."""
    lock, state = folder.lock(), State(folder)
    try:
        yield state
    finally:
        state.close()
        os.close(lock)
