"""Homogeneous backgrounds the drafts did and did not consider.

Everybody else answers x; the user answers y or y'. Only three numbers matter: how many bits have
x=y≠y', x=y'≠y, and y=y'≠x. Dropping a bit is post-processing, so a pattern is dominated by every
pattern that is at least as large in all three: only maximal patterns need to be looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from krand_lab.exact.reports import ReportLaw, local_epsilon, log_binomial

WORSE = 1.01


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a background answer x lies to the pair y, y'."""

    near_first: int
    near_second: int = 0
    common: int = 0

    def law(self, q: float) -> ReportLaw:
        return homogeneous_law(q, self.near_first, self.near_second, self.common)

    def chi_squared(self, q: float) -> float:
        """χ² = φ^c(φ^a + φ^b - 2): to leading order N·Var(log R)."""
        phi = (1 - q) / q + q / (1 - q) - 1  # 001 (3.14)
        try:
            spread = phi**self.near_first + phi**self.near_second - 2
            return float(phi**self.common * spread)
        except OverflowError:
            return float("inf")


def uphill(start: Pattern, badness: Callable[[Pattern], float]) -> tuple[Pattern, ...]:
    """Free bits: from the outlier pair, one bit at a time, to a pattern with no worse neighbour.

    The outlier pair has the largest χ² of all patterns, so with many users the walk ends where it
    began. With few users or a large ε a pair that agrees in some bits can be worse (N = 300, L = 5,
    q = .2, λ = 8: 7.35e-4 with two common bits against 4.51e-4). A neighbour that is less than 1 %
    worse is not followed: it would cost seconds and change the fourth digit of the noise.
    """
    at, here = start, badness(start)
    while True:
        steps = [
            Pattern(at.near_first - 1, at.near_second, at.common + 1),
            Pattern(at.near_first - 1, at.near_second + 1, at.common),
        ]
        values = [(badness(step), step) for step in steps if step.near_first > 0]
        best, where = max(values, default=(0.0, at), key=lambda v: v[0])
        if best <= WORSE * here:
            return (start,) if at == start else (start, at)
        at, here = where, best


def _flips(q: float, positions: int, in_first: bool, in_second: bool) -> ReportLaw:
    """Positions where the background differs from y (in_first), from y' (in_second), or both."""
    flips = np.arange(positions + 1, dtype=np.int64)
    exponent = 2 * flips - positions
    none = np.zeros_like(exponent)
    return ReportLaw(
        local_epsilon(q),
        log_binomial(positions, q),
        exponent if in_first else none,
        exponent if in_second else none,
    )


def homogeneous_law(q: float, near_first: int, near_second: int = 0, common: int = 0) -> ReportLaw:
    """Background x equal for all: `near_first` bits with x=y≠y', `near_second` with x=y'≠y,
    `common` with y=y'≠x. Bits where all three agree tell nothing.
    """
    law = _flips(q, near_first, in_first=False, in_second=True)
    if near_second:
        law = law.times(_flips(q, near_second, in_first=True, in_second=False))
    if common:
        law = law.times(_flips(q, common, in_first=True, in_second=True))
    return law


def outlier_law(q: float, bits: int) -> ReportLaw:
    """The drafts' pair: background all y, y' its opposite (001 (3.2))."""
    return homogeneous_law(q, bits)


def swapped(law: ReportLaw) -> ReportLaw:
    """The same responses with y and y' exchanged: the other direction."""
    return ReportLaw(law.log_odds, law.log_reference, law.second, law.first)
