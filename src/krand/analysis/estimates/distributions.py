"""A `number` question as a distribution: below which edge, which quantile, which mean.

All of it is among the people who answered, whose number is itself estimated: every share is a
ratio, with Fieller's interval. What is known are the ranges. Where inside its range a number lies
is not; results that assume it (evenly spread, or the middle) say so, and bounds that assume nothing
stand beside them. Whole numbers in ranges of one need no assumption.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import quantile_of, simultaneous_confidence
from krand.analysis.estimates.ratios import weighted_limits
from krand.analysis.estimates.values import CdfPoint, Distribution, Interval, MeanEstimate, Quantile
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.survey.questions import Number


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Bins:
    """The estimated bins of a question, counted independently of each other."""

    question: Number
    counts: Floats
    """Unbiased."""
    consistent: Floats
    variances: Floats
    """By noise, and by sampling where the crowd is a sample."""
    law: CountModel
    """Of the count of one bin."""

    def below(self, edge: int) -> int:
        """How many bins lie below an edge."""
        return edge + self.question.open_below


def distribution_of(bins: Bins, confidence: float, levels: Sequence[float]) -> Distribution | None:
    """CDF at the edges, quantiles, mean; None if nobody seems to have answered."""
    if bins.consistent.sum() <= 0:
        return None
    cdf = _cdf(bins, confidence)
    quantiles = tuple(_quantile(bins.question, cdf, level) for level in levels)
    question = bins.question
    ends = [question.ends(level) for level in range(question.levels)]
    return Distribution(
        answered=float(bins.consistent.sum()),
        integer=question.integer,
        exact=all(low == high for low, high in ends),
        cdf=cdf,
        quantiles=quantiles,
        mean=_mean(bins, quantile_of(bins.law, confidence)),
    )


def _cdf(bins: Bins, confidence: float) -> tuple[CdfPoint, ...]:
    """At every edge; 0 and 1 are certain at the ends of bins that are not open."""
    edges = bins.question.edges
    unknown = sum(0 < bins.below(edge) < len(bins.counts) for edge in range(len(edges)))
    levels = confidence, simultaneous_confidence(confidence, unknown)
    alone, together = (quantile_of(bins.law, level) for level in levels)
    return tuple(_point(bins, edge, alone, together) for edge in range(len(edges)))


def _point(bins: Bins, edge: int, alone: float, together: float) -> CdfPoint:
    below = bins.below(edge)
    value = bins.question.edges[edge]
    if below in (0, len(bins.counts)):
        certain = 1.0 if below else 0.0
        sure = Interval(certain, certain)
        return CdfPoint(
            edge=value, share=certain, unadjusted=certain, interval=sure, simultaneous=sure
        )
    inside = (np.arange(len(bins.counts)) < below).astype(float)
    answered = float(bins.counts.sum())
    share = float(inside @ bins.consistent / bins.consistent.sum())
    unadjusted = float(inside @ bins.counts) / answered if answered > 0 else None
    return CdfPoint(
        edge=value,
        share=share,
        unadjusted=unadjusted,
        interval=_band(bins, inside, alone).containing(share),
        simultaneous=_band(bins, inside, together).containing(share),
    )


def _band(bins: Bins, inside: Floats, z: float) -> Interval:
    return Interval(*weighted_limits(inside, bins.counts, bins.variances, z)).within(0.0, 1.0)


def _quantile(question: Number, cdf: tuple[CdfPoint, ...], level: float) -> Quantile:
    """Edges that the simultaneous band puts on one side: so all quantiles hold together.

    An edge whose share is surely below the level lies below the quantile; one whose share surely
    reaches it does not. Of whole numbers, that one is below the edge.
    """
    lower = [point.edge for point in cdf if point.simultaneous.high < level]
    upper = [point.edge for point in cdf if point.simultaneous.low >= level]
    low = None if question.open_below else question.edges[0]
    high = None if question.open_above else question.edges[-1] - question.integer
    return Quantile(
        level,
        _interpolated(question, cdf, level),
        max(lower) if lower else low,
        min(upper) - question.integer if upper else high,
    )


def _interpolated(question: Number, cdf: tuple[CdfPoint, ...], level: float) -> float | None:
    """Straight between the two edges around the level; None in an open range.

    Of whole numbers the first up to which the share reaches the level.
    """
    for before, after in itertools.pairwise(cdf):
        if before.share < level <= after.share:
            part = (level - before.share) / (after.share - before.share)
            step = part * (after.edge - before.edge)
            return before.edge + (max(1, math.ceil(step)) - 1 if question.integer else step)
    return None


def _mean(bins: Bins, z: float) -> MeanEstimate:
    """By the middles of the ranges, and bounds by their ends."""
    question = bins.question
    ends = [question.ends(level) for level in range(question.levels)]
    lower, upper = (np.array(side, dtype=np.float64) for side in zip(*ends, strict=True))
    low = None if question.open_below else _mean_of(bins, lower, z)[1].low
    high = None if question.open_above else _mean_of(bins, upper, z)[1].high
    if question.open_below or question.open_above:
        return MeanEstimate(None, None, low, high)
    return MeanEstimate(*_mean_of(bins, (lower + upper) / 2, z), low, high)


def _mean_of(bins: Bins, values: Floats, z: float) -> tuple[float, Interval]:
    """By the consistent counts; a mean cannot lie outside its values, however large the noise."""
    mean = float(values @ bins.consistent / bins.consistent.sum())
    limits = Interval(*weighted_limits(values, bins.counts, bins.variances, z))
    return mean, limits.within(float(values.min()), float(values.max())).containing(mean)
