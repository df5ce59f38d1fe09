"""How often each cell of a table occurs: run by run where cells are sorted, else one by one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.unsignedinteger[Any]]
Counts = NDArray[np.int64]
Edges = NDArray[np.intp]

LONG_RUNS = 16
"""Measured: cells that come this often in a row on average are counted by their edges."""
HEAD = 256
"""Cells that nearly always tell whether runs are long."""


def histogram(parts: Iterable[Cells], size: int) -> Counts:
    """Counts of the cells 0 to size - 1 in all parts; IndexError if another occurs."""
    counts = np.zeros(size, np.int64)
    for part in parts:
        runs = _long_runs(part)
        if runs is not None:
            first = part[runs]
            check_range(first, size)
            np.add.at(counts, first.astype(np.intp), np.diff(runs, append=part.size))
        else:
            check_range(part, size)
            counts += np.bincount(part.astype(np.intp, copy=False), minlength=size)
    return counts


def check_range(cells: Cells, size: int) -> None:
    """IndexError if a cell is out of range."""
    if cells.size and cells.max() >= size:
        raise IndexError(size)


def _edges(cells: Cells) -> Edges:
    """Where another cell begins than the one before."""
    return np.flatnonzero(cells[1:] != cells[:-1]) + 1


def _long_runs(cells: Cells) -> Edges | None:
    """Where runs begin, in files of a data holder, which are sorted; None if runs are short."""
    if not cells.size or LONG_RUNS * _edges(cells[:HEAD]).size > HEAD:
        return None
    edges = _edges(cells)
    return None if LONG_RUNS * edges.size > cells.size else np.append(0, edges)
