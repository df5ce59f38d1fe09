"""How many rows have a 1 in each column, without unpacking the rows.

Rows lie one after the other and are read as words of 64 bits, which are added bit by bit: five
operations turn three words of one weight into one of that weight and one of twice that, for 64
columns at once. Eight words leave one word of eight times the weight, so after a few rounds hardly
anything is left to unpack. Harley and Seal count the bits of an array in this way; here every
column keeps its own count.

Any width will do: at the latest after `width` words a row begins at the edge of a word again.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Packed = NDArray[np.uint8]
Words = NDArray[np.uint64]
Counts = NDArray[np.int64]

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
