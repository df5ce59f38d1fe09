"""Finds few flips among many positions without a draw for each position.

Two exact methods, chosen only by speed.

*Gaps*: one random word gives the distance to the next flip, or says that none is within reach.
P(gap = g) = q(1-q)^g is a whole number over 2^(32·reach) for every g < reach, so an exact table
draws it. Flips are independent, so the walk starts afresh after each flip and at each edge.

*Blocks*, for the rarest flips and for small inputs: the number of flips in 2^b positions is drawn
from its exact binomial distribution, then that many distinct positions are drawn, all sets equally
likely: positions are drawn until there are enough distinct ones, and because all positions are
treated the same, no set is preferred. Given their number, independent flips have this distribution.

Both may cover more positions than requested; flips beyond the end are dropped, which does not
affect the others. The time depends on the number of flips.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput
from krand.promise import NOISE_GRID
from krand.randomness.binomial import draw_flips
from krand.randomness.finite_law import ExactTable, exact_table
from krand.randomness.generator import MOST_TRIES, SecureRandom, stuck

Positions = NDArray[np.int64]

GRID_BITS = NOISE_GRID.bit_length() - 1
MOST_REACH = 512
"""Positions that one word can look ahead; the table of longer gaps takes long to compute."""
MOST_WORDS = 2**16
"""Words drawn at a time, so that memory is bounded."""
BLOCKS_BELOW = NOISE_GRID // 10_000
"""Measured: below q ≈ 1e-4 most words say "none within reach", and blocks are faster."""
LITTLE_BELOW, LITTLE_FLIPS = NOISE_GRID // 32, 64
"""Up to this many flips are found by blocks: then the table of gaps need not be computed."""
FLIPS_PER_BLOCK = 256
MOST_BLOCK_BITS = 32


def check_numerator(numerator: int) -> None:
    """A noise level a/2^32 below one half; otherwise an error."""
    whole = isinstance(numerator, int) and not isinstance(numerator, bool)
    if not whole or not 0 < numerator < NOISE_GRID // 2:
        raise InvalidInput("numerator", "must be a whole number from 1 to 2^31 - 1", numerator)


def flipped_positions(count: int, numerator: int, random: SecureRandom) -> Positions:
    """The sorted positions in range(count) that are flipped, each with probability a/2^32."""
    check_numerator(numerator)
    if count < 0:
        raise InvalidInput("count", "must be at least 0", count)
    if count == 0:
        return np.empty(0, np.int64)
    if uses_blocks(count, numerator):
        return _by_blocks(count, numerator, random)
    return gap_walk(numerator).positions(count, random)


def uses_blocks(count: int, numerator: int) -> bool:
    """Whether flips are so rare or few that blocks are faster than gaps."""
    few = numerator < LITTLE_BELOW and count * numerator <= LITTLE_FLIPS * NOISE_GRID
    return few or numerator < BLOCKS_BELOW


@dataclass(frozen=True, slots=True, eq=False)
class GapWalk:
    """A walk from flip to flip; the outcome `reach` means: no flip within reach."""

    table: ExactTable
    reach: int
    stride: float
    """Positions that a word covers on average; it only determines how many words are drawn."""

    def draw(self, count: int, random: SecureRandom) -> NDArray[np.uint16]:
        """Gaps that cover about `count` positions."""
        words = int(count / self.stride)
        return self.table.draw(min(words + words // 64 + 16, MOST_WORDS), random)

    def positions(self, count: int, random: SecureRandom) -> Positions:
        """The flipped positions below `count`."""
        parts, walked = [], 0
        while walked < count:
            gaps = self.draw(count - walked, random)
            steps = np.minimum(gaps + np.uint16(1), np.uint16(self.reach))
            ends = walked + np.cumsum(steps, dtype=np.int64)
            found = ends[np.flatnonzero(gaps < self.reach)] - 1
            walked = int(ends[-1])
            parts.append(found if walked <= count else found[: np.searchsorted(found, count)])
        return parts[0] if len(parts) == 1 else np.concatenate(parts)


@lru_cache(maxsize=64)
def gap_walk(numerator: int) -> GapWalk:
    """The walk for one noise level."""
    reach = min(MOST_REACH, 1 << (8 * NOISE_GRID // numerator).bit_length())
    law = partial(_gap_law, numerator, reach)
    table = exact_table(law, GRID_BITS * reach, np.uint16)
    steps = np.minimum(table.cells[: table.leftover].astype(np.int64) + 1, reach)
    return GapWalk(table, reach, float(steps.mean()))


def _gap_law(numerator: int, reach: int) -> list[int]:
    """Masses of the gaps 0 … reach-1 and of "none", over 2^(32·reach)."""
    stay, masses = 1, []
    for gap in range(reach):
        masses.append(stay * numerator << GRID_BITS * (reach - 1 - gap))
        stay *= NOISE_GRID - numerator
    return [*masses, stay]


def _by_blocks(count: int, numerator: int, random: SecureRandom) -> Positions:
    most = (FLIPS_PER_BLOCK * NOISE_GRID // numerator).bit_length() - 1
    bits = min(most, (count - 1).bit_length(), MOST_BLOCK_BITS)
    parts = [
        _places(draw_flips(bits, numerator, random), bits, random) + start
        for start in range(0, count, 1 << bits)
    ]
    found = parts[0] if len(parts) == 1 else np.concatenate(parts)
    return found[: np.searchsorted(found, count)]


def _places(flips: int, bits: int, random: SecureRandom) -> Positions:
    """This many distinct positions below 2^bits, sorted, all sets equally likely."""
    if not flips:
        return np.empty(0, np.int64)
    found, tries = _some(flips, bits, random), 0
    while found.size < flips:
        more = np.union1d(found, _some(flips - found.size, bits, random))
        # No new position: at most every other time, unless most of a small block is flipped, which
        # is so rare that all of this together has a probability below 2^-64.
        tries = tries + 1 if more.size == found.size else 0
        if tries == MOST_TRIES:
            raise stuck()
        found = more
    return found


def _some(count: int, bits: int, random: SecureRandom) -> Positions:
    words = random.words(count, np.uint32) >> np.uint32(MOST_BLOCK_BITS - bits)
    return np.unique(words).astype(np.int64)
