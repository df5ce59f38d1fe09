"""The tables of the file, and how one is rewritten.

Random keys decide in which order SQLite reads the rows of a table, but not where they lie. Within a
page the newest row lies in front of the older ones, and a row that is too long for a page continues
in pages that are numbered as they are needed. A table that is rewritten in the order of its keys
shows neither. A file that is too large to be rewritten keeps these traces, but then the crowd is
large, too.
"""

from __future__ import annotations

import sqlite3

from krand.collector.sqlite.disk import Damage
from krand.collector.store import Round

MESSAGES = "messages"
MESSAGE_TABLE = (
    "CREATE TABLE messages"
    " (key BLOB PRIMARY KEY, content BLOB NOT NULL, tag BLOB NOT NULL) WITHOUT ROWID"
)
"""Of an open or closed round; it is dropped as a whole."""
SEEN_IDS = "CREATE TABLE {} (id BLOB PRIMARY KEY) WITHOUT ROWID"
TABLES = {
    "setting": "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "round": """CREATE TABLE round (
        one INTEGER PRIMARY KEY,
        state TEXT NOT NULL,
        people INTEGER NOT NULL,
        rows BLOB NOT NULL,          -- the tags of its messages, added up
        ids BLOB NOT NULL,           -- the digests of its people's ids, added up
        tag BLOB NOT NULL            -- of this row
    )""",
    "seen": SEEN_IDS.format("seen"),
    "recent": SEEN_IDS.format("recent"),
    "pool": """CREATE TABLE pool (
        name TEXT PRIMARY KEY, content BLOB NOT NULL, tag BLOB NOT NULL
    ) WITHOUT ROWID""",
}
"""Part of the file format, comments included: `check_tables` compares the text."""
REWRITABLE_BYTES = 2**26
"""So much is rewritten within about a second."""


def check_tables(connection: sqlite3.Connection, found: Round) -> None:
    """The tables must be as they were made: a damaged name would look like an empty table."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema").fetchall()
    # SQLite puts the name of a renamed table in quotation marks.
    there = {name: str(sql).replace(f'"{name}"', str(name), 1) for name, sql in rows}
    if there != TABLES | ({MESSAGES: MESSAGE_TABLE} if found.state.has_messages else {}):
        raise Damage("its tables were changed")


def check_pages(connection: sqlite3.Connection) -> None:
    """SQLite's own check of every page."""
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        raise Damage(verdict)


def small_enough(connection: sqlite3.Connection, most: int = REWRITABLE_BYTES) -> bool:
    """Whether the whole file can be rewritten without making anybody wait for long."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size) <= most


def rearrange(connection: sqlite3.Connection, table: str, definition: str) -> None:
    """Rewrite the rows in the order of their keys, within the open transaction."""
    connection.execute(definition.format("rearranged"))
    connection.execute(f"INSERT INTO rearranged SELECT * FROM {table}")
    connection.execute(f"DROP TABLE {table}")
    connection.execute(f"ALTER TABLE rearranged RENAME TO {table}")
