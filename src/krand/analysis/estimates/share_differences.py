"""Two surveys side by side: how much more often an answer is given later than earlier.

The difference of two shares has an interval made of the two shares' own ones (the method of
variance estimates recovery: Zou and Donner 2008; Newcombe's for shares without noise): where these
are symmetric it is s₂-s₁ ± z√(σ₁²+σ₂²). The two must have been randomized apart. If both crowds
are samples, they must have been drawn apart as well.

The laws of both counts are given beside the estimates. Dummies of mixers have heavier tails than
the normal law, so z is that of the law which needs more; p-values are those of the exact laws (see
`difference_tests`). If a crowd is a sample, chance has two sources, and a p-value is that of the
normal law or, if it is larger, that of the noise's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.difference_tests import Laws, chance_of_difference
from krand.analysis.estimates.intervals import (
    chance_beyond,
    check_confidence,
    normal_quantile,
    quantile_of,
    simultaneous_confidence,
)
from krand.analysis.estimates.sampling import share_limits
from krand.analysis.estimates.values import Interval, QuestionEstimate, Row
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.errors import InvalidInput
from krand.promise import READABLE

CORRECTION = "Šidák over answers, Bonferroni over comparisons"
"""Answers of one comparison are independent or normal; comparisons that share results are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How much more often an answer is given later than earlier."""

    label: str
    difference: float
    """Later share less earlier, unbiased."""
    consistent: float
    """The same of the consistent counts: what tables show."""
    standard_error: float
    interval: Interval
    """Contains `consistent`."""
    simultaneous: Interval
    """The same, but so that all answers in all comparisons made hold together."""
    readable: bool
    """False where the margin of error is above 15 points."""
    z: float
    p_value: float
    """Two-sided, for this answer alone; never too small."""
    adjusted_p_value: float
    """That any of the answers looks so different, in any of the comparisons made."""


@dataclass(frozen=True, slots=True)
class Change:
    """What changed in a question from one of the results to another."""

    earlier: str
    later: str
    differences: tuple[Difference, ...]


def compare_surveys(
    earlier: QuestionEstimate,
    later: QuestionEstimate,
    laws: Laws,
    confidence: float = 0.95,
    comparisons: int = 1,
) -> tuple[Difference, ...]:
    """The same question in two surveys: the difference of the shares, answer by answer.

    `laws` are those of one answer in either survey.
    """
    surveys, pairs = (earlier, later), _matched(earlier, later)
    levels = check_confidence(confidence), confidence_of_all(confidence, len(pairs), comparisons)
    quantiles = [largest_quantile(laws, level) for level in levels]
    errors = [_null_error(surveys, rows) for rows in pairs]
    changes = np.array([rows[1].share - rows[0].share for rows in pairs])
    if any(_factor(survey) for survey in surveys):
        chances = largest_chance(laws, changes, np.array(errors))
    else:
        chances = chance_of_difference(laws, changes)
    return tuple(
        difference_row(
            label=rows[1].label,
            difference=rows[1].share - rows[0].share,
            shown=rows[1].consistent_share - rows[0].consistent_share,
            error=error,
            intervals=[_interval(surveys, rows, z) for z in quantiles],
            p_value=chance,
            together=len(pairs),
            comparisons=comparisons,
        )
        for rows, error, chance in zip(pairs, errors, chances.tolist(), strict=True)
    )


def _interval(
    surveys: tuple[QuestionEstimate, QuestionEstimate], rows: tuple[Row, Row], z: float
) -> Interval:
    first, second = (row.share for row in rows)
    (low, high), (other_low, other_high) = (
        map(float, share_limits(np.asarray(r.share), _noise_variance(e, r), _factor(e), z))
        for e, r in zip(surveys, rows, strict=True)
    )
    return Interval(
        second - first - math.hypot(second - other_low, high - first),
        second - first + math.hypot(other_high - second, first - low),
    )


def _null_error(surveys: tuple[QuestionEstimate, QuestionEstimate], rows: tuple[Row, Row]) -> float:
    """The standard error of the difference if both shares are equal."""
    noise = [_noise_variance(e, r) for e, r in zip(surveys, rows, strict=True)]
    weights = [1 / v if v else 1.0 for v in noise]
    equal = sum(w * row.share for w, row in zip(weights, rows, strict=True)) / sum(weights)
    equal = min(1.0, max(0.0, equal))
    return math.sqrt(sum(noise) + sum(map(_factor, surveys)) * equal * (1 - equal))


def difference_row(
    *,
    label: str,
    difference: float,
    shown: float,
    error: float,
    intervals: Sequence[Interval],
    p_value: float,
    together: int,
    comparisons: int = 1,
) -> Difference:
    """With adjusted p-values; intervals are moved into what is possible, and hold what is shown.

    `intervals` are that of this answer alone, and that of all.
    """
    narrow = intervals[0].high - intervals[0].low <= 2 * READABLE
    inside = [interval.within(-1.0, 1.0) for interval in intervals]
    interval, simultaneous = (each.containing(shown) for each in inside)
    adjusted = -math.expm1(together * math.log1p(-p_value)) if p_value < 1 else 1.0
    return Difference(
        label=label,
        difference=difference,
        consistent=shown,
        standard_error=error,
        interval=interval,
        simultaneous=simultaneous,
        readable=narrow,
        z=z_value(difference, error),
        p_value=p_value,
        adjusted_p_value=min(1.0, comparisons * adjusted),
    )


def confidence_of_all(confidence: float, answers: int, comparisons: int) -> float:
    """The confidence of each interval, so that all of them hold together."""
    return simultaneous_confidence(1 - (1 - confidence) / comparisons, answers)


def z_value(difference: float, error: float) -> float:
    """A difference in standard errors; infinite where nothing is uncertain."""
    if error:
        return difference / error
    return math.copysign(math.inf, difference) if difference else 0.0


def largest_chance(laws: Sequence[CountModel], differences: Floats, errors: Floats) -> Floats:
    """The p-value by the law that makes such a difference, in standard errors, most likely."""
    z = np.array([z_value(*pair) for pair in zip(differences, errors, strict=True)])
    return np.asarray(np.max([chance_beyond(law, z) for law in laws], axis=0))


def largest_quantile(laws: Sequence[CountModel], confidence: float) -> float:
    """How many standard errors intervals need, by the law that needs most."""
    found = (quantile_of(law, confidence) for law in laws)
    return max(found, default=normal_quantile(confidence))


def _noise_variance(estimate: QuestionEstimate, row: Row) -> float:
    return (row.standard_error / estimate.people) ** 2


def _factor(estimate: QuestionEstimate) -> float:
    """c of `sampling`; 0 where the crowd is all that is asked about."""
    return 0.0 if estimate.sampling is None else estimate.sampling.factor(estimate.people)


def _matched(earlier: QuestionEstimate, later: QuestionEstimate) -> list[tuple[Row, Row]]:
    """The rows of the same answers, in the order of the later survey."""
    strange = {row.label for row in earlier.rows} ^ {row.label for row in later.rows}
    if strange or earlier.kind is not later.kind:
        rule = f"must have the same kind and answers in all surveys ({later.name})"
        found = ", ".join(sorted(strange)) or f"{earlier.kind} and {later.kind}"
        raise InvalidInput(
            "question", rule, found, "compare questions that were asked in the same way"
        )
    before = {row.label: row for row in earlier.rows}
    return [(before[row.label], row) for row in later.rows]
