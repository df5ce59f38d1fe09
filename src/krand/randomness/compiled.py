"""The same kernels compiled by numba, if it is installed (extra `fast`) and worth loading.

Loading numba takes most of a second, more than the compiled loops save on small inputs, so they are
loaded only above LOAD_ABOVE bits. With the same random words they flip the same bits.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LOAD_ABOVE = 2**32
"""From this number of bits on, loading numba saves time; see benchmarks/randomizer.md."""


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


@dataclass(frozen=True, slots=True)
class Kernels:
    """The compiled loops."""

    look_up: Loop
    walk: Loop


_loaded: list[Kernels] = []


def kernels_for(bits: int) -> Kernels | None:
    """The compiled loops, if they are loaded or worth loading for this many bits.

    A job that works in chunks asks once, with its total size.
    """
    # The loops put eight patterns into one word, in one order of bytes.
    if not _loaded and bits >= LOAD_ABOVE and sys.byteorder == "little":
        loops = compiled(_look_up, _walk)
        if loops is not None:
            _loaded.append(Kernels(*loops))
    return _loaded[0] if _loaded else None


def _look_up(
    words: NDArray[np.uint16],
    cells: NDArray[np.uint8],
    leftover: int,
    mask: NDArray[np.uint64],
    late: NDArray[np.int64],
) -> int:
    """The patterns of eight words at a time; also lists the words that hit leftover cells."""
    found = 0
    for group in range(mask.size):
        patterns, hit = np.uint64(0), False
        for i in range(8):
            word = words[8 * group + i]
            patterns |= np.uint64(cells[word]) << np.uint64(8 * i)
            hit |= word >= leftover
        mask[group] = patterns
        if hit:
            for place in range(8 * group, 8 * group + 8):
                if words[place] >= leftover:
                    late[found] = place
                    found += 1
    return found


def _walk(
    gaps: NDArray[np.uint16], reach: int, start: int, end: int, row: NDArray[np.uint8]
) -> int:
    """Flip the bits at the ends of the gaps; return the last position reached."""
    at = start
    for gap in gaps:
        at += gap
        if gap < reach:
            if at >= end:
                break
            row[at >> 3] ^= 128 >> (at & 7)
            at += 1
    return at
