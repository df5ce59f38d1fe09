"""The spool: what has been acknowledged is on the disk, mixed, and counted once.

One SQLite file for one plan and round. A submission and the number of people change in one
transaction that is synced before anybody is told. Who comes with few others waits in the pool.
Messages lie in a table of their own for each batch, under random keys; a retry is known by a digest
of its id, whose key lies elsewhere. The journal, which knows what came together, is emptied as soon
as nobody waits. Nothing here knows a clock, an address or an order of arrival.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np

from krand.collector.arranging import MESSAGES, small_enough
from krand.collector.batch_table import BatchTable
from krand.collector.checking import (
    check_ids,
    check_setting,
    check_tables,
    check_whole,
    checked_rows,
)
from krand.collector.disk import WAIT_SECONDS, SpoolUnavailable, connected, make_folder, named
from krand.collector.high_water_mark import Mark, Progress
from krand.collector.id_key import check_of, find_key, usual_place
from krand.collector.mixing import KEY_BYTES, keyed, mixed_rows, rows_of
from krand.collector.pool import FEWEST, Pool
from krand.collector.presence import Presence
from krand.collector.records import (
    DIGEST_BYTES,
    Batch,
    Entry,
    SpoolConfig,
    added_up,
    message_table,
    tag_of,
)
from krand.collector.seen_ids import Seen
from krand.collector.states import State
from krand.errors import InternalError, InvalidInput
from krand.randomness.generator import SecureRandom, secure_random
from krand.wire.submissions import Submitted

__all__ = ["Batch", "Spool", "SpoolConfig", "SpoolUnavailable"]

Fresh = list[tuple[bytes, bytes]]
"""Digest of the id and messages of those who are counted for the first time."""
ALWAYS_MIXED = 2**20
"""A file up to this size is mixed anew whenever somebody leaves the pool, and in every quiet
moment."""


class Spool:
    """A folder with the file of messages that were acknowledged and not yet released."""

    def __init__(self, folder: Path, setting: SpoolConfig, id_key: Path | None = None) -> None:
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
            shape = setting.shape
            self._pool = Pool(self._connection, shape.message_length, shape.messages)
            self._own = self._prepare(acknowledged, id_key)
            self._presence = Presence(self.path, self._mark.path)
            stack.pop_all()  # it is sound: they stay open
        self._id_key = id_key or usual_place(self._own["id"].decode())
        self._digest_key = b""  # read when the first person comes: who only looks needs none
        self._added = False
        self._arranged = 0  # people whose messages are known to lie as chance would have it

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
        random = secure_random()
        random.refresh()  # what comes now cannot be told from what the memory held before
        with named(self.path):
            with self._transaction():
                fresh, verdicts = self._fresh(submissions)
                mixed = self._store(fresh, random) and self._is_small()
                if mixed:
                    self._rearrange()
                progress = self._batches.progress()
            self._presence.check()
            self._mark.write(progress)
            if mixed or 0 < len(fresh) < FEWEST:  # the journal would tell them from the others
                with suppress(sqlite3.OperationalError):  # they are stored: the next try will tell
                    self._empty_journal(patient=False)
        self._added = True
        return verdicts

    def batches(self) -> tuple[Batch, ...]:
        """All batches, the open one last."""
        with named(self.path):
            self._presence.check()
            return tuple(entry.batch for entry in self._batches.all())

    def rows_of(self, batch: Batch) -> Generator[bytes, None, None]:
        """Every row of a batch: keys and messages, end to end; damage is noticed."""
        with named(self.path), self._snapshot():
            now = self._batches.one(batch.number)
            if now.batch.state is State.RELEASED:
                raise InvalidInput("batch", "must not be released yet", "released")
            yield from checked_rows(self._connection, now, self.setting, self._pool)

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
            emptied = self._empty_journal()
        self._mark.sync()
        return emptied

    def _empty_journal(self, *, patient: bool = True) -> bool:
        """Whether it could be done; it has to wait for whoever reads, or is left for later."""
        wait = int(WAIT_SECONDS * 1000) if patient else 0
        self._connection.execute(f"PRAGMA busy_timeout = {wait}")
        try:
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        return not busy

    def tidy(self, *, whatever_it_takes: bool = False) -> None:
        """In a quiet moment: let neither journal, pool nor pages know what came before what.

        To write everything anew for a few people is not worth it: an eighth must be new, or the
        file small.
        """
        waiting = [batch for batch in self.batches() if batch.state is not State.RELEASED]
        people = sum(batch.people for batch in waiting)
        if people < self._arranged:  # something was released meanwhile
            self._arranged = 0
        new = people - self._arranged
        if new and (whatever_it_takes or 8 * new >= people or self._is_small()):
            with named(self.path), self._transaction():
                if small_enough(self._connection):
                    self._rearrange()
                else:
                    self._seen.settle()
            self._arranged = people
        self.settle()

    def probe(self) -> None:
        """Write something that changes nothing, to see whether the disk takes it."""
        with named(self.path), self._transaction():
            self._presence.check()
            self._batches.write(self._batches.open())

    def check_people(self) -> None:
        """Whether everybody who was counted is still known, so that nobody was counted twice."""
        with named(self.path), self._snapshot():
            check_ids(chain(self._seen, self._pool.ids()), self._batches.all())

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
        key = self._digests_with()
        digests = [
            hashlib.blake2b(one.id, digest_size=DIGEST_BYTES, key=key).digest()
            for one in submissions
        ]
        known = self._seen.known(digests) | set(self._pool.ids())
        fresh: dict[bytes, bytes] = {}
        verdicts = []
        for digest, one in zip(digests, submissions, strict=True):
            verdicts.append(digest not in known and digest not in fresh)
            if verdicts[-1]:
                fresh[digest] = one.messages
        return list(fresh.items()), verdicts

    def _store(self, fresh: Fresh, random: SecureRandom) -> bool:
        """Into the open batch; when it is full it is sealed, and the rest opens the next one.

        Whether anything went to the tables.
        """
        crowd = len(fresh) >= FEWEST
        ids = [digest for digest, _ in fresh]
        leaving = ids if crowd or not ids else self._pool.add_ids(ids, random)
        if leaving:
            self._seen.add(sorted(leaving))
        moved = bool(leaving)
        while fresh:
            entry = self._batches.open()
            room = entry.batch.population - entry.batch.people
            now, fresh = fresh[:room], fresh[room:]
            bodies = [body for _, body in now]
            if crowd:
                rows, left = self._insert(entry, mixed_rows(bodies, self._length, random)), True
            else:
                rows, left = self._put_into_pool(entry, bodies, random)
            total = added_up(int.from_bytes(digest) for digest, _ in now)
            messages = sum(map(len, bodies)) // self._length
            more = entry.with_more(len(now), messages, rows, total)
            sealed = more.batch.state is State.SEALED
            if sealed:
                more = replace(more, rows=more.rows ^ self._empty_pool(entry, random))
            self._batches.write(more)
            if sealed:
                self._batches.begin(entry.batch.number + 1)
            moved = moved or left or sealed
        return moved

    def _put_into_pool(
        self, entry: Entry, bodies: list[bytes], random: SecureRandom
    ) -> tuple[int, bool]:
        """What the sum of the batch changes by, and whether others left the pool for it."""
        before = self._pool.sum()
        leaving = self._pool.add_messages(keyed(bodies, self._length, random), random)
        change = before ^ self._pool.sum() ^ self._insert(entry, rows_of(leaving, random))
        return change, len(leaving) > 0

    def _empty_pool(self, entry: Entry, random: SecureRandom) -> int:
        """The batch is complete: all its messages go to its table."""
        before, messages = self._pool.sum(), random.shuffled(self._pool.messages())
        self._pool.keep_messages(messages[:0])
        return before ^ self._insert(entry, rows_of(messages, random))

    def _insert(self, entry: Entry, rows: Iterable[tuple[bytes, bytes]]) -> int:
        """Put rows into the table of a batch; what their tags add up to."""
        tagged = [(key, content, tag_of(key + content)) for key, content in rows]
        table = message_table(entry.batch.number)
        self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", sorted(tagged))
        return added_up(int.from_bytes(tag) for _, _, tag in tagged)

    def _is_small(self) -> bool:
        return small_enough(self._connection, ALWAYS_MIXED)

    def _rearrange(self) -> None:
        random = secure_random()
        self._seen.settle()
        self._seen.exchange(self._pool, random)
        self._seen.rearrange()
        for entry in self._batches.all():  # as they are now, for somebody else may release
            if entry.batch.state is not State.RELEASED:
                self._mix_anew(entry, random)

    def _mix_anew(self, entry: Entry, random: SecureRandom) -> None:
        """All messages of a batch in a new random order; some of the open one become the pool."""
        rows = checked_rows(self._connection, entry, self.setting, self._pool)
        messages = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, KEY_BYTES + self._length)
        messages, total = random.shuffled(messages), 0
        if entry.batch.state is State.OPEN:
            size = self._pool.sample_size()
            self._pool.keep_messages(messages[:size])
            messages, total = messages[size:], self._pool.sum()
        table = message_table(entry.batch.number)
        self._connection.execute(f"DROP TABLE {table}")
        self._connection.execute(MESSAGES.format(table))
        total ^= self._insert(entry, rows_of(messages, random))
        self._batches.write(replace(entry, rows=total))

    @property
    def _length(self) -> int:
        return self.setting.shape.message_length

    def _digests_with(self) -> bytes:
        if not self._digest_key:
            self._digest_key = find_key(self._id_key, self._own["id_key"])
        return self._digest_key

    def _prepare(self, acknowledged: Progress, id_key: Path | None) -> dict[str, bytes]:
        """A new spool gets its setting; an old one must have the same. What is stored of it."""
        if not self._batches.exists():
            acknowledged.check_reached_by(Progress())  # else it is no new one
            with self._transaction():
                if not self._batches.exists():  # somebody else may have been first
                    self._create(id_key)
        with self._snapshot():
            own = check_setting(self._connection, self.setting)
            check_tables(self._connection, [entry.batch for entry in self._batches.all()])
            acknowledged.check_reached_by(self._batches.progress())
        return own

    def _create(self, id_key: Path | None) -> None:
        name = os.urandom(16).hex()
        key = find_key(id_key or usual_place(name))
        self._batches.create({"id": name.encode(), "id_key": check_of(key)})
        self._pool.create()

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
