"""Walls around a process that needs few files and no network: Landlock, where the system has it."""

from __future__ import annotations

import ctypes
import os
import resource
import struct
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Calls of the system, numbered alike on every processor."""
BENEATH_PATH, ASK_VERSION = 1, 1
DUMPABLE, NO_NEW_PRIVS = 4, 38
EXECUTE, WRITE_FILE, READ_FILE, READ_FOLDER, TRUNCATE = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 14
READ, OF_A_FILE = EXECUTE | READ_FILE | READ_FOLDER, EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
TCP, SCOPES = 3, 3
"""Binding and connecting; abstract sockets and signals."""
RIGHTS = (13, 14, 15, 15, 16, 16)
"""How many rights over files each version of Landlock knows."""
SIZES = (8, 8, 8, 16, 16, 24)
"""Of what describes a set of rules: files, from version 4 on TCP, from version 6 on scopes."""
ALWAYS = ("/dev/null", "/dev/urandom")


def has_walls() -> bool:
    """Whether the system has them: Linux from 5.13 on, unless a container forbids it."""
    return _version() > 0


def confine(read: Iterable[Path] = (), write: Iterable[Path] = ()) -> bool:
    """From now on this process reads these paths and Python's own, writes those, connects nowhere.

    No other process of the user can look into its memory, and no core dump is left of it. False
    where the system has no walls.
    """
    with suppress(OSError):  # not every service may; then the system has set it
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform != "linux":
        return False
    libc = _libc()
    libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.prctl(DUMPABLE, 0, 0, 0, 0)
    version = _version()
    if not version:
        return False
    rights = (1 << RIGHTS[version - 1]) - 1
    handled = struct.pack("QQQ", rights, TCP, SCOPES)[: SIZES[version - 1]]
    rules = _done(libc.syscall(CREATE_RULESET, handled, len(handled), 0))
    for path, access in _allowed(read, write, rights):
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
        own = rights & access if os.path.isdir(path) else rights & access & OF_A_FILE
        _done(libc.syscall(ADD_RULE, rules, BENEATH_PATH, struct.pack("=Qi", own, handle), 0))
        os.close(handle)
    _done(libc.syscall(RESTRICT_SELF, rules, 0))
    os.close(rules)
    return True


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _version() -> int:
    """Of Landlock, as far as it is known here; 0 for none."""
    if sys.platform != "linux":
        return 0
    found = int(_libc().syscall(CREATE_RULESET, None, 0, ASK_VERSION))
    return max(0, min(found, len(SIZES)))


def _allowed(read: Iterable[Path], write: Iterable[Path], rights: int) -> list[tuple[str, int]]:
    python = {sys.prefix, sys.base_prefix, *sys.path, "/usr/lib", "/lib", "/lib64"}
    found = [(path, READ) for path in python if path]
    found += [(path, READ | WRITE_FILE) for path in ALWAYS]
    found += [(str(path), READ) for path in read]
    found += [(str(path), rights) for path in write]
    return [(path, access) for path, access in found if os.path.exists(path)]


def _done(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "Landlock")
    return result
