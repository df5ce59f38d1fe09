"""R of k copies and the moments of its terms as printed (001 Appendix II, (8.1)–(8.29)).

Reports are given by their numbers of set bits l_1, …, l_kN. A name ending in `_corrected` is what
the equation should say. The moments of R(S^k) are in `copies_moments`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, factorial, log, prod

from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.vector_moments import exact_phi_001_3_14, fifth_powers_001_3_14
from krand_lab.formulas.vectors import (
    likelihood_ratio_001_3_2,
    set_bits_of_one_001_3_9,
    set_bits_of_zero_001_3_7,
)

# --- moments of c^X from a moment generating function (8.1)–(8.3) -----------------------------


def power_mean_001_8_1(mgf: Callable[[float], float], base: float) -> float:
    """E[c^X] = M(ln c)."""
    return mgf(log(base))


def power_square_001_8_2(mgf: Callable[[float], float], base: float) -> float:
    """E[c^(2X)] = M(2 ln c)."""
    return mgf(2 * log(base))


def power_variance_001_8_3(mgf: Callable[[float], float], base: float) -> float:
    """Var[c^X] = M(2 ln c) - M(ln c)²."""
    return power_square_001_8_2(mgf, base) - power_mean_001_8_1(mgf, base) ** 2


def mgf_001_8_26(t: float, zeros: int, ones: int, bits: int, q: float) -> float:
    """M_r(t) = (p + q e^t)^(mL) (q + p e^t)^(rL): set bits of m reports of zeros and r of ones."""
    return powers_of_set_bits_001_8_26(exp(t), zeros, ones, bits, q)


def powers_of_set_bits_001_8_26(base: Real, zeros: int, ones: int, bits: int, q: Real) -> Real:
    """M_r with c for e^t, hence without rounding: E[c^(L_r)] = (p + qc)^(mL) (q + pc)^(rL)."""
    p = 1 - q
    return (p + q * base) ** (zeros * bits) * (q + p * base) ** (ones * bits)


# --- one copy once more (8.5)–(8.19) ----------------------------------------------------------


def probability_original_001_8_5(set_bits: Sequence[int], bits: int, q: Real) -> Real:
    """P(S|D) = N! Π p(s_i|0), as printed: the probability only where no report occurs twice."""
    return factorial(len(set_bits)) * _product_of_zeros(set_bits, bits, q)


def probability_original_001_8_5_corrected(
    set_bits: Sequence[int], repeats: Sequence[int], bits: int, q: Real
) -> Real:
    """N!/Π s_v!·Π p(s_i|0), s_v being how often each distinct report occurs."""
    return probability_original_001_8_5(set_bits, bits, q) / prod(map(factorial, repeats))


def probability_modified_001_8_6(set_bits: Sequence[int], bits: int, q: Real) -> Real:
    """P(S|D_m) = Σ_j p(s_j|1)·(N-1)!·Π_{i≠j} p(s_i|0), printed after (8.5): see there."""
    whole = factorial(len(set_bits) - 1) * _product_of_zeros(set_bits, bits, q)
    terms = (whole * likelihood_ratio_001_3_2(ones, bits, q) for ones in set_bits)
    return sum(terms, 0 * q)


def _product_of_zeros(set_bits: Sequence[int], bits: int, q: Real) -> Real:
    """Π p(s_i|0)."""
    return prod((q**ones * (1 - q) ** (bits - ones) for ones in set_bits), start=q**0)


def ratio_001_8_6(set_bits: Sequence[int], bits: int, q: Real) -> Real:
    """R(S) = P(S|D_m)/P(S|D) of the two lines before; what they leave out cancels."""
    modified = probability_modified_001_8_6(set_bits, bits, q)
    return modified / probability_original_001_8_5(set_bits, bits, q)


def ratio_001_8_8(set_bits: Sequence[int], bits: int, q: Real) -> Real:
    """R(S) = (1/N)(q/p)^L Σ (p/q)^(2 l_i); (8.7) has the factor inside the sum."""
    p = 1 - q
    terms = ((p / q) ** (2 * ones) for ones in set_bits)
    return (q / p) ** bits * sum(terms, 0 * q) / len(set_bits)


def mean_y_zero_001_8_9(bits: int, q: Real) -> Real:
    """E[(p/q)^(2 L_0)] = (p/q)^L."""
    return ((1 - q) / q) ** bits


def square_y_zero_001_8_10(bits: int, q: Real) -> Real:
    """E[(p/q)^(4 L_0)] = ((pq³ + p⁴)/q³)^L."""
    p = 1 - q
    return ((p * q**3 + p**4) / q**3) ** bits


def mean_x_zero_001_8_11(bits: int, q: Real) -> Real:
    """E X_0 = (q/p)^L (p/q)^L = 1."""
    return (q / (1 - q)) ** bits * mean_y_zero_001_8_9(bits, q)


def mean_y_one_001_8_15(bits: int, q: Real) -> Real:
    """E[(p/q)^(2 L_1)] = ((q³ + p³)/q²)^L."""
    return ((q**3 + (1 - q) ** 3) / q**2) ** bits


def square_y_one_001_8_16(bits: int, q: Real) -> Real:
    """E[(p/q)^(4 L_1)] = ((q⁵ + p⁵)/q⁴)^L."""
    return ((q**5 + (1 - q) ** 5) / q**4) ** bits


def square_x_one_001_8_18(bits: int, q: Real) -> Real:
    """E X_1² = ((q⁵ + p⁵)/(qp)²)^L."""
    return fifth_powers_001_3_14(q) ** bits


# --- R of k copies (8.20)–(8.22) --------------------------------------------------------------


def copies_ratio_001_8_20(set_bits: Sequence[int], bits: int, copies: int, q: Real) -> Real:
    """Σ_j Π_{S_j} p(s_i|1)·(kN-k)!·Π_{not S_j} p(s_i|1) over (kN)! Π p(s_i|0), as printed.

    Outside S_j it should read p(s_i|0), and the k copies of the outlier can be ordered in k! ways.
    """
    reports = len(set_bits)
    one = [(1 - q) ** ones * q ** (bits - ones) for ones in set_bits]
    terms = (
        prod((one[i] for i in chosen), start=q**0)
        * factorial(reports - copies)
        * prod((one[i] for i in range(reports) if i not in chosen), start=q**0)
        for chosen in combinations(range(reports), copies)
    )
    return sum(terms, 0 * q) / probability_original_001_8_5(set_bits, bits, q)


def copies_ratio_001_8_21(set_bits: Sequence[int], bits: int, copies: int, q: Real) -> Real:
    """(kN-k)!/(kN)!·Σ_j Π_{S_j} p(s_i|1)/p(s_i|0), as printed: a factor k! too small."""
    reports = len(set_bits)
    weights = [likelihood_ratio_001_3_2(ones, bits, q) for ones in set_bits]
    terms = (prod(chosen, start=q**0) for chosen in combinations(weights, copies))
    return Fraction(factorial(reports - copies), factorial(reports)) * sum(terms, 0 * q)


def copies_ratio_001_8_21_corrected(
    set_bits: Sequence[int], bits: int, copies: int, q: Real
) -> Real:
    """e_k(w)/C(kN,k): the mean over all k-subsets of the product of their likelihood ratios."""
    symmetric = [q**0] + [0 * q] * copies  # e_0, …, e_k of the reports taken so far
    for ones in set_bits:
        weight = likelihood_ratio_001_3_2(ones, bits, q)
        for size in range(copies, 0, -1):
            symmetric[size] += weight * symmetric[size - 1]
    return symmetric[copies] / comb(len(set_bits), copies)


def copies_ratio_001_8_22(set_bits: Sequence[int], bits: int, copies: int, q: Real) -> Real:
    """(kN-k)!/(kN)!·(q/p)^(kL) Σ_j (p/q)^(2(l_1+…+l_k)), the same as (8.21)."""
    reports, p = len(set_bits), 1 - q
    terms = ((p / q) ** (2 * sum(chosen)) for chosen in combinations(set_bits, copies))
    return (
        Fraction(factorial(reports - copies), factorial(reports))
        * (q / p) ** (copies * bits)
        * sum(terms, 0 * q)
    )


# --- one term of the sum (8.24)–(8.29): m reports of zeros and r of ones ----------------------


def set_bits_law_001_8_24(zeros: int, ones: int, bits: int, q: Real) -> dict[int, Real]:
    """Law of m·L_0 + r·L_1 as printed: one report of each kind, multiplied."""
    law: dict[int, Real] = defaultdict(lambda: 0 * q)
    for a, b in product(range(bits + 1), repeat=2):
        law[zeros * a + ones * b] += set_bits_of_zero_001_3_7(a, bits, q) * (
            set_bits_of_one_001_3_9(b, bits, q)
        )
    return dict(law)


def set_bits_law_001_8_24_corrected(zeros: int, ones: int, bits: int, q: Real) -> dict[int, Real]:
    """Law of the sum of m independent L_0 and r independent L_1: Bin(mL, q) + Bin(rL, p)."""
    law: dict[int, Real] = defaultdict(lambda: 0 * q)
    for a, b in product(range(zeros * bits + 1), range(ones * bits + 1)):
        law[a + b] += set_bits_of_zero_001_3_7(a, zeros * bits, q) * (
            set_bits_of_one_001_3_9(b, ones * bits, q)
        )
    return dict(law)


def mean_set_bits_001_8_25(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """E L_r = m q^L + r p^L, as printed."""
    return zeros * q**bits + ones * (1 - q) ** bits


def mean_set_bits_001_8_25_corrected(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """E L_r = mLq + rLp."""
    return zeros * bits * q + ones * bits * (1 - q)


def mean_x_r_001_8_27(ones: int, bits: int, q: Real) -> Real:
    """E X_r = φ^(rL)."""
    return exact_phi_001_3_14(q) ** (ones * bits)


def square_x_r_001_8_28(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """E X_r² = φ^(mL) ((q⁵+p⁵)/(qp)²)^(rL), the last form."""
    return exact_phi_001_3_14(q) ** (zeros * bits) * fifth_powers_001_3_14(q) ** (ones * bits)


def square_x_r_001_8_28_middle(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """(q/p)^(kL) M_r(4 ln(p/q)), as printed on the way: the first factor lacks its square."""
    p = 1 - q
    fourth = powers_of_set_bits_001_8_26((p / q) ** 4, zeros, ones, bits, q)
    return (q / p) ** ((zeros + ones) * bits) * fourth


def square_x_r_001_8_28_middle_corrected(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """(q/p)^(2kL) M_r(4 ln(p/q))."""
    return (q / (1 - q)) ** ((zeros + ones) * bits) * square_x_r_001_8_28_middle(
        zeros, ones, bits, q
    )


def variance_x_r_001_8_29(zeros: int, ones: int, bits: int, q: Real) -> Real:
    """Var X_r = φ^(mL) ((q⁵+p⁵)/(qp)²)^(rL) - φ^(2rL)."""
    return square_x_r_001_8_28(zeros, ones, bits, q) - mean_x_r_001_8_27(ones, bits, q) ** 2
