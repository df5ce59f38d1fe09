"""Are two questions related? A chi-square test that knows of the noise.

Under independence the cells are x_ab = x_a·x_b/x, so the residuals h = x_ab - x_a·x_b/x are 0 on
average. To first order h = (L_A ⊗ L_B) x with L = I - π1ᵀ, π the shares of a question's answers.
The covariance of x is that of the noise plus that of a sample of independent people, x·π_A⊗π_B, at
the estimated margins; hᵀ Cov⁻¹ h then is chi-square with (A-1)(B-1) degrees of freedom. Without
noise it is Pearson's statistic.

Dummies of mixers have heavier tails than the normal law. If one cell has such an error x and all
others are normal, then with a its column in L_A ⊗ L_B and w = aᵀ Cov⁻¹ a the statistic is
(x·√w + Z·√(1-σ²w))² + χ² with one degree less. By how much this is more likely to be as large is
added up over all cells. Where margins of error are wider than an average cell, that is not enough,
and nothing is tested.

The crowd is always taken as a sample here: in a given crowd no two questions are independent to the
last person. The test is about those who answered both questions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc

from krand.analysis.joint.tables import JointTable
from krand.analysis.mechanisms.models import Floats
from krand.errors import InvalidInput

MAX_CELLS = 2_500
"""Larger tables would need a covariance matrix of more than 50 megabytes."""
MOST_ERRORS, TINY = 512, 1e-300
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(31)
WEIGHTS /= WEIGHTS.sum()
"""Of a standard normal error."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndependenceTest:
    """How surprising the table would be if the two questions had nothing to do with each other."""

    questions: tuple[str, str]
    statistic: float
    degrees: int
    p_value: float
    left_out: tuple[str, ...]
    """Answers that nobody seems to have given: they say nothing."""


def independence_test(table: JointTable) -> IndependenceTest:
    """The test for a two-way table."""
    if table.noise is None or len(table.questions) != 2:
        raise InvalidInput("table", "must be of two questions", table.questions)
    rows, columns, left_out = _given_answers(table)
    kept = np.ix_(rows, columns)
    cells, fitted = table.counts[kept], table.consistent[kept]
    if min(cells.shape) < 2 or cells.sum() <= 0:
        rule = "must have two answers to each question that people gave"
        raise InvalidInput("table", rule, f"{len(rows)} and {len(columns)}", "ask a larger crowd")
    if cells.size > MAX_CELLS:
        rule = f"must have at most {MAX_CELLS:,} cells"
        raise InvalidInput("table", rule, cells.size, "join answers that belong together")
    residuals = cells - np.outer(cells.sum(axis=1), cells.sum(axis=0)) / cells.sum()
    errors, masses = _few(*table.noise.jumps())
    if len(errors) > 1 and table.counts.size * table.half_width > table.people:
        rule = "must have cells with more people than their margins of error"
        raise InvalidInput("table", rule, "mostly noise", "ask a larger crowd")
    fit = _fit(fitted, table.noise.of_cells(rows, columns))
    statistic = fit.distance(residuals)
    degrees = (len(rows) - 1) * (len(columns) - 1)
    first, second = table.questions
    p_value = min(1.0, fit.chance(statistic, errors, masses))
    return IndependenceTest(
        questions=(first, second),
        statistic=statistic,
        degrees=degrees,
        p_value=p_value,
        left_out=left_out,
    )


def _given_answers(table: JointTable) -> tuple[list[int], list[int], tuple[str, ...]]:
    """The rows and columns in which anybody is left, and the labels of the others."""
    inside = table.consistent[: table.answers[0], : table.answers[1]]
    kept = [np.flatnonzero(inside.sum(axis=1 - axis) > 0).tolist() for axis in (0, 1)]
    left_out = tuple(
        f"{table.questions[axis]}={table.labels[axis][place]}"
        for axis in (0, 1)
        for place in range(table.answers[axis])
        if place not in kept[axis]
    )
    return kept[0], kept[1], left_out


def _few(errors: Floats, masses: Floats) -> tuple[Floats, Floats]:
    """The same law on few places: neighbours together, at their mean."""
    groups = np.arange(len(errors)) * MOST_ERRORS // max(MOST_ERRORS, len(errors))
    total = np.asarray(np.bincount(groups, masses), dtype=np.float64)
    means = np.bincount(groups, masses * errors) / np.maximum(total, TINY)
    return np.asarray(means, dtype=np.float64), total


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Two questions that are independent, with the margins of a table."""

    change: Floats
    """From cells to residuals, without the last row and column, which follow from the others."""
    covariance: Floats
    """Of the residuals."""

    def distance(self, residuals: Floats) -> float:
        """hᵀ Cov⁻¹ h."""
        distances = residuals[:-1, :-1].ravel()
        return float(distances @ np.linalg.solve(self.covariance, distances))

    def chance(self, statistic: float, errors: Floats, masses: Floats) -> float:
        """How often the statistic is as large, if cells have such errors besides normal ones."""
        degrees, normal = len(self.covariance), float(chdtrc(len(self.covariance), statistic))
        if len(errors) == 1:
            return normal
        lengths = np.einsum("ij,ij->j", self.change, np.linalg.solve(self.covariance, self.change))
        alike, cells = np.unique(np.round(lengths / lengths.max(), 2), return_counts=True)
        variance, more = float(errors**2 @ masses), 0.0
        for length, count in zip(alike * lengths.max(), cells, strict=True):
            rest = math.sqrt(max(0.0, 1 - variance * length))
            along = errors[:, None] * math.sqrt(length) + rest * NODES
            others = np.maximum(statistic - along**2, 0.0)
            beyond = chdtrc(degrees - 1, others) if degrees > 1 else others == 0
            more += count * max(0.0, float(masses @ beyond @ WEIGHTS) - normal)
        return normal + more


def _fit(fitted: Floats, noise: Floats) -> _Fit:
    total = fitted.sum()
    shares = [fitted.sum(axis=1) / total, fitted.sum(axis=0) / total]
    first, second = (np.eye(len(share)) - np.outer(share, np.ones(len(share))) for share in shares)
    change = np.kron(first[:-1], second[:-1])
    covariance = change @ (noise + np.diag(total * np.kron(*shares))) @ change.T
    return _Fit(np.asarray(change, dtype=np.float64), covariance)
