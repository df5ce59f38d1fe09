"""Rows of answers: estimates with their intervals, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import (
    Sampling,
    quantile_of,
    readable,
    share_limits,
    simultaneous_confidence,
)
from krand.analysis.estimates.values import Interval, Method, Row
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.tally import Counts
from krand.promise import READABLE

QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True)
class EstimateOptions:
    """The confidence of intervals, and the population that they are about."""

    confidence: float = 0.95
    sampling: Sampling | None = None
    quantiles: tuple[float, ...] = QUARTILES


def answer_rows(
    labels: Sequence[str],
    ones: Counts,
    consistent: Floats,
    law: CountModel,
    options: EstimateOptions,
    together: int,
) -> tuple[Row, ...]:
    """One row for each answer; `together` rows in all are to hold simultaneously."""
    confidence = simultaneous_confidence(options.confidence, together)
    alone, joint = law.limits(ones, options.confidence), law.limits(ones, confidence)
    return _rows(
        labels=labels,
        counts=law.estimate(ones),
        consistent=consistent,
        law=law,
        alone=alone,
        together=joint,
        options=options,
    )


def unanswered_row(
    label: str,
    ones: Counts,
    consistent: Floats,
    law: CountModel,
    options: EstimateOptions,
    together: int,
) -> Row:
    """Whoever gave none of the answers: N less the sum of all, with the uncertainty of the sum."""
    people, whole = law.people, law.summed(len(ones))
    answered = np.array([ones.sum()])
    confidence = simultaneous_confidence(options.confidence, together)
    ends = (whole.limits(answered, level) for level in (options.confidence, confidence))
    alone, joint = (people - pair[::-1] for pair in ends)
    count, rest = people - whole.estimate(answered), np.array([people - consistent.sum()])
    return _rows(
        labels=[label],
        counts=count,
        consistent=np.maximum(rest, 0.0),
        law=whole,
        alone=alone,
        together=joint,
        options=options,
    )[0]


def _rows(
    labels: Sequence[str],
    counts: Floats,
    consistent: Floats,
    law: CountModel,
    alone: Floats,
    together: Floats,
    options: EstimateOptions,
) -> tuple[Row, ...]:
    shares = counts / law.people
    share_ends = _share_ends(shares, alone, law, options)
    method = Method.EXACT if law.is_exact else Method.NORMAL
    sigma, people = law.sigma, law.people
    narrow = bool(readable(np.asarray(sigma), people, options.confidence))
    columns = (counts, consistent, *alone, *together, shares, *share_ends)
    return tuple(
        Row(
            label=label,
            count=count,
            consistent=fitted,
            standard_error=sigma,
            interval=Interval(a, b).containing(fitted),
            simultaneous=Interval(c, d).containing(fitted),
            share=share,
            consistent_share=fitted / people,
            share_interval=Interval(e, f).containing(fitted / people),
            readable=narrow and f - e <= 2 * READABLE,
            method=method,
        )
        for label, count, fitted, a, b, c, d, share, e, f in zip(
            labels, *(column.tolist() for column in columns), strict=True
        )
    )


def _share_ends(shares: Floats, alone: Floats, law: CountModel, options: EstimateOptions) -> Floats:
    """Of the crowd: the counts, divided. Of a population: wider (see `intervals`)."""
    if options.sampling is None:
        return alone / law.people
    factor = options.sampling.factor(law.people)
    variance = (law.sigma / law.people) ** 2
    possible = np.clip(shares, 0.0, 1.0)
    ends = share_limits(possible, variance, factor, quantile_of(law, options.confidence))
    return np.clip(np.stack(ends), 0.0, 1.0)
