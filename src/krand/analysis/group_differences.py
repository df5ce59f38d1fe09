"""Groups of people beside each other: by how much their shares of an answer differ.

A share is a cell divided by its row, X/Y, both estimated, among those who answered both questions
of a joint table. θ is plausible where X - θY, whose mean is then 0, lies within z of its own
deviation (Fieller); a crowd that is a sample adds cYθ(1-θ) to its variance (Wilson). The difference
of two shares has an interval made of the two, with their correlation ρ (the method of variance
estimates recovery: Zou 2007): cells of a group have noise of their own, so ρ = 0; those of whole
records share bits, and ρ follows from their covariance. z is that of the exact law of the noise,
and half a one more.

A group that may be empty as far as the noise tells is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from krand.analysis.estimates.ratios import ratio_error, ratio_limits
from krand.analysis.estimates.values import Interval
from krand.analysis.joint.table_noise import (
    IndependentCells,
    LinkedCells,
    TableNoise,
    factor_covariance,
)
from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms import part_of
from krand.analysis.mechanisms.devices import bit_variance
from krand.analysis.mechanisms.models import CountModel, Floats
from krand.analysis.results import Results, counted_responses

TINY = 1e-300


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupDifference:
    """By how much more often a later group gives an answer than an earlier one."""

    groups: tuple[int, int]
    """The earlier and the later one, by their places in the table."""
    answer: int
    difference: float
    """Unbiased."""
    shown: float
    """The same of shares that are possible."""
    standard_error: float
    interval: Interval
    """Contains what is shown."""


def group_differences(
    results: Results, table: JointTable, axis: int
) -> tuple[GroupDifference, ...]:
    """Between any two groups of people by their answers to one of the two questions of a table."""
    noise = _noise(results, table)
    if noise is None:
        return ()
    counts, fitted = (each.T if axis else each for each in (table.counts, table.consistent))
    sampled = 0.0 if results.sampling is None else results.sampling.correction(table.people)
    groups = [
        _group(row, counts[row, :columns], fitted[row, :columns], turned, sampled)
        for turned, columns in [(noise.turned() if axis else noise, table.answers[1 - axis])]
        for row in range(table.answers[axis])
    ]
    kept = [group for group in groups if not group.may_be_empty(table.confidence)]
    pairs = combinations(kept, 2)
    return tuple(found for pair in pairs for found in _differences(*pair, table.confidence))


def cell_law(results: Results, table: JointTable) -> CountModel | None:
    """The law of a cell: of the group in which cells are most precise; of records, of one bit.

    None for a table that the plan does not link, as a file may claim.
    """
    plan, responses = results.plan, counted_responses(results)
    part = part_of(plan.survey.trust.noise)
    if not plan.token_lanes:
        return part.law(plan, plan.blocks[0], results.people, responses)
    laws = []
    for planned in plan.blocks:
        if {*table.questions} <= {*planned.block.question_names}:
            law = part.law(plan, planned, results.people, responses)
            others = (q.levels + 1 for q in planned.block.levels if q.name not in table.questions)
            laws.append(law.summed(math.prod(others)))
    return min(laws, key=lambda law: law.sigma, default=None)


def _noise(results: Results, table: JointTable) -> TableNoise | None:
    """How the cells vary together, which a file does not hold."""
    plan, law = results.plan, cell_law(results, table)
    if plan.token_lanes:
        return None if law is None else IndependentCells(law)
    variance = bit_variance(plan.blocks[0].noise)
    factors = tuple(factor_covariance(len(labels) - 1, variance) for labels in table.labels)
    return LinkedCells(table.consistent, factors, counted_responses(results) / results.people)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Group:
    """The answers to a question in one group of people."""

    row: int
    cells: Floats
    fitted: Floats
    """The same by the consistent counts."""
    noise: TableNoise
    variances: tuple[Floats, Floats, Floats]
    """Of every X, of Y, and their covariances, as X - θY needs them."""

    @property
    def size(self) -> float:
        """How many people are in it: unbiased."""
        return float(self.cells.sum())

    @property
    def shares(self) -> Floats:
        """By the unbiased counts."""
        return self.cells / self.size

    @property
    def shown(self) -> Floats:
        """By the consistent counts; where these leave nobody, the nearest that are possible."""
        if self.fitted.sum() > 0:
            return np.asarray(self.fitted / self.fitted.sum())
        return np.clip(self.shares, 0.0, 1.0)

    def may_be_empty(self, confidence: float) -> bool:
        """Whether the noise alone may have made this group."""
        error = math.sqrt(self.noise.of_row(self.row, len(self.cells)).sum())
        return self.size <= self.noise.ratio_quantile(confidence) * error

    def limits(self, z: float) -> tuple[Floats, Floats]:
        """The least and the greatest plausible share of every answer; infinite for any share."""
        top, bottom, both = self.variances
        return ratio_limits(self.cells, np.full(len(top), self.size), top, bottom, both, z)

    def correlation(self, other: _Group) -> Floats:
        """Of the shares of both."""
        columns = len(self.cells)
        cells = self.noise.of_cells([self.row, other.row], list(range(columns)))[:columns, columns:]
        slopes = [np.eye(columns) - group.shown[:, None] for group in (self, other)]
        covariance = np.einsum("ab,bc,ac->a", slopes[0], cells, slopes[1]) / self.size / other.size
        return np.asarray(covariance / np.maximum(self.errors * other.errors, TINY))

    @property
    def errors(self) -> Floats:
        """Standard errors of the shares."""
        return ratio_error(self.shown, np.full(len(self.cells), self.size), *self.variances)


def _group(row: int, cells: Floats, fitted: Floats, noise: TableNoise, sampled: float) -> _Group:
    own, drawn = noise.of_row(row, len(cells)), sampled * float(fitted.sum())
    return _Group(
        row=row,
        cells=cells,
        fitted=fitted,
        noise=noise,
        variances=(  # cYθ(1-θ) = cYθ - cYθ²
            np.diag(own),
            np.full(len(cells), own.sum() - drawn),
            own.sum(axis=1) - drawn / 2,
        ),
    )


def _differences(first: _Group, second: _Group, confidence: float) -> Iterator[GroupDifference]:
    related, z = first.correlation(second), first.noise.ratio_quantile(confidence)
    (low, high), (other_low, other_high) = first.limits(z), second.limits(z)
    below = _joined(second.shares - other_low, high - first.shares, related)
    above = _joined(other_high - second.shares, first.shares - low, related)
    errors = _joined(first.errors, second.errors, related)
    differences, shown = second.shares - first.shares, second.shown - first.shown
    for answer, difference in enumerate(differences.tolist()):
        ends = Interval(difference - float(below[answer]), difference + float(above[answer]))
        yield GroupDifference(
            groups=(first.row, second.row),
            answer=answer,
            difference=difference,
            shown=float(shown[answer]),
            standard_error=float(errors[answer]),
            interval=ends.within(-1.0, 1.0).containing(float(shown[answer])),
        )


def _joined(one: Floats, other: Floats, related: Floats) -> Floats:
    known = np.isfinite(one) & np.isfinite(other)
    one, other = np.where(known, one, 0.0), np.where(known, other, 0.0)
    square = np.maximum(one**2 + other**2 - 2 * related * one * other, 0.0)
    return np.where(known, np.sqrt(square), np.inf)
