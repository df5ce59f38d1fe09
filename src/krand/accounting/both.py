"""Flips of devices and dummies of mixers in one count: the exact law, for every background.

A position is counted as B + S: B the ones that N devices report, each flipped with q, and S the
dummies of all mixers. Changing one person's bit changes the law of B as in `bits`, and S is added
to both sides. So for every background the pair is that of `bits`, convolved with the law of S; what
holds for a pair of fewer people holds for more of them, because the others are added afterwards.
The law of S is symmetric, so that a background and its mirror stay mirrors of each other.

The ratio of the two laws need not grow with the count: the law of S may have any shape. Hence the
profile is a sum over all outcomes, each cut at 0, and nothing is sorted.

A lower end is what one background gives away, that in which everybody else answers 0: its losses
and masses rounded down, composed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from krand.accounting import bits
from krand.accounting.bounds import Effort, converted_eta
from krand.accounting.channel import local_epsilon
from krand.accounting.composition import (
    FURTHEST,
    Composed,
    LossLaw,
    compose,
    connect_dots,
    loss_nodes,
    loss_step,
)
from krand.accounting.coupling import delta_of_distance
from krand.promise import DUMMY_GRID, Bounds, DummyLaw, Method, TwoWay

Floats = NDArray[np.float64]

UNIT = 2.0**-52
AT_ONCE = 2**22
"""Outcomes of profiles that are held in memory together."""
BUCKETS = (16, 64, bits.BUCKETS, bits.BUCKETS)
"""By effort."""
PROBES = 100
FLOOR_REFINEMENT = 8.0
"""Lower ends have a finer grid: every loss is rounded down by up to a step."""
RAREST = 1e-25
"""What is rarer would only stretch the grid; leaving it out lowers the value."""


@dataclass(frozen=True, slots=True)
class BothPart:
    """So many positions that one person can change, with this noise of devices and mixers."""

    noise: float
    law: DummyLaw
    positions: int


@lru_cache(maxsize=64)
def sum_of_dummies(law: DummyLaw, mixers: int) -> Floats:
    """The law of the dummies of all mixers together: 0 … 2R·h."""
    weights = np.array(law.weights, dtype=np.float64) / DUMMY_GRID
    found = weights
    for _ in range(mixers - 1):
        found = np.convolve(found, weights)
    found.setflags(write=False)
    return found


def both_profile(
    q: float, crowd: int, dummies: Floats, epsilons: Floats, buckets: int = bits.BUCKETS
) -> Floats:
    """An upper bound of max_m δ_m(ε) over all backgrounds, both directions, at every ε ≥ 0."""
    worst = np.zeros(epsilons.size)
    for pair in bits.worst_pairs(q, crowd, buckets):
        np.maximum(worst, _profile(pair, dummies, epsilons), out=worst)
    return worst


def _profile(pair: bits.BitPair, dummies: Floats, epsilons: Floats) -> Floats:
    """Both directions of one background, rounded up."""
    zero, one, error, relative = _with_dummies(pair, dummies)
    found = np.empty(epsilons.size)
    step = max(1, AT_ONCE // zero.size)
    for start in range(0, epsilons.size, step):
        part = slice(start, start + step)
        lam = np.exp(np.minimum(epsilons[part], FURTHEST))[:, None]
        slack = relative + UNIT * (4 + 2 * epsilons[part, None])
        missing = (1 + lam[:, 0]) * error.sum() + pair.left_out
        found[part] = missing + np.maximum(
            _excess(one, zero, lam, slack), _excess(zero, one, lam, slack)
        )
    return found


def _with_dummies(pair: bits.BitPair, dummies: Floats) -> tuple[Floats, Floats, Floats, float]:
    """Both laws of the count, the bound on an entry's error, and the relative error of all.

    All terms of a convolution are positive, so it adds one rounding for each of them at most.
    """
    zero, one, error = (np.convolve(law, dummies) for law in (pair.zero, pair.one, pair.error))
    return zero, one, error, pair.relative + UNIT * (4 + 2 * dummies.size)


def _floor_loss(pair: bits.BitPair, dummies: Floats, step: float, *, rising: bool) -> LossLaw:
    """A pair that this background's dominates: every mass and every loss rounded down."""
    zero, one, error, relative = _with_dummies(pair, dummies)
    top, bottom = (one, zero) if rising else (zero, one)
    sure = top * (1 - relative) - error
    most = bottom * (1 + relative) + error + pair.left_out
    seen = sure > RAREST
    if not seen.any():  # all that can be told lies beyond what is kept: nothing is claimed
        sure, most, seen = np.ones(1), np.ones(1), np.ones(1, dtype=np.bool_)
    index = np.floor(np.log(sure[seen] / most[seen]) / step).astype(np.int64)
    held, where = np.unique(index, return_inverse=True)
    mass = np.asarray(np.bincount(where, sure[seen]), dtype=np.float64)
    return LossLaw(step=step, index=held, mass=mass, infinite=0.0, infinite_reverse=0.0)


def _excess(top: Floats, bottom: Floats, lam: Floats, slack: Floats) -> Floats:
    """Σ (top - λ·bottom)⁺, every term as large as its error allows."""
    terms = np.maximum(top * (1 + slack) - lam * bottom * (1 - slack), 0.0)
    return np.asarray(terms.sum(axis=1) * (1 + UNIT * top.size))


@dataclass(frozen=True, slots=True, kw_only=True)
class BothBound:
    """All positions that one person can change, each with flips and dummies, asked about one ε.

    It is about a crowd of which nobody works with the analyst, and mixers that all follow the
    rules. What remains if they do not is promised by flips or dummies alone.
    """

    parts: tuple[BothPart, ...]
    crowd: int
    mixers: int
    epsilon: float
    distance: float = 0.0
    """In total variation, at most so far is what is run from the composition."""

    @property
    def method(self) -> Method:
        """The argument behind δ."""
        return Method.FLIPS_AND_DUMMIES

    @property
    def eta_method(self) -> Method:
        """The argument behind η."""
        return self.method.converted

    def upper(self, epsilon: float, buckets: int = bits.BUCKETS) -> float:
        """δ(ε), rounded up."""
        return self._upper(self._composed(buckets), epsilon)

    def _upper(self, composed: Composed, epsilon: float) -> float:
        return min(1.0, composed.delta(epsilon) + delta_of_distance(self.distance, epsilon))

    def lower(self) -> float:
        """δ(ε), rounded down: of the background in which everybody else answers 0.

        In a crowd that is too large for the law of its count nothing is said.
        """
        if not all(bits.is_whole(part.noise, self.crowd) for part in self.parts):
            return 0.0
        step = self._step(sum(part.positions for part in self.parts)) / FLOOR_REFINEMENT
        ways = [compose(self._floors(step, rising), self.epsilon) for rising in (True, False)]
        less = delta_of_distance(self.distance, self.epsilon)
        return max(0.0, *(way.delta_below(self.epsilon) - less for way in ways))

    def delta(self, effort: Effort) -> TwoWay:
        """Both directions at once: dummies are as likely above their mean as below."""
        top = self.upper(self.epsilon, BUCKETS[effort])
        both = Bounds.around(top, self.lower() if effort == Effort.REPORT else 0.0, top)
        return TwoWay(both, both)

    def eta(self, effort: Effort) -> TwoWay:
        """δ converted as upper end; δ itself as lower end, for P[R > λ] ≥ E[(1-λ/R)⁺]."""
        composed = self._composed(BUCKETS[effort])
        top = converted_eta(lambda epsilon: self._upper(composed, epsilon), self.epsilon)
        both = Bounds.around(top, self.lower() if effort == Effort.REPORT else 0.0, top)
        return TwoWay(both, both)

    def _floors(self, step: float, rising: bool) -> list[tuple[LossLaw, int]]:
        found = []
        for part in self.parts:
            pair = bits.outlier_pair(part.noise, self.crowd)
            dummies = sum_of_dummies(part.law, self.mixers)
            law = _floor_loss(pair, dummies, step, rising=rising)
            found.append((law, part.positions))
        return found

    def _composed(self, buckets: int) -> Composed:
        total = sum(part.positions for part in self.parts)
        step = self._step(total)
        losses = [(self._loss(part, step, total, buckets), part.positions) for part in self.parts]
        return compose(losses, self.epsilon)

    def _step(self, total: int) -> float:
        """By the root mean square of the spreads, as for flips alone."""
        zero = np.zeros(1)
        squares = sum(
            part.positions * float(self._outlier(part, zero)[0]) ** 2 for part in self.parts
        )
        return loss_step(math.sqrt(squares / total), compositions=total)

    def _outlier(self, part: BothPart, epsilons: Floats) -> Floats:
        """The profile where everybody else answers 0: it tells how far the grid must reach."""
        pair = bits.outlier_pair(part.noise, self.crowd)
        return _profile(pair, sum_of_dummies(part.law, self.mixers), epsilons)

    def _loss(self, part: BothPart, step: float, total: int, buckets: int) -> LossLaw:
        """No loss is above ε₀ of the flips: dummies only hide."""
        furthest = min(local_epsilon(part.noise), FURTHEST)
        probe = np.geomspace(step, max(furthest, 2 * step), PROBES)
        small = np.flatnonzero(self._outlier(part, probe) < bits.NEGLIGIBLE / total)
        if small.size:
            furthest = min(furthest, 1.5 * float(probe[small[0]]))
        nodes = loss_nodes(step, max(furthest, step), total)
        dummies = sum_of_dummies(part.law, self.mixers)
        epsilons = step * nodes.astype(np.float64)
        worst = both_profile(part.noise, self.crowd, dummies, epsilons, buckets)
        return connect_dots(step, nodes, worst, worst.copy())
