"""Moments of R and of R(S^k) as printed, in logarithms where they would overflow (001)."""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, sqrt

from krand.errors import InvalidInput
from krand_lab.formulas.arithmetic import (
    exp_or_inf,
    expm1_or_inf,
    log_powers,
    outlier_variance,
    phi_less_one,
)

__all__ = [
    "copies_mean_001_6_1",
    "copies_variance_001_6_2",
    "mean_ratio_001",
    "noise_of_phi_001_3_16",
    "phi_001_3_14",
    "tail_bound_001_3_17",
    "tail_bound_001_3_17_unreduced",
    "variance_ratio_001",
]


def phi_001_3_14(q: float) -> float:
    """φ = (p³ + q³)/(pq), the second moment of one bit's likelihood ratio."""
    return 1 + phi_less_one(q)  # 001 (3.14)


def noise_of_phi_001_3_16(phi: float) -> float:
    """The inverse of (3.14): q = 1/(1 + r), r = ((φ+1) + √((φ+1)² - 4))/2."""
    if phi < 1:
        raise InvalidInput("phi", "must be at least 1", phi)
    return 1 / (1 + ((phi + 1) + sqrt((phi - 1) * (phi + 3))) / 2)  # 001 (3.16)


def mean_ratio_001(crowd: int, bits: int, q: float) -> float:
    """E[R | D_m] = (N-1)/N + φ^L/N (001 §3.1); infinite when it leaves the floating range."""
    log_power, _ = log_powers(bits, phi_less_one(q))
    return (crowd - 1) / crowd + exp_or_inf(log_power - log(crowd))


def variance_ratio_001(crowd: int, bits: int, q: float) -> float:
    """Var[R | D_m] = ((N-1)(φ^L - 1) + (φ²+φ-1)^L - φ^(2L))/N² (001 §3.1)."""
    log_power, log_growth = log_powers(bits, phi_less_one(q))
    others = (crowd - 1) * expm1_or_inf(log_power) / crowd**2
    return others + outlier_variance(crowd, log_power, log_growth)


def tail_bound_001_3_17(crowd: int, bits: int, q: float, beta: float) -> float:
    """exp(-β²/2·[1 - ((N-1) + φ^L)/((N-1)φ^L + (φ²+φ-1)^L)]), as printed.

    Twice wrong: Maurer's inequality bounds the *lower* tail of a sum of positive terms, so this
    says nothing about P[R > λ]; and φ^L in the numerator should read φ^(2L), as it does one line
    earlier (`tail_bound_001_3_17_unreduced`).
    """
    log_power, log_growth = log_powers(bits, phi_less_one(q))
    lost = ((crowd - 1) * exp(-log_power) + 1) / (crowd - 1 + exp_or_inf(log_power + log_growth))
    return exp(-(beta**2) / 2 * (1 - lost))


def tail_bound_001_3_17_unreduced(crowd: int, bits: int, q: float, beta: float) -> float:
    """exp(-β²σ²/(2ΣE[X²])), the line above (3.17): still a bound on the lower tail only."""
    log_power, log_growth = log_powers(bits, phi_less_one(q))
    lost = ((crowd - 1) * exp(-2 * log_power) + 1) / (
        (crowd - 1) * exp(-log_power) + exp_or_inf(log_growth)
    )
    return exp(-(beta**2) / 2 * (1 - lost))


def copies_mean_001_6_1(crowd: int, bits: int, q: float, copies: int) -> float:
    """(1 + φ^L/(kN))^k, printed as an upper bound on E[R(S^k) | D_m].

    Wrong for k > 1: (8.21) divides by (kN)!/(kN-k)! where there are C(kN,k) subsets, a factor
    k! too much, which puts kN where N belongs. The mean is E[φ^(Lc)], c ~ Hypergeometric(kN,k,k).
    """
    log_power, _ = log_powers(bits, phi_less_one(q))
    return exp_or_inf(copies * log1p(exp_or_inf(log_power - log(copies * crowd))))


def copies_variance_001_6_2(crowd: int, bits: int, q: float, copies: int) -> float:
    """(φ^L/(kN) + (φ²+φ-1)^L/(kN)²)^k - (1/(kN) + φ^(2L)/(kN)²)^k, printed as a bound on Var.

    Wrong for k > 1: besides the factor k! of (6.1), the lines after (8.37) add variances of
    overlapping subsets as if they were independent. Infinite when it leaves the floating range.
    """
    log_power, log_growth = log_powers(bits, phi_less_one(q))
    small = log_power - log(copies * crowd)
    first = exp_or_inf(small) + exp_or_inf(2 * small + log_growth)
    second = 1 / (copies * crowd) + exp_or_inf(2 * small)
    if first == inf:
        return inf
    log_first, log_second = copies * log(first), copies * log(second)
    return exp_or_inf(log_first) * -expm1(min(0.0, log_second - log_first))
