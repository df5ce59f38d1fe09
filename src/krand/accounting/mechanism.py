"""What a noise level gives: δ and η of a report format, by the best bound at hand.

One object per question (reports, crowd, ε, assurance); the planner asks it about many noise levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np

from krand.accounting import bits
from krand.accounting.amplification import local_delta
from krand.accounting.backgrounds import Pattern, record_patterns, uphill
from krand.accounting.blanket import blanket_law
from krand.accounting.channel import ReportLaw, outlier_law
from krand.accounting.composition import Composed, LossLaw, compose
from krand.accounting.coupling import NEAREST
from krand.accounting.ratio import one_way_delta, two_way_delta, two_way_eta, upper_delta
from krand.accounting.records import RecordProfile, record_profile
from krand.promise import Assurance, Bounds, Linkage, Method, ResponseFormat, TwoWay

__all__ = ["Effort", "Found", "Mechanism", "converted_eta"]

STEPS = (3.0, 3.0, 10.0, 10.0)
ETA_RESOLUTION = (500.0, 500.0, 4000.0, 4000.0)
BUCKETS = (bits.OUTLIER_ONLY, 64, bits.BUCKETS, bits.BUCKETS)
FLOOR_REFINEMENT = 32.0
COMPOSED_PATTERNS = 3
CLIMB_BITS, CLIMB_CROWD = 12, 100_000
"""Beyond these the outlier pair is taken for the worst homogeneous background, as it is to leading
order (mathematics §5)."""


class Effort(IntEnum):
    """NEAR shows a search where to look; QUICK and FULL are proven; REPORT adds lower ends."""

    NEAR = 0
    QUICK = 1
    FULL = 2
    REPORT = 3


@dataclass(frozen=True, slots=True)
class Found:
    """A bound in both directions and the argument that gave it."""

    bounds: TwoWay
    method: Method


def converted_eta(delta: Callable[[float], float], epsilon: float) -> float:
    """η(ε) ≤ min over ε' < ε of δ(ε')/(1-e^(ε'-ε)): always valid (mathematics §6)."""
    best = 1.0
    for share in (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, NEAREST):
        nearer = epsilon * share
        best = min(best, delta(nearer) / -math.expm1(nearer - epsilon))
    return best


@dataclass(frozen=True, slots=True)
class Mechanism:
    """A report format among `population` honest users, asked about one ε."""

    reports: ResponseFormat
    population: int
    epsilon: float
    assurance: Assurance = Assurance.CERTIFIED

    @property
    def compositions(self) -> int:
        """How many one-bit or one-record mechanisms a user's change touches."""
        if self.by_bit:  # copies of a bit are mixed into one count, whose law is exact
            return self.reports.sensitivity * self.reports.rounds
        return self.reports.copies * self.reports.rounds

    @property
    def by_bit(self) -> bool:
        """A record of one bit is a one-bit mechanism too."""
        return self.reports.linkage is Linkage.BIT or self.reports.bits == 1

    @property
    def certified(self) -> bool:
        return self.assurance is Assurance.CERTIFIED

    @property
    def local_distance(self) -> int:
        """How many noisy bits shuffler and analyst together would hold of one change."""
        return self.reports.sensitivity * self.reports.copies * self.reports.rounds

    def delta(self, q: float, effort: Effort = Effort.REPORT) -> Found:
        """δ(ε) of this noise, both directions, by the best argument that applies."""
        local = _flat(local_delta(q, self.local_distance, self.epsilon))
        found = [Found(local, Method.LOCAL_NOISE), *self._deltas(q, effort)]
        best = min(found, key=lambda one: one.bounds.upper)
        if effort < Effort.REPORT or best.bounds.lower > 0:
            return best
        return Found(_with_lower(best.bounds, self._attack(q)), best.method)

    def eta(self, q: float, effort: Effort = Effort.REPORT) -> Found:
        """η(ε) of this noise: the bare tail as value, the proven one as upper end."""
        if local_delta(q, self.local_distance, self.epsilon) == 0:  # no ratio is above e^ε
            return Found(_flat(0.0), Method.LOCAL_NOISE)
        if self.by_bit:
            return self._bit_eta(q, effort)
        if self.compositions > 1:
            return self._copies_eta(q, effort)
        if self.certified:
            return self._blanket_eta(q, effort)
        return self._homogeneous_eta(q, effort)

    def _deltas(self, q: float, effort: Effort) -> list[Found]:
        if self.by_bit:
            one = self.bit_shape(q)[0] == 1
            return [self._one_bit_delta(q, effort) if one else self._bits_delta(q, effort)]
        if self.compositions > 1:
            return [self._copies_delta(q, effort)]
        if not self.certified:
            return [self._homogeneous_delta(q, effort)]
        return [self._blanket_delta(q)]

    def _attack(self, q: float) -> tuple[float, float]:
        """What a real attack achieves, rounded down: the lower ends of a certificate."""
        if self.by_bit:
            return self._bit_attack(q)
        if self.compositions > 1:
            return 0.0, 0.0
        ways = self._homogeneous_delta(q).bounds
        return ways.forward.lower, ways.reverse.lower

    # one bit at a time ----------------------------------------------------------------------

    def bit_shape(self, q: float) -> tuple[int, int]:
        """(compositions, copies mixed into one count).

        Copies of a bit are mixed into one count, whose law is exact. Where that is too wide to be
        certified, k copies are k batches, which is safe (mathematics §4).
        """
        each, copies = self.compositions, self.reports.copies
        if self.certified and not bits.mixes_exactly(q, self.population, copies):
            return each * copies, 1
        return each, copies

    def _one_bit_delta(self, q: float, effort: Effort) -> Found:
        """A single one-bit mechanism: nothing to compose, so no grid of losses either."""
        at, copies = np.array([self.epsilon]), self.reports.copies
        if self.certified:
            top = bits.worst_profile(q, self.population, at, BUCKETS[effort], copies)
            return Found(_flat(float(top[0])), self._bits_method(q))
        pair, whole = self._bit_pair(q), bits.is_whole(q, self.population, copies)
        tops = [float(v[0]) for v in pair.profile(at)]
        lows = [float(v[0]) * whole for v in pair.profile_below(at)]
        ways = [Bounds.around(top, low, top) for top, low in zip(tops, lows, strict=True)]
        return Found(TwoWay(*ways), Method.UNIFORM_BITS)

    def _bit_pair(self, q: float) -> bits.BitPair:
        return bits.outlier_pair(q, self.population, self.reports.copies)

    def _mixtures(self, q: float, effort: Effort) -> list[tuple[tuple[LossLaw, int], ...]]:
        """The compositions to look at: one if certified, else bits rising and falling mixed."""
        count, _ = self.bit_shape(q)
        law = _bit_law(self, q, BUCKETS[effort])
        if self.certified:
            return [((law, count),)]
        back = law.reversed()
        shares = sorted({0, count // 4, count // 2, count - count // 4, count})
        return [tuple((w, n) for w, n in ((law, count - s), (back, s)) if n) for s in shares]

    def _bits_delta(self, q: float, effort: Effort) -> Found:
        tops = [compose(m, self.epsilon).delta(self.epsilon) for m in self._mixtures(q, effort)]
        up, down = _either_way(tops)
        return Found(TwoWay(Bounds(up, 0.0, up), Bounds(down, 0.0, down)), self._bits_method(q))

    def _bit_attack(self, q: float) -> tuple[float, float]:
        """The drafts' attack on all bits at once, every loss rounded down."""
        count, epsilon = self.compositions, self.epsilon
        if not bits.is_whole(q, self.population, self.reports.copies):
            return 0.0, 0.0
        pair = self._bit_pair(q)
        shape = {q: count}
        step = bits.bit_step(shape, self.population, self.reports.copies) / FLOOR_REFINEMENT
        laws = [bits.floor_loss(pair, step, way) for way in (True, False)]
        up, down = (compose([(law, count)], epsilon).delta_below(epsilon) for law in laws)
        return up, down

    def _bit_eta(self, q: float, effort: Effort) -> Found:
        if self.compositions * self.reports.copies == 1 and not self.certified:
            exact = two_way_eta(outlier_law(q, 1), self.population, self.epsilon)
            return Found(exact, Method.UNIFORM_BITS)
        composed = [compose(m, self.epsilon) for m in self._mixtures(q, effort)]
        up, down = _either_way([converted_eta(c.delta, self.epsilon) for c in composed])
        tail_up, tail_down = _either_way([c.tail(self.epsilon) for c in composed])
        # P[R > λ] ≥ E[(1-λ/R)⁺] = δ, so what the attack achieves is a lower end for η as well.
        low_up, low_down = self._bit_attack(q) if effort == Effort.REPORT else (0.0, 0.0)
        ways = TwoWay(Bounds.around(tail_up, low_up, up), Bounds.around(tail_down, low_down, down))
        return Found(ways, self._bits_method(q).converted)

    def _bits_method(self, q: float) -> Method:
        if self.certified:
            return bits.certified_method(bits.is_blanketed(q, self.population))
        return Method.UNIFORM_BITS

    # whole records, one copy ----------------------------------------------------------------

    def _patterns(self, q: float, effort: Effort) -> tuple[Pattern, ...]:
        """Sparse answers: the maximal patterns. Free bits: the outlier pair and what is uphill."""
        if self.reports.is_sparse:
            return record_patterns(self.reports.blocks, q)
        outlier = Pattern(self.reports.bits)
        small = self.reports.bits <= CLIMB_BITS and self.population <= CLIMB_CROWD
        if effort <= Effort.QUICK or not small:
            return (outlier,)
        return uphill(outlier, lambda p: _least_delta(p, q, self.population, self.epsilon))

    def _blanket(self, q: float) -> ReportLaw:
        return blanket_law(q, self.reports.blocks)

    def _homogeneous_delta(self, q: float, effort: Effort = Effort.REPORT) -> Found:
        laws = [p.law(q) for p in self._patterns(q, effort)]
        ways = [two_way_delta(law, self.population, self.epsilon) for law in laws]
        return Found(_worst(ways), Method.UNIFORM_RECORDS)

    def _homogeneous_eta(self, q: float, effort: Effort) -> Found:
        laws = [p.law(q) for p in self._patterns(q, effort)]
        resolution = ETA_RESOLUTION[effort]
        ways = [two_way_eta(law, self.population, self.epsilon, resolution) for law in laws]
        return Found(_worst(ways), Method.UNIFORM_RECORDS)

    def _blanket_delta(self, q: float) -> Found:
        top = upper_delta(self._blanket(q), self.population, self.epsilon, refine=True)
        return Found(_flat(top), Method.PRIVACY_BLANKET)

    def _blanket_eta(self, q: float, effort: Effort) -> Found:
        law, distance = self._blanket(q), self.reports.sensitivity

        def delta(epsilon: float) -> float:
            return min(
                upper_delta(law, self.population, epsilon),
                local_delta(q, distance, epsilon),
            )

        top = converted_eta(delta, self.epsilon)
        if effort < Effort.REPORT:
            return Found(_flat(top), Method.PRIVACY_BLANKET_CONVERTED)
        attack = self._homogeneous_eta(q, effort).bounds
        up, down = (Bounds.around(w.value, w.lower, top) for w in (attack.forward, attack.reverse))
        return Found(TwoWay(up, down), Method.PRIVACY_BLANKET_CONVERTED)

    # whole records, copies and rounds -------------------------------------------------------

    def _profiles(self, q: float, effort: Effort) -> tuple[RecordProfile, ...]:
        return _record_profiles(self, q, STEPS[effort])

    def _laws(self, q: float) -> list[ReportLaw]:
        """The one-copy laws to compose: the blanket, or the loudest homogeneous backgrounds."""
        if self.certified:
            return [self._blanket(q)]
        if self.reports.is_sparse:
            return [p.law(q) for p in self._patterns(q, Effort.QUICK)[:COMPOSED_PATTERNS]]
        return [outlier_law(q, self.reports.bits)]

    def _composed(self, loss: LossLaw) -> tuple[Composed, Composed]:
        """y → y' and y' → y; the blanket's pair is its own mirror."""
        forward = compose([(loss, self.compositions)], self.epsilon)
        if self.certified:
            return forward, forward
        return forward, compose([(loss.reversed(), self.compositions)], self.epsilon)

    def _copies_delta(self, q: float, effort: Effort) -> Found:
        """Upper ends only: no lower end is proven for mixed copies; simulation shows how tight."""
        ways = []
        for profile in self._profiles(q, effort):
            up, down = (c.delta(self.epsilon) for c in self._composed(profile.loss()))
            ways.append(TwoWay(Bounds.around(up, 0.0, up), Bounds.around(down, 0.0, down)))
        return Found(_worst(ways), self._copies_method())

    def _copies_eta(self, q: float, effort: Effort) -> Found:
        ways = []
        for profile in self._profiles(q, effort):
            up, down = (
                Bounds.around(c.tail(self.epsilon), 0.0, converted_eta(c.delta, self.epsilon))
                for c in self._composed(profile.loss())
            )
            ways.append(TwoWay(up, down))
        return Found(_worst(ways), self._copies_method().converted)

    def _copies_method(self) -> Method:
        return Method.PRIVACY_BLANKET if self.certified else Method.UNIFORM_RECORDS


@lru_cache(maxsize=64)
def _least_delta(pattern: Pattern, q: float, population: int, epsilon: float) -> float:
    """What this background surely costs, the worse direction; quick, for comparisons."""
    law = pattern.law(q)
    ways = (one_way_delta(one, population, epsilon, refine=False) for one in (law, law.swapped()))
    return max(way.lower for way in ways)


@lru_cache(maxsize=16)
def _bit_law(mechanism: Mechanism, q: float, buckets: int) -> LossLaw:
    """δ and η of the same noise share this."""
    count, copies = mechanism.bit_shape(q)
    crowd, certified = mechanism.population, mechanism.certified
    step = bits.bit_step({q: count}, crowd, copies)
    return bits.bit_loss(q, crowd, step, count, certified, buckets, copies)


@lru_cache(maxsize=16)
def _record_profiles(mechanism: Mechanism, q: float, steps: float) -> tuple[RecordProfile, ...]:
    """δ and η of the same noise share these."""
    count = mechanism.compositions
    return tuple(
        record_profile(law, mechanism.population, count, steps) for law in mechanism._laws(q)
    )


def _flat(top: float) -> TwoWay:
    """One proven upper bound for both directions."""
    both = Bounds.around(top, 0.0, top)
    return TwoWay(both, both)


def _with_lower(ways: TwoWay, lower: tuple[float, float]) -> TwoWay:
    up, down = ways.forward, ways.reverse
    return TwoWay(
        Bounds.around(up.value, lower[0], up.upper),
        Bounds.around(down.value, lower[1], down.upper),
    )


def _either_way(tops: list[float]) -> tuple[float, float]:
    """(forward, reverse) from mixtures with 0 … all bits falling; mixed ones count both ways."""
    mixed = max(tops[1:-1], default=0.0)
    return max(tops[0], mixed), max(tops[-1], mixed)


def _worst(ways: list[TwoWay]) -> TwoWay:
    """The worst of several backgrounds in each direction."""
    return TwoWay(
        max((w.forward for w in ways), key=lambda b: b.upper),
        max((w.reverse for w in ways), key=lambda b: b.upper),
    )
