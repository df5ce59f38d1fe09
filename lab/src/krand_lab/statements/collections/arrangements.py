"""Equations that sum over the reports of N unit vectors, put to the exact test (003 "
"(7.12)–(7.21))."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.formulas.synthetic import (
    probability_003_7_14_corrected,
    probability_modified_003_7_12,
    probability_modified_003_7_12_corrected,
    ratio_002_3_1,
    ratio_003_7_13,
    ratio_003_7_16,
    ratio_003_7_17,
    ratio_003_7_18,
    ratio_003_7_18_corrected,
    ratio_003_7_21,
    weight_003_7_14,
)
from krand_lab.statements.collections.reports import (
    ALL_REPORTS,
    ResponseFormat,
    against,
    all_reports,
    one_outlier,
)
from krand_lab.statements.ranges import (
    law,
    noises,
    noises_in_words,
    unequal,
    vector_tex,
    vectors_tex,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "arrangements_003",
    "modified_collection_003",
    "ratio_of_arrangements_003",
    "ratio_of_conditionings_003",
    "ratio_of_unequal_records_003",
    "two_kinds_of_reports_003",
]

USERS = 6
BITS = 3
DENOMINATOR = 9


def _original(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return law(((1,) * bits,) * len(s), q)[s]


def _modified(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return law(one_outlier(len(s), (0,) * bits, (1,) * bits), q)[s]


def _ratio(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return _modified(s, bits, q) / _original(s, bits, q)


def modified_collection_003() -> Verdict:
    """003 (7.12): the probability of the reports by conditioning on one of them."""
    statement = Statement(
        key="003-7.12",
        source="003 (7.12)",
        says=r"$p(S|D_m) = \sum_{i=1}^{N-1} p(s_i|0) p(S-s_i|D_{N-1})$",
        covered=ALL_REPORTS,
        comment=(
            r"There are $N$ reports that may come from the zero vector, and (7.13) does sum to "
            "$N$. Besides, equal reports are one way and not several, if the second factor is "
            "the probability of a multiset."
        ),
        corrected=(
            r"$p(S|D_m) = \sum_v p(v|0) p(S-v|D_{N-1})$ over the distinct reports $v$, which is "
            "002 (3.1), checked over the same range."
        ),
    )
    printed = against(lambda s, _, q: probability_modified_003_7_12(s, q), _modified)
    right = against(lambda s, _, q: probability_modified_003_7_12_corrected(s, q), _modified)
    return Verdict(statement, printed, right)


def ratio_of_conditionings_003() -> Verdict:
    """003 (7.13): the ratio of two such sums, with probabilities of multisets."""

    def distinct(s: Multiset, bits: int, q: Fraction) -> Fraction:
        return ratio_002_3_1(s, ((1,) * bits,) * len(s), (0,) * bits, q)

    statement = Statement(
        key="003-7.13",
        source="003 (7.13)",
        says=(
            r"$\frac{p(S|D_m)}{p(S|D)} = \frac{\sum_{i=1}^N p(s_i|0) p(S-s_i|D_{N-1})}"
            r"{\sum_{i=1}^N p(s_i|1) p(S-s_i|D_{N-1})}$, where $p$ of a collection is the "
            "probability of its counts."
        ),
        covered=ALL_REPORTS,
        comment=(
            r"A report that occurs $s_v$ times is counted $s_v$ times over, and its term already "
            r"holds the factor $s_v$: the sum weighs it with $s_v^2$. With the weights $N! \prod$ "
            r"of (7.14) for $p$ the formula is right, and leads to (7.17)."
        ),
        corrected=(
            r"Sum over the distinct reports, as 002 (3.1) does; checked over the same range."
        ),
    )
    printed = against(lambda s, _, q: ratio_003_7_13(s, q), _ratio)
    return Verdict(statement, printed, against(distinct, _ratio))


def arrangements_003() -> Verdict:
    """003 (7.14): the probability of the reports of N unit vectors."""
    statement = Statement(
        key="003-7.14",
        source="003 (7.14)",
        says=r"$p(S|D) = N! \prod_{i=1}^N p^{s_i}q^{L-s_i}$, $s_i$ being the set bits of a report.",
        covered=ALL_REPORTS,
        comment=(
            "The same weight of arrangements as 001 (8.5), with 0 and 1 exchanged: right only "
            "where all reports differ."
        ),
        corrected=(
            r"$p(S|D) = \frac{N!}{\prod_v s_v!} \prod_{i=1}^N p^{s_i}q^{L-s_i}$, checked over the "
            "same range."
        ),
    )
    printed = against(lambda s, _, q: weight_003_7_14(s, q), _original)
    right = against(lambda s, _, q: probability_003_7_14_corrected(s, q), _original)
    return Verdict(statement, printed, right)


def ratio_of_arrangements_003() -> Verdict:
    """003 (7.16) and (7.17): the ratio as a mean over the reports."""

    def fails(case: ResponseFormat) -> str | None:
        s, bits, q = case
        place, exact = where(N=len(s), L=bits, q=q, S=vectors_tex(s)), _ratio(s, bits, q)
        return unequal(f"(7.16) at {place}", ratio_003_7_16(s, q), exact) or unequal(
            f"(7.17) at {place}", ratio_003_7_17(s, q), exact
        )

    statement = Statement(
        key="003-7.17",
        source="003 (7.14)–(7.17)",
        says=(r"$\frac{p(S|D_m)}{p(S|D)} = \frac{1}{N}\sum_{i=1}^N \frac{p(s_i|0)}{p(s_i|1)}$"),
        covered=ALL_REPORTS,
        comment=(
            r"The ratio of the weights (7.15) and (7.14) is right, since $\frac{1}{\prod_v s_v!}$ "
            "is missing from both. This is 000 (2.7), 001 (3.1) and 003 (6.7) in one line. (7.22), "
            r"which breaks off, would be it with the denominator $N$ for 1."
        ),
    )
    return Verdict(statement, check(all_reports(), fails))


def two_kinds_of_reports_003() -> Verdict:
    """003 (7.18): the ratio when every report is all zeros or all ones."""

    Case = tuple[int, int, Fraction, int]

    def cases() -> Iterator[Case]:
        for n in range(1, USERS + 1):
            for bits in range(1, BITS + 1):
                for q in noises(DENOMINATOR):
                    yield from ((n, bits, q, k) for k in range(n + 1))

    def exact(case: Case) -> Fraction:
        n, bits, q, k = case
        return ratio_003_7_17([(0,) * bits] * k + [(1,) * bits] * (n - k), q)

    def fails(case: Case) -> str | None:
        n, bits, q, k = case
        printed = ratio_003_7_18(k, n - k, bits, q)
        return unequal(where(N=n, L=bits, q=q, K=k), printed, exact(case))

    def corrected_fails(case: Case) -> str | None:
        n, bits, q, k = case
        printed = ratio_003_7_18_corrected(k, n - k, bits, q)
        return unequal(where(N=n, L=bits, q=q, K=k), printed, exact(case))

    statement = Statement(
        key="003-7.18",
        source="003 (7.18)",
        says=(
            r"$\frac{p(S|D_m)}{p(S|D)} = \frac{K}{N}\sum_{i=1}^K \frac{p(0|0)}{p(0|1)} + "
            r"\frac{M}{N}\sum_{i=1}^M \frac{p(1|0)}{p(1|1)}$ for $K$ reports 0 and $M = N-K$ "
            "reports 1."
        ),
        covered=(
            rf"$1 \le N \le {USERS}$, $1 \le L \le {BITS}$, {noises_in_words(DENOMINATOR)}, every "
            r"$0 \le K \le N$; against (7.17), which holds."
        ),
        comment=r"A factor $K$ and a sum of $K$ equal terms count the same reports twice.",
        corrected=(
            r"$\frac{K}{N}\frac{p(0|0)}{p(0|1)} + \frac{M}{N}\frac{p(1|0)}{p(1|1)}$, checked over "
            "the same range."
        ),
    )
    return Verdict(statement, check(cases(), fails), check(cases(), corrected_fails))


def ratio_of_unequal_records_003() -> Verdict:
    """003 (7.20) and (7.21): any record x is turned to zeros among unit vectors."""

    def cases() -> Iterator[tuple[Multiset, int, Fraction, Vector]]:
        for s, bits, q in all_reports():
            yield from ((s, bits, q, x) for x in vectors(bits))

    def fails(case: tuple[Multiset, int, Fraction, Vector]) -> str | None:
        s, bits, q, x = case
        exact = _modified(s, bits, q) / law(one_outlier(len(s), x, (1,) * bits), q)[s]
        place = where(N=len(s), L=bits, q=q, x=vector_tex(x), S=vectors_tex(s))
        return unequal(place, ratio_003_7_21(s, x, q), exact)

    statement = Statement(
        key="003-7.21",
        source="003 (7.19)–(7.21)",
        says=(
            r"$\frac{p(S|D_m)}{p(S|D)} = \frac{\sum_i p(s_i|0) (N-1)! \prod_{j \ne i} "
            r"p^{s_j}q^{L-s_j}}{\sum_i p(s_i|x) (N-1)! \prod_{j \ne i} p^{s_j}q^{L-s_j}}$, where "
            r"$D$ holds $x$ and $N-1$ unit vectors."
        ),
        covered=f"{ALL_REPORTS[:-1]} and every vector $x$.",
        comment=r"Again both weights lack the same factor $\frac{1}{\prod_v s_v!}$.",
    )
    return Verdict(statement, check(cases(), fails))
