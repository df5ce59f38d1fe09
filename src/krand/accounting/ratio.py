"""δ of a record among N people, rounded up, for every background.

With ν the law of a background response, r = K(y)/ν and r' = K(y')/ν, conditioning on which response
is the user's own gives (proofs.md, "One formula for exact laws and for certificates")

    R = Σr'/Σr,    δ = E_{ν^N}[(Σ(r' - λr))⁺]/N,

a one-dimensional sum of iid scores. With ν = K(x) this is exact for the homogeneous background x.
With ν = ω, the privacy blanket, it is a bound for every background: Balle et al. average over
M ~ Bin(N-1, γ) of E[(mean of M+1 scores)⁺], and since
C(N-1, M)γ^M(1-γ)^(N-1-M)/(M+1) = C(N, M+1)γ^(M+1)(1-γ)^(N-1-M)/(Nγ),
that average *is* the formula above with scores 0 outside the blanket.

Small cases are summed over all histograms, without smoothing; others inverted.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from krand.accounting.channel import ReportLaw, uncertainty, window_binomial, window_error
from krand.accounting.inversion import EXTREME, Scores, mean_positive_part

Floats = NDArray[np.float64]

TINY = 2.0**-47
"""The rounding of an exponential and of a sum of a few of them, generously."""
FEW, RAREST_LOG, LEFT_OUT = 2000, -200.0, 1e-60
"""Of more than so many kinds of responses those rarer than e^-200 under every answer are left out:
10^12 users and 10^6 kinds together see one with less than 1e-60."""
LARGEST_LOG = 600.0
"""Ratios are capped at e^600: far beyond λN for every N, so nothing changes but the overflow."""
MOST_HISTOGRAMS = 200_000
WIDEST = 1e8
"""Largest variance of a count that is summed over term by term."""
ROUNDING = 1e-10
"""Relative error of a sum of this many logarithmic products, generously."""


def upper_delta(
    law: ReportLaw,
    crowd: int,
    epsilon: float,
    resolution: float = 100.0,
    refine: bool = False,
) -> float:
    """An upper bound of δ(ε) for y → y', ε ≥ 0; `refine` where it shall be tight."""
    scores = _scores(law, epsilon)
    if scores.score.max() <= 0 and scores.mean.max() <= 0:
        top = 0.0
    elif countable(scores.log_prob, crowd) and float(scores.log_prob.min()) > EXTREME:
        top = summed_positive_part(scores, crowd)
    else:
        top = mean_positive_part(scores, crowd, resolution, refine)
    return min(1.0, top + (LEFT_OUT if law.first.size > FEW else 0.0))


def _scores(law: ReportLaw, epsilon: float) -> Scores:
    """r' - λr of every group, and what lies outside the blanket, with score 0.

    Every score is rounded up, by more than it can be off.
    """
    if law.first.size > FEW:
        law = _possible(law, epsilon)
    second, first = law.second * law.log_odds, law.first * law.log_odds + epsilon
    second = second + (TINY + uncertainty(np.abs(second)))
    first = first - (TINY + uncertainty(np.abs(first) + epsilon))
    score = np.exp(np.minimum(second, LARGEST_LOG)) - np.exp(np.minimum(first, LARGEST_LOG))
    log_prob = law.log_reference
    mean = np.exp(log_prob + second) - np.exp(log_prob + first)
    outside = 1.0 - law.mass
    if outside > 1e-15:
        score, mean = np.append(score, 0.0), np.append(mean, 0.0)
        log_prob = np.append(log_prob, math.log(outside))
    return Scores(score, log_prob, mean)


def _possible(law: ReportLaw, epsilon: float) -> ReportLaw:
    """A long law without what is next to impossible for everybody; LEFT_OUT pays for it."""
    likely = np.maximum(law.log_second, np.maximum(law.log_first + epsilon, law.log_reference))
    kept = likely > RAREST_LOG
    return ReportLaw(law.log_odds, law.log_reference[kept], law.first[kept], law.second[kept])


def countable(log_prob: Floats, n: int) -> bool:
    """Whether the histograms of n such responses are few enough to sum over."""
    kinds = log_prob.size
    if kinds <= 2:
        return n * math.exp(float(log_prob.min())) < WIDEST
    count = 1.0
    for i in range(1, kinds):
        count *= (n + i) / i
        if count > MOST_HISTOGRAMS:
            return False
    return True


def summed_positive_part(scores: Scores, n: int) -> float:
    """E[(X_1+…+X_n)⁺]/n, as `inversion.mean_positive_part`."""
    counts, prob, off = histograms(scores.log_prob, n)
    value = float((prob * np.maximum(counts @ scores.score, 0.0)).sum()) / n
    return value * (1 + off)


def histograms(log_prob: Floats, n: int) -> tuple[Floats, Floats, float]:
    """(counts per kind, probability, its relative error) of the histograms of n iid responses."""
    if log_prob.size == 1:
        return np.full((1, 1), float(n)), np.ones(1), ROUNDING
    if log_prob.size == 2:
        rarer = int(log_prob[1] < log_prob[0])
        rare = math.exp(log_prob[rarer])
        first, pmf = window_binomial(n, rare)
        k = np.arange(first, first + pmf.size, dtype=np.float64)
        columns = [n - k, k] if rarer else [k, n - k]
        return np.stack(columns, axis=1), pmf, ROUNDING + window_error(pmf.size, rare)
    counts = _compositions(log_prob.size, n)
    log_pmf = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ log_prob
    return counts, np.exp(log_pmf), ROUNDING


def _compositions(kinds: int, n: int) -> Floats:
    """All ways to write n as an ordered sum of so many non-negative integers."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.full(1, n, dtype=np.int64)
    for _ in range(kinds - 1):
        repeat = left + 1
        index = np.repeat(np.arange(left.size), repeat)
        start = np.repeat(np.cumsum(repeat) - repeat, repeat)
        taken = np.arange(index.size) - start
        rows = np.column_stack([rows[index], taken])
        left = left[index] - taken
    return np.column_stack([rows, left]).astype(np.float64)
