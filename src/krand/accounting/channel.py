"""The bit-flip channel: q ↔ φ ↔ ε₀, and what one response says about a pair of answers.

A response is grouped by what matters for privacy: its reference probability ν (the law of a
background response) and the two likelihood ratios K(y)/ν and K(y')/ν. Every ratio of the bit-flip
channel is a whole power of p/q, so a group is two exponents and a probability, and linked blocks
multiply by adding exponents.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp

from krand.promise import check_noise

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Exponent = TypeVar("Exponent", float, Floats)

UNIT = 2.0**-53
BLOCK_TAIL = 40.0
"""Standard deviations kept on each side of a windowed binomial; e^-800 is left out."""


def phi_of_noise(q: float) -> float:
    """φ = p/q + q/p - 1 = (p³+q³)/(pq) (001 (3.14))."""
    check_noise(q)
    p = 1 - q
    return p / q + q / p - 1


def noise_of_phi(phi: float) -> float:
    """q = 1/(1+r), r = ((φ+1)+√((φ+1)²-4))/2 (001 (3.16))."""
    s = phi + 1
    return 1 / (1 + (s + math.sqrt(max(0.0, s * s - 4))) / 2)


def local_epsilon(q: float, distance: int = 1) -> float:
    """ε₀ = d·ln(p/q): what one response, seen alone, can reveal about d bits.

    Off by less than `uncertainty`, relatively, for every q: near ½ the two logarithms would cancel.
    """
    check_noise(q)
    return distance * (math.log1p((1 - 2 * q) / q) if q > 0.25 else math.log1p(-q) - math.log(q))


def uncertainty(exponent: Exponent) -> Exponent:
    """How far the logarithm of a likelihood ratio, or an ε beside it, may be off at most.

    A handful of roundings, each half a unit in the last place. Where a loss is compared with ε,
    upper ends add it to the loss, so that a tie is never decided to the unsafe side.
    """
    return UNIT * 32 * exponent


def noise_of_local_epsilon(epsilon: float, distance: int = 1) -> float:
    """q = 1/(1+e^(ε/d)) (001 (4.2))."""
    return 1 / (1 + math.exp(epsilon / distance))


def log_binomial(n: int, log_p: float, log_q: float) -> Floats:
    """log C(n, k)·p^k·q^(n-k), k = 0 … n, from log p and log q.

    The sum is known to be (p+q)^n and is made so: log-gamma alone would be off by a factor that
    the number of users turns into a power.
    """
    k = np.arange(n + 1, dtype=np.float64)
    log_pmf = _log_choose(n) + k * log_p + (n - k) * log_q
    return np.asarray(log_pmf - (logsumexp(log_pmf) - n * np.logaddexp(log_p, log_q)))


@lru_cache(maxsize=8)
def _log_choose(n: int) -> Floats:
    """log C(n, k), k = 0 … n; asked for again and again while a noise is searched."""
    k = np.arange(n + 1, dtype=np.float64)
    choose = np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    choose.flags.writeable = False
    return choose


def window_binomial(n: int, p: float, tail: float = BLOCK_TAIL) -> tuple[int, Floats]:
    """(first, pmf) of Bin(n, p) on the window that holds all but e^(-tail²/2) of it.

    Built from the ratios of neighbours and normalised: exact to rounding for any n, where
    log-gamma would lose six digits at n = 10^9.
    """
    if n == 0:
        return 0, np.ones(1)
    spread = math.sqrt(n * p * (1 - p))
    reach = int(tail * spread + 2.5 * tail) + 1
    low, high = max(0, int(n * p) - reach), min(n, int(n * p) + reach)
    k = np.arange(low, high, dtype=np.float64)
    steps = np.log((n - k) / (k + 1)) + (math.log(p) - math.log1p(-p))
    log_pmf = np.concatenate(([0.0], np.cumsum(steps)))
    pmf = np.exp(log_pmf - log_pmf.max())
    return low, pmf / pmf.sum()


def window_error(size: int, p: float) -> float:
    """Relative error of every entry of `window_binomial` with so many entries, at most.

    Each of them is a sum of logarithms, all with the same rounded log-odds.
    """
    return UNIT * (64 + 4 * size * (2 + abs(math.log(p) - math.log1p(-p))))


@dataclass(frozen=True, slots=True)
class ReportLaw:
    """One response's outcomes, grouped by likelihood ratios.

    `log_reference` is log ν of each group; K(y)/ν = (p/q)^first and K(y')/ν = (p/q)^second.
    ν may have total mass below 1: the rest says nothing about anybody (the blanket's complement).
    """

    log_odds: float
    log_reference: Floats
    first: Ints
    second: Ints

    @property
    def log_first(self) -> Floats:
        """log K(y) of each group."""
        return np.asarray(self.log_reference + self.first * self.log_odds)

    @property
    def log_second(self) -> Floats:
        """log K(y') of each group."""
        return np.asarray(self.log_reference + self.second * self.log_odds)

    @property
    def mass(self) -> float:
        """γ = Σν, at most 1."""
        return float(min(1.0, np.exp(self.log_reference).sum()))

    @property
    def is_symmetric(self) -> bool:
        """Whether exchanging y and y' changes nothing, so that both directions are one."""
        here = np.lexsort((self.second, self.first))
        there = np.lexsort((self.first, self.second))
        return (
            np.array_equal(self.first[here], self.second[there])
            and np.array_equal(self.second[here], self.first[there])
            and np.allclose(self.log_reference[here], self.log_reference[there], rtol=1e-13)
        )

    def swapped(self) -> ReportLaw:
        """The same responses with y and y' exchanged: the other direction."""
        return ReportLaw(self.log_odds, self.log_reference, self.second, self.first)

    def times(self, other: ReportLaw) -> ReportLaw:
        """Linked blocks: channel, ratios and ν multiply."""
        return _grouped(
            self.log_odds,
            np.add.outer(self.log_reference, other.log_reference).ravel(),
            np.add.outer(self.first, other.first).ravel(),
            np.add.outer(self.second, other.second).ravel(),
        )


def _grouped(log_odds: float, log_reference: Floats, first: Ints, second: Ints) -> ReportLaw:
    """Merge groups with equal ratios."""
    keys, where = np.unique(np.stack([first, second]), axis=1, return_inverse=True)
    where = where.ravel()
    top = np.full(keys.shape[1], -np.inf)
    np.maximum.at(top, where, log_reference)
    safe = np.where(np.isfinite(top), top, 0.0)
    total = np.zeros(keys.shape[1])
    np.add.at(total, where, np.exp(log_reference - safe[where]))
    with np.errstate(divide="ignore"):
        return ReportLaw(log_odds, safe + np.log(total), keys[0], keys[1])


def _flips(q: float, positions: int, in_first: bool, in_second: bool) -> ReportLaw:
    """Positions where the background differs from y (in_first), from y' (in_second), or both."""
    flips = np.arange(positions + 1, dtype=np.int64)
    exponent = 2 * flips - positions
    none = np.zeros_like(exponent)
    return ReportLaw(
        local_epsilon(q),
        log_binomial(positions, math.log(q), math.log1p(-q)),
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
