"""When the crowd is a sample: what it says about the population it was drawn from.

The noise is one source of uncertainty, who happened to take part another. If the crowd of N is
drawn at random, without replacement, from a population of P, the share s in the crowd has the
variance c·π(1-π) around the share π of the population, with c = (P-N)/(P-1)/N; without limit,
c = 1/N. A crowd that chose itself is no such sample, and no formula can correct that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from krand.errors import InvalidInput

Floats = NDArray[np.float64]


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
