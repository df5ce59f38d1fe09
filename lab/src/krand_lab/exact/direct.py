"""Small cases by summation over all histograms: exact up to rounding, no smoothing.

Used when the outcomes can be counted one by one: two kinds of responses (one bit) at any N, or few
kinds and few users. The rational oracle is `enumeration`.
"""

from __future__ import annotations

import numpy as np

from krand.accounting.ratio import histograms
from krand_lab.exact.bounds import Bounds
from krand_lab.exact.inversion import Scores

TIE = 1e-11
"""A score this close to 0, relative to its terms, may be 0: it counts in the upper end only."""


def direct_mean_positive_part(scores: Scores, n: int) -> Bounds:
    """E[(X_1+…+X_n)⁺]/n, as `inversion.mean_positive_part`."""
    counts, prob, off = histograms(scores.log_prob, n)
    value = float((prob * np.maximum(counts @ scores.score, 0.0)).sum()) / n
    return Bounds(value, value * (1 - off), value * (1 + off))


def direct_tail_probability(scores: Scores, n: int) -> Bounds:
    """P[X_1+…+X_n > 0] with one own response, as `inversion.tail_probability`.

    P_own(T) = P(T)·Σ_v T_v·(own_v/prob_v)/n, by exchangeability.
    """
    counts, prob, off = histograms(scores.log_prob, n)
    total = counts @ scores.score
    slack = TIE * (counts @ np.abs(scores.score))
    share = np.exp(np.minimum(scores.log_prob_own - scores.log_prob, 700.0))
    own = prob * (counts @ share) / n
    value = float(own[total > 0].sum())
    low, high = float(own[total > slack].sum()), float(own[total > -slack].sum())
    return Bounds.around(value, low * (1 - off), high * (1 + off))
