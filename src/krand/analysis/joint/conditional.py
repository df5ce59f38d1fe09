"""Conditional tables: among those who answered this, how many answered that.

A share is a cell divided by its row, both estimated, among the people who answered both questions;
its interval is Fieller's. Subgroups are compared by their shares: rows have no cell in common.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.comparison import Difference, difference_row, z_value
from krand.analysis.estimates.ratios import ratio_error, ratio_limits
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.values import Interval
from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms.models import Floats
from krand.errors import InvalidInput

__all__ = ["ConditionalShare", "ConditionalTable", "compare_groups", "conditional_table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConditionalShare:
    """The share of one answer among those who gave another."""

    given: str
    label: str
    share: float | None
    """From the unbiased counts; None where they leave nobody to divide by."""
    consistent: float | None
    """From the consistent counts; None likewise."""
    standard_error: float | None
    interval: Interval
    """Contains `consistent`; from 0 to 1 where, as far as the noise tells, the group is empty."""


@dataclass(frozen=True, slots=True)
class ConditionalTable:
    """The answers to `question`, for each answer to `given`; groups in the order of the table."""

    given: str
    question: str
    confidence: float
    groups: tuple[tuple[ConditionalShare, ...], ...]

    def group(self, answer: str) -> tuple[ConditionalShare, ...]:
        """The shares among those who gave this answer."""
        for shares in self.groups:
            if shares[0].given == answer:
                return shares
        hint = f"the answers are {', '.join(shares[0].given for shares in self.groups)}"
        raise InvalidInput(self.given, "must be one of its answers", answer, hint)


def conditional_table(
    table: JointTable, given: str, sampling: Sampling | None = None
) -> ConditionalTable:
    """The shares of one question's answers for each answer to the other."""
    if table.noise is None or given not in table.questions:
        rule = f"must be one of the two questions of the table, {', '.join(table.questions)}"
        raise InvalidInput("given", rule, given)
    place = table.questions.index(given)
    turn = place == 1
    counts, consistent = (
        values.T if turn else values for values in (table.counts, table.consistent)
    )
    noise = table.noise.turned() if turn else table.noise
    columns = table.answers[1 - place]
    sampled = 0.0 if sampling is None else sampling.correction(table.people)
    groups = []
    for row in range(table.answers[place]):
        fitted = consistent[row, :columns]
        covariance = noise.of_row(row, columns) + sampled * np.diag(fitted)
        label, labels = table.labels[place][row], table.labels[1 - place]
        z = noise.quantile(table.confidence)
        groups.append(_shares(label, labels, counts[row, :columns], fitted, covariance, z))
    return ConditionalTable(given, table.questions[1 - place], table.confidence, tuple(groups))


def compare_groups(
    table: JointTable, given: str, first: str, second: str, sampling: Sampling | None = None
) -> tuple[Difference, ...]:
    """Two groups of one survey: the difference of their shares, first less second.

    A group is those who gave this answer to the question `given`.
    """
    groups = conditional_table(table, given, sampling)
    assert table.noise is not None
    here, there = groups.group(first), groups.group(second)
    found = []
    for one, other in zip(here, there, strict=True):
        if one.share is None or other.share is None:
            hint = "a larger crowd, or a larger group"
            raise InvalidInput(given, "must be groups that anybody is in", first, hint)
        assert one.standard_error is not None
        assert other.standard_error is not None
        difference = one.share - other.share
        a, b = one.interval, other.interval
        interval = Interval(
            difference - math.hypot(one.share - a.low, b.high - other.share),
            difference + math.hypot(a.high - one.share, other.share - b.low),
        )
        error = math.hypot(one.standard_error, other.standard_error)
        shown = None
        if one.consistent is not None and other.consistent is not None:
            shown = one.consistent - other.consistent
        (chance,) = table.noise.chance(np.array([z_value(difference, error)])).tolist()
        found.append(
            difference_row(
                label=one.label,
                difference=difference,
                shown=shown,
                error=error,
                interval=interval,
                p_value=chance,
                together=len(here),
            )
        )
    return tuple(found)


def _shares(
    given: str,
    labels: tuple[str, ...],
    cells: Floats,
    fitted: Floats,
    covariance: Floats,
    z: float,
) -> tuple[ConditionalShare, ...]:
    row, fitted_row = float(cells.sum()), float(fitted.sum())
    bottom = np.full(len(cells), row)
    own, all_of_row = np.diag(covariance), np.full(len(cells), covariance.sum())
    with_row = covariance.sum(axis=1)
    low, high = ratio_limits(cells, bottom, own, all_of_row, with_row, z)
    ratio = cells / row if row > 0 else np.zeros(len(cells))
    divisor = bottom if row > 0 else np.ones(len(cells))
    error = ratio_error(ratio, divisor, own, all_of_row, with_row)
    shown = fitted / fitted_row if fitted_row > 0 else None
    ends = zip(low.tolist(), high.tolist(), strict=True)
    possible = [Interval(*pair).within(0.0, 1.0) for pair in ends]
    return tuple(
        ConditionalShare(
            given=given,
            label=labels[column],
            share=float(ratio[column]) if row > 0 else None,
            consistent=None if shown is None else float(shown[column]),
            standard_error=float(error[column]) if row > 0 else None,
            interval=interval if shown is None else interval.containing(float(shown[column])),
        )
        for column, interval in enumerate(possible)
    )
