"""R of k copies and its moments, held against every outcome: 001 §6 and §8."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import product
from math import comb, factorial, perm

from krand_lab import formulas as drafts
from krand_lab.enumeration import exact_copies_outlier
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import law as law_of_reports
from krand_lab.statements.ranges import mean_and_variance, noises
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    copies_moments,
    exceeds,
    outcomes,
    settings,
    with_outcomes,
)
from krand_lab.statements.verdict import (
    Cases,
    Count,
    Equations,
    Tested,
    corrected,
    lettered,
    printed,
    result,
    statement,
)

# --- R: (8.5)–(8.8), (8.20)–(8.22) ----------------------------------------------------------------

ONE_COPY = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})
OUTCOMES_OF_ONE = with_outcomes(ONE_COPY)
FEW_COPIES = Range(range(2, 7), range(1, 4), 4, range(1, 5), most_reports={1: 8, 2: 6, 3: 4})
OUTCOMES_OF_COPIES = with_outcomes(FEW_COPIES)


# --- the terms of R: (8.9)–(8.19), (8.23)–(8.29) --------------------------------------------------

LONGEST = 6
MOST_REPORTS = 4
MIXTURE_BITS, MOST_SET_BITS = 3, 6
MIXTURE_DENOMINATOR = 6


def _mixtures() -> Iterator[tuple[int, int, int, Fraction]]:
    """Of k reports m come from zeros and r from ones; short vectors and few reports first."""
    return (
        (k - ones, ones, bits, q)
        for bits in range(1, MIXTURE_BITS + 1)
        for k in range(1, MOST_REPORTS + 1)
        if bits * k <= MOST_SET_BITS
        for q in noises(MIXTURE_DENOMINATOR)
        for ones in range(k + 1)
    )


MIXED = lettered("m r L q", _mixtures, "zeros ones bits q")


@cache
def _law(zeros: int, ones: int, bits: int, q: Fraction) -> dict[int, Fraction]:
    """Law of the number of set bits in all reports, from every multiset of them."""
    law: dict[int, Fraction] = defaultdict(Fraction)
    users = ((0,) * bits,) * zeros + ((1,) * bits,) * ones
    for reports, chance in law_of_reports(users, q).items():
        law[sum(map(sum, reports))] += chance
    return dict(law)


def _power_mean(zeros: int, ones: int, bits: int, q: Fraction, base: Fraction) -> Fraction:
    """E[c^(L_r)]."""
    law = _law(zeros, ones, bits, q).items()
    return sum((base**value * chance for value, chance in law), Fraction(0))


@cache
def _moments(zeros: int, ones: int, bits: int, q: Fraction) -> tuple[Fraction, Fraction]:
    """Mean and variance of X_r."""
    odds, k = (1 - q) / q, zeros + ones
    law = _law(zeros, ones, bits, q).items()
    return mean_and_variance((odds ** (2 * value - k * bits), chance) for value, chance in law)


@printed("001-8.19", settings(Range(range(1, 2), range(1, LONGEST + 1), MIXTURE_DENOMINATOR)))
def moments_by_generating_functions(case: Setting) -> Equations:
    bits, q = case.bits, case.q
    odds = (1 - q) / q
    (mean_0, variance_0), (mean_1, variance_1) = _moments(1, 0, bits, q), _moments(0, 1, bits, q)
    yield "(8.9)", drafts.mean_y_zero_001_8_9(bits, q), _power_mean(1, 0, bits, q, odds**2)
    yield "(8.10)", drafts.square_y_zero_001_8_10(bits, q), _power_mean(1, 0, bits, q, odds**4)
    yield "(8.15)", drafts.mean_y_one_001_8_15(bits, q), _power_mean(0, 1, bits, q, odds**2)
    yield "(8.16)", drafts.square_y_one_001_8_16(bits, q), _power_mean(0, 1, bits, q, odds**4)
    yield "(8.11)", drafts.mean_x_zero_001_8_11(bits, q), Fraction(1)
    yield "(8.11)", drafts.mean_x_zero_001_8_11(bits, q), mean_0
    yield "(8.12)", drafts.mean_of_one_001_7_8(bits, q) - 1, variance_0
    yield "(8.13)", drafts.variance_of_zero_001_7_7(bits, q), variance_0
    yield "(8.17)", drafts.mean_of_one_001_7_8(bits, q), mean_1
    yield "(8.18)", drafts.square_x_one_001_8_18(bits, q), variance_1 + mean_1**2
    yield "(8.19)", drafts.variance_of_one_001_7_9(bits, q), variance_1


def _same_law(law: dict[int, Fraction], true: dict[int, Fraction]) -> Equations:
    for value in sorted(true):
        names = f"P[m L_0 + r L_1 = {value}]", f"P[L_r = {value}]"
        yield names, law.get(value, Fraction(0)), true[value]


@printed("001-8.24", MIXED)
def sum_of_set_bits(zeros: int, ones: int, bits: int, q: Fraction) -> Equations:
    law = drafts.set_bits_law_001_8_24(zeros, ones, bits, q)
    return _same_law(law, _law(zeros, ones, bits, q))


@corrected("001-8.24", MIXED)
def sum_of_set_bits_corrected(zeros: int, ones: int, bits: int, q: Fraction) -> Equations:
    law = drafts.set_bits_law_001_8_24_corrected(zeros, ones, bits, q)
    return _same_law(law, _law(zeros, ones, bits, q))


def mean_set_bits(zeros: int, ones: int, bits: int, q: Fraction) -> Fraction:
    """E[L_r], from every multiset of reports."""
    law = _law(zeros, ones, bits, q).items()
    return sum((value * chance for value, chance in law), Fraction(0))


def square_x_r(zeros: int, ones: int, bits: int, q: Fraction) -> Fraction:
    """E[X_r²], from every multiset of reports."""
    mean, variance = _moments(zeros, ones, bits, q)
    return variance + mean**2


@printed("001-8.29", MIXED)
def moments_of_one_term(zeros: int, ones: int, bits: int, q: Fraction) -> Equations:
    case = zeros, ones, bits, q
    mean, variance = _moments(*case)
    odds = (1 - q) / q
    for base in (Fraction(1, 2), Fraction(2), odds**2, odds**4):
        yield "(8.26)", drafts.powers_of_set_bits_001_8_26(base, *case), _power_mean(*case, base)
    yield "(8.27)", drafts.mean_x_r_001_8_27(ones, bits, q), mean
    yield "(8.28)", drafts.square_x_r_001_8_28(*case), variance + mean**2
    yield "(8.29)", drafts.variance_x_r_001_8_29(*case), variance


# --- factorials and binomials: (8.32)–(8.36) ------------------------------------------------------

USERS, MOST_COPIES = 30, 20
FACTORIALS = list(product(range(2, USERS + 1), range(1, MOST_COPIES + 1)))
BINOMIALS = [(users, copies, r) for users, copies in FACTORIALS for r in range(copies + 1)]


def _rises(values: Iterable[Fraction]) -> bool:
    """Whether the values do not fall."""
    ordered = list(values)
    return ordered == sorted(ordered)


@printed("001-8.32", lettered("N k", lambda: FACTORIALS))
def falling_factorial(n: int, k: int) -> bool:
    return _rises(drafts.falling_factorial_001_8_32(n, k))


@printed("001-8.34", lettered("N k", lambda: FACTORIALS))
def falling_factorial_about_equal(n: int, k: int) -> bool:
    lower, _, upper = drafts.falling_factorial_001_8_32(n, k)
    return _rises([(1 - Fraction(k, n)) * upper, lower])


@printed("001-8.35", lettered("N k r", lambda: BINOMIALS))
def binomial_from_below(n: int, k: int, r: int) -> bool:
    return _rises(reversed(drafts.binomial_from_below_001_8_35(n, k, r)))


@printed("001-8.36", lettered("N k r", lambda: BINOMIALS))
def binomial_from_above(n: int, k: int, r: int) -> bool:
    return _rises(drafts.binomial_from_above_001_8_36(n, k, r))


# --- bounds on the moments: §6, (8.30)–(8.37) -----------------------------------------------------

COPIES = Range(range(2, 7), range(1, 4), 7, range(1, 5), most_reports={1: 12, 2: 8, 3: 4})
MOMENTS = settings(COPIES, copies_moments)


@printed("001-6.1", MOMENTS)
def bound_on_the_mean(case: Setting) -> bool | str:
    bound = drafts.exact_copies_mean_001_6_1(*case.arguments)
    return exceeds((r"\mathrm{E} R", "(6.1)"), copies_moments(case)[0], bound)


@corrected("001-6.1", MOMENTS)
def bound_on_the_mean_corrected(case: Setting) -> bool:
    return copies_moments(case)[0] <= drafts.copies_mean_001_8_37_corrected(*case.arguments)


@statement("001-6.2")
def bound_on_the_variance() -> Tested:
    def bounded(factor: Callable[[int], int]) -> Count:
        def test(case: Setting) -> bool | str:
            bound = factor(case.copies) * drafts.exact_copies_variance_001_6_2(*case.arguments)
            return exceeds((r"\mathrm{Var} R", "(6.2)"), copies_moments(case)[1], bound)

        return MOMENTS.count(test)

    def right(case: Setting) -> bool:
        n, bits, q, k = case.arguments
        mean, variance = copies_moments(case)
        one_mean = drafts.exact_mean_ratio_001(n, bits, q)
        square = drafts.exact_variance_ratio_001(n, bits, q) + one_mean**2
        return variance <= square**k - mean**2

    counted, generous = bounded(lambda k: 1), bounded(lambda k: factorial(k) ** 2)
    return result(
        counted,
        MOMENTS.count(right),
        failures=generous.failures,
        cases=generous.cases,
        failures_2=counted.failures,
    )


@printed("001-8.37-variance", MOMENTS)
def variance_of_overlapping_subsets(case: Setting) -> Equations:
    k, reports = case.copies, case.copies * case.crowd
    # The printed variance, with what it divides by on the other side.
    variances = drafts.copies_variance_001_8_37(*case.arguments) * perm(reports, k) ** 2
    true = comb(reports, k) ** 2 * copies_moments(case)[1]
    yield (r"\sum_j \mathrm{Var} X_j", r"\mathrm{Var} \sum_j X_j"), variances, true


@corrected("001-8.37-variance", MOMENTS)
def variance_of_overlapping_subsets_corrected(case: Setting) -> Equations:
    modified = drafts.copies_variance_001_8_37_corrected(*case.arguments)
    yield modified, copies_moments(case)[1]
    original = drafts.copies_variance_under_original_001_8_37_corrected(*case.arguments)
    yield original, mean_and_variance((s.ratio, s.original) for s in outcomes(case))[1]


# --- the condition for k copies: (6.3), (8.38) ----------------------------------------------------

FORMULAS = Range(range(1, 16), range(1, 9), 10)
CONDITION = Range(range(2, 6), range(1, 3), 13, range(1, 5), most_reports={1: 16, 2: 6})
LAMBDAS = tuple(map(Fraction, (2, 4, 8)))
ALL_LAMBDAS = ", ".join(map(tex, LAMBDAS))
Moments = Callable[[int, int, Fraction, int], tuple[Fraction, Fraction]]
CANTELLI = Fraction(1, 10)
"""1/(1 + 3²): the most that can lie beyond three deviations above the mean."""


@printed("001-6.2-one-copy", settings(FORMULAS))
def bounds_at_one_copy(case: Setting) -> Equations:
    n, bits, q = case.crowd, case.bits, case.q
    head, radicand = drafts.copies_condition_001_8_38(n, bits, q, 1)
    mean = drafts.exact_mean_ratio_001(n, bits, q)
    variance = drafts.exact_variance_ratio_001(n, bits, q)
    simple, simple_radicand = drafts.simplified_moments_001_3_13(n, bits, q)
    yield "(6.1) and (3.13)", head, simple
    yield "(6.1)", head, mean + Fraction(1, n)
    yield "(6.2)", radicand, variance + (n * mean - n) / n**2  # (φ^L - 1)/N²
    yield "(6.2) and (3.13)", radicand, simple_radicand - Fraction(1, n)


def _conditions(moments: Moments) -> Cases:
    """Every setting with every λ that three deviations above the mean do not exceed."""

    def make() -> Iterator[tuple[Setting, Fraction]]:
        for setting in CONDITION:
            met = partial(within_three_deviations, *moments(*setting.arguments))
            yield from ((setting, lam) for lam in LAMBDAS if met(lam))

    return Cases(make, lambda case, lam: f"{case}, $\\lambda={tex(lam)}$, where (8.38) is met")


@statement("001-8.38")
def condition_for_copies() -> Tested:
    worst = Fraction(0)

    def fails(case: Setting, lam: Fraction) -> bool | str:
        nonlocal worst
        beyond = beyond_lambda(case, lam)
        worst = max(worst, beyond)
        return exceeds((r"P[R > \lambda]", r"\frac{1}{1 + 3^2}"), beyond, CANTELLI)

    def right(crowd: int, bits: int, q: Fraction, copies: int) -> tuple[Fraction, Fraction]:
        mean = drafts.copies_mean_001_8_31_corrected(crowd, bits, q, copies)
        return mean, drafts.copies_variance_001_8_37_corrected(crowd, bits, q, copies)

    counted = _conditions(drafts.copies_condition_001_8_38).count(fails)
    percent = round(100 * worst)
    return result(counted, _conditions(right).count(fails), percent=percent)


def within_three_deviations(mean: Fraction, variance: Fraction, lam: Fraction) -> bool:
    """Whether mean + 3√variance ≤ λ, without the root."""
    return mean <= lam and 9 * variance <= (lam - mean) ** 2


def beyond_lambda(case: Setting, lam: Fraction) -> Fraction:
    """P[R > λ | D_m]."""
    return exact_copies_outlier(case.crowd, case.bits, case.copies, case.q, lam).eta_forward
