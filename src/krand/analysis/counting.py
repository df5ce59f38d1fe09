"""Count responses: plain functions that add what a chunk holds to the counts so far.

A chunk comes as an array (tokens, or records as `numpy.packbits` makes them) in any memory layout,
read-only or not. Nothing is added when a chunk is refused. Beyond the chunk they need some 40 MB
at most, however many responses it holds; chunks of 10 MB or more are counted fastest.

`count_bits` is where padding is checked: it counts the bits behind the last position along with
the others, so that costs nothing. The other functions leave them out.

Cells of a table are counted run by run where they are sorted, else one by one.

The bits of long records are counted without unpacking them: rows lie one after the other and are
read as words of 64 bits, which are added bit by bit: five operations turn three words of one weight
into one of that weight and one of twice that, for 64 columns at once. Eight words leave one word of
eight times the weight, so after a few rounds hardly anything is left to unpack. Harley and Seal
count the bits of an array in this way; here every column keeps its own count.

Any width will do: at the latest after `width` words a row begins at the edge of a word again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.tally import MAX_TABLE_BITS, Bits, Counts
from krand.errors import InvalidInput

Packed = NDArray[np.uint8]

PART, PART_BYTES = 2**21, 2**20
"""Tokens, and bytes of records, that are counted in a table at a time."""
CHUNK_BYTES, MOST_WIDTH = 2**25, 2**12
"""Bytes of records, and of each record, whose bits are counted at a time."""
SPARSE = 4
"""Measured: with more cells than this for every token, visiting the tokens' cells alone wins."""


def count_positions(tokens: NDArray[np.integer[Any]], into: Counts) -> None:
    """Add how often each position occurs; `into` has one count for every position."""
    _check_counts(into, into.size)
    if tokens.ndim != 1 or tokens.dtype.kind not in "iu":
        raise InvalidInput("tokens", "must be a row of whole numbers", _described(tokens))
    # Read without a sign, a negative token is out of range as well.
    cells = tokens.view(np.dtype(f"{tokens.dtype.byteorder}u{tokens.itemsize}"))
    try:
        _count_cells(cells, into)
    except IndexError:
        rule = f"must be a position from 0 to {into.size - 1:,}"
        raise InvalidInput("token", rule, int(tokens[np.argmax(cells >= into.size)])) from None


def count_bits(rows: Packed, bits: int, into: Counts) -> None:
    """Add how many rows have a 1 at each position, and refuse ones behind the last position."""
    width = _check_rows(rows, bits)
    _check_counts(into, bits)
    found = np.zeros(8 * width, np.int64)
    for left in range(0, width, MOST_WIDTH):
        right = min(left + MOST_WIDTH, width)
        step = CHUNK_BYTES // (right - left) // 8 * 8  # every chunk begins with a whole word
        for start in range(0, len(rows), step):
            part = np.ascontiguousarray(rows[start : start + step, left:right])
            found[8 * left : 8 * right] += column_sums(part.reshape(-1), right - left)
    if found[bits:].any():
        raise InvalidInput("vector", "must have zeros behind its last position", "a one")
    into += found[:bits]


def count_table(rows: Packed, bits: int, into: Counts) -> None:
    """Add how many rows are each of the 2^bits vectors, first bit highest; up to 16 bits."""
    _check_rows(rows, bits)
    _check_table_bits(bits)
    _check_counts(into, 1 << bits)
    parts = (_numbers(part, bits) for part in _parts(rows))
    into += histogram(parts, into.size)


def count_joint(rows: Packed, bits: Bits, into: Counts) -> None:
    """Add how many rows have each pattern of the chosen bits, the first of them highest."""
    if rows.ndim != 2 or rows.dtype != np.uint8:
        raise InvalidInput("rows", "must be packed records, a row each", _described(rows))
    _check_table_bits(len(bits))
    if len(set(bits)) < len(bits) or not all(0 <= bit < 8 * rows.shape[1] for bit in bits):
        rule = f"must be different positions below {8 * rows.shape[1]}"
        raise InvalidInput("joint", rule, bits)
    _check_counts(into, 1 << len(bits))
    parts = (_chosen(part, bits) for part in _parts(rows))
    into += histogram(parts, into.size)


def count_set_bits(rows: Packed, bits: int, into: Counts) -> None:
    """Add how many rows have 0, 1, … `bits` ones: T of draft 001 (3.3)."""
    width = _check_rows(rows, bits)
    _check_counts(into, bits + 1)
    parts = (_ones(part) for part in _parts(rows))
    # Padding that is not zero can make more ones than bits: that must not go beyond the end.
    found = histogram(parts, 8 * width + 1)
    if found[bits + 1 :].any():
        raise InvalidInput("vector", "must have zeros behind its last position", "a one")
    into += found[: bits + 1]


# --- from responses to cells ---------------------------------------------------------------------


def _count_cells(cells: Cells, into: Counts) -> None:
    if SPARSE * min(cells.size, PART) < into.size:
        check_range(cells, into.size)
        np.add.at(into, cells.astype(np.intp), 1)
    else:
        into += histogram(_parts(cells), into.size)


def _parts(responses: NDArray[Any]) -> Iterator[NDArray[Any]]:
    step = PART if responses.ndim == 1 else max(1, PART_BYTES // max(1, responses.shape[1]))
    return (responses[start : start + step] for start in range(0, len(responses), step))


def _numbers(rows: Packed, bits: int) -> Cells:
    if rows.shape[1] == 1:
        return rows[:, 0] >> np.uint8(8 - bits)
    high, low = rows[:, 0].astype(np.uint16), rows[:, 1]
    return (high << np.uint16(8) | low) >> np.uint16(16 - bits)


def _chosen(rows: Packed, bits: Bits) -> Cells:
    kind: Any = np.uint8 if len(bits) <= 8 else np.uint16
    columns = {byte: rows[:, byte].astype(kind) for byte in {bit // 8 for bit in bits}}
    cells: Cells = np.zeros(len(rows), kind)
    for bit in bits:
        cells <<= kind(1)
        cells |= columns[bit // 8] >> kind(7 - bit % 8) & kind(1)
    return cells


def _ones(rows: Packed) -> Cells:
    # Adding long columns is many times as fast as adding short rows.
    columns = np.ascontiguousarray(np.bitwise_count(rows).T)
    total = np.uint8 if 8 * len(columns) < 256 else np.uint32
    cells: Cells = np.add.reduce(columns, axis=0, dtype=total)
    return cells


# --- refusals ------------------------------------------------------------------------------------


def _check_rows(rows: Packed, bits: int) -> int:
    width = (bits + 7) // 8
    if rows.dtype != np.uint8 or rows.ndim != 2 or rows.shape[1] != width or bits < 1:
        rule = f"must be packed records of {bits} bits, a row each"
        raise InvalidInput("rows", rule, _described(rows))
    return width


def _check_table_bits(bits: int) -> None:
    if not 1 <= bits <= MAX_TABLE_BITS:
        raise InvalidInput("bits", f"must be 1 to {MAX_TABLE_BITS} for a full table", bits)


def _check_counts(into: Counts, size: int) -> None:
    if into.dtype != np.int64 or into.shape != (size,) or not into.flags.writeable:
        rule = f"must be {size} counts of type int64 that can be added to"
        raise InvalidInput("into", rule, _described(into))


def _described(array: NDArray[Any]) -> str:
    return f"{array.dtype.name} of shape {array.shape}"


Cells = NDArray[np.unsignedinteger[Any]]
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


Words = NDArray[np.uint64]

UNPACK_BELOW = 2**16
"""Bytes that are unpacked sooner than added up."""
MOST_PIECE, LEAST_PIECES = 2**16, 64
"""Measured: a piece outweighs the cost of a call, and a dozen of them stay in the cache."""
MOST_ADDED = 128
"""Bits that a byte can add up, as a power of two."""


def column_sums(flat: Packed, width: int) -> Counts:
    """How often each of the 8·width bits is set in contiguous rows of `width` bytes."""
    counts, weight = np.zeros(8 * width, np.int64), 1
    repeats = 8 * width // math.gcd(width, 8)
    while flat.size > max(UNPACK_BELOW, 8 * repeats):
        piece = _doubled(repeats, min(MOST_PIECE, flat.size // LEAST_PIECES))
        sums, carries = _compressed(flat, piece)
        for place, row in enumerate(sums):
            counts += (weight << place) * _unpacked_sums(width, repeats, row)
        flat, weight = carries.reshape(-1).view(np.uint8), 8 * weight
    rest = np.zeros(_doubled(repeats, 2 * flat.size), np.uint8)
    rest[: flat.size] = flat
    return counts + weight * _unpacked_sums(width, repeats, rest.view(np.uint64))


def _add_eights(pieces: Words, sums: Words, carries: Words) -> None:
    """Add pieces, eight at a time, to sums of weight 1, 2 and 4; what is carried weighs 8."""
    twos, fours, spare = (np.empty((2, sums.shape[1]), np.uint64) for _ in range(3))
    for row, eights in enumerate(carries):
        for half in range(2):
            ones = pieces[8 * row + 4 * half :]
            _full_add(sums[0], ones[0], ones[1], twos[0], spare)
            _full_add(sums[0], ones[2], ones[3], twos[1], spare)
            _full_add(sums[1], twos[0], twos[1], fours[half], spare)
        _full_add(sums[2], fours[0], fours[1], eights, spare)


def _full_add(total: Words, a: Words, b: Words, carry: Words, spare: Words) -> None:
    """total + a + b, in place, and what is carried."""
    odd, also = spare
    np.bitwise_xor(a, b, out=odd)
    np.bitwise_and(a, b, out=carry)
    np.bitwise_and(total, odd, out=also)
    np.bitwise_or(carry, also, out=carry)
    np.bitwise_xor(total, odd, out=total)


def _compressed(flat: Packed, piece: int) -> tuple[Words, Words]:
    """Sums of weight 1, 2 and 4, a piece each, and an eighth as many pieces of weight 8."""
    full, left = divmod(flat.size, 8 * piece)
    last = np.zeros(8 * piece if left else 0, np.uint8)
    last[:left] = flat[flat.size - left :]
    sums = np.zeros((3, piece // 8), np.uint64)
    carries = np.empty((full + (left > 0), piece // 8), np.uint64)
    _add_eights(_pieces(flat[: flat.size - left], piece), sums, carries[:full])
    _add_eights(_pieces(last, piece), sums, carries[full:])
    return sums, carries


def _pieces(flat: Packed, piece: int) -> Words:
    return np.require(flat.view(np.uint64), requirements="A").reshape(-1, piece // 8)


def _unpacked_sums(width: int, repeats: int, words: Words) -> Counts:
    """The same by unpacking; the words are `repeats` bytes, doubled a few times."""
    rows = words.reshape(min(MOST_ADDED, words.nbytes // repeats), -1)
    bits = np.unpackbits(rows.view(np.uint8), axis=1)
    added = np.add.reduce(bits, axis=0, dtype=np.uint8)
    counts: Counts = added.reshape(-1, 8 * width).sum(axis=0, dtype=np.int64)
    return counts


def _doubled(size: int, most: int) -> int:
    """The size, doubled as often as it fits."""
    return size << max(0, (most // size).bit_length() - 1)
