"""Compiles loops with numba, if it is installed (extra `fast`).

Loading numba takes most of a second, so it is loaded only if there is enough to do.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

__all__ = ["Loop", "compiled"]

Loop = Callable[..., Any]


def compiled(*loops: Loop) -> tuple[Loop, ...] | None:
    """The compiled loops, or None if numba is not installed; then numpy does the same work."""
    try:
        numba: Any = importlib.import_module("numba")
    except ImportError:
        return None
    return tuple(_compiled(numba, loop) for loop in loops)


def _compiled(numba: Any, loop: Loop) -> Loop:
    try:
        result: Loop = numba.njit(cache=True, nogil=True)(loop)
    except RuntimeError:  # no folder for compiled code: compile again in each process
        result = numba.njit(nogil=True)(loop)
    return result
