"""Bounds for whole records: one copy in one round, or several of them composed.

Mixing kN responses is post-processing of k separately shuffled batches, so the k-fold composition
of the one-copy pair bounds the k-copy mechanism, and it is tight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krand.accounting.amplification import local_delta
from krand.accounting.backgrounds import Pattern, record_patterns, uphill
from krand.accounting.blanket import blanket_law
from krand.accounting.bounds import Effort, converted_eta, flat, worst
from krand.accounting.channel import ReportLaw, outlier_law
from krand.accounting.composition import (
    FURTHEST,
    Composed,
    LossLaw,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand.accounting.ratio import one_way_delta, two_way_delta, two_way_eta, upper_delta
from krand.promise import Bounds, Method, ResponseFormat, TwoWay

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEPS = (3.0, 3.0, 10.0, 10.0)
ETA_RESOLUTION = (500.0, 500.0, 4000.0, 4000.0)
"""Both by effort."""
NEGLIGIBLE = 1e-17
RESOLUTION = 6.0
"""Smoothing per node and step: with 10 steps per spread it adds about 1/60² to the variance."""
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


@dataclass(frozen=True, slots=True)
class RecordProfile:
    """h(ε) of one shuffled batch at grid nodes, y → y' and y' → y."""

    step: float
    nodes: Ints
    forward: Floats
    reverse: Floats

    def loss(self) -> LossLaw:
        """The pair through all nodes."""
        return connect_dots(self.step, self.nodes, self.forward, self.reverse)


def record_profile(
    law: ReportLaw, crowd: int, compositions: int, steps_per_spread: float
) -> RecordProfile:
    """Upper bounds of the profile, dense enough to be composed so many times."""
    limit, resolution = NEGLIGIBLE / compositions, RESOLUTION * steps_per_spread

    def profile(one: ReportLaw) -> Callable[[float], float]:
        return lambda epsilon: upper_delta(one, crowd, epsilon, resolution)

    forward, reverse = profile(law), profile(law.swapped())
    # Total variation has no direction: the better of the two bounds holds for both.
    top = min(forward(0.0), reverse(0.0))
    step = loss_step(top, steps_per_spread, compositions)
    reach = min(FURTHEST, float(np.abs(law.second - law.first).max()) * law.log_odds)
    nodes = loss_nodes(step, reach, compositions, steps_per_spread)
    epsilons = step * nodes.astype(np.float64)
    up = _until(forward, top, epsilons, limit)
    down = up if law.is_symmetric else _until(reverse, top, epsilons, limit)
    used = max(up.size, down.size)
    return RecordProfile(step, nodes[:used], _padded(up, used), _padded(down, used))


def _until(
    profile: Callable[[float], float], first: float, epsilons: Floats, limit: float
) -> Floats:
    """The profile at each ε up to the first that no longer matters."""
    values = [first]
    for epsilon in epsilons[1:]:
        values.append(profile(float(epsilon)))
        if values[-1] < limit:
            break
    return np.array(values)


def _padded(values: Floats, size: int) -> Floats:
    """Profiles only fall, so the last value bounds all later ones."""
    return np.append(values, np.full(size - values.size, values[-1]))
