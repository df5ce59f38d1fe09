"""The noise that the drafts choose, and the moments it rests on, safe from overflow.

Closed forms and the μ + 3σ rule, for comparison only.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, log1p, sqrt

from krand.errors import InvalidInput
from krand_lab.formulas.arithmetic import (
    cannot_meet,
    exp_or_inf,
    expm1_or_inf,
    half_gap,
    least_noise,
    log_of_lambda,
    log_powers,
    outlier_variance,
    phi_less_one,
)

DRAFT_WARNING = (
    "The drafts' rule μ + 3σ ≤ λ of 001 (3.12) is not an η: the tail it leaves differs from case "
    "to case (.004 to .007 in its own table, up to .048 in the direction it ignores), and it "
    "looks at one direction and one background only."
)


def local_noise_001_4_2(lam: float, bits: int) -> float:
    """Noise of local privacy, which no crowd hides: q = 1/(1 + λ^(1/L))."""
    return 1 / (1 + exp(log_of_lambda(lam) / bits))  # 001 (4.2)


def single_bit_noise_000_0_19(crowd: int, lam: float) -> float:
    """One bit, 1/R within 3σ: q = ½(1 - 1/√(1 + 36/((1 - 1/λ)²N)))."""
    return single_bit_copies_noise_000_1_23(crowd, lam, 1)  # 000 (0.19) is (1.23) at k = 1


def single_bit_noise_003_4_45(crowd: int, lam: float) -> float:
    """One bit, R within 3σ: q = ½(1 - 1/√(1 + 36/((λ - 1)²N)))."""
    return single_bit_copies_noise_003_5_24(crowd, lam, 1)  # 003 (4.45) is (5.24) at k = 1


def single_bit_copies_noise_000_1_23(crowd: int, lam: float, copies: int) -> float:
    """One bit, k copies, 1/R within 3σ: (0.19) with λ^(1/k) for λ and kN for N."""
    slack = -expm1(-log_of_lambda(lam) / copies)  # 1 - λ^(-1/k)
    return half_gap(36 / (36 + slack**2 * copies * crowd))  # 000 (1.23)


def single_bit_copies_noise_003_5_24(crowd: int, lam: float, copies: int) -> float:
    """One bit, k copies, R within 3σ: (4.45) with λ^(1/k) for λ and kN for N."""
    slack = expm1(log_of_lambda(lam) / copies)  # λ^(1/k) - 1
    return half_gap(36 / (36 + slack**2 * copies * crowd))  # 003 (5.24)


def vector_noise_000_2_33(crowd: int, bits: int, lam: float) -> float:
    """Vectors, 1/R within 3σ: q = ½(1 - √(1 - 4/(3 + (1 + (1 - 1/λ)²N/9)^(1/L))))."""
    slack = -expm1(-log_of_lambda(lam))  # 1 - 1/λ
    phi = exp(log1p(slack**2 * crowd / 9) / bits)  # 000 (2.30)
    return half_gap(4 / (3 + phi))  # 000 (2.33)


def planner_001_3_12(crowd: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """The least q with E[R] + β√Var[R] ≤ λ, by bisection; the draft has β = 3."""

    def fits(q: float) -> bool:
        sigma = sqrt(variance_ratio_001(crowd, bits, q))
        return mean_ratio_001(crowd, bits, q) + beta * sigma <= lam

    return least_noise(fits, "001 (3.12)")


def planner_001_3_13(crowd: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """(3.12) with N-1 and φ^L - 1 replaced by N and φ^L, hence a little more noise."""
    return least_noise(
        lambda q: _fits_001_3_15(crowd, bits, lam, beta, phi_less_one(q)), "001 (3.13)"
    )


def planner_001_3_15(crowd: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """(3.13) solved for φ, then (3.16) for q, the way the draft proposes."""
    if not _fits_001_3_15(crowd, bits, lam, beta, 0.0):
        raise cannot_meet("001 (3.15)")
    low, high = 0.0, 1.0
    while _fits_001_3_15(crowd, bits, lam, beta, high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        fits = _fits_001_3_15(crowd, bits, lam, beta, middle)
        low, high = (middle, high) if fits else (low, middle)
    return noise_of_phi_001_3_16(1 + low)


def _fits_001_3_15(crowd: int, bits: int, lam: float, beta: float, phi_less_one: float) -> bool:
    """1 + φ^L/N + β√(φ^L/N + ((φ²+φ-1)^L - φ^(2L))/N²) ≤ λ."""
    log_power, log_growth = log_powers(bits, phi_less_one)
    power = exp_or_inf(log_power - log(crowd))
    variance = power + outlier_variance(crowd, log_power, log_growth)
    return 1 + power + beta * sqrt(variance) <= lam  # 001 (3.15)


def planner_copies_001_6_3(
    crowd: int, bits: int, lam: float, copies: int, beta: float = 3.0
) -> float:
    """The least q that the printed condition (6.3) allows, for reproduction only.

    Wrong: it stands on (6.1) and (6.2), and lets the noise fall as copies are added, until the
    ratio exceeds λ nearly always. Never plan with it.
    """

    def fits(q: float) -> bool:
        sigma = sqrt(copies_variance_001_6_2(crowd, bits, q, copies))
        return copies_mean_001_6_1(crowd, bits, q, copies) + beta * sigma <= lam

    return least_noise(fits, "001 (6.3)")


def sparse_bits_001_5(set_bits: int) -> int:
    """The length 2m whose noise 001 §5 gives to vectors with m set bits.

    Wrong: it compares only with a background equal to one of the two answers. Where everybody
    else holds a third pattern, disjoint from both, N·Var(log R) is about 2φ^(2m) - 2φ^m and not
    φ^(2m) - 1: for one-hot answers nearly twice as much.
    """
    return 2 * set_bits


def draft_noise(crowd: int, bits: int, epsilon: float, linked: bool) -> tuple[float, str]:
    """The noise the drafts would choose, and where they say so."""
    lam = exp(epsilon)
    if linked:
        return planner_001_3_12(crowd, bits, lam), "001 (3.12)"
    if bits > 1:
        raise InvalidInput(
            "bits",
            "must be 1: the drafts do not compose bits that are reported apart",
            bits,
            "link the bits into one record",
        )
    noise = max(single_bit_noise_000_0_19(crowd, lam), single_bit_noise_003_4_45(crowd, lam))
    return noise, "the larger of 000 (0.19) and 003 (4.45)"


# --- moments of R and of R(S^k) as printed, in logarithms (001) ----------------------------------


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
