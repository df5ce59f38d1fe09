"""Equations of particular collections, put to the exact test (003 (7.1)–(7.9) and §8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.collections.reports import one_outlier
from krand_lab.statements.ranges import (
    law,
    noises,
    noises_in_words,
    unequal,
    vector_tex,
    where,
)
from krand_lab.statements.verdict import Tested, check, result, statement

BITS = 3
DENOMINATOR = 4
USERS = 5
LARGE_DENOMINATOR = 9

Two = tuple[int, Fraction, Vector, Vector, Vector]
"""L, q, the two reports and x."""

Zero = tuple[int, int, Fraction, Vector]
"""N, L, q and the report s that all but one gave."""

Form = Callable[[int, int, int, Fraction], Fraction]


# --- §7: two vectors ---------------------------------------------------------------------------


def _twos() -> Iterator[Two]:
    for bits in range(1, BITS + 1):
        for q in noises(DENOMINATOR):
            for l1, l2, x in product(vectors(bits), repeat=3):
                yield bits, q, l1, l2, x


def _exact(l1: Vector, l2: Vector, z: Vector, x: Vector, q: Fraction) -> Fraction:
    """P({l1, l2} | {0, x})/P({l1, l2} | {z, x}) by enumeration."""
    reports: Multiset = tuple(sorted((l1, l2)))
    zeros = (0,) * len(x)
    return law(tuple(sorted((zeros, x))), q)[reports] / law(tuple(sorted((z, x))), q)[reports]


def _place(case: Two) -> str:
    bits, q, l1, l2, x = case
    return where(L=bits, q=q, l_1=vector_tex(l1), l_2=vector_tex(l2), x=vector_tex(x))


@statement("003-7.2-7.6")
def two_vectors_003() -> Tested:
    """003 (7.1)–(7.6): the ratio of two reports, in three forms."""

    def fails(case: Two) -> str | None:
        bits, q, l1, l2, x = case
        for z in vectors(bits):
            exact = _exact(l1, l2, z, x, q)
            for form in (drafts.ratio_of_two_003_7_2, drafts.ratio_of_two_003_7_2_divided):
                if form(l1, l2, z, x, q) != exact:
                    return unequal(f"(7.2) at {_place(case)}", form(l1, l2, z, x, q), exact)
        exact = _exact(l1, l2, (1,) * bits, x, q)
        return (
            unequal(f"(7.1) at {_place(case)}", drafts.mean_ratio_003_7_1(bits, q), Fraction(1))
            or unequal(f"(7.3) at {_place(case)}", drafts.ratio_of_two_003_7_3(l1, l2, x, q), exact)
            or unequal(f"(7.6) at {_place(case)}", drafts.ratio_of_two_003_7_6(l1, l2, x, q), exact)
        )

    return result(check(_twos(), fails), noises_in_words=noises_in_words(DENOMINATOR))


@statement("003-7.7")
def quotient_of_powers_003() -> Tested:
    """003 (7.7)–(7.9): (7.6) with p(l_2|1)/p(l_1|1) written out."""

    def against(
        *forms: Callable[[Vector, Vector, Vector, Fraction], Fraction],
    ) -> Callable[[Two], str | None]:
        def fails(case: Two) -> str | None:
            bits, q, l1, l2, x = case
            exact = _exact(l1, l2, (1,) * bits, x, q)
            for form in forms:
                if form(l1, l2, x, q) != exact:
                    return unequal(_place(case), form(l1, l2, x, q), exact)
            return None

        return fails

    printed = against(
        drafts.ratio_of_two_003_7_7, drafts.ratio_of_two_003_7_8, drafts.ratio_of_two_003_7_9
    )
    right = against(drafts.ratio_of_two_003_7_7_corrected, drafts.ratio_of_two_003_7_9_corrected)
    return result(
        check(_twos(), printed), check(_twos(), right), noises_in_words=noises_in_words(DENOMINATOR)
    )


# --- §8: one zero among equal reports ----------------------------------------------------------


def _zeros() -> Iterator[Zero]:
    for n in range(1, USERS + 1):
        for bits in range(1, BITS + 1):
            for q in noises(LARGE_DENOMINATOR):
                yield from ((n, bits, q, s) for s in vectors(bits))


ZEROS = (
    rf"$1 \le N \le {USERS}$, $1 \le L \le {BITS}$, {noises_in_words(LARGE_DENOMINATOR)}, every "
    r"vector $s$, $s = 0$ included."
)


def _laws(case: Zero) -> tuple[Fraction, Fraction]:
    """P(S|D) and P(S|D_m) of one report 0 and N-1 reports s, by enumeration."""
    n, bits, q, s = case
    zeros, ones = (0,) * bits, (1,) * bits
    reports = tuple(sorted((zeros, *(s,) * (n - 1))))
    return law((ones,) * n, q)[reports], law(one_outlier(n, zeros, ones), q)[reports]


def _first_wrong(case: Zero, forms: dict[str, tuple[Form, Fraction]]) -> str | None:
    """The first of some formulas of N, L, set bits and q that is not exact."""
    n, bits, q, s = case
    for name, (form, exact) in forms.items():
        value = form(n, bits, sum(s), q)
        if value != exact:
            place = where(N=n, L=bits, q=q, s=vector_tex(s))
            return unequal(f"{name} at {place}", value, exact)
    return None


@statement("003-8.1-8.3")
def one_zero_among_equals_003() -> Tested:
    """003 (8.1)–(8.3): the probability of one report 0 and N-1 equal reports."""

    def fails(case: Zero) -> str | None:
        original, modified = _laws(case)
        forms: dict[str, tuple[Form, Fraction]] = {
            "(8.1)": (drafts.probability_003_8_1, original),
            "(8.2)": (drafts.probability_modified_003_8_2, modified),
            "(8.3)": (drafts.probability_modified_003_8_3, modified),
        }
        return _first_wrong(case, forms)

    kept = (case for case in _zeros() if case[0] == 1 or any(case[3]))
    return result(check(_zeros(), fails), check(kept, fails))


@statement("003-8.4-8.8")
def ratio_of_one_zero_003() -> Tested:
    """003 (8.4)–(8.8): the ratio of one report 0 and N-1 equal reports."""

    def fails(case: Zero) -> str | None:
        original, modified = _laws(case)
        exact = modified / original
        forms: dict[str, tuple[Form, Fraction]] = {
            "(8.4)": (drafts.ratio_003_8_4, exact),
            "(8.6)": (drafts.ratio_003_8_6, exact),
            "(8.7)": (drafts.ratio_003_8_7, exact),
            "(8.8)": (drafts.ratio_003_8_8, exact),
        }
        return _first_wrong(case, forms)

    return result(check(_zeros(), fails))
