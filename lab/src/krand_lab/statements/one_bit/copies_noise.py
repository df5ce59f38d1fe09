"""The noise for k copies of one bit, put to the exact test (000 (1.13)–(1.23), 003 "
"(5.14)–(5.24))."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import isqrt

from krand_lab.formulas.single_bit_copies import (
    count_below_mean_copies_000_1_12,
    count_below_mean_copies_003_5_13,
    inverse_ratio_bound_000_1_12,
    inverse_ratio_copies_000_1_8,
    inverse_ratio_limit_000_1_19,
    ratio_bound_003_5_13,
    ratio_copies_003_5_9,
    ratio_limit_003_5_20,
)
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import square_noises, unequal, where
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["planning_000", "planning_003", "three_deviations_of_copies"]

USERS = 150
COPIES = 8
ROOTS = 8
SQUARES = (
    rf"$1 \le N \le {USERS}$ and $1 \le k \le {COPIES}$ where $kN$ is a square, and all "
    rf"{len(square_noises(ROOTS))} noises $q = a^2/(a^2+b^2)$ with $0 < a < b \le {ROOTS}$, so "
    "that nothing is rounded"
)

Case = tuple[int, int, Fraction]
"""N, k and q for which √(pqkN) is a fraction."""


def _cases() -> Iterator[Case]:
    for n in range(1, USERS + 1):
        for k in range(1, COPIES + 1):
            if isqrt(n * k) ** 2 == n * k:
                yield from ((n, k, q) for q in square_noises(ROOTS))


def three_deviations_of_copies() -> Verdict:
    """000 (1.13)–(1.19), 003 (5.14)–(5.20): the bounds three deviations below the mean."""

    def fails(case: Case) -> str | None:
        n, k, q = case
        down = inverse_ratio_bound_000_1_12(n, count_below_mean_copies_000_1_12(n, q, k), q, k)
        up = ratio_bound_003_5_13(n, count_below_mean_copies_003_5_13(n, q, k), q, k)
        place = where(N=n, k=k, q=q)
        return unequal(
            f"(1.19) at {place}", inverse_ratio_limit_000_1_19(n, q, k), down
        ) or unequal(f"(5.20) at {place}", ratio_limit_003_5_20(n, q, k), up)

    statement = Statement(
        key="000-1.13-1.19",
        source="000 (1.13)–(1.19), 003 (5.14)–(5.20)",
        says=(
            r"At $s = qkN - 3\sqrt{pqkN}$ (1.12) is $(1 - \frac{3(p-q)}{\sqrt{qpkN}})^k$, and at "
            r"$s = pkN - 3\sqrt{pqkN}$ (5.13) is $(1 + \frac{3(p-q)}{\sqrt{qpkN}})^k$."
        ),
        covered=f"{SQUARES}.",
        comment=(
            r"The binomial theorem. (1.20) and (1.21) print $+$ where (1.19) has $-$; (1.22) "
            "follows from the $-$ only, and is right."
        ),
    )
    return Verdict(statement, check(_cases(), fails))


def planning_000() -> Verdict:
    """000 (1.20)–(1.23): whether the chosen noise keeps the ratio within λ."""

    def fails(case: Case) -> str | None:
        n, k, q = case
        s = int(count_below_mean_copies_000_1_12(n, q, k))
        inverse, allowed = (
            inverse_ratio_copies_000_1_8(n, s, q, k),
            inverse_ratio_limit_000_1_19(n, q, k),
        )
        if inverse >= allowed:
            return None
        return (
            rf"{where(N=n, k=k, q=q, s=s)}: $R_s = {tex(1 / inverse)}$ exceeds "
            rf"$\lambda = {tex(1 / allowed)}$"
        )

    cases = (c for c in _cases() if _is_count(count_below_mean_copies_000_1_12(c[0], c[2], c[1])))
    statement = Statement(
        key="000-1.20",
        source="000 (1.20)–(1.23)",
        says=(
            r"Noise with $(1 - \frac{3(p-q)}{\sqrt{qpkN}})^k \ge \frac{1}{\lambda}$, which is "
            r"(1.22) and (1.23), keeps $R_s \le \lambda$ at $s = qkN - 3\sqrt{pqkN}$."
        ),
        covered=(
            rf"{SQUARES}, and $s \ge 0$ is a whole number; for each the $\lambda$ that (1.22) "
            "meets with equality."
        ),
        comment=(
            r"A slip of logic. (1.12) bounds $\frac{1}{R_s}$ from above; what is needed is a bound "
            r"from below. From $X > \frac{1}{R_s} \ge \frac{1}{\lambda}$ the draft keeps "
            r"$X \ge \frac{1}{\lambda}$, which is necessary and not sufficient. (With $+$ for $-$, "
            r"as (1.20) and (1.21) print it, every noise would do.) By (1.12) the claim fails "
            r"whenever $k > 1$ and $s > 0$. At the noise of (1.23) $\log R_s$ exceeds "
            r"$\epsilon = \log \lambda$ by about $\frac{k-1}{k}\frac{\epsilon^2}{18}$, however "
            r"large the crowd: in the draft's example, $k=16$ and $\lambda=2$, by 0.025."
        ),
        corrected=(
            r"It holds for $k=1$, and at $s=0$, where (1.12) is an equality, checked over the same "
            "range."
        ),
    )
    kept = list(cases)
    equal = (
        c for c in kept if c[1] == 1 or count_below_mean_copies_000_1_12(c[0], c[2], c[1]) == 0
    )
    return Verdict(statement, check(kept, fails), check(equal, fails))


def planning_003() -> Verdict:
    """003 (5.21)–(5.24): whether the chosen noise keeps the ratio within λ."""

    def fails(case: Case) -> str | None:
        n, k, q = case
        s = int(count_below_mean_copies_003_5_13(n, q, k))
        ratio, allowed = ratio_copies_003_5_9(n, s, q, k), ratio_limit_003_5_20(n, q, k)
        if ratio <= allowed:
            return None
        return f"{where(N=n, k=k, q=q, s=s)}: $R_s = {tex(ratio)}$ exceeds ${tex(allowed)}$"

    cases = (c for c in _cases() if _is_count(count_below_mean_copies_003_5_13(c[0], c[2], c[1])))
    statement = Statement(
        key="003-5.21",
        source="003 (5.21)–(5.24)",
        says=(
            r"Noise with $(1 + \frac{3(p-q)}{\sqrt{qpkN}})^k \le \lambda$ keeps $R_s \le \lambda$ "
            r"at $s = pkN - 3\sqrt{pqkN}$."
        ),
        covered=(
            rf"{SQUARES}, and $s \ge 0$ is a whole number; for each the $\lambda$ that (5.22) "
            "meets with equality."
        ),
        comment=(
            "It follows from (5.13), whose conclusion stands. It says nothing of counts further "
            "below, nor of the opposite direction, which 000 plans for."
        ),
    )
    return Verdict(statement, check(cases, fails))


def _is_count(s: Fraction) -> bool:
    return s >= 0 and s.denominator == 1
