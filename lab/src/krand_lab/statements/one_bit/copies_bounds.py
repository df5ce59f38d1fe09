"""The bounds on the ratio of k copies of one bit, put to the exact test (000 §1.3, 003 §5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab.formulas.single_bit_copies import (
    inverse_ratio_bound_000_1_12,
    inverse_ratio_copies_000_1_8,
    ratio_bound_003_5_13,
    ratio_copies_003_5_9,
    share_000_1_9,
    share_bound_000_1_11,
)
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import (
    noises,
    noises_in_words,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "bound_of_the_inverse_ratio_000",
    "bound_of_the_ratio_003",
    "bound_of_the_share_000",
    "lowered_fraction_000",
]

LARGEST = 12
USERS = 6
COPIES = 5
DENOMINATOR = 9
SHARES = rf"$1 \le N \le {USERS}$, $1 \le k \le {COPIES}$, every count $0 \le s \le kN$"
RANGE = (
    rf"$1 \le N \le {USERS}$, $1 \le k \le {COPIES}$, {noises_in_words(DENOMINATOR)}, every count "
    r"$0 \le s \le kN$."
)
STRICT = f"{RANGE} Checked with $<$ for $k > 1$ and $0 < s < kN$, and as an equality elsewhere."

HOEFFDING = (
    r"The sum is the mean of a convex function of $i$ where $i$ is hypergeometric, the bound its "
    r"mean where $i$ is binomial with the same mean. Drawing with replacement never lowers the "
    r"mean of a convex function (Hoeffding 1963, Theorem 4), and raises it strictly for $k > 1$ "
    r"and $0 < s < kN$. "
)

Case = tuple[int, int, Fraction, int]
"""N, k, q and a count s."""


def _counts() -> Iterator[Case]:
    for n in range(1, USERS + 1):
        for k in range(1, COPIES + 1):
            for q in noises(DENOMINATOR):
                yield from ((n, k, q, s) for s in range(n * k + 1))


def lowered_fraction_000() -> Verdict:
    """000 (1.10), 003 (5.11): lowering numerator and denominator alike lowers the fraction."""

    def cases() -> Iterator[tuple[int, int, int]]:
        for b in range(2, LARGEST + 1):
            for a in range(1, b):
                yield from ((a, b, e) for e in range(1, LARGEST + 1) if e != b)

    def fails(case: tuple[int, int, int]) -> str | None:
        a, b, e = case
        left, right = Fraction(a - e, b - e), Fraction(a, b)
        return None if left < right else f"{where(A=a, B=b, e=e)}: ${tex(left)} > {tex(right)}$"

    statement = Statement(
        key="000-1.10",
        source="000 (1.10), 003 (5.11)",
        says=r"For positive $A$, $B$ and $e$ with $A < B$, $\frac{A-e}{B-e} < \frac{A}{B}$.",
        covered=(
            rf"All whole numbers $1 \le A < B \le {LARGEST}$ and $1 \le e \le {LARGEST}$, $e \ne "
            rf"B$."
        ),
        comment=(
            r"$\frac{A}{B} - \frac{A-e}{B-e} = \frac{e(B-A)}{B(B-e)}$, which is positive if and "
            r"only if $e < B$. The drafts use it for $e < B$ only."
        ),
        corrected=r"It holds if also $e < B$, checked over the same range.",
    )
    lower = (case for case in cases() if case[2] < case[1])
    return Verdict(statement, check(cases(), fails), check(lower, fails))


def bound_of_the_share_000() -> Verdict:
    """000 (1.11), 003 (5.12): the bound of each term."""

    def cases() -> Iterator[tuple[int, int, int, int]]:
        for n in range(1, USERS + 1):
            for k in range(1, COPIES + 1):
                yield from ((n, k, s, i) for s in range(n * k + 1) for i in range(k + 1))

    def fails(case: tuple[int, int, int, int]) -> str | None:
        n, k, s, i = case
        share, bound = share_000_1_9(n, s, i, k), share_bound_000_1_11(n, s, i, k)
        if share <= bound:
            return None
        return f"{where(N=n, k=k, s=s, i=i)}: left ${tex(share)}$, right ${tex(bound)}$"

    statement = Statement(
        key="000-1.11",
        source="000 (1.11), 003 (5.12)",
        says=(
            r"$\frac{\prod_{j<i}(s-j)\prod_{j<k-i}(kN-s-j)}{\prod_{j<k}(kN-j)} \le "
            r"\frac{s^i (kN-s)^{k-i}}{(kN)^k}$, printed with $<$, though for $k=1$ the sides agree."
        ),
        covered=rf"{SHARES} and every $0 \le i \le k$.",
        comment=(
            r"(1.10) lowers numerator and denominator by the same $e$. That serves the first "
            r"product, but the second one starts again at $e=0$ where the denominator goes on from "
            r"$e=i$: $\frac{kN-s-j}{kN-i-j}$ may exceed $\frac{kN-s}{kN}$. The bounds (1.12) and "
            "(5.13) of the whole sum hold all the same, for another reason."
        ),
        corrected=r"It holds for $i=0$ and $i=k$, checked over the same range.",
    )
    ends = (case for case in cases() if case[3] in (0, case[1]))
    return Verdict(statement, check(cases(), fails), check(ends, fails))


def bound_of_the_inverse_ratio_000() -> Verdict:
    """000 (1.12): the upper bound of 1/R_s."""

    def fails(case: Case) -> str | None:
        n, k, q, s = case
        exact = inverse_ratio_copies_000_1_8(n, s, q, k)
        bound = inverse_ratio_bound_000_1_12(n, s, q, k)
        return _beyond(case, exact, bound)

    statement = Statement(
        key="000-1.12",
        source="000 (1.12)",
        says=(
            r"$\frac{1}{R_s} \le \sum_{i=0}^k (\frac{s}{kN})^i (1-\frac{s}{kN})^{k-i} \binom{k}{i} "
            r"(\frac{q}{p})^{k-2i}$, printed with $<$."
        ),
        covered=STRICT,
        comment=(
            HOEFFDING + "The draft's proof does not hold, since (1.11) is wrong. And it is a bound "
            "from the wrong side: see 000 (1.20)."
        ),
    )
    return Verdict(statement, check(_counts(), fails))


def bound_of_the_ratio_003() -> Verdict:
    """003 (5.13): the upper bound of R_s."""

    def fails(case: Case) -> str | None:
        n, k, q, s = case
        return _beyond(case, ratio_copies_003_5_9(n, s, q, k), ratio_bound_003_5_13(n, s, q, k))

    statement = Statement(
        key="003-5.13",
        source="003 (5.13)",
        says=(
            r"$R_s \le \sum_{i=0}^k (\frac{s}{kN})^i (1-\frac{s}{kN})^{k-i} \binom{k}{i} "
            r"(\frac{p}{q})^{k-2i}$, printed with $<$."
        ),
        covered=STRICT,
        comment=(
            HOEFFDING + "The draft's proof does not hold, since (5.12) is wrong; the conclusion "
            "stands, and 003 uses it in the right direction."
        ),
    )
    return Verdict(statement, check(_counts(), fails))


def _beyond(case: Case, exact: Fraction, bound: Fraction) -> str | None:
    """What contradicts exact < bound, or equality where the draft's own formula has no slack."""
    n, k, q, s = case
    strict = k > 1 and 0 < s < k * n
    if exact < bound if strict else exact == bound:
        return None
    return f"{where(N=n, k=k, q=q, s=s)}: left ${tex(exact)}$, right ${tex(bound)}$"
