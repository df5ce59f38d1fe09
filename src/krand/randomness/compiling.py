"""Loops compiled by numba, where it is installed (extra `fast`).

Loading numba takes most of a second, so nobody loads it before there is enough to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["Loop", "compiled"]

Loop = Callable[..., Any]


def compiled(*loops: Loop) -> tuple[Loop, ...] | None:
    """The loops compiled, or None where numba is not installed and numpy does the same work."""
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return None
    return tuple(_compiled(numba, loop) for loop in loops)


def _compiled(numba: Any, loop: Loop) -> Loop:
    try:
        result: Loop = numba.njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # nowhere to keep compiled code: compile again in every process
        result = numba.njit(nogil=True)(loop)
    return result
