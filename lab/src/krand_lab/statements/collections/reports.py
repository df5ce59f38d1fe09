"""Ranges over whole collections and reports, shared by the statements on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement

from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.ranges import (
    noises,
    noises_in_words,
    unequal,
    vectors_tex,
    where,
)
from krand_lab.statements.verdict import Count, check

__all__ = [
    "ALL_REPORTS",
    "ResponseFormat",
    "Value",
    "against",
    "all_reports",
    "multisets",
    "one_outlier",
    "places",
    "places_in_words",
]

SIZES = ((1, 3), (2, 3), (3, 2), (4, 2), (5, 1), (6, 1))
"""The number of users and the largest number of bits that goes with it."""
DENOMINATOR = 5

ResponseFormat = tuple[Multiset, int, Fraction]
"""The reports, their number of bits and the noise."""

Value = Callable[[Multiset, int, Fraction], Fraction]
"""What a formula makes of reports, bits and noise."""


def multisets(crowd: int, bits: int) -> Iterator[Multiset]:
    """Every multiset of so many vectors."""
    return combinations_with_replacement(vectors(bits), crowd)


def places(
    sizes: tuple[tuple[int, int], ...], denominator: int
) -> Iterator[tuple[int, int, Fraction]]:
    """N, L and q, in this order."""
    for n, most in sizes:
        for bits in range(1, most + 1):
            yield from ((n, bits, q) for q in noises(denominator))


def places_in_words(sizes: tuple[tuple[int, int], ...], denominator: int) -> str:
    """The range of `places`, for a statement."""
    parts = (
        rf"$N={n}$ with $1 \le L \le {bits}$" if bits > 1 else f"$N={n}$ with $L=1$"
        for n, bits in sizes
    )
    return "; ".join(parts) + f"; {noises_in_words(denominator)}"


def all_reports() -> Iterator[ResponseFormat]:
    """Every multiset of reports of every size."""
    for n, bits, q in places(SIZES, DENOMINATOR):
        yield from ((s, bits, q) for s in multisets(n, bits))


ALL_REPORTS = f"{places_in_words(SIZES, DENOMINATOR)}; every multiset of reports."


def one_outlier(crowd: int, outlier: Vector, background: Vector) -> Multiset:
    """N-1 users who agree, and one who does not."""
    return (*(background,) * (crowd - 1), outlier)


def against(form: Value, exact: Value) -> Count:
    """A formula against its exact value, for all reports."""

    def fails(case: ResponseFormat) -> str | None:
        s, bits, q = case
        place = where(N=len(s), L=bits, q=q, S=vectors_tex(s))
        return unequal(place, form(s, bits, q), exact(s, bits, q))

    return check(all_reports(), fails)
