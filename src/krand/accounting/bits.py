"""One-bit mechanisms: the tight certificate over all backgrounds, and their composition.

For one bit the background is a number m of ones among N-1 users. The count of reported ones is
Bin(km, p) + Bin(k(N-1-m), q) plus the k own responses, so the profile δ_m(ε) is a pair of exact
sums, for k mixed copies too. More users are post-processing: for all m in a bucket [a, b] the pair
with a ones and N-1-b zeros dominates. The maximum over buckets bounds every background, is a
profile again (convex in e^ε), and is composed by connecting the dots: see proofs.md,
"One bit: nothing is given away".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.accounting.blanket import blanket_law
from krand.accounting.channel import local_epsilon, uncertainty, window_binomial, window_error
from krand.accounting.composition import FURTHEST, LossLaw, connect_dots, loss_nodes, loss_step
from krand.accounting.ratio import upper_delta
from krand.promise import FreeBits

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TAIL = 13.0
"""Standard deviations kept of a count; what is left out is below LEFT_OUT."""
LEFT_OUT = 1e-30
FINEST = 2000
"""Up to this crowd every background has a bucket of its own, unless fewer than BUCKETS are asked
for: the supremum is exact."""
BUCKETS = 256
OUTLIER_ONLY = 0
"""Instead of a number of buckets: the drafts' background alone, which shows where to search."""
FEWEST_BUCKETS, BUCKETS_IN_ALL = 24, 20_000
BUCKET_WORK = 1e6
"""Entries of all buckets together: wide counts get fewer buckets."""
WIDEST = 1e7
"""Counts with a larger variance are computed for a smaller crowd, which is safe; from twice as
much on the privacy blanket, which needs no law of the count, is the better bound."""
WIDEST_OUTLIER = 1e10
"""The same for the outlier's counts, which need no convolution."""
DIRECT = 1_000_000
"""Products up to which convolutions are done term by term."""
TILT, EDGE = 4.0, 10.0
"""Wide convolutions are tilted by e^(±4 deviations) and cut at ±10 deviations."""
NEGLIGIBLE = 1e-19
"""The grid of losses ends where the profile, times the number of compositions, falls below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BitPair:
    """Law of the count of ones when the own bit is 0 (`zero`) and when it is 1 (`one`).

    `error` bounds how far an entry of either may be off, beside a `relative` error of all;
    `left_out` is the mass not listed.
    """

    zero: Floats
    one: Floats
    error: Floats
    relative: float
    left_out: float = LEFT_OUT

    def profile(self, epsilons: Floats) -> tuple[Floats, Floats]:
        """(δ for 0 → 1, δ for 1 → 0) at every ε ≥ 0, rounded up."""
        up, down = self._crossings(epsilons)
        return (
            self._excess(self.one, self.zero, self.error, up, epsilons),
            self._excess(self.zero[::-1], self.one[::-1], self.error[::-1], down, epsilons),
        )

    def _crossings(self, epsilons: Floats) -> tuple[Ints, Ints]:
        """Where one/zero, which grows with the count, reaches λ, and where zero/one does.

        A ratio that cannot be told from λ counts.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            log_ratio = np.log(self.one / self.zero)
        log_ratio = np.maximum.accumulate(np.where(np.isnan(log_ratio), -np.inf, log_ratio))
        limits = epsilons - self._off(epsilons) / 2
        up = np.searchsorted(log_ratio, limits, side="left")
        down = log_ratio.size - np.searchsorted(log_ratio, -limits, side="right")
        return np.asarray(up), np.asarray(down)

    def _off(self, epsilons: Floats) -> Floats:
        """Relative error of a sum; twice that of one ratio, beside λ."""
        return np.asarray(4 * self.relative + uncertainty(1 + epsilons))

    def _excess(
        self, top: Floats, bottom: Floats, error: Floats, start: Ints, epsilons: Floats
    ) -> Floats:
        """Σ (top - λ·bottom) from `start` on, with everything that could be missing.

        An outcome that counts though its ratio is below λ is a tie: it takes away at most half of
        the relative error that is added.
        """
        lam = np.exp(np.minimum(epsilons, FURTHEST))
        above, below, off = (_suffix(part)[start] for part in (top, bottom, error))
        gain = np.maximum(above - lam * below, 0.0)
        return np.asarray(gain + self._off(epsilons) * above + (1 + lam) * off + self.left_out)


def _suffix(mass: Floats) -> Floats:
    """Sums of mass[i:], i = 0 … n, smallest terms first."""
    return np.append(np.cumsum(mass[::-1])[::-1], 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Count:
    """A law on start, start+1, …, with a bound on each entry's error and a relative one for all."""

    start: int
    mass: Floats
    error: Floats
    relative: float
    left_out: float


def _count(q: float, ones: int, zeros: int) -> _Count:
    """Reported ones of so many users with bit 1 and bit 0."""
    low, kept = window_binomial(ones, q, TAIL)
    high, raised = window_binomial(zeros, q, TAIL)
    start = ones - low - (kept.size - 1) + high
    relative = window_error(kept.size + raised.size, q)
    if kept.size * raised.size <= DIRECT or min(kept.size, raised.size) <= 8:
        mass = np.convolve(kept[::-1], raised)
        return _Count(
            start=start, mass=mass, error=np.zeros(mass.size), relative=relative, left_out=LEFT_OUT
        )
    return _wide(start, kept[::-1], raised, relative)


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
        rounding = 2.0**-53 * 8 * math.log2(size) * scale
        back = np.exp(-sign * TILT * where[half])
        mass[half] = np.maximum(product[:length][half], 0.0) * back
        error[half] = rounding * back
        left_out += _chernoff(a, mean_a, deviation, sign) * _chernoff(b, mean_b, deviation, sign)
    seen = (np.abs(where) <= EDGE) & (mass > 1000 * error)
    lost = float((mass + error)[~seen & (np.abs(where) <= EDGE)].sum())
    first, last = np.flatnonzero(seen)[[0, -1]]
    inside = slice(int(first), int(last) + 1)
    left_out = LEFT_OUT + left_out * math.exp(-EDGE * EDGE) + lost
    return _Count(
        start=start + int(first),
        mass=mass[inside],
        error=error[inside],
        relative=relative,
        left_out=left_out,
    )


def _moments(mass: Floats) -> tuple[float, float]:
    k = np.arange(mass.size, dtype=np.float64)
    mean = float((mass * k).sum())
    return mean, float((mass * (k - mean) ** 2).sum())


def _chernoff(mass: Floats, mean: float, deviation: float, sign: float) -> float:
    """E[e^{±EDGE·(X-mean)/deviation}]: a factor of Chernoff's bound beyond ±EDGE deviations."""
    k = np.arange(mass.size, dtype=np.float64)
    return float((mass * np.exp(sign * EDGE / deviation * (k - mean))).sum())


def background_pair(q: float, ones: int, zeros: int, copies: int = 1) -> BitPair:
    """The pair of counts over a background of `ones` and `zeros`, everybody reporting k times."""
    if copies == 1:
        others, p = _count(q, ones, zeros), 1 - q
        here, before = np.append(others.mass, 0.0), np.append(0.0, others.mass)
        error = np.append(others.error, 0.0) + np.append(0.0, others.error)
        return BitPair(
            zero=p * here + q * before,
            one=q * here + p * before,
            error=error,
            relative=others.relative,
            left_out=others.left_out,
        )
    # k own responses of a bit are those of one more user with that bit.
    zero = _count(q, copies * ones, copies * (zeros + 1))
    one = _count(q, copies * (ones + 1), copies * zeros)
    start = min(zero.start, one.start)
    stop = max(zero.start + zero.mass.size, one.start + one.mass.size)

    def placed(law: _Count, values: Floats) -> Floats:
        before, after = law.start - start, stop - law.start - values.size
        return np.concatenate((np.zeros(before), values, np.zeros(after)))

    zeros_law, ones_law = placed(zero, zero.mass), placed(one, one.mass)
    # The count is larger with a set bit: below the window of `zero` there is even less of `one`
    # than was left out of `zero`, and above that of `one` likewise.
    ones_law[: zero.start - start] = 0.0
    zeros_law[one.start + one.mass.size - start :] = 0.0
    error = np.maximum(placed(zero, zero.error), placed(one, one.error))
    relative = max(zero.relative, one.relative)
    return BitPair(
        zero=zeros_law,
        one=ones_law,
        error=error,
        relative=relative,
        left_out=2 * (zero.left_out + one.left_out),
    )


def outlier_pair(q: float, crowd: int, copies: int = 1) -> BitPair:
    """The drafts' single-bit case: everybody else answers 0 (000 (0.1)–(0.2), (1.5)–(1.6))."""
    counted = _counted(q, crowd, copies, WIDEST_OUTLIER)
    return background_pair(q, 0, counted - 1, copies)


def _counted(q: float, crowd: int, copies: int, widest: float) -> int:
    """The crowd itself, or as much of it as keeps the count's law small: fewer is safe."""
    return int(min(float(crowd), max(2.0, widest / (q * (1 - q) * copies))))


def mixes_exactly(q: float, crowd: int, copies: int) -> bool:
    """Whether k mixed copies can be certified as one count rather than as k batches."""
    return _counted(q, crowd, copies, WIDEST) == crowd


def is_blanketed(q: float, crowd: int) -> bool:
    """Whether the count's law is too wide to be computed for every background."""
    return 2 * _counted(q, crowd, 1, WIDEST) < crowd


def bucket_edges(crowd: int, buckets: int) -> list[tuple[int, int]]:
    """Ranges of m that cover 0 … (N-1)/2; the other half mirrors them."""
    last = (crowd - 1) // 2
    if crowd <= FINEST and buckets >= BUCKETS:
        return [(m, m) for m in range(last + 1)]
    edges = np.linspace(0, last + 1, min(buckets, last + 1) + 1).astype(int)
    return [(int(a), int(b) - 1) for a, b in itertools.pairwise(edges)]


def worst_profile(
    q: float, crowd: int, epsilons: Floats, buckets: int = BUCKETS, copies: int = 1
) -> Floats:
    """An upper bound of max_m δ_m(ε), both directions, at every ε ≥ 0."""
    if buckets == OUTLIER_ONLY:
        return np.asarray(np.maximum(*outlier_pair(q, crowd, copies).profile(epsilons)))
    if is_blanketed(q, crowd):
        return _blanket_profile(q, crowd, epsilons)
    worst = np.zeros(epsilons.size)
    for pair in worst_pairs(q, crowd, buckets, copies):
        forward, reverse = pair.profile(epsilons)
        np.maximum(worst, forward, out=worst)
        np.maximum(worst, reverse, out=worst)
    return worst


def worst_pairs(q: float, crowd: int, buckets: int, copies: int) -> Iterator[BitPair]:
    """Pairs of which one dominates for every background, or its mirror does."""
    counted = _counted(q, crowd, copies, WIDEST)
    window = 2 * TAIL * math.sqrt(counted * copies * q * (1 - q))
    buckets = min(buckets, max(FEWEST_BUCKETS, int(BUCKET_WORK / window)))
    for low, high in bucket_edges(counted, buckets):
        yield background_pair(q, low, counted - 1 - high, copies)


def _blanket_profile(q: float, crowd: int, epsilons: Floats) -> Floats:
    """An upper bound for every background without the law of a count: half of the noise is lost."""
    law = blanket_law(q, (FreeBits(1),))
    values: list[float] = []
    for epsilon in epsilons:  # profiles only fall
        done = bool(values) and values[-1] < LEFT_OUT
        values.append(values[-1] if done else upper_delta(law, crowd, float(epsilon)))
    return np.array(values)


def bit_step(noises: Mapping[float, int], crowd: int, copies: int) -> float:
    """A grid step for these one-bit mechanisms, by the root mean square of their spreads.

    What a coarse step adds to the variance of a quiet mechanism is small beside the loud ones.
    """
    zero = np.zeros(1)
    squares = sum(
        count * float(outlier_pair(q, crowd, copies).profile(zero)[0][0]) ** 2
        for q, count in noises.items()
    )
    total = sum(noises.values())
    return loss_step(math.sqrt(squares / total), compositions=total)


def bit_loss(
    q: float,
    crowd: int,
    step: float,
    compositions: int,
    buckets: int = BUCKETS,
    copies: int = 1,
) -> LossLaw:
    """The dominating pair of one bit, of every background; symmetric, so of both directions."""
    pair = outlier_pair(q, crowd, copies)
    nodes = _nodes(pair, local_epsilon(q, copies), step, compositions)
    worst = worst_profile(q, crowd, step * nodes.astype(np.float64), buckets, copies)
    return connect_dots(step, nodes, worst, worst)


def survey_losses(
    noises: Mapping[float, int], crowd: int, most_buckets: int, copies: int
) -> list[tuple[LossLaw, int]]:
    """One-bit mechanisms with different noises, each so many times, ready to be composed.

    With many different noises each gets fewer buckets: a little more of the crowd is given away,
    and thousands of them still take seconds.
    """
    total = sum(noises.values())
    step = bit_step(noises, crowd, copies)
    buckets = min(most_buckets, max(FEWEST_BUCKETS, BUCKETS_IN_ALL // len(noises)))
    return [
        (bit_loss(q, crowd, step, total, buckets, copies), count) for q, count in noises.items()
    ]


def _nodes(pair: BitPair, furthest: float, step: float, compositions: int) -> Ints:
    """Grid nodes up to where the profile no longer matters, at most ε₀ = k·ln(p/q)."""
    furthest = min(furthest, FURTHEST)
    probe = np.geomspace(step, max(furthest, 2 * step), 200)
    forward, reverse = pair.profile(probe)
    limit = NEGLIGIBLE / compositions + 4 * pair.left_out
    small = np.flatnonzero(np.maximum(forward, reverse) < limit)
    if small.size:
        # The worst background may reach a little further than the outlier's.
        furthest = min(furthest, 1.5 * float(probe[small[0]]))
    return loss_nodes(step, max(furthest, step), compositions)
