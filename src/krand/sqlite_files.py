"""SQLite files: for their owner alone, never made anew by accident, changed as a whole.

The collector's spool, a mixer's store and both ledgers are such files.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import OWNER_ONLY

VERSION = 1
"""Of tables."""
PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_READONLY,
)
"""Kinds of failures that are not the file's fault, and may pass."""
LOST = (
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
    sqlite3.SQLITE_IOERR_DATA,
)
"""Failed reads that do not pass."""


def make_private(path: Path) -> None:
    """Make an empty file that only its owner may read, if there is none; follows no link."""
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY))


def connected(
    path: Path, *pragmas: str, seconds: float, any_thread: bool = False
) -> sqlite3.Connection:
    """A connection to a file that exists; it waits so long for others."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode=rw",  # a lost file is not made anew
        timeout=seconds,
        isolation_level=None,
        check_same_thread=not any_thread,
        uri=True,
    )
    try:
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    """Everything in the block is written, or nothing."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def has_tables(connection: sqlite3.Connection, field: str) -> bool:
    """Whether it is no new file; tables of another version are refused."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version not in (0, VERSION):
        hint = "it was made by another version of krand"
        raise InvalidInput(field, f"must have version {VERSION}", version, hint)
    return bool(version)


def make_tables(connection: sqlite3.Connection, statements: str) -> None:
    """Make the tables of a new file, all or none."""
    connection.executescript(
        f"BEGIN IMMEDIATE; {statements} PRAGMA user_version = {VERSION}; COMMIT;"
    )


def may_pass(error: sqlite3.Error) -> bool:
    """Whether a disk that is full or busy is to blame, and not the file.

    Python's own errors, about text that cannot be decoded, have no code: they are damage.
    """
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return code & 0xFF in PASSING and code not in LOST  # the kind is in the lowest byte
