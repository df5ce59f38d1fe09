"""The counting loops compiled by numba, where it is installed (extra `fast`) and pays for itself.

They are loaded only above LOAD_ABOVE bytes, and count exactly what numpy counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.randomness.compiled import Loop, compiled

LOAD_ABOVE = 2**31
"""Bytes to count from which loading numba costs less than it saves; see benchmarks/analyzer.md."""

Words = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Kernels:
    """The compiled loops."""

    add_eights: Loop
    add_bits: Loop
    count_cells: Loop
    count_pairs: Loop


_loaded: list[Kernels] = []


def kernels_for(size: int) -> Kernels | None:
    """The compiled loops if they are loaded or worth loading for so many bytes in all.

    A job that works in chunks asks once at the start with its whole size.
    """
    if not _loaded and size >= LOAD_ABOVE:
        kernels = _compile()
        if kernels is not None:
            _loaded.append(kernels)
    return _loaded[0] if _loaded else None


def _compile() -> Kernels | None:
    loops = compiled(_add_eights, _add_bits, _count_cells, _count_pairs)
    return None if loops is None else Kernels(*loops)


def _add_eights(pieces: Words, sums: Words, carries: Words) -> None:
    """What `vertical._add_eights` does, with one look at every word."""
    for row in range(carries.shape[0]):
        eight, carry = pieces[8 * row : 8 * row + 8], carries[row]
        for i in range(carry.size):
            one, two, four = sums[0, i], sums[1, i], sums[2, i]
            odd = eight[0, i] ^ eight[1, i]
            twos_a = eight[0, i] & eight[1, i] | one & odd
            one ^= odd
            odd = eight[2, i] ^ eight[3, i]
            twos_b = eight[2, i] & eight[3, i] | one & odd
            one ^= odd
            odd = eight[4, i] ^ eight[5, i]
            twos_c = eight[4, i] & eight[5, i] | one & odd
            one ^= odd
            odd = eight[6, i] ^ eight[7, i]
            twos_d = eight[6, i] & eight[7, i] | one & odd
            one ^= odd
            odd = twos_a ^ twos_b
            fours_a = twos_a & twos_b | two & odd
            two ^= odd
            odd = twos_c ^ twos_d
            fours_b = twos_c & twos_d | two & odd
            two ^= odd
            odd = fours_a ^ fours_b
            sums[0, i], sums[1, i], sums[2, i] = one, two, four ^ odd
            carry[i] = fours_a & fours_b | four & odd


def _add_bits(rows: Words, bytewise: Words) -> None:
    """Add the rows up, each bit of a byte for itself: row k of the sums has a byte for each."""
    ones = np.uint64(0x0101010101010101)
    for row in range(rows.shape[0]):
        for bit in range(8):
            for i in range(rows.shape[1]):
                bytewise[bit, i] += rows[row, i] >> np.uint64(bit) & ones


def _count_cells(
    cells: NDArray[np.unsignedinteger[Any]], low: NDArray[np.uint8], into: NDArray[np.int64]
) -> bool:
    """Count in single bytes, of which more stay in the cache; a byte that is full spills over.

    Ends with False at a cell that is out of range.
    """
    for i in range(cells.size):
        cell = np.uint64(cells[i])
        if cell >= np.uint64(low.size):
            return False
        count = np.uint8(low[cell] + np.uint8(1))
        low[cell] = count
        if count == 0:
            into[cell] += 256
    return True


def _count_pairs(pairs: Words, bits: int, into: NDArray[np.int64]) -> bool:
    """Count pairs of cells of 32 bits in one table of both; False if one is not below 2^bits.

    Pairs come in rows of four, which are counted in one go.
    """
    shift, mask = np.uint64(32 - bits), np.uint64((1 << 2 * bits) - 1)
    seen = np.uint64(0)
    for i in range(pairs.shape[0]):
        a, b, c, d = pairs[i, 0], pairs[i, 1], pairs[i, 2], pairs[i, 3]
        seen |= a | b | c | d
        into[(a | a >> shift) & mask] += 1
        into[(b | b >> shift) & mask] += 1
        into[(c | c >> shift) & mask] += 1
        into[(d | d >> shift) & mask] += 1
    both = (seen | seen >> np.uint64(32)) & np.uint64(0xFFFFFFFF)
    return bool(both < np.uint64(1 << bits))
