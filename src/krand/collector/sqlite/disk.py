"""The folder and the files of a spool: how they are opened, checked and synced.

Two kinds of failure are told apart. A shortage passes: the same submission may be stored a minute
later. Damage does not: it is reported, and nothing is released from a damaged spool.

A spool is private. Whoever could put links or files into its folder could make a collector that
runs as root change files elsewhere. So krand follows no link, and opens no file that is shared, is
not a regular file, or belongs to another user. SQLite opens its journals without following links,
and opens the spool's file only if it exists. Which file it has opened is checked before anything is
written to it.

A file that was removed or moved can be written to as long as it is open, and all of it is lost when
it is closed. So the names of open files are looked up again before a submission is acknowledged.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import reduce
from io import FileIO
from operator import xor
from pathlib import Path

from krand import sqlite_files
from krand.collector.store import StoreUnavailable
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, sync_folder
from krand.sqlite_files import may_pass

OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
NO_LINK: int = getattr(os, "O_NOFOLLOW", 0)  # Windows has neither these links nor these owners
ROOT = 0
JOURNALS = ("-journal", "-wal", "-shm")
OWN_HANDLES = Path("/proc/self/fd")
DIGEST_BYTES, TAG_BYTES = 16, 8
WAIT_SECONDS = 10.0
PAGE_BYTES = 16_384
"""A row of 64 short messages fits into a page. A longer row takes two."""
PRAGMAS = (
    f"page_size = {PAGE_BYTES}",
    "journal_mode = WAL",
    "synchronous = FULL",
    "secure_delete = ON",
    "cache_size = -65536",
    "cell_size_check = ON",
)


class Damage(Exception):
    """Something in the spool is not as it was written.

    SQLite checks the structure of its pages, not their content. A number of people that grew by a
    flipped bit would close a round too early. So every such row carries a digest of itself, and the
    round carries the sum of the tags of all its messages and of the digests of all its people's
    ids. The sum is an exclusive or, so that it does not depend on an order. This detects accidents,
    not attacks: whoever can write the file can compute digests too.
    """


def added_up(values: Iterable[int]) -> int:
    """Their exclusive or: the same in any order."""
    return reduce(xor, values, 0)


def tag_of(content: bytes) -> bytes:
    """A short digest of stored bytes."""
    return hashlib.blake2b(content, digest_size=TAG_BYTES).digest()


def digest_of(values: Mapping[str, bytes]) -> bytes:
    """A digest of the whole configuration, so that no entry can change alone."""
    return hashlib.blake2b(repr(sorted(values.items())).encode(), digest_size=16).digest()


@contextmanager
def named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into krand's: damaged, or not available now."""
    try:
        yield
    except sqlite3.ProgrammingError:  # a bug in krand
        raise
    except sqlite3.DatabaseError as error:
        code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
        if may_pass(error):
            raise StoreUnavailable(f"the spool cannot be written now: {error}") from None
        if code & 0xFF in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
            rule = "must be a file that can be written to"
            raise InvalidInput("spool", rule, str(path), str(error)) from None
        raise _damaged(path, str(error)) from None
    except (Damage, UnicodeDecodeError) as damage:  # the latter for damaged names
        raise _damaged(path, str(damage)) from None


def connected(path: Path) -> sqlite3.Connection:
    """A connection that acknowledges only what is on the disk, and overwrites what it deletes."""
    connection = sqlite_files.connected(path, seconds=WAIT_SECONDS, any_thread=True)
    try:
        _check_opened(path)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_folder(folder: Path, *files: Path) -> None:
    """Make the folder and its files, readable by the collector alone, as are SQLite's journals."""
    with _named_errors("folder", folder):
        new = not os.path.lexists(folder)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_folder(folder)
        for path in files:
            for journal in JOURNALS:
                with suppress(FileNotFoundError):
                    beside = path.with_name(path.name + journal)
                    _check_file(beside, beside.lstat())
            opened_file(path).close()
        sync_folder(folder)
        if new:
            sync_folder(folder.parent)


def check_folder(folder: Path) -> None:
    """Refuse a folder that somebody else may write to."""
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
            "spool", rule, str(folder), f"check what is in it, then run chmod 700 {folder}"
        )


def opened_file(path: Path) -> FileIO:
    """Open a file of the spool to read and write, made if absent; no link is followed."""
    with _named_errors("file", path):
        try:
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
            new = True
        except FileExistsError:
            _check_file(path, path.lstat())  # first: opening a device may have effects
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
    """By its handle: no other file is changed, even if the name is replaced meanwhile."""
    if os.name != "posix":
        return
    _check_file(path, os.fstat(handle))
    owner = path.parent.lstat()
    if new and os.geteuid() == ROOT != owner.st_uid:  # else its collector could not open it
        os.fchown(handle, owner.st_uid, owner.st_gid)
    with suppress(PermissionError):  # it is root's: then root decides who may read it
        os.fchmod(handle, OWNER_ONLY)  # a copy that was restored may be open to all


def _check_file(path: Path, found: os.stat_result) -> None:
    """Its owner must be the current user, root, or, for root, the owner of the folder."""
    if not stat.S_ISREG(found.st_mode):
        kind = "a link" if stat.S_ISLNK(found.st_mode) else "not a regular file"
        raise _unsafe(path, "must be a regular file, not a link to one", f"it is {kind}")
    if os.name != "posix":
        return
    if found.st_nlink > 1:
        raise _unsafe(path, "must have one name only", f"it has {found.st_nlink} names")
    mine = os.geteuid() or path.parent.lstat().st_uid
    if found.st_uid not in (ROOT, mine):
        raise _strange(path, found.st_uid)


def _check_opened(path: Path) -> None:
    """Whether SQLite has opened this file and no other. Nothing has been written to it yet."""
    found = path.lstat()
    _check_file(path, found)
    if not OWN_HANDLES.is_dir():
        return
    for handle in OWN_HANDLES.iterdir():
        with suppress(OSError):  # the handle of this listing
            if os.path.samestat(os.stat(handle), found):
                return
    raise _unsafe(path, "must stay the same file while it is opened", "it was replaced")


def _strange(path: Path, owner: int) -> InvalidInput:
    rule = "must belong to the user who runs this, or to root"
    hint = f"it belongs to user {owner}: run this as that user, or use another folder"
    return InvalidInput("spool", rule, str(path), hint)


def _unsafe(path: Path, rule: str, why: str) -> InvalidInput:
    hint = f"{why}: find out who put it there, and restore the spool into a folder of its own"
    return InvalidInput("spool", rule, str(path), hint)


@contextmanager
def _named_errors(kind: str, path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        rule, why = f"must be a {kind} that can be written to", (error.strerror or "").lower()
        raise InvalidInput("spool", rule, str(path), why) from None


class Presence:
    """The files of a spool as they were when it was opened, and its journal since it exists."""

    def __init__(self, *files: Path) -> None:
        self._journal = Path(f"{files[0]}-wal")
        self._known = {path: _identity(path) for path in files}

    def check(self) -> None:
        """Raise an error if a name now leads to another file, or to none."""
        if self._journal not in self._known and (found := _identity(self._journal)) is not None:
            self._known[self._journal] = found
        for path, known in self._known.items():
            if known is None or _identity(path) != known:
                raise StoreUnavailable(
                    f"{path} was removed, moved or replaced while it was open: nothing more is"
                    " stored; put it back, or restart the collector with the right spool"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _damaged(path: Path, what: str) -> InvalidInput:
    hint = "restore it from a backup; do not release what is in it"
    return InvalidInput("spool", f"must be undamaged ({what})", str(path), hint)
