"""Moments of R(S^k) as printed and as they are, for fractions and floats (001 (8.30)–(8.38), §6).

`copies_mean_001_6_1` and `copies_variance_001_6_2` are the printed bounds in logarithms, safe from
overflow. A name ending in `_corrected` is what the equation should say.
"""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from krand_lab.formulas.arithmetic import Real
from krand_lab.formulas.copies import variance_x_r_001_8_29
from krand_lab.formulas.vector_moments import exact_phi_001_3_14, fifth_powers_001_3_14

# --- the mean (8.30)–(8.37) -------------------------------------------------------------------


def copies_mean_001_8_31(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """(kN-k)!/(kN)!·Σ_r C(k,r) C(kN-k,k-r) φ^(rL), as printed: a factor k! too small."""
    corrected = copies_mean_001_8_31_corrected(crowd, bits, q, copies)
    return corrected / factorial(copies)


def copies_mean_001_8_31_corrected(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """E[R | D_m] = E[φ^(Lc)], c ~ Hypergeometric(kN,k,k): where two k-subsets meet."""
    power = exact_phi_001_3_14(q) ** bits
    terms = (_meeting(crowd, copies, r) * power**r for r in range(copies + 1))
    return sum(terms, 0 * q)


def _meeting(crowd: int, copies: int, common: int) -> Fraction:
    """The chance that two random k-subsets of kN reports have so many reports in common."""
    k, reports = copies, copies * crowd
    return Fraction(comb(k, common) * comb(reports - k, k - common), comb(reports, k))


def falling_factorial_001_8_32(crowd: int, copies: int) -> tuple[Fraction, Fraction, Fraction]:
    """(1/(kN))^k ≤ (kN-k)!/(kN)! ≤ (1/(k(N-1)))^k; (8.34) calls all three about equal."""
    n, k = crowd, copies
    return (
        Fraction(1, k * n) ** k,
        Fraction(factorial(k * n - k), factorial(k * n)),
        Fraction(1, k * (n - 1)) ** k,
    )


def binomial_from_below_001_8_35(
    crowd: int, copies: int, ones: int
) -> tuple[Fraction, Fraction, Fraction]:
    """C(Nk-k,k-r) ≥ ((Nk-k)/(k-r))^(k-r) ≥ (N-1)^(k-r); at r = k the middle is an empty product."""
    others, rest = crowd * copies - copies, copies - ones
    return (
        Fraction(comb(others, rest)),
        Fraction(others, max(rest, 1)) ** rest,
        Fraction(crowd - 1) ** rest,
    )


def binomial_from_above_001_8_36(
    crowd: int, copies: int, ones: int
) -> tuple[Fraction, Fraction, Fraction]:
    """C(Nk-k,k-r) ≤ (Nk-k)^(k-r)/(k-r)! ≤ (Nk-k)^(k-r)."""
    others, rest = crowd * copies - copies, copies - ones
    return (
        Fraction(comb(others, rest)),
        Fraction(others**rest, factorial(rest)),
        Fraction(others**rest),
    )


def exact_copies_mean_001_6_1(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """(1 + φ^L/(kN))^k, printed as a bound on E[R | D_m] in (6.1) and (8.37)."""
    return (1 + exact_phi_001_3_14(q) ** bits / (copies * crowd)) ** copies


def copies_mean_001_8_37_corrected(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """(1 + (φ^L - 1)/N)^k, the k-th power of the mean of one copy: this does bound E[R | D_m]."""
    return (1 + (exact_phi_001_3_14(q) ** bits - 1) / crowd) ** copies


# --- the variance (after (8.37)) --------------------------------------------------------------


def copies_variance_001_8_37(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """[(kN-k)!/(kN)!]² Σ_r C(k,r) C(kN-k,k-r) Var X_r, printed as Var[R | D_m].

    Besides the factor k!² it adds variances of terms that share reports.
    """
    reports, k = copies * crowd, copies
    terms = (
        comb(k, r) * comb(reports - k, k - r) * variance_x_r_001_8_29(k - r, r, bits, q)
        for r in range(k + 1)
    )
    return Fraction(factorial(reports - k), factorial(reports)) ** 2 * sum(terms, 0 * q)


def exact_copies_variance_001_6_2(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """(φ^L/(kN) + ψ^L/(kN)²)^k - (1/(kN) + φ^(2L)/(kN)²)^k, ψ = (p⁵+q⁵)/(pq)²: see (6.2)."""
    power, fifth = exact_phi_001_3_14(q) ** bits, fifth_powers_001_3_14(q) ** bits
    reports, one = copies * crowd, q**0
    first = power / reports + fifth / reports**2
    second = one / reports + power**2 / reports**2
    return first**copies - second**copies


def copies_variance_under_original_001_8_37_corrected(
    crowd: int, bits: int, q: Real, copies: int
) -> Real:
    """Var[R | D] = E[φ^(Lc)] - 1, since E[R | D] = 1 and E[R² | D] = E[R | D_m]."""
    return copies_mean_001_8_31_corrected(crowd, bits, q, copies) - 1


def copies_square_001_8_37_corrected(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """E[R² | D_m] = E[R³ | D], the mean of φ^(L·twice) ψ^(L·thrice) over three random k-subsets.

    A report with likelihood ratio w lies in none, one, two or all three of them, and under D the
    means of 1, w, w², w³ are 1, 1, φ^L, ψ^L, ψ = (p⁵+q⁵)/(pq)². The first two meet in `common`
    reports; the third takes `thrice` of those, `either` of what only one of the two holds.
    """
    power, fifth = exact_phi_001_3_14(q) ** bits, fifth_powers_001_3_14(q) ** bits
    k, reports = copies, copies * crowd
    terms = (
        _meeting(crowd, k, common)
        * Fraction(
            comb(common, thrice)
            * comb(2 * (k - common), either)
            * comb(reports - 2 * k + common, k - thrice - either),
            comb(reports, k),
        )
        * power ** (common - thrice + either)
        * fifth**thrice
        for common in range(max(0, 2 * k - reports), k + 1)
        for thrice in range(common + 1)
        for either in range(k - thrice + 1)
    )
    return sum(terms, 0 * q)


def copies_variance_001_8_37_corrected(crowd: int, bits: int, q: Real, copies: int) -> Real:
    """Var[R | D_m] = E[R³ | D] - (E[R² | D])²."""
    mean = copies_mean_001_8_31_corrected(crowd, bits, q, copies)
    return copies_square_001_8_37_corrected(crowd, bits, q, copies) - mean**2


def copies_condition_001_8_38(crowd: int, bits: int, q: Real, copies: int) -> tuple[Real, Real]:
    """The printed mean and what stands under the root of (8.38) = (6.3)."""
    return (
        exact_copies_mean_001_6_1(crowd, bits, q, copies),
        exact_copies_variance_001_6_2(crowd, bits, q, copies),
    )
