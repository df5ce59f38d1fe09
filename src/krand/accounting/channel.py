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
MOST_BITS = 1_000_000
"""Beyond so many noisy bits of one person the law is not summed up but bounded."""
SMALLEST = 1e-300
ROUNDING, ROUNDING_EACH = 1e-11, 1e-15
"""Relative error of a binomial law, generously: of all, and more for each bit."""


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


def local_delta(q: float, distance: int, epsilon: float) -> float:
    """δ of one response seen alone, rounded up: the collector is not trusted at all.

    The bound that knows the channel only by its worst ratio: each response protects itself,
    whatever the background.

    Clones (Feldman, McMillan, Talwar 2023) are not computed: the privacy blanket is never worse.
    The sharper variation-ratio pair of Wang et al. (2024), which adds an own response that reveals
    nothing to the clones, is not a bound here if it is read as (A+Δ₁, C-A+Δ₂): two users, two bits,
    q = 2/5 and λ = 2 give δ = 9/625 while that pair gives 4/625 (lab/tests/exact/test_clones.py).

    It is 0 only where ε exceeds ε₀ for certain: a loss that cannot be told from ε counts.
    """
    odds, lower = local_epsilon(q), epsilon - uncertainty(epsilon)
    if lower > distance * odds * (1 + uncertainty(1.0)):
        return 0.0
    if distance > MOST_BITS:
        return _hoeffding(q, distance, lower)
    flips = np.arange(distance + 1, dtype=np.float64)
    loss = (2 * flips - distance) * odds
    loss += uncertainty(np.abs(loss))
    sure = loss > lower
    near = np.exp(log_binomial(distance, math.log1p(-q), math.log(q))[sure])
    gain = float((near * -np.expm1(lower - loss[sure])).sum())
    return min(1.0, gain * (1 + ROUNDING + distance * ROUNDING_EACH) + SMALLEST)


def _hoeffding(q: float, distance: int, epsilon: float) -> float:
    """δ ≤ P[loss > ε]: the loss is a sum of so many ±ln(p/q) with mean (p-q)·ln(p/q)."""
    odds = local_epsilon(q)
    over = epsilon - distance * (1 - 2 * q) * odds
    return math.exp(-((over / odds) ** 2) / (2 * distance)) if over > 0 else 1.0


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
