"""Conditional tables: among those who answered this, how many answered that.

A share is a cell divided by its row, both estimated, among the people who answered both questions;
its interval is Fieller's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import Sampling
from krand.analysis.estimates.ratios import ratio_error, ratio_limits
from krand.analysis.estimates.values import Interval
from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms.models import Floats
from krand.errors import InvalidInput


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
    if table.noise is None or len(table.questions) != 2 or given not in table.questions:
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
