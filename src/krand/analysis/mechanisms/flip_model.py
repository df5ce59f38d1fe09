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
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr, ndtri

from krand.analysis.mechanisms.exact import exact_limits, flips_tail, net_flips
from krand.analysis.mechanisms.models import CountModel, Counts, Floats

__all__ = ["EXACT_BELOW", "OUTSIDE", "FlippedModel", "NoiseModel", "bit_variance", "flip_errors"]

EXACT_BELOW = 200.0
"""The variance of flips below which their exact law is used."""
OUTSIDE = 3e-12
"""A bound on the probability that a count has more or fewer flips than are listed."""


def bit_variance(noise: float) -> float:
    """v = pq/(p-q)²: what one noisy bit adds to the variance of an estimate."""
    return noise * (1 - noise) / (1 - 2 * noise) ** 2


def flip_errors(law: NoiseModel, share: float) -> tuple[float, Floats]:
    """The least distance of a count from its mean, and the probabilities from there on."""
    true_ones = np.array([round(share * law.responses)])
    masses, first = net_flips(law, true_ones)
    mean = (law.trials - 2 * int(true_ones[0])) * law.noise
    return float(first[0]) - mean, masses[0]


class FlippedModel(CountModel):
    """A count with flips of devices in it, whatever else."""

    if TYPE_CHECKING:  # a field where there is more than flips

        @property
        def flips(self) -> NoiseModel:
            """The flips alone."""

    @property
    @abstractmethod
    def expected_dummies(self) -> int:
        """How many dummies the row counts on average."""

    @abstractmethod
    def tail(self, true_ones: Counts, ones: Counts, at_least: bool) -> Floats:
        """P[count ≥ ones] with so many true ones, or the other tail, row by row."""

    @abstractmethod
    def around(self, ones: Counts, confidence: float) -> Floats:
        """The ends for many flips: those of the normal law, moved by the skewness of flips."""

    def counted(self, estimates: Floats) -> Floats:
        flips = self.flips
        true_ones = estimates * flips.copies * (1 - 2 * flips.noise)
        return true_ones + flips.noise * flips.trials + self.expected_dummies

    @property
    def is_exact(self) -> bool:
        return self.flips.spread < EXACT_BELOW

    @property
    def depends_on_share(self) -> bool:
        """By the skewness of flips."""
        return True

    def limits(self, ones: Counts, confidence: float) -> Floats:
        """As `krand.analysis.estimates.intervals` explains."""
        flips, most = self.flips, self.people * self.most
        nobody = flips.trials * flips.noise + self.expected_dummies
        everybody = nobody + most * flips.copies * (1 - 2 * flips.noise)
        possible = np.array([math.ceil(nobody), math.floor(everybody)])
        ends = self._ends(np.append(ones, possible), confidence)
        low, high = ends[:, :-2]
        ends = np.stack([np.minimum(low, ends[0, -1]), np.maximum(high, ends[1, -2])])
        return np.asarray(np.clip(ends, 0.0, most))

    def _ends(self, ones: Counts, confidence: float) -> Floats:
        ends = self.around(ones, confidence)
        if self.is_exact:
            return exact_limits(self, ones, (1 - confidence) / 2, (ends[0], ends[1]))
        return ends


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseModel(FlippedModel):
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
    def flips(self) -> NoiseModel:
        return self

    @property
    def expected_dummies(self) -> int:
        return 0

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

    def quantile(self, confidence: float) -> float:
        """Those of the normal law."""
        return -float(ndtri((1 - confidence) / 2))

    def chance(self, z: Floats) -> Floats:
        return np.asarray(2 * ndtr(-np.abs(z)))

    def tail(self, true_ones: Counts, ones: Counts, at_least: bool) -> Floats:
        return flips_tail(self, true_ones, ones, at_least)

    def around(self, ones: Counts, confidence: float) -> Floats:
        """d̂ ± zσ, moved by the skewness of the count."""
        z = self.quantile(confidence)
        middle = self.estimate(ones)
        part = np.clip(middle / (self.people * self.cells), 0.0, 1.0)
        middle = middle - (1 - 2 * part) * (z * z - 1) / 6 / self.copies
        return np.stack([middle - z * self.sigma, middle + z * self.sigma])

    def errors(self, share: float) -> tuple[float, Floats, float]:
        return *flip_errors(self, share), OUTSIDE

    def jumps(self) -> tuple[Floats, Floats]:
        """Errors that are not nearly normal, in people, and their probabilities: there are none."""
        return np.zeros(1), np.ones(1)
