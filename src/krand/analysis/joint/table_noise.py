"""How the cells of a two-way table vary together by the noise.

* Bit linkage: every cell has positions of its own, so cells are independent.
* Whole records: a cell is a sum over responses of f_a·g_b, where f are the factors of the answers
  to the first question and g of the second. Given the answers, f has the covariance V_A: v for each
  answer; the factor of "none of them", 1 - Σf, has v for each of them, and -v with each. A person
  gives one answer only, so E[f fᵀ] = diag(t) + V_A; different bits are independent. Hence

      k · Cov = diag(d_A)⊗V_B + V_A⊗diag(d_B) + N·V_A⊗V_B

  with the true margins d. Estimated margins are put in for them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr

from krand.analysis.estimates.intervals import (
    normal_quantile,
    quantile_of,
    ratio_chance,
    ratio_quantile,
)
from krand.analysis.mechanisms.models import CountModel, Floats


def factor_covariance(answers: int, variance: float) -> Floats:
    """V: of the factors of all answers and, last, of none of them."""
    matrix = np.eye(answers + 1)
    matrix[-1, :] = matrix[:, -1] = -1.0
    matrix[-1, -1] = answers
    return variance * matrix


@dataclass(frozen=True, slots=True, eq=False)
class IndependentCells:
    """Cells that all follow this law, and have nothing in common."""

    law: CountModel

    @property
    def variance(self) -> float:
        """Of one cell."""
        return self.law.sigma**2

    def quantile(self, confidence: float) -> float:
        """How many standard deviations a sum over cells needs on each side."""
        return quantile_of(self.law, confidence)

    def ratio_quantile(self, confidence: float) -> float:
        """How many a ratio of such sums needs."""
        return ratio_quantile([self.law], confidence)

    def ratio_chance(self, z: Floats) -> Floats:
        """How often such a ratio lies further out."""
        return ratio_chance(self.law, z)

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors of one cell that are not nearly normal, and their probabilities."""
        return self.law.jumps()

    def of_row(self, row: int, columns: int) -> Floats:
        """The covariance of the first cells of one row."""
        return self.variance * np.eye(columns)

    def of_cells(self, *places: list[int]) -> Floats:
        """The covariance of all cells at these places of every axis, row by row."""
        return self.variance * np.eye(math.prod(map(len, places)))

    def turned(self) -> IndependentCells:
        """The same for the table with rows and columns exchanged."""
        return self


@dataclass(frozen=True, slots=True, eq=False)
class LinkedCells:
    """Cells of whole records: margins and factor covariances of both questions, and the copies."""

    margins: tuple[Floats, Floats]
    factors: tuple[Floats, Floats]
    people: int
    copies: float

    def quantile(self, confidence: float) -> float:
        """How many standard deviations a sum over cells needs on each side."""
        return normal_quantile(confidence)

    ratio_quantile = quantile

    def ratio_chance(self, z: Floats) -> Floats:
        """How often a ratio of such sums lies further out."""
        return np.asarray(2 * ndtr(-z))

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors of one cell that are not nearly normal, and their probabilities: none."""
        return np.zeros(1), np.ones(1)

    def of_row(self, row: int, columns: int) -> Floats:
        """The covariance of the first cells of one row."""
        return self.of_cells([row], list(range(columns)))

    def of_cells(self, rows: list[int], columns: list[int]) -> Floats:
        """The covariance of all cells in these rows and columns, row by row."""
        left, right = (
            factor[np.ix_(kept, kept)]
            for factor, kept in zip(self.factors, (rows, columns), strict=True)
        )
        first, second = np.diag(self.margins[0][rows]), np.diag(self.margins[1][columns])
        once = np.kron(first, right) + np.kron(left, second)
        covariance: Floats = (once + self.people * np.kron(left, right)) / self.copies
        return covariance

    def turned(self) -> LinkedCells:
        """The same for the table with rows and columns exchanged."""
        return LinkedCells(self.margins[::-1], self.factors[::-1], self.people, self.copies)


TableNoise = IndependentCells | LinkedCells
