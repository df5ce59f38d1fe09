"""What noise gives where everybody else answers alike, the attack that the drafts analyse.

For one copy of a record it is the exact law of the worst such crowd. For k copies it is the k-fold
composition of one copy's law: mixing the kN responses is post-processing of k separate batches.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import root_scalar

from krand.accounting.composition import (
    FURTHEST,
    Composed,
    LossLaw,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand_lab.checks import check_crowd, check_noise
from krand_lab.exact.backgrounds import Pattern, outlier_law, swapped, uphill
from krand_lab.exact.bounds import Bounds, TwoWay, flat, worst
from krand_lab.exact.ratio import (
    local_delta,
    one_way_delta,
    two_way_delta,
    two_way_eta,
    upper_delta,
)
from krand_lab.exact.reports import local_epsilon

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-17
RESOLUTION = 6.0
"""Smoothing per node and step: with 10 steps per spread it adds about 1/60² to the variance."""
CLIMB_BITS, CLIMB_CROWD = 12, 100_000
"""Beyond these the outlier pair is taken for the worst homogeneous background, as it is to leading
order: no other pattern of free bits has a larger χ²."""
MOST_FLIPS = 1_000_000
"""Beyond so many noisy bits of one person nothing is claimed for what they reveal by themselves."""
SHARES = (0.3, 0.5, 0.6, 0.7, 0.75, 0.8, 0.84, 0.88, 0.91, 0.94, 0.97)
"""Of ε, where η is converted from δ."""


class Effort(IntEnum):
    """QUICK is for a search."""

    QUICK = 0
    FULL = 1


STEPS = (3.0, 10.0)
ETA_RESOLUTION = (500.0, 4000.0)
"""Both by effort."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attack:
    """Records of so many bits, in so many copies, among `crowd` people; asked about one ε."""

    bits: int
    copies: int = 1
    crowd: int
    epsilon: float

    def __post_init__(self) -> None:
        check_crowd(self.crowd)

    def delta(self, q: float, effort: Effort = Effort.FULL) -> TwoWay:
        """δ(ε), or what each response alone gives if that is less."""
        check_noise(q)
        local = flat(self._alone(q))
        if self.copies == 1:
            laws = [pattern.law(q) for pattern in self._patterns(q, effort)]
            found = worst([two_way_delta(law, self.crowd, self.epsilon) for law in laws])
        else:
            tops = [one.delta(self.epsilon) for one in self._composed(q, effort)]
            found = TwoWay(*(Bounds.around(top, 0.0, top) for top in tops))
        return min(local, found, key=lambda ways: ways.upper)

    def eta(self, q: float, effort: Effort = Effort.FULL) -> TwoWay:
        """η(ε); of copies the upper end is converted from δ."""
        check_noise(q)
        if self._alone(q) == 0:  # no ratio is above e^ε
            return flat(0.0)
        if self.copies == 1:
            laws, fine = [p.law(q) for p in self._patterns(q, effort)], ETA_RESOLUTION[effort]
            return worst([two_way_eta(law, self.crowd, self.epsilon, fine) for law in laws])
        both = (
            Bounds.around(one.tail(self.epsilon), 0.0, _converted(one.delta, self.epsilon))
            for one in self._composed(q, effort)
        )
        return TwoWay(*both)

    def least_noise(self, delta: float, start: float) -> float:
        """The q, just above `start`, that gives this δ: coarse steps first, then one fine one."""

        def excess(q: float, effort: Effort = Effort.QUICK) -> float:
            return math.log(self.delta(q, effort).upper / delta)

        found = root_scalar(excess, x0=start, x1=start + 0.004, xtol=1e-4, method="secant")
        near, aside = float(found.root), 1e-3
        slope = (excess(near + aside) - excess(near)) / aside
        return near - excess(near, Effort.FULL) / slope

    def _alone(self, q: float) -> float:
        """δ of one person's reports, seen alone, rounded up; 0 where no ratio is above e^ε."""
        flips = self.bits * self.copies
        if self.epsilon > flips * local_epsilon(q) * (1 + 1e-12):
            return 0.0
        return local_delta(outlier_law(q, flips), self.epsilon) if flips <= MOST_FLIPS else 1.0

    def _patterns(self, q: float, effort: Effort) -> tuple[Pattern, ...]:
        """The outlier pair and what is uphill."""
        outlier = Pattern(self.bits)
        if effort is Effort.QUICK or self.bits > CLIMB_BITS or self.crowd > CLIMB_CROWD:
            return (outlier,)
        return uphill(outlier, lambda p: _least_delta(p, q, self.crowd, self.epsilon))

    def _composed(self, q: float, effort: Effort) -> list[Composed]:
        loss = record_loss(q, self.bits, self.crowd, self.copies, STEPS[effort])
        return [compose([(one, self.copies)], self.epsilon) for one in (loss, loss.reversed())]


def _converted(delta: Callable[[float], float], epsilon: float) -> float:
    """η(ε) ≤ δ(ε')/(1-e^(ε'-ε)) for every ε' < ε."""
    nearer = [share * epsilon for share in SHARES]
    return min(1.0, *(delta(each) / -math.expm1(each - epsilon) for each in nearer))


@lru_cache(maxsize=64)
def _least_delta(pattern: Pattern, q: float, crowd: int, epsilon: float) -> float:
    """What this background surely costs, the worse direction; quick, for comparisons."""
    law = pattern.law(q)
    ways = (one_way_delta(one, crowd, epsilon, refine=False) for one in (law, swapped(law)))
    return max(way.lower for way in ways)


@lru_cache(maxsize=16)
def record_loss(q: float, bits: int, crowd: int, copies: int, steps_per_spread: float) -> LossLaw:
    """Upper bounds of one copy's profile, dense enough to be composed so many times."""
    law = outlier_law(q, bits)
    limit, resolution = NEGLIGIBLE / copies, RESOLUTION * steps_per_spread

    def profile(epsilon: float) -> list[float]:
        return [upper_delta(way, crowd, epsilon, resolution) for way in (law, swapped(law))]

    # Total variation has no direction: the better of the two bounds holds for both.
    top = min(profile(0.0))
    step = loss_step(top, steps_per_spread, copies)
    reach = min(FURTHEST, float(np.abs(law.second - law.first).max()) * local_epsilon(q))
    nodes = loss_nodes(step, reach, copies, steps_per_spread)
    values = [[top, top]]
    for node in nodes[1:].tolist():
        values.append(profile(step * node))
        if max(values[-1]) < limit:  # no later one matters
            break
    return connect_dots(step, nodes[: len(values)], *np.array(values).T)
