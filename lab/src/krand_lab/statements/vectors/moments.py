"""The law of R with one outlier and its moments, held against every outcome (001 §3.1–3.2, §7)."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.enumeration import report_law
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    copies_moments,
    exceeds,
    mean_and_variance,
    outcomes,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

OUTCOMES = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})
HISTOGRAMS = Range(range(2, 9), range(1, 5), 5)
ONE_REPORT = Range(range(1, 2), range(1, 7), 12)
FORMULAS = Range(range(1, 31), range(1, 11), 12)
NOISE_DENOMINATOR = 60


@statement("001-3.5")
def law_of_the_histogram() -> Tested:
    """001 (3.5)."""

    def fails(case: Setting) -> str | None:
        law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for s in outcomes(case):
            law[drafts.set_bit_histogram_001_3_3(s.reports, case.bits)] += s.modified
        printed = drafts.histogram_law_001_3_5(case.crowd, case.bits, case.q)
        different = [t for t in law if law[t] != printed[t]]
        if different:
            return unequal(case, ("(3.5)", "P"), printed[different[0]], law[different[0]])
        return None if law.keys() == printed.keys() else f"{case}: other histograms"

    return result(
        check(OUTCOMES, fails),
    )


@statement("001-3.11")
def generating_function_of_the_sum() -> Tested:
    """001 (3.8), (3.10), (3.11)."""

    def fails(case: Setting) -> str | None:
        law: dict[Fraction, Fraction] = defaultdict(Fraction)
        for s in outcomes(case):
            law[case.crowd * s.ratio] += s.modified
        printed = drafts.generating_function_001_3_11(case.crowd, case.bits, case.q)
        return None if law == printed else f"{case}: the generating function is another one"

    return result(
        check(OUTCOMES, fails),
    )


@statement("001-3.1-moments")
def moments_of_the_ratio() -> Tested:
    """001 §3.1: E R and Var R under D_m."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        if case in small:
            mean, variance = copies_moments(case)
        else:
            law = drafts.generating_function_001_3_11(n, bits, q).items()
            mean, variance = mean_and_variance((x / n, chance) for x, chance in law)
        printed = (
            drafts.exact_mean_ratio_001(n, bits, q),
            drafts.exact_variance_ratio_001(n, bits, q),
        )
        return unequal(case, ("(3.12)", r"\mathrm{E} R"), printed[0], mean) or unequal(
            case, (r"(3.12)", r"\mathrm{Var} R"), printed[1], variance
        )

    small = set(OUTCOMES)
    cases = sorted(small | set(HISTOGRAMS), key=lambda s: (s.crowd, s.bits, s.q.denominator, s.q))
    return result(
        check(cases, fails),
    )


@statement("001-3.13")
def simplified_condition_is_stricter() -> Tested:
    """001 (3.13) against (3.12)."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        mean, variance = drafts.simplified_moments_001_3_13(n, bits, q)
        return exceeds(
            case, (r"\mathrm{E} R", "(3.13)"), drafts.exact_mean_ratio_001(n, bits, q), mean
        ) or exceeds(
            case,
            (r"\mathrm{Var} R", "(3.13)"),
            drafts.exact_variance_ratio_001(n, bits, q),
            variance,
        )

    return result(
        check(FORMULAS, fails),
    )


@statement("001-3.14")
def identities_for_phi() -> Tested:
    """001 between (3.13) and (3.15)."""

    def printed(q: Fraction) -> str | None:
        misprint = drafts.fifth_powers_001_3_14_misprint(q)
        names = (r"\frac{p^5 + q^5}{(pq)^2}", r"\frac{(p+q)(\ldots)}{(pq)^4}")
        return unequal(f"$q={tex(q)}$", names, drafts.fifth_powers_001_3_14(q), misprint)

    def corrected(q: Fraction) -> str | None:
        p, phi = 1 - q, drafts.exact_phi_001_3_14(q)
        fifth = drafts.fifth_powers_001_3_14(q)
        where = f"$q={tex(q)}$"
        return (
            unequal(where, (r"\phi", r"p/q + q/p - 1"), phi, p / q + q / p - 1)
            or unequal(
                where, ("", r"\phi"), fifth, drafts.fifth_powers_001_3_14_misprint(q) * (p * q) ** 2
            )
            or unequal(where, ("", r"\phi^2 + \phi - 1"), fifth, phi**2 + phi - 1)
            or unequal(where, ("", "(3.15)"), fifth, drafts.fifth_powers_of_phi_001_3_15(phi))
        )

    return result(
        check(noises(NOISE_DENOMINATOR), printed),
        check(noises(NOISE_DENOMINATOR), corrected),
        all_noises=_all_noises(NOISE_DENOMINATOR),
    )


@statement("001-3.16")
def noise_from_phi() -> Tested:
    """001 (3.16)."""

    def fails(q: Fraction) -> str | None:
        phi, odds = drafts.exact_phi_001_3_14(q), (1 - q) / q
        root = odds - 1 / odds  # positive, and its square is (φ+1)² - 4
        where = f"$q={tex(q)}$"
        return unequal(where, (r"(\phi+1)^2 - 4", ""), (phi + 1) ** 2 - 4, root**2) or unequal(
            where, ("(3.16)", "q"), 1 / (1 + (phi + 1 + root) / 2), q
        )

    return result(
        check(noises(NOISE_DENOMINATOR), fails), all_noises=_all_noises(NOISE_DENOMINATOR)
    )


@statement("001-7.9")
def contributions_of_one_report() -> Tested:
    """001 (7.1)–(7.9)."""

    def fails(case: Setting) -> str | None:
        bits, q = case.bits, case.q
        zero, one = (
            mean_and_variance(
                (drafts.local_ratio_001_1_3(v, case.zeros, case.ones, q), chance)
                for v, chance in report_law(x, q).items()
            )
            for x in (case.zeros, case.ones)
        )
        by_series = [
            mean_and_variance(series.items())
            for series in (
                drafts.generating_function_001_3_8(bits, q),
                drafts.generating_function_001_3_10(bits, q),
            )
        ]
        if by_series != [zero, one]:
            return f"{case}: (3.8) and (3.10) have other moments"
        printed = (
            (drafts.mean_of_zero_001_7_1(bits, q), zero[0]),
            (drafts.second_derivative_of_zero_001_7_3(bits, q), zero[1]),
            (drafts.second_derivative_of_zero_001_7_4(bits, q), zero[1]),
            (
                drafts.variance_by_generating_function_001_7_2(
                    zero[0], drafts.second_derivative_of_zero_001_7_3(bits, q)
                ),
                zero[1],
            ),
            (Fraction(1), zero[0]),
            (drafts.variance_of_zero_001_7_7(bits, q), zero[1]),
            (drafts.mean_of_one_001_7_8(bits, q), one[0]),
            (drafts.variance_of_one_001_7_9(bits, q), one[1]),
        )
        failures = (unequal(case, ("(7)", "X"), left, right) for left, right in printed)
        return next(filter(None, failures), None)

    return result(
        check(ONE_REPORT, fails),
        bits=ONE_REPORT.bits[-1],
        all_noises=_all_noises(ONE_REPORT.largest_denominator),
    )


def _all_noises(largest_denominator: int) -> str:
    """The range of q in words."""
    return rf"all fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to {largest_denominator}"
