"""Bounds for bits that are reported apart: a single bit, its copies, all bits of a survey.

Every bit is a mechanism of its own, and what one person can change is their composition. Copies of
a bit are mixed into one count, whose law is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krand.accounting import bits
from krand.accounting.bounds import Effort, converted_eta, delta_of_distance
from krand.accounting.composition import LossLaw, compose
from krand.promise import Method

Noises = tuple[tuple[float, int], ...]
"""Every noise with the number of bits that one person can change, over all rounds."""
Losses = tuple[tuple[LossLaw, int], ...]

BUCKETS = (bits.OUTLIER_ONLY, 64, bits.BUCKETS)
"""By effort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitBound:
    """All bits that one person can change, each with its own noise, composed, for every background.

    One symmetric pair for each noise covers both directions.
    """

    noises: Noises
    crowd: int
    epsilon: float
    copies: int = 1
    distance: float = 0.0
    """In total variation, at most so far is what is run from the composition."""

    @property
    def method(self) -> Method:
        """The argument behind δ."""
        blanketed = any(bits.is_blanketed(q, self.crowd) for q, _ in self.noises)
        return Method.BLANKET_BITS if blanketed else Method.EXACT_BITS

    @property
    def shape(self) -> tuple[Noises, int]:
        """What is composed, and how many copies are mixed into each count.

        Where a count of k copies is too wide to be certified, they are k batches: also safe.
        """
        if all(bits.mixes_exactly(q, self.crowd, self.copies) for q, _ in self.noises):
            return self.noises, self.copies
        return tuple((q, count * self.copies) for q, count in self.noises), 1

    def delta(self, effort: Effort) -> float:
        """δ(ε)."""
        composed = compose(self._losses(effort), self.epsilon)
        return min(1.0, composed.delta(self.epsilon) + self._overflow(self.epsilon))

    def eta(self, effort: Effort) -> float:
        """η(ε), converted from δ."""
        composed = compose(self._losses(effort), self.epsilon)
        return converted_eta(lambda e: composed.delta(e) + self._overflow(e), self.epsilon)

    def _overflow(self, epsilon: float) -> float:
        """δ of what is run rather than of the composition is larger by this."""
        return delta_of_distance(self.distance, epsilon)

    def _losses(self, effort: Effort) -> Losses:
        noises, copies = self.shape
        return _losses(noises, self.crowd, BUCKETS[effort], copies)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBitBound(BitBound):
    """A single bit: nothing to compose, so no grid of losses for δ either."""

    def delta(self, effort: Effort) -> float:
        ((q, _),), at = self.noises, np.array([self.epsilon])
        worst = bits.worst_profile(q, self.crowd, at, BUCKETS[effort], self.copies)
        return min(1.0, float(worst[0]))


@lru_cache(maxsize=4)
def _losses(noises: Noises, crowd: int, buckets: int, copies: int) -> Losses:
    """δ and η of the same noise share these."""
    return tuple(bits.survey_losses(dict(noises), crowd, buckets, copies))
