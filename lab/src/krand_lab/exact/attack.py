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

from krand.accounting.bounds import converted_eta
from krand.accounting.channel import ReportLaw, local_delta, local_epsilon
from krand.accounting.composition import (
    FURTHEST,
    Composed,
    LossLaw,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand.accounting.search import Grid, smallest_passing
from krand.promise import BOUND_DIGITS, NOISE_GRID, check_crowd, check_noise
from krand.showing import rounded_down
from krand_lab.exact.backgrounds import Pattern, outlier_law, swapped, uphill
from krand_lab.exact.bounds import Bounds, TwoWay, flat, worst
from krand_lab.exact.ratio import one_way_delta, two_way_delta, two_way_eta, upper_delta

Floats = NDArray[np.float64]

NEGLIGIBLE = 1e-17
RESOLUTION = 6.0
"""Smoothing per node and step: with 10 steps per spread it adds about 1/60² to the variance."""
CLIMB_BITS, CLIMB_CROWD = 12, 100_000
"""Beyond these the outlier pair is taken for the worst homogeneous background, as it is to leading
order: no other pattern of free bits has a larger χ²."""
SEARCHED = Grid(digits=13, end=NOISE_GRID // 2)
"""The noise that krand's own planner tries, as a/2^32."""


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
        local = flat(local_delta(q, self.bits * self.copies, self.epsilon))
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
        if local_delta(q, self.bits * self.copies, self.epsilon) == 0:  # no ratio is above e^ε
            return flat(0.0)
        if self.copies == 1:
            laws, fine = [p.law(q) for p in self._patterns(q, effort)], ETA_RESOLUTION[effort]
            return worst([two_way_eta(law, self.crowd, self.epsilon, fine) for law in laws])
        both = (
            Bounds.around(one.tail(self.epsilon), 0.0, converted_eta(one.delta, self.epsilon))
            for one in self._composed(q, effort)
        )
        return TwoWay(*both)

    def least_noise(self, delta: float, guess: float) -> float:
        """The smallest q of krand's grid with which δ, in krand's digits, is at most this."""
        limit = rounded_down(delta, BOUND_DIGITS)

        def excess(numerator: int, full: bool) -> float:
            ways = self.delta(numerator / NOISE_GRID, Effort.FULL if full else Effort.QUICK)
            return math.log(ways.upper / limit)

        last = SEARCHED.down(NOISE_GRID // 2 - 1)
        found = smallest_passing(excess, int(guess * NOISE_GRID), 1, last, grid=SEARCHED)
        assert found is not None
        return found / NOISE_GRID

    def _patterns(self, q: float, effort: Effort) -> tuple[Pattern, ...]:
        """The outlier pair and what is uphill."""
        outlier = Pattern(self.bits)
        if effort is Effort.QUICK or self.bits > CLIMB_BITS or self.crowd > CLIMB_CROWD:
            return (outlier,)
        return uphill(outlier, lambda p: _least_delta(p, q, self.crowd, self.epsilon))

    def _composed(self, q: float, effort: Effort) -> list[Composed]:
        loss = record_loss(q, self.bits, self.crowd, self.copies, STEPS[effort])
        return [compose([(one, self.copies)], self.epsilon) for one in (loss, loss.reversed())]


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

    def profile(one: ReportLaw) -> Callable[[float], float]:
        return lambda epsilon: upper_delta(one, crowd, epsilon, resolution)

    forward, reverse = profile(law), profile(swapped(law))
    # Total variation has no direction: the better of the two bounds holds for both.
    top = min(forward(0.0), reverse(0.0))
    step = loss_step(top, steps_per_spread, copies)
    reach = min(FURTHEST, float(np.abs(law.second - law.first).max()) * local_epsilon(q))
    nodes = loss_nodes(step, reach, copies, steps_per_spread)
    epsilons = step * nodes.astype(np.float64)
    up, down = (_until(one, top, epsilons, limit) for one in (forward, reverse))
    used = max(up.size, down.size)
    return connect_dots(step, nodes[:used], _padded(up, used), _padded(down, used))


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
