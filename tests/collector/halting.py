"""A process that dies at the n-th system call that changes a file, or whose disk turns read-only.

The kernel holds every such call of a child (a seccomp filter with a listener), and a guard, a
process of its own, lets it go on, refuses it or kills the child. So a fault hits between any two
calls, also those that SQLite and Arrow make, without strace and without a compiler. A filter
without a guard makes disks that fail: the kernel refuses to sync, for as long as a thread lives.
"""

from __future__ import annotations

import ctypes
import errno
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
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")

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
        "openat": 257,
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
        "openat": 56,
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
HARMLESS = ("fsync", "fdatasync")
"""They succeed where nothing can be written."""
TO_WRITE = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
NO_NEW_PRIVILEGES, SET_FILTER, NEW_LISTENER = 38, 1, 8
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, NOTIFY, ERROR = 0x7FFF0000, 0x7FC00000, 0x00050000
RECEIVE, SEND = 0xC0502100, 0xC0182101
CONTINUE = 1
NOTICE = struct.Struct("=QIIiIQ6Q")
"""Of the kernel: id, process, flags; number of the call, machine, place, six arguments."""
ANSWER = struct.Struct("=QqiI")
PATIENCE = 300.0


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.c_char_p))


def require_held_calls() -> None:
    """Skip the test where the kernel does not hold system calls for others."""
    if sys.platform != "linux" or platform.machine() not in NUMBERS:
        pytest.skip(f"no held system calls on {sys.platform}, {platform.machine()}")


@dataclass(frozen=True)
class Faults:
    """What happens to calls that change something below a folder."""

    under: str
    note: str = ""
    """Where the guard writes down the calls that it has let go on."""
    stop_at: int = 0
    """The n-th call is the last one; 0 is none."""
    refuse_from: int = 0
    """From the n-th call on the file system is read-only."""
    refuse_while: str = ""
    """The file system is read-only as long as this file exists."""


def guard_writes(faults: Faults) -> None:
    """From now on a guard watches this process and all its threads."""
    ours, theirs = socket.socketpair()
    child = os.getpid()
    if os.fork() == 0:
        ours.close()
        _Guard(child, faults).live(theirs)
    theirs.close()
    numbers = [number for name, number in _numbers().items() if name != "seccomp"]
    listener = _filter(numbers, NOTIFY, NEW_LISTENER)
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


def _filter(calls: Sequence[int], verdict: int, flags: int = 0) -> int:
    """Let the kernel give this verdict on each of these calls; what installing the filter gave."""
    steps = [struct.pack("=HBBI", LOAD, 0, 0, 0)]
    for place, number in enumerate(calls):
        steps.append(struct.pack("=HBBI", IF_EQUAL, len(calls) - place, 0, number))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, ALLOW))
    steps.append(struct.pack("=HBBI", RETURN, 0, 0, verdict))
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), b"".join(steps))
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    number = _numbers()["seccomp"]
    found: int = libc.syscall(number, SET_FILTER, flags, ctypes.byref(program))
    if found < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    return found


def fail_syncs() -> None:
    """From now on no sync of this thread succeeds.

    It cannot be taken back, but whoever works in another thread finds the disk mended.
    """
    _filter([_numbers()[name] for name in HARMLESS], ERROR | errno.EIO)


def while_syncs_fail(work: Callable[[], T]) -> T:
    """Do something in a thread of its own in which no sync succeeds."""
    with ThreadPoolExecutor(1, initializer=fail_syncs) as thread:
        return thread.submit(work).result()


class _Guard:
    """Answers the kernel for each call that it holds."""

    def __init__(self, child: int, faults: Faults) -> None:
        self._child, self._faults = child, faults
        self._held: list[Held] = []
        self._names = {number: name for name, number in _numbers().items()}

    def live(self, theirs: socket.socket) -> None:
        """The guard's whole life: it ends when the child has ended."""
        try:
            _, (listener, *_), *_ = socket.recv_fds(theirs, 1, 1)
            waiting = select.poll()
            waiting.register(listener, select.POLLIN)
            while any(event & select.POLLIN for _, event in waiting.poll()):
                with suppress(OSError):  # the child is gone meanwhile
                    self._answer(listener)
        finally:
            if self._faults.note:
                Path(self._faults.note).write_text(json.dumps(self._held), encoding="utf-8")
            os._exit(0)

    def _answer(self, listener: int) -> None:
        notice = bytearray(NOTICE.size)
        fcntl.ioctl(listener, RECEIVE, notice)
        call, _, _, number, *rest = NOTICE.unpack(notice)
        verdict = self._verdict(self._names[number], rest[2:])
        answer = (call, 0, verdict, 0) if verdict else (call, 0, 0, CONTINUE)
        fcntl.ioctl(listener, SEND, bytearray(ANSWER.pack(*answer)))

    def _verdict(self, name: str, arguments: Sequence[int]) -> int:
        """0 to go on, or an error."""
        faults, found = self._faults, _changed(self._child, name, arguments)
        if found is None or not found[1].startswith(faults.under):
            return 0
        if len(self._held) + 1 == faults.stop_at:
            os.kill(self._child, signal.SIGKILL)
        self._held.append(found)
        late = 0 < faults.refuse_from <= len(self._held)
        now = bool(faults.refuse_while) and os.path.exists(faults.refuse_while)
        return -errno.EROFS if (late or now) and name not in HARMLESS else 0


def _changed(child: int, name: str, arguments: Sequence[int]) -> Held | None:
    """The call and its file; of a path beside a handle, the folder; None if nothing changes."""
    if name == "openat" and not arguments[2] & TO_WRITE:
        return None
    if name in BY_HANDLE or name in ("unlinkat", "mkdirat", "openat"):
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
