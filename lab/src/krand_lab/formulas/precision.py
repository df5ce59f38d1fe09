"""Estimates and their precision (000 §0.1, 001 §4 and §6)."""

from __future__ import annotations

from math import sqrt

__all__ = [
    "estimate_001_4",
    "observed_interval_000_0_28",
    "sigma_001_4",
]


def sigma_001_4(crowd: int, q: float, copies: int = 1) -> float:
    """Standard deviation of the estimated count: √(Npq/k)/(p - q) (001 §4 and §6)."""
    return sqrt(crowd * q * (1 - q) / copies) / (1 - 2 * q)


def estimate_001_4(observed_ones: float, crowd: int, q: float, copies: int = 1) -> float:
    """Estimated count of true ones from M observed: (M/k - qN)/(p - q) (001 §4 and §6)."""
    return (observed_ones / copies - q * crowd) / (1 - 2 * q)


def observed_interval_000_0_28(
    crowd: int, true_ones: int, q: float, beta: float = 3.0
) -> tuple[float, float]:
    """Where the observed count of ones falls: E[M] ± β√(Npq) (000 (0.22)–(0.29))."""
    mean = q * crowd + (1 - 2 * q) * true_ones
    reach = beta * sqrt(crowd * q * (1 - q))
    return mean - reach, mean + reach
