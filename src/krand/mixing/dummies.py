"""Dummies: how many a mixer adds to each position of a lane, and what they say.

A number is drawn by comparing 63 random bits with the law's cumulative weights, which are integers,
so that each outcome has exactly its probability. The numbers are secret: they are overwritten when
the dummies are written, and stored nowhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.promise import DummyLaw
from krand.randomness.generator import SecureRandom
from krand.survey.lanes import Lane
from krand.survey.plan import Plan

NULL = -1
"""In place of a position: an empty message."""
SPARE_BIT = np.uint64(1)
"""Of a word of 64 bits, 63 are used."""

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LaneDummies:
    """The dummies of one lane: secret until they are mixed."""

    lane: Lane
    tokens: Integers
    """For every position of the lane: how many tokens."""
    nulls: int

    @property
    def total(self) -> int:
        """How many messages they are; that much is public."""
        return int(self.tokens.sum()) + self.nulls

    def payloads(self, size: int) -> Iterator[Integers]:
        """The position of each dummy, or NULL, in chunks of at most `size`."""
        ends = np.cumsum(self.tokens)
        tokens = int(ends[-1])
        for start in range(0, tokens, size):
            places = np.arange(start, min(start + size, tokens))
            yield self.lane.offset + np.searchsorted(ends, places, side="right")
        for start in range(0, self.nulls, size):
            yield np.full(min(size, self.nulls - start), NULL, np.int64)
        ends.fill(0)

    def erase(self) -> None:
        """Overwrite the numbers; whoever knew them could subtract them."""
        self.tokens.fill(0)


def draw_numbers(law: DummyLaw, count: int, random: SecureRandom) -> Integers:
    """Independent numbers with exactly the law's probabilities."""
    bounds = np.cumsum(np.array(law.weights, np.uint64), dtype=np.uint64)
    words = random.words(count, np.uint64) >> SPARE_BIT
    found = np.searchsorted(bounds, words, side="right").astype(np.int64)
    words.fill(0)
    return found


def draw_lane(plan: Plan, lane: Lane, random: SecureRandom) -> LaneDummies:
    """The dummies that a mixer adds to a lane of one batch."""
    law = plan.law_of(lane)
    tokens = draw_numbers(law, lane.positions, random)
    if lane.is_single:
        nulls = 2 * law.reach - int(tokens[0])
    elif lane.has_noisy_nulls:
        nulls = int(draw_numbers(law, 1, random)[0])
    else:
        nulls = max(0, lane.padding - int(tokens.sum()))
    return LaneDummies(lane, tokens, nulls)
