"""One bit, one report: the ratio of the count and the estimate (000 §0.1, 003 §4), as printed.

In 000 the collection D_m holds N zeros and D has one 1 instead; in 003 D holds N ones and D_m has
one 0 instead. R_i = P(i|D_m)/P(i|D) for i observed ones, whose law is in `counts`. A fraction q
gives exact results, in formulas with a root only where pqN is the square of a fraction.

Elsewhere: the estimate's deviation 003 (4.4) is `sigma_001_4`, the noise of 000 (0.19) and 003
(4.45) is in `planners`, that of 000 (0.21) and 003 (4.47) is `local_noise_001_4_2`. 000 (0.6)–(0.8)
and (0.17)–(0.18), 003 (4.34) and (4.43)–(4.44) only compare what is here with λ.
"""

from __future__ import annotations

from krand_lab.formulas.arithmetic import Real, root
from krand_lab.formulas.counts import probability_modified_000_0_1, probability_original_000_0_2

# --- the ratio ---------------------------------------------------------------------------------


def ratio_000_0_3(crowd: int, observed: int, q: Real) -> Real:
    """R_i = P(s = i | D_m)/P(s = i | D)."""
    modified = probability_modified_000_0_1(crowd, observed, q)
    return modified / probability_original_000_0_2(crowd, observed, q)  # 000 (0.3)


def inverse_ratio_000_0_4(crowd: int, observed: Real | int, q: Real) -> Real:
    """1/R_i = (N-i)/N·q/p + i/N·p/q, linear in i."""
    n, i, p = crowd, observed, 1 - q
    return (n - i) * (q / p) / n + i * (p / q) / n  # 000 (0.4)


def inverse_ratio_at_mean_000(crowd: int, q: Real) -> Real:
    """1/R_i at i = qN as the line above 000 (0.5) first prints it: (N-qN)/N·q/p + pN/N·q/p.

    Wrong: that is 2q. The second term should read qN/N·p/q, as the draft's next form has it:
    `inverse_ratio_at_mean_000_corrected`, which is 1.
    """
    n, p = crowd, 1 - q
    return (n - q * n) / n * (q / p) + p * n / n * (q / p)  # 000, above (0.5)


def inverse_ratio_at_mean_000_corrected(crowd: int, q: Real) -> Real:
    """1/R_i at i = qN, which is 1: (N-qN)/N·q/p + qN/N·p/q."""
    n, p = crowd, 1 - q
    return (n - q * n) / n * (q / p) + q * n / n * (p / q)


def ratio_003_4_32(crowd: int, observed: Real | int, q: Real) -> Real:
    """R_i = (N-i)/N·p/q + i/N·q/p, linear in i; right, though the printed (4.31) is not."""
    n, i, p = crowd, observed, 1 - q
    return (n - i) * (p / q) / n + i * (q / p) / n  # 003 (4.32)


# --- the estimate ------------------------------------------------------------------------------


def estimate_003_4_1(observed: Real | int, crowd: int, q: Real) -> Real:
    """The estimated number of true ones, (S - qN)/(p - q); its mean (4.2) is the true number."""
    return (observed - q * crowd) / (1 - 2 * q)  # 003 (4.1)


def variance_of_estimate_003_4_3(crowd: int, q: Real) -> Real:
    """Var of the estimate, qpN/(p - q)²: also the left sides of 000 (0.14)–(0.17), 003 (4.40)."""
    return q * (1 - q) * crowd / (1 - 2 * q) ** 2  # 003 (4.3)


# --- three deviations below the mean: 000 ------------------------------------------------------


def count_below_mean_000_0_5(crowd: int, q: Real) -> Real:
    """i = qN - 3√(pqN)."""
    return q * crowd - 3 * root((1 - q) * q * crowd)  # 000 (0.5)


def inverse_ratio_below_mean_000_0_9(crowd: int, q: Real) -> Real:
    """1/R_i of (0.4) at i of (0.5)."""
    n, p = crowd, 1 - q
    reach = 3 * root(p * q * n)
    return (n - q * n + reach) / n * (q / p) + (q * n - reach) / n * (p / q)  # 000 (0.9)


def inverse_ratio_below_mean_000_0_10(crowd: int, q: Real) -> Real:
    """p + q - 3√(pq/N)(p/q - q/p)."""
    p = 1 - q
    return p + q - 3 * root(p * q / crowd) * (p / q - q / p)  # 000 (0.10)


def inverse_ratio_below_mean_000_0_11(crowd: int, q: Real) -> Real:
    """1 - 3√(pq/N)·(p² - q²)/(pq)."""
    return 1 - shortfall_000_0_12(crowd, q)  # 000 (0.11)


def shortfall_000_0_12(crowd: int, q: Real) -> Real:
    """3√(pq/N)·(p² - q²)/(pq), which is to be at most 1 - 1/λ."""
    p = 1 - q
    return 3 * root(p * q / crowd) * ((p**2 - q**2) / (p * q))  # 000 (0.12)


def shortfall_000_0_13(crowd: int, q: Real) -> Real:
    """3√(1/N)·(p - q)/√(pq)."""
    p = 1 - q
    one = p + q  # in the arithmetic of q
    return 3 * root(one / crowd) * ((p - q) / root(p * q))  # 000 (0.13)


def least_variance_000_0_14(lam: Real) -> Real:
    """9/(1 - 1/λ)², below which Var of the estimate must not fall."""
    return 9 / (1 - 1 / lam) ** 2  # 000 (0.14), (0.15)


def least_sigma_000_0_16(lam: Real) -> Real:
    """3/(1 - 1/λ), the least deviation of the estimate."""
    return 3 / (1 - 1 / lam)  # 000 (0.16)


# --- three deviations below the mean: 003 ------------------------------------------------------


def count_below_mean_003_4_33(crowd: int, q: Real) -> Real:
    """i = pN - 3√(pqN)."""
    return (1 - q) * crowd - 3 * root((1 - q) * q * crowd)  # 003 (4.33)


def largest_ratio_003_4_35(crowd: int, q: Real) -> Real:
    """R_i of (4.32) at i of (4.33), as printed.

    Wrong: the second numerator should read pN - 3√(pqN), as it does in `largest_ratio_003_4_36`.
    """
    n, p = crowd, 1 - q
    reach = 3 * root(p * q * n)
    return (n - p * n + reach) / n * (p / q) + (p * n + reach) / n * (q / p)  # 003 (4.35)


def largest_ratio_003_4_36(crowd: int, q: Real) -> Real:
    """R_i of (4.32) at i of (4.33)."""
    n, p = crowd, 1 - q
    reach = 3 * root(p * q * n)
    return (n - p * n + reach) / n * (p / q) + (p * n - reach) / n * (q / p)  # 003 (4.36)


def largest_ratio_003_4_37(crowd: int, q: Real) -> Real:
    """p + q + 3√(pq/N)(p/q - q/p)."""
    p = 1 - q
    return p + q + 3 * root(p * q / crowd) * (p / q - q / p)  # 003 (4.37)


def largest_ratio_003_4_38(crowd: int, q: Real) -> Real:
    """1 + 3√(pq/N)·(p² - q²)/(pq)."""
    return 1 + shortfall_000_0_12(crowd, q)  # 003 (4.38)


def largest_ratio_003_4_39(crowd: int, q: Real) -> Real:
    """1 + 3√(1/N)·(p - q)/√(pq)."""
    return 1 + shortfall_000_0_13(crowd, q)  # 003 (4.39)


def least_variance_003_4_40(lam: Real) -> Real:
    """9/(λ - 1)², below which Var of the estimate must not fall."""
    return 9 / (lam - 1) ** 2  # 003 (4.40), (4.41)


def least_sigma_003_4_42(lam: Real) -> Real:
    """3/(λ - 1), the least deviation of the estimate."""
    return 3 / (lam - 1)  # 003 (4.42)
