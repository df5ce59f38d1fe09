"""How many messages a submission needs so that their number says nothing.

In bit linkage every position reported as 1 is a token, and null tokens fill the submission up to a
fixed number. How many ones there are varies with the answers and the flips; the number is chosen
so that it suffices but once in a thousand million submissions, whatever the answers. Then the next
size class is used, twice as large.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from krand.privacy.guarantee import NOISE_GRID

__all__ = ["OVERFLOW", "Tokens", "messages_needed", "size_class"]

OVERFLOW = 1e-9
"""How often, at most, a submission may need the next size class."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """A block of positions: how many there are, the most true ones, and the noise a/2^32."""

    positions: int
    most_ones: int
    numerator: int

    @property
    def flips(self) -> float:
        """How many zeros are expected to be reported as ones, beside the most true ones."""
        return (self.positions - self.most_ones) * self.numerator / NOISE_GRID


def messages_needed(blocks: Sequence[Tokens]) -> int:
    """Room for the most true ones, and for as many flipped zeros as Chernoff's bound allows for.

    Whatever the answer, there are never more tokens than the most true ones, all kept, and the
    flips of the other positions: a certain one is at least a coin. For a sum Y of independent
    coins with mean μ < y, P[Y ≥ y] ≤ exp(-(y·ln(y/μ) - y + μ)).
    """
    mean = math.fsum(block.flips for block in blocks)
    ones = sum(block.most_ones for block in blocks)
    zeros = sum(block.positions for block in blocks) - ones
    if mean == 0:
        return ones
    low, high = math.floor(mean), zeros  # with room for `high` flips nothing can overflow
    while high - low > 1:
        middle = (low + high) // 2
        y = middle + 1  # an overflow is at least one token too many
        enough = y * math.log(y / mean) - y + mean >= -math.log(OVERFLOW)
        low, high = (low, middle) if enough else (middle, high)
    return ones + high


def size_class(tokens: int, messages: int) -> int:
    """How many messages a submission with so many tokens consists of: the number, or its double…"""
    size = messages
    while size < tokens:
        size *= 2
    return size
