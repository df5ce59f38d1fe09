"""What a mixer's service remembers, in service.sqlite: who asked for keys, which plans it signed.

The list of signed plans is append-only: each entry has the hash of the one before. The anchor, a
file on another disk, has the number and the hash of the last entry, so that an older copy of
service.sqlite, which would have forgotten a plan, is noticed. It is replaced before an entry is
shown to anybody.

Days are kept, and no times.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, Unavailable
from krand.files import read_whole, sync_folder, write_atomically
from krand.partners.documents import Erasure, PlanEntry
from krand.sqlite_files import connected, make_private, may_pass, transaction
from krand.wire.signed import Signed, parse_signed

FILE, ANCHOR = "service.sqlite", "service.anchor"
ANCHOR_FORMAT = "krand-service-anchor-1"
FORMAT = "krand-service-1"
MOST_REFUSALS = 200
"""The page shows what was refused last, each kind once."""
WAIT_SECONDS = 5.0
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL", "secure_delete = ON", "foreign_keys = ON")
TABLES = """
CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pairings (
    number INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, day TEXT NOT NULL,
    organiser TEXT NOT NULL, name TEXT NOT NULL, survey_id TEXT NOT NULL, survey TEXT NOT NULL,
    hop INTEGER NOT NULL, stage TEXT NOT NULL, key TEXT NOT NULL, descriptor BLOB NOT NULL,
    plan TEXT NOT NULL, route BLOB NOT NULL, signature BLOB NOT NULL, held TEXT NOT NULL,
    may_be_second INTEGER NOT NULL, why TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS entries (number INTEGER PRIMARY KEY, content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS rounds (
    pairing INTEGER NOT NULL, round INTEGER NOT NULL, state TEXT NOT NULL,
    closing INTEGER NOT NULL,
    PRIMARY KEY (pairing, round)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS erasures (
    pairing INTEGER NOT NULL, round INTEGER NOT NULL, content BLOB NOT NULL,
    PRIMARY KEY (pairing, round)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS refusals (
    number INTEGER PRIMARY KEY AUTOINCREMENT, day TEXT NOT NULL, asked TEXT NOT NULL,
    rule TEXT NOT NULL, UNIQUE (asked, rule)
);
"""


class Stage(StrEnum):
    """How far a request for keys has come."""

    WAITING = "waiting"
    """The operator decides."""
    ACCEPTED = "accepted"
    """Its keys are being made."""
    READY = "ready"
    """It has its keys; no plan with them has come yet."""
    SECOND = "second"
    """A plan has come, but another one of the same survey was signed: the operator decides."""
    CHECKING = "checking"
    """The plan's promise is being computed, or waits for its turn."""
    SIGNED = "signed"
    ERASED = "erased"
    """The plan was signed, and all its keys are erased."""
    UNUSED = "unused"
    """The keys were erased without a signature."""
    REFUSED = "refused"


OPEN = (Stage.WAITING, Stage.ACCEPTED, Stage.READY, Stage.SECOND, Stage.CHECKING)
"""Requests from which nothing has come yet."""
SERVED = (Stage.SIGNED, Stage.ERASED)


class RoundState(StrEnum):
    """How far a round of a survey is at this mixer."""

    OPEN = "open"
    """Its key is there, and no batch was mixed yet."""
    MIXED = "mixed"
    """Batches were mixed; further ones may come."""
    CLOSED = "closed"
    """Its key is erased."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingRecord:
    """A request for keys, and what has become of it."""

    request: str
    """The hash of what was asked for, and of who asked."""
    day: str
    """On which it was asked."""
    organiser: str
    """The identity that asked."""
    name: str
    """What the organiser calls itself."""
    survey_id: str
    survey: str
    """The survey file; empty once the request has come to nothing."""
    hop: int
    stage: Stage
    number: int = 0
    key: str = ""
    """The name of the folder with its keys; empty before there are any."""
    descriptor: bytes = b""
    plan: str = ""
    """The hash of the only plan that may be signed with its keys."""
    route: bytes = b""
    signature: bytes = b""
    held: str = ""
    """The hash of the public keys whose private keys the store had when it was last opened."""
    may_be_second: bool = False
    """Whether the operator accepts it as a further plan of its survey."""
    why: str = ""
    """Why it was refused."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Something that was refused: on which day, what was asked for, and why."""

    day: str
    asked: str
    rule: str


NAMES = tuple(field.name for field in fields(PairingRecord))


class Records:
    """The open file; other processes may have it open too."""

    def __init__(self, folder: Path, anchor: Path | None) -> None:
        """`anchor` is the file on another disk, if there is one."""
        self._anchor, self._lock = anchor, threading.RLock()
        self._entries: tuple[Signed[PlanEntry], ...] = ()
        path = folder / FILE
        is_new = not path.exists()
        if is_new and anchor is not None and anchor.exists():
            hint = "put the folder back as it was, or begin again with another folder and anchor"
            raise InvalidInput("store", "must have the records of its anchor", str(folder), hint)
        make_private(path)
        try:
            self._connection = connected(path, *PRAGMAS, seconds=WAIT_SECONDS, any_thread=True)
        except sqlite3.DatabaseError as error:
            raise _failure(path, error) from None
        try:
            with self._named_errors(path):
                self._prepare(path)
            self._check_anchor()
        except BaseException:
            self._connection.close()
            raise
        sync_folder(folder)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    # Pairings

    def add(self, pairing: PairingRecord) -> PairingRecord:
        """Record a new request."""
        names = NAMES[: NAMES.index("number")] + NAMES[NAMES.index("number") + 1 :]
        places = ", ".join("?" * len(names))
        with self._changed() as connection:
            done = connection.execute(
                f"INSERT INTO pairings ({', '.join(names)}) VALUES ({places})",
                tuple(getattr(pairing, name) for name in names),
            )
            return self._one("number = ?", done.lastrowid)

    def change(self, pairing: PairingRecord, *stages: Stage, **values: Any) -> PairingRecord:
        """Change some values, if it still has one of these stages, or any if none is named."""
        sets = ", ".join(f"{name} = ?" for name in values)
        with self._changed() as connection:
            now = self._one("number = ?", pairing.number)
            if stages and now.stage not in stages:
                rule = f"must be {' or '.join(stages)}"
                hint = "somebody was faster: krand mix accept lists what waits"
                raise InvalidInput(f"request {pairing.number}", rule, now.stage.value, hint)
            row = (*values.values(), pairing.number)
            connection.execute(f"UPDATE pairings SET {sets} WHERE number = ?", row)
            return self._one("number = ?", pairing.number)

    def pairing(self, number: int) -> PairingRecord | None:
        """The request of this number."""
        return self._first("number = ?", number)

    def of_request(self, request: str) -> PairingRecord | None:
        """The same request, if it came before."""
        return self._first("request = ?", request)

    def of_key(self, key: str) -> PairingRecord | None:
        """The request that got these keys."""
        return self._first("key = ?", key)

    def of_plan(self, plan: str) -> PairingRecord | None:
        """The request whose plan has this hash."""
        return self._first("plan = ?", plan)

    def of_organiser(self, identity: str) -> list[PairingRecord]:
        """All that this identity asked for."""
        return self._pairings("organiser = ?", identity)

    def asked_on(self, day: str, organiser: str | None = None) -> int:
        """How many new requests came on this day, of one identity or of all."""
        asked = "SELECT count(*) FROM pairings WHERE day = ?1 AND (?2 IS NULL OR organiser = ?2)"
        (count,) = self._rows(asked, day, organiser)[0]
        return int(count)

    def of_survey(self, survey_id: str) -> list[PairingRecord]:
        """All requests for this survey, whoever asked."""
        return self._pairings("survey_id = ?", survey_id)

    def in_stage(self, *stages: Stage) -> list[PairingRecord]:
        """All requests that are as far as this, the oldest first."""
        return self._pairings(f"stage IN ({', '.join('?' * len(stages))})", *stages)

    # The list of plans

    @property
    def entries(self) -> tuple[Signed[PlanEntry], ...]:
        """All entries, in their order; none ever changes, so each is read once."""
        known = self._entries
        rows = self._rows(
            "SELECT content FROM entries WHERE number > ? ORDER BY number", len(known)
        )
        added = (parse_signed(PlanEntry, content, "plans") for (content,) in rows)
        self._entries = (*known, *added)
        return self._entries

    def append(self, entry: Signed[PlanEntry], pairing: PairingRecord, **values: Any) -> None:
        """Add an entry and change its pairing in one transaction; then replace the anchor."""
        number = entry.record.number
        with self._changed() as connection:
            connection.execute("INSERT INTO entries VALUES (?, ?)", (number, entry.content))
            self.change(pairing, **values)
        self._write_anchor(number, entry.sha256)

    # Rounds and erasures

    def rounds(self, pairing: PairingRecord) -> dict[int, RoundState]:
        """How far each round is; one that is not there is open, and nothing was mixed yet."""
        asked = "SELECT round, state FROM rounds WHERE pairing = ? ORDER BY round"
        return {number: RoundState(state) for number, state in self._rows(asked, pairing.number)}

    def set_round(self, pairing: PairingRecord, round_number: int, state: RoundState) -> None:
        """Record how far a round is."""
        row = (pairing.number, round_number, state)
        added = "INSERT INTO rounds VALUES (?, ?, ?, 0) ON CONFLICT DO UPDATE SET state = ?"
        with self._changed() as connection:
            connection.execute(added, (*row, state))

    def want_closed(self, pairing: PairingRecord, round_number: int) -> None:
        """Record that the organiser wants a round closed."""
        added = "INSERT INTO rounds VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET closing = 1"
        with self._changed() as connection:
            connection.execute(added, (pairing.number, round_number, RoundState.OPEN))

    def closing(self, pairing: PairingRecord) -> tuple[int, ...]:
        """The rounds that the organiser wants closed and that are not closed yet."""
        asked = "SELECT round FROM rounds WHERE pairing = ? AND closing AND state <> ?"
        rows = self._rows(asked, pairing.number, RoundState.CLOSED)
        return tuple(number for (number,) in rows)

    def add_erasure(self, pairing: PairingRecord, erasure: Signed[Erasure]) -> None:
        """Record that a key is erased; the first record of a round stays."""
        number = erasure.record.round
        with self._changed() as connection:
            row = (pairing.number, number, erasure.content)
            connection.execute("INSERT OR IGNORE INTO erasures VALUES (?, ?, ?)", row)
            self.set_round(pairing, number, RoundState.CLOSED)

    def erasures(self, pairing: PairingRecord) -> tuple[Signed[Erasure], ...]:
        """What was erased, by round."""
        asked = "SELECT content FROM erasures WHERE pairing = ? ORDER BY round"
        rows = self._rows(asked, pairing.number)
        return tuple(parse_signed(Erasure, content, "erasure") for (content,) in rows)

    # What is told

    def tell(self, day: str, asked: str, rule: str) -> None:
        """Record a refusal for the page; the same one again counts as the newest."""
        with self._changed() as connection:
            connection.execute("DELETE FROM refusals WHERE asked = ? AND rule = ?", (asked, rule))
            connection.execute(
                "INSERT INTO refusals (day, asked, rule) VALUES (?, ?, ?)", (day, asked, rule)
            )
            oldest = "SELECT number FROM refusals ORDER BY number DESC LIMIT -1 OFFSET ?"
            connection.execute(f"DELETE FROM refusals WHERE number IN ({oldest})", (MOST_REFUSALS,))

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The newest first."""
        rows = self._rows("SELECT day, asked, rule FROM refusals ORDER BY number DESC")
        return tuple(Refusal(*row) for row in rows)

    def fact(self, name: str) -> str:
        """A fact by its name; empty if it was never recorded."""
        rows = self._rows("SELECT value FROM facts WHERE name = ?", name)
        return rows[0][0] if rows else ""

    def set_fact(self, name: str, value: str) -> None:
        """Record a fact."""
        with self._changed() as connection:
            connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))

    def _prepare(self, path: Path) -> None:
        with transaction(self._connection):
            for statement in TABLES.split(";"):
                self._connection.execute(statement)
        form = self.fact("format")
        if not form:
            self.set_fact("format", FORMAT)
        elif form != FORMAT:
            raise InvalidInput("store", f"must have the format {FORMAT}", form, str(path))

    def _check_anchor(self) -> None:
        """The entry that the anchor names must be there; later ones may follow after a kill."""
        if self._anchor is None:
            return
        entries, number = self.entries, -1
        if self._anchor.exists() or entries:
            form, number, digest = _anchor_in(self._anchor)
            known = "" if number == 0 else None
            if 1 <= number <= len(entries):
                known = entries[number - 1].sha256
            if form != ANCHOR_FORMAT or known != digest:
                rule = "must have every plan that its anchor knows"
                hint = (
                    "service.sqlite is an older copy, which has forgotten a plan that was signed:"
                    " bring back the newest one"
                )
                raise InvalidInput("store", rule, str(self._anchor), hint)
        if number != len(entries):  # a kill came between an entry and the anchor
            self._write_anchor(len(entries), entries[-1].sha256 if entries else "")

    def _write_anchor(self, number: int, digest: str) -> None:
        if self._anchor is not None:
            write_atomically("anchor", self._anchor, f"{ANCHOR_FORMAT} {number} {digest}\n")

    def _one(self, condition: str, *values: Any) -> PairingRecord:
        return self._pairings(condition, *values)[0]

    def _first(self, condition: str, *values: Any) -> PairingRecord | None:
        return next(iter(self._pairings(condition, *values)), None)

    def _pairings(self, condition: str, *values: Any) -> list[PairingRecord]:
        asked = f"SELECT {', '.join(NAMES)} FROM pairings WHERE {condition} ORDER BY number"
        found = []
        for row in self._rows(asked, *values):
            given = dict(zip(NAMES, row, strict=True))
            stage, second = Stage(given.pop("stage")), bool(given.pop("may_be_second"))
            found.append(PairingRecord(**given, stage=stage, may_be_second=second))
        return found

    def _rows(self, asked: str, *values: Any) -> list[Any]:
        with self._lock, self._named_errors():
            return self._connection.execute(asked, values).fetchall()

    @contextmanager
    def _changed(self) -> Iterator[sqlite3.Connection]:
        """One transaction; a change inside of another one belongs to it."""
        with self._lock, self._named_errors():
            if self._connection.in_transaction:
                yield self._connection
                return
            with transaction(self._connection):
                yield self._connection

    @contextmanager
    def _named_errors(self, path: Path = Path(FILE)) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise _failure(path, error) from None


def _failure(path: Path, error: sqlite3.DatabaseError) -> InvalidInput | Unavailable:
    if may_pass(error):
        return Unavailable(f"{path} cannot be used now: {error}")
    return InvalidInput("store", "must be a service's records", str(path), str(error))


def _anchor_in(path: Path) -> tuple[str, int, str]:
    """The format, the number and the hash in an anchor; nothing of that fits if it is damaged."""
    form, _, rest = read_whole("anchor", path).decode(errors="replace").partition(" ")
    number, _, digest = rest.strip().partition(" ")
    return form, int(number) if number.isdecimal() else -1, digest
