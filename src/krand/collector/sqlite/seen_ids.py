"""Who has been counted: a digest of every submission's id, so that a retry is recognized.

Ids are random, so each of a group would change another page of a large table. Recent digests are
therefore kept in a small table of their own, and moved to the large one many at a time, or when
nobody is waiting. Until then the file shows, as the journal does, which digests are recent.

Whoever has a copy of the spool's folder, the key of the digests and the id of a submission could
see whether that submission was counted. Without the key they cannot. So the key lies elsewhere: in
the user's state folder, or where the operator wants it.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from krand.collector.sqlite.pool import Pool
from krand.collector.sqlite.tables import SEEN_IDS, rearrange
from krand.collector.store import MINIMUM_GROUP
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, read_whole, state_folder, unwritable
from krand.randomness.generator import SecureRandom

KEY_BYTES = 32
HINT = (
    "without it a retry would be counted twice; start as the user and with the XDG_STATE_HOME of"
    " the first start, name the file with --id-key, or start with an empty folder"
)
MOST_ASKED = 400
"""Ids in one query. Each is a parameter twice, and older versions of SQLite allow 999."""
MOST_RECENT = 1_024


class SeenIds:
    """The digests of one spool. The caller holds the transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def known(self, digests: Sequence[bytes]) -> set[bytes]:
        """Those that were counted before, in few queries: each of them costs a thread switch."""
        found: set[bytes] = set()
        for start in range(0, len(digests), MOST_ASKED):
            some = digests[start : start + MOST_ASKED]
            values = ", ".join("?" * len(some))
            query = " UNION ALL ".join(
                f"SELECT id FROM {table} WHERE id IN ({values})" for table in ("recent", "seen")
            )
            found.update(digest for (digest,) in self._connection.execute(query, [*some, *some]))
        return found

    def add(self, digests: Iterable[bytes]) -> None:
        """Count these; none of them may be known."""
        self._connection.executemany("INSERT INTO recent VALUES (?)", ((d,) for d in digests))
        (recent,) = self._connection.execute("SELECT count(*) FROM recent").fetchone()
        if recent >= MOST_RECENT:
            self.settle()

    def settle(self) -> None:
        """Move the recent digests to the others."""
        self._connection.execute("INSERT INTO seen SELECT id FROM recent")
        self._connection.execute("DELETE FROM recent")

    def exchange(self, pool: Pool, random: SecureRandom) -> None:
        """Fill the pool with a random sample of all digests instead of the most recent ones."""
        self._connection.executemany("INSERT INTO seen VALUES (?)", ((d,) for d in pool.ids()))
        pool.keep_ids([])
        drawn = self._some(MINIMUM_GROUP, random)
        self._connection.executemany("DELETE FROM seen WHERE id = ?", ((d,) for d in drawn))
        pool.keep_ids(drawn)

    def _some(self, count: int, random: SecureRandom) -> list[bytes]:
        """A random sample of this size, or all digests if there are fewer."""
        query = "SELECT id FROM seen WHERE id >= ? ORDER BY id LIMIT ?"
        few = self._connection.execute(query, (b"", 2 * count + 1)).fetchall()
        if len(few) <= 2 * count:
            return [few[at][0] for at in random.permutation(len(few))[:count]]
        drawn: set[bytes] = set()
        while len(drawn) < count:
            # Digests are random themselves: the first one after a random point is a random one.
            row = self._connection.execute(query, (random.bytes(16), 1)).fetchone()
            drawn.update(row or ())
        return list(drawn)

    def rearrange(self) -> None:
        """Rewrite the table, so that its pages show no order of arrival."""
        rearrange(self._connection, "seen", SEEN_IDS)

    def __iter__(self) -> Iterator[object]:
        """Everything in the tables, even if damage has made it something else than a digest."""
        for table in ("seen", "recent"):
            for (digest,) in self._connection.execute(f"SELECT id FROM {table}"):
                yield digest


def usual_place(spool_id: str) -> Path:
    """Where the key of a spool lies by default."""
    return state_folder() / "spools" / f"{spool_id}.key"


def check_of(key: bytes) -> bytes:
    """What a spool stores about its key: enough to refuse another one."""
    return hashlib.blake2b(b"krand spool", digest_size=16, key=key).digest()


def find_key(path: Path) -> bytes:
    """The key in a file for a new spool, made if it is missing."""
    return _read(path) if os.path.lexists(path) else _new_key(path)


def key_of(spool: Path, path: Path, check: bytes) -> bytes:
    """The key in a file, which must be that of an existing spool."""
    rule = f"must be the key that was made together with {spool}"
    if not path.exists():
        raise InvalidInput("id key", f"{rule}, and is missing", str(path), HINT)
    key = _read(path)
    if check_of(key) != check:
        raise InvalidInput("id key", f"{rule}, and is that of another spool", str(path), HINT)
    return key


def _read(path: Path) -> bytes:
    text = read_whole("id key", path)
    try:
        key = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != KEY_BYTES:
        rule = "must hold 64 hex digits"
        raise InvalidInput("id key", rule, str(path), "name another file with --id-key")
    return key


def _new_key(path: Path) -> bytes:
    """Random, on the disk before it is used, readable by the collector alone."""
    key = os.urandom(KEY_BYTES)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(path, flags, OWNER_ONLY), "wb") as file:
            file.write(key.hex().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise unwritable("id key", path, error) from None
    return key
