"""Two surveys side by side: how much more often an answer is given later than earlier.

The difference of two shares has an interval made of the two shares' own ones (the method of
variance estimates recovery: Zou and Donner 2008; Newcombe's for shares without noise): where these
are symmetric it is s₂-s₁ ± z√(σ₁²+σ₂²). The two must have been randomized apart. If both crowds
are samples, they must have been drawn apart as well.

The laws of both counts are given beside the estimates. Dummies of mixers have heavier tails than
the normal law, so z is that of the law which needs more; p-values are those of the exact laws. If a
crowd is a sample, chance has two sources, and a p-value is that of the normal law or, if it is
larger, that of the noise's.

A p-value says how often noise alone makes two shares differ as much. If the true shares of two
surveys are equal, their estimates differ by the errors of two counts, which are independent.
Dummies have a law that depends on nothing. Flips have one that depends on the true share s, by its
skewness: their cumulants of even order are the same for every s, those of odd order are
proportional to 1-2s. Nobody knows s, so the largest probability of a few shares from 0 to 1 is
taken; where two surveys have as many people and as much noise, all are the same.

It is twice the probability of a difference at least as large in the same direction, and is
rounded up by everything that is left out of the laws, so none is below about 10⁻¹¹. No true share
makes a p-value of at most α more likely than α.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from krand.analysis.estimates.intervals import (
    chance_beyond,
    check_confidence,
    normal_quantile,
    quantile_of,
    share_limits,
    simultaneous_confidence,
)
from krand.analysis.estimates.values import Interval, QuestionEstimate, Row
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.errors import InvalidInput
from krand.promise import READABLE

Laws = tuple[CountModel, CountModel]

SHARES = tuple(np.linspace(0, 1, 33).tolist())
"""True shares that are tried."""
BETWEEN = 1.01
"""Between two of these shares a probability may be larger; enumerated, by at most 0.6 %."""
TIE = 1e-6
"""Differences that are nearer to each other than this part of a single count are equal."""
LARGEST = 1e7
"""Counts with more variance than this are normal: a p-value of 10⁻⁶ is off by less than 1 %."""
AT_ONCE = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """The law of a count's distance from its mean: probabilities of `first`, `first` + 1, …"""

    first: float
    masses: Floats
    left_out: float
    """The probability of all others, rounded up."""
    unit: float
    """The share that a distance of 1 stands for."""


def chance_of_difference(laws: Laws, differences: Floats) -> Floats:
    """The two-sided p-value of every difference of estimated shares, second less first."""
    if max(law.spread for law in laws) > LARGEST:
        error = math.hypot(*(law.sigma / law.people for law in laws))
        chances = [chance_beyond(law, differences / error) for law in laws]
        return np.asarray(np.max(chances, axis=0))
    pairs = _null_laws(laws)
    above = np.max([_tail(first, second, differences) for first, second in pairs], axis=0)
    below = np.max([_tail(second, first, -differences) for first, second in pairs], axis=0)
    twice = 2.0 if len(pairs) == 1 else 2 * BETWEEN
    return np.asarray(np.minimum(twice * np.where(differences >= 0, above, below), 1.0))


def _tail(subtracted: _Errors, errors: _Errors, differences: Floats) -> Floats:
    """P[E - E' ≥ x] of every difference x, rounded up; both errors as shares."""
    tails = np.append(np.cumsum(errors.masses[::-1])[::-1], 0.0)
    own = (subtracted.first + np.arange(len(subtracted.masses))) * subtracted.unit
    step = max(1, AT_ONCE // len(own))
    parts = []
    for start in range(0, len(differences), step):
        needed = (differences[start : start + step, None] + own) / errors.unit - errors.first
        places = np.clip(np.ceil(needed - TIE), 0, len(errors.masses)).astype(np.int64)
        parts.append(tails[places] @ subtracted.masses)
    found = np.concatenate(parts) if parts else np.empty(0)
    return np.asarray(found + subtracted.left_out + errors.left_out)


@lru_cache(maxsize=16)
def _null_laws(laws: Laws) -> tuple[tuple[_Errors, _Errors], ...]:
    """The errors of both counts, for every true share that is tried."""
    same = laws[0] == laws[1] or not any(law.depends_on_share for law in laws)
    shares = SHARES[:1] if same else SHARES
    return tuple((_errors(laws[0], share), _errors(laws[1], share)) for share in shares)


def _errors(law: CountModel, share: float) -> _Errors:
    estimates = law.estimate(np.array([0, 1]))
    unit = float(estimates[1] - estimates[0]) / law.people
    first, masses, left_out = law.errors(share)
    return _Errors(first, masses, left_out, unit)


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
    comparisons: int,
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
    """c of `Sampling`; 0 where the crowd is all that is asked about."""
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
