"""The condition for k copies, held against the exact law of R(S^k) (001 (6.3), (8.38))."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.enumeration import exact_copies_outlier
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    exceeds,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

ONE_COPY = Range(range(1, 16), range(1, 9), 10)
CONDITION = Range(range(2, 6), range(1, 3), 13, range(1, 5), most_reports={1: 16, 2: 6})
LAMBDAS = tuple(map(Fraction, (2, 4, 8)))
Moments = Callable[[int, int, Fraction, int], tuple[Fraction, Fraction]]
CANTELLI = Fraction(1, 10)
"""1/(1 + 3²): the most that can lie beyond three deviations above the mean."""


@statement("001-6.2-one-copy")
def bounds_at_one_copy() -> Tested:
    """001 (6.1), (6.2) and (8.38) at k = 1."""

    def fails(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        head, radicand = drafts.copies_condition_001_8_38(n, bits, q, 1)
        mean, variance = (
            drafts.exact_mean_ratio_001(n, bits, q),
            drafts.exact_variance_ratio_001(n, bits, q),
        )
        simple, simple_radicand = drafts.simplified_moments_001_3_13(n, bits, q)
        excess = (n * mean - n) / n**2  # (φ^L - 1)/N²
        return (
            unequal(case, ("(6.1)", "(3.13)"), head, simple)
            or unequal(case, ("(6.1)", "E R"), head, mean + Fraction(1, n))
            or unequal(case, ("(6.2)", "Var R"), radicand, variance + excess)
            or unequal(case, ("(6.2)", "(3.13)"), radicand, simple_radicand - Fraction(1, n))
        )

    return result(
        check(ONE_COPY, fails),
    )


@statement("001-8.38")
def condition_for_copies() -> Tested:
    """001 (6.3) and (8.38)."""
    worst = Fraction(0)

    def printed(case: tuple[Setting, Fraction]) -> str | None:
        nonlocal worst
        setting, lam = case
        beyond = _beyond(setting, lam)
        worst = max(worst, beyond)
        where = f"{setting}, $\\lambda={tex(lam)}$, where (8.38) is met"
        return exceeds(where, (r"P[R > \lambda]", r"\frac{1}{1 + 3^2}"), beyond, CANTELLI)

    def corrected(case: tuple[Setting, Fraction]) -> str | None:
        setting, lam = case
        return exceeds(setting, ("P", ""), _beyond(setting, lam), CANTELLI)

    def right(crowd: int, bits: int, q: Fraction, copies: int) -> tuple[Fraction, Fraction]:
        mean = drafts.copies_mean_001_8_31_corrected(crowd, bits, q, copies)
        return mean, drafts.copies_variance_001_8_37_corrected(crowd, bits, q, copies)

    counted = check(_conditions(drafts.copies_condition_001_8_38), printed)
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
        for lam in LAMBDAS:
            if _within_three_deviations(mean, variance, lam):
                yield setting, lam


def _within_three_deviations(mean: Fraction, variance: Fraction, lam: Fraction) -> bool:
    """Whether mean + 3√variance ≤ λ, without the root."""
    return mean <= lam and 9 * variance <= (lam - mean) ** 2


def _beyond(case: Setting, lam: Fraction) -> Fraction:
    """P[R > λ | D_m]."""
    return exact_copies_outlier(case.crowd, case.bits, case.copies, case.q, lam).eta_forward
