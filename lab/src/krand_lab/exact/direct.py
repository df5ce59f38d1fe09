"""Small cases by summation over all histograms: exact up to rounding, no smoothing.

Used when the outcomes can be counted one by one: two kinds of responses (one bit) at any N, or few
kinds and few users. The rational oracle is `enumeration`.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from krand_lab.exact.bounds import Bounds
from krand_lab.exact.counts import window_binomial, window_error
from krand_lab.exact.inversion import EXTREME, Scores

Floats = NDArray[np.float64]

TIE = 1e-11
"""A score this close to 0, relative to its terms, may be 0: it counts in the upper end only."""
MOST_HISTOGRAMS = 200_000
WIDEST = 1e8
"""Largest variance of a count that is summed over term by term."""
TAIL = 40.0
"""Standard deviations kept of such a count; e^-800 is left out."""
ROUNDING = 1e-10
"""Relative error of a sum of this many logarithmic products, generously."""


def summable(log_prob: Floats, n: int) -> bool:
    """Few enough histograms of n such responses to sum over, none too rare for floating point."""
    if float(log_prob.min()) <= EXTREME:
        return False
    if log_prob.size <= 2:
        return n * math.exp(float(log_prob.min())) < WIDEST
    count = 1.0
    for i in range(1, log_prob.size):
        count *= (n + i) / i
        if count > MOST_HISTOGRAMS:
            return False
    return True


def direct_mean_positive_part(scores: Scores, n: int) -> Bounds:
    """E[(X_1+…+X_n)⁺]/n, as `inversion.mean_positive_part`."""
    counts, prob, off = _histograms(scores.log_prob, n)
    value = float((prob * np.maximum(counts @ scores.score, 0.0)).sum()) / n
    return Bounds(value, value * (1 - off), value * (1 + off))


def direct_tail_probability(scores: Scores, n: int) -> Bounds:
    """P[X_1+…+X_n > 0] with one own response, as `inversion.tail_probability`.

    P_own(T) = P(T)·Σ_v T_v·(own_v/prob_v)/n, by exchangeability.
    """
    counts, prob, off = _histograms(scores.log_prob, n)
    total = counts @ scores.score
    slack = TIE * (counts @ np.abs(scores.score))
    share = np.exp(np.minimum(scores.log_prob_own - scores.log_prob, 700.0))
    own = prob * (counts @ share) / n
    value = float(own[total > 0].sum())
    low, high = float(own[total > slack].sum()), float(own[total > -slack].sum())
    return Bounds.around(value, low * (1 - off), high * (1 + off))


def _histograms(log_prob: Floats, n: int) -> tuple[Floats, Floats, float]:
    """(counts per kind, probability, its relative error) of the histograms of n iid responses."""
    if log_prob.size == 2:
        rarer = int(log_prob[1] < log_prob[0])
        rare = math.exp(log_prob[rarer])
        first, pmf = window_binomial(n, rare, TAIL)
        k = np.arange(first, first + pmf.size, dtype=np.float64)
        columns = [n - k, k] if rarer else [k, n - k]
        return np.stack(columns, axis=1), pmf, ROUNDING + window_error(pmf.size, rare)
    counts = _compositions(log_prob.size, n)
    log_pmf = gammaln(n + 1) - gammaln(counts + 1).sum(axis=1) + counts @ log_prob
    return counts, np.exp(log_pmf), ROUNDING


def _compositions(kinds: int, n: int) -> Floats:
    """All ways to write n as an ordered sum of so many non-negative integers."""
    rows, left = np.zeros((1, 0), dtype=np.int64), np.full(1, n, dtype=np.int64)
    for _ in range(kinds - 1):
        index = np.repeat(np.arange(left.size), left + 1)
        taken = np.arange(index.size) - np.repeat(np.cumsum(left + 1) - left - 1, left + 1)
        rows, left = np.column_stack([rows[index], taken]), left[index] - taken
    return np.column_stack([rows, left]).astype(np.float64)
