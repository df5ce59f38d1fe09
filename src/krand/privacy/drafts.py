"""The planning formulas of the drafts, one function each, named by document and equation.

They are here to be reproduced and compared, never to plan with: see `DRAFT_WARNING`. Documents
000 and 003 are the two "K-Randomization" drafts, 001 is "Sufficient Differential Privacy".
Throughout λ = e^ε, p = 1-q, φ = p/q + q/p - 1; N is `population`, L is `bits`, k is `copies`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, expm1, inf, log, log1p, sqrt

from krand.errors import CannotMeet, InvalidInput

__all__ = [
    "DRAFT_WARNING",
    "copies_mean_001_6_1",
    "copies_variance_001_6_2",
    "draft_noise",
    "estimate_001_4",
    "local_noise_001_4_2",
    "mean_ratio_001",
    "noise_of_phi_001_3_16",
    "observed_interval_000_0_28",
    "phi_001_3_14",
    "planner_001_3_12",
    "planner_001_3_13",
    "planner_001_3_15",
    "planner_copies_001_6_3",
    "sigma_001_4",
    "single_bit_copies_noise_000_1_23",
    "single_bit_copies_noise_003_5_24",
    "single_bit_noise_000_0_19",
    "single_bit_noise_003_4_45",
    "sparse_bits_001_5",
    "tail_bound_001_3_17",
    "tail_bound_001_3_17_unreduced",
    "variance_ratio_001",
    "vector_noise_000_2_33",
]

DRAFT_WARNING = (
    "The drafts' rule μ + 3σ ≤ λ of 001 (3.12) is not an η: the tail it leaves differs from case "
    "to case (.004 to .007 in its own table, up to .048 in the direction it ignores), and it "
    "looks at one direction and one background only."
)


# --- noise of a single bit, of local privacy, and of vectors in closed form -------------------


def local_noise_001_4_2(lam: float, bits: int) -> float:
    """Noise of local privacy, which no crowd hides: q = 1/(1 + λ^(1/L))."""
    return 1 / (1 + exp(_log(lam) / bits))  # 001 (4.2)


def single_bit_noise_000_0_19(population: int, lam: float) -> float:
    """One bit, 1/R within 3σ: q = ½(1 - 1/√(1 + 36/((1 - 1/λ)²N)))."""
    return single_bit_copies_noise_000_1_23(population, lam, 1)  # 000 (0.19) is (1.23) at k = 1


def single_bit_noise_003_4_45(population: int, lam: float) -> float:
    """One bit, R within 3σ: q = ½(1 - 1/√(1 + 36/((λ - 1)²N)))."""
    return single_bit_copies_noise_003_5_24(population, lam, 1)  # 003 (4.45) is (5.24) at k = 1


def single_bit_copies_noise_000_1_23(population: int, lam: float, copies: int) -> float:
    """One bit, k copies, 1/R within 3σ: (0.19) with λ^(1/k) for λ and kN for N."""
    slack = -expm1(-_log(lam) / copies)  # 1 - λ^(-1/k)
    return _half_gap(36 / (36 + slack**2 * copies * population))  # 000 (1.23)


def single_bit_copies_noise_003_5_24(population: int, lam: float, copies: int) -> float:
    """One bit, k copies, R within 3σ: (4.45) with λ^(1/k) for λ and kN for N."""
    slack = expm1(_log(lam) / copies)  # λ^(1/k) - 1
    return _half_gap(36 / (36 + slack**2 * copies * population))  # 003 (5.24)


def vector_noise_000_2_33(population: int, bits: int, lam: float) -> float:
    """Vectors, 1/R within 3σ: q = ½(1 - √(1 - 4/(3 + (1 + (1 - 1/λ)²N/9)^(1/L))))."""
    slack = -expm1(-_log(lam))  # 1 - 1/λ
    phi = exp(log1p(slack**2 * population / 9) / bits)  # 000 (2.30)
    return _half_gap(4 / (3 + phi))  # 000 (2.33)


def _half_gap(x: float) -> float:
    """½(1 - √(1 - x)), without cancellation when x is small; 1 - 1/√(1+z) is x = z/(1+z)."""
    return x / (2 * (1 + sqrt(1 - x)))


# --- moments of R and the μ + 3σ planner ------------------------------------------------------


def phi_001_3_14(q: float) -> float:
    """φ = (p³ + q³)/(pq), the second moment of one bit's likelihood ratio."""
    return 1 + _phi_less_one(q)  # 001 (3.14)


def noise_of_phi_001_3_16(phi: float) -> float:
    """The inverse of (3.14): q = 1/(1 + r), r = ((φ+1) + √((φ+1)² - 4))/2."""
    if phi < 1:
        raise InvalidInput("phi", "must be at least 1", phi)
    return 1 / (1 + ((phi + 1) + sqrt((phi - 1) * (phi + 3))) / 2)  # 001 (3.16)


def mean_ratio_001(population: int, bits: int, q: float) -> float:
    """E[R | D_m] = (N-1)/N + φ^L/N (001 §3.1); infinite when it leaves the floating range."""
    log_power, _ = _log_powers(bits, _phi_less_one(q))
    return (population - 1) / population + _exp(log_power - log(population))


def variance_ratio_001(population: int, bits: int, q: float) -> float:
    """Var[R | D_m] = ((N-1)(φ^L - 1) + (φ²+φ-1)^L - φ^(2L))/N² (001 §3.1)."""
    log_power, log_growth = _log_powers(bits, _phi_less_one(q))
    others = (population - 1) * _exp_less_one(log_power) / population**2
    return others + _outlier_variance(population, log_power, log_growth)


def planner_001_3_12(population: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """The least q with E[R] + β√Var[R] ≤ λ, by bisection; the draft has β = 3."""

    def fits(q: float) -> bool:
        sigma = sqrt(variance_ratio_001(population, bits, q))
        return mean_ratio_001(population, bits, q) + beta * sigma <= lam

    return _least_noise(fits, "001 (3.12)")


def planner_001_3_13(population: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """(3.12) with N-1 and φ^L - 1 replaced by N and φ^L, hence a little more noise."""
    return _least_noise(
        lambda q: _fits_001_3_15(population, bits, lam, beta, _phi_less_one(q)), "001 (3.13)"
    )


def planner_001_3_15(population: int, bits: int, lam: float, beta: float = 3.0) -> float:
    """(3.13) solved for φ, then (3.16) for q, the way the draft proposes."""
    if not _fits_001_3_15(population, bits, lam, beta, 0.0):
        raise _no_noise("001 (3.15)")
    low, high = 0.0, 1.0
    while _fits_001_3_15(population, bits, lam, beta, high):
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        fits = _fits_001_3_15(population, bits, lam, beta, middle)
        low, high = (middle, high) if fits else (low, middle)
    return noise_of_phi_001_3_16(1 + low)


def _fits_001_3_15(
    population: int, bits: int, lam: float, beta: float, phi_less_one: float
) -> bool:
    """1 + φ^L/N + β√(φ^L/N + ((φ²+φ-1)^L - φ^(2L))/N²) ≤ λ."""
    log_power, log_growth = _log_powers(bits, phi_less_one)
    power = _exp(log_power - log(population))
    variance = power + _outlier_variance(population, log_power, log_growth)
    return 1 + power + beta * sqrt(variance) <= lam  # 001 (3.15)


def tail_bound_001_3_17(population: int, bits: int, q: float, beta: float) -> float:
    """exp(-β²/2·[1 - ((N-1) + φ^L)/((N-1)φ^L + (φ²+φ-1)^L)]), as printed.

    Twice wrong: Maurer's inequality bounds the *lower* tail of a sum of positive terms, so this
    says nothing about P[R > λ]; and φ^L in the numerator should read φ^(2L), as it does one line
    earlier (`tail_bound_001_3_17_unreduced`).
    """
    log_power, log_growth = _log_powers(bits, _phi_less_one(q))
    lost = ((population - 1) * exp(-log_power) + 1) / (
        population - 1 + _exp(log_power + log_growth)
    )
    return exp(-(beta**2) / 2 * (1 - lost))


def tail_bound_001_3_17_unreduced(population: int, bits: int, q: float, beta: float) -> float:
    """exp(-β²σ²/(2ΣE[X²])), the line above (3.17): still a bound on the lower tail only."""
    log_power, log_growth = _log_powers(bits, _phi_less_one(q))
    lost = ((population - 1) * exp(-2 * log_power) + 1) / (
        (population - 1) * exp(-log_power) + _exp(log_growth)
    )
    return exp(-(beta**2) / 2 * (1 - lost))


# --- precision --------------------------------------------------------------------------------


def sigma_001_4(population: int, q: float, copies: int = 1) -> float:
    """Standard deviation of the estimated count: √(Npq/k)/(p - q) (001 §4 and §6)."""
    return sqrt(population * q * (1 - q) / copies) / (1 - 2 * q)


def estimate_001_4(observed_ones: float, population: int, q: float, copies: int = 1) -> float:
    """Estimated count of true ones from M observed: (M/k - qN)/(p - q) (001 §4 and §6)."""
    return (observed_ones / copies - q * population) / (1 - 2 * q)


def observed_interval_000_0_28(
    population: int, true_ones: int, q: float, beta: float = 3.0
) -> tuple[float, float]:
    """Where the observed count of ones falls: E[M] ± β√(Npq) (000 (0.22)–(0.29))."""
    mean = q * population + (1 - 2 * q) * true_ones
    reach = beta * sqrt(population * q * (1 - q))
    return mean - reach, mean + reach


# --- what the drafts get wrong ----------------------------------------------------------------


def sparse_bits_001_5(set_bits: int) -> int:
    """The length 2m whose noise 001 §5 gives to vectors with m set bits.

    Wrong: it compares only with a background equal to one of the two answers. Where everybody
    else holds a third pattern, disjoint from both, N·Var(log R) is about 2φ^(2m) - 2φ^m and not
    φ^(2m) - 1: for one-hot answers nearly twice as much.
    """
    return 2 * set_bits


def copies_mean_001_6_1(population: int, bits: int, q: float, copies: int) -> float:
    """(1 + φ^L/(kN))^k, printed as an upper bound on E[R(S^k) | D_m].

    Wrong for k > 1: (8.21) divides by (kN)!/(kN-k)! where there are C(kN,k) subsets, a factor
    k! too much, which puts kN where N belongs. The mean is E[φ^(Lc)], c ~ Hypergeometric(kN,k,k).
    """
    log_power, _ = _log_powers(bits, _phi_less_one(q))
    return _copies_mean(copies * population, copies, log_power)


def copies_variance_001_6_2(population: int, bits: int, q: float, copies: int) -> float:
    """(φ^L/(kN) + (φ²+φ-1)^L/(kN)²)^k - (1/(kN) + φ^(2L)/(kN)²)^k, printed as a bound on Var.

    Wrong for k > 1: besides the factor k! of (6.1), (8.29)–(8.38) add variances of overlapping
    subsets as if they were independent. Infinite when it leaves the floating range.
    """
    log_power, log_growth = _log_powers(bits, _phi_less_one(q))
    return _copies_variance(copies * population, copies, log_power, log_growth)


def planner_copies_001_6_3(
    population: int, bits: int, lam: float, copies: int, beta: float = 3.0
) -> float:
    """The least q that the printed condition (6.3) allows, for reproduction only.

    Wrong: it stands on (6.1) and (6.2), and lets the noise fall as copies are added, until the
    ratio exceeds λ nearly always. Never plan with it.
    """

    def fits(q: float) -> bool:
        log_power, log_growth = _log_powers(bits, _phi_less_one(q))
        reports = copies * population
        variance = _copies_variance(reports, copies, log_power, log_growth)
        return _copies_mean(reports, copies, log_power) + beta * sqrt(variance) <= lam

    return _least_noise(fits, "001 (6.3)")


def _copies_mean(reports: int, copies: int, log_power: float) -> float:
    return _exp(copies * log1p(_exp(log_power - log(reports))))


def _copies_variance(reports: int, copies: int, log_power: float, log_growth: float) -> float:
    small = log_power - log(reports)
    first = _exp(small) + _exp(2 * small + log_growth)
    second = 1 / reports + _exp(2 * small)
    if first == inf:
        return inf
    log_first, log_second = copies * log(first), copies * log(second)
    return _exp(log_first) * -expm1(min(0.0, log_second - log_first))


# --- the drafts' answer to a policy -----------------------------------------------------------


def draft_noise(population: int, bits: int, epsilon: float, linked: bool) -> tuple[float, str]:
    """The noise the drafts would choose, and where they say so."""
    lam = exp(epsilon)
    if linked:
        return planner_001_3_12(population, bits, lam), "001 (3.12)"
    if bits > 1:
        raise InvalidInput(
            "bits",
            "must be 1: the drafts do not compose bits that are reported apart",
            bits,
            "link the bits into one record, or ask for another assurance",
        )
    noise = max(
        single_bit_noise_000_0_19(population, lam), single_bit_noise_003_4_45(population, lam)
    )
    return noise, "the larger of 000 (0.19) and 003 (4.45)"


# --- arithmetic that neither overflows nor cancels --------------------------------------------


def _phi_less_one(q: float) -> float:
    """φ - 1 = (p - q)²/(pq)."""
    if not 0 < q <= 0.5:
        raise InvalidInput("noise", "must be above 0 and at most 1/2", q)
    return (1 - 2 * q) ** 2 / (q * (1 - q))


def _log_powers(bits: int, phi_less_one: float) -> tuple[float, float]:
    """L·ln φ, and L·ln((φ²+φ-1)/φ²): the fourth moment beyond the square of the second."""
    phi = 1 + phi_less_one
    return bits * log1p(phi_less_one), bits * log1p(phi_less_one / phi / phi)


def _outlier_variance(population: int, log_power: float, log_growth: float) -> float:
    """((φ²+φ-1)^L - φ^(2L))/N², in logarithms."""
    if log_growth == 0:
        return 0.0
    log_excess = log_growth + log(-expm1(-log_growth))  # ln(e^growth - 1)
    return _exp(2 * (log_power - log(population)) + log_excess)


def _log(lam: float) -> float:
    if not lam > 1:
        raise InvalidInput("lam", "must be above 1", lam)
    return log(lam)


def _exp(x: float) -> float:
    return exp(x) if x < 709 else inf


def _exp_less_one(x: float) -> float:
    return expm1(x) if x < 709 else inf


def _least_noise(fits: Callable[[float], bool], source: str) -> float:
    """The least q in (0, ½] that fits, to the last bit; every condition here is monotone in q."""
    low, high = 0.0, 0.5
    if not fits(high):
        raise _no_noise(source)
    while low < (middle := (low + high) / 2) < high:
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def _no_noise(source: str) -> CannotMeet:
    return CannotMeet(f"{source}: no noise satisfies this condition, not even 1/2")
