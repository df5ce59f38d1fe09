"""Equations of one bit and one report, put to the exact test: 000 §0.1."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from krand_lab.formulas.counts import (
    mean_count_000_0_24,
    mean_count_000_0_24_corrected,
    probability_modified_000_0_1,
    probability_original_000_0_2,
)
from krand_lab.formulas.single_bit import (
    count_below_mean_000_0_5,
    inverse_ratio_000_0_4,
    inverse_ratio_at_mean_000,
    inverse_ratio_at_mean_000_corrected,
    inverse_ratio_below_mean_000_0_9,
    inverse_ratio_below_mean_000_0_10,
    inverse_ratio_below_mean_000_0_11,
    least_variance_000_0_14,
    ratio_000_0_3,
    shortfall_000_0_12,
    shortfall_000_0_13,
    variance_of_estimate_003_4_3,
)
from krand_lab.statements.notation import tex
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
    places,
    squares,
    unequal,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "count_and_ratio_000",
    "extremes_000",
    "mean_of_the_modified_count_000",
    "three_deviations_000",
    "unit_ratio_000",
]


def count_and_ratio_000() -> Verdict:
    """000 (0.1)–(0.4): the law of the count, with and without the one, and the ratio."""

    def fails(case: Count) -> str | None:
        n, q, i = case
        modified, original = count_law(n, 0, q)[i], count_law(n, 1, q)[i]
        at = where(N=n, q=q, i=i)
        return (
            unequal(f"(0.1) at {at}", probability_modified_000_0_1(n, i, q), modified)
            or unequal(f"(0.2) at {at}", probability_original_000_0_2(n, i, q), original)
            or unequal(f"(0.3) at {at}", ratio_000_0_3(n, i, q), modified / original)
            or unequal(f"(0.4) at {at}", inverse_ratio_000_0_4(n, i, q), original / modified)
        )

    statement = Statement(
        key="000-0.1-0.4",
        source="000 (0.1)–(0.4)",
        says=(
            r"With $N$ zeros in $D_m$ and one 1 among them in $D$, the count of observed ones has "
            r"the laws (0.1) and (0.2), and "
            r"$\frac{1}{R_i} = \frac{N-i}{N}\frac{q}{p} + \frac{i}{N}\frac{p}{q}$."
        ),
        covered=COUNTS,
        comment=(
            r"Divide (0.2) by (0.1): $\binom{N-1}{i}/\binom{N}{i} = \frac{N-i}{N}$ and "
            r"$\binom{N-1}{i-1}/\binom{N}{i} = \frac{i}{N}$; the powers leave "
            r"$\frac{q}{p}$ and $\frac{p}{q}$."
        ),
    )
    return Verdict(statement, check(counts(USERS, DENOMINATOR), fails))


def extremes_000() -> Verdict:
    """000 §0.1: the ratio falls from p/q at no ones to q/p at all ones, and is 1 at qN."""

    def fails(case: Place) -> str | None:
        n, q = case
        p, at = 1 - q, where(N=n, q=q)
        ratios = [a / b for a, b in zip(count_law(n, 0, q), count_law(n, 1, q), strict=True)]
        if not all(above > below for above, below in pairwise(ratios)):
            return f"{at}: the ratio does not fall with $i$"
        mean = q * n
        if mean.denominator == 1 and ratios[int(mean)] != 1:
            return f"{at}: at $i=qN$ the ratio is ${tex(ratios[int(mean)])}$"
        return unequal(f"{at}, $i=0$", p / q, ratios[0]) or unequal(
            f"{at}, $i=N$", q / p, ratios[n]
        )

    statement = Statement(
        key="000-0.4-extremes",
        source="000 §0.1, below (0.4)",
        says=(
            r"$R_i$ reaches its maximum $R_0 = \frac{p}{q}$ at $i=0$ and its minimum "
            r"$R_N = \frac{q}{p}$ at $i=N$; it falls as $i$ grows and is 1 at $i=qN$."
        ),
        covered=rf"{RANGE}; the value at $qN$ where that is a whole number.",
        comment=(
            r"By (0.4) $\frac{1}{R_i}$ is linear in $i$ with slope "
            r"$\frac{1}{N}(\frac{p}{q} - \frac{q}{p}) > 0$, and at $i = qN$ it is $q + p$."
        ),
    )
    return Verdict(statement, check(places(USERS, DENOMINATOR), fails))


def unit_ratio_000() -> Verdict:
    """000 §0.1: the intermediate form of 1/R at i = qN."""

    def fails(case: Place) -> str | None:
        n, q = case
        return unequal(where(N=n, q=q), inverse_ratio_at_mean_000(n, q), Fraction(1))

    def corrected_fails(case: Place) -> str | None:
        n, q = case
        return unequal(where(N=n, q=q), inverse_ratio_at_mean_000_corrected(n, q), Fraction(1))

    statement = Statement(
        key="000-0.4-unit-ratio",
        source="000 §0.1, above (0.5)",
        says=(r"$\frac{1}{R_{qN}} = \frac{N-qN}{N}\frac{q}{p} + \frac{pN}{N}\frac{q}{p} = 1$"),
        covered=f"{RANGE}.",
        comment=(
            r"A slip of the pen without consequence: as printed the middle is $2q$. The draft's "
            r"own next form, $(1-q)\frac{q}{p} + q\frac{p}{q}$, is right."
        ),
        corrected=(
            r"$\frac{1}{R_{qN}} = \frac{N-qN}{N}\frac{q}{p} + \frac{qN}{N}\frac{p}{q} = 1$, "
            "checked over the same range."
        ),
    )
    return Verdict(
        statement,
        check(places(USERS, DENOMINATOR), fails),
        check(places(USERS, DENOMINATOR), corrected_fails),
    )


def three_deviations_000() -> Verdict:
    """000 (0.5)–(0.15): the ratio three deviations below the mean, step by step."""

    def fails(case: Place) -> str | None:
        n, q = case
        at = where(N=n, q=q)
        limit = inverse_ratio_000_0_4(n, count_below_mean_000_0_5(n, q), q)
        steps = {
            "(0.9)": inverse_ratio_below_mean_000_0_9(n, q),
            "(0.10)": inverse_ratio_below_mean_000_0_10(n, q),
            "(0.11)": inverse_ratio_below_mean_000_0_11(n, q),
            "(0.12)": 1 - shortfall_000_0_12(n, q),
            "(0.13)": 1 - shortfall_000_0_13(n, q),
        }
        for name, value in steps.items():
            if value != limit:
                return unequal(f"{name} at {at}", value, limit)
        if limit <= 0:  # no λ is met with equality
            return None
        variance = variance_of_estimate_003_4_3(n, q)
        return unequal(f"(0.14) at {at}", least_variance_000_0_14(1 / limit), variance)

    statement = Statement(
        key="000-0.9-0.14",
        source="000 (0.9)–(0.15)",
        says=(
            r"At $i = qN - 3\sqrt{pqN}$ the condition $\frac{1}{R_i} \ge \frac{1}{\lambda}$ "
            r"becomes $3\sqrt{\frac{1}{N}}\frac{p-q}{\sqrt{pq}} \le 1 - \frac{1}{\lambda}$, "
            r"which is $\frac{pqN}{(p-q)^2} \ge \frac{9}{(1-1/\lambda)^2}$."
        ),
        covered=(
            f"{SQUARES} Each line has the value of (0.4) at (0.5), and (0.14) holds with equality "
            r"for the $\lambda$ that (0.11) meets with equality, where it is positive."
        ),
        comment=(
            "The algebra is right. What it proves is another matter: it looks at one count, three "
            "deviations below the mean, and leaves aside how likely the counts below are."
        ),
    )
    return Verdict(statement, check(squares(ROOT_USERS, ROOTS), fails))


def mean_of_the_modified_count_000() -> Verdict:
    """000 (0.24): the mean count of N-1 zeros and a one."""

    def exact(case: Place) -> Fraction:
        n, q = case
        return sum((i * chance for i, chance in enumerate(count_law(n, 1, q))), Fraction(0))

    def fails(case: Place) -> str | None:
        return unequal(where(N=case[0], q=case[1]), mean_count_000_0_24(*case), exact(case))

    def corrected_fails(case: Place) -> str | None:
        printed = mean_count_000_0_24_corrected(*case)
        return unequal(where(N=case[0], q=case[1]), printed, exact(case))

    statement = Statement(
        key="000-0.24",
        source="000 (0.24)",
        says=r"$E(S_m) = q \cdot 1000 + p$ for 999 empty bits and a set one.",
        covered=f"{RANGE}, with $N$ for 1000.",
        comment=(
            r"Too large by $q$: the set bit has taken the place of an empty one. The interval "
            r"(0.29) has it too: with $q = 0.033$ it should be $[16.99, 50.88]$. Besides, $S_m$ "
            r"belongs to $D$ here and $S$ to $D_m$; 003 (4.48)–(4.51) has both right."
        ),
        corrected=r"$E(S_m) = q(N-1) + p$, checked over the same range.",
    )
    return Verdict(
        statement,
        check(places(USERS, DENOMINATOR), fails),
        check(places(USERS, DENOMINATOR), corrected_fails),
    )
