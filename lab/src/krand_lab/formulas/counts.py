"""One bit, one report: the law of the observed count of ones (000 §0.1, 003 §4 and §9), as printed.

In 000 the collection D_m holds N zeros and D has one 1 instead; in 003 D holds N ones and D_m has
one 0 instead. The interval of 000 (0.28) and 003 (4.52)–(4.55), and what 000 (0.26)–(0.29) should
be, is `observed_interval_000_0_28`. 003 (9.3) and (9.8)–(9.10) only compare what is here.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import comb, sqrt

from krand_lab.formulas.arithmetic import Real, choose, root

# --- the law of the count ----------------------------------------------------------------------


def probability_modified_000_0_1(crowd: int, observed: int, q: Real) -> Real:
    """P(s = i | D_m), where all N bits are 0."""
    n, i = crowd, observed
    return comb(n, i) * q**i * (1 - q) ** (n - i)  # 000 (0.1)


def probability_original_000_0_2(crowd: int, observed: int, q: Real) -> Real:
    """P(s = i | D), where one bit of N is 1."""
    n, i, p = crowd, observed, 1 - q
    unflipped = choose(n - 1, i - 1) * q ** (i - 1) * p ** (n - i + 1)
    return choose(n - 1, i) * q ** (i + 1) * p ** (n - 1 - i) + unflipped  # 000 (0.2)


def probability_original_003_4_30(crowd: int, observed: int, q: Real) -> Real:
    """P(s = i | D), where all N bits are 1."""
    return probability_modified_000_0_1(crowd, observed, 1 - q)  # 003 (4.30)


def probability_modified_003_4_31(crowd: int, observed: int, q: Real) -> Real:
    """P(s = i | D_m), where one bit of N is 0, as printed.

    Wrong: q^(N-i) in the first term should read q^(N-1-i). As printed the probabilities sum to
    1 - p²; see `probability_modified_003_4_31_corrected`.
    """
    n, i, p = crowd, observed, 1 - q
    flipped = choose(n - 1, i - 1) * p ** (i - 1) * q ** (n - i + 1)
    return choose(n - 1, i) * p ** (i + 1) * q ** (n - i) + flipped  # 003 (4.31)


def probability_modified_003_4_31_corrected(crowd: int, observed: int, q: Real) -> Real:
    """P(s = i | D_m), where one bit of N is 0."""
    return probability_original_000_0_2(crowd, observed, 1 - q)


def generating_function_003_4_2(crowd: int, ones: int, q: Real) -> list[Real]:
    """Coefficients a_0..a_N of G_m(x) = (q + px)^m (p + qx)^(N-m), the law of the count.

    With k copies G_m of 003 §5.2 is this one for kN bits with km ones. 003 (4.7)–(4.9) print
    (p + qx) for (q + px), which would make all three of them G_0.
    """
    p = 1 - q
    coefficients = [p + q]  # 1, in the arithmetic of q
    for _ in range(ones):
        coefficients = _times(coefficients, q, p)
    for _ in range(crowd - ones):
        coefficients = _times(coefficients, p, q)
    return coefficients


def gap_003_4_15(b: Sequence[Real], i: int, q: Real) -> Real:
    """(p² - q²)²(b_i² - b_(i+1) b_(i-1)), printed for (a_i^m)² - a_i^(m-1) a_i^(m+1).

    Wrong: the indices are one too high, see `gap_003_4_15_corrected`. b are the coefficients of
    Q(x) = (q + px)^(m-1) (p + qx)^(N-m-1), which is 0 beyond its ends.
    """
    before, here, after = (b[j] if 0 <= j < len(b) else 0 * q for j in (i - 1, i, i + 1))
    return ((1 - q) ** 2 - q**2) ** 2 * (here**2 - after * before)  # 003, after (4.15)


def gap_003_4_15_corrected(b: Sequence[Real], i: int, q: Real) -> Real:
    """(p² - q²)²(b_(i-1)² - b_i b_(i-2)) = (a_i^m)² - a_i^(m-1) a_i^(m+1)."""
    return gap_003_4_15(b, i - 1, q)


# --- where the count falls ---------------------------------------------------------------------


def mean_count_000_0_22(crowd: int, q: Real) -> Real:
    """E(S) = qN of N zeros."""
    return q * crowd  # 000 (0.22)


def sigma_count_000_0_23(crowd: int, q: Real) -> Real:
    """σ(S) = √(pqN), whatever the bits; 003 (4.49)."""
    return root((1 - q) * q * crowd)  # 000 (0.23)


def mean_count_000_0_24(crowd: int, q: Real) -> Real:
    """E(S_m) = qN + p, printed for N-1 zeros and a one.

    Wrong by q: only N-1 bits are zeros, see `mean_count_000_0_24_corrected`. Besides, in 000 the
    collection with the one is D and not D_m.
    """
    return q * crowd + (1 - q)  # 000 (0.24)


def mean_count_000_0_24_corrected(crowd: int, q: Real) -> Real:
    """q(N-1) + p, the mean count of N-1 zeros and a one."""
    return q * (crowd - 1) + (1 - q)


def sigma_count_000_0_25(crowd: int, q: Real) -> Real:
    """σ(S_m) = √(pq(N-1) + pq); 003 (4.51)."""
    p = 1 - q
    return root(p * q * (crowd - 1) + p * q)  # 000 (0.25)


def mean_count_003_4_48(crowd: int, q: Real) -> Real:
    """E(S) = pN of N ones."""
    return (1 - q) * crowd  # 003 (4.48)


def mean_count_003_4_50(crowd: int, q: Real) -> Real:
    """E(S_m) = p(N-1) + q of N-1 ones and a zero."""
    return (1 - q) * (crowd - 1) + q  # 003 (4.50)


def observed_interval_000_0_26(crowd: int, q: float) -> tuple[float, float]:
    """E(S) ± 3√(pqN)/(p - q), printed for N zeros.

    Wrong: that is the deviation of the estimate, where the count's √(pqN) is meant
    (`observed_interval_000_0_28`). [198.9, 467.1] has q = .333 and the deviation 44.7.
    """
    return _around(mean_count_000_0_22(crowd, q), 3 * sigma_001_4(crowd, q))  # 000 (0.26)


def observed_interval_000_0_27(crowd: int, q: float) -> tuple[float, float]:
    """E(S_m) ± 3√(pqN)/(p - q), printed for N-1 zeros and a one.

    Wrong twice: the deviation of (0.26) about the mean of (0.24). The printed lower end, 198.6, is
    moreover a misprint for 199.6.
    """
    return _around(mean_count_000_0_24(crowd, q), 3 * sigma_001_4(crowd, q))  # 000 (0.27)


def observed_interval_000_0_29(crowd: int, q: float) -> tuple[float, float]:
    """E(S_m) ± 3√(pqN), printed for N-1 zeros and a one.

    Wrong by q: it stands about the mean of (0.24); `observed_interval_000_0_28` has it right.
    """
    reach = 3 * sigma_count_000_0_25(crowd, q)
    return _around(mean_count_000_0_24(crowd, q), reach)  # 000 (0.29)


# --- estimates and their precision: 000 §0.1, 001 §4 and §6 -------------------------------------


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


# --- steps of the law: 003 §9 ------------------------------------------------------------------


def probability_003_9_1(crowd: int, ones: int, successes: int, q: Real) -> Real:
    """P(S = k | m) of S = Bin(p, m) + Bin(q, N-m), by the sum over the first summand."""
    p, zeros = 1 - q, crowd - ones
    terms = (
        comb(ones, j) * p**j * q ** (ones - j)
        * (choose(zeros, k) * q**k * p ** (zeros - k))
        for j in range(ones + 1)
        for k in (successes - j,)
    )  # fmt: skip
    return sum(terms, 0 * q)  # 003 (9.1)


def step_all_ones_003_9_5(crowd: int, successes: int, q: Real) -> Real:
    """R(k, N) = (N-k+1)/k·p/q: the right end of (9.5), whose middle is misprinted."""
    return (crowd - successes + 1) * ((1 - q) / q) / successes  # 003 (9.5)


def step_all_ones_003_9_5_quotient(crowd: int, successes: int, q: Real) -> Real:
    """C(N,k)q^k p^(N-k)/(C(N,k-1)q^(k-1) p^(N-k+1)), printed in the middle of (9.5).

    Wrong: it repeats the middle of (9.4), p and q are to be exchanged (`step_all_ones_003_9_5`).
    """
    before = probability_modified_000_0_1(crowd, successes - 1, q)
    return probability_modified_000_0_1(crowd, successes, q) / before  # 003 (9.5)


def step_no_ones_003_9_6_approximate(crowd: int, distance: Real, q: Real) -> Real:
    """(qp + αq/N)/(qp - αp/N): (9.6) without its + 1.

    The 1 matters: for 0 < α < qN (9.8) holds with these, but (9.6) exceeds (9.7) only if
    α(α+1) > pqN.
    """
    n, p = crowd, 1 - q
    return (q * p + distance * q / n) / (q * p - distance * p / n)  # 003 (9.6)


def step_all_ones_003_9_7_approximate(crowd: int, distance: Real, q: Real) -> Real:
    """(qp + αp/N)/(qp - αq/N): (9.7) without its + 1."""
    n, p = crowd, 1 - q
    return (q * p + distance * p / n) / (q * p - distance * q / n)  # 003 (9.7)


# --- shared ------------------------------------------------------------------------------------


def _times(coefficients: Sequence[Real], constant: Real, linear: Real) -> list[Real]:
    """Coefficients of a polynomial times constant + linear·x."""
    result = [constant * coefficients[0]]
    for a, b in pairwise(coefficients):
        result.append(constant * b + linear * a)
    result.append(linear * coefficients[-1])
    return result


def _around(mean: float, reach: float) -> tuple[float, float]:
    return mean - reach, mean + reach
