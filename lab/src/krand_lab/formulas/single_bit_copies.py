"""One bit, k reports of each user: the count of ones and its ratio (000 §1, 003 §5), as printed.

In 000 the collection D_m holds N zeros and D has one 1 instead; in 003 D holds N ones and D_m has
one 0 instead, so that its laws are those of 000 with p and q exchanged. s of the kN reports are
ones, R_s = P(s|D_m)/P(s|D).

Elsewhere: the estimate's deviation, (1.4) and (5.4), is `sigma_001_4`, the noise of (1.23) and
(5.24) is in `planners`. (1.13)–(1.18) lead from (1.12) at s = qkN - 3√(pqkN) to (1.19), and
(5.14)–(5.19) from (5.13) at s = pkN - 3√(pqkN) to (5.20).
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, expm1, log, perm

from krand_lab.formulas.arithmetic import Real, choose, root
from krand_lab.formulas.counts import probability_modified_000_0_1

# --- the estimate ------------------------------------------------------------------------------


def estimate_copies_000_1_1(observed: Real | int, crowd: int, q: Real, copies: int) -> Real:
    """The estimated number of true ones, (S - qkN)/(k(p - q)); 003 (5.1), and its mean is T."""
    return (observed - q * copies * crowd) / (copies * (1 - 2 * q))  # 000 (1.1)


def variance_of_estimate_copies_000_1_3(crowd: int, q: Real, copies: int) -> Real:
    """Var of the estimate, qpN/(k(p - q)²); 003 (5.3)."""
    return q * (1 - q) * crowd / (copies * (1 - 2 * q) ** 2)  # 000 (1.3)


# --- the law of the count ----------------------------------------------------------------------


def probability_modified_copies_000_1_5(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """P(S = s | D_m), where all N bits are 0: binomial with kN trials."""
    return probability_modified_000_0_1(copies * crowd, observed, q)  # 000 (1.5)


def probability_original_copies_000_1_6(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """P(S = s | D), where one bit is 1 and i of its k reports are ones."""
    others, s, k, p = copies * (crowd - 1), observed, copies, 1 - q
    terms = (
        choose(others, s - i) * q ** (s - i) * p ** (others - s + i)
        * (comb(k, i) * p**i * q ** (k - i))
        for i in range(k + 1)
    )  # fmt: skip
    return sum(terms, 0 * q)  # 000 (1.6)


def probability_original_copies_000_1_7(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """(1.6) with its powers collected; the draft calls it P(S = s | D_m), but it is that of D."""
    n, s, k, p = copies * crowd, observed, copies, 1 - q
    terms = (
        choose(n - k, s - i) * comb(k, i) * q ** (s + k - 2 * i) * p ** (n - s - (k - 2 * i))
        for i in range(k + 1)
    )
    return sum(terms, 0 * q)  # 000 (1.7)


def probability_original_copies_003_5_6(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """P(S = s | D), where all N bits are 1: binomial with kN trials."""
    return probability_modified_000_0_1(copies * crowd, observed, 1 - q)  # 003 (5.6)


def probability_modified_copies_003_5_7(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """P(S = s | D_m), where one bit is 0 and i of its k reports are ones."""
    return probability_original_copies_000_1_6(crowd, observed, 1 - q, copies)  # 003 (5.7)


def probability_modified_copies_003_5_8(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """(5.7) with its powers collected."""
    return probability_original_copies_000_1_7(crowd, observed, 1 - q, copies)  # 003 (5.8)


# --- the ratio ---------------------------------------------------------------------------------


def inverse_ratio_copies_000_1_8(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """1/R_s = Σ_i C(k(N-1), s-i)C(k, i)/C(kN, s)·(q/p)^(k-2i)."""
    return _mean_over_share(crowd, observed, copies, q / (1 - q))  # 000 (1.8)


def ratio_copies_003_5_9(crowd: int, observed: int, q: Real, copies: int) -> Real:
    """R_s = Σ_i C(k(N-1), s-i)C(k, i)/C(kN, s)·(p/q)^(k-2i)."""
    return _mean_over_share(crowd, observed, copies, (1 - q) / q)  # 003 (5.9)


def share_000_1_9(crowd: int, observed: int, ones: int, copies: int) -> Fraction:
    """C(k(N-1), s-i)/C(kN, s); 003 (5.10)."""
    reports = copies * crowd
    above = choose(reports - copies, observed - ones)
    return Fraction(above, comb(reports, observed))  # 000 (1.9)


def share_000_1_9_product(crowd: int, observed: int, ones: int, copies: int) -> Fraction:
    """Π_(j<i) (s-j)·Π_(j<k-i) (kN-s-j)/Π_(j<k) (kN-j), the right end of (1.9) and 003 (5.10)."""
    reports, flips = copies * crowd, copies - ones
    above = perm(observed, ones) * perm(reports - observed, flips)
    return Fraction(above, perm(reports, copies))  # 000 (1.9)


def share_bound_000_1_11(crowd: int, observed: int, ones: int, copies: int) -> Fraction:
    """s^i (kN-s)^(k-i)/(kN)^k, printed as an upper bound of (1.9); 003 (5.12).

    Wrong for 0 < i < k in general: (1.10) lowers numerator and denominator by the same e, but the
    second product starts again at e = 0 where the denominator goes on from e = i.
    """
    reports = copies * crowd
    above = observed**ones * (reports - observed) ** (copies - ones)
    return Fraction(above, reports**copies)  # 000 (1.11)


def inverse_ratio_bound_000_1_12(crowd: int, observed: Real | int, q: Real, copies: int) -> Real:
    """Σ_i (s/kN)^i (1 - s/kN)^(k-i) C(k, i)(q/p)^(k-2i), an upper bound of 1/R_s.

    It holds, though not by (1.11); but what the draft needs at (1.20) is a lower bound.
    """
    return _mean_with_replacement(crowd, observed, q, copies, q / (1 - q))  # 000 (1.12)


def ratio_bound_003_5_13(crowd: int, observed: Real | int, q: Real, copies: int) -> Real:
    """Σ_i (s/kN)^i (1 - s/kN)^(k-i) C(k, i)(p/q)^(k-2i), an upper bound of R_s.

    It holds, though not by (5.12): see `share_bound_000_1_11`.
    """
    return _mean_with_replacement(crowd, observed, q, copies, (1 - q) / q)  # 003 (5.13)


# --- three deviations below the mean -----------------------------------------------------------


def count_below_mean_copies_000_1_12(crowd: int, q: Real, copies: int) -> Real:
    """s = qkN - 3√(pqkN)."""
    reports = copies * crowd
    return q * reports - 3 * root((1 - q) * q * reports)  # 000, below (1.12)


def count_below_mean_copies_003_5_13(crowd: int, q: Real, copies: int) -> Real:
    """s = pkN - 3√(pqkN)."""
    reports = copies * crowd
    return (1 - q) * reports - 3 * root((1 - q) * q * reports)  # 003, below (5.13)


def inverse_ratio_limit_000_1_19(crowd: int, q: Real, copies: int) -> Real:
    """(1 - 3(p-q)/√(qpkN))^k.

    (1.20) and (1.21) print + for -, which is `ratio_limit_003_5_20`; (1.22) follows from - only.
    """
    return (1 - _lift(crowd, q, copies)) ** copies  # 000 (1.19)


def ratio_limit_003_5_20(crowd: int, q: Real, copies: int) -> Real:
    """(1 + 3(p-q)/√(qpkN))^k; also what 000 (1.20) and (1.21) print."""
    return (1 + _lift(crowd, q, copies)) ** copies  # 003 (5.20)


def least_spread_000_1_22(lam: float, copies: int) -> float:
    """9/(1 - λ^(-1/k))², below which qpkN/(p-q)² must not fall."""
    return 9 / expm1(-log(lam) / copies) ** 2  # 000 (1.22)


def least_spread_003_5_23(lam: float, copies: int) -> float:
    """9/(λ^(1/k) - 1)², below which qpkN/(p-q)² must not fall."""
    return 9 / expm1(log(lam) / copies) ** 2  # 003 (5.23)


# --- shared ------------------------------------------------------------------------------------


def _lift(crowd: int, q: Real, copies: int) -> Real:
    """3(p-q)/√(qpkN)."""
    p = 1 - q
    return 3 * (p - q) / root(q * p * copies * crowd)


def _mean_over_share(crowd: int, observed: int, copies: int, odds: Real) -> Real:
    """Mean of odds^(k-2i), i ones among the k reports of one user, drawn without replacement."""
    n, s, k = copies * crowd, observed, copies
    terms = (choose(n - k, s - i) * comb(k, i) * odds ** (k - 2 * i) for i in range(k + 1))
    return sum(terms, 0 * odds) / comb(n, s)


def _mean_with_replacement(
    crowd: int, observed: Real | int, q: Real, copies: int, odds: Real
) -> Real:
    """Mean of odds^(k-2i) when each of the k reports is a one with probability s/kN."""
    k = copies
    one = (observed + 0 * q) / (k * crowd)
    terms = (one**i * (1 - one) ** (k - i) * comb(k, i) * odds ** (k - 2 * i) for i in range(k + 1))
    return sum(terms, 0 * q)
