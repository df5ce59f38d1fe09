"""R of k copies and its moments, held against every outcome: 001 §6 and §8."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from math import comb, factorial
from typing import Any

from krand_lab import formulas as drafts
from krand_lab.enumeration import exact_copies_outlier
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex, where
from krand_lab.statements.ranges import law as law_of_reports
from krand_lab.statements.vector_cases import (
    Outcome,
    Range,
    Setting,
    copies_moments,
    exceeds,
    mean_and_variance,
    outcomes,
    settings,
    with_outcomes,
)
from krand_lab.statements.verdict import (
    Equations,
    Tested,
    check,
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


@printed("001-8.5", OUTCOMES_OF_ONE)
def probability_of_the_original(case: Setting, s: Outcome) -> Equations:
    value = drafts.probability_original_001_8_5(s.set_bits, case.bits, case.q)
    yield (r"N! \prod_i p(s_i|0)", "P(S|D)"), value, s.original


@corrected("001-8.5", OUTCOMES_OF_ONE)
def probability_of_the_original_corrected(case: Setting, s: Outcome) -> Equations:
    repeats = tuple(Counter(s.reports).values())
    right = drafts.probability_original_001_8_5_corrected
    yield right(s.set_bits, repeats, case.bits, case.q), s.original


@printed("001-8.6", OUTCOMES_OF_ONE)
def ratio_without_the_excess(case: Setting, s: Outcome) -> Equations:
    yield "(8.6)", drafts.ratio_001_8_6(s.set_bits, case.bits, case.q), s.ratio
    yield "(8.8)", drafts.ratio_001_8_8(s.set_bits, case.bits, case.q), s.ratio


@printed("001-8.20", OUTCOMES_OF_COPIES)
def misprint_in_the_ratio_of_copies(case: Setting, s: Outcome) -> Equations:
    value = drafts.copies_ratio_001_8_20(s.set_bits, case.bits, case.copies, case.q)
    yield ("(8.20)", "R(S^k)"), value, s.ratio


@printed("001-8.21", OUTCOMES_OF_COPIES)
def factorial_missing_in_the_ratio_of_copies(case: Setting, s: Outcome) -> Equations:
    arguments = s.set_bits, case.bits, case.copies, case.q
    yield ("(8.21)", "R(S^k)"), drafts.copies_ratio_001_8_21(*arguments), s.ratio
    yield ("(8.22)", "R(S^k)"), drafts.copies_ratio_001_8_22(*arguments), s.ratio


@corrected("001-8.20", OUTCOMES_OF_COPIES)
@corrected("001-8.21", OUTCOMES_OF_COPIES)
def ratio_of_copies_corrected(case: Setting, s: Outcome) -> Equations:
    right = drafts.copies_ratio_001_8_21_corrected
    yield right(s.set_bits, case.bits, case.copies, case.q), s.ratio


# --- the terms of R: (8.9)–(8.19), (8.23)–(8.29) --------------------------------------------------

LONGEST = 6
MOST_REPORTS = 4
MIXTURE_BITS = 3
MIXTURE_DENOMINATOR = 6
MIXTURES = (
    rf"every multiset of reports of $m$ zeros and $r$ ones, for all $1 \le L \le {MIXTURE_BITS}$, "
    rf"$1 \le m + r \le {MOST_REPORTS}$ with $L(m + r) \le {MIXTURE_BITS * 2}$, and all fractions "
    rf"$0 < q < \frac{{1}}{{2}}$ with denominators up to {MIXTURE_DENOMINATOR}"
)


def _mixtures() -> Iterator[tuple[int, int, int, Fraction]]:
    """Of k reports m come from zeros and r from ones; short vectors and few reports first."""
    return (
        (k - ones, ones, bits, q)
        for bits in range(1, MIXTURE_BITS + 1)
        for k in range(1, MOST_REPORTS + 1)
        if bits * k <= MIXTURE_BITS * 2
        for q in noises(MIXTURE_DENOMINATOR)
        for ones in range(k + 1)
    )


MIXED = lettered("m r L q", _mixtures)


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
    yield "(8.12)", drafts.square_x_zero_001_8_12(bits, q) - 1, variance_0
    yield "(8.13)", drafts.variance_x_zero_001_8_13(bits, q), variance_0
    yield "(8.17)", drafts.mean_x_one_001_8_17(bits, q), mean_1
    yield "(8.18)", drafts.square_x_one_001_8_18(bits, q), variance_1 + mean_1**2
    yield "(8.19)", drafts.variance_x_one_001_8_19(bits, q), variance_1


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


def _mean_set_bits(zeros: int, ones: int, bits: int, q: Fraction) -> Fraction:
    """E[L_r], from every multiset of reports."""
    law = _law(zeros, ones, bits, q).items()
    return sum((value * chance for value, chance in law), Fraction(0))


@printed("001-8.25", MIXED)
def mean_number_of_set_bits(*case: Any) -> Equations:
    names = ("m q^L + r p^L", r"\mathrm{E} L_r")
    yield names, drafts.mean_set_bits_001_8_25(*case), _mean_set_bits(*case)


@corrected("001-8.25", MIXED)
def mean_number_of_set_bits_corrected(*case: Any) -> Equations:
    yield drafts.mean_set_bits_001_8_25_corrected(*case), _mean_set_bits(*case)


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


def _square(*case: Any) -> Fraction:
    """E[X_r²]."""
    mean, variance = _moments(*case)
    return variance + mean**2


@printed("001-8.28", MIXED)
def square_missing_in_the_second_moment(*case: Any) -> Equations:
    names = ("(8.28)", r"\mathrm{E} X_r^2")
    yield names, drafts.square_x_r_001_8_28_middle(*case), _square(*case)


@corrected("001-8.28", MIXED)
def square_in_the_second_moment(*case: Any) -> Equations:
    yield drafts.square_x_r_001_8_28_middle_corrected(*case), _square(*case)


# --- factorials and binomials: (8.32)–(8.36) ------------------------------------------------------

USERS = range(2, 31)
MOST_COPIES = range(1, 21)
USERS_AND_COPIES = (
    rf"all ${USERS[0]} \le N \le {USERS[-1]}$, all ${MOST_COPIES[0]} \le k \le {MOST_COPIES[-1]}$"
)
FACTORIALS = [(users, copies) for users in USERS for copies in MOST_COPIES]
BINOMIALS = [(users, copies, r) for users, copies in FACTORIALS for r in range(copies + 1)]


def _rising(at: str, values: Iterable[Fraction]) -> str | None:
    """What contradicts that the values do not fall, if anything."""
    ordered = list(values)
    if ordered == sorted(ordered):
        return None
    return f"{at}: ${', '.join(map(tex, ordered))}$"


@statement("001-8.32")
def falling_factorial() -> Tested:
    def fails(case: tuple[int, int]) -> str | None:
        return _rising(where(N=case[0], k=case[1]), drafts.falling_factorial_001_8_32(*case))

    return result(check(FACTORIALS, fails))


@statement("001-8.34")
def falling_factorial_about_equal() -> Tested:
    def fails(case: tuple[int, int]) -> str | None:
        users, copies = case
        lower, _, upper = drafts.falling_factorial_001_8_32(*case)
        return _rising(where(N=users, k=copies), [(1 - Fraction(copies, users)) * upper, lower])

    return result(check(FACTORIALS, fails))


@statement("001-8.35")
def binomial_from_below() -> Tested:
    def fails(case: tuple[int, int, int]) -> str | None:
        return _rising(str(case), reversed(drafts.binomial_from_below_001_8_35(*case)))

    return result(check(BINOMIALS, fails))


@statement("001-8.36")
def binomial_from_above() -> Tested:
    def fails(case: tuple[int, int, int]) -> str | None:
        return _rising(str(case), drafts.binomial_from_above_001_8_36(*case))

    return result(check(BINOMIALS, fails))


# --- bounds on the moments: §6, (8.30)–(8.37) -----------------------------------------------------

COPIES = Range(range(2, 7), range(1, 4), 7, range(1, 5), most_reports={1: 12, 2: 8, 3: 4})
MOMENTS = settings(COPIES)


@statement("001-6.1")
def bound_on_the_mean() -> Tested:
    def fails(case: Setting) -> str | None:
        bound = drafts.exact_copies_mean_001_6_1(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", "(6.1)"), copies_moments(case)[0], bound)

    def corrected(case: Setting) -> str | None:
        bound = drafts.copies_mean_001_8_37_corrected(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", ""), copies_moments(case)[0], bound)

    return result(check(COPIES, fails), check(COPIES, corrected))


@statement("001-6.2")
def bound_on_the_variance() -> Tested:
    def times(factor: Callable[[int], int]) -> Callable[[Setting], str | None]:
        def fails(case: Setting) -> str | None:
            bound = factor(case.copies) * drafts.exact_copies_variance_001_6_2(*case.arguments)
            return exceeds(case, (r"\mathrm{Var} R", "(6.2)"), copies_moments(case)[1], bound)

        return fails

    def corrected(case: Setting) -> str | None:
        n, bits, q, k = case.arguments
        mean, variance = copies_moments(case)
        one_mean = drafts.exact_mean_ratio_001(n, bits, q)
        square = drafts.exact_variance_ratio_001(n, bits, q) + one_mean**2
        return exceeds(case, (r"\mathrm{Var} R", ""), variance, square**k - mean**2)

    counted = check(COPIES, times(lambda k: 1))
    generous = check(COPIES, times(lambda k: factorial(k) ** 2))
    return result(
        counted,
        check(COPIES, corrected),
        failures=generous.failures,
        cases=generous.cases,
        failures_2=counted.failures,
    )


@printed("001-8.31", MOMENTS)
def mean_of_the_ratio(case: Setting) -> Equations:
    value = drafts.copies_mean_001_8_31(*case.arguments)
    yield ("(8.31)", r"\mathrm{E} R"), value, copies_moments(case)[0]


@corrected("001-8.31", MOMENTS)
def mean_of_the_ratio_corrected(case: Setting) -> Equations:
    yield drafts.copies_mean_001_8_31_corrected(*case.arguments), copies_moments(case)[0]


@printed("001-8.37-variance", MOMENTS)
def variance_of_overlapping_subsets(case: Setting) -> Equations:
    k, reports = case.copies, case.copies * case.crowd
    variances = (
        comb(k, r)
        * comb(reports - k, k - r)
        * drafts.variance_x_r_001_8_29(k - r, r, case.bits, case.q)
        for r in range(k + 1)
    )
    true = comb(reports, k) ** 2 * copies_moments(case)[1]
    names = (r"\sum_j \mathrm{Var} X_j", r"\mathrm{Var} \sum_j X_j")
    yield names, sum(variances, Fraction(0)), true


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


@statement("001-8.38")
def condition_for_copies() -> Tested:
    worst = Fraction(0)

    def fails(case: tuple[Setting, Fraction]) -> str | None:
        nonlocal worst
        setting, lam = case
        beyond = beyond_lambda(setting, lam)
        worst = max(worst, beyond)
        at = f"{setting}, $\\lambda={tex(lam)}$, where (8.38) is met"
        return exceeds(at, (r"P[R > \lambda]", r"\frac{1}{1 + 3^2}"), beyond, CANTELLI)

    def corrected(case: tuple[Setting, Fraction]) -> str | None:
        return exceeds(case[0], ("P", ""), beyond_lambda(*case), CANTELLI)

    def right(crowd: int, bits: int, q: Fraction, copies: int) -> tuple[Fraction, Fraction]:
        mean = drafts.copies_mean_001_8_31_corrected(crowd, bits, q, copies)
        return mean, drafts.copies_variance_001_8_37_corrected(crowd, bits, q, copies)

    counted = check(_conditions(drafts.copies_condition_001_8_38), fails)
    return result(
        counted,
        check(_conditions(right), corrected),
        list=", ".join(map(tex, LAMBDAS)),
        percent=round(100 * worst),
    )


def _conditions(moments: Moments) -> Iterator[tuple[Setting, Fraction]]:
    """Every setting with every λ that three deviations above the mean do not exceed."""
    for setting in CONDITION:
        mean, variance = moments(*setting.arguments)
        yield from (
            (setting, lam) for lam in LAMBDAS if within_three_deviations(mean, variance, lam)
        )


def within_three_deviations(mean: Fraction, variance: Fraction, lam: Fraction) -> bool:
    """Whether mean + 3√variance ≤ λ, without the root."""
    return mean <= lam and 9 * variance <= (lam - mean) ** 2


def beyond_lambda(case: Setting, lam: Fraction) -> Fraction:
    """P[R > λ | D_m]."""
    return exact_copies_outlier(case.crowd, case.bits, case.copies, case.q, lam).eta_forward
