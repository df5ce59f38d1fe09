"""What a noise level gives: δ and η of a response format, by the best bound at hand.

One object per question (response format, crowd, ε, assurance); the planner asks it about many
noise levels.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.accounting.amplification import local_delta
from krand.accounting.bit_bounds import (
    BitBound,
    EveryCrowd,
    EveryCrowdBit,
    UniformCrowd,
    UniformCrowdBit,
    mixtures_of_one,
)
from krand.accounting.bounds import Bound, Effort, Found, flat, with_lower
from krand.accounting.record_bounds import (
    BlanketRecord,
    BlanketRecords,
    UniformRecord,
    UniformRecords,
)
from krand.promise import Assurance, Linkage, Method, ResponseFormat

RECORD_BOUNDS: dict[
    tuple[Assurance, bool],
    type[BlanketRecord] | type[BlanketRecords] | type[UniformRecord] | type[UniformRecords],
] = {
    (Assurance.CERTIFIED, False): BlanketRecord,
    (Assurance.CERTIFIED, True): BlanketRecords,
    (Assurance.OUTLIER, False): UniformRecord,
    (Assurance.OUTLIER, True): UniformRecords,
}
"""By assurance, and whether several copies or rounds are composed."""


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A response format among `crowd` honest users, asked about one ε."""

    responses: ResponseFormat
    crowd: int
    epsilon: float
    assurance: Assurance = Assurance.CERTIFIED

    @property
    def compositions(self) -> int:
        """How many one-bit or one-record mechanisms a user's change touches."""
        if self.by_bit:  # copies of a bit are mixed into one count, whose law is exact
            return self.responses.sensitivity * self.responses.rounds
        return self.responses.copies * self.responses.rounds

    @property
    def by_bit(self) -> bool:
        """A record of one bit is a one-bit mechanism too."""
        return self.responses.linkage is Linkage.BIT or self.responses.bits == 1

    @property
    def certified(self) -> bool:
        return self.assurance is Assurance.CERTIFIED

    @property
    def local_distance(self) -> int:
        """How many noisy bits collector and analyst together would hold of one change."""
        return self.responses.sensitivity * self.responses.copies * self.responses.rounds

    def delta(self, q: float, effort: Effort = Effort.REPORT) -> Found:
        """δ(ε) of this noise, both directions, by the best argument that applies."""
        bound = self.bound(q)
        local = flat(local_delta(q, self.local_distance, self.epsilon))
        found = [Found(local, Method.LOCAL_NOISE), Found(bound.delta(effort), bound.method)]
        best = min(found, key=lambda one: one.bounds.upper)
        if effort < Effort.REPORT or best.bounds.lower > 0:
            return best
        return Found(with_lower(best.bounds, bound.attack()), best.method)

    def eta(self, q: float, effort: Effort = Effort.REPORT) -> Found:
        """η(ε) of this noise: the bare tail as value, the proven one as upper end."""
        if local_delta(q, self.local_distance, self.epsilon) == 0:  # no ratio is above e^ε
            return Found(flat(0.0), Method.LOCAL_NOISE)
        bound = self.bound(q)
        return Found(bound.eta(effort), bound.eta_method)

    def bit_shape(self, q: float) -> tuple[int, int]:
        """(compositions, copies mixed into one count)."""
        ((_, count),), copies = self._bits(q).shape
        return count, copies

    def bound(self, q: float) -> Bound:
        """The argument for this linkage and assurance."""
        if self.by_bit:
            return self._bits(q)
        kind = RECORD_BOUNDS[self.assurance, self.compositions > 1]
        return kind(responses=self.responses, noise=q, crowd=self.crowd, epsilon=self.epsilon)

    def _bits(self, q: float) -> BitBound:
        count, copies = self.compositions, self.responses.copies
        crowd, epsilon, noises = self.crowd, self.epsilon, ((q, count),)
        if self.certified:
            bound = EveryCrowd(noises=noises, crowd=crowd, epsilon=epsilon, copies=copies)
            if bound.shape != (((q, 1),), copies):
                return bound
            return EveryCrowdBit(noises=noises, crowd=crowd, epsilon=epsilon, copies=copies)
        kind = UniformCrowdBit if count == 1 else UniformCrowd
        return kind(
            noises=noises,
            crowd=crowd,
            epsilon=epsilon,
            copies=copies,
            mixtures=mixtures_of_one(count),
        )
