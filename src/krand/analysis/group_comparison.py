"""Groups of people compared: the shares of an answer among those who gave different answers to
another question that was declared together with it.

A share is a cell divided by its row, X/Y, both estimated, among those who answered both questions.
θ is plausible where X - θY, whose mean is then 0, lies within z of its own deviation (Fieller); a
crowd that is a sample adds cYθ(1-θ) to its variance (Wilson). The difference of two shares has an
interval made of the two, with their correlation ρ (the method of variance estimates recovery: Zou
2007): cells of a group have noise of their own, so ρ = 0; those of whole records share bits, and ρ
follows from their covariance. z is that of the exact law of the noise, and half a one more.

The p-value of a difference is the least 1 - confidence at which its interval does not contain 0.
A group that may be empty as far as the noise tells is left out, and named.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import LEAST
from krand.analysis.estimates.ratios import ratio_error, ratio_limits
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.share_differences import (
    Change,
    Difference,
    confidence_of_all,
    difference_row,
)
from krand.analysis.estimates.values import Interval
from krand.analysis.joint.table_noise import TableNoise
from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms.models import Floats

MOST_Z, HALVINGS = 64.0, 30
"""Where the p-value of a difference is searched, and how often the search is halved."""
TINY = 1e-300


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Group:
    """The answers to a question in one group of people."""

    name: str
    row: int
    labels: tuple[str, ...]
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
    def shown(self) -> Floats | None:
        """By the consistent counts; None where these leave nobody."""
        return self.fitted / self.fitted.sum() if self.fitted.sum() > 0 else None

    @property
    def nearest(self) -> Floats:
        """The shares that are possible and nearest."""
        return np.clip(self.shares, 0.0, 1.0) if self.shown is None else self.shown

    @property
    def errors(self) -> Floats:
        """Standard errors of the shares."""
        return ratio_error(self.nearest, np.full(len(self.cells), self.size), *self.variances)

    def may_be_empty(self, confidence: float) -> bool:
        """Whether the noise alone may have made this group."""
        error = math.sqrt(self.noise.of_row(self.row, len(self.cells)).sum())
        return self.size <= self.noise.ratio_quantile(confidence) * error

    def limits(self, z: Floats) -> tuple[Floats, Floats]:
        """The least and the greatest plausible share of every answer; infinite for any share."""
        top, bottom, both = self.variances
        return ratio_limits(self.cells, np.full(len(top), self.size), top, bottom, both, z)

    def correlation(self, other: Group) -> Floats:
        """Of the shares of both; results were randomized apart."""
        if self.noise is not other.noise:
            return np.zeros(len(self.cells))
        columns = len(self.cells)
        cells = self.noise.of_cells([self.row, other.row], list(range(columns)))[:columns, columns:]
        slopes = [np.eye(columns) - group.nearest[:, None] for group in (self, other)]
        covariance = np.einsum("ab,bc,ac->a", slopes[0], cells, slopes[1]) / self.size / other.size
        return np.asarray(covariance / np.maximum(self.errors * other.errors, TINY))


Named = tuple[str, Group]


def groups_in(table: JointTable, sampling: Sampling | None) -> tuple[Group, ...]:
    """Those who answered both questions of a table, by their answer to the first."""
    sampled = 0.0 if sampling is None else sampling.correction(table.people)
    return tuple(_group(table, row, sampled) for row in range(table.answers[0]))


def _group(table: JointTable, row: int, sampled: float) -> Group:
    columns = table.answers[1]
    assert table.noise is not None  # of two questions
    noise, fitted = table.noise.of_row(row, columns), table.consistent[row, :columns]
    drawn = sampled * float(fitted.sum())  # cYθ(1-θ) = cYθ - cYθ²
    bottom = np.full(columns, noise.sum() - drawn)
    return Group(
        name=table.labels[0][row],
        row=row,
        labels=table.labels[1][:columns],
        cells=table.counts[row, :columns],
        fitted=fitted,
        noise=table.noise,
        variances=(np.diag(noise), bottom, noise.sum(axis=1) - drawn / 2),
    )


def compare_pairs(
    pairs: Sequence[tuple[Named, Named]], confidence: float, comparisons: int
) -> tuple[Change, ...]:
    """The differences between the groups of each pair, second less first."""
    return tuple(
        Change(first, second, tuple(_differences(one, other, confidence, comparisons)))
        for (first, one), (second, other) in pairs
    )


def _differences(
    first: Group, second: Group, confidence: float, comparisons: int
) -> Iterator[Difference]:
    answers, related = len(first.cells), first.correlation(second)
    differences, noises = second.shares - first.shares, (first.noise, second.noise)
    errors = _joined(first.errors, second.errors, related)
    ends = []
    for level in (confidence, confidence_of_all(confidence, answers, comparisons)):
        z = np.full(answers, max(noise.ratio_quantile(level) for noise in noises))
        below, above = _reach(first, second, related, z)
        ends.append((differences - below, differences + above))
    z = _least_z(first, second, related)
    chances = np.max(
        [*(noise.ratio_chance(z) for noise in noises), np.full(answers, LEAST)], axis=0
    )
    shown = None if first.shown is None or second.shown is None else second.shown - first.shown
    for place, label in enumerate(first.labels):
        yield difference_row(
            label=label,
            difference=float(differences[place]),
            shown=None if shown is None else float(shown[place]),
            error=float(errors[place]),
            intervals=[Interval(float(low[place]), float(high[place])) for low, high in ends],
            p_value=float(chances[place]),
            together=answers,
            comparisons=comparisons,
        )


def _reach(first: Group, second: Group, related: Floats, z: Floats) -> tuple[Floats, Floats]:
    """How far below and above the differences their intervals reach."""
    (low, high), (other_low, other_high) = first.limits(z), second.limits(z)
    down = _joined(second.shares - other_low, high - first.shares, related)
    return down, _joined(other_high - second.shares, first.shares - low, related)


def _joined(one: Floats, other: Floats, related: Floats) -> Floats:
    known = np.isfinite(one) & np.isfinite(other)
    one, other = np.where(known, one, 0.0), np.where(known, other, 0.0)
    square = np.maximum(one**2 + other**2 - 2 * related * one * other, 0.0)
    return np.where(known, np.sqrt(square), np.inf)


def _least_z(first: Group, second: Group, related: Floats) -> Floats:
    """From which number of deviations on an interval contains 0, by halving."""
    differences = second.shares - first.shares
    low, high = np.zeros(len(related)), np.full(len(related), MOST_Z)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        below, above = _reach(first, second, related, middle)
        inside = np.where(differences > 0, differences <= below, -differences <= above)
        low, high = np.where(inside, low, middle), np.where(inside, middle, high)
    return low
