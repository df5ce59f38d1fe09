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
from functools import lru_cache, partial

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
from krand.accounting.portable import portable_exp, portable_power
from krand.promise import DUMMY_GRID, DummyLaw, Policy

Floats = NDArray[np.float64]
Parts = tuple[tuple[DummyLaw, int], ...]
"""Every law with the number of positions that one person can change, over all rounds."""

UNIT = 2.0**-52
TAPER = 8
"""The ends fall faster than the power law, as (1-(|x|/(R+1))^8)²: fewer dummies, the same σ."""
STEPS_PER_SPREAD = 60.0
"""Nodes of the grid of losses per standard deviation of one position's loss."""
STEPS = (10.0, 20.0, STEPS_PER_SPREAD)
"""By effort."""
MOST_NODES, PROBES = 4000, 300
NEGLIGIBLE = 1e-4
"""The part of δ that may be given away for a finer grid."""
RAREST = 1e-11
"""Weights are rounded to integers: what is rarer says nothing about a law's shape."""
ALIKE = 1e-9
"""Losses of geometric noise that differ relatively by less are one and the same."""


def dummy_law(shape: float, scale: float, reach: int) -> DummyLaw:
    """Weights ∝ exp(-|x/s|^p), rounded to integers that add up to 2^63: the same everywhere.

    Unless p = 1, the ends fall faster.

    >>> law = dummy_law(1.0, 1.0, 14)
    >>> law.reach, round(law.variance**0.5, 3)
    (14, 1.357)
    """
    x = np.arange(reach + 1, dtype=np.float64)
    mass = portable_exp(-portable_power(x / scale, shape))
    if shape > 1:
        mass *= _taper(x / (reach + 1))
    total = 2 * math.fsum(mass.tolist()) - float(mass[0])
    above = np.maximum((mass[1:] / total * DUMMY_GRID).astype(np.int64), 1).tolist()
    return DummyLaw((DUMMY_GRID - 2 * sum(above), *above))


def _taper(part: Floats) -> Floats:
    """(1-part^TAPER)²."""
    for _ in range(TAPER.bit_length() - 1):
        part = part * part
    rest = 1.0 - part
    return rest * rest


def law_profile(law: DummyLaw, epsilons: Floats) -> Floats:
    """δ(ε) of the pair (Z, Z+1), rounded up; the other direction is the same.

    δ(ε) = Σ (w - e^ε·w')⁺, w' being the weight before w: the sum over the outcomes whose ratio
    w/w' is above e^ε, which are the first ones if all are sorted by it. Those next to e^ε may count
    or not: they add next to nothing. The sums of weights are whole numbers, and exact.
    """
    known = _known(law)
    factor = np.exp(epsilons)
    slack = UNIT * (4 + 2 * epsilons)
    first = np.searchsorted(-known.ratios, -factor * (1 - slack), side="right")
    sums = known.here[first] * (1 + UNIT) - factor * known.before[first] * (1 - slack)
    return np.asarray(np.maximum(sums, 0.0) / DUMMY_GRID * (1 + UNIT))


@dataclass(frozen=True, slots=True, eq=False)
class _Known:
    """What is asked again and again about one law."""

    losses: Floats
    """ln P/Q of every outcome that both can have, and their probabilities under P."""
    masses: Floats
    ratios: Floats
    """w/w' of the same outcomes, falling, and the sums of w and of w' over the first of them.
    The outcome that has nothing before it always counts."""
    here: Floats
    before: Floats
    top: float
    """The largest loss."""
    spread: float

    @property
    def is_geometric(self) -> bool:
        """Whether all losses are alike but for their sign."""
        seen = np.abs(self.losses[self.masses > RAREST])
        return bool(np.ptp(seen) < ALIKE * seen.max())


@lru_cache(maxsize=64)
def _known(law: DummyLaw) -> _Known:
    half = np.array(law.half, dtype=np.uint64)
    weights = np.concatenate((half[:0:-1], half))
    ratios = weights[1:] / weights[:-1]
    losses, masses = np.log(ratios), weights[1:] / DUMMY_GRID
    order = np.argsort(-ratios, kind="stable")
    here = np.append(weights[:1], weights[0] + np.cumsum(weights[1:][order]))
    before = np.append(np.zeros(1, np.uint64), np.cumsum(weights[:-1][order]))
    return _Known(
        losses=losses,
        masses=masses,
        ratios=ratios[order],
        here=here.astype(np.float64),
        before=before.astype(np.float64),
        top=float(losses.max()),
        spread=math.sqrt(float((losses**2 * masses).sum())),
    )


@dataclass(frozen=True, slots=True)
class _Grid:
    """The grid of losses for some laws, and the largest loss of each that is told apart."""

    step: float
    tops: tuple[float, ...]


def _grid(parts: Parts, steps: float, negligible: float) -> _Grid:
    """A grid on which geometric losses lie exactly, or one that is fine for all others.

    Geometric noise has only the losses ±1/s: off the grid they would be rounded up by a step. A few
    rare losses near the ends may be so large that a grid up to them would be coarse: outcomes whose
    whole probability is negligible then count as infinite.
    """
    laws = [_known(law) for law, _ in parts]
    tops = tuple(law.top for law in laws)
    ratios = [top / min(tops) for top in tops]
    geometric = all(law.is_geometric for law in laws)
    if geometric and all(abs(ratio - round(ratio)) < ALIKE * ratio for ratio in ratios):
        # above every loss, so that nothing of it is beyond the node
        return _Grid(min(tops) * (1 + ALIKE), tops)
    finest = min(law.spread for law in laws) / steps
    if max(tops) > MOST_NODES * finest and negligible > 0:
        tops = tuple(_top_that_counts(law, negligible) for law, _ in parts)
    return _Grid(max(finest, max(tops) / MOST_NODES), tops)


def _top_that_counts(law: DummyLaw, negligible: float) -> float:
    """A loss beyond which there is next to nothing but the end."""
    known = _known(law)
    losses = np.geomspace(known.spread, max(known.top, 2 * known.spread), PROBES)
    profile = law_profile(law, losses)
    rare = np.flatnonzero(profile <= law.half[-1] / DUMMY_GRID + negligible)
    return min(known.top, float(losses[rare[0]])) if rare.size else known.top


def _dominating(law: DummyLaw, step: float, top: float) -> LossLaw:
    """A pair that dominates: the profile at the nodes, connected (`connect_dots`)."""
    known = _known(law)
    nodes = loss_nodes(step, top * (1 + 1e-12), 1, max(1.0, known.spread / step))
    profile = law_profile(law, step * nodes.astype(np.float64))
    if top >= known.top:
        profile[-1] = law.half[-1] / DUMMY_GRID * (1 + UNIT)  # beyond all losses: the end alone
    return connect_dots(step, nodes, profile, profile.copy())


@lru_cache(maxsize=4)
def _composed(parts: Parts, epsilon: float, steps: float, negligible: float) -> Composed:
    """All parts, dominated; η asks the same composition about many ε."""
    grid = _grid(parts, steps, negligible)
    pairs = zip(parts, grid.tops, strict=True)
    return compose([(_dominating(law, grid.step, top), n) for (law, n), top in pairs], epsilon)


@dataclass(frozen=True, slots=True, kw_only=True)
class DummyBound:
    """One honest mixer's dummies at every position that a person can change, asked about one ε."""

    parts: Parts
    epsilon: float
    surplus: float = 0.0
    """The probability that a lane has more dummies than its padding hides: it adds to δ."""
    negligible: float = 0.0
    """Outcomes of one position that are as rare as this may count as if they told everything."""

    def delta(self, effort: Effort) -> float:
        """δ(ε) in either direction, rounded up: the more effort, the nearer."""
        return self._delta(self.epsilon, effort)

    def eta(self, effort: Effort) -> float:
        """η(ε), converted from δ."""
        return converted_eta(partial(self._delta, effort=effort), self.epsilon)

    def _delta(self, epsilon: float, effort: Effort) -> float:
        if self._is_pure(epsilon):
            return min(1.0, self._ends() * (1 + ALIKE) + self.surplus)
        composed = _composed(self.parts, self.epsilon, STEPS[effort], self.negligible)
        return min(1.0, composed.delta(epsilon) + self.surplus)

    def _ends(self) -> float:
        """P of at least one outcome that the other answers cannot give."""
        log_none = sum(n * math.log1p(-law.half[-1] / DUMMY_GRID) for law, n in self.parts)
        return -math.expm1(log_none)

    def _is_pure(self, epsilon: float) -> bool:
        """Whether no sum of losses exceeds ε, so that δ is what the ends give away."""
        most = math.fsum(n * _known(law).top for law, n in self.parts)
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


def negligible_part(policy: Policy, parts: Parts) -> float:
    """How rare outcomes of one position must be for nobody to mind them."""
    return NEGLIGIBLE * policy.limit / sum(count for _, count in parts)


def parts_of(laws: Sequence[DummyLaw], counts: Sequence[int]) -> Parts:
    """Equal laws together: the composition of fewer parts is quicker."""
    found: dict[DummyLaw, int] = {}
    for law, count in zip(laws, counts, strict=True):
        found[law] = found.get(law, 0) + count
    return tuple(found.items())
