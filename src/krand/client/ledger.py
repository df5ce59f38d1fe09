"""The device's record of what it has answered: one answer for each plan and round.

Two randomizations of the same answers would reveal more than one. Therefore the messages are stored
before any of them is sent, and every retry sends the same bytes. The ledger does not use a clock: a
device with a wrong time forgets nothing and repeats nothing.

A survey with a schedule belongs to a campaign, and each period of it is paid for once. Whatever
would cost more than the campaign promised is refused, also if the survey was changed.

Once the collector has acknowledged the messages, they and the submission's id are erased: with the
id, a collector that gets hold of the device could recognize this person's submission. They are
overwritten in the file and in its journal. A program cannot erase copies that the disk itself keeps
elsewhere, as solid-state disks do.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields
from pathlib import Path

from krand.errors import InvalidInput
from krand.sqlite_files import connected, has_tables, make_private, make_tables, transaction
from krand.survey.plan import Plan
from krand.survey.plan_check import check_round
from krand.survey.schedule import Charge

SCHEMA = """
CREATE TABLE IF NOT EXISTS trusted (
    plan BLOB PRIMARY KEY,
    survey TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS charges ( -- of plans with a schedule: one for each period
    plan BLOB NOT NULL,
    campaign TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    most_epsilon REAL NOT NULL,
    most_delta REAL NOT NULL,
    PRIMARY KEY (plan, first)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unsent ( -- the round had closed before the collector had it
    plan BLOB NOT NULL,
    round INTEGER NOT NULL,
    PRIMARY KEY (plan, round)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (
    plan BLOB NOT NULL,
    round INTEGER NOT NULL,
    survey TEXT NOT NULL,
    epsilon REAL NOT NULL,
    delta REAL NOT NULL,
    submission BLOB NOT NULL, -- the id, which a retry repeats, so that it counts once: random,
                              -- or that of an invitation; empty before it is sent with one
    messages BLOB,            -- NULL once the collector has acknowledged them; then no id either
    message_length INTEGER NOT NULL,
    PRIMARY KEY (plan, round)
) WITHOUT ROWID;
"""
FORGET = "messages = NULL, submission = x''"
PENDING = "messages IS NOT NULL"
WAIT_SECONDS = 30.0
ROUNDING = 1e-9
"""Of a sum of many numbers."""
PRAGMAS = ("synchronous = FULL", "secure_delete = ON")
"""What was acknowledged is on the disk; what is erased is overwritten."""


class AlreadySubmitted(InvalidInput):
    """This round has been answered and acknowledged; nothing is sent again."""

    def __init__(self, plan: Plan, round_number: int) -> None:
        super().__init__(
            "round",
            f"of survey {plan.survey.id} must not have been answered on this device before",
            round_number,
            "the collector has the first answers, and they stay; the new ones were not sent",
        )


class CampaignSpent(InvalidInput):
    """The campaign's promise does not cover these answers beside those that were given before."""

    def __init__(self, charge: Charge, rule: str) -> None:
        super().__init__(
            "plan",
            f"must not exceed the promise of the campaign {charge.campaign}: {rule}",
            f"rounds {charge.first} to {charge.last}",
            "a changed survey begins with a new period: the organiser sets first in [schedule]",
        )


@dataclass(frozen=True, slots=True)
class Submission:
    """What one person sends for one round: sealed messages of one length."""

    id: bytes
    messages: tuple[bytes, ...]
    """In the order of the plan's lanes, and in random order within each of them."""
    kept: bool = field(default=False, compare=False)
    """Whether it was made and kept earlier; then it contains the first answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A round that has been answered."""

    plan_hash: str
    round: int
    survey: str
    epsilon: float
    delta: float
    acknowledged: bool
    unsent: bool = False
    """Whether it was erased because the round had closed; it stays charged."""


@dataclass(frozen=True, slots=True)
class Spent:
    """The total privacy loss of this person over all surveys (basic composition)."""

    epsilon: float
    delta: float
    surveys: int


class Ledger:
    """A file on the device, safe against crashes at any time; created if it does not exist.

    With `create=False` it must exist, and reading it writes nothing.

    >>> from krand import Ledger
    >>> Ledger("answered.ledger").spent()
    Spent(epsilon=0, delta=0, surveys=0)
    """

    def __init__(self, path: str | Path, *, create: bool = True) -> None:
        self.path = Path(path)
        if create:
            try:
                make_private(self.path)  # it reveals which surveys somebody has answered
            except OSError as error:
                raise _unreadable(self.path, error) from None
        elif not self.path.exists():
            hint = "it is created when the first survey is answered"
            raise InvalidInput("ledger", "must be a file that exists", str(path), hint)
        with self._open() as connection:
            if has_tables(connection, "ledger"):
                return
            if not create:
                raise InvalidInput("ledger", "must be a krand ledger", str(path))
            make_tables(connection, SCHEMA)

    def submission(
        self, plan: Plan, round_number: int, make: Callable[[], Submission]
    ) -> Submission:
        """The submission of this round: the stored one, or a new one, stored before returning."""
        check_round(plan, round_number)
        key = (bytes.fromhex(plan.hash), round_number)
        with self._open() as connection, self._at_once(connection):
            kept = _kept(connection, plan, round_number)
            if kept is not None:
                return kept
            charge = plan.charge(round_number)
            if charge is not None:
                _pay(connection, bytes.fromhex(plan.hash), charge)
            made = make()
            policy = plan.survey.policy
            values = (plan.survey.id, policy.epsilon, policy.asked, made.id)
            lengths = {len(message) for message in made.messages}
            if len(lengths) != 1:
                raise InvalidInput("messages", "must all have the same length", sorted(lengths))
            stored = (b"".join(made.messages), lengths.pop())
            connection.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*key, *values, *stored)
            )
        return made

    def kept(self, plan: Plan, round_number: int) -> Submission | None:
        """The submission of this round that was made and not yet delivered, if there is one."""
        with self._open() as connection:
            return _kept(connection, plan, round_number)

    def erase_before(self, plan: Plan, round_number: int) -> None:
        """Erase what was never delivered of its campaign's rounds before this one, now closed.

        They stay charged: some of it may have been sent.
        """
        key = (plan.survey.schedule and plan.survey.schedule.campaign, round_number)
        own = "SELECT plan FROM charges WHERE campaign = ?"
        where = f"plan IN ({own}) AND round < ? AND {PENDING}"
        with self._open() as connection:
            if connection.execute(f"SELECT 1 FROM answers WHERE {where}", key).fetchone() is None:
                return
            with self._at_once(connection):
                rows = f"SELECT plan, round FROM answers WHERE {where}"
                connection.execute(f"INSERT OR IGNORE INTO unsent {rows}", key)
                connection.execute(f"UPDATE answers SET {FORGET} WHERE {where}", key)

    def trust(self, plan: Plan) -> None:
        """Record that the person who uses this device trusts a plan."""
        values = (bytes.fromhex(plan.hash), plan.survey.id)
        with self._open() as connection, self._at_once(connection):
            connection.execute("INSERT OR IGNORE INTO trusted VALUES (?, ?)", values)

    def trusted(self, survey: str) -> tuple[str, ...]:
        """The hashes of the plans of a survey that were trusted on this device."""
        with self._open() as connection:
            rows = connection.execute("SELECT plan FROM trusted WHERE survey = ?", (survey,))
            return tuple(plan.hex() for (plan,) in rows)

    def begin(self, plan: Plan, round_number: int, submission_id: bytes) -> bool:
        """Record that it is about to be sent under this id; true if it never was before."""
        condition = f"{PENDING} AND submission != :id"
        return self._changed(plan, round_number, "submission = :id", condition, submission_id)

    def withdraw(self, plan: Plan, round_number: int) -> bool:
        """Record that it was sent under no id; false if the round was delivered meanwhile."""
        return self._changed(plan, round_number, "submission = x''", PENDING)

    def acknowledge(self, plan: Plan, round_number: int) -> None:
        """Erase messages and id, and record that the round is answered."""
        self._changed(plan, round_number, FORGET)

    def _changed(
        self,
        plan: Plan,
        round_number: int,
        change: str,
        condition: str = "true",
        submission_id: bytes = b"",
    ) -> bool:
        """Update the entry of a round, on disk; whether there was one to change."""
        values = {"plan": bytes.fromhex(plan.hash), "round": round_number, "id": submission_id}
        update = f"UPDATE answers SET {change} WHERE plan = :plan AND round = :round AND"
        with self._open() as connection, self._at_once(connection):
            return connection.execute(f"{update} {condition}", values).rowcount > 0

    def entries(self) -> tuple[Entry, ...]:
        """All rounds that have been answered, in no particular order."""
        with self._open() as connection:
            rows = connection.execute(
                "SELECT plan, round, survey, epsilon, delta, messages IS NULL FROM answers"
            ).fetchall()
            unsent = set(connection.execute("SELECT plan, round FROM unsent"))
        return tuple(
            Entry(
                plan_hash=plan.hex(),
                round=number,
                survey=survey,
                epsilon=epsilon,
                delta=delta,
                acknowledged=bool(done) and (plan, number) not in unsent,
                unsent=(plan, number) in unsent,
            )
            for plan, number, survey, epsilon, delta, done in rows
        )

    def spent(self) -> Spent:
        """The sum over all plans; a plan's promise covers its rounds together, or each period."""
        plans = {entry.plan_hash: (entry.epsilon, entry.delta) for entry in self.entries()}
        with self._open() as connection:
            charges = connection.execute("SELECT plan, epsilon, delta FROM charges").fetchall()
        charged = {plan.hex() for plan, *_ in charges}
        spent = [cost for plan, cost in plans.items() if plan not in charged]
        spent += [(epsilon, delta) for _, epsilon, delta in charges]
        return Spent(sum(each[0] for each in spent), sum(each[1] for each in spent), len(plans))

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connected(self.path, *PRAGMAS, seconds=WAIT_SECONDS)) as connection:
                yield connection
        except (sqlite3.DatabaseError, OSError) as error:
            raise _unreadable(self.path, error) from None

    @contextmanager
    def _at_once(self, connection: sqlite3.Connection) -> Iterator[None]:
        """A transaction that locks the file from the first read until its journal is erased."""
        connection.execute("PRAGMA journal_mode = PERSIST")
        is_mine = False  # another process may have the lock, and needs its journal
        try:
            with transaction(connection, "EXCLUSIVE"):
                is_mine = True
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # beyond the end of it
                yield
        finally:
            if is_mine:
                self._wipe_journal(connection)

    def _wipe_journal(self, connection: sqlite3.Connection) -> None:
        """Erase the journal, which holds old pages and is not needed after the transaction."""
        resolved = self.path.resolve()
        with suppress(FileNotFoundError):
            _overwrite(resolved.with_name(f"{resolved.name}-journal"))
        connection.execute("PRAGMA locking_mode = NORMAL")
        connection.execute("PRAGMA journal_mode = DELETE")


def _kept(connection: sqlite3.Connection, plan: Plan, round_number: int) -> Submission | None:
    """What is stored for a round; AlreadySubmitted if it was delivered."""
    row = connection.execute(
        "SELECT submission, messages, message_length FROM answers WHERE plan = ? AND round = ?",
        (bytes.fromhex(plan.hash), round_number),
    ).fetchone()
    if row is None:
        return None
    name, joined, length = row
    if joined is None:
        raise AlreadySubmitted(plan, round_number)
    places = range(0, len(joined), length)
    return Submission(name, tuple(joined[start : start + length] for start in places), kept=True)


def _pay(connection: sqlite3.Connection, plan: bytes, charge: Charge) -> None:
    """Record what a period costs, once, or refuse it."""
    names = [field.name for field in fields(Charge)]
    query = f"SELECT plan, {', '.join(names)} FROM charges WHERE campaign = ?"
    found = connection.execute(query, (charge.campaign,)).fetchall()
    paid = [(of, Charge(**dict(zip(names, values, strict=True)))) for of, *values in found]
    if (plan, charge) in paid:
        return
    if any(of != plan and charge.overlaps(other) for of, other in paid):
        raise CampaignSpent(charge, "another plan of it was answered on this device for them")
    charges = [charge, *(other for _, other in paid)]
    for spent, most in (("epsilon", "most_epsilon"), ("delta", "most_delta")):
        limit = min(getattr(each, most) for each in charges)
        if sum(getattr(each, spent) for each in charges) > limit * (1 + ROUNDING):
            raise CampaignSpent(charge, f"{spent} of all its periods is at most {limit:g}")
    places = ", ".join("?" * (1 + len(names)))
    values = (plan, *(getattr(charge, name) for name in names))
    connection.execute(f"INSERT INTO charges (plan, {', '.join(names)}) VALUES ({places})", values)


def _overwrite(path: Path) -> None:
    """Overwrite a file with zeros, on disk."""
    handle = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0))
    with os.fdopen(handle, "wb") as stream:
        stream.write(bytes(os.fstat(handle).st_size))
        stream.flush()
        os.fsync(handle)


def _unreadable(path: Path, error: Exception) -> InvalidInput:
    return InvalidInput("ledger", "must be a usable ledger", str(path), str(error))
