"""Where the spool lies, and what may be wrong with the place: damage and shortage are told apart.

Shortage passes: the same submission may be stored a minute later. Damage does not: it is named, and
nothing is released from what is damaged.

A spool is a private place. Whoever could put links or files into it could make a collector that
runs as root change files elsewhere. So no link is followed, and nothing is opened that is shared,
is no regular file or belongs to a stranger. SQLite opens its journals without following links, and
the file itself only where it exists; which one it has opened is looked up before it is written to.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from krand.errors import InvalidInput, Unavailable

__all__ = [
    "PAGE_BYTES",
    "WAIT_SECONDS",
    "Damage",
    "SpoolUnavailable",
    "check_folder",
    "connected",
    "make_folder",
    "named",
    "opened_file",
    "sync_folder",
]

OWNER_ONLY = 0o600
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has neither these links nor these owners
ROOT = 0
JOURNALS = ("-journal", "-wal", "-shm")
OWN_HANDLES = Path("/proc/self/fd")
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
        f"{path.absolute().as_uri()}?mode=rw",
        timeout=WAIT_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        uri=True,
    )
    try:
        _check_opened(path)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_folder(folder: Path, *files: Path) -> None:
    """The folder and its files, for the collector's eyes only; SQLite's journals follow suit."""
    with _told("folder", folder):
        new = not os.path.lexists(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_folder(folder)
        for path in files:
            for journal in JOURNALS:
                _check_journal(path.with_name(path.name + journal))
            opened_file(path).close()
        sync_folder(folder)
        if new:
            sync_folder(folder.parent)


def check_folder(folder: Path) -> None:
    """Refuse a folder in which somebody else could put something in the collector's way."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode):
        rule, hint = "must be a folder, not a link to one", f"name {folder.resolve()} itself"
        raise InvalidInput("spool", rule, str(folder), hint)
    if os.name != "posix":
        return
    if os.geteuid() not in (ROOT, found.st_uid) and found.st_uid != ROOT:
        raise _strange(folder, found.st_uid)
    if found.st_mode & OTHERS_WRITE:
        rule = "must be a folder that nobody else may write to"
        raise InvalidInput(
            "spool", rule, str(folder), f"look what is in it, then chmod 700 {folder}"
        )


def opened_file(path: Path) -> FileIO:
    """A file of the spool to read and write, made if it is not there; never by following a link."""
    with _told("file", path):
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
            new = True
        except FileExistsError:
            _check_file(path, path.lstat())  # before it is opened: a device may notice that
            handle = os.open(path, os.O_RDWR | NO_LINK)
            new = False
        file = FileIO(handle, "r+b")
        try:
            _make_private(path, handle, new)
        except BaseException:
            file.close()
            raise
        return file


def _make_private(path: Path, handle: int, new: bool) -> None:
    """By its handle: whatever becomes of the name, no other file is changed."""
    if os.name != "posix":
        return
    _check_file(path, os.fstat(handle))
    owner = path.parent.lstat()
    if new and os.geteuid() == ROOT != owner.st_uid:  # else its collector could not open it
        os.fchown(handle, owner.st_uid, owner.st_gid)
    with suppress(PermissionError):  # root's: then it is root's to keep shut
        os.fchmod(handle, OWNER_ONLY)  # a copy that was restored may be open to all


def _check_journal(path: Path) -> None:
    with suppress(FileNotFoundError):
        _check_file(path, path.lstat())


def _check_file(path: Path, found: os.stat_result) -> None:
    """Its owner is the one who runs this, root, or, for root, the one whose spool it is."""
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "no regular file"
        raise _unsafe(path, "must be a regular file, not a link to one", f"it is {kind}")
    if os.name != "posix":
        return
    if found.st_nlink > 1:
        raise _unsafe(path, "must have one name only", f"{found.st_nlink} names lead to it")
    mine = os.geteuid() or path.parent.lstat().st_uid
    if found.st_uid not in (ROOT, mine):
        raise _strange(path, found.st_uid)


def _check_opened(path: Path) -> None:
    """Whether SQLite has opened this very file; nothing was written to it so far."""
    found = path.lstat()
    _check_file(path, found)
    if not OWN_HANDLES.is_dir():
        return
    for handle in OWN_HANDLES.iterdir():
        with suppress(OSError):  # the handle of this very listing
            if os.path.samestat(os.stat(handle), found):
                return
    raise _unsafe(path, "must stay the same file while it is opened", "it was exchanged")


def _strange(path: Path, owner: int) -> InvalidInput:
    rule = "must belong to the user who runs this, or to root"
    hint = f"it belongs to user {owner}: run this as that user, or name another folder"
    return InvalidInput("spool", rule, str(path), hint)


def _unsafe(path: Path, rule: str, why: str) -> InvalidInput:
    hint = f"{why}: find out who put it there, and restore the spool into a folder of its own"
    return InvalidInput("spool", rule, str(path), hint)


@contextmanager
def _told(kind: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        rule, why = f"must be a {kind} that can be written to", (error.strerror or "").lower()
        raise InvalidInput("spool", rule, str(path), why) from None


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
    hint = "restore it from a backup; what is in it must not be released as it is"
    return InvalidInput("spool", f"must be undamaged ({what})", str(path), hint)
