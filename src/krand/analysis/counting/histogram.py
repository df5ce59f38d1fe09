"""How often each cell of a table occurs: run by run where cells are sorted, else one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.counting.compiled import Kernels

Cells = NDArray[np.unsignedinteger[Any]]
Counts = NDArray[np.int64]
Edges = NDArray[np.intp]

PAIRS_UP_TO = 64
"""Cells of which a table of all pairs stays in the fastest cache."""
LONG_RUNS = 16
"""Measured: cells that come this often in a row on average are counted by their edges."""
HEAD = 256
"""Cells that nearly always tell whether runs are long."""


def histogram(parts: Iterable[Cells], size: int, kernels: Kernels | None) -> Counts:
    """Counts of the cells 0 to size - 1 in all parts; IndexError if another occurs."""
    counts, low = np.zeros(size, np.int64), np.zeros(size, np.uint8)
    for part in parts:
        runs = _long_runs(part)
        if runs is not None:
            first = part[runs]
            check_range(first, size)
            np.add.at(counts, first.astype(np.intp), np.diff(runs, append=part.size))
        elif kernels is None:
            check_range(part, size)
            counts += np.bincount(part.astype(np.intp, copy=False), minlength=size)
        elif size <= PAIRS_UP_TO and part.itemsize == 4:
            counts += _pairwise(part, size, kernels)
        elif not kernels.count_cells(_plain(part), low, counts):
            raise IndexError(size)
    counts += low
    return counts


def check_range(cells: Cells, size: int) -> None:
    """IndexError if a cell is out of range."""
    if cells.size and cells.max() >= size:
        raise IndexError(size)


def _pairwise(cells: Cells, size: int, kernels: Kernels) -> Counts:
    """Two cells of 32 bits in one step: count the pairs, then add up both their sides."""
    bits, whole = (size - 1).bit_length(), cells.size // 8 * 8
    pairs = np.zeros((1 << bits, 1 << bits), np.int64)
    words = _plain(_plain(cells[:whole]).view(np.uint64)).reshape(-1, 4)
    small = kernels.count_pairs(words, bits, pairs.reshape(-1))
    counts: Counts = pairs.sum(axis=0) + pairs.sum(axis=1)
    if not small or counts[size:].any():
        raise IndexError(size)
    check_range(cells[whole:], size)
    return counts[:size] + np.bincount(cells[whole:], minlength=size)


def _edges(cells: Cells) -> Edges:
    """Where another cell begins than the one before."""
    return np.flatnonzero(cells[1:] != cells[:-1]) + 1


def _long_runs(cells: Cells) -> Edges | None:
    """Where runs begin, in files of a data holder, which are sorted; None if runs are short."""
    if not cells.size or LONG_RUNS * _edges(cells[:HEAD]).size > HEAD:
        return None
    edges = _edges(cells)
    return None if LONG_RUNS * edges.size > cells.size else np.append(0, edges)


def _plain(cells: NDArray[Any]) -> NDArray[Any]:
    """As the compiled loops want it: contiguous, aligned, in this machine's order of bytes."""
    plain = np.require(cells, cells.dtype.newbyteorder("="), ["C", "A"]).view()
    plain.flags.writeable = False  # one compiled loop for all, as Arrow's memory is read-only
    return plain
