"""Bounds for bits that are reported apart: a single bit, its copies, all bits of a survey.

Every bit is a mechanism of its own, and what one person can change is their composition. Copies of
a bit are mixed into one count, whose law is exact.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krand.accounting import bits
from krand.accounting.bounds import Effort, converted_eta, either_way, flat, with_lower
from krand.accounting.channel import outlier_law
from krand.accounting.composition import Composed, LossLaw, compose
from krand.accounting.coupling import delta_of_distance
from krand.accounting.ratio import two_way_eta
from krand.promise import Bounds, Method, TwoWay

Noises = tuple[tuple[float, int], ...]
"""Every noise with the number of bits that one person can change, over all rounds."""
Losses = tuple[tuple[LossLaw, int], ...]

BUCKETS = (bits.OUTLIER_ONLY, 64, bits.BUCKETS, bits.BUCKETS)
"""By effort."""
FLOOR_REFINEMENT = 32.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BitBound(ABC):
    """All bits that one person can change, each with its own noise, composed."""

    noises: Noises
    crowd: int
    epsilon: float
    copies: int = 1
    distance: float = 0.0
    """In total variation, at most so far is what is run from the composition."""

    @property
    @abstractmethod
    def method(self) -> Method:
        """The argument behind δ."""

    @property
    def eta_method(self) -> Method:
        """The argument behind η."""
        return self.method.converted

    @property
    def shape(self) -> tuple[Noises, int]:
        """What is composed, and how many copies are mixed into each count."""
        return self.noises, self.copies

    @abstractmethod
    def parts(self, effort: Effort) -> list[Losses]:
        """The compositions to look at, from all bits rising to all bits falling."""

    def delta(self, effort: Effort) -> TwoWay:
        """δ of every composition, without lower ends."""
        tops = [self._delta(one)(self.epsilon) for one in self._composed(effort)]
        return either_way(tops, tops)

    def eta(self, effort: Effort) -> TwoWay:
        """The bare tail as value, δ converted as upper end, δ of the attack as lower end."""
        composed = self._composed(effort)
        tops = [converted_eta(self._delta(one), self.epsilon) for one in composed]
        ways = either_way([one.tail(self.epsilon) for one in composed], tops)
        # P[R > λ] ≥ E[(1-λ/R)⁺] = δ, so what the attack achieves is a lower end for η as well.
        return with_lower(ways, self.attack()) if effort == Effort.REPORT else ways

    def attack(self) -> tuple[float, float]:
        """The drafts' attack on all bits at once, every loss rounded down."""
        if not all(bits.is_whole(q, self.crowd, self.copies) for q, _ in self.noises):
            return 0.0, 0.0
        step = bits.bit_step(dict(self.noises), self.crowd, self.copies) / FLOOR_REFINEMENT
        pairs = [(bits.outlier_pair(q, self.crowd, self.copies), n) for q, n in self.noises]
        less = delta_of_distance(self.distance, self.epsilon)
        up, down = (
            compose([(bits.floor_loss(pair, step, way), n) for pair, n in pairs], self.epsilon)
            for way in (True, False)
        )
        return (
            max(0.0, up.delta_below(self.epsilon) - less),
            max(0.0, down.delta_below(self.epsilon) - less),
        )

    def _composed(self, effort: Effort) -> list[Composed]:
        return [compose(losses, self.epsilon) for losses in self.parts(effort)]

    def _delta(self, one: Composed) -> Callable[[float], float]:
        """δ as a function of ε, of what is run rather than of the composition."""
        return lambda epsilon: one.delta(epsilon) + delta_of_distance(self.distance, epsilon)

    def _losses(self, certified: bool, effort: Effort) -> Losses:
        noises, copies = self.shape
        return _losses(noises, self.crowd, certified, BUCKETS[effort], copies)


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryCrowd(BitBound):
    """For every background; one symmetric pair for each noise covers both directions."""

    @property
    def method(self) -> Method:
        blanketed = any(bits.is_blanketed(q, self.crowd) for q, _ in self.noises)
        return Method.BLANKET_BITS if blanketed else Method.EXACT_BITS

    @property
    def shape(self) -> tuple[Noises, int]:
        """Where a count of k copies is too wide to be certified, they are k batches: also safe."""
        if all(bits.mixes_exactly(q, self.crowd, self.copies) for q, _ in self.noises):
            return self.noises, self.copies
        return tuple((q, count * self.copies) for q, count in self.noises), 1

    def parts(self, effort: Effort) -> list[Losses]:
        return [self._losses(True, effort)]


@dataclass(frozen=True, slots=True, kw_only=True)
class EveryCrowdBit(EveryCrowd):
    """A single bit: nothing to compose, so no grid of losses for δ either."""

    def delta(self, effort: Effort) -> TwoWay:
        ((q, _),), at = self.noises, np.array([self.epsilon])
        top = bits.worst_profile(q, self.crowd, at, BUCKETS[effort], self.copies)
        return flat(float(top[0]))


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformCrowd(BitBound):
    """Where everybody else answers alike: the law is exact, some bits rise and some fall."""

    mixtures: tuple[tuple[int, ...], ...]
    """For each composition to look at: how many bits of each noise fall."""

    @property
    def method(self) -> Method:
        return Method.UNIFORM_BITS

    def parts(self, effort: Effort) -> list[Losses]:
        losses = self._losses(False, effort)
        return [_mixed(losses, falling) for falling in self.mixtures]


@dataclass(frozen=True, slots=True, kw_only=True)
class UniformCrowdBit(UniformCrowd):
    """A single bit: δ, and η of one copy, without a composition."""

    @property
    def eta_method(self) -> Method:
        return self.method if self.copies == 1 else self.method.converted

    def delta(self, effort: Effort) -> TwoWay:
        ((q, _),), at = self.noises, np.array([self.epsilon])
        pair = bits.outlier_pair(q, self.crowd, self.copies)
        whole = bits.is_whole(q, self.crowd, self.copies)
        tops = [float(v[0]) for v in pair.profile(at)]
        lows = [float(v[0]) * whole for v in pair.profile_below(at)]
        return TwoWay(*(Bounds.around(top, low, top) for top, low in zip(tops, lows, strict=True)))

    def eta(self, effort: Effort) -> TwoWay:
        if self.copies > 1:
            return super(UniformCrowdBit, self).eta(effort)
        ((q, _),) = self.noises
        return two_way_eta(outlier_law(q, 1), self.crowd, self.epsilon)


def mixtures_of_one(count: int) -> tuple[tuple[int, ...], ...]:
    """None, a quarter, half, three quarters and all of the bits of one noise, each once."""
    return tuple((n,) for n in sorted({0, count // 4, count // 2, count - count // 4, count}))


def mixtures_of_many(noises: Noises) -> tuple[tuple[int, ...], ...]:
    """The same shares of every noise's bits, rounded to whole bits."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    return tuple(tuple(round(share * count) for _, count in noises) for share in shares)


def _mixed(losses: Losses, falling: tuple[int, ...]) -> Losses:
    """So many of every law's bits in the other direction."""
    both = (
        ((law, count - back), (law.reversed(), back))
        for (law, count), back in zip(losses, falling, strict=True)
    )
    return tuple((law, count) for pair in both for law, count in pair if count)


@lru_cache(maxsize=4)
def _losses(noises: Noises, crowd: int, certified: bool, buckets: int, copies: int) -> Losses:
    """δ and η of the same noise share these."""
    return tuple(bits.survey_losses(dict(noises), crowd, certified, buckets, copies))
