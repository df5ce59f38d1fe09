"""Whether the messages and ids of a spool are still those that were written into it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from krand.collector.sqlite.batches import Entry
from krand.collector.sqlite.damage import DIGEST_BYTES, Damage, added_up, tag_of
from krand.collector.sqlite.mixing import KEY_BYTES, LaneColumn
from krand.collector.sqlite.pool import Pool
from krand.collector.sqlite.tables import message_table
from krand.collector.store import SpoolConfig, State

IDS_AT_A_TIME = 10_000


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
