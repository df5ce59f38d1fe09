"""Laws that everything else is made of: flips, binomial counts, dummies and their sums.

A law is an array of probabilities. Where they are rounded it is said by how much; the proofs are in
docs/explanation/proofs.md.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc, gammaln, logsumexp

from krand.promise import DUMMY_GRID, DummyLaw, check_noise

Floats: TypeAlias = NDArray[np.float64]

UNIT = 2.0**-52
"""Between two neighbouring numbers of floating point, relatively; a rounding is half of it."""
SMALLEST = 1e-300
"""Probabilities below this count as 0."""

# --- flips --------------------------------------------------------------------------------------


def local_epsilon(q: float, distance: int = 1) -> float:
    """ε₀ = d·ln(p/q): what one response, seen alone, can reveal about d bits.

    Near ½ the two logarithms would cancel.
    """
    check_noise(q)
    return distance * (math.log1p((1 - 2 * q) / q) if q > 0.25 else math.log1p(-q) - math.log(q))


def noise_of_local_epsilon(epsilon: float, distance: int = 1) -> float:
    """q = 1/(1+e^(ε/d)) (001 (4.2))."""
    return 1 / (1 + math.exp(epsilon / distance))


def noise_of_spread(spread: float) -> float:
    """The q with pq/(p-q)² = v, which is ½(1 - 1/√(1+4v)) without its cancellation."""
    root = math.sqrt(1 + 4 * spread)
    return 2 * spread / (root * (root + 1))


# --- binomial laws ------------------------------------------------------------------------------

TAIL = 13.0
"""Standard deviations of a count that are listed; what is left out is below LEFT_OUT."""
LEFT_OUT = 1e-30


class Window(NamedTuple):
    """Bin(n, p) from its entry `first` on, and by how much an entry may be off, relatively."""

    first: int
    mass: Floats
    off: float


def window_binomial(n: int, p: float) -> Window:
    """All of the law but LEFT_OUT (Bennett's inequality), for any n and p.

    Entries are made from the ratios of neighbours, d_k = ln((n-k)/(k+1)) + c, and normalised:
    log-gamma would lose six digits at n = 10^9. The partial sums S_k are off by u·Σ|S_k| and by
    what each d_k is off, as proofs.md says; normalising is off by as much once more.
    """
    if n == 0:
        return Window(0, np.ones(1), 0.0)
    spread = math.sqrt(n * p * (1 - p))
    reach = int(TAIL * spread + 2.5 * TAIL) + 1
    low, high = max(0, int(n * p) - reach), min(n, int(n * p) + reach)
    k = np.arange(low, high, dtype=np.float64)
    odds = math.log(p) - math.log1p(-p)
    quotients = np.log((n - k) / (k + 1))
    sums = np.append(0.0, np.cumsum(quotients + odds))
    mass = np.exp(sums - sums.max())
    each = 1 + 2 * np.abs(quotients) + 3 * abs(odds) + np.abs(quotients + odds)
    off = UNIT / 2 * (2 * float(np.abs(sums).sum() + each.sum()) + mass.size + 95)
    return Window(low, mass / mass.sum(), off)


def log_binomial(n: int, log_p: float, log_q: float) -> Floats:
    """log C(n, k)·p^k·q^(n-k), k = 0 … n, from log p and log q.

    The sum is known to be (p+q)^n and is made so: log-gamma alone would be off by a factor that
    the number of users turns into a power.
    """
    k = np.arange(n + 1, dtype=np.float64)
    log_mass = _log_choose(n) + k * log_p + (n - k) * log_q
    return np.asarray(log_mass - (logsumexp(log_mass) - n * np.logaddexp(log_p, log_q)))


@lru_cache(maxsize=8)
def _log_choose(n: int) -> Floats:
    """log C(n, k), k = 0 … n; asked for again and again while a noise is searched."""
    k = np.arange(n + 1, dtype=np.float64)
    choose = np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
    choose.flags.writeable = False
    return choose


# --- dummies ------------------------------------------------------------------------------------

LARGEST_REACH = 2**17
"""The largest R: a law of this length has 2.6 MB in a plan, and as many dummies a position."""
TAPER = 8
"""Unless a law is geometric its ends fall faster, as (1-(|x|/(R+1))^8)²: fewer dummies, the same
σ."""


def dummy_law(shape: float, scale: float, reach: int) -> DummyLaw:
    """Weights ∝ exp(-|x/s|^p), rounded to integers that add up to 2^63.

    They are two-sided geometric at p = 1 and Gaussian at p = 2. Unless p = 1, the ends fall faster.

    >>> law = dummy_law(1.0, 1.0, 14)
    >>> law.reach, round(law.variance**0.5, 3)
    (14, 1.357)
    """
    x = np.arange(reach + 1, dtype=np.float64)
    mass = np.exp(-((x / scale) ** shape))
    if shape > 1:
        mass *= (1 - (x / (reach + 1)) ** TAPER) ** 2
    total = 2 * math.fsum(mass.tolist()) - float(mass[0])
    above = np.maximum((mass[1:] / total * DUMMY_GRID).astype(np.int64), 1).tolist()
    return DummyLaw((DUMMY_GRID - 2 * sum(above), *above))


def least_reach(shape: float, scale: float, ends: float, tail: float) -> int:
    """The least R at which the ends of such a law have at most the probability `ends` each.

    Of laws that taper, at most `tail` of the law without its taper lies beyond each end.
    """
    if shape == 1:  # the end is (1-r)r^R/(1+r-2r^(R+1)), r = e^(-1/s): solved for r^R
        r, rest = math.exp(-1 / scale), -math.expm1(-1 / scale)
        return max(1, math.ceil(-scale * math.log(ends * (1 + r) / (rest + 2 * r * ends))))
    total = max(1.0, 2 * scale * math.gamma(1 + 1 / shape))

    def is_enough(reach: int) -> bool:
        beyond = (reach / scale) ** shape
        taper = math.expm1(TAPER * math.log1p(-1 / (reach + 1))) ** 2
        kept = float(gammaincc(1 / shape, beyond)) / 2 <= tail
        return kept and math.exp(-beyond) * taper <= ends * total

    low, high = 0, 1
    while not is_enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=64)
def masses_of(law: DummyLaw) -> Floats:
    """The probabilities of 0, 1, … 2R dummies, each of them rounded once."""
    masses = np.array(law.weights, dtype=np.float64) / DUMMY_GRID
    masses.setflags(write=False)
    return masses


def end_of(law: DummyLaw) -> float:
    """The probability of no dummies at all, rounded up: it tells that somebody's token is there."""
    return law.half[-1] / DUMMY_GRID * (1 + UNIT)


# --- sums of dummies ----------------------------------------------------------------------------
#
# The analyst sees the dummies of all mixers, all batches and all positions of a row added up: S,
# the sum of n independent numbers Z. With φ the characteristic function of Z - R, which is real
# because the law is symmetric, the law of S around its mean has φ^n, and a finite Fourier transform
# gives its probabilities modulo a period.
#
# * A period above 2nR + 1 changes nothing. Otherwise it is so long that what lies outside has a
#   probability below 2·10⁻¹⁶, by Bernstein's inequality (|Z-R| ≤ R, variance σ²).
# * 1-φ is a sum of positive terms, so it is known to a few units in the last place, and so is
#   n·ln φ: |a·e^-a| < 1 makes the error of φ^n some units, however large n is. A transform of N
#   values adds less than log₂ N units to their Euclidean norm, and a sum of at most N
#   probabilities at most √N times the norm of their errors.
#
# Both errors are added to every tail: a quantile is never too near to the mean.

OUTSIDE = 36.1
"""-ln of the probability, 2·10⁻¹⁶, of what may lie outside the period, on one side."""
RAREST = 1e-290
"""Sums that are rarer are not listed; of up to 15 draws there are none."""
AT_ONCE = 2**20
"""Terms of characteristic functions that are held in memory together."""


def sum_distance(law: DummyLaw, draws: int, tail: float) -> int:
    """The largest w with P[S - nR ≥ w] above `tail`: beyond it the sum lies no more often.

    >>> sum_distance(dummy_law(1.0, 1.0, 14), 1, 0.025)
    3
    """
    tails = sum_tails(law, draws)
    beyond = int(np.searchsorted(-tails, -tail, side="left"))  # tails fall
    if beyond < len(tails):
        return max(0, beyond - 1)
    return draws * law.reach  # the tail is below what can be computed: nothing is further out


@lru_cache(maxsize=64)
def sum_tails(law: DummyLaw, draws: int) -> Floats:
    """P[S - nR ≥ w] for w = 0, 1, …, rounded up; n is the number of draws."""
    period = _period(law, draws)
    half = period // 2
    masses = np.fft.irfft(_characteristic(law, draws, period), period)[: half + 1]
    error = math.sqrt(period) * UNIT * (64 + 8 * math.log2(period)) + 4e-16
    tails = np.minimum(np.cumsum(np.maximum(masses[::-1], 0.0))[::-1] + error, 1.0)
    tails.setflags(write=False)
    return np.asarray(tails)


@lru_cache(maxsize=64)
def sum_law(law: DummyLaw, draws: int) -> tuple[int, Floats]:
    """The least sum that is listed, and the probabilities of it and of those that follow.

    All terms are positive, so that no digit is lost: ratios need each of them, far out as well.

    >>> sum_law(DummyLaw((2**62, 2**61)), 2)
    (0, array([0.0625, 0.25  , 0.375 , 0.25  , 0.0625]))
    """
    if draws == 1:
        return 0, masses_of(law)
    half, rest = sum_law(law, draws // 2), sum_law(law, draws - draws // 2)
    start, masses = half[0] + rest[0], np.convolve(half[1], rest[1])
    kept = np.flatnonzero(masses > RAREST)
    start, masses = start + int(kept[0]), masses[kept[0] : kept[-1] + 1]
    masses.setflags(write=False)
    return start, masses


def _period(law: DummyLaw, draws: int) -> int:
    """A power of two, above all sums or at least above all but very rare ones."""
    part = OUTSIDE * law.reach / 3
    rare = part + math.sqrt(part * part + 2 * OUTSIDE * draws * law.variance)  # Bernstein
    most = min(draws * law.reach, math.ceil(rare))
    return 1 << (2 * most + 1).bit_length()


def _characteristic(law: DummyLaw, draws: int, period: int) -> Floats:
    """φ^n at the frequencies 0 … N/2 of the period."""
    lacking = _lacking(law, period)
    with np.errstate(divide="ignore"):
        logs = draws * np.log(np.abs(1 - lacking))
        near = lacking < 0.5
        logs[near] = draws * np.log1p(-lacking[near])
    signs = np.where((lacking > 1) & (draws % 2 == 1), -1.0, 1.0)
    return np.asarray(signs * np.exp(logs))


@lru_cache(maxsize=16)
def _lacking(law: DummyLaw, period: int) -> Floats:
    """1 - φ = 2 Σ w·(1 - cos 2xθ) = 4 Σ w·sin² xθ: the same for all sums with this period."""
    weights = 4 * masses_of(law)[law.reach + 1 :]
    distance = np.arange(1, law.reach + 1)
    angles = np.pi * np.arange(period // 2 + 1) / period
    lacking = np.empty(angles.size)
    step = max(1, AT_ONCE // max(1, law.reach))
    for start in range(0, angles.size, step):
        part = slice(start, start + step)
        lacking[part] = np.sin(np.outer(angles[part], distance)) ** 2 @ weights
    lacking.setflags(write=False)
    return lacking
