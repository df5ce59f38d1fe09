"""The spool: a store in one SQLite file. What was acknowledged is on the disk, mixed, counted once.

One file for one plan and round. A submission and the number of people change in one transaction,
which is synced before the submission is acknowledged. Submissions that arrive with few others wait
in the pool. Messages lie in a table under random keys, each with
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

from krand.collector.closing import closed_as
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
from krand.collector.sqlite.round import Entry, RoundTable, check_config, progress_of
from krand.collector.sqlite.seen_ids import SeenIds, check_of, find_key, key_of, usual_place
from krand.collector.sqlite.tables import (
    MESSAGE_TABLE,
    MESSAGES,
    check_pages,
    check_tables,
    small_enough,
)
from krand.collector.store import (
    MINIMUM_GROUP,
    LaneNumbers,
    Messages,
    Round,
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
            self._round = RoundTable(self._connection, config)
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
                progress = progress_of(self._round.read().round)
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

    def close_round(self, *, erase: bool = False) -> Round:
        """Close the round at the operator's wish, in one transaction."""
        random = secure_random()
        with named(self.path):
            with self._transaction():
                entry = self._round.read()
                state = closed_as(self.config, entry.round, erase=erase)
                if state is State.CLOSED:
                    entry = replace(entry, rows=entry.rows ^ self._empty_pool(random))
                else:  # their senders stay known
                    self._pool.keep_messages(self._pool.messages()[:0])
                    self._connection.execute(f"DROP TABLE {MESSAGES}")
                entry = entry.moved(state, self.config.crowd)
                self._round.write(entry)
                if small_enough(self._connection):  # few may have come since the last time
                    self._rearrange()
            self._presence.check()
        if not self.settle() and state is State.ERASED:
            raise self._not_wiped("the round is closed")
        return entry.round

    def round(self) -> Round:
        """Its state, and how many people came."""
        with named(self.path):
            self._presence.check()
            return self._round.read().round

    def lane_messages(self, scratch: Path) -> Iterator[tuple[LaneNumbers, Messages]]:
        """All messages of the closed round in the order of their random keys, each with its
        lane."""
        with named(self.path), self._snapshot():
            found = self._round.read().round
        if found.state is not State.CLOSED:
            raise InvalidInput("round", "must be closed and not released", found.state.value)
        width, lanes = KEY_BYTES + self._length, self._lanes
        total = found.people * self.config.format.messages * width
        chunks = in_key_order(self._rows(), width, total, scratch)
        return ((lanes.numbers(rows), rows[:, lanes.width :]) for rows in chunks)

    def _rows(self) -> Generator[bytes, None, None]:
        """Every row, each some messages with their keys. Damage is noticed."""
        with named(self.path), self._snapshot():
            yield from checked_rows(self._connection, self._round.read(), self.config, self._pool)

    def mark_released(self) -> None:
        """Record that the files are written, and forget the messages for good."""
        with named(self.path):
            with self._transaction():
                entry = self._round.read()
                # Two processes may release at once: they write the same bytes, and one is first.
                if entry.round.state is not State.RELEASED:
                    entry = entry.moved(State.RELEASED, self.config.crowd)
                    self._connection.execute(f"DROP TABLE {MESSAGES}")
                    self._round.write(entry)
            self._high_water_mark.write(progress_of(entry.round))
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
        found = self.round()
        people = found.people if found.state.has_messages else 0
        if people < self._arranged:  # it was released meanwhile
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
                self._round.write(self._round.read())

    def check_people(self) -> None:
        """Check that everybody who was counted is still known, so that nobody is counted twice."""
        with named(self.path), self._snapshot():
            check_ids(chain(self._seen_ids, self._pool.ids()), self._round.read())

    def check(self) -> None:
        """Read everything once. An error names what is damaged."""
        with named(self.path):
            check_pages(self._connection)
        self.check_people()
        if self.round().state.has_messages:
            for _ in self._rows():
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
        """Put them into the round, which must be open. Whether anything went to the tables."""
        if not fresh:
            return False
        entry = self._round.read()
        if not entry.round.is_open:
            raise RoundClosed
        many = len(fresh) >= MINIMUM_GROUP
        ids, bodies = [digest for digest, _ in fresh], [body for _, body in fresh]
        leaving = ids if many else self._pool.add_ids(ids, random)
        if leaving:
            self._seen_ids.add(sorted(leaving))
        if many:
            rows, left = self._insert(mixed_rows(bodies, self._length, random)), True
        else:
            rows, left = self._put_into_pool(bodies, random)
        total = added_up(map(int.from_bytes, ids))
        self._round.write(entry.with_more(len(fresh), rows, total))
        return bool(leaving) or left

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

    def _put_into_pool(self, bodies: list[bytes], random: SecureRandom) -> tuple[int, bool]:
        """The change of the sum of messages, and whether others left the pool for it."""
        before = self._pool.sum()
        leaving = self._pool.add_messages(keyed(bodies, self._length, random), random)
        change = before ^ self._pool.sum() ^ self._insert(rows_of(leaving, random))
        return change, len(leaving) > 0

    def _empty_pool(self, random: SecureRandom) -> int:
        """The round is complete: all its messages go to the table."""
        before, messages = self._pool.sum(), random.shuffled(self._pool.messages())
        self._pool.keep_messages(messages[:0])
        return before ^ self._insert(rows_of(messages, random))

    def _insert(self, rows: Iterable[tuple[bytes, bytes]]) -> int:
        """Put rows into the table. The sum of their tags."""
        tagged = [(key, content, tag_of(key + content)) for key, content in rows]
        self._connection.executemany(f"INSERT INTO {MESSAGES} VALUES (?, ?, ?)", sorted(tagged))
        return added_up(int.from_bytes(tag) for _, _, tag in tagged)

    def _is_small(self) -> bool:
        return small_enough(self._connection, ALWAYS_MIXED_BYTES)

    def _rearrange(self) -> None:
        random = secure_random()
        self._seen_ids.settle()
        self._seen_ids.exchange(self._pool, random)
        self._seen_ids.rearrange()
        entry = self._round.read()  # as it is now: another process may release
        if entry.round.state.has_messages:
            self._mix_anew(entry, random)

    def _mix_anew(self, entry: Entry, random: SecureRandom) -> None:
        """Store all messages in a new random order. Some of an open round become the pool."""
        rows = checked_rows(self._connection, entry, self.config, self._pool)
        messages = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, KEY_BYTES + self._length)
        messages, total = random.shuffled(messages), 0
        if entry.round.is_open:
            messages, total = self._pool.keep_some(messages), self._pool.sum()
        self._connection.execute(f"DROP TABLE {MESSAGES}")
        self._connection.execute(MESSAGE_TABLE)
        total ^= self._insert(rows_of(messages, random))
        self._round.write(replace(entry, rows=total))

    @property
    def _length(self) -> int:
        """Of a message as it is stored, with its lane."""
        return self._lanes.stored_length

    def _prepare(self, acknowledged: Progress, id_key: Path | None) -> dict[str, bytes]:
        """A new spool gets its configuration; an old one must have the same. Its stored entries."""
        if not self._round.exists():
            acknowledged.check_reached_by(Progress())  # otherwise it is not new
            with self._transaction():
                if not self._round.exists():  # another process may have been first
                    name = os.urandom(16).hex()
                    key = find_key(id_key or usual_place(name))
                    self._round.create({"id": name.encode(), "id_key": check_of(key)})
                    self._pool.create()
        with self._snapshot():
            own = check_config(self._connection, self.config)
            found = self._round.read().round
            check_tables(self._connection, found)
            acknowledged.check_reached_by(progress_of(found))
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
    """Every row; of an open round, the pool too.

    A missing, changed or repeated message raises Damage, at the latest after the last row.
    """
    length = KEY_BYTES + LaneColumn(config).stored_length
    wanted, messages, total = entry.round.people * config.format.messages, 0, 0
    for key, content, tag in connection.execute(f"SELECT * FROM {MESSAGES}"):
        # Damage may have turned bytes into a number or a text.
        whole = isinstance(key, bytes) and isinstance(content, bytes)
        if not whole or tag != tag_of(key + content) or len(content) % length:
            raise Damage("a message was changed")
        messages, total = messages + len(content) // length, total ^ int.from_bytes(tag)
        if messages > wanted:  # a damaged tree could be read in an endless loop
            break
        yield content
    if entry.round.is_open:
        pooled = pool.messages()
        messages, total = messages + len(pooled), total ^ pool.sum()
        yield pooled.tobytes()
    if (messages, total) != (wanted, entry.rows):
        raise Damage("the messages are not those that were stored")


def check_ids(digests: Iterable[object], entry: Entry) -> None:
    """Everybody who was counted must be known, or a retry would be counted again."""
    found, total = 0, 0
    ids = iter(digests)
    while some := list(islice(ids, IDS_AT_A_TIME)):
        found, total = found + len(some), total ^ _sum(some)
        if found > entry.round.people:
            break
    if (found, total) != (entry.round.people, entry.ids):
        raise Damage("the ids that are known are not those that were counted")


def _sum(digests: list[object]) -> int:
    """Their exclusive or. Anything but bytes of the right length is Damage."""
    if any(not isinstance(digest, bytes) or len(digest) != DIGEST_BYTES for digest in digests):
        raise Damage("an id that was counted is no longer known")
    joined = b"".join(digest for digest in digests if isinstance(digest, bytes))
    words = np.frombuffer(joined, np.uint64).reshape(-1, DIGEST_BYTES // 8)
    return int.from_bytes(np.bitwise_xor.reduce(words, axis=0).tobytes())
