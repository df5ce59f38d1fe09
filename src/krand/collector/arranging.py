"""Rewriting a table, so that the place of a row in the file says nothing about when it came.

Random keys decide in which order SQLite reads the rows of a table, but not where they lie: within a
page the newest row lies in front of the older ones, and what is too long for a page goes on in
pages that are numbered as they come. Written anew, in the order of its keys, a table knows nothing
of that. A file that is too large for this keeps it; there the crowd is large, too.
"""

from __future__ import annotations

import sqlite3

__all__ = ["MESSAGES", "SEEN", "rearrange", "small_enough"]

MESSAGES = (
    "CREATE TABLE {} (key BLOB PRIMARY KEY, content BLOB NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID"
)
SEEN = "CREATE TABLE {} (id BLOB PRIMARY KEY) WITHOUT ROWID"
MOST_BYTES = 2**26
"""So much is written anew within about a second."""


def small_enough(connection: sqlite3.Connection, most: int = MOST_BYTES) -> bool:
    """Whether the whole file can be written anew without making anybody wait for long."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size) <= most


def rearrange(connection: sqlite3.Connection, table: str, definition: str) -> None:
    """Write the rows anew in the order of their keys, within the transaction that is open."""
    connection.execute(definition.format("rearranged"))
    connection.execute(f"INSERT INTO rearranged SELECT * FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE rearranged RENAME TO {table}")
