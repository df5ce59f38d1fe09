"""X = N/R as a sum over the numbers of set bits, everybody holding zeros (000 §2.1.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

from krand_lab import formulas as drafts
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    mean_and_variance,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

CASES = Range(range(1, 9), range(1, 4), 8, most_reports={1: 8, 2: 5, 3: 4})
LIMITS = tuple(Fraction(n, 4) for n in range(4, 41))
LIMITS_DENOMINATOR = 20
LAMBDAS = tuple(Fraction(n, 2) for n in range(3, 17))


@statement("000-2.14")
def number_of_terms() -> Tested:
    """000 (2.14): X has L + 1 terms, and each is a multiple of a binomial."""

    def printed(case: tuple[Setting, tuple[int, ...]]) -> str | None:
        setting, histogram = case
        terms = _terms(setting, histogram)
        where = f"{setting}, $T = {histogram}$"
        return unequal(
            where, (r"\sum_{l=1}^L X_l", "X"), sum(terms[1:], Fraction(0)), sum(terms, Fraction(0))
        )

    def corrected(case: tuple[Setting, int]) -> str | None:
        setting, ones = case
        law: dict[Fraction, Fraction] = defaultdict(Fraction)
        for histogram, chance in _histograms(setting).items():
            law[_terms(setting, histogram)[ones]] += chance
        if law == drafts.bucket_law_000_2_14(ones, setting.crowd, setting.bits, setting.q):
            return None
        return f"{setting}: $X_{ones}$ is not that multiple of a binomial"

    return result(
        check(((s, histogram) for s in CASES for histogram in _histograms(s)), printed),
        check(((s, ones) for s in CASES for ones in range(s.bits + 1)), corrected),
    )


@statement("000-2.15")
def mean_of_the_sum() -> Tested:
    """000 (2.15)."""

    def fails(case: Setting) -> str | None:
        mean, _ = _moments(case)
        n, bits, q = case.crowd, case.bits, case.q
        return unequal(case, ("N", r"\mathrm{E}(X)"), Fraction(n), mean) or unequal(
            case, ("(2.15)", r"\mathrm{E}(X)"), drafts.mean_of_sum_000_2_15(n, bits, q), mean
        )

    return result(
        check(CASES, fails),
    )


@statement("000-2.17")
def variance_with_pairs_taken_twice() -> Tested:
    """000 (2.17)–(2.18)."""

    def printed(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        _, variance = _moments(case)
        names = ("(2.17)", r"\mathrm{VAR}(X)")
        return unequal(
            case, names, drafts.variance_of_sum_000_2_17(n, bits, q), variance
        ) or unequal(case, names, drafts.variance_of_sum_000_2_18(n, bits, q), variance)

    def corrected(case: Setting) -> str | None:
        _, variance = _moments(case)
        right = drafts.variance_of_sum_000_2_16(case.crowd, case.bits, case.q)
        return unequal(case, ("(2.16)", r"\mathrm{VAR}(X)"), right, variance)

    return result(
        check(CASES, printed),
        check(CASES, corrected),
    )


@statement("000-2.25")
def variance_of_the_sum() -> Tested:
    """000 (2.19)–(2.25)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        _, variance = _moments(case)
        printed = (
            drafts.variance_of_sum_000_2_19(n, bits, q),
            n * (drafts.second_moment_000_2_21(bits, q) - 1),  # (2.20)
            n * (drafts.second_moment_000_2_23(bits, q) - 1),
            drafts.variance_of_sum_000_2_25(n, bits, q),
        )
        failures = (unequal(case, ("(2.25)", r"\mathrm{VAR}(X)"), v, variance) for v in printed)
        return next(filter(None, failures), None)

    return result(
        check(CASES, fails),
    )


@statement("000-2.32")
def condition_solved_for_the_noise() -> Tested:
    """000 (2.27)–(2.32)."""

    def fails(case: tuple[Fraction, Fraction]) -> str | None:
        q, limit = case
        phi = drafts.phi_000_2_31(q)
        if phi != drafts.exact_phi_001_3_14(q):
            return f"$q={tex(q)}$: (2.31) is not $\\phi$"
        if (phi <= limit) == (drafts.quadratic_000_2_32(q, limit) <= 0):
            return None
        return f"$q={tex(q)}$, $z={tex(limit)}$: (2.31) and (2.32) disagree"

    return result(
        check(((q, z) for q in noises(LIMITS_DENOMINATOR) for z in LIMITS), fails),
        first_limits=tex(LIMITS[0]),
        second_limits=tex(LIMITS[1]),
        last_limits=tex(LIMITS[-1]),
    )


@statement("000-2.29")
def three_deviations_as_a_limit_on_phi() -> Tested:
    """000 (2.26)–(2.29)."""

    def fails(case: tuple[Setting, Fraction]) -> str | None:
        setting, lam = case
        mean, variance = _moments(setting)
        n = setting.crowd
        # E - 3√V ≥ N/λ without the root: E ≥ N/λ and 9V ≤ (E - N/λ)²
        reached = mean - n / lam
        three_sigma = reached >= 0 and 9 * variance <= reached**2
        power = drafts.exact_phi_001_3_14(setting.q) ** setting.bits
        if three_sigma == (power <= drafts.power_limit_000_2_29(n, lam)):
            return None
        return f"{setting}, $\\lambda={tex(lam)}$: (2.26) and (2.29) disagree"

    return result(
        check(((setting, lam) for setting in CASES for lam in LAMBDAS), fails),
        first_lambdas=tex(LAMBDAS[0]),
        second_lambdas=tex(LAMBDAS[1]),
        last_lambdas=tex(LAMBDAS[-1]),
    )


def _terms(case: Setting, histogram: tuple[int, ...]) -> list[Fraction]:
    """What the reports with l set bits add to X, for every l."""
    return [
        n * drafts.likelihood_ratio_001_3_2(ones, case.bits, case.q)
        for ones, n in enumerate(histogram)
    ]


@cache
def _histograms(case: Setting) -> Mapping[tuple[int, ...], Fraction]:
    """Law of the histogram T when everybody holds zeros, from every multiset of reports."""
    law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for reports, chance in law_of_reports((case.zeros,) * case.crowd, case.q).items():
        law[drafts.set_bit_histogram_001_3_3(reports, case.bits)] += chance
    return law


@cache
def _moments(case: Setting) -> tuple[Fraction, Fraction]:
    """Mean and variance of X when everybody holds zeros."""
    law = _histograms(case).items()
    return mean_and_variance((sum(_terms(case, t), Fraction(0)), chance) for t, chance in law)
