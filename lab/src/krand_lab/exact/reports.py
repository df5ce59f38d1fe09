"""What one report says about a pair of answers.

A report is grouped by what matters for privacy: its probability ν in the background and the two
likelihood ratios K(y)/ν and K(y')/ν. Every ratio of flipped bits is a whole power of p/q, so a
group is two exponents and a probability, and linked positions multiply by adding exponents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from krand_lab.checks import check_noise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ReportLaw:
    """One report's outcomes, grouped by likelihood ratios.

    `log_reference` is log ν of each group; K(y)/ν = (p/q)^first and K(y')/ν = (p/q)^second.
    ν may have total mass below 1: the rest says nothing about anybody.
    """

    log_odds: float
    log_reference: Floats
    first: Ints
    second: Ints

    @property
    def log_second(self) -> Floats:
        """log K(y') of each group."""
        return np.asarray(self.log_reference + self.second * self.log_odds)

    def times(self, other: ReportLaw) -> ReportLaw:
        """Linked positions: ratios and ν multiply; groups with equal ratios become one."""
        log_reference, first, second = (
            np.add.outer(mine, theirs).ravel()
            for mine, theirs in (
                (self.log_reference, other.log_reference),
                (self.first, other.first),
                (self.second, other.second),
            )
        )
        keys, where = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
        merged = np.full(keys.shape[1], -np.inf)
        np.logaddexp.at(merged, where.ravel(), log_reference)
        return ReportLaw(self.log_odds, merged, keys[0], keys[1])


def local_epsilon(q: float) -> float:
    """ln(p/q): what one report, seen alone, can reveal about one bit.

    Near ½ the two logarithms would cancel.
    """
    check_noise(q)
    return math.log1p((1 - 2 * q) / q) if q > 0.25 else math.log1p(-q) - math.log(q)


def log_binomial(n: int, q: float) -> Floats:
    """log P[Bin(n, q) = k], k = 0 … n.

    The sum is 1 and is made so: log-gamma alone would be off by a factor that the number of users
    turns into a power.
    """
    k = np.arange(n + 1, dtype=np.float64)
    log_choose = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    log_pmf = log_choose + k * math.log(q) + (n - k) * math.log1p(-q)
    return np.asarray(log_pmf - logsumexp(log_pmf))
