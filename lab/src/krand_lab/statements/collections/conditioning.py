"""Equations of whole synthetic collections, put to the exact test (002 §2–3)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.formulas.synthetic import collection_probability_002_2_1, ratio_002_3_1
from krand_lab.statements.collections.reports import multisets, places, places_in_words
from krand_lab.statements.ranges import law, unequal, vector_tex, vectors_tex, where
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "collection_002",
    "conditioning_002",
]

SIZES = ((1, 3), (2, 2), (3, 2), (4, 1), (5, 1))
"""The number of users and the largest number of bits that goes with it."""
DENOMINATOR = 4
RANGE = places_in_words(SIZES, DENOMINATOR)


def collection_002() -> Verdict:
    """002 (2.1): the probability of the counts as a sum over arrangements."""

    def cases() -> Iterator[tuple[int, int, Fraction, Multiset]]:
        for n, bits, q in places(SIZES, DENOMINATOR):
            yield from ((n, bits, q, x) for x in multisets(n, bits))

    def fails(case: tuple[int, int, Fraction, Multiset]) -> str | None:
        n, bits, q, x = case
        for s, exact in law(x, q).items():
            printed = collection_probability_002_2_1(x, s, q)
            if printed != exact:
                place = where(N=n, L=bits, q=q, x=vectors_tex(x), s=vectors_tex(s))
                return unequal(place, printed, exact)
        return None

    statement = Statement(
        key="002-2.1",
        source="002 (2.1)",
        says=(
            r"$P[A(x)=s] = \sum_{y: \Phi(y)=s} p^{nL-\delta(x,y)} q^{\delta(x,y)}$, the sum over "
            r"all sequences $y$ with the counts $s$."
        ),
        covered=f"{RANGE}; every collection and every multiset of reports.",
        comment="Independent reports, summed over the sequences that the counts do not tell apart.",
    )
    return Verdict(statement, check(cases(), fails))


def conditioning_002() -> Verdict:
    """002 (3.1): the ratio by conditioning on the report of the one who changes."""

    def cases() -> Iterator[tuple[int, int, Fraction, Multiset, Vector]]:
        for n, bits, q in places(SIZES, DENOMINATOR):
            for others in multisets(n - 1, bits):
                for x in vectors(bits):
                    yield from ((n, bits, q, (x, *others), y) for y in vectors(bits) if y != x)

    def fails(case: tuple[int, int, Fraction, Multiset, Vector]) -> str | None:
        n, bits, q, x, first = case
        original = law(tuple(sorted(x)), q)
        modified = law(tuple(sorted((first, *x[1:]))), q)
        for s, chance in original.items():
            printed, exact = ratio_002_3_1(s, x, first, q), modified[s] / chance
            if printed != exact:
                place = where(N=n, L=bits, q=q, x=vectors_tex(x), s=vectors_tex(s))
                return unequal(f"{place}, $x'_1={vector_tex(first)}$", printed, exact)
        return None

    statement = Statement(
        key="002-3.1",
        source="002 (3.1)",
        says=(
            r"$\pi(s,x,x') = \frac{\sum_j P[R(x'_1)=d_j] P[A(\tilde{x})=s-i_j]}"
            r"{\sum_j P[R(x_1)=d_j] P[A(\tilde{x})=s-i_j]}$"
        ),
        covered=(
            f"{RANGE}; every background, every change of a record and every multiset of reports."
        ),
        comment=(
            r"The law of total probability over the first report; a term with $s - i_j$ negative "
            "is 0. It sums over distinct vectors, which 003 (7.13) does not."
        ),
    )
    return Verdict(statement, check(cases(), fails))
