"""Equations of one bit and one report, put to the exact test: 003 §4."""

from __future__ import annotations

from fractions import Fraction

from krand_lab.formulas.counts import (
    probability_modified_003_4_31,
    probability_modified_003_4_31_corrected,
    probability_original_003_4_30,
)
from krand_lab.formulas.single_bit import (
    count_below_mean_003_4_33,
    estimate_003_4_1,
    largest_ratio_003_4_35,
    largest_ratio_003_4_36,
    largest_ratio_003_4_37,
    largest_ratio_003_4_38,
    largest_ratio_003_4_39,
    least_variance_003_4_40,
    ratio_003_4_32,
    variance_of_estimate_003_4_3,
)
from krand_lab.statements.one_bit.cases import (
    COUNTS,
    DENOMINATOR,
    RANGE,
    ROOT_USERS,
    ROOTS,
    SQUARES,
    USERS,
    Count,
)
from krand_lab.statements.ranges import (
    Place,
    count_law,
    counts,
    squares,
    unequal,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "estimate_003",
    "largest_ratio_003",
    "modified_count_003",
    "ratio_003",
]


def estimate_003() -> Verdict:
    """003 (4.2)–(4.3): the estimate is right on average, and its variance is known beforehand."""

    def fails(case: Count) -> str | None:
        n, q, ones = case
        at = where(N=n, q=q, T=ones)
        chances = count_law(n, ones, q)
        estimates = [estimate_003_4_1(i, n, q) for i in range(n + 1)]
        mean = sum((c * t for c, t in zip(chances, estimates, strict=True)), Fraction(0))
        square = sum((c * t**2 for c, t in zip(chances, estimates, strict=True)), Fraction(0))
        return unequal(f"(4.2) at {at}", Fraction(ones), mean) or unequal(
            f"(4.3) at {at}", variance_of_estimate_003_4_3(n, q), square - mean**2
        )

    statement = Statement(
        key="003-4.2-4.3",
        source="003 (4.1)–(4.3)",
        says=(
            r"The estimate $\bar{T} = \frac{S-qN}{p-q}$ has mean $T$ and variance "
            r"$\frac{qpN}{(p-q)^2}$."
        ),
        covered=rf"{RANGE}; every true count $0 \le T \le N$.",
        comment=(
            r"Each report is a coin of variance $pq$, whether its bit is set or not: "
            r"$\mathrm{Var}(S) = pqN$ whatever the data."
        ),
    )
    return Verdict(statement, check(counts(USERS, DENOMINATOR), fails))


def modified_count_003() -> Verdict:
    """003 (4.31): the law of the count of N-1 ones and a zero."""

    def fails(case: Count) -> str | None:
        n, q, i = case
        exact = count_law(n, n - 1, q)[i]
        return unequal(where(N=n, q=q, i=i), probability_modified_003_4_31(n, i, q), exact)

    def corrected_fails(case: Count) -> str | None:
        n, q, i = case
        printed = probability_modified_003_4_31_corrected(n, i, q)
        return unequal(where(N=n, q=q, i=i), printed, count_law(n, n - 1, q)[i])

    statement = Statement(
        key="003-4.31",
        source="003 (4.31)",
        says=(r"$P(s=i|D_m) = \binom{N-1}{i}p^{i+1}q^{N-i} + \binom{N-1}{i-1}p^{i-1}q^{N-i+1}$"),
        covered=COUNTS,
        comment=(
            r"The exponents of the first term sum to $N+1$ where there are $N$ reports; as printed "
            r"the probabilities sum to $pq + q = 1 - p^2$. At $i=N$ the first term vanishes "
            "and the formula is right. (4.32) does not inherit the slip."
        ),
        corrected=(
            r"$P(s=i|D_m) = \binom{N-1}{i}p^{i+1}q^{N-1-i} + \binom{N-1}{i-1}p^{i-1}q^{N-i+1}$, "
            "checked over the same range."
        ),
    )
    return Verdict(
        statement,
        check(counts(USERS, DENOMINATOR), fails),
        check(counts(USERS, DENOMINATOR), corrected_fails),
    )


def ratio_003() -> Verdict:
    """003 (4.30) and (4.32): the ratio of the count, its extremes and where it is 1."""

    def fails(case: Count) -> str | None:
        n, q, i = case
        at = where(N=n, q=q, i=i)
        original, modified = count_law(n, n, q)[i], count_law(n, n - 1, q)[i]
        ends = {0: (1 - q) / q, n: q / (1 - q), (1 - q) * n: Fraction(1)}
        return (
            unequal(f"(4.30) at {at}", probability_original_003_4_30(n, i, q), original)
            or unequal(f"(4.32) at {at}", ratio_003_4_32(n, i, q), modified / original)
            or unequal(
                f"below (4.32) at {at}", ends.get(i, modified / original), modified / original
            )
        )

    statement = Statement(
        key="003-4.32",
        source="003 (4.30), (4.32)",
        says=(
            r"$R_i = \frac{N-i}{N}\frac{p}{q} + \frac{i}{N}\frac{q}{p}$, with the maximum "
            r"$\frac{p}{q}$ at $i=0$, the minimum $\frac{q}{p}$ at $i=N$, and 1 at $i=pN$."
        ),
        covered=COUNTS,
        comment=(
            r"Exchange the names of 0 and 1 and it is 000 (0.4): what 003 calls $R_i$ is what 000 "
            r"calls $\frac{1}{R_{N-i}}$. The two drafts plan for opposite directions of "
            "the same pair."
        ),
    )
    return Verdict(statement, check(counts(USERS, DENOMINATOR), fails))


def largest_ratio_003() -> Verdict:
    """003 (4.35)–(4.40): the ratio three deviations below the mean, step by step."""

    def exact(case: Place) -> Fraction:
        n, q = case
        return ratio_003_4_32(n, count_below_mean_003_4_33(n, q), q)

    def fails(case: Place) -> str | None:
        return unequal(where(N=case[0], q=case[1]), largest_ratio_003_4_35(*case), exact(case))

    def corrected_fails(case: Place) -> str | None:
        limit = exact(case)
        for form in (
            largest_ratio_003_4_36,
            largest_ratio_003_4_37,
            largest_ratio_003_4_38,
            largest_ratio_003_4_39,
        ):
            if form(*case) != limit:
                return unequal(where(N=case[0], q=case[1]), form(*case), limit)
        variance = variance_of_estimate_003_4_3(*case)
        return unequal(where(N=case[0], q=case[1]), least_variance_003_4_40(limit), variance)

    statement = Statement(
        key="003-4.35",
        source="003 (4.35)",
        says=(
            r"At $i = pN - 3\sqrt{pqN}$ the ratio is $\frac{N-pN+3\sqrt{pqN}}{N}\frac{p}{q} + "
            r"\frac{pN+3\sqrt{pqN}}{N}\frac{q}{p}$."
        ),
        covered=SQUARES,
        comment="A wrong sign in the last numerator, mended without a word in (4.36).",
        corrected=(
            r"With $pN - 3\sqrt{pqN}$ in the last numerator, as in (4.36). Over the same range "
            r"(4.36)–(4.39) have that value, and (4.40) holds with equality for the $\lambda$ that "
            "they meet with equality."
        ),
    )
    return Verdict(
        statement,
        check(squares(ROOT_USERS, ROOTS), fails),
        check(squares(ROOT_USERS, ROOTS), corrected_fails),
    )
