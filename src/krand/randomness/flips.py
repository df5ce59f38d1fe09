"""Flips each bit of packed answers with probability exactly q = a/2^32, whatever q is.

One random word of 16 bits decides eight flips. A pattern of eight flips of which w happen has the
mass a^w · (2^32-a)^(8-w), a whole number; the masses of all 256 patterns add up to 2^256. Of the
65,536 words a pattern owns as many as fit into its mass: floor(mass / 2^240). What the floors cut
off, its *piece*, adds up to the *leftover* words, which no pattern owns and which are last.

A leftover word is the beginning of a number V of 256 bits, counted from the first leftover word.
More random bits are its other digits, and V chooses among the pieces, laid end to end: pattern j if
bound[j-1] ≤ V < bound[j]. Words and piece together are the pattern's mass, so each pattern has
exactly its probability; no floating-point number is involved. The first 64 digits of V are compared
at once. They decide unless they equal those of a bound, which happens about once in 2^40 words;
then all digits are drawn.

The work is done in chunks: memory beyond the result does not grow with the input.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.promise import NOISE_GRID
from krand.randomness.generator import SecureRandom

Packed = NDArray[np.uint8]

WORDS = 2**16
WORD_MASS = 2**240
"""Of the whole mass 2^256 so much falls to each word."""
KEY_DIGITS, OTHER_DIGITS = 64, 192
"""Of V, those that are compared first, and the others."""
CHUNK = 2**16
"""Bytes at a time: enough to make the fixed cost of a chunk small, few enough for the cache."""


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
    table, source = _table(numerator), np.ascontiguousarray(packed).reshape(-1)
    flat = np.empty_like(source)
    for start in range(0, flat.size, CHUNK):
        part = flat[start : start + CHUNK]
        table.draw(part, random)
        part ^= source[start : start + CHUNK]
    flipped = flat.reshape(packed.shape)
    if bits is not None and bits % 8:
        flipped[..., -1] &= 0xFF << (8 - bits % 8) & 0xFF
    return flipped


def check_numerator(numerator: int) -> None:
    """A noise level a/2^32 below one half; otherwise an error."""
    whole = isinstance(numerator, int) and not isinstance(numerator, bool)
    if not whole or not 0 < numerator < NOISE_GRID // 2:
        raise InvalidInput("numerator", "must be a whole number from 1 to 2^31 - 1", numerator)


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    """The law of eight flips."""

    patterns: Packed
    """The pattern that owns a word, for every word below `leftover`."""
    leftover: int
    """The first word that no pattern owns."""
    bounds: tuple[int, ...]
    """Where the pieces end when they are laid end to end."""
    keys: NDArray[np.uint64]
    """Their first 64 digits. The last one is above every V: a search ends at a pattern."""

    def draw(self, into: Packed, random: SecureRandom) -> None:
        """Independent patterns."""
        words = random.words(into.size, np.uint16)
        self.patterns.take(words, out=into, mode="wrap")  # "raise" would copy; no word is outside
        late = np.flatnonzero(words > np.uint16(self.leftover - 1))
        if late.size:
            into[late] = self._of_leftover(words[late], random)

    def _of_leftover(self, words: NDArray[np.uint16], random: SecureRandom) -> NDArray[np.int64]:
        first = (words.astype(np.uint64) - np.uint64(self.leftover)) << np.uint64(48)
        keys = first | random.words(words.size, np.uint64) >> np.uint64(16)
        found = np.searchsorted(self.keys, keys).astype(np.int64)
        for place in np.flatnonzero(self.keys[found] == keys).tolist():
            value = int(keys[place]) << OTHER_DIGITS | random.below(2**OTHER_DIGITS)
            found[place] = bisect_right(self.bounds, value)
        return found


@lru_cache(maxsize=64)
def _table(numerator: int) -> _Table:
    weights = [numerator**w * (NOISE_GRID - numerator) ** (8 - w) for w in range(9)]
    masses = [weights[pattern.bit_count()] for pattern in range(256)]
    owned = np.repeat(np.arange(256, dtype=np.uint8), [mass // WORD_MASS for mass in masses])
    patterns = np.zeros(WORDS, np.uint8)
    patterns[: owned.size] = owned
    bounds = tuple(accumulate(mass % WORD_MASS for mass in masses))
    keys = np.array([bound >> OTHER_DIGITS for bound in bounds], np.uint64)
    return _Table(patterns, owned.size, bounds, keys)
