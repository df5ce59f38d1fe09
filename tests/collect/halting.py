"""A process that dies at the n-th system call that changes a file, and a list of those calls.

The kernel holds every such call of a child (a seccomp filter with a listener), and a guard, a
process of its own, lets it go on or kills the child. So a kill hits between any two calls, also
those that SQLite and Arrow make, without strace and without a compiler.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import select
import signal
import socket
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

__all__ = ["Held", "calls_noted", "guard_writes", "require_held_calls", "spread_over"]

Held = tuple[str, str]
"""A call's name, and the file that it changes, where the call names it by a handle."""

NUMBERS: dict[str, dict[str, int]] = {
    "x86_64": {
        "write": 1,
        "pwrite64": 18,
        "writev": 20,
        "fsync": 74,
        "fdatasync": 75,
        "ftruncate": 77,
        "rename": 82,
        "mkdir": 83,
        "link": 86,
        "unlink": 87,
        "mkdirat": 258,
        "unlinkat": 263,
        "renameat": 264,
        "linkat": 265,
        "fallocate": 285,
        "pwritev": 296,
        "renameat2": 316,
        "seccomp": 317,
    },
    "aarch64": {
        "mkdirat": 34,
        "unlinkat": 35,
        "linkat": 37,
        "renameat": 38,
        "ftruncate": 46,
        "fallocate": 47,
        "write": 64,
        "writev": 66,
        "pwrite64": 68,
        "pwritev": 70,
        "fsync": 82,
        "fdatasync": 83,
        "renameat2": 276,
        "seccomp": 277,
    },
}
BY_HANDLE = (
    *("write", "pwrite64", "writev", "pwritev"),
    *("fsync", "fdatasync", "ftruncate", "fallocate"),
)
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 8
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, NOTIFY = 0x7FFF0000, 0x7FC00000
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
NOTICE = struct.Struct("=QIIiIQ6Q")
"""Of the kernel: id, process, flags; number of the call, machine, place, six arguments."""
ANSWER = struct.Struct("=QqiI")


PATIENCE = 60.0


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.c_char_p))


def require_held_calls() -> None:
    """Skip the test where the kernel does not hold system calls for others."""
    if sys.platform != "linux" or platform.machine() not in NUMBERS:
        pytest.skip(f"no held system calls on {sys.platform}, {platform.machine()}")


def guard_writes(under: str, stop_at: int, note: str) -> None:
    """From now on this process dies at the n-th change below a folder; 0: it lives.

    The guard writes the calls that it has let go on, and what they changed, into `note`.
    """
    ours, theirs = socket.socketpair()
    child = os.getpid()
    if os.fork() == 0:
        ours.close()
        _guard(theirs, child, under, stop_at, Path(note))
    theirs.close()
    listener = _hold([n for name, n in _numbers().items() if name != "seccomp"])
    socket.send_fds(ours, [b"x"], [listener])
    os.close(listener)
    ours.close()


def calls_noted(note: Path) -> list[Held]:
    """What a guard has written down; it ends a little later than its child."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with suppress(OSError, ValueError):
            return [(name, path) for name, path in json.loads(note.read_bytes())]
        time.sleep(0.01)
    raise AssertionError("the guard has written nothing")


def spread_over(first: int, last: int, count: int) -> list[int]:
    """So many numbers, evenly from the first to the last; each several times if they are few."""
    numbers = range(first, last + 1)
    if count < len(numbers):
        return [numbers[n * (len(numbers) - 1) // max(1, count - 1)] for n in range(count)]
    return [number for number in numbers for _ in range(count // len(numbers))]


def _numbers() -> dict[str, int]:
    return NUMBERS[platform.machine()]


def _hold(calls: Sequence[int]) -> int:
    """Let the kernel ask before each of these calls of this process; where it asks."""
    steps = [struct.pack("=HBBI", LOAD, 0, 0, 0)]
    for place, number in enumerate(calls):
        steps.append(struct.pack("=HBBI", IF_EQUAL, len(calls) - place, 0, number))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, ALLOW))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, NOTIFY))
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), b"".join(steps))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    number = _numbers()["seccomp"]
    listener: int = libc.syscall(number, SET_FILTER, NEW_LISTENER, ctypes.byref(program))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return listener


def _guard(theirs: socket.socket, child: int, under: str, stop_at: int, note: Path) -> None:
    """The guard's whole life: it ends when the child has ended."""
    held: list[Held] = []
    try:
        _, (listener, *_), *_ = socket.recv_fds(theirs, 1, 1)
        names = {number: name for name, number in _numbers().items()}
        waiting = select.poll()
        waiting.register(listener, select.POLLIN)
        while any(event & select.POLLIN for _, event in waiting.poll()):
            notice = bytearray(NOTICE.size)
            try:
                fcntl.ioctl(listener, RECEIVE, notice)
            except OSError:  # the child is gone meanwhile
                continue
            call, _, _, number, *rest = NOTICE.unpack(notice)
            found = _changed(child, names[number], rest)
            if found is not None and found[1].startswith(under):
                if len(held) + 1 == stop_at:
                    os.kill(child, signal.SIGKILL)
                    break
                held.append(found)
            try:
                fcntl.ioctl(listener, SEND, bytearray(ANSWER.pack(call, 0, 0, CONTINUE)))
            except OSError:
                continue
    finally:
        note.write_text(json.dumps(held), encoding="utf-8")
        os._exit(0)


def _changed(child: int, name: str, rest: Sequence[int]) -> Held | None:
    """The call and its file; of a call that names a path, the folder where it begins to look."""
    arguments = rest[2:]
    if name in BY_HANDLE or name in ("unlinkat", "mkdirat"):
        handle = arguments[0]
    elif name in ("linkat", "renameat", "renameat2"):
        handle = arguments[2]
    else:  # a path alone
        handle = _HERE
    if handle & 0xFFFFFFFF == _HERE:
        return name, _path(child, arguments, name)
    try:
        return name, os.readlink(f"/proc/{child}/fd/{handle & 0xFFFFFFFF}")
    except OSError:
        return None


_HERE = 0xFFFFFF9C
"""AT_FDCWD: a path that is not beside a handle."""


def _path(child: int, arguments: Sequence[int], name: str) -> str:
    """The path that is changed, read from the child's memory."""
    places = {"linkat": 3, "renameat": 3, "renameat2": 3, "link": 1, "rename": 1}
    place = places.get(name, 1 if name.endswith("at") else 0)
    with open(f"/proc/{child}/mem", "rb") as memory:
        memory.seek(arguments[place])
        content = memory.read(1)
        while not content.endswith(b"\0"):
            content += memory.read(1)
    path = os.fsdecode(content[:-1])
    return path if os.path.isabs(path) else os.path.join(os.readlink(f"/proc/{child}/cwd"), path)
