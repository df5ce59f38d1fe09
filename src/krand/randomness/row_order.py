"""A uniform order of many rows at once, faster than sorting.

A random byte puts each row into one of 256 buckets. Each bucket, which fits into the cache, is then
shuffled by Fisher and Yates' method: row i changes places with a row drawn uniformly from the first
i+1. A random bucket for each row and a random order within each bucket is a uniform order of all
rows. Draws use Lemire's method: a product of a random word and i+1, drawn again if it would be
biased. The loops are compiled if numba is installed and there is enough to do; otherwise keys are
sorted.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.randomness.compiled import Loop, compiled
from krand.randomness.generator import SecureRandom, stuck

LOAD_ABOVE = 2**22
"""From this number of rows on, loading numba saves time."""
MOST_MOVED = 16
"""Rows up to this many bytes are moved several times instead of being looked up once."""
MORE_WORDS = 64
"""Additional random words besides one for each row: few are drawn again."""

Rows = NDArray[np.uint8]


def shuffled_rows(rows: Rows, random: SecureRandom) -> Rows:
    """A copy of the rows in uniform random order."""
    loops = _loops() if len(rows) >= LOAD_ABOVE else None
    if loops is None:
        return random.shuffled(rows)
    if rows.shape[1] <= MOST_MOVED:
        return _compiled_shuffle(np.ascontiguousarray(rows), random, *loops)
    # Wide rows are moved once: their numbers are shuffled instead.
    numbers = np.arange(len(rows), dtype=np.uint32).view(np.uint8).reshape(-1, 4)
    order = _compiled_shuffle(numbers, random, *loops).view(np.uint32).reshape(-1)
    return rows.take(order, axis=0)


@cache
def _loops() -> tuple[Loop, ...] | None:
    return compiled(_scatter, _fisher_yates)


def _compiled_shuffle(rows: Rows, random: SecureRandom, scatter: Loop, exchange: Loop) -> Rows:
    chosen = random.words(len(rows), np.uint8)
    sizes = np.bincount(chosen, minlength=256)
    ends = np.cumsum(sizes)
    mixed = np.empty_like(rows)
    scatter(rows, chosen, ends - sizes, mixed)
    for start, end in zip(ends - sizes, ends, strict=True):
        bucket, left = mixed[start:end], int(end - start)
        while left > 1:
            before = left
            left = exchange(bucket, left, random.words(left + MORE_WORDS, np.uint32))
            if left == before:  # more than MORE_WORDS in a row, each with a chance below 1/2
                raise stuck()
    return mixed


def _scatter(rows: Rows, chosen: Rows, starts: NDArray[Any], into: Rows) -> None:
    """Move each row to the next free place of its bucket."""
    free = starts.copy()
    width = rows.shape[1]
    for place in range(rows.shape[0]):
        to = free[chosen[place]]
        free[chosen[place]] = to + 1
        for byte in range(width):
            into[to, byte] = rows[place, byte]


def _fisher_yates(rows: Rows, left: int, words: NDArray[np.uint32]) -> int:
    """Settle the last rows of the first `left`; how many are not yet settled when words run out."""
    width, used = rows.shape[1], 0
    while left > 1:
        low = np.uint64(0)
        product = np.uint64(0)
        bound = np.uint64(left)
        threshold = np.uint64(4294967296) % bound
        while True:
            if used == words.size:
                return left
            product = np.uint64(words[used]) * bound
            used += 1
            low = product & np.uint64(4294967295)
            if low >= threshold:
                break
        other = np.int64(product >> np.uint64(32))
        last = left - 1
        for byte in range(width):
            kept = rows[last, byte]
            rows[last, byte] = rows[other, byte]
            rows[other, byte] = kept
        left -= 1
    return left
