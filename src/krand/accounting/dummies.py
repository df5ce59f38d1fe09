"""Dummies of mixers: what a law with integer weights promises.

A mixer adds Z dummies to every position, Z on 0 … 2R around R. One person's change moves some
positions by ±1, so δ(ε) is that of the pairs (Z, Z+1), composed: by symmetry every pattern of signs
gives the same, and nothing is assumed about anybody else (docs/explanation/proofs.md, "Dummies of
mixers"). Everything is computed from the integers that mixers draw from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from krand.accounting.bounds import Effort, converted_eta
from krand.accounting.composition import (
    Composed,
    LossLaw,
    compose,
    connect_dots,
    golden_minimum,
    loss_nodes,
)
from krand.promise import DUMMY_GRID, Bounds, DummyLaw, Method, TwoWay

__all__ = [
    "DummyBound",
    "Parts",
    "dummy_law",
    "law_profile",
    "padding_needed",
    "parts_of",
    "surplus_bound",
    "tapered",
]

Floats = NDArray[np.float64]
Parts = tuple[tuple[DummyLaw, int], ...]
"""Every law with the number of positions that one person can change, over all rounds."""

UNIT = 2.0**-52
TAPER = 8
"""The ends fall faster than the power law, as (1-(|x|/(R+1))^8)²: fewer dummies, the same σ."""
STEPS_PER_SPREAD = 60.0
"""Nodes of the grid of losses per standard deviation of one position's loss."""
STEPS = (10.0, 20.0, STEPS_PER_SPREAD, STEPS_PER_SPREAD)
"""By effort."""
MOST_NODES = 4000
SHIFT = 1e-8
"""A loss this far below a node, relatively, still counts as the node's: for lower ends, which are
then asked about an ε that is larger by as much."""
RAREST = 1e-11
"""Weights are rounded to integers: what is rarer says nothing about a law's shape."""
ALIKE = 1e-9
"""Losses of geometric noise that differ relatively by less are one and the same."""


def dummy_law(shape: float, scale: float, reach: int) -> DummyLaw:
    """Weights ∝ exp(-|x/s|^p), tapered unless p = 1, rounded to integers that add up to 2^63.

    >>> law = dummy_law(1.0, 1.0, 14)
    >>> law.reach, round(law.variance**0.5, 3)
    (14, 1.357)
    """
    mass = tapered(shape, scale, np.arange(reach + 1, dtype=np.float64), reach)
    total = 2 * mass.sum() - mass[0]
    half = [max(1, int(part * DUMMY_GRID)) for part in (mass / total).tolist()]
    return DummyLaw((DUMMY_GRID - 2 * sum(half[1:]), *half[1:]))


def tapered(shape: float, scale: float, x: Floats, reach: int) -> Floats:
    """exp(-|x/s|^p), with ends that fall faster unless p = 1."""
    mass = np.exp(-((x / scale) ** shape))
    if shape > 1:
        mass *= (1 - (x / (reach + 1)) ** TAPER) ** 2
    return np.asarray(mass)


def law_profile(law: DummyLaw, epsilons: Floats) -> tuple[Floats, Floats]:
    """δ(ε) of the pair (Z, Z+1), rounded down and up; the other direction is the same."""
    weights = np.array(law.weights, dtype=np.float64) / DUMMY_GRID
    before = np.append(0.0, weights[:-1])
    factor = np.exp(epsilons)[:, None]
    slack = UNIT * (4 + 2 * epsilons[:, None])
    low = np.maximum(weights * (1 - UNIT) - factor * before * (1 + slack), 0.0).sum(axis=1)
    high = np.maximum(weights * (1 + UNIT) - factor * before * (1 - slack), 0.0).sum(axis=1)
    rounding = UNIT * weights.size
    return low * (1 - rounding), high * (1 + rounding)


@lru_cache(maxsize=512)
def _losses(law: DummyLaw) -> tuple[Floats, Floats]:
    """ln P/Q of every outcome that both can have, and its probability under P."""
    weights = np.array(law.weights, dtype=np.float64)
    return np.log(weights[1:] / weights[:-1]), weights[1:] / DUMMY_GRID


@lru_cache(maxsize=512)
def _spread(law: DummyLaw) -> float:
    losses, masses = _losses(law)
    return math.sqrt(float((losses**2 * masses).sum()))


def _common_step(parts: Parts, steps: float) -> float:
    """A grid on which geometric losses lie exactly, or one that is fine for all others.

    Geometric noise has only the losses ±1/s: off the grid they would be rounded up by a step.
    """
    tops = [float(_losses(law)[0].max()) for law, _ in parts]
    least = min(tops)
    ratios = [top / least for top in tops]
    geometric = all(_is_geometric(law) for law, _ in parts)
    if geometric and all(abs(ratio - round(ratio)) < ALIKE * ratio for ratio in ratios):
        return least * (1 + ALIKE)  # above every loss, so that nothing of it is beyond the node
    finest = min(_spread(law) for law, _ in parts) / steps
    return max(finest, max(tops) / MOST_NODES)


def _is_geometric(law: DummyLaw) -> bool:
    losses, masses = _losses(law)
    seen = np.abs(losses[masses > RAREST])
    return bool(np.ptp(seen) < ALIKE * seen.max())


def _above(law: DummyLaw, step: float) -> LossLaw:
    """A pair that dominates: the profile at the nodes, connected (`connect_dots`)."""
    top = float(_losses(law)[0].max()) * (1 + 1e-12)
    nodes = loss_nodes(step, top, 1, max(1.0, _spread(law) / step))
    _, profile = law_profile(law, step * nodes.astype(np.float64))
    profile[-1] = law.half[-1] / DUMMY_GRID * (1 + UNIT)  # beyond all losses: the end alone
    return connect_dots(step, nodes, profile, profile.copy())


def _below(law: DummyLaw, step: float, shift: float) -> LossLaw:
    """Every loss rounded down, for lower ends; the end of the law counts as infinite."""
    losses, masses = _losses(law)
    index = np.floor((losses + shift) / step).astype(np.int64)
    held, where = np.unique(index, return_inverse=True)
    mass = np.asarray(np.bincount(where, masses * (1 - UNIT)), dtype=np.float64)
    end = law.half[-1] / DUMMY_GRID
    return LossLaw(step=step, index=held, mass=mass, infinite=end, infinite_reverse=end)


@lru_cache(maxsize=4)
def _composed_above(parts: Parts, epsilon: float, steps: float) -> Composed:
    """All parts, dominated; η asks the same composition about many ε."""
    step = _common_step(parts, steps)
    return compose([(_above(law, step), n) for law, n in parts], epsilon)


@lru_cache(maxsize=4)
def _composed_below(parts: Parts, epsilon: float, shift: float) -> Composed:
    """All parts, with every loss rounded down."""
    step = _common_step(parts, STEPS_PER_SPREAD) / 8
    return compose([(_below(law, step, shift), n) for law, n in parts], epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class DummyBound:
    """One honest mixer's dummies at every position that a person can change, asked about one ε."""

    parts: Parts
    epsilon: float
    surplus: float = 0.0
    """The probability that a lane has more dummies than its padding hides: it adds to δ."""

    @property
    def method(self) -> Method:
        """The argument behind δ."""
        return Method.DUMMIES

    @property
    def eta_method(self) -> Method:
        """The argument behind η."""
        return self.method.converted

    def upper(self, epsilon: float, steps: float = STEPS_PER_SPREAD) -> float:
        """δ(ε), rounded up: the more steps of the grid, the nearer."""
        if self._is_pure(epsilon):
            return min(1.0, self._ends() * (1 + ALIKE) + self.surplus)
        composed = _composed_above(self.parts, self.epsilon, steps)
        return min(1.0, composed.delta(epsilon) + self.surplus)

    def lower(self) -> float:
        """δ(ε), rounded down."""
        count = sum(n for _, n in self.parts)
        shift = SHIFT * max(float(_losses(law)[0].max()) for law, _ in self.parts)
        composed = _composed_below(self.parts, self.epsilon, shift)
        return composed.delta_below(self.epsilon + count * shift) + self._ends() * (1 - ALIKE)

    def delta(self, effort: Effort) -> TwoWay:
        """Both directions are alike."""
        top = self.upper(self.epsilon, STEPS[effort])
        both = Bounds.around(top, self.lower() if effort == Effort.REPORT else 0.0, top)
        return TwoWay(both, both)

    def eta(self, effort: Effort) -> TwoWay:
        """δ converted as upper end; δ itself as lower end, for P[R > λ] ≥ E[(1-λ/R)⁺]."""
        top = converted_eta(lambda epsilon: self.upper(epsilon, STEPS[effort]), self.epsilon)
        both = Bounds.around(top, self.lower() if effort == Effort.REPORT else 0.0, top)
        return TwoWay(both, both)

    def _ends(self) -> float:
        """P of at least one outcome that the other answers cannot give."""
        log_none = sum(n * math.log1p(-law.half[-1] / DUMMY_GRID) for law, n in self.parts)
        return -math.expm1(log_none)

    def _is_pure(self, epsilon: float) -> bool:
        """Whether no sum of losses exceeds ε, so that δ is what the ends give away."""
        most = math.fsum(n * float(_losses(law)[0].max()) for law, n in self.parts)
        return most * (1 + 1e-12) <= epsilon


def surplus_bound(law: DummyLaw, positions: int, most: int) -> float:
    """P[ΣZ > most] over so many positions is at most this (Chernoff's bound, rounded up)."""
    if most >= 2 * law.reach * positions:
        return 0.0
    distance = np.arange(-law.reach, law.reach + 1, dtype=np.float64)
    log_mass = np.log(np.array(law.weights, dtype=np.float64) / DUMMY_GRID)
    beyond = most + 1 - law.mean * positions

    def exponent(log_theta: float) -> float:
        theta = math.exp(log_theta)
        return positions * float(logsumexp(log_mass + theta * distance)) - theta * beyond

    highest = math.log(700 / law.reach)
    least = exponent(golden_minimum(exponent, highest - 40, highest, 1e-3))
    return min(1.0, math.exp(least) * (1 + ALIKE))


def padding_needed(law: DummyLaw, positions: int, own: int, most: float) -> int:
    """The least number B of dummies with P[ΣZ > B - own] ≤ most, own being a person's part."""
    low, high = law.mean * positions, 2 * law.reach * positions + own
    while high - low > 1:
        middle = (low + high) // 2
        fits = surplus_bound(law, positions, middle - own) <= most
        low, high = (low, middle) if fits else (middle, high)
    return high


def parts_of(laws: Sequence[DummyLaw], counts: Sequence[int]) -> Parts:
    """Equal laws together: the composition of fewer parts is quicker."""
    found: dict[DummyLaw, int] = {}
    for law, count in zip(laws, counts, strict=True):
        found[law] = found.get(law, 0) + count
    return tuple(found.items())
