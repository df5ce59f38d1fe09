"""Disks that fail: the kernel refuses to sync, for one thread, for as long as that thread lives.

A filter of system calls (seccomp) needs neither a compiler nor another package, and what fails is
the call itself, wherever it is made from. It cannot be taken back, but a filter belongs to a
thread, so whoever works in another thread finds the disk mended.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

import pytest

__all__ = ["fail_syncs", "require_failing_syncs", "while_syncs_fail"]

T = TypeVar("T")

SYNCS = {"x86_64": (74, 75), "aarch64": (82, 83)}
"""The numbers of fsync and fdatasync."""
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 38, 22, 2
LOAD, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000


class _Step(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("steps", ctypes.POINTER(_Step)))


def require_failing_syncs() -> None:
    """Skip the test where system calls cannot be made to fail."""
    if sys.platform != "linux" or platform.machine() not in SYNCS:
        pytest.skip(f"no failing syncs on {sys.platform}, {platform.machine()}")


def fail_syncs() -> None:
    """From now on no sync of this thread succeeds."""
    sync, data_sync = SYNCS[platform.machine()]
    steps = (_Step * 5)(
        _Step(LOAD, 0, 0, 0),  # the number of the call
        _Step(IF_EQUAL, 2, 0, sync),
        _Step(IF_EQUAL, 1, 0, data_sync),
        _Step(RETURN, 0, 0, ALLOW),
        _Step(RETURN, 0, 0, ERROR | errno.EIO),
    )
    libc = ctypes.CDLL(None, use_errno=True)
    program = _Program(len(steps), steps)
    if libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(
        SET_SECCOMP, FILTER, ctypes.byref(program), 0, 0
    ):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def while_syncs_fail(work: Callable[[], T]) -> T:
    """Do something in a thread of its own in which no sync succeeds."""
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            fail_syncs()
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]
