"""E[S⁺] and P[S > 0] for a sum of many independent response scores, with proven error bounds.

With Λ the log moment generating function of one score and any θ > 0,

    E[S⁺] = (1/2πi) ∫ e^{NΛ(z)} / z² dz,   P[S > 0] = (1/2πi) ∫ e^{NΛ(z)} / z dz,   Re z = θ.

The integral is taken by the trapezoid rule through the saddle point, where nothing cancels, so the
relative error stays small however rare the event. Every error is bounded and accounted for:

* discreteness: S is smoothed by a tiny Gaussian ξ. E[(S+ξ)⁺] ≥ E[S⁺] (Jensen) and exceeds it by
  at most s² times the smoothed density at 0; the tail is bracketed by moving the limit by ±τ.
* trapezoid: by Poisson summation it adds Σ_m e^{θmP} E[(S-mP)⁺] over m ≠ 0, all terms
  non-negative and bounded by Chernoff; the upper end needs no correction at all.
* cut-off frequency: bounded by the Gaussian's tail.
* rounding: bounded a priori, relative to the integral of the modulus.
* decisive responses, after which S < 0 is all but impossible, are taken out and added in closed
  form, with a Chernoff bound on the remainder.

This replaces a grid and an FFT: no grid bias (there N·h/6 in variance), no
absorbing boundary to tune, and milliseconds for any N.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.accounting.composition import golden_minimum
from krand.errors import InternalError
from krand_lab.exact.bounds import Bounds

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

UNIT = 2.0**-53
REACH = 6.5
"""Frequencies up to REACH/s are kept; e^(-REACH²/2) ≈ 7e-10 of the integrand is cut."""
MARGIN = 6.0
"""τ = MARGIN·s: the Gaussian stays within it but for 1e-9."""
ALIAS = 1e-6
"""Largest relative aliasing allowed."""
WIDTH = 2e-3
"""Relative width above which the smoothing is refined, as far as MOST_NODES allows."""
MOST_NODES = 2**18
MOST_PRODUCTS = 2**25
"""Nodes times kinds of responses: where there are more, the smoothing is coarser, which is safe."""
SMALLEST = -115.0
"""Natural log of 1e-50: below it only the Chernoff bound is reported."""
SINGLE_THREAD = 2**15
"""Multiplications per matrix product: small enough that BLAS does not wake its other threads,
which costs more than it gains here, and far more on a busy machine."""
LEAST_LOG = -50.0
"""Values of the integrand below e^-50 of its largest are left out (and bounded with rounding)."""
LARGEST_REMAINDER = 1e-6
"""A response is decisive when the others pull the sum below 0 with less than this."""
HUGE, LARGEST_EXPONENT = 1e300, 700.0
EXTREME = -300.0
"""Responses rarer than e^-300 are never computed with: they are decisive, or bounded."""
ROUNDING = 1e-9
"""Relative error of everything else that is computed in floating point."""
NEGLIGIBLE = 1e-30
"""Contribution below which decisive responses are bounded instead of computed."""


@dataclass(frozen=True, slots=True)
class Scores:
    """A response's score in the sum, its log probability, and that of the response that differs.

    `mean` is probability times score, given apart: a response can be too rare and too large for
    floating point while the product is of order one.
    """

    score: Floats
    log_prob: Floats
    log_prob_own: Floats
    mean: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class _Split:
    """Scores with the decisive responses taken out, and what the decisive ones contribute."""

    kept: Scores
    decisive: float
    """P[a response decides alone]."""
    decisive_own: float
    decisive_mean: float
    """E[score; decisive]."""
    remainder: float
    """Bound on E[S⁻] (or P[S ≤ 0]) when one of the responses is decisive."""
    dropped_mean: float
    """Bound on what negligible responses could add to the mean of the positive part."""
    dropped: float


@dataclass(frozen=True, slots=True)
class _Saddle:
    theta: float
    log_size: float
    """log of e^{NΛ(θ)} at the saddle point."""
    log_estimate: float
    mean_positive: float
    """n·E[X⁺], which is never below E[S⁺]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spectrum:
    """The integrand on the line Re z = θ, without its e^{log_size}."""

    z: Complexes
    values: Complexes
    nodes: int
    step: float
    smooth: float
    rounding: float
    theta: float


def mean_positive_part(
    scores: Scores, n: int, resolution: float = 100.0, refine: bool = True
) -> Bounds:
    """E[(X_1+…+X_n)⁺]/n for iid scores X with E[X] ≤ 0."""
    bounds, nodes = _mean_positive_part(scores, n, resolution)
    grew = refine
    while grew and bounds.upper > (1 + WIDTH) * bounds.lower and 4 * nodes <= MOST_NODES:
        resolution *= 4
        before = nodes
        bounds, nodes = _mean_positive_part(scores, n, resolution)
        grew = nodes > before
    return bounds


def _mean_positive_part(scores: Scores, n: int, resolution: float) -> tuple[Bounds, int]:
    """The bounds and how many nodes they took (MOST_NODES if more would not help).

    A law of one response that is off by a rounding is off by n of them for n responses.
    """
    most = float(np.maximum(scores.mean, 0.0).sum())  # E[S⁺] ≤ n·E[X⁺], whatever the law
    with np.errstate(over="ignore", invalid="ignore"):
        value, low, high, nodes = _raw_mean_positive_part(scores, n, resolution)
    if not math.isfinite(value + low + high):  # scores beyond the range of floats
        value, low, high, nodes = most, 0.0, most, MOST_NODES
    if high < 0:
        raise InternalError(f"the mean of a positive part has the upper end {high!r}")
    slack = ROUNDING + 64 * n * UNIT
    return Bounds(value, max(0.0, low * (1 - slack)), high * (1 + slack)), nodes


def _raw_mean_positive_part(
    scores: Scores, n: int, resolution: float
) -> tuple[float, float, float, int]:
    split = _split(scores, n, kind=2)
    base = _decisive_mean(split, n)
    added = split.dropped_mean + split.decisive * split.remainder
    if split.kept.score.size == 0 or split.kept.score.max() <= 0:
        return base, base, base + added, MOST_NODES
    saddle = _saddle(split.kept, n, kind=2, own=False)
    if saddle.log_estimate < SMALLEST:
        chernoff = math.exp(saddle.log_size - 1) / saddle.theta / n
        return base, base, base + chernoff + added, MOST_NODES
    period, log_alias = _period(split.kept, n, saddle, kind=2, own=False)
    if not math.isfinite(period):
        return math.nan, math.nan, math.nan, MOST_NODES
    spectrum = _spectrum(split.kept, n, saddle.theta, period, resolution, own=False)
    scale = math.exp(saddle.log_size) / n
    middle, error = _integral(spectrum, 2, 0.0)
    density, density_error = _integral(spectrum, 0, 0.0)
    spread = spectrum.smooth**2 * (max(0.0, density) + density_error)
    alias = math.exp(log_alias - saddle.log_size)
    low = base + scale * max(0.0, middle - spread - alias - error)
    high = base + scale * (middle + error) + added
    # Where the law is smooth, the smoothing has added s²/2 times the density.
    value = base + scale * (middle - spread / 2)
    return max(low, value), low, high, spectrum.nodes


def tail_probability(scores: Scores, n: int, resolution: float = 4000.0) -> Bounds:
    """P[X_1+…+X_n > 0] where X_1 follows the own response's law and the others are iid."""
    with np.errstate(over="ignore", invalid="ignore"):
        value, low, high = _raw_tail_probability(scores, n, resolution)
    if not math.isfinite(value + low + high):  # scores beyond the range of floats
        value, low, high = 1.0, 0.0, 1.0
    slack = ROUNDING + 64 * n * UNIT
    return Bounds.around(value, max(0.0, low * (1 - slack)), high * (1 + slack))


def _raw_tail_probability(scores: Scores, n: int, resolution: float) -> tuple[float, float, float]:
    split = _split(scores, n, kind=1)
    base = -math.expm1(_log_quiet(split, n))
    sure = max(0.0, base - (n * split.decisive + split.decisive_own) * split.remainder)
    if split.kept.score.size == 0 or split.kept.score.max() <= 0:
        return base, sure, base + split.dropped
    saddle = _saddle(split.kept, n, kind=1, own=True)
    if saddle.log_estimate < SMALLEST:
        return base, sure, base + math.exp(saddle.log_size) + split.dropped
    period, log_alias = _period(split.kept, n, saddle, kind=1, own=True)
    if not math.isfinite(period):
        return math.nan, math.nan, math.nan
    spectrum = _spectrum(split.kept, n, saddle.theta, period, resolution, own=True)
    scale = math.exp(saddle.log_size)
    alias = math.exp(log_alias - saddle.log_size)
    # Beyond MARGIN·s the Gaussian has this much left, tilted by e^{θs} (Chernoff in θ).
    leak = math.exp(-0.5 * (MARGIN - spectrum.theta * spectrum.smooth) ** 2)
    shift = MARGIN * spectrum.smooth
    middle, error = _integral(spectrum, 1, 0.0)
    above, _ = _integral(spectrum, 1, shift)
    below, _ = _integral(spectrum, 1, -shift)
    error *= math.exp(spectrum.theta * shift)
    low = sure + scale * max(0.0, above - alias - error - leak)
    high = base + scale * (below + error) / (1 - leak) + split.dropped
    return base + scale * middle, low, high


def _split(scores: Scores, n: int, kind: int) -> _Split:
    """Take out the decisive responses, and those too rare to matter in any way."""
    x, log_p, log_own = scores.score, scores.log_prob, scores.log_prob_own
    p, own = np.exp(log_p), np.exp(log_own)
    positive = np.maximum(scores.mean, 0.0)
    # Rare in both laws and worth nothing: n·P·E[X⁺] and the own law bound their whole effect.
    weight = n * p + positive + own
    order = np.argsort(weight)
    rare = np.zeros(x.size, dtype=bool)
    rare[order[np.cumsum(weight[order]) < NEGLIGIBLE]] = True
    ordinary = ~rare & (log_p > EXTREME)
    largest = np.unique(x[~rare & (x > 0)])
    threshold, log_remainder = _decisive_threshold(x[ordinary], log_p[ordinary], largest, n, kind)
    # Where both ratios leave the range of floats the score is 0, whatever its sign would be.
    decisive = (x >= threshold) & (x > 0) & ~rare
    # What is too rare to be computed with and not decisive either counts in full in the upper end.
    rare |= ~ordinary & ~decisive
    keep = ~(rare | decisive)
    gone = float(p[rare].sum())
    dropped_mean = float(positive[rare].sum()) + n * gone * float(positive.sum())
    return _Split(
        kept=Scores(x[keep], log_p[keep], log_own[keep], scores.mean[keep]),
        decisive=float(p[decisive].sum()),
        decisive_own=float(own[decisive].sum()),
        decisive_mean=float(scores.mean[decisive].sum()),
        remainder=math.exp(log_remainder),
        dropped_mean=dropped_mean,
        dropped=n * gone + float(own[rare].sum()),
    )


def _decisive_threshold(
    x: Floats, log_p: Floats, candidates: Floats, n: int, kind: int
) -> tuple[float, float]:
    """The smallest candidate T after which S < 0 is all but impossible, and log of the remainder.

    Whatever the others report, E[(T+S')⁻] ≤ e^{(n-1)Λ(-θ)-θT}/(eθ) and P[T+S' ≤ 0] ≤
    e^{(n-1)Λ(-θ)-θT} for every θ > 0.
    """
    lowest = float(x.min()) if x.size else 0.0
    if lowest >= 0:
        return 0.0, -math.inf
    rates = np.geomspace(1e-3, 60.0, 24) / -lowest
    rates = np.concatenate((rates / n, rates / math.sqrt(n), rates))
    exponent = log_p[None, :] - rates[:, None] * x[None, :]
    top = exponent.max(axis=1)
    height = (n - 1) * (top + np.log(np.exp(exponent - top[:, None]).sum(axis=1)))
    if kind == 2:
        height = height - 1 - np.log(rates)

    def log_remainder_after(score: float) -> float:
        return float((height - np.minimum(rates * score, HUGE)).min())

    def is_loud(score: float) -> bool:
        limit = math.log(LARGEST_REMAINDER) + (math.log(score) if kind == 2 else 0.0)
        return log_remainder_after(score) < limit

    # The larger a response, the smaller the remainder.
    first = bisect_left(candidates, True, key=lambda score: is_loud(float(score)))
    if first == candidates.size:
        return math.inf, -math.inf
    return float(candidates[first]), log_remainder_after(float(candidates[first]))


def _log_quiet(split: _Split, n: int) -> float:
    """log P[no decisive response among n, the first one the own response]."""
    if split.decisive_own >= 1 or split.decisive >= 1:
        return -math.inf
    return (n - 1) * math.log1p(-split.decisive) + math.log1p(-split.decisive_own)


def _decisive_mean(split: _Split, n: int) -> float:
    """E[S; some response is decisive]/n = E[X; decisive] + E[X; not decisive]·(1-(1-P)^(n-1))."""
    rest = float(split.kept.mean.sum())
    some = 1.0 if split.decisive >= 1 else -math.expm1((n - 1) * math.log1p(-split.decisive))
    return split.decisive_mean + rest * some


def _log_mgf(theta: float, x: Floats, log_p: Floats) -> float:
    exponent = log_p + theta * x
    top = float(exponent.max())
    return top + math.log(float(np.exp(exponent - top).sum()))


def _cumulant(scores: Scores, n: int, own: bool) -> Callable[[float], float]:
    """Λ(θ) of the whole sum."""
    laws = _laws(scores, n, own)
    return lambda theta: sum(k * _log_mgf(theta, scores.score, log_p) for log_p, k in laws)


def _laws(scores: Scores, n: int, own: bool) -> list[tuple[Floats, int]]:
    """The log probabilities in the sum, each with the number of responses that follow it."""
    if own:
        return [(scores.log_prob, n - 1), (scores.log_prob_own, 1)]
    return [(scores.log_prob, n)]


def _saddle(scores: Scores, n: int, kind: int, own: bool) -> _Saddle:
    """The line of integration: where e^{NΛ(θ)}/θ^kind is smallest on the real axis, about.

    Any θ > 0 gives a valid bound; this one gives the most accurate.
    """
    x, cumulant = scores.score, _cumulant(scores, n, own)
    low, high = math.log(1e-9 / float(np.abs(x).max()) / n), math.log(2000.0 / float(x.max()))
    theta = math.exp(
        golden_minimum(lambda point: cumulant(math.exp(point)) - kind * point, low, high, 1e-2)
    )
    size, curvature = cumulant(theta), kind / theta**2
    for log_p, count in _laws(scores, n, own):
        weight = np.exp(log_p + theta * x - _log_mgf(theta, x, log_p))
        curvature += count * float(weight @ (x - float(weight @ x)) ** 2)
    log_estimate = size - kind * math.log(theta) - 0.5 * math.log(2 * math.pi * curvature)
    return _Saddle(theta, size, log_estimate, n * float(np.maximum(scores.mean, 0.0).sum()))


def _period(scores: Scores, n: int, saddle: _Saddle, kind: int, own: bool) -> tuple[float, float]:
    """Smallest period P whose aliases stay below ALIAS, and log of their bound.

    Left images weigh e^{-θmP}·E[(S+mP)⁺] (or at most 1 for the tail), right ones
    e^{θmP}·E[(S-mP)⁺] ≤ e^{Λ(θ')-(θ'-θ)mP}/(eθ') for every θ' > θ. Where no period within the
    range of floats will do, it is infinite.
    """
    theta, cumulant = saddle.theta, _cumulant(scores, n, own)
    factors = (1.05, 1.1, 1.2, 1.4, 1.7, 2.0, 2.5, 3.0, 4.0, 6.0, 9.0)
    heights = [cumulant(theta * f) - (1 + math.log(theta * f)) * (kind == 2) for f in factors]
    log_goal = saddle.log_estimate + math.log(ALIAS)
    period = 30.0 / theta
    while math.isfinite(period):
        # The sum over m adds at most a factor 2: every image is below half of the one before.
        left = -theta * period
        left += math.log(saddle.mean_positive + period) if kind == 2 else 0.0
        right = min(
            h - (f - 1) * theta * period if (f - 1) * theta * period > 0.7 else math.inf
            for h, f in zip(heights, factors, strict=True)
        )
        bound = max(left, right) + math.log(4.0)
        if bound < log_goal:
            return period, bound
        period *= 1.2
    return math.inf, math.inf


def _spectrum(
    scores: Scores, n: int, theta: float, period: float, resolution: float, own: bool
) -> _Spectrum:
    """The smoothed integrand at the trapezoid's nodes, by matrix products instead of sines."""
    step = 2 * math.pi / period
    tilted = np.exp(
        scores.log_prob + theta * scores.score - _log_mgf(theta, scores.score, scores.log_prob)
    )
    centre = int(tilted.argmax())
    origin = float(scores.score[centre])
    keep = tilted > UNIT / (8.0 * n * scores.score.size)
    keep[centre] = False
    weights = tilted[keep]
    wanted = min(REACH * resolution * theta / step, MOST_PRODUCTS / max(1, weights.size))
    smooth = REACH / (wanted * step)
    block = 64 if wanted < 16_384 else 256
    shape = (4 * math.ceil(wanted / block / 4), block)
    deviation = _characteristic(scores.score[keep] - origin, weights, step, shape) - weights.sum()
    u: Floats = np.asarray(step * np.arange(shape[0] * shape[1], dtype=np.float64))
    z: Complexes = np.asarray(theta + 1j * u, dtype=np.complex128)
    values = _powered(deviation, n - 1 if own else n, u * origin, z, smooth)
    if own:
        own_tilted = np.exp(
            scores.log_prob_own
            + theta * scores.score
            - _log_mgf(theta, scores.score, scores.log_prob_own)
        )
        values *= _characteristic(scores.score, own_tilted, step, shape)
    values[0] *= 0.5
    travel = abs(origin) + float((weights * np.abs(scores.score[keep] - origin)).sum())
    terms = float(keep.sum()) + 8.0
    rounding = UNIT * (
        2 * n * terms * float(weights.sum()) + 4 * n * travel * float(u[-1]) + 64.0 + u.size * 1e-5
    )
    seen = np.flatnonzero(values)
    return _Spectrum(
        z=z[seen],
        values=values[seen],
        nodes=u.size,
        step=step,
        smooth=smooth,
        rounding=rounding,
        theta=theta,
    )


def _powered(deviation: Complexes, n: int, turn: Floats, z: Complexes, smooth: float) -> Complexes:
    """((1+deviation)·e^{i·turn})^n·e^{(s·z)²/2}, 0 where it is below e^LEAST_LOG."""
    real, imag = deviation.real, deviation.imag
    with np.errstate(divide="ignore"):
        log_modulus = 0.5 * n * np.log1p(2 * real + real * real + imag * imag)
    log_modulus += 0.5 * smooth**2 * (z.real**2 - z.imag**2)
    seen = np.flatnonzero(log_modulus > LEAST_LOG)
    angle = n * (np.arctan2(imag[seen], 1 + real[seen]) + turn[seen])
    angle += smooth**2 * z.real[seen] * z.imag[seen]
    values = np.zeros(deviation.size, dtype=np.complex128)
    values[seen] = np.exp(log_modulus[seen]) * (np.cos(angle) + 1j * np.sin(angle))
    return values


def _characteristic(x: Floats, weights: Floats, step: float, shape: tuple[int, int]) -> Complexes:
    """Σ_v weight_v e^{iu x_v} at u = 0, step, 2·step, …: e^{i(a+b)x} = e^{iax}·e^{ibx}."""
    blocks, block = shape
    coarse = np.exp(1j * np.outer(np.arange(blocks) * (block * step), x)) * weights
    fine = np.exp(1j * np.outer(np.arange(block) * step, x))
    # Four rows at least and no row alone: a matrix times a vector would wake the threads at once.
    columns = max(1, SINGLE_THREAD // (4 * block))
    rows = max(4, SINGLE_THREAD // (block * max(1, min(x.size, columns))) // 4 * 4)
    total = np.zeros((blocks, block), dtype=np.complex128)
    for i in range(0, blocks, rows):
        for j in range(0, x.size, columns):
            total[i : i + rows] += (
                coarse[i : i + rows, j : j + columns] @ fine[:, j : j + columns].T
            )
    return total.ravel()


def _integral(spectrum: _Spectrum, kind: int, shift: float) -> tuple[float, float]:
    """(value, bound on cut-off and rounding) of (1/π) Re ∫ values·e^{-z·shift}/z^kind du."""
    weighted = spectrum.values
    for _ in range(kind):
        weighted = weighted / spectrum.z
    modulus = float(np.abs(weighted).sum())
    if shift:
        weighted = weighted * np.exp(-spectrum.z * shift)
    scale = spectrum.step / math.pi
    last = spectrum.nodes * spectrum.step
    s = spectrum.smooth
    # By logarithms: scores may be 1e120 large, and then the powers alone leave the range of floats.
    reach = 0.5 * ((s * spectrum.theta) ** 2 - (s * last) ** 2)
    exponent = reach - 2 * math.log(s) - (kind + 1) * math.log(last)
    cut = math.exp(exponent) if exponent < LARGEST_EXPONENT else math.inf
    error = cut / math.pi + spectrum.rounding * modulus * scale
    return float(weighted.real.sum()) * scale, error
