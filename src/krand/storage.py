"""What a party keeps: files that are whole or absent, keys that are destroyed, SQLite that survives
a kill. All of it is for its owner alone.

    keys/         identity, opening keys, id keys     never copied, never in a backup
    rounds/       what came and what leaves, by plan and round
"""

from __future__ import annotations

import os
import sqlite3
import stat
from pathlib import Path

from krand.errors import InvalidInput
from krand.files import OWNER_FOLDER, OWNER_ONLY, complete_file, sync_folder, unwritable
from krand.sqlite_files import connected, has_tables, make_private, make_tables

PIECE = 2**20
OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
WAIT_SECONDS = 30.0
"""How long a program waits for another one that has the file."""
CACHE_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# No backup: keys are destroyed here.\n"
"""Backup programs leave out a folder with a file CACHEDIR.TAG that begins like this."""
PRAGMAS = (
    "locking_mode = EXCLUSIVE",
    "journal_mode = TRUNCATE",
    "synchronous = FULL",
    "secure_delete = ON",
    "temp_store = MEMORY",  # else VACUUM writes a copy outside the folder
    "cache_size = -65536",
)


def make_folder(folder: Path, field: str = "folder") -> Path:
    """Make it and its parents, if they are absent; one that others may write to is refused.

    `field` names the option that asked for it.
    """
    missing = [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
    try:
        for path in reversed(missing):
            path.mkdir(mode=OWNER_FOLDER, exist_ok=True)
            sync_folder(path.parent)
        found = folder.lstat()
    except OSError as error:
        raise unwritable(field, folder, error) from None
    if not stat.S_ISDIR(found.st_mode):
        rule = "must be a folder, not a link to one"
        raise InvalidInput(field, rule, str(folder), f"name {folder.resolve()} itself")
    if os.name == "posix" and found.st_mode & OTHERS_WRITE:
        rule = "must be a folder that nobody else may write to"
        hint = f"check what is in it, then run chmod 700 {folder}"
        raise InvalidInput(field, rule, str(folder), hint)
    return folder


def key_folder(folder: Path, *below: str) -> Path:
    """The folder for keys of a party's folder, which backups leave out; or one below it."""
    keys = make_folder(folder / "keys")
    if not (keys / "CACHEDIR.TAG").exists():
        write(keys / "CACHEDIR.TAG", CACHE_TAG.encode("ascii"))
    return make_folder(keys.joinpath(*below))


def write(path: Path, content: bytes) -> None:
    """The whole file or none; an older one is replaced."""
    with complete_file("file", path, replace=True) as stream:
        os.chmod(stream.fileno(), OWNER_ONLY)  # before anything is in it
        stream.write(content)


def move(source: Path, target: Path) -> None:
    """Give a file that is on the disk another name, for good."""
    os.replace(source, target)
    sync_folder(target.parent)
    if source.parent != target.parent:
        sync_folder(source.parent)


def destroy(path: Path) -> None:
    """Overwrite a file, then forget its name; once more if that was interrupted."""
    try:
        stream = path.open("r+b", buffering=0)
    except FileNotFoundError:
        return
    with stream:
        left = stream.seek(0, os.SEEK_END)
        stream.seek(0)
        while left:
            left -= stream.write(bytes(min(left, PIECE)))
        os.fsync(stream.fileno())
    path.unlink()
    sync_folder(path.parent)


def database(path: Path, tables: str) -> sqlite3.Connection:
    """A connection whose commits are on the disk, and which overwrites what it deletes; the tables
    are made if the file is new."""
    make_private(path)
    sync_folder(path.parent)
    connection = connected(path, *PRAGMAS, seconds=WAIT_SECONDS, any_thread=True)
    try:
        if not has_tables(connection, "file"):
            make_tables(connection, tables)
    except BaseException:
        connection.close()
        raise
    return connection
