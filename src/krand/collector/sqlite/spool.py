"""The spool: a store in one SQLite file. What was acknowledged is on the disk, mixed, counted once.

One file for one plan and round. A submission and the number of people change in one transaction,
which is synced before the submission is acknowledged. Submissions that arrive with few others wait
in the pool. Every batch has a table of its own, in which messages lie under random keys, each with
its lane where the plan has several. A retry is
recognized by a digest of its id, whose key lies elsewhere. The journal shows what arrived together,
so it is emptied whenever nobody is waiting. The spool stores no time, no address and no order of
arrival.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from itertools import chain, islice
from pathlib import Path
from typing import Self

import numpy as np

from krand.collector.closing import Outcome, outcome_of
from krand.collector.sqlite.batches import BatchTable, Entry, check_config
from krand.collector.sqlite.disk import (
    DIGEST_BYTES,
    WAIT_SECONDS,
    Damage,
    Presence,
    added_up,
    connected,
    make_folder,
    named,
    tag_of,
)
from krand.collector.sqlite.high_water_mark import HighWaterMark, Progress
from krand.collector.sqlite.mixing import (
    KEY_BYTES,
    LaneColumn,
    in_key_order,
    keyed,
    mixed_rows,
    rows_of,
)
from krand.collector.sqlite.pool import Pool
from krand.collector.sqlite.seen_ids import SeenIds, check_of, find_key, key_of, usual_place
from krand.collector.sqlite.tables import (
    MESSAGES,
    check_pages,
    check_tables,
    message_table,
    small_enough,
)
from krand.collector.store import (
    MINIMUM_GROUP,
    Batch,
    Closed,
    LaneNumbers,
    Messages,
    RoundClosed,
    SpoolConfig,
    State,
    StoreUnavailable,
)
from krand.errors import InternalError, InvalidInput
from krand.randomness.generator import SecureRandom, secure_random
from krand.sqlite_files import transaction
from krand.wire.submissions import ID_LENGTH, Submitted

Fresh = list[tuple[bytes, bytes]]
"""Digest of the id and messages of those who are counted for the first time."""
IDS_AT_A_TIME = 10_000
ALWAYS_MIXED_BYTES = 2**20
"""A file up to this size is mixed again whenever somebody leaves the pool, and whenever nobody is
waiting."""


class Spool:
    """A folder with the file of messages that were acknowledged and not yet released."""

    def __init__(self, folder: Path, config: SpoolConfig, id_key: Path | None = None) -> None:
        self.folder, self.config = folder, config
        self.path = folder / "spool.sqlite"
        self._process = os.getpid()
        make_folder(folder, self.path, folder / "spool.mark")
        with named(self.path), ExitStack() as stack:
            mark = closing(HighWaterMark(folder / "spool.mark"))
            self._high_water_mark = stack.enter_context(mark)
            acknowledged = self._high_water_mark.read()  # first: the file only grows
            self._connection = stack.enter_context(closing(connected(self.path)))
            self._batches = BatchTable(self._connection, config)
            self._seen_ids = SeenIds(self._connection)
            self._pool = Pool(self._connection, config)
            self._lanes = LaneColumn(config)
            self._own = self._prepare(acknowledged, id_key)
            self._presence = Presence(self.path, self._high_water_mark.path)
            stack.pop_all()  # nothing is wrong: they stay open
        self._id_key = id_key or usual_place(self._own["id"].decode())
        self._digest_key = b""  # read with the first submission: reading needs none
        self._added = False
        self._arranged = 0  # people whose messages are known to lie in random order

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove traces of the order of arrival, if the disk allows it, then close."""
        try:
            with suppress(StoreUnavailable):  # the journal stays for whoever opens the spool next
                if self._added:
                    self.tidy(whatever_it_takes=True)
                self.settle()
        finally:
            self._connection.close()
            self._high_water_mark.close()

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        """Store them durably, all or none. For each: whether it is new."""
        random = secure_random()
        with named(self.path):
            with self._transaction():
                fresh, verdicts = self._fresh(submissions)
                mixed = self._store(fresh, random) and self._is_small()
                if mixed:
                    self._rearrange()
                progress = self._batches.progress()
            self._presence.check()
            self._high_water_mark.write(progress)
            if mixed or 0 < len(fresh) < MINIMUM_GROUP:  # the journal would show who is new
                with suppress(sqlite3.OperationalError):  # they are stored: it is tried again
                    self._empty_journal(patient=False)
        self._added = True
        return verdicts

    def known(self, submissions: Sequence[Submitted]) -> list[bool]:
        """For each: whether it was counted before. Nothing is stored."""
        with named(self.path), self._snapshot():
            digests, known = self._digests(submissions)
        return [digest in known for digest in digests]

    def close_batch(self, *, erase: bool = False) -> Closed:
        """Close the open batch at the operator's wish, in one transaction."""
        random = secure_random()
        with named(self.path):
            with self._transaction():
                entries = self._batches.all()
                batches = [entry.batch for entry in entries]
                outcome, target = outcome_of(self.config, batches, erase=erase)
                if outcome is Outcome.SEALED:
                    ends = self.config.ends_with(batches[-1].number)
                    sealed = self._seal(entries[-1], random, last=ends)
                    found = Closed(batch=sealed.batch)
                elif target is not None:
                    found = self._join(entries[-1], entries[target.number - 1], random)
                else:
                    found = Closed(batch=self._erase(entries[-1]).batch)
                if small_enough(self._connection):  # few may have come since the last time
                    self._rearrange()
            self._presence.check()
        emptied = self.settle()
        if outcome is not Outcome.SEALED and not emptied:
            raise self._not_wiped("the round is closed")
        return found

    def mark_releasing(self, batch: Batch) -> Batch:
        """Record durably that the batch may be written: nobody joins it any more."""
        with named(self.path):
            with self._transaction():
                entry = self._batches.one(batch.number)
                if not entry.batch.state.is_waiting:
                    raise InvalidInput("batch", "must be sealed", entry.batch.state.value)
                if begins := entry.batch.state is State.SEALED:
                    entry = entry.moved(State.RELEASING)
                    self._batches.write(entry)
            self._presence.check()
        if begins:
            self.settle()
        return entry.batch

    def batches(self) -> tuple[Batch, ...]:
        """All batches in the order of their numbers, the open one last."""
        with named(self.path):
            self._presence.check()
            return tuple(entry.batch for entry in self._batches.all())

    def rows_of(self, batch: Batch) -> Generator[bytes, None, None]:
        """Every row of a batch, each some messages with their keys. Damage is noticed."""
        with named(self.path), self._snapshot():
            now = self._batches.one(batch.number)
            if not now.batch.state.has_messages:
                rule = "must not be released or erased yet"
                raise InvalidInput("batch", rule, now.batch.state.value)
            yield from checked_rows(self._connection, now, self.config, self._pool)

    def lane_messages(self, batch: Batch, scratch: Path) -> Iterator[tuple[LaneNumbers, Messages]]:
        """All messages of a batch that is being released, in the order of their random keys, each
        with its lane."""
        with named(self.path), self._snapshot():
            state = self._batches.one(batch.number).batch.state
        if state is not State.RELEASING:
            raise InvalidInput("batch", "must be marked as releasing", state.value)
        width, lanes = KEY_BYTES + self._length, self._lanes
        chunks = in_key_order(self.rows_of(batch), width, batch.messages * width, scratch)
        return ((lanes.numbers(rows), rows[:, lanes.width :]) for rows in chunks)

    def mark_released(self, batch: Batch, sha256: str) -> None:
        """Record that the files are written, and forget the messages for good."""
        with named(self.path):
            with self._transaction():
                entry = self._batches.one(batch.number)
                # Two processes may release at once: they write the same bytes, and one is first.
                if (entry.batch.state, entry.batch.sha256) != (State.RELEASED, sha256):
                    moved = entry.moved(State.RELEASED, sha256)
                    self._connection.execute(f"DROP TABLE {message_table(batch.number)}")
                    self._batches.write(moved)
                progress = self._batches.progress()
            self._high_water_mark.write(progress)
        if not self.settle():
            raise self._not_wiped("the batch is written")

    @staticmethod
    def _not_wiped(done: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"{done}, but the journal cannot be wiped while another process reads the spool: run"
            " this again"
        )

    def settle(self) -> bool:
        """Move everything from the journal to the tables, where only keys decide the order.

        Whether nothing is left in the journal. Another process that reads may prevent it.
        """
        with named(self.path):
            emptied = self._empty_journal()
        self._high_water_mark.sync()
        return emptied

    def _empty_journal(self, *, patient: bool = True) -> bool:
        """Whether it could be done. It waits for other readers, or is left for later."""
        wait = int(WAIT_SECONDS * 1000) if patient else 0
        self._connection.execute(f"PRAGMA busy_timeout = {wait}")
        try:
            busy, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {int(WAIT_SECONDS * 1000)}")
        return not busy

    def tidy(self, *, whatever_it_takes: bool = False) -> None:
        """Remove traces of the order of arrival from journal, pool and pages.

        The file is not rewritten for a few people: an eighth must be new, or the file small.
        """
        waiting = [batch for batch in self.batches() if batch.state.has_messages]
        people = sum(batch.people for batch in waiting)
        if people < self._arranged:  # something was released meanwhile
            self._arranged = 0
        new = people - self._arranged
        if new and (whatever_it_takes or 8 * new >= people or self._is_small()):
            with named(self.path), self._transaction():
                if small_enough(self._connection):
                    self._rearrange()
                else:
                    self._seen_ids.settle()
            self._arranged = people
        self.settle()

    def probe(self) -> None:
        """Store somebody made up and take it back, then write something that changes nothing."""
        with named(self.path):
            self._store_and_take_back()
            with self._transaction():
                self._presence.check()
                self._batches.write(self._batches.last())

    def check_people(self) -> None:
        """Check that everybody who was counted is still known, so that nobody is counted twice."""
        with named(self.path), self._snapshot():
            check_ids(chain(self._seen_ids, self._pool.ids()), self._batches.all())

    def check(self) -> None:
        """Read everything once. An error names what is damaged."""
        with named(self.path):
            check_pages(self._connection)
        self.check_people()
        for batch in self.batches():
            if batch.state.has_messages:
                for _ in self.rows_of(batch):
                    pass

    def _digests(self, submissions: Sequence[Submitted]) -> tuple[list[bytes], set[bytes]]:
        """The digests of their ids, and all digests that are known and may be among them."""
        if not self._digest_key:
            self._digest_key = key_of(self.path, self._id_key, self._own["id_key"])
        key = self._digest_key
        digests = [
            hashlib.blake2b(one.id, digest_size=DIGEST_BYTES, key=key).digest()
            for one in submissions
        ]
        return digests, self._seen_ids.known(digests) | set(self._pool.ids())

    def _fresh(self, submissions: Sequence[Submitted]) -> tuple[Fresh, list[bool]]:
        digests, known = self._digests(submissions)
        fresh: dict[bytes, bytes] = {}
        verdicts = []
        for digest, one in zip(digests, submissions, strict=True):
            verdicts.append(digest not in known and digest not in fresh)
            if verdicts[-1]:
                fresh[digest] = self._lanes.added_to(one.messages)
        return list(fresh.items()), verdicts

    def _store(self, fresh: Fresh, random: SecureRandom) -> bool:
        """Put them into the open batch. A full batch is sealed, and the rest goes to the next one.

        Whether anything went to the tables.
        """
        many = len(fresh) >= MINIMUM_GROUP
        ids = [digest for digest, _ in fresh]
        leaving = ids if many or not ids else self._pool.add_ids(ids, random)
        if leaving:
            self._seen_ids.add(sorted(leaving))
        moved = bool(leaving)
        while fresh:
            entry = self._batches.open()
            full_at = self.config.room_of(entry.batch.number)
            room = full_at - entry.batch.people if full_at else len(fresh)
            now, fresh = fresh[:room], fresh[room:]
            bodies = [body for _, body in now]
            if many:
                rows, left = self._insert(entry, mixed_rows(bodies, self._length, random)), True
            else:
                rows, left = self._put_into_pool(entry, bodies, random)
            total = added_up(int.from_bytes(digest) for digest, _ in now)
            messages = sum(map(len, bodies)) // self._length
            more = entry.with_more(len(now), messages, rows, total)
            full = more.batch.people == full_at
            if full:
                self._seal(more, random, last=False)
            else:
                self._batches.write(more)
            moved = moved or left or full
        return moved

    def _store_and_take_back(self) -> None:
        """Store somebody made up, in a transaction of which nothing is kept."""
        shape = self.config.format
        messages = bytes(shape.messages * shape.message_length)
        self._check_process()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            fresh, _ = self._fresh([Submitted(os.urandom(ID_LENGTH), messages)])
            with suppress(RoundClosed):
                self._store(fresh, secure_random())
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    def _seal(self, entry: Entry, random: SecureRandom, *, last: bool) -> Entry:
        """The batch takes no more people. The next one opens, unless it was the last."""
        rows = entry.rows ^ self._empty_pool(entry, random)
        sealed = replace(entry, rows=rows).moved(State.SEALED)
        self._batches.write(sealed)
        if not last:
            self._batches.begin(entry.batch.number + 1)
        return sealed

    def _join(self, entry: Entry, other: Entry, random: SecureRandom) -> Closed:
        """The people of the open batch join a sealed one, each message under its random key."""
        rows = entry.rows ^ self._empty_pool(entry, random)
        table, target = message_table(entry.batch.number), message_table(other.batch.number)
        self._connection.execute(f"INSERT INTO {target} SELECT * FROM {table}")
        batch = entry.batch
        joined = other.with_more(batch.people, batch.messages, rows, entry.ids)
        self._batches.write(joined)
        emptied = Entry(replace(batch, people=0, messages=0))
        return Closed(batch=self._erase(emptied).batch, joined=joined.batch)

    def _erase(self, entry: Entry) -> Entry:
        """The round ends without the messages of the open batch. Their senders stay known."""
        self._pool.keep_messages(self._pool.messages()[:0])
        self._connection.execute(f"DROP TABLE {message_table(entry.batch.number)}")
        erased = entry.moved(State.ERASED)
        self._batches.write(erased)
        return erased

    def _put_into_pool(
        self, entry: Entry, bodies: list[bytes], random: SecureRandom
    ) -> tuple[int, bool]:
        """The change of the sum of the batch, and whether others left the pool for it."""
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
        """Put rows into the table of a batch. The sum of their tags."""
        tagged = [(key, content, tag_of(key + content)) for key, content in rows]
        table = message_table(entry.batch.number)
        self._connection.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", sorted(tagged))
        return added_up(int.from_bytes(tag) for _, _, tag in tagged)

    def _is_small(self) -> bool:
        return small_enough(self._connection, ALWAYS_MIXED_BYTES)

    def _rearrange(self) -> None:
        random = secure_random()
        self._seen_ids.settle()
        self._seen_ids.exchange(self._pool, random)
        self._seen_ids.rearrange()
        for entry in self._batches.all():  # as they are now: another process may release
            if entry.batch.state.has_messages:
                self._mix_anew(entry, random)

    def _mix_anew(self, entry: Entry, random: SecureRandom) -> None:
        """Store a batch in a new random order. Some messages of the open batch become the pool."""
        rows = checked_rows(self._connection, entry, self.config, self._pool)
        messages = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, KEY_BYTES + self._length)
        messages, total = random.shuffled(messages), 0
        if entry.batch.state is State.OPEN:
            messages, total = self._pool.keep_some(messages), self._pool.sum()
        table = message_table(entry.batch.number)
        self._connection.execute(f"DROP TABLE {table}")
        self._connection.execute(MESSAGES.format(table))
        total ^= self._insert(entry, rows_of(messages, random))
        self._batches.write(replace(entry, rows=total))

    @property
    def _length(self) -> int:
        """Of a message as it is stored, with its lane."""
        return self._lanes.stored_length

    def _prepare(self, acknowledged: Progress, id_key: Path | None) -> dict[str, bytes]:
        """A new spool gets its configuration; an old one must have the same. Its stored entries."""
        if not self._batches.exists():
            acknowledged.check_reached_by(Progress())  # otherwise it is not new
            with self._transaction():
                if not self._batches.exists():  # another process may have been first
                    name = os.urandom(16).hex()
                    key = find_key(id_key or usual_place(name))
                    self._batches.create({"id": name.encode(), "id_key": check_of(key)})
                    self._pool.create()
        with self._snapshot():
            own = check_config(self._connection, self.config)
            check_tables(self._connection, [entry.batch for entry in self._batches.all()])
            acknowledged.check_reached_by(self._batches.progress())
        return own

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Everything in the block is written, or nothing."""
        self._check_process()
        with transaction(self._connection):
            yield

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """Everything is read as of one moment. Others may write meanwhile."""
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


def checked_rows(
    connection: sqlite3.Connection, entry: Entry, config: SpoolConfig, pool: Pool
) -> Iterator[bytes]:
    """Every row of a batch; for the open batch, the pool too.

    A missing, changed or repeated message raises Damage, at the latest after the last row.
    """
    length = KEY_BYTES + LaneColumn(config).stored_length
    messages, total = 0, 0
    table = message_table(entry.batch.number)
    for key, content, tag in connection.execute(f"SELECT * FROM {table}"):
        # Damage may have turned bytes into a number or a text.
        whole = isinstance(key, bytes) and isinstance(content, bytes)
        if not whole or tag != tag_of(key + content) or len(content) % length:
            raise Damage("a message was changed")
        messages, total = messages + len(content) // length, total ^ int.from_bytes(tag)
        if messages > entry.batch.messages:  # a damaged tree could be read in an endless loop
            break
        yield content
    if entry.batch.state is State.OPEN:
        pooled = pool.messages()
        messages, total = messages + len(pooled), total ^ pool.sum()
        yield pooled.tobytes()
    if (messages, total) != (entry.batch.messages, entry.rows):
        raise Damage(f"the messages of batch {entry.batch.number} are not those that were stored")


def check_ids(digests: Iterable[object], entries: Sequence[Entry]) -> None:
    """Everybody who was counted must be known, or a retry would be counted again."""
    people = sum(entry.batch.people for entry in entries)
    found, total = 0, 0
    ids = iter(digests)
    while some := list(islice(ids, IDS_AT_A_TIME)):
        found, total = found + len(some), total ^ _sum(some)
        if found > people:
            break
    if (found, total) != (people, added_up(entry.ids for entry in entries)):
        raise Damage("the ids that are known are not those that were counted")


def _sum(digests: list[object]) -> int:
    """Their exclusive or. Anything but bytes of the right length is Damage."""
    if any(not isinstance(digest, bytes) or len(digest) != DIGEST_BYTES for digest in digests):
        raise Damage("an id that was counted is no longer known")
    joined = b"".join(digest for digest in digests if isinstance(digest, bytes))
    words = np.frombuffer(joined, np.uint64).reshape(-1, DIGEST_BYTES // 8)
    return int.from_bytes(np.bitwise_xor.reduce(words, axis=0).tobytes())
