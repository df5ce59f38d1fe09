"""Flips each bit of packed answers with probability exactly q = a/2^32.

Three methods with the same distribution, chosen only by speed (benchmarks/randomizing.md):

- q large: one random word decides eight flips. A pattern with w flips has mass q^w(1-q)^(8-w),
  a whole number over 2^256, so an exact table draws it.
- q small: walk from flip to flip (`sparse`), and touch no other bit.
- q tiny: draw the number of flips and their positions (`sparse`).

The work is done in chunks: memory beyond the result does not grow with the input.
"""

from __future__ import annotations

from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.promise import NOISE_GRID
from krand.randomness.finite_law import ExactTable, exact_table
from krand.randomness.generator import SecureRandom
from krand.randomness.sparse import check_numerator, flipped_positions

Packed = NDArray[np.uint8]

GRID_BITS = NOISE_GRID.bit_length() - 1
TABLE_FROM = NOISE_GRID * 2 // 100
"""Measured: the table takes the same time for every q; the time of the walk grows with q."""
TABLE_CHUNK = 2**18
"""Bytes at a time: enough to make the fixed cost of a chunk small."""
WALK_CHUNK_BITS = 2**24
WALK_CHUNK_FLIPS = 2**15
"""Small enough that the walk of a chunk is drawn at once."""


def flip_packed(
    packed: Packed, numerator: int, random: SecureRandom, *, bits: int | None = None
) -> Packed:
    """A copy with every bit flipped with probability numerator/2^32, independently.

    Rows are along the last axis, first bit highest, as in `numpy.packbits`. If `bits` per row is
    given, the padding after them stays 0.
    """
    check_numerator(numerator)
    if packed.dtype != np.uint8:
        raise InvalidInput("packed", "must be an array of uint8", packed.dtype.name)
    if bits is not None and packed.shape[-1:] != ((bits + 7) // 8,):
        raise InvalidInput("bits", "must fill the rows' bytes", (bits, packed.shape))
    flat = np.ascontiguousarray(packed).reshape(-1)
    if numerator >= TABLE_FROM:
        flipped = _by_table(flat, pattern_table(numerator), random)
    else:
        flipped = _by_positions(flat, numerator, random)
    flipped = flipped.reshape(packed.shape)
    if bits is not None and bits % 8:
        flipped[..., -1] &= 0xFF << (8 - bits % 8) & 0xFF
    return flipped


@lru_cache(maxsize=64)
def pattern_table(numerator: int) -> ExactTable:
    """The table of the eight flips of a byte."""
    return exact_table(partial(_pattern_law, numerator), 8 * GRID_BITS, np.uint8)


def _pattern_law(numerator: int) -> list[int]:
    """The mass of every byte, over 2^256: q for each flipped bit, 1-q for each other one."""
    keep = NOISE_GRID - numerator
    weighted = [numerator**w * keep ** (8 - w) for w in range(9)]
    return [weighted[pattern.bit_count()] for pattern in range(256)]


def _by_table(flat: Packed, table: ExactTable, random: SecureRandom) -> Packed:
    flipped = np.empty_like(flat)
    for start in range(0, flat.size, TABLE_CHUNK):
        source, target = (part[start : start + TABLE_CHUNK] for part in (flat, flipped))
        np.bitwise_xor(source, table.draw(source.size, random), out=target)
    return flipped


def _by_positions(flat: Packed, numerator: int, random: SecureRandom) -> Packed:
    flipped = flat.copy()
    for chunk in _walk_chunks(flipped, numerator):
        at = flipped_positions(8 * chunk.size, numerator, random)
        place, bit = at >> 3, np.uint8(128) >> (at & 7).astype(np.uint8)
        # Set bits are taken away and clear ones added, each position once: the sum in a byte is
        # the XOR. `add.at` is eight times as fast as `bitwise_xor.at`.
        np.add.at(chunk, place, bit - 2 * (chunk[place] & bit))
    return flipped


def _walk_chunks(flat: Packed, numerator: int) -> list[Packed]:
    """Views that are small enough for the positions of their flips to need little memory."""
    size = min(WALK_CHUNK_BITS, WALK_CHUNK_FLIPS * NOISE_GRID // numerator) // 8
    return [flat[start : start + size] for start in range(0, flat.size, size)]
