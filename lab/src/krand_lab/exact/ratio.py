"""The exact law of the privacy ratio R for a pair of answers and a background.

With ν the law of a background response, r = K(y)/ν and r' = K(y')/ν, conditioning on which response
is the user's own gives (proofs.md, "One formula for exact laws and for certificates")

    R = Σr'/Σr,    δ = E_{ν^N}[(Σ(r' - λr))⁺]/N,    η = P_{D_m}[Σ(r' - λr) > 0],

one-dimensional sums of iid scores. With ν = K(x) this is exact for the homogeneous background x;
with the privacy blanket, as krand has it, a bound for every background.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand_lab.checks import check_crowd, check_noise
from krand_lab.exact.backgrounds import outlier_law, swapped
from krand_lab.exact.bounds import Bounds, TwoWay
from krand_lab.exact.direct import direct_mean_positive_part, direct_tail_probability, summable
from krand_lab.exact.inversion import Scores, mean_positive_part, tail_probability
from krand_lab.exact.reports import ReportLaw

Floats = NDArray[np.float64]

TINY = 2.0**-47
"""The rounding of an exponential and of a sum of a few of them, generously."""
UNCERTAIN = 2.0**-48
"""How far the logarithm of a ratio, or an ε beside it, may be off, relatively: some roundings."""
ALONE = 1e-8
"""Relative error of δ of one report alone, whose law has up to a million kinds, generously."""
SMALLEST = 1e-300
LARGEST_LOG = 600.0
"""Ratios are capped at e^600: far beyond λN for every N, so nothing changes but the overflow."""


def _scores(law: ReportLaw, epsilon: float, side: int) -> Scores:
    """r' - λr of every group, and what lies outside the blanket, with score 0.

    Every score is rounded to one side (+1 up, -1 down), by more than it can be off.
    """
    second, first = law.second * law.log_odds, law.first * law.log_odds + epsilon
    second = second + side * (TINY + UNCERTAIN * np.abs(second))
    first = first - side * (TINY + UNCERTAIN * (np.abs(first) + epsilon))
    reference = law.log_reference
    score = np.exp(np.minimum(second, LARGEST_LOG)) - np.exp(np.minimum(first, LARGEST_LOG))
    mean = np.exp(reference + second) - np.exp(reference + first)
    log_prob, own = reference, law.log_second
    outside = 1.0 - float(np.exp(reference).sum())
    if outside > 1e-15:
        score, mean = np.append(score, 0.0), np.append(mean, 0.0)
        log_prob = np.append(log_prob, math.log(outside))
        own = np.append(own, -np.inf)
    return Scores(score, log_prob, own, mean)


def one_way_delta(
    law: ReportLaw, crowd: int, epsilon: float, resolution: float = 100.0, refine: bool = True
) -> Bounds:
    """δ(ε) for y → y'; epsilon may be negative, where δ(-ε) = 1 - e^-ε + e^-ε·δ_swapped(ε)."""
    if epsilon < 0:
        other = one_way_delta(swapped(law), crowd, -epsilon, resolution, refine)
        base, factor = -math.expm1(epsilon), math.exp(epsilon)
        return Bounds(*(base + factor * v for v in (other.value, other.lower, other.upper)))
    top = _mean(_scores(law, epsilon, 1), crowd, resolution, refine)
    low = _mean(_scores(law, epsilon, -1), crowd, resolution, refine)
    return Bounds.around((top.value + low.value) / 2, low.lower, top.upper)


def upper_delta(
    law: ReportLaw,
    crowd: int,
    epsilon: float,
    resolution: float = 100.0,
    refine: bool = False,
) -> float:
    """The upper end of `one_way_delta` for ε ≥ 0, in half the time."""
    return min(1.0, _mean(_scores(law, epsilon, 1), crowd, resolution, refine).upper)


def local_delta(law: ReportLaw, epsilon: float) -> float:
    """δ(ε) for y → y' of one report, seen alone, rounded up."""
    scores = _scores(law, epsilon, 1)
    gain = float(np.maximum(scores.mean, 0.0).sum())
    return min(1.0, gain * (1 + ALONE) + SMALLEST)


def _mean(scores: Scores, crowd: int, resolution: float, refine: bool) -> Bounds:
    """E[S⁺]/N by summation where there are few outcomes, else by inversion."""
    if scores.score.max() <= 0 and scores.mean.max() <= 0:
        return Bounds.exactly(0.0)
    if summable(scores.log_prob, crowd):
        return direct_mean_positive_part(scores, crowd)
    return mean_positive_part(scores, crowd, resolution, refine)


def one_way_eta(law: ReportLaw, crowd: int, epsilon: float, resolution: float = 4000.0) -> Bounds:
    """P_{D_m}[R > e^ε] for y → y'. Only for ν = K(x): a blanket bounds δ, not tails."""
    top = chance_above_zero(_scores(law, epsilon, 1), crowd, resolution)
    low = chance_above_zero(_scores(law, epsilon, -1), crowd, resolution)
    return Bounds.around((top.value + low.value) / 2, low.lower, top.upper)


def chance_above_zero(scores: Scores, crowd: int, resolution: float = 4000.0) -> Bounds:
    """P[S > 0] by summation where there are few outcomes, else by inversion."""
    if scores.score.max() <= 0:
        return Bounds.exactly(0.0)
    if summable(scores.log_prob, crowd):
        return direct_tail_probability(scores, crowd)
    return tail_probability(scores, crowd, resolution)


def two_way_delta(law: ReportLaw, crowd: int, epsilon: float, resolution: float = 100.0) -> TwoWay:
    """δ(ε) for y → y' and for y' → y."""
    return TwoWay(
        one_way_delta(law, crowd, epsilon, resolution),
        one_way_delta(swapped(law), crowd, epsilon, resolution),
    )


def two_way_eta(law: ReportLaw, crowd: int, epsilon: float, resolution: float = 4000.0) -> TwoWay:
    """η(ε) for y → y' and for y' → y."""
    return TwoWay(
        one_way_eta(law, crowd, epsilon, resolution),
        one_way_eta(swapped(law), crowd, epsilon, resolution),
    )


@dataclass(frozen=True, slots=True)
class RatioLaw:
    """R of the drafts' outlier pair: N-1 users alike, one possibly their opposite (001 §3)."""

    noise: float
    bits: int
    crowd: int

    def __post_init__(self) -> None:
        check_noise(self.noise)
        check_crowd(self.crowd)

    @property
    def law(self) -> ReportLaw:
        return outlier_law(self.noise, self.bits)

    def delta(self, epsilon: float, resolution: float = 100.0) -> TwoWay:
        """E_D[(R-λ)⁺] and E_D[(1-λR)⁺]."""
        return two_way_delta(self.law, self.crowd, epsilon, resolution)

    def eta(self, epsilon: float, resolution: float = 4000.0) -> TwoWay:
        """P[R > λ | D_m] and P[1/R > λ | D]."""
        return two_way_eta(self.law, self.crowd, epsilon, resolution)

    def tail(self, log_ratio: float) -> float:
        """P[R > e^log_ratio | D_m]."""
        if log_ratio >= 0:
            return one_way_eta(self.law, self.crowd, log_ratio).value
        return _tail_below_one(self, log_ratio)


def _tail_below_one(ratio: RatioLaw, log_ratio: float) -> float:
    """P[R > r | D_m] for r < 1: the mean score is positive, so take the complement."""
    law = ratio.law
    second = np.exp(np.minimum(law.second * law.log_odds, LARGEST_LOG))
    mean = np.exp(law.log_reference + log_ratio) - np.exp(law.log_second)
    flipped = Scores(math.exp(log_ratio) - second, law.log_reference, law.log_second, mean)
    return 1 - chance_above_zero(flipped, ratio.crowd).value
