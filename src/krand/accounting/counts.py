"""What one position tells: the two laws of its count, and the profile of such a pair.

Flips: the background is a number m of ones among N-1 people, and the count of reported ones is
Bin(km, p) + Bin(k(N-1-m), q) plus the k own responses. More people are post-processing: for all m
in a bucket [a, b] the pair with a ones and N-1-b zeros is at least as bad, and the other half of
all m mirrors the first. Dummies: one honest mixer's number of them, and that number plus 1.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from krand.accounting.composition import FURTHEST
from krand.accounting.laws import LEFT_OUT, UNIT, Floats, masses_of, window_binomial
from krand.promise import DummyLaw

FINEST = 2000
"""Up to this crowd every background has a bucket of its own: the supremum is exact."""
BUCKETS, FEWEST_BUCKETS = 256, 24
BUCKET_WORK = 1e6
"""Entries of all buckets together: wide counts get fewer buckets."""
WIDEST = 1e7
"""Counts with a larger variance are computed for a smaller crowd, which is safe."""
DIRECT = 1_000_000
"""Products up to which convolutions are done term by term."""
TILT, EDGE = 4.0, 10.0
"""Wide convolutions are tilted by e^(±4 deviations) and cut at ±10 deviations."""


class Pair(NamedTuple):
    """The laws P (`top`) and Q (`bottom`) of what is seen after one answer and after another.

    P ≤ top(1+relative) + error and Q ≥ bottom(1-relative) - error, and P has at most `left_out`
    elsewhere; the same holds if P and Q change places.
    """

    top: Floats
    bottom: Floats
    error: Floats
    relative: float
    left_out: float

    def swapped(self) -> Pair:
        return self._replace(top=self.bottom, bottom=self.top)


def profile(pair: Pair, epsilons: Floats) -> Floats:
    """An upper bound of δ = sup_S P(S) - e^ε·Q(S) at every ε ≥ 0, proven in proofs.md.

    S has the outcomes whose ratio P/Q is at least e^ε, or cannot be told from it: the first ones if
    all are sorted by it.
    """
    relative = pair.relative + 4 * UNIT
    high = pair.top * (1 + relative) + pair.error
    low = np.maximum(pair.bottom * (1 - relative) - pair.error, 0.0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = np.where(high > 0, high / low, 0.0)
    order = np.argsort(-ratio, kind="stable")
    above, below = (np.append(0.0, np.cumsum(part[order])) for part in (high, low))
    epsilons = np.minimum(epsilons, FURTHEST)
    factor, tie = np.exp(epsilons), UNIT * (16 + 4 * epsilons)
    first = np.searchsorted(-ratio[order], -factor * (1 - tie), side="right")
    slack = UNIT * (2 * high.size + 100 + 20 * epsilons)
    gain = np.maximum(above[first] - factor * below[first], 0.0)
    return np.asarray(gain + slack * above[first] + pair.left_out)


def dummy_pair(law: DummyLaw) -> Pair:
    """One message more or not. The law is symmetric, so that signs do not matter."""
    masses = masses_of(law)
    nothing = np.zeros(masses.size + 1)
    return Pair(np.append(masses, 0.0), np.append(0.0, masses), nothing, 2 * UNIT, 0.0)


# --- flips --------------------------------------------------------------------------------------


def is_wide(q: float, crowd: int, copies: int) -> bool:
    """Whether the law of a count is too wide to be computed for the whole crowd."""
    return _counted(q, crowd, copies) < crowd


def flip_pairs(q: float, crowd: int, copies: int, buckets: int) -> Iterator[Pair]:
    """For every background one of these pairs, or its mirror image, is at least as bad."""
    counted = _counted(q, crowd, copies)
    window = 26 * math.sqrt(counted * copies * q * (1 - q))
    buckets = min(buckets, max(FEWEST_BUCKETS, int(BUCKET_WORK / window)))
    for low, high in _bucket_edges(counted, buckets):
        yield background_pair(q, low, counted - 1 - high, copies)


def _counted(q: float, crowd: int, copies: int) -> int:
    """The crowd itself, or as much of it as keeps the count's law small."""
    return int(min(float(crowd), max(2.0, WIDEST / (q * (1 - q) * copies))))


def _bucket_edges(crowd: int, buckets: int) -> list[tuple[int, int]]:
    """Ranges of m that cover 0 … (N-1)/2; the other half mirrors them."""
    last = (crowd - 1) // 2
    if crowd <= FINEST and buckets >= BUCKETS:
        return [(m, m) for m in range(last + 1)]
    edges = np.linspace(0, last + 1, min(buckets, last + 1) + 1).astype(int)
    return [(int(a), int(b) - 1) for a, b in itertools.pairwise(edges)]


def background_pair(q: float, ones: int, zeros: int, copies: int = 1) -> Pair:
    """Counts with the own bit 0 and with the own bit 1, everybody reporting k times."""
    if copies == 1:
        others, p = _count(q, ones, zeros), 1 - q
        here, before = np.append(others.mass, 0.0), np.append(0.0, others.mass)
        error = np.append(others.error, 0.0) + np.append(0.0, others.error)
        zero, one = p * here + q * before, q * here + p * before
        return Pair(zero, one, error, others.relative + 4 * UNIT, others.left_out)
    # k own responses of a bit are those of one more person with that bit.
    clear = _count(q, copies * ones, copies * (zeros + 1))
    set_ = _count(q, copies * (ones + 1), copies * zeros)
    start = min(clear.start, set_.start)
    stop = max(clear.start + clear.mass.size, set_.start + set_.mass.size)

    def placed(law: _Count, values: Floats) -> Floats:
        before, after = law.start - start, stop - law.start - values.size
        return np.concatenate((np.zeros(before), values, np.zeros(after)))

    zero, one = placed(clear, clear.mass), placed(set_, set_.mass)
    # The count is larger with a set bit: below the window of `clear` there is even less of `set_`
    # than was left out of `clear`, and above that of `set_` likewise.
    one[: clear.start - start] = 0.0
    zero[set_.start + set_.mass.size - start :] = 0.0
    error = np.maximum(placed(clear, clear.error), placed(set_, set_.error))
    relative = max(clear.relative, set_.relative)
    return Pair(zero, one, error, relative, 2 * (clear.left_out + set_.left_out))


class _Count(NamedTuple):
    """A law on start, start+1, …, with a bound on each entry's error and a relative one for all."""

    start: int
    mass: Floats
    error: Floats
    relative: float
    left_out: float


def _count(q: float, ones: int, zeros: int) -> _Count:
    """Reported ones of so many people with bit 1 and bit 0."""
    flipped, raised = window_binomial(ones, q), window_binomial(zeros, q)
    kept, more = flipped.mass[::-1], raised.mass
    start = ones - flipped.first - (kept.size - 1) + raised.first
    relative = flipped.off + raised.off
    if min(kept.size, more.size) > 8 and kept.size * more.size > DIRECT:
        return _wide(start, kept, more, relative)
    mass = np.convolve(kept, more)
    relative += UNIT * min(kept.size, more.size)
    return _Count(start, mass, np.zeros(mass.size), relative, LEFT_OUT)


def _wide(start: int, a: Floats, b: Floats, relative: float) -> _Count:
    """a∗b by FFT, each half tilted towards its own tail so that tails keep their digits."""
    length = a.size + b.size - 1
    size = 1 << (length - 1).bit_length()
    (mean_a, var_a), (mean_b, var_b) = _moments(a), _moments(b)
    deviation = math.sqrt(var_a + var_b)
    where = (np.arange(length) - mean_a - mean_b) / deviation
    mass, error = np.zeros(length), np.zeros(length)
    left_out = 0.0
    for sign, half in ((-1.0, where < 0), (1.0, where >= 0)):
        tilt_a, tilt_b = (
            np.exp(sign * TILT / deviation * (np.arange(m.size) - mean))
            for m, mean in ((a, mean_a), (b, mean_b))
        )
        product = np.fft.irfft(np.fft.rfft(a * tilt_a, size) * np.fft.rfft(b * tilt_b, size), size)
        # Each entry is off by a few log2(size) roundings of |a|·|b| (both already tilted).
        scale = math.sqrt(float(((a * tilt_a) ** 2).sum()) * float(((b * tilt_b) ** 2).sum()))
        rounding = UNIT * 4 * math.log2(size) * scale
        back = np.exp(-sign * TILT * where[half])
        mass[half] = np.maximum(product[:length][half], 0.0) * back
        error[half] = rounding * back
        left_out += _chernoff(a, mean_a, deviation, sign) * _chernoff(b, mean_b, deviation, sign)
    inside = np.abs(where) <= EDGE
    seen = inside & (mass > 1000 * error)
    lost = float((mass + error)[inside & ~seen].sum())
    first, last = np.flatnonzero(seen)[[0, -1]]
    listed = slice(int(first), int(last) + 1)
    left_out = LEFT_OUT + left_out * math.exp(-EDGE * EDGE) + lost
    relative += 16 * UNIT * TILT * EDGE
    return _Count(start + int(first), mass[listed], error[listed], relative, left_out)


def _moments(mass: Floats) -> tuple[float, float]:
    k = np.arange(mass.size, dtype=np.float64)
    mean = float((mass * k).sum())
    return mean, float((mass * (k - mean) ** 2).sum())


def _chernoff(mass: Floats, mean: float, deviation: float, sign: float) -> float:
    """E[e^{±EDGE·(X-mean)/deviation}]: a factor of Chernoff's bound beyond ±EDGE deviations."""
    k = np.arange(mass.size, dtype=np.float64)
    return float((mass * np.exp(sign * EDGE / deviation * (k - mean))).sum())
