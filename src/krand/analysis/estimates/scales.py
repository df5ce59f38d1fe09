"""A `scale` question in few numbers: mean, top box and bottom box, among those who answered.

How many answered is itself estimated, so every number is a ratio with Fieller's interval. Every
value of a scale is known, so nothing is assumed.
"""

from __future__ import annotations

import numpy as np

from krand.analysis.estimates.ratios import weighted_limits
from krand.analysis.estimates.values import Interval, Statistic, Summary
from krand.analysis.mechanisms.models import Floats
from krand.survey.questions import Scale


def scale_summaries(
    question: Scale, counts: Floats, consistent: Floats, variances: Floats, z: float
) -> tuple[Summary, ...]:
    """Mean and both boxes, z deviations each way, from independent counts; none without answers."""
    if consistent.sum() <= 0:
        return ()
    bottom, top = question.boxes
    parts = {
        Statistic.MEAN: range(question.levels),
        Statistic.TOP_BOX: top,
        Statistic.BOTTOM_BOX: bottom,
    }
    return tuple(
        Summary(
            statistic=statistic,
            answers=tuple(question.level_name(level) for level in levels),
            value=(value := float(weight @ consistent / consistent.sum())),
            unadjusted=_ratio(weight, counts),
            interval=_interval(weight, counts, variances, z).containing(value),
        )
        for statistic, levels in parts.items()
        for weight in [_weights(question, statistic, levels)]
    )


def _weights(question: Scale, statistic: Statistic, levels: range) -> Floats:
    """What an answer of each level adds: its value to a mean, 1 to a box that it is in."""
    every = np.arange(question.levels, dtype=np.float64)
    return (
        np.isin(every, levels).astype(np.float64) if statistic.is_share else every + question.lowest
    )


def _ratio(weights: Floats, counts: Floats) -> float | None:
    answered = float(counts.sum())
    return float(weights @ counts) / answered if answered > 0 else None


def _interval(weights: Floats, counts: Floats, variances: Floats, z: float) -> Interval:
    """A mean cannot lie outside its values, however large the noise."""
    limits = Interval(*weighted_limits(weights, counts, variances, z))
    return limits.within(float(weights.min()), float(weights.max()))
