"""Two surveys side by side; and several surveys put together.

The difference of two shares has an interval made of the two shares' own ones (the method of
variance estimates recovery: Zou and Donner 2008; Newcombe's for shares without noise): where these
are symmetric it is s₁-s₂ ± z√(σ₁²+σ₂²). The two must have been randomized apart. If both crowds
are samples, they must have been drawn apart as well.

Dummies of mixers have heavier tails than the normal law, so their laws are given beside the
estimates; then z is that of the law which needs more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from krand.analysis.estimates.intervals import (
    check_confidence,
    normal_quantile,
    quantile_of,
    simultaneous_confidence,
)
from krand.analysis.estimates.models import CountModel
from krand.analysis.estimates.sampling import share_limits
from krand.analysis.estimates.values import Interval, QuestionEstimate, Row
from krand.errors import InvalidInput
from krand.promise import READABLE

__all__ = [
    "CombinedRow",
    "Difference",
    "combine_surveys",
    "compare_surveys",
    "tested_difference",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much more often an answer is given here than there."""

    label: str
    difference: float
    """First share less second, unbiased."""
    consistent: float | None
    """The same of the consistent counts: what tables show; None where a group seems empty."""
    standard_error: float
    interval: Interval
    """Contains `consistent`."""
    readable: bool
    """False where the margin of error is above 15 points."""
    z: float
    p_value: float
    """Two-sided, for this answer alone."""
    adjusted_p_value: float
    """Šidák: that any of the answers looks so different."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CombinedRow:
    """The share of one answer, from several surveys."""

    label: str
    share: float
    standard_error: float
    """By the noise alone."""
    interval: Interval
    simultaneous: Interval


def compare_surveys(
    first: QuestionEstimate,
    second: QuestionEstimate,
    confidence: float = 0.95,
    laws: Sequence[CountModel] = (),
) -> tuple[Difference, ...]:
    """The same question in two surveys: the difference of the shares, answer by answer."""
    z = _quantile(laws, check_confidence(confidence))
    pairs = _matched([first, second])
    return tuple(_difference((first, second), rows, z, len(pairs)) for rows in pairs)


def _difference(
    surveys: tuple[QuestionEstimate, QuestionEstimate],
    rows: tuple[Row, ...],
    z: float,
    together: int,
) -> Difference:
    shares = [row.share for row in rows]
    noise = [_noise_variance(e, r) for e, r in zip(surveys, rows, strict=True)]
    factors = [_factor(estimate) for estimate in surveys]
    ends = [
        share_limits(np.asarray(s), v, c, z) for s, v, c in zip(shares, noise, factors, strict=True)
    ]
    below, above = ([float(end[side]) for end in ends] for side in (0, 1))
    difference = shares[0] - shares[1]
    shown = rows[0].consistent_share - rows[1].consistent_share
    interval = Interval(
        difference - math.hypot(shares[0] - below[0], above[1] - shares[1]),
        difference + math.hypot(above[0] - shares[0], shares[1] - below[1]),
    )
    weights = [1 / v if v else 1.0 for v in noise]
    equal = sum(w * s for w, s in zip(weights, shares, strict=True)) / sum(weights)
    equal = min(1.0, max(0.0, equal))
    error = math.sqrt(sum(noise) + sum(factors) * equal * (1 - equal))
    return tested_difference(rows[0].label, difference, shown, error, interval, together)


def tested_difference(
    label: str,
    difference: float,
    shown: float | None,
    error: float,
    interval: Interval,
    together: int,
) -> Difference:
    """With the tests; the interval is moved into what is possible, and holds what is shown."""
    narrow = interval.high - interval.low <= 2 * READABLE
    interval = interval.within(-1.0, 1.0)
    interval = interval if shown is None else interval.containing(shown)
    z = difference / error if error else math.copysign(math.inf, difference) if difference else 0.0
    p_value = 2 * float(ndtr(-abs(z)))
    adjusted = -math.expm1(together * math.log1p(-p_value)) if p_value < 1 else 1.0
    return Difference(
        label=label,
        difference=difference,
        consistent=shown,
        standard_error=error,
        interval=interval,
        readable=narrow,
        z=z,
        p_value=p_value,
        adjusted_p_value=adjusted,
    )


def combine_surveys(
    estimates: Sequence[QuestionEstimate],
    confidence: float = 0.95,
    laws: Sequence[CountModel] = (),
) -> tuple[CombinedRow, ...]:
    """One share from several surveys or rounds that asked the same, each with its own noise.

    Weights are the inverse of each survey's variance at a share of one half: known beforehand, so
    the sum is unbiased. All must have the same true share. (Batches of one plan and round need no
    weights: their tallies add up.)
    """
    check_confidence(confidence)
    matched = _matched(list(estimates))
    together = simultaneous_confidence(confidence, len(matched))
    z = _quantile(laws, confidence), _quantile(laws, together)
    return tuple(_combined(estimates, rows, *z) for rows in matched)


def _combined(
    estimates: Sequence[QuestionEstimate], rows: tuple[Row, ...], alone: float, together: float
) -> CombinedRow:
    noise = np.array([_noise_variance(e, r) for e, r in zip(estimates, rows, strict=True)])
    factors = np.array([_factor(estimate) for estimate in estimates])
    weights = 1 / (noise + factors / 4)
    weights /= weights.sum()
    share = np.asarray(weights @ np.array([row.share for row in rows]))
    variance, factor = float(weights**2 @ noise), float(weights**2 @ factors)
    ends = [np.clip(share_limits(share, variance, factor, z), 0.0, 1.0) for z in (alone, together)]
    interval, simultaneous = (Interval(float(low), float(high)) for low, high in ends)
    return CombinedRow(
        label=rows[0].label,
        share=float(share),
        standard_error=math.sqrt(variance),
        interval=interval,
        simultaneous=simultaneous,
    )


def _quantile(laws: Sequence[CountModel], confidence: float) -> float:
    found = (quantile_of(law, confidence) for law in laws)
    return max(found, default=normal_quantile(confidence))


def _noise_variance(estimate: QuestionEstimate, row: Row) -> float:
    return (row.standard_error / estimate.people) ** 2


def _factor(estimate: QuestionEstimate) -> float:
    """c of `sampling`; 0 where the crowd is all that is asked about."""
    return 0.0 if estimate.sampling is None else estimate.sampling.factor(estimate.people)


def _matched(estimates: Sequence[QuestionEstimate]) -> list[tuple[Row, ...]]:
    """The rows of the same answers; surveys with different answers cannot be compared."""
    if len(estimates) < 2:
        raise InvalidInput("estimates", "must be at least two", len(estimates))
    first = estimates[0]
    labels = [row.label for row in first.rows]
    for other in estimates[1:]:
        if [row.label for row in other.rows] != labels or other.kind is not first.kind:
            rule = f"must have the same kind and answers as {first.name}"
            raise InvalidInput("question", rule, other.name, "compare what was asked alike")
    return list(zip(*(estimate.rows for estimate in estimates), strict=True))
