"""What a noise level gives: δ and η of a response format, by the best bound at hand.

One object per question (response format, crowd, ε); the planner asks it about many noise levels.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.accounting.bit_bounds import BitBound, OneBitBound
from krand.accounting.bounds import Effort
from krand.accounting.channel import local_delta
from krand.accounting.record_bounds import RecordBound
from krand.promise import Linkage, Method, ResponseFormat


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A response format among `crowd` honest users, asked about one ε."""

    responses: ResponseFormat
    crowd: int
    epsilon: float

    @property
    def by_bit(self) -> bool:
        """A record of one bit is a one-bit mechanism too."""
        return self.responses.linkage is Linkage.BIT or self.responses.bits == 1

    @property
    def local_distance(self) -> int:
        """How many noisy bits collector and analyst together would hold of one change."""
        return self.responses.sensitivity * self.responses.copies * self.responses.rounds

    def delta(self, q: float, effort: Effort = Effort.FULL) -> tuple[float, Method]:
        """δ(ε) of this noise in the worse direction, by the best argument that applies."""
        bound, local = self._bound(q), local_delta(q, self.local_distance, self.epsilon)
        delta = bound.delta(effort)
        return (local, Method.LOCAL_NOISE) if local <= delta else (delta, bound.method)

    def eta(self, q: float, effort: Effort = Effort.FULL) -> tuple[float, Method]:
        """η(ε) of this noise in the worse direction, converted from δ."""
        if local_delta(q, self.local_distance, self.epsilon) == 0:  # no ratio is above e^ε
            return 0.0, Method.LOCAL_NOISE
        bound = self._bound(q)
        return bound.eta(effort), bound.method.converted

    def _bound(self, q: float) -> BitBound | RecordBound:
        responses, crowd, epsilon = self.responses, self.crowd, self.epsilon
        if not self.by_bit:
            return RecordBound(responses=responses, noise=q, crowd=crowd, epsilon=epsilon)
        # Copies of a bit are mixed into one count, whose law is exact.
        noises, copies = ((q, responses.sensitivity * responses.rounds),), responses.copies
        bound = BitBound(noises=noises, crowd=crowd, epsilon=epsilon, copies=copies)
        if bound.shape != (((q, 1),), copies):
            return bound
        return OneBitBound(noises=noises, crowd=crowd, epsilon=epsilon, copies=copies)
