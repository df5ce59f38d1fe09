"""Where the spool lies, and what may be wrong with the place: damage and shortage are told apart.

Shortage passes: the same submission may be stored a minute later. Damage does not: it is named, and
nothing is released from what is damaged.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from krand.errors import InvalidInput, Unavailable

__all__ = [
    "PAGE_BYTES",
    "WAIT_SECONDS",
    "Damage",
    "SpoolUnavailable",
    "connected",
    "make_folder",
    "named",
    "sync_folder",
]

OWNER_ONLY = 0o600
WAIT_SECONDS = 10.0
PAGE_BYTES = 16_384
"""A row of 64 short messages fits into a page: one that does not takes two."""
PRAGMAS = (
    f"page_size = {PAGE_BYTES}",
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "cache_size = -65536",
    "cell_size_check = ON",
)
PASSING = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_PROTOCOL,
)
"""What may be better later."""
LOST = (
    sqlite3.SQLITE_IOERR_SHORT_READ,
    sqlite3.SQLITE_IOERR_CORRUPTFS,
    sqlite3.SQLITE_IOERR_DATA,
)
"""Failed reads that no waiting will mend."""
CANNOT_SYNC = (errno.EINVAL, errno.ENOTSUP)
"""Some file systems have folders that cannot be synced."""


class SpoolUnavailable(Unavailable):
    """The disk is full, or fails: nothing was stored, nothing may be acknowledged."""


class Damage(Exception):
    """Something in the spool is not as it was written."""


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Failures in krand's own words: damaged, or not available now."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a bug of ours
        raise
    except sqlite3.DatabaseError as error:
        # Python's own complaints, of text that is no text, have no code: they are damage too.
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if code & 0xFF in PASSING and code not in LOST:
            raise SpoolUnavailable(f"the spool cannot be written now: {error}") from None
        if code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            rule = "must be a file that can be written to"
            raise InvalidInput("spool", rule, str(path), str(error)) from None
        raise _damaged(path, str(error)) from None
    except (Damage, UnicodeDecodeError) as damage:  # the latter of names that are none any more
        raise _damaged(path, str(damage)) from None


def connected(path: Path) -> sqlite3.Connection:
    """A connection that acknowledges only what is on the disk, and overwrites what it deletes."""
    connection = sqlite3.connect(
        path, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_folder(folder: Path, *files: Path) -> None:
    """The folder and its files, for the collector's eyes only; SQLite's journals follow suit."""
    try:
        new = not folder.exists()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in files:
            handle = os.open(path, os.O_RDWR | os.O_CREAT, OWNER_ONLY)
            with suppress(PermissionError):  # somebody else's: then it is theirs to keep shut
                os.chmod(path, OWNER_ONLY)  # a copy that was restored may be open to all
            os.close(handle)
        sync_folder(folder)
        if new:
            sync_folder(folder.parent)
    except OSError as error:
        rule, why = "must be a folder that can be written to", (error.strerror or "").lower()
        raise InvalidInput("spool", rule, str(folder), why) from None


def sync_folder(folder: Path) -> None:
    """The names in it survive a power cut from now on; a failure is told."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in CANNOT_SYNC:
            raise
    finally:
        os.close(handle)


def _damaged(path: Path, what: str) -> InvalidInput:
    mend = "restore it from a backup; what is in it must not be released as it is"
    return InvalidInput("spool", f"must be undamaged ({what})", str(path), mend)
