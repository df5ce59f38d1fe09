"""Whether a spool is still what was written into it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from krand.collector.disk import Damage
from krand.collector.mixing import KEY_BYTES
from krand.collector.pool import Pool
from krand.collector.records import (
    DIGEST_BYTES,
    Batch,
    Entry,
    SpoolConfig,
    added_up,
    digest_of,
    message_table,
    tables_of,
    tag_of,
)
from krand.collector.states import State
from krand.errors import InvalidInput

__all__ = ["check_ids", "check_setting", "check_tables", "check_whole", "checked_rows"]

MANY = 10_000


def check_setting(connection: sqlite3.Connection, setting: SpoolConfig) -> dict[str, bytes]:
    """The setting must be undamaged and the one that is asked for; what is stored of it."""
    rows = dict(connection.execute("SELECT name, value FROM setting").fetchall())
    if rows.pop("digest", None) != digest_of(rows):
        raise Damage("its setting was changed")
    version = setting.entries()["version"]
    if rows.get("version") != version:
        raise InvalidInput(
            "spool",
            f"must be of version {version.decode()} of the format",
            rows.get("version", b"").decode(errors="replace"),
            "release what is in it with the krand that wrote it, and begin with an empty folder",
        )
    for name, value in setting.entries().items():
        if rows.get(name) != value:
            raise InvalidInput(
                "spool",
                f"must be of {name} {value.decode()}",
                rows.get(name, b"").decode(errors="replace"),
                "use another folder; what was planned cannot be changed",
            )
    return rows


def check_tables(connection: sqlite3.Connection, batches: Sequence[Batch]) -> None:
    """The tables must be as they were made: a damaged name would look like an empty table."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema").fetchall()
    # What was renamed has its name in quotation marks.
    found = {name: str(sql).replace(f'"{name}"', str(name), 1) for name, sql in rows}
    if found != tables_of(batches):
        raise Damage("its tables were changed")


def checked_rows(
    connection: sqlite3.Connection, entry: Entry, setting: SpoolConfig, pool: Pool
) -> Iterator[bytes]:
    """Every row of a batch, and for the open one the pool; what is missing, changed or there twice
    is Damage at the latest when the last one has been given."""
    length = KEY_BYTES + setting.shape.message_length
    messages, total = 0, 0
    table = message_table(entry.batch.number)
    for key, content, tag in connection.execute(f"SELECT * FROM {table}"):
        if not _untouched(key, content, tag) or len(content) % length:
            raise Damage("a message was changed")
        messages, total = messages + len(content) // length, total ^ int.from_bytes(tag)
        if messages > entry.batch.messages:  # a damaged tree could go round for ever
            break
        yield content
    if entry.batch.state is State.OPEN:
        pooled = pool.messages()
        messages, total = messages + len(pooled), total ^ pool.sum()
        yield pooled.tobytes()
    if (messages, total) != (entry.batch.messages, entry.rows):
        raise Damage(f"the messages of batch {entry.batch.number} are not those that were stored")


def check_ids(seen: Iterable[object], entries: Sequence[Entry]) -> None:
    """Everybody who was counted must be known, or a retry would be counted again."""
    people = sum(entry.batch.people for entry in entries)
    found, total = 0, 0
    ids = iter(seen)
    while some := list(islice(ids, MANY)):
        found, total = found + len(some), total ^ _sum(some)
        if found > people:
            break
    if (found, total) != (people, added_up(entry.ids for entry in entries)):
        raise Damage("those who are known are not those who were counted")


def check_whole(connection: sqlite3.Connection) -> None:
    """SQLite's own check of every page."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise Damage(verdict)


def _untouched(key: object, content: object, tag: object) -> bool:
    # Damage may have turned bytes into a number or a text.
    if not isinstance(key, bytes) or not isinstance(content, bytes):
        return False
    return tag == tag_of(key + content)


def _sum(digests: list[object]) -> int:
    """Their exclusive or; bytes of another length or kind are damage."""
    if any(not isinstance(digest, bytes) or len(digest) != DIGEST_BYTES for digest in digests):
        raise Damage("somebody who was counted is not known any more")
    joined = b"".join(digest for digest in digests if isinstance(digest, bytes))
    words = np.frombuffer(joined, np.uint64).reshape(-1, DIGEST_BYTES // 8)
    return int.from_bytes(np.bitwise_xor.reduce(words, axis=0).tobytes())
