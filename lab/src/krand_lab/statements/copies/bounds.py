"""Moments of R(S^k) and the printed bounds on them, held against every outcome (001 §6, §8.1)."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from krand_lab import formulas as drafts
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

COPIES = Range(range(2, 7), range(1, 4), 7, range(1, 5), most_reports={1: 12, 2: 8, 3: 4})


@statement("001-6.1")
def bound_on_the_mean() -> Tested:
    """001 (6.1) and (8.37)."""

    def printed(case: Setting) -> str | None:
        bound = drafts.exact_copies_mean_001_6_1(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", "(6.1)"), copies_moments(case)[0], bound)

    def corrected(case: Setting) -> str | None:
        bound = drafts.copies_mean_001_8_37_corrected(*case.arguments)
        return exceeds(case, (r"\mathrm{E} R", ""), copies_moments(case)[0], bound)

    return result(
        check(COPIES, printed),
        check(COPIES, corrected),
    )


@statement("001-6.2")
def bound_on_the_variance() -> Tested:
    """001 (6.2)."""

    def printed(case: Setting) -> str | None:
        bound = drafts.exact_copies_variance_001_6_2(*case.arguments)
        return exceeds(case, (r"\mathrm{Var} R", "(6.2)"), copies_moments(case)[1], bound)

    def with_factorial(case: Setting) -> str | None:
        bound = factorial(case.copies) ** 2 * drafts.exact_copies_variance_001_6_2(*case.arguments)
        return exceeds(case, (r"\mathrm{Var} R", r"k!^2 (6.2)"), copies_moments(case)[1], bound)

    def corrected(case: Setting) -> str | None:
        n, bits, q, k = case.arguments
        mean, variance = copies_moments(case)
        square = (
            drafts.exact_variance_ratio_001(n, bits, q)
            + drafts.exact_mean_ratio_001(n, bits, q) ** 2
        )
        return exceeds(case, (r"\mathrm{Var} R", ""), variance, square**k - mean**2)

    counted, generous = check(COPIES, printed), check(COPIES, with_factorial)
    return result(
        counted,
        check(COPIES, corrected),
        failures=generous.failures,
        cases=generous.cases,
        failures_2=counted.failures,
    )


@statement("001-8.31")
def mean_of_the_ratio() -> Tested:
    """001 (8.30)–(8.31)."""

    def printed(case: Setting) -> str | None:
        value = drafts.copies_mean_001_8_31(*case.arguments)
        return unequal(case, ("(8.31)", r"\mathrm{E} R"), value, copies_moments(case)[0])

    def corrected(case: Setting) -> str | None:
        value = drafts.copies_mean_001_8_31_corrected(*case.arguments)
        return unequal(case, (r"\mathrm{E} \phi^{Lc}", "E R"), value, copies_moments(case)[0])

    return result(
        check(COPIES, printed),
        check(COPIES, corrected),
    )


@statement("001-8.37-variance")
def variance_of_overlapping_subsets() -> Tested:
    """001 after (8.37): the variance of the sum as the sum of the variances."""

    def printed(case: Setting) -> str | None:
        k, reports = case.copies, case.copies * case.crowd
        added = sum(
            (
                comb(k, r)
                * comb(reports - k, k - r)
                * drafts.variance_x_r_001_8_29(k - r, r, case.bits, case.q)
                for r in range(k + 1)
            ),
            Fraction(0),
        )
        true = comb(reports, k) ** 2 * copies_moments(case)[1]
        names = (r"\sum_j \mathrm{Var} X_j", r"\mathrm{Var} \sum_j X_j")
        return unequal(case, names, added, true)

    def corrected(case: Setting) -> str | None:
        modified = drafts.copies_variance_001_8_37_corrected(*case.arguments)
        original = drafts.copies_variance_under_original_001_8_37_corrected(*case.arguments)
        _, under_original = mean_and_variance((s.ratio, s.original) for s in outcomes(case))
        return unequal(
            case, (r"\mathrm{Var}_{D_m} R", ""), modified, copies_moments(case)[1]
        ) or unequal(case, (r"\mathrm{Var}_D R", ""), original, under_original)

    return result(
        check(COPIES, printed),
        check(COPIES, corrected),
    )
