"""One-bit mechanisms: the tight certificate over all backgrounds, and their composition.

For one bit the background is a number m of ones among N-1 users. The count of reported ones is
Bin(km, p) + Bin(k(N-1-m), q) plus the k own reports, so the profile δ_m(ε) is a pair of exact sums,
for k mixed copies too. More users are post-processing: for all m in a bucket [a, b] the pair with a
ones and N-1-b zeros dominates. The maximum over buckets bounds every background, is a profile again
(convex in e^ε), and is composed by connecting the dots (mathematics §6, "One bit, tight").
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.privacy.channel import local_epsilon, window_binomial
from krand.privacy.composition import LossLaw, connect_dots, loss_nodes, loss_step

__all__ = [
    "BitPair",
    "background_pair",
    "bit_loss",
    "bit_step",
    "bucket_edges",
    "floor_loss",
    "outlier_pair",
    "survey_losses",
    "worst_profile",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TAIL = 13.0
"""Standard deviations kept of a count; what is left out is below LEFT_OUT."""
LEFT_OUT = 1e-30
FINEST = 2000
"""Up to this crowd every background has a bucket of its own: the supremum is exact."""
BUCKETS = 256
FEWEST_BUCKETS, BUCKETS_IN_ALL = 24, 20_000
WIDEST = 4e6
"""Counts with a larger variance are computed for a smaller crowd, which is on the safe side."""
DIRECT = 1_000_000
"""Products up to which convolutions are done directly, keeping relative accuracy in the tails."""
NEGLIGIBLE = 1e-19
"""The grid of losses ends where the profile, times the number of compositions, falls below."""


@dataclass(frozen=True, slots=True)
class BitPair:
    """Law of the count of ones when the own bit is 0 (`zero`) and when it is 1 (`one`)."""

    zero: Floats
    one: Floats
    rounding: float = 0.0

    def profile(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """(δ for 0 → 1, δ for 1 → 0) at every ε ≥ 0.

        one/zero grows with the count, so each δ is a difference of two tails at one crossing.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = np.log(self.one) - np.log(self.zero)
        log_ratio = np.maximum.accumulate(np.nan_to_num(log_ratio, nan=-np.inf, posinf=np.inf))
        lam = np.exp(epsilons)
        tail_one, tail_zero = _suffix(self.one), _suffix(self.zero)
        head_one, head_zero = _suffix(self.one[::-1]), _suffix(self.zero[::-1])
        up = np.searchsorted(log_ratio, epsilons, side="right")
        down = log_ratio.size - np.searchsorted(log_ratio, -epsilons, side="left")
        forward = tail_one[up] - lam * tail_zero[up]
        reverse = head_zero[down] - lam * head_one[down]
        extra = LEFT_OUT + self.rounding
        return (
            np.maximum(forward, 0.0) * (1 + 1e-12) + extra,
            np.maximum(reverse, 0.0) * (1 + 1e-12) + extra,
        )


def _suffix(mass: Floats) -> Floats:
    """Sums of mass[i:], i = 0 … n, smallest terms first."""
    return np.append(np.cumsum(mass[::-1])[::-1], 0.0)


def background_pair(q: float, ones: int, zeros: int, copies: int = 1) -> BitPair:
    """The pair of counts over a background of `ones` and `zeros`, everybody reporting k times."""
    _, kept = window_binomial(copies * ones, q, TAIL)
    _, raised = window_binomial(copies * zeros, q, TAIL)
    count, rounding = _convolve(kept[::-1], raised)
    first, flips = window_binomial(copies, q, TAIL)
    before, _ = _convolve(count, flips)
    after, _ = _convolve(count, flips[::-1])
    gap = copies - 2 * first - flips.size + 1
    return BitPair(
        np.concatenate((before, np.zeros(max(0, gap)))),
        np.concatenate((np.zeros(max(0, gap)), after)),
        rounding,
    )


def _convolve(a: Floats, b: Floats) -> tuple[Floats, float]:
    """a∗b and its absolute error where the FFT is needed."""
    if a.size * b.size <= DIRECT:
        return np.convolve(a, b), 0.0
    length = a.size + b.size - 1
    size = 1 << length.bit_length()
    product = np.fft.irfft(np.fft.rfft(a, size) * np.fft.rfft(b, size), size)[:length]
    # Each entry is off by at most a few log2(size) roundings of |a|·|b|; a tail sums them all.
    scale = math.sqrt(float((a * a).sum()) * float((b * b).sum()))
    rounding = length * 2.0**-53 * 8 * math.log2(size) * scale
    return np.maximum(product, 1e-300), rounding


def outlier_pair(q: float, population: int, copies: int = 1) -> BitPair:
    """The drafts' single-bit case: everybody else answers 0 (000 (0.1)–(0.2), (1.5)–(1.6))."""
    return background_pair(q, 0, _crowd(q, population, copies) - 1, copies)


def _crowd(q: float, population: int, copies: int) -> int:
    """The crowd itself, or as much of it as keeps the count's law small: fewer is safe."""
    return min(population, max(2, int(WIDEST / (q * (1 - q) * copies))))


def bucket_edges(population: int, buckets: int) -> list[tuple[int, int]]:
    """Ranges of m that cover 0 … (N-1)/2; the other half mirrors them."""
    last = (population - 1) // 2
    if population <= FINEST:
        return [(m, m) for m in range(last + 1)]
    edges = np.linspace(0, last + 1, min(buckets, last + 1) + 1).astype(int)
    return [(int(a), int(b) - 1) for a, b in itertools.pairwise(edges)]


def worst_profile(
    q: float, population: int, epsilons: Floats, buckets: int = BUCKETS, copies: int = 1
) -> Floats:
    """An upper bound of max_m δ_m(ε), both directions, at every ε ≥ 0."""
    crowd = _crowd(q, population, copies)
    worst = np.zeros(epsilons.size)
    for low, high in bucket_edges(crowd, buckets):
        forward, reverse = background_pair(q, low, crowd - 1 - high, copies).profile(epsilons)
        np.maximum(worst, forward, out=worst)
        np.maximum(worst, reverse, out=worst)
    return worst


def bit_step(noises: Mapping[float, int], population: int, copies: int = 1) -> float:
    """A grid step for these one-bit mechanisms, by the root mean square of their spreads.

    What a coarse step adds to the variance of a quiet mechanism is small beside the loud ones.
    """
    zero = np.zeros(1)
    squares = sum(
        count * float(outlier_pair(q, population, copies).profile(zero)[0][0]) ** 2
        for q, count in noises.items()
    )
    return loss_step(math.sqrt(squares / sum(noises.values())))


def bit_loss(
    q: float,
    population: int,
    step: float,
    compositions: int,
    certified: bool = True,
    buckets: int = BUCKETS,
    copies: int = 1,
) -> LossLaw:
    """The dominating pair of one bit: of every background (certified) or of the drafts' one.

    The certified pair is symmetric: it covers both directions at once.
    """
    pair = outlier_pair(q, population, copies)
    nodes = _nodes(pair, local_epsilon(q, copies), step, compositions)
    epsilons = step * nodes.astype(np.float64)
    if certified:
        worst = worst_profile(q, population, epsilons, buckets, copies)
        return connect_dots(step, nodes, worst, worst)
    forward, reverse = pair.profile(epsilons)
    return connect_dots(step, nodes, forward, reverse)


def survey_losses(
    noises: Mapping[float, int], population: int, certified: bool = True
) -> list[tuple[LossLaw, int]]:
    """One-bit mechanisms with different noises, each so many times, ready to be composed.

    With many different noises each gets fewer buckets: a little more of the crowd is given away,
    and thousands of them still take seconds.
    """
    total = sum(noises.values())
    step = bit_step(noises, population)
    buckets = max(FEWEST_BUCKETS, min(BUCKETS, BUCKETS_IN_ALL // len(noises)))
    return [
        (bit_loss(q, population, step, total, certified, buckets), count)
        for q, count in noises.items()
    ]


def floor_loss(pair: BitPair, step: float, forward: bool = True) -> LossLaw:
    """The pair with every loss rounded down: never above the truth, for lower ends."""
    top, bottom = (pair.one, pair.zero) if forward else (pair.zero, pair.one)
    seen = (top > 1e-280) & (bottom > 1e-280)
    index = np.floor(np.log(top[seen] / bottom[seen]) / step).astype(np.int64)
    low = int(index.min())
    mass = np.asarray(np.bincount(index - low, top[seen]), dtype=np.float64)
    held = np.flatnonzero(mass > 0)
    return LossLaw(step, held + low, mass[held], 0.0, 0.0)


def _nodes(pair: BitPair, furthest: float, step: float, compositions: int) -> Ints:
    """Grid nodes up to where the profile no longer matters, at most ε₀ = k·ln(p/q)."""
    probe = np.geomspace(step, max(furthest, 2 * step), 200)
    forward, reverse = pair.profile(probe)
    small = np.flatnonzero(
        np.maximum(forward, reverse) < NEGLIGIBLE / compositions + 2 * LEFT_OUT + pair.rounding
    )
    if small.size:
        # The worst background may reach a little further than the outlier's.
        furthest = min(furthest, 1.5 * float(probe[small[0]]))
    return loss_nodes(step, max(furthest, step), compositions)
