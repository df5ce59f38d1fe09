"""From counted ones back to people: the noise taken out, and how far that can be off.

Of T noisy bits, D were truly 1. Flips are independent, so the ones that are counted are
M = Bin(D, p) + Bin(T-D, q), with mean D(p-q) + Tq and variance Tpq, whatever the answers. Hence
(M - Tq)/(p-q) is unbiased for D, and its deviation √(Tpq)/(p-q) is known before any data (001 §4).

One answer of N people with k copies has T = kN bits, and D = kd for the d people who gave it. An
answer that is a sum over c positions (a margin of a group, the people who answered at all) has
T = ckN, and the same law. Different positions are flipped independently, so given the answers
their counts are independent, in bit linkage and inside one record alike.

Where some responses of a record survey were refused, those that were counted stand for all: whether
a response was refused must not depend on the answers in it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "Floats", "NoiseModel", "bit_variance"]

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


def bit_variance(noise: float) -> float:
    """v = pq/(p-q)²: what one noisy bit adds to the variance of an estimate."""
    return noise * (1 - noise) / (1 - 2 * noise) ** 2


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseModel:
    """How the ones of one row come about."""

    people: int
    responses: int
    """Responses that were counted at each position: k for each person in record linkage."""
    noise: float
    cells: int = 1
    """Positions that the row adds up."""
    most: int = 1
    """The most of these positions that one person can set."""

    @property
    def trials(self) -> int:
        """T: the noisy bits that were counted."""
        return self.responses * self.cells

    @property
    def copies(self) -> float:
        """How many responses stand for one person."""
        return self.responses / self.people

    @property
    def spread(self) -> float:
        """Tpq: the variance of the count of ones."""
        return self.trials * self.noise * (1 - self.noise)

    @property
    def sigma(self) -> float:
        """The standard error of the estimate, in people: √(Npq/k)/(p-q) for one position."""
        return math.sqrt(self.spread) / (1 - 2 * self.noise) / self.copies

    def estimate(self, ones: Counts) -> Floats:
        """The unbiased number of people, (M/k - cNq)/(p-q)."""
        true_ones = (np.asarray(ones, dtype=np.float64) - self.noise * self.trials) / (
            1 - 2 * self.noise
        )
        return true_ones / self.copies

    def summed(self, cells: int, most: int = 1) -> NoiseModel:
        """The law of a sum over so many rows."""
        return replace(self, cells=self.cells * cells, most=most)

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities: there are none."""
        return np.zeros(1), np.ones(1)
