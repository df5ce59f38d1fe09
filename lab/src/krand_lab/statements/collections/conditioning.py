"""Equations of whole synthetic collections, put to the exact test (002 §2–3)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.collections.reports import multisets, places, places_in_words
from krand_lab.statements.ranges import law, unequal, vector_tex, vectors_tex, where
from krand_lab.statements.verdict import Tested, check, result, statement

SIZES = ((1, 3), (2, 2), (3, 2), (4, 1), (5, 1))
"""The number of users and the largest number of bits that goes with it."""
DENOMINATOR = 4
RANGE = places_in_words(SIZES, DENOMINATOR)


@statement("002-2.1")
def collection_002() -> Tested:
    """002 (2.1): the probability of the counts as a sum over arrangements."""

    def cases() -> Iterator[tuple[int, int, Fraction, Multiset]]:
        for n, bits, q in places(SIZES, DENOMINATOR):
            yield from ((n, bits, q, x) for x in multisets(n, bits))

    def fails(case: tuple[int, int, Fraction, Multiset]) -> str | None:
        n, bits, q, x = case
        for s, exact in law(x, q).items():
            printed = drafts.collection_probability_002_2_1(x, s, q)
            if printed != exact:
                place = where(N=n, L=bits, q=q, x=vectors_tex(x), s=vectors_tex(s))
                return unequal(place, printed, exact)
        return None

    return result(check(cases(), fails))


@statement("002-3.1")
def conditioning_002() -> Tested:
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
            printed, exact = drafts.ratio_002_3_1(s, x, first, q), modified[s] / chance
            if printed != exact:
                place = where(N=n, L=bits, q=q, x=vectors_tex(x), s=vectors_tex(s))
                return unequal(f"{place}, $x'_1={vector_tex(first)}$", printed, exact)
        return None

    return result(check(cases(), fails))
