"""Confidence intervals for the number of people behind a count.

Which way is decided by the variance of the count, V = Tpq, not by the size of the crowd: ten
million people with q = 2·10⁻⁵ flip only 200 bits. `krand.analysis.mechanisms` has the laws.

* Dummies of mixers: the exact law of their sum, whatever V is.
* V < 200: the exact law. It never covers less often than it says.
* V ≥ 200: the normal law, with the skewness of M, (p-q)(1-2D/T)/√V, to first order: both ends
  move by (1-2d/cN)(z²-1)/(6k) people, half a person at 95 %, two and a half where a thousand rows
  are to hold together. Ones are whole, so the coverage swings around its nominal value as D moves.

Enumerated over noise and answers: from V = 200 on, 95 % intervals cover 94.6 to 95.4 %, and a
thousand rows together 93.8 to 95.7 %. At V = 50 it would be 94.3 to 95.7 %, and 92 to 96.4 %.
Without the shift, at V = 200, one end of a row among a thousand would be missed five times as often
as the other.

Where the crowd is a sample, who happened to take part is another source of uncertainty. If the
crowd of N is drawn at random, without replacement, from a population of P, the share s in the crowd
has the variance c·π(1-π) around the share π of the population, with c = (P-N)/(P-1)/N; without
limit, c = 1/N. A crowd that chose itself is no such sample, and no formula can correct that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from krand.analysis.mechanisms.models import CountModel, Floats
from krand.errors import InvalidInput
from krand.promise import READABLE

LEAST = 1e-11
"""No p-value is below: laws that are normal in the middle say nothing so far out."""


def check_confidence(confidence: float) -> float:
    """A probability strictly between 0 and 1, or an error that says so."""
    if not isinstance(confidence, (int, float)) or not 0 < confidence < 1:
        rule = "must be between 0 and 1, both excluded"
        raise InvalidInput("confidence", rule, confidence, "0.95 is usual")
    return float(confidence)


def simultaneous_confidence(confidence: float, rows: int) -> float:
    """Šidák: the confidence of each of so many rows that together hold with `confidence`.

    Exact for independent rows; for correlated normal ones the truth is above (Šidák 1967).
    """
    return math.exp(math.log(confidence) / max(1, rows))


def normal_quantile(confidence: float) -> float:
    """z: the normal law is within ±z with this probability."""
    return -float(ndtri((1 - confidence) / 2))


def readable(errors: Floats, people: int, confidence: float) -> NDArray[np.bool_]:
    """Whether the margins of error of counts with these standard errors are narrow enough.

    A count with a wider one says nothing.
    """
    return np.asarray(normal_quantile(confidence) * errors <= READABLE * people)


def quantile_of(law: CountModel, confidence: float) -> float:
    """How many standard deviations weighted sums of such rows need on each side."""
    return max(normal_quantile(confidence), law.quantile(confidence))


def chance_beyond(law: CountModel, z: Floats) -> Floats:
    """How often such sums lie further out than z standard deviations: the inverse of a quantile."""
    normal = np.maximum(2 * ndtr(-np.abs(z)), LEAST)
    return np.asarray(np.maximum(normal, law.chance(np.abs(z))))


def ratio_quantile(laws: Sequence[CountModel], confidence: float) -> float:
    """How many standard deviations ratios of such rows need, by the law that needs most.

    Ones are whole, so that few flips need half a one more.
    """
    half = 0.5 / math.sqrt(min(law.spread for law in laws))
    return max(normal_quantile(confidence) + half, *(law.quantile(confidence) for law in laws))


@dataclass(frozen=True, slots=True)
class Sampling:
    """The crowd is a random sample of so many people; None: of a population without limit."""

    population: int | None = None

    def __post_init__(self) -> None:
        if self.population is not None and self.population < 1:
            raise InvalidInput("population", "must be at least 1", self.population)

    def correction(self, people: int) -> float:
        """The finite population correction (P-N)/(P-1): 0 if everybody took part."""
        if self.population is None:
            return 1.0
        if self.population < people:
            rule = f"must be at least the crowd of {people:,}"
            raise InvalidInput("population", rule, self.population)
        return (self.population - people) / max(1, self.population - 1)

    def factor(self, people: int) -> float:
        """c: the sampling variance of a share π is c·π(1-π)."""
        return self.correction(people) / people


def share_limits(
    share: Floats, noise_variance: Floats | float, factor: float, z: Floats | float
) -> tuple[Floats, Floats]:
    """All π with (s-π)² ≤ z²·(noise + c·π(1-π)): Wilson's interval, with noise; not clipped.

    The sampling variance is taken at π, not at the noisy s, so that it holds for rare answers too.
    """
    lean = np.asarray(z, dtype=float) ** 2 * factor
    middle = (share + lean / 2) / (1 + lean)
    inside = lean * share * (1 - share) + lean**2 / 4
    inside = inside + (1 + lean) * np.asarray(z, dtype=float) ** 2 * noise_variance
    half = np.sqrt(np.maximum(inside, 0.0)) / (1 + lean)
    return middle - half, middle + half
