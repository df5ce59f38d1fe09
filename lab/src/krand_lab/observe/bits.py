"""R of every position that was counted on its own (bit linkage), for two pairs of crowds.

*The drafts' pair*: everybody answers 0, or one person 1 (000 §0). Ones in a real crowd push R far
beyond its law there, so that a large R says little more than that somebody answered 1.

*This crowd's pair*: d true ones among the others, d as estimated; one person more answers 1, or
not. With B the law of the ones that the other N-1 report,

    R = P[M=m | d+1]/P[M=m | d] = (p·B(m-1) + q·B(m)) / (q·B(m-1) + p·B(m)).

R grows with m in both, so that tails of R are tails of the count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from krand_lab.exact.counts import one_bit_pair
from krand_lab.observe.change import CountLaw

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def crowd_law(people: int, true_ones: int, noise: float) -> CountLaw:
    """The law of the count when N-1 people have so many ones and the last one has none."""
    start, zero, one = one_bit_pair(noise, true_ones, people - 1 - true_ones)
    seen = np.flatnonzero((zero > 0) & (one > 0))
    inside = slice(int(seen[0]), int(seen[-1]) + 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.nan_to_num(np.log(one[inside]) - np.log(zero[inside]), nan=0.0)
    return CountLaw(start=start + inside.start, chances=zero[inside], log_ratios=ratios)


def true_ones_of(people: int, count: int, noise: float) -> int:
    """The estimated true ones among the other people: whole, and possible."""
    estimate = (count - noise * people) / (1 - 2 * noise)
    return min(max(round(estimate), 0), people - 1)


def tail_of_zeros(people: int, count: int, noise: float) -> float:
    """P[M ≥ m], M ~ Bin(N, q): everybody answers 0."""
    if not 1 <= count <= people:
        return float(count < 1)
    return float(betainc(count, people - count + 1, noise))


def tail_of_outlier(people: int, count: int, noise: float) -> float:
    """P[M ≥ m] if one person answers 1, whose response is 1 with probability p."""
    kept, lost = (tail_of_zeros(people - 1, count - own, noise) for own in (1, 0))
    return (1 - noise) * kept + noise * lost


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class CountSeen:
    """A count of ones: its ratios, and where they lie in their laws."""

    count: int
    log_outlier: float
    """log R of the drafts' pair."""
    zeros: float
    """P[R ≥ this] if everybody answers 0."""
    outlier: float
    """P[R ≥ this] if one person answers 1."""
    log_here: float
    """log R of this crowd's pair."""
    here: float
    """P[|log R| ≥ this] in this crowd."""
    true_ones: int
    """Estimated, among the others."""
    law: CountLaw
    """Of this crowd."""


def see_counts(
    people: int, counts: Counts, noises: Floats
) -> tuple[list[CountSeen], NDArray[np.intp]]:
    """What each distinct count of each noise says, and which of them every position has."""
    levels, level = np.unique(noises, return_inverse=True)
    pairs, rows = np.unique(np.stack([level, counts]), axis=1, return_inverse=True)
    law = cache(crowd_law)
    found = []
    for place, count in pairs.T.tolist():
        noise = float(levels[place])
        true_ones = true_ones_of(people, count, noise)
        here = law(people, true_ones, noise)
        log_here = here.log_ratio(count)
        # Without true ones it is the drafts' pair (000), with nothing else its mirror (003):
        # there a count can lie outside the window, because the estimate was clipped.
        if true_ones == 0:
            log_here = _log_outlier(people, count, noise)
        elif true_ones == people - 1:
            log_here = -_log_outlier(people, people - count, noise)
        found.append(
            CountSeen(
                count=count,
                log_outlier=_log_outlier(people, count, noise),
                zeros=tail_of_zeros(people, count, noise),
                outlier=tail_of_outlier(people, count, noise),
                log_here=log_here,
                here=here.as_far(log_here),
                true_ones=true_ones,
                law=here,
            )
        )
    return found, rows.ravel()


def _log_outlier(people: int, count: int, noise: float) -> float:
    """log R of one person's 1 among zeros against nobody's: R = (N-m)/N·q/p + m/N·p/q."""
    odds = (1 - noise) / noise
    return math.log((people - count) / odds / people + count * odds / people)
