"""Moments of X = N·R and of R as printed, for fractions and floats (000 §2, 001 §3 and §7, 003 §6).

The means and variances in `moments` are the same in logarithms, safe from overflow. 000 (2.28) and
(2.30) only compare φ with `power_limit_000_2_29` (where (2.30) prints a first root, the L-th is
meant); (2.33) is `vector_noise_000_2_33`. 003 (6.14) is `mean_of_zero_001_7_1`.
"""

from __future__ import annotations

from itertools import combinations, permutations
from math import comb, sqrt

from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.vectors import (
    expected_histogram_003_6_11,
    likelihood_ratio_001_3_2,
    likelihood_ratio_003_6_9,
    set_bits_of_one_001_3_9,
    set_bits_of_zero_001_3_7,
)

# --- moments of X = N·R when everybody holds zeros (000 §2.1.2) -------------------------------


def _contributions(bits: int, q: Real) -> list[tuple[Real, Real]]:
    """(q/p)^(L-2l) and p(l|0) for every l."""
    return [
        (likelihood_ratio_001_3_2(ones, bits, q), set_bits_of_zero_001_3_7(ones, bits, q))
        for ones in range(bits + 1)
    ]


def mean_of_sum_000_2_15(crowd: int, bits: int, q: Real) -> Real:
    """E(X) = Σ N p(l|0) (q/p)^(L-2l), which is N."""
    return sum((crowd * chance * w for w, chance in _contributions(bits, q)), 0 * q)


def variance_of_sum_000_2_16(crowd: int, bits: int, q: Real) -> Real:
    """Σ VAR(X_l) + 2 Σ_{i<j} COV(X_i, X_j), with the covariances of a multinomial."""
    cells = _contributions(bits, q)
    own = sum((crowd * w**2 * chance * (1 - chance) for w, chance in cells), 0 * q)
    pairs = combinations(cells, 2)
    return own - 2 * sum((crowd * a * w * b * v for (w, a), (v, b) in pairs), 0 * q)


def variance_of_sum_000_2_17(crowd: int, bits: int, q: Real) -> Real:
    """The same with 2 Σ_{j≠i}, as printed: every pair is taken off twice."""
    cells = _contributions(bits, q)
    own = sum((crowd * w**2 * chance * (1 - chance) for w, chance in cells), 0 * q)
    pairs = permutations(cells, 2)
    return own - 2 * sum((crowd * a * w * b * v for (w, a), (v, b) in pairs), 0 * q)


def variance_of_sum_000_2_18(crowd: int, bits: int, q: Real) -> Real:
    """(2.17) multiplied out, with the same slip."""
    cells = _contributions(bits, q)
    squares = sum((w**2 * chance - (chance * w) ** 2 for w, chance in cells), 0 * q)
    pairs = permutations(cells, 2)
    return crowd * (squares - 2 * sum((a * w * b * v for (w, a), (v, b) in pairs), 0 * q))


def variance_of_sum_000_2_19(crowd: int, bits: int, q: Real) -> Real:
    """N(Σ w_l² p(l|0) - (Σ p(l|0) w_l)²), w_l = (q/p)^(L-2l); (2.20) has 1 for the square."""
    cells = _contributions(bits, q)
    mean = sum((chance * w for w, chance in cells), 0 * q)
    return crowd * (second_moment_000_2_21(bits, q) - mean**2)


def second_moment_000_2_21(bits: int, q: Real) -> Real:
    """Σ [(q/p)^(L-2l)]² p(l|0)."""
    return sum((w**2 * chance for w, chance in _contributions(bits, q)), 0 * q)


def second_moment_000_2_23(bits: int, q: Real) -> Real:
    """Σ C(L,l) q^(2L-3l)/p^(L-3l), the same after (2.22); also 001 (7.4)."""
    p = 1 - q
    terms = (comb(bits, i) * q ** (2 * bits - 3 * i) / p ** (bits - 3 * i) for i in range(bits + 1))
    return sum(terms, 0 * q)


def variance_of_sum_000_2_25(crowd: int, bits: int, q: Real) -> Real:
    """N(((p³+q³)/(pq))^L - 1)."""
    return crowd * (exact_phi_001_3_14(q) ** bits - 1)


def power_limit_000_2_29(crowd: int, lam: Real) -> Real:
    """1 + (1 - 1/λ)²N/9, which φ^L must not exceed (2.28)."""
    return 1 + (1 - 1 / lam) ** 2 * crowd / 9


def phi_000_2_31(q: Real) -> Real:
    """φ = (1 - 3q + 3q²)/(q(1 - q))."""
    return (1 - 3 * q + 3 * q**2) / (q * (1 - q))


def quadratic_000_2_32(q: Real, phi_limit: Real) -> Real:
    """q² - q + 1/(3 + z), which is not positive where φ ≤ z."""
    return q**2 - q + 1 / (3 + phi_limit)


# --- moments of R with an outlier (001 §3.1 and §7, 003 §6.1.2) -------------------------------


def exact_phi_001_3_14(q: Real) -> Real:
    """φ = (p³ + q³)/(pq); `phi_001_3_14` is the same without cancellation."""
    p = 1 - q
    return (p**3 + q**3) / (p * q)


def fifth_powers_001_3_14(q: Real) -> Real:
    """(p⁵ + q⁵)/(pq)², the second moment of one bit's ratio under the outlier."""
    p = 1 - q
    return (p**5 + q**5) / (p * q) ** 2


def fifth_powers_001_3_14_misprint(q: Real) -> Real:
    """(p + q)(p⁴ - p³q + (pq)² - pq³ + q⁴)/(pq)⁴, printed for it: the exponent should be 2."""
    p = 1 - q
    return (p + q) * (p**4 - p**3 * q + (p * q) ** 2 - p * q**3 + q**4) / (p * q) ** 4


def fifth_powers_of_phi_001_3_15(phi: Real) -> Real:
    """(φ + 1)² - φ - 2 = φ² + φ - 1."""
    return (phi + 1) ** 2 - phi - 2


def mean_of_zero_001_7_1(bits: int, q: Real) -> Real:
    """E(X_0) = G'(1) = Σ C(L,l) q^l p^(L-l) (q/p)^(L-2l), which is 1 (7.6); also 003 (6.14)."""
    return mean_of_sum_000_2_15(1, bits, q)


def variance_by_generating_function_001_7_2(mean: Real, second_derivative: Real) -> Real:
    """G''(1) - E² + E."""
    return second_derivative - mean**2 + mean


def second_derivative_of_zero_001_7_3(bits: int, q: Real) -> Real:
    """G''(1) of X_0: Σ p(l|0) w_l (w_l - 1), w_l = (q/p)^(L-2l)."""
    return sum((chance * w * (w - 1) for w, chance in _contributions(bits, q)), 0 * q)


def second_derivative_of_zero_001_7_4(bits: int, q: Real) -> Real:
    """The same as Σ C(L,l) q^(2L-3l)/p^(L-3l) - 1."""
    return second_moment_000_2_23(bits, q) - 1


def variance_of_zero_001_7_7(bits: int, q: Real) -> Real:
    """VAR(X_0) = φ^L - 1; also (7.5) and (8.13)."""
    return exact_phi_001_3_14(q) ** bits - 1


def mean_of_one_001_7_8(bits: int, q: Real) -> Real:
    """E(X_1) = φ^L; also (8.17), and E(X_0²) of (8.12)."""
    return exact_phi_001_3_14(q) ** bits


def variance_of_one_001_7_9(bits: int, q: Real) -> Real:
    """VAR(X_1) = ((p⁵+q⁵)/(pq)²)^L - φ^(2L); also (8.19)."""
    return fifth_powers_001_3_14(q) ** bits - exact_phi_001_3_14(q) ** (2 * bits)


def exact_mean_ratio_001(crowd: int, bits: int, q: Real) -> Real:
    """E[R | D_m] = (N-1)/N + φ^L/N (001 §3.1, 003 (6.17)); see `mean_ratio_001`."""
    return (crowd - 1 + mean_of_one_001_7_8(bits, q)) / crowd


def exact_variance_ratio_001(crowd: int, bits: int, q: Real) -> Real:
    """Var[R | D_m] = ((N-1) VAR(X_0) + VAR(X_1))/N² (001 §3.1); see `variance_ratio_001`."""
    others = (crowd - 1) * variance_of_zero_001_7_7(bits, q)
    return (others + variance_of_one_001_7_9(bits, q)) / crowd**2


def simplified_moments_001_3_13(crowd: int, bits: int, q: Real) -> tuple[Real, Real]:
    """1 + φ^L/N, and what stands under the root: φ^L/N + VAR(X_1)/N²."""
    power = exact_phi_001_3_14(q) ** bits / crowd
    return 1 + power, power + variance_of_one_001_7_9(bits, q) / crowd**2


def exact_tail_exponent_001_3_17(crowd: int, bits: int, q: Real, beta_squared: Real) -> Real:
    """β²/2·[1 - ((N-1) + φ^L)/((N-1)φ^L + (φ²+φ-1)^L)], as printed: φ^L should be φ^(2L)."""
    power = exact_phi_001_3_14(q) ** bits
    squares = (crowd - 1) * power + fifth_powers_001_3_14(q) ** bits
    return beta_squared / 2 * (1 - (crowd - 1 + power) / squares)


def exact_tail_exponent_001_3_17_unreduced(
    crowd: int, bits: int, q: Real, beta_squared: Real
) -> Real:
    """β²σ²/(2 Σ E[X_i²]), the line above."""
    power = exact_phi_001_3_14(q) ** bits
    squares = (crowd - 1) * power + fifth_powers_001_3_14(q) ** bits
    sigma_squared = exact_variance_ratio_001(crowd, bits, q) * crowd**2
    return beta_squared * sigma_squared / (2 * squares)


def one_outlier_mean_003_6_15(bits: int, q: Real) -> Real:
    """Σ p(l|0) (p/q)^(L-2l), which is φ^L (6.16)."""
    terms = (
        set_bits_of_zero_001_3_7(ones, bits, q) * likelihood_ratio_003_6_9(ones, bits, q)
        for ones in range(bits + 1)
    )
    return sum(terms, 0 * q)


def ratio_limit_003_6_18(crowd: int, bits: int, q: float) -> float:
    """(1/N) Σ (E s_l + 3√VAR(s_l)) (p/q)^(L-2l), with the variance that (6.19) fails to give.

    (6.19) prints this sum once more for VAR(s_l). Under D' + 0 the variance is
    (N-1) p(l|1)(1 - p(l|1)) + p(l|0)(1 - p(l|0)).
    """
    total = 0.0
    for ones, expected in enumerate(expected_histogram_003_6_11(crowd, bits, q)):
        one = set_bits_of_one_001_3_9(ones, bits, q)
        zero = set_bits_of_zero_001_3_7(ones, bits, q)
        variance = (crowd - 1) * one * (1 - one) + zero * (1 - zero)
        total += (expected + 3 * sqrt(variance)) * likelihood_ratio_003_6_9(ones, bits, q)
    return total / crowd
