"""How the cells of a joint table vary together by the noise.

* Bit linkage: every cell has positions of its own, so cells are independent.
* Whole records: a cell is a sum over responses of products f_a·g_b·…, where f are the factors of
  the answers to the first question, g of the second. Given the answers, f has the covariance V_A:
  v for each answer; the factor of "none of them", 1 - Σf, has v for each of them, and -v with each.
  A person gives one answer only, so E[f fᵀ] = diag(t) + V_A; different bits are independent. In the
  product over all questions the part without any V is what was asked; the rest is noise, a part for
  each set S of questions, with the table d of the others. Of two questions, and of any number:

      k · Cov = diag(d_A)⊗V_B + V_A⊗diag(d_B) + N·V_A⊗V_B = Σ_S diag(d)⊗V_S

  Estimated people are put in for d.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from krand.analysis.estimates.intervals import normal_quantile, quantile_of, ratio_quantile
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
    """Cells of whole records: people in each, factor covariances of all questions, copies."""

    people: Floats
    factors: tuple[Floats, ...]
    copies: float

    def quantile(self, confidence: float) -> float:
        """How many standard deviations a sum over cells needs on each side."""
        return normal_quantile(confidence)

    ratio_quantile = quantile

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors of one cell that are not nearly normal, and their probabilities: none."""
        return np.zeros(1), np.ones(1)

    def of_row(self, row: int, columns: int) -> Floats:
        """The covariance of the first cells of one row."""
        return self.of_cells([row], list(range(columns)))

    def of_cells(self, *places: list[int]) -> Floats:
        """The covariance of all cells at these places of every axis, row by row."""
        axes, sizes = range(len(places)), [len(kept) for kept in places]
        noise = [v[np.ix_(kept, kept)] for v, kept in zip(self.factors, places, strict=True)]
        covariance = np.zeros(sizes * 2)
        for noisy in itertools.product([False, True], repeat=len(places)):
            if not any(noisy):
                continue
            pooled = tuple(axis for axis in axes if noisy[axis])
            people = self.people.sum(axis=pooled, keepdims=True)
            term = people[np.ix_(*([0] if noisy[axis] else places[axis] for axis in axes))]
            term = term.reshape(term.shape + (1,) * len(places))
            for axis in axes:
                matrix = noise[axis] if noisy[axis] else np.eye(sizes[axis])
                others = [other for other in range(2 * len(places)) if other % len(places) != axis]
                term = term * np.expand_dims(matrix, others)
            covariance += term
        return covariance.reshape(math.prod(sizes), -1) / self.copies

    def turned(self) -> LinkedCells:
        """The same for the table with rows and columns exchanged."""
        return LinkedCells(self.people.T, self.factors[::-1], self.copies)


TableNoise = IndependentCells | LinkedCells
