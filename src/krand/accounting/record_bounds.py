"""Bounds for whole records: one copy in one round, or several of them composed."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import lru_cache

from krand.accounting.amplification import local_delta
from krand.accounting.backgrounds import Pattern, record_patterns, uphill
from krand.accounting.blanket import blanket_law
from krand.accounting.bounds import Effort, converted_eta, flat, worst
from krand.accounting.channel import ReportLaw, outlier_law
from krand.accounting.composition import Composed, LossLaw, compose
from krand.accounting.ratio import one_way_delta, two_way_delta, two_way_eta, upper_delta
from krand.accounting.records import RecordProfile, record_profile
from krand.promise import Bounds, Method, ResponseFormat, TwoWay

__all__ = ["BlanketRecord", "BlanketRecords", "RecordBound", "UniformRecord", "UniformRecords"]

STEPS = (3.0, 3.0, 10.0, 10.0)
ETA_RESOLUTION = (500.0, 500.0, 4000.0, 4000.0)
"""Both by effort."""
COMPOSED_PATTERNS = 3
CLIMB_BITS, CLIMB_CROWD = 12, 100_000
"""Beyond these the outlier pair is taken for the worst homogeneous background, as it is to leading
order: no other pattern of free bits has a larger χ²."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordBound:
    """Records with one noise in a crowd."""

    responses: ResponseFormat
    noise: float
    crowd: int
    epsilon: float

    @property
    def compositions(self) -> int:
        """Every copy of every round counts as a batch of its own."""
        return self.responses.copies * self.responses.rounds

    def patterns(self, effort: Effort) -> tuple[Pattern, ...]:
        """Sparse answers: the maximal patterns. Free bits: the outlier pair and what is uphill."""
        if self.responses.is_sparse:
            return record_patterns(self.responses.blocks, self.noise)
        outlier = Pattern(self.responses.bits)
        small = self.responses.bits <= CLIMB_BITS and self.crowd <= CLIMB_CROWD
        if effort <= Effort.QUICK or not small:
            return (outlier,)
        return uphill(outlier, lambda p: _least_delta(p, self.noise, self.crowd, self.epsilon))

    def blanket(self) -> ReportLaw:
        """What bounds every background."""
        return blanket_law(self.noise, self.responses.blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformRecord(RecordBound):
    """One copy where everybody else answers alike: the exact law of the worst such crowd."""

    @property
    def method(self) -> Method:
        return Method.UNIFORM_RECORDS

    @property
    def eta_method(self) -> Method:
        return self.method

    def delta(self, effort: Effort) -> TwoWay:
        laws = [pattern.law(self.noise) for pattern in self.patterns(effort)]
        return worst([two_way_delta(law, self.crowd, self.epsilon) for law in laws])

    def eta(self, effort: Effort) -> TwoWay:
        laws = [pattern.law(self.noise) for pattern in self.patterns(effort)]
        fine = ETA_RESOLUTION[effort]
        return worst([two_way_eta(law, self.crowd, self.epsilon, fine) for law in laws])

    def attack(self) -> tuple[float, float]:
        ways = self.delta(Effort.REPORT)
        return ways.forward.lower, ways.reverse.lower


@dataclass(frozen=True, slots=True, kw_only=True)
class BlanketRecord(UniformRecord):
    """One copy, for every background; the lower ends are those of the worst uniform crowd."""

    @property
    def method(self) -> Method:
        return Method.PRIVACY_BLANKET

    @property
    def eta_method(self) -> Method:
        return self.method.converted

    def delta(self, effort: Effort) -> TwoWay:
        return flat(upper_delta(self.blanket(), self.crowd, self.epsilon, refine=True))

    def eta(self, effort: Effort) -> TwoWay:
        law, distance = self.blanket(), self.responses.sensitivity

        def delta(epsilon: float) -> float:
            return min(
                upper_delta(law, self.crowd, epsilon), local_delta(self.noise, distance, epsilon)
            )

        top = converted_eta(delta, self.epsilon)
        if effort < Effort.REPORT:
            return flat(top)
        uniform = self._uniform().eta(effort)
        ways = (uniform.forward, uniform.reverse)
        return TwoWay(*(Bounds.around(way.value, way.lower, top) for way in ways))

    def attack(self) -> tuple[float, float]:
        return self._uniform().attack()

    def _uniform(self) -> UniformRecord:
        return UniformRecord(
            responses=self.responses, noise=self.noise, crowd=self.crowd, epsilon=self.epsilon
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComposedRecords(RecordBound, ABC):
    """Several copies or rounds.

    Upper ends only: no lower end is proven for mixed copies; simulation shows how tight they are.
    """

    @property
    @abstractmethod
    def method(self) -> Method:
        """The argument behind δ."""

    @property
    def eta_method(self) -> Method:
        return self.method.converted

    @abstractmethod
    def laws(self) -> list[ReportLaw]:
        """The one-copy laws to compose."""

    @abstractmethod
    def both_ways(self, loss: LossLaw) -> tuple[Composed, Composed]:
        """y → y' and y' → y."""

    def delta(self, effort: Effort) -> TwoWay:
        ways = []
        for profile in _profiles(self, STEPS[effort]):
            tops = [one.delta(self.epsilon) for one in self.both_ways(profile.loss())]
            ways.append(TwoWay(*(Bounds.around(top, 0.0, top) for top in tops)))
        return worst(ways)

    def eta(self, effort: Effort) -> TwoWay:
        ways = []
        for profile in _profiles(self, STEPS[effort]):
            both = (
                Bounds.around(one.tail(self.epsilon), 0.0, converted_eta(one.delta, self.epsilon))
                for one in self.both_ways(profile.loss())
            )
            ways.append(TwoWay(*both))
        return worst(ways)

    def attack(self) -> tuple[float, float]:
        return 0.0, 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BlanketRecords(_ComposedRecords):
    """For every background; the blanket's pair is its own mirror."""

    @property
    def method(self) -> Method:
        return Method.PRIVACY_BLANKET

    def laws(self) -> list[ReportLaw]:
        return [self.blanket()]

    def both_ways(self, loss: LossLaw) -> tuple[Composed, Composed]:
        forward = compose([(loss, self.compositions)], self.epsilon)
        return forward, forward


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformRecords(_ComposedRecords):
    """Where everybody else answers alike: the worst such crowds."""

    @property
    def method(self) -> Method:
        return Method.UNIFORM_RECORDS

    def laws(self) -> list[ReportLaw]:
        if self.responses.is_sparse:
            patterns = self.patterns(Effort.QUICK)[:COMPOSED_PATTERNS]
            return [pattern.law(self.noise) for pattern in patterns]
        return [outlier_law(self.noise, self.responses.bits)]

    def both_ways(self, loss: LossLaw) -> tuple[Composed, Composed]:
        forward, back = (
            compose([(one, self.compositions)], self.epsilon) for one in (loss, loss.reversed())
        )
        return forward, back


@lru_cache(maxsize=64)
def _least_delta(pattern: Pattern, q: float, crowd: int, epsilon: float) -> float:
    """What this background surely costs, the worse direction; quick, for comparisons."""
    law = pattern.law(q)
    ways = (one_way_delta(one, crowd, epsilon, refine=False) for one in (law, law.swapped()))
    return max(way.lower for way in ways)


@lru_cache(maxsize=16)
def _profiles(bound: _ComposedRecords, steps: float) -> tuple[RecordProfile, ...]:
    """δ and η of the same noise share these."""
    count = bound.compositions
    return tuple(record_profile(law, bound.crowd, count, steps) for law in bound.laws())
