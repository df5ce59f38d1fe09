"""Draws from an exact finite distribution with one 16-bit random word, and rarely a few more.

A law is a list of whole numbers, the masses of the outcomes, that add up to 2^bits. Of the 65,536
values of a word an outcome owns as many *cells* as fit into its mass: floor(mass · 2^16 / 2^bits).
What the floors cut off adds up to the *leftover* cells, which no outcome owns and which are last.
A word that hits one of them is the beginning of a number V below leftover · 2^(bits-16). More
random bits are its other digits, and V chooses among the cut-off pieces, laid end to end:
outcome j if bound[j-1] ≤ V < bound[j]. Cells and piece together are the outcome's mass, so
each outcome has exactly its probability; no floating-point number is involved.

The first 64 digits of V are compared at once. They decide unless they equal those of a bound,
which happens about once in 2^40 words; then all digits are drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from krand.errors import InternalError
from krand.randomness.generator import SecureRandom

Law = Callable[[], list[int]]
"""The masses; computed again when they are needed, because they are too large to keep."""

WORD_BITS = 16
KEY_BITS = 64


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ExactTable:
    """A distribution over outcomes 0, 1, 2, … as tables for fast drawing."""

    law: Law
    bits: int
    cells: NDArray[Any]
    """The outcome of every word below `leftover`."""
    leftover: int
    """The first word that no outcome owns."""
    keys: NDArray[np.uint64]
    """The first 64 digits of the bounds between the cut-off pieces."""

    def draw(self, count: int, random: SecureRandom) -> NDArray[Any]:
        """Independent outcomes."""
        words = random.words(count, np.uint16)
        outcomes = self.cells.take(words)
        if self.leftover == 1 << WORD_BITS:  # q = 1/4: every word is owned by an outcome
            return outcomes
        late = np.flatnonzero(words >= np.uint16(self.leftover))
        if late.size:
            outcomes[late] = self.resolve(words[late], random)
        return outcomes

    def resolve(self, words: NDArray[np.uint16], random: SecureRandom) -> NDArray[np.int64]:
        """The outcomes of words that hit leftover cells."""
        high = (words - np.uint16(self.leftover)).astype(np.uint64)
        digits = np.uint64(KEY_BITS - WORD_BITS)
        keys = (high << digits) | (random.words(words.size, np.uint64) >> np.uint64(WORD_BITS))
        found = np.searchsorted(self.keys, keys).astype(np.int64)
        for place in np.flatnonzero(self.keys[found] == keys):
            found[place] = self._by_all_digits(int(keys[place]), random)
        return found

    def _by_all_digits(self, key: int, random: SecureRandom) -> int:
        rest = self.bits - KEY_BITS
        return bisect_right(_bounds(self.law(), self.bits), (key << rest) | random.below(1 << rest))


def _bounds(masses: list[int], bits: int) -> list[int]:
    """Where the cut-off pieces end when they are laid end to end."""
    cell = 1 << (bits - WORD_BITS)
    return list(accumulate(mass % cell for mass in masses))


def exact_table(law: Law, bits: int, dtype: DTypeLike) -> ExactTable:
    """The table of a law whose masses add up to 2^bits, bits ≥ 64."""
    masses = law()
    if sum(masses) != 1 << bits:
        raise InternalError("the masses of a distribution do not add up to 1")
    owned = [mass >> (bits - WORD_BITS) for mass in masses]
    cells = np.zeros(1 << WORD_BITS, dtype)
    leftover = sum(owned)
    cells[:leftover] = np.repeat(np.arange(len(masses)), owned)
    # The last bound is above every V, so a search always ends at an outcome.
    keys = [bound >> (bits - KEY_BITS) for bound in _bounds(masses, bits)]
    return ExactTable(
        law=law, bits=bits, cells=cells, leftover=leftover, keys=np.array(keys, np.uint64)
    )
