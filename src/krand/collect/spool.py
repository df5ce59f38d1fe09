"""The spool: what has been acknowledged is on the disk, mixed, and counted once.

One SQLite file for one plan and round. A submission and the number of people change in one
transaction that is synced before anybody is told. Messages lie in a table of their own for each
batch, under random keys; a retry is known by a keyed digest of its id. Nothing here knows a clock,
an address or an order of arrival.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Self

from krand.client.randomness import secure_random
from krand.collect.arranging import MESSAGES, rearrange, small_enough
from krand.collect.batch_table import BatchTable
from krand.collect.checking import check_ids, check_setting, check_tables, check_whole, checked_rows
from krand.collect.disk import SpoolUnavailable, connected, make_folder, named
from krand.collect.mark import Mark, Progress
from krand.collect.records import DIGEST_BYTES, Batch, Setting, added_up, message_table, tag_of
from krand.collect.seen import Seen
from krand.collect.states import State
from krand.collect.strata import mixed_rows
from krand.errors import InternalError, InvalidInput
from krand.wire.submissions import Submitted

__all__ = ["Batch", "Setting", "Spool", "SpoolUnavailable"]

Fresh = list[tuple[int, bytes]]
"""Digest of the id and messages of those who are counted for the first time."""


class Spool:
    """A folder with the file of messages that were acknowledged and not yet released."""

    def __init__(self, folder: Path, setting: Setting) -> None:
        self.folder, self.setting = folder, setting
        self.path = folder / "spool.sqlite"
        self._process = os.getpid()
        make_folder(folder, self.path, folder / "spool.mark")
        with named(self.path), ExitStack() as stack:
            self._mark = stack.enter_context(closing(Mark(folder / "spool.mark")))
            acknowledged = self._mark.read()  # first, for what the file holds can only grow
            self._connection = stack.enter_context(closing(connected(self.path)))
            self._batches = BatchTable(self._connection, setting)
            self._seen = Seen(self._connection)
            self._digest_key = self._prepare(acknowledged)
            stack.pop_all()  # it is sound: they stay open
        self._added = False
        self._arranged = 0  # people whose rows are known to lie in the order of their keys

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Leave nothing that knows an order, if the disk takes it, then close."""
        try:
            with suppress(SpoolUnavailable):  # the journal stays, and who opens it next finds it
                if self._added:
                    self.tidy(whatever_it_takes=True)
                self.settle()
        finally:
            self._connection.close()
            self._mark.close()

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        """Store them, durably and whole; for each, whether it is new. Retries are counted once."""
        with named(self.path):
            with self._transaction():
                fresh, verdicts = self._fresh(submissions)
                self._store(fresh)
                progress = self._batches.progress()
            self._mark.write(progress)
        self._added = True
        return verdicts

    def batches(self) -> tuple[Batch, ...]:
        """All batches, the open one last."""
        with named(self.path):
            return tuple(entry.batch for entry in self._batches.all())

    def rows_of(self, batch: Batch) -> Generator[bytes, None, None]:
        """Every row of a batch: keys and messages, end to end; damage is noticed."""
        with named(self.path), self._snapshot():
            now = self._batches.one(batch.number)
            if now.batch.state is State.RELEASED:
                raise InvalidInput("batch", "must not be released yet", "released")
            yield from checked_rows(self._connection, now, self.setting)

    def mark_released(self, batch: Batch, sha256: str) -> None:
        """The files are written: forget the messages for good."""
        with named(self.path):
            with self._transaction():
                entry = self._batches.one(batch.number)
                # Two may release at once: they write the same bytes, and one of them is first.
                if (entry.batch.state, entry.batch.sha256) != (State.RELEASED, sha256):
                    self._connection.execute(f"DROP TABLE {message_table(batch.number)}")
                    self._batches.write(entry.moved(State.RELEASED, sha256))
                progress = self._batches.progress()
            self._mark.write(progress)
        if not self.settle():
            raise SpoolUnavailable(
                "the batch is written, but somebody reads the spool, so that its journal cannot be"
                " wiped yet: run this again"
            )

    def settle(self) -> bool:
        """Move everything from the journal to its place, where only keys decide the order.

        Whether nothing is left in the journal; somebody else who reads may prevent it.
        """
        with named(self.path):
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._mark.sync()
        return not busy

    def tidy(self, *, whatever_it_takes: bool = False) -> None:
        """In a quiet moment: let neither journal nor pages know which row came before which.

        To write everything anew for a few rows is not worth it: an eighth must be new.
        """
        waiting = [batch for batch in self.batches() if batch.state is not State.RELEASED]
        people = sum(batch.people for batch in waiting)
        if people < self._arranged:  # something was released meanwhile
            self._arranged = 0
        new = people - self._arranged
        if new:
            worth_it = whatever_it_takes or 8 * new >= people
            with named(self.path), self._transaction():
                self._seen.settle()
                if worth_it and small_enough(self._connection):
                    self._rearrange()
            self._arranged = people if worth_it else self._arranged
        self.settle()

    def probe(self) -> None:
        """Write something that changes nothing, to see whether the disk takes it."""
        with named(self.path), self._transaction():
            self._batches.write(self._batches.open())

    def check_people(self) -> None:
        """Whether everybody who was counted is still known, so that nobody was counted twice."""
        with named(self.path), self._snapshot():
            check_ids(self._seen, self._batches.all())

    def check(self) -> None:
        """Read everything once; an error names what is damaged."""
        with named(self.path):
            check_whole(self._connection)
        self.check_people()
        for batch in self.batches():
            if batch.state is not State.RELEASED:
                for _ in self.rows_of(batch):
                    pass

    def _fresh(self, submissions: Sequence[Submitted]) -> tuple[Fresh, list[bool]]:
        digests = [
            hashlib.blake2b(one.id, digest_size=DIGEST_BYTES, key=self._digest_key).digest()
            for one in submissions
        ]
        known = self._seen.known(digests)
        fresh: dict[bytes, bytes] = {}
        verdicts = []
        for digest, one in zip(digests, submissions, strict=True):
            verdicts.append(digest not in known and digest not in fresh)
            if verdicts[-1]:
                fresh[digest] = one.messages
        self._seen.add(sorted(fresh))
        return [(int.from_bytes(digest), body) for digest, body in fresh.items()], verdicts

    def _store(self, fresh: Fresh) -> None:
        """Into the open batch; when it is full it is sealed, and the rest opens the next one."""
        while fresh:
            entry = self._batches.open()
            room = entry.batch.population - entry.batch.people
            now, fresh = fresh[:room], fresh[room:]
            bodies = [body for _, body in now]
            rows = self._insert(entry.batch.number, bodies)
            ids = added_up(digest for digest, _ in now)
            messages = sum(map(len, bodies)) // self.setting.shape.message_length
            more = entry.with_more(len(now), messages, rows, ids)
            self._batches.write(more)
            if more.batch.state is State.SEALED:
                self._batches.begin(entry.batch.number + 1)

    def _insert(self, number: int, bodies: list[bytes]) -> int:
        """Put messages into the table of a batch; what their tags add up to."""
        length = self.setting.shape.message_length
        rows = [
            (key, content, tag_of(key + content))
            for key, content in mixed_rows(bodies, length, secure_random())
        ]
        self._connection.executemany(
            f"INSERT INTO {message_table(number)} VALUES (?, ?, ?)", sorted(rows)
        )
        return added_up(int.from_bytes(tag) for _, _, tag in rows)

    def _rearrange(self) -> None:
        self._seen.rearrange()
        for entry in self._batches.all():  # as they are now, for somebody else may release
            if entry.batch.state is not State.RELEASED:
                rearrange(self._connection, message_table(entry.batch.number), MESSAGES)

    def _prepare(self, acknowledged: Progress) -> bytes:
        """A new spool gets its setting; an old one must have the same. The key of its digests."""
        if not self._batches.exists():
            acknowledged.check_reached_by(Progress())  # else it is no new one
            with self._transaction():
                if not self._batches.exists():  # somebody else may have been first
                    self._batches.create()
        with self._snapshot():
            key = check_setting(self._connection, self.setting)
            check_tables(self._connection, [entry.batch for entry in self._batches.all()])
            acknowledged.check_reached_by(self._batches.progress())
        return key

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Written whole, or not at all."""
        self._check_process()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Everything that is read is of one moment; others may write meanwhile."""
        self._check_process()
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _check_process(self) -> None:
        if os.getpid() != self._process:  # SQLite's locks do not survive a fork
            raise InternalError("a spool must be used by the process that opened it")
