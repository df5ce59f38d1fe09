"""The spool of a round: what was acknowledged, and neither who came when nor with whom.

One file of SQLite, and one file with the key of its ids, whose name says how far the round is.

    OPEN ──▶ CLOSED ──▶ RELEASED      keys/H/N.open ──▶ N.closed ──▶ N.mixed
      └────▶ ERASED, below the crowd  rounds/H/N/spool.sqlite

An id is kept as a digest that only the key's owner can compute, a message under a random key.
Whoever came last waits in a pool of 32 to 63 people: two values, written anew as a whole in the
order of their bytes, so that nothing in it tells who came last. A group of 32 or more hides its own
members, and goes to the tables at once. In a quiet second the file is written anew: then its layout
follows from its rows. No time is stored, no address, no order of arrival.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

from krand.collector.progress import coarse, status_step
from krand.collector.public import Verdict
from krand.collector.rounds import (
    MINIMUM_GROUP,
    Damaged,
    Round,
    State,
    StoreUnavailable,
    errors_named,
    round_in,
)
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, complete_file, sync_folder
from krand.randomness.generator import secure_random
from krand.sqlite_files import transaction
from krand.storage import database, key_folder, make_folder, move, write
from krand.survey.plan import Plan
from krand.survey.plan_check import CrowdTooSmall
from krand.wire.submissions import ID_LENGTH, Submitted, format_of

SMALL = 64 * 2**20
"""Bytes that are written anew in about a second, in which nobody is answered."""
KINDS = ("open", "closed", "mixed")
"""Names of the key, in their order."""
NO_KEY = "its key is gone"
ID_KEY = 32
LANE, KEY = 4, 4 + 16
"""A message's key: its lane, then random bytes."""
TABLES = """
CREATE TABLE round (state TEXT NOT NULL, people INTEGER NOT NULL);
INSERT INTO round VALUES ('open', 0);
CREATE TABLE pool (name TEXT PRIMARY KEY, content BLOB NOT NULL) WITHOUT ROWID;
INSERT INTO pool VALUES ('ids', x''), ('messages', x'');
CREATE TABLE ids (digest BLOB PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE messages (
    key BLOB PRIMARY KEY CHECK (length(key) = {key}),
    content BLOB NOT NULL CHECK (typeof(content) = 'blob' AND length(content) = {length})
) WITHOUT ROWID;
"""


class Spool:
    """The submissions of one plan and round in a party's folder."""

    def __init__(self, folder: Path, plan: Plan, number: int = 1) -> None:
        """It is made if there is none. Whoever has it is the only one."""
        self.plan, self.number = plan, number
        self.format = format_of(plan, number)
        self._length, self._lanes = self.format.message_length, [n.messages for n in plan.lanes]
        self._id_key, self._added = b"", False
        self.path = folder / "rounds" / plan.hash / str(number) / "spool.sqlite"
        keys = key_folder(make_folder(folder), plan.hash)
        self._keys = {kind: keys / f"{number}.{kind}" for kind in KINDS}
        make_folder(self.path.parent)
        found = self._found()
        if self._kind() and not (found and self.path.stat().st_size):
            raise Damaged(self.path, "it is gone, or empty")
        if found is None and os.path.lexists(self.path):
            raise Damaged(self.path, "it is a link, or has another name elsewhere")
        with errors_named(self.path):
            self._db = database(self.path, TABLES.format(key=KEY, length=self._length))
        try:
            self._file = self._found()
            if self._file is None or found not in (None, self._file):
                raise Damaged(self.path, "it was replaced while it was opened")
            self._settle()
        except BaseException:
            self._db.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def round(self) -> Round:
        """How far it is, and how many came."""
        with errors_named(self.path):
            return round_in(self._db, self.path)

    def add(self, submissions: Sequence[Submitted], *, taking: bool = True) -> list[Verdict]:
        """Store them for good, all or none. What this returns may be told.

        If `taking` is false, nobody new is accepted, as in a closed round.
        """
        digests = [
            hashlib.blake2b(one.id, key=self._id_key, digest_size=ID_LENGTH).digest()
            for one in submissions
        ]
        fresh: dict[bytes, bytes] = {}
        verdicts = []
        self._check_there()  # SQLite would call it read-only
        with errors_named(self.path):
            with transaction(self._db):
                taking = taking and self.round().is_open
                known = self._known(digests)
                for digest, one in zip(digests, submissions, strict=True):
                    if digest in known or digest in fresh:
                        verdicts.append(Verdict.KNOWN)
                    elif taking:
                        verdicts.append(Verdict.ACCEPTED)
                        fresh[digest] = one.messages
                    else:
                        verdicts.append(Verdict.CLOSED)
                if fresh:
                    self._store(fresh)
            self._check_there()
        return verdicts

    def tidy(self) -> None:
        """In a quiet second: write a small file anew, so that it does not tell what came when."""
        if self.round().is_open:
            self._write_anew()
            self._added = False

    def close_round(self, *, erase: bool = False) -> Round:
        """End the round, with everybody who was accepted; a second time changes nothing.

        Below the plan's crowd everything is erased, if that is wanted; otherwise CrowdTooSmall.
        """
        with errors_named(self.path), transaction(self._db):
            found = self.round()
            if found.is_open:
                found = Round(self._ended(found.people, erase), found.people)
                self._db.execute("UPDATE round SET state = ?", (found.state,))
        self._settle()
        with suppress(StoreUnavailable):  # those of the pool lie where the last ones lie
            self._write_anew()
        self._added = False
        return found

    def _ended(self, people: int, erase: bool) -> State:
        """Leave everything in the tables, or nothing but the ids."""
        enough = people >= self.plan.smallest_batch
        if not enough and not erase:
            raise _too_few(self.plan.smallest_batch, people)
        self._to_tables(self._pool("ids"), self._pool("messages") if enough else [])
        self._keep([], [])
        if enough:
            self._check(people)
            return State.CLOSED
        self._db.execute("DROP TABLE messages")
        return State.ERASED

    def write(self, path: Path) -> None:
        """Everything that leaves a closed round: lane after lane, in the order of random keys."""
        if (state := self.round().state) is not State.CLOSED:
            raise InvalidInput("round", "must be closed, and not released yet", state.value)
        with errors_named(self.path), complete_file("output", path, replace=True) as stream:
            os.chmod(stream.fileno(), OWNER_ONLY)
            for (content,) in self._db.execute("SELECT content FROM messages ORDER BY key"):
                stream.write(content)

    def forget(self) -> None:
        """The batch is recorded: nothing is mixed from here again, and no message stays.

        Ids stay, for those who ask again whether theirs has come.
        """
        if self.round().state is State.CLOSED:
            self._rename("closed", "mixed")
            self._settle()

    def close(self) -> None:
        """Tidy up if the disk allows it, then close."""
        try:
            with suppress(StoreUnavailable):
                if self._added:
                    self.tidy()
        finally:
            self._db.close()

    def _settle(self) -> None:
        """Do what follows from the name of the key and the state of the round, also after a kill.

        Keys are in no backup: a file that is older than the name of its key is dead.
        """
        found, kind = self.round(), self._kind()
        begins = found.is_open and not found.people and not kind
        if not begins and (not kind or (found.is_open and kind != "open")):
            raise _dead(self.path, "it is from before the end of its round" if kind else NO_KEY)
        with errors_named(self.path):
            if begins:
                write(self._keys["open"], os.urandom(ID_KEY))
            if kind == "open" and not found.is_open:
                self._rename("open", "closed")
            if kind == "mixed" and found.state is State.CLOSED:
                sync_folder(self._keys["mixed"].parent)  # once more, if that failed before
                with transaction(self._db):
                    # Overwritten, before the file shrinks.
                    self._db.execute("DROP TABLE IF EXISTS messages")
                    self._db.execute("UPDATE round SET state = ?", (State.RELEASED,))
            (free,) = self._db.execute("PRAGMA freelist_count").fetchone()
            if free and not self.round().state.has_messages:
                self._db.execute("VACUUM")
            self._id_key = self._keys[self._kind()].read_bytes()
            if len(self._id_key) != ID_KEY:
                raise Damaged(self._keys[self._kind()], f"it must have {ID_KEY} bytes")

    def _rename(self, kind: str, following: str) -> None:
        with errors_named(self.path), suppress(FileNotFoundError):  # it has that name already
            move(self._keys[kind], self._keys[following])

    def _write_anew(self) -> None:
        with errors_named(self.path):
            if self.path.stat().st_size <= SMALL:
                self._db.execute("VACUUM")

    def _known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Those who were accepted before."""
        found = set(self._pool("ids")).intersection(digests)
        for digest in digests:
            if self._db.execute("SELECT 1 FROM ids WHERE digest = ?", (digest,)).fetchone():
                found.add(digest)
        return found

    def _store(self, fresh: dict[bytes, bytes]) -> None:
        """Digests of ids with their messages: into the pool, or by it."""
        self._added = True
        ids, rows = [*fresh], [row for sent in fresh.values() for row in self._keyed(sent)]
        if len(ids) < MINIMUM_GROUP:
            ids, rows = self._pool("ids") + ids, self._pool("messages") + rows
            if len(ids) < 2 * MINIMUM_GROUP:
                self._keep(ids, rows)
                ids, rows = [], []
            else:
                ids, rows = self._keep_some(ids, rows)
        self._to_tables(ids, rows)
        self._db.execute("UPDATE round SET people = people + ?", (len(fresh),))

    def _keep_some(
        self, ids: Sequence[bytes], rows: Sequence[bytes]
    ) -> tuple[list[bytes], list[bytes]]:
        """Leave the least number in the pool, drawn afresh: a key that decided would tell who has
        stayed before. What moves to the tables."""
        ids, rows = _shuffled(ids), _shuffled(rows)
        room = [MINIMUM_GROUP * messages for messages in self._lanes]
        kept, leaving = list[bytes](), list[bytes]()
        for row in rows:
            lane = int.from_bytes(row[:LANE])
            (kept if room[lane] > 0 else leaving).append(row)
            room[lane] -= 1
        self._keep(ids[:MINIMUM_GROUP], kept)
        return ids[MINIMUM_GROUP:], leaving

    def _keyed(self, sent: bytes) -> Iterator[bytes]:
        """Each message of a person behind its lane and a key of its own."""
        lanes = (lane for lane, messages in enumerate(self._lanes) for _ in range(messages))
        for place, lane in enumerate(lanes):
            message = sent[place * self._length : (place + 1) * self._length]
            yield lane.to_bytes(LANE) + os.urandom(KEY - LANE) + message

    def _to_tables(self, ids: Sequence[bytes], rows: Sequence[bytes]) -> None:
        split = ((row[:KEY], row[KEY:]) for row in sorted(rows))
        self._db.executemany("INSERT INTO ids VALUES (?)", ((digest,) for digest in sorted(ids)))
        self._db.executemany("INSERT INTO messages VALUES (?, ?)", split)

    def _keep(self, ids: Sequence[bytes], rows: Sequence[bytes]) -> None:
        """Hold these in the pool and no others."""
        contents = (("ids", b"".join(sorted(ids))), ("messages", b"".join(sorted(rows))))
        self._db.executemany("REPLACE INTO pool VALUES (?, ?)", contents)

    def _pool(self, name: str) -> list[bytes]:
        """The ids or the messages in the pool."""
        found = self._db.execute("SELECT content FROM pool WHERE name = ?", (name,)).fetchone()
        width = ID_LENGTH if name == "ids" else KEY + self._length
        if not found or not isinstance(found[0], bytes) or len(found[0]) % width:
            raise Damaged(self.path, f"the pool of {name}")
        return [found[0][at : at + width] for at in range(0, len(found[0]), width)]

    def _check(self, people: int) -> None:
        """Whatever was acknowledged must be here, in tables that can be read."""
        (problem,) = self._db.execute("PRAGMA integrity_check(1)").fetchone()
        if problem != "ok":
            raise Damaged(self.path, " ".join(problem.split()))
        counts = f"SELECT substr(key, 1, {LANE}), count(*) FROM messages GROUP BY 1"
        found = {int.from_bytes(lane): count for lane, count in self._db.execute(counts)}
        wanted = {lane: people * messages for lane, messages in enumerate(self._lanes)}
        (ids,) = self._db.execute("SELECT count(*) FROM ids").fetchone()
        if (ids, found) != (people, wanted if people else {}):
            raise Damaged(self.path, f"{people} people, {ids} ids, messages by lane {found}")

    def _check_there(self) -> None:
        if self._found() != self._file:
            raise StoreUnavailable(
                f"{self.path} was removed or replaced: nothing is acknowledged; put it back, or"
                " restart the collector with the right folder"
            )

    def _kind(self) -> str:
        """The name of the key; empty if there is none."""
        return next((kind for kind in KINDS if self._keys[kind].exists()), "")

    def _found(self) -> tuple[int, int] | None:
        """Which file has the spool's name; None for no file, or none of its own."""
        try:
            found = self.path.lstat()
        except OSError:
            return None
        is_own = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
        return (found.st_dev, found.st_ino) if is_own else None


def _too_few(crowd: int, people: int) -> CrowdTooSmall:
    hint = (
        "nothing leaves below it: wait for more people, or end the round without them and erase"
        " what they sent, with --erase"
    )
    if crowd == 1:
        return CrowdTooSmall("people", "must be at least 1", 0, "nobody has come yet")
    rule = f"must be at least the planned crowd of {crowd:,}"
    some = coarse(people, status_step(crowd))
    return CrowdTooSmall("people", rule, f"about {some:,}", hint)


def _dead(path: Path, why: str) -> InvalidInput:
    hint = "it is dead: an open round goes on only in its own folder, with its own keys"
    return InvalidInput("spool", f"must not be an older copy ({why})", str(path), hint)


def _shuffled(rows: Sequence[bytes]) -> list[bytes]:
    return [rows[place] for place in secure_random().permutation(len(rows))]
