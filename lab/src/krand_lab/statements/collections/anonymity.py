"""Definitions of privacy and anonymity, put to the exact test (002 §5, 003 §2–3, 004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.collections.reports import multisets, places, places_in_words
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import (
    count_law,
    law,
    vector_tex,
    vectors_tex,
    where,
)
from krand_lab.statements.verdict import Tested, check, result, statement

SIZES = ((1, 2), (2, 2), (3, 2), (4, 2), (5, 1), (6, 1))
"""The number of users and the largest number of bits that goes with it."""
DENOMINATOR = 7
RANGE = f"{places_in_words(SIZES, DENOMINATOR)}; every collection $T$"
LAMBDA = Fraction(2)

TENTHS = 9
USERS = 5

Case = tuple[Multiset, int, Fraction]
"""T, its bits and the noise."""


def _collections() -> Iterator[Case]:
    for n, bits, q in places(SIZES, DENOMINATOR):
        yield from ((t, bits, q) for t in multisets(n, bits))


@cache
def _anonymity(t: Multiset, q: Fraction) -> Fraction:
    return drafts.anonymity_003_3(t, q)


def _place(case: Case) -> str:
    t, bits, q = case
    return where(N=len(t), L=bits, q=q, T=vectors_tex(t))


@statement("003-3-factor")
def factor_epsilon_003() -> Tested:
    """003 §3, 004 §2, 002 §5: differential privacy with the factor ε for e^ε."""

    def cases() -> Iterator[tuple[int, Fraction, int]]:
        for n in range(1, USERS + 1):
            for tenths in range(1, TENTHS + 1):
                yield from ((n, Fraction(tenths, 10), ones) for ones in range(n))

    def worst(case: tuple[int, Fraction, int], factor: Fraction) -> str | None:
        """The first set S of counts with P[A(x) ∈ S] > factor·P[A(x') ∈ S], in either direction."""
        n, epsilon, ones = case
        q = 1 / (2 + epsilon)  # p/q = 1 + ε, which is below e^ε
        fewer, more = count_law(n, ones, q), count_law(n, ones + 1, q)
        for size in range(n + 1, 0, -1):
            for chosen in combinations(range(n + 1), size):
                for law_x, law_y in ((fewer, more), (more, fewer)):
                    left = sum((law_x[s] for s in chosen), Fraction(0))
                    right = factor * sum((law_y[s] for s in chosen), Fraction(0))
                    if left > right:
                        counts = ", ".join(map(str, chosen))
                        place = where(N=n, q=q, **{r"\epsilon": epsilon})
                        return (
                            rf"{place}, $S = \{{{counts}\}}$: left ${tex(left)}$, right "
                            f"${tex(right)}$"
                        )
        return None

    printed = check(cases(), lambda case: worst(case, case[1]))
    return result(printed, check(cases(), lambda case: worst(case, 1 + case[1])))


@statement("003-2-presence")
def presence_of_a_report_003() -> Tested:
    """003 §2, 004 §1: the probability that s is among the reports."""

    def fails(case: Case) -> str | None:
        t, bits, q = case
        for s in vectors(bits):
            exact = sum((c for reports, c in law(t, q).items() if s in reports), Fraction(0))
            printed = drafts.presence_003_2(s, t, q)
            if printed != exact:
                place = f"{_place(case)}, $s={vector_tex(s)}$"
                return f"{place}: printed ${tex(printed)}$, exact ${tex(exact)}$"
        return None

    return result(check(_collections(), fails))


def _without(t: Multiset, i: int) -> Multiset:
    return (*t[:i], *t[i + 1 :])


@statement("003-3-record-taken-away")
def record_taken_away_003() -> Tested:
    """003 §3, 004 §2: privacy as a bounded ratio of T and T without v."""

    def fails(case: Case) -> str | None:
        t, _, q = case
        whole, fewer = law(t, q), law(_without(t, 0), q)
        reports, chance = next(iter(whole.items()))
        if reports in fewer:
            return None
        place = f"{_place(case)}, $v={vector_tex(t[0])}$, $S$ the event of the reports"
        return (
            f"{place} ${vectors_tex(reports)}$: $P[R(T) \\in S] = {tex(chance)}$, "
            "$P[R(T_v) \\in S] = 0$"
        )

    def corrected_fails(case: Case) -> str | None:
        t, bits, q = case
        anonymity = _anonymity(t, q)
        for i, v in enumerate(t):
            for s in vectors(bits):
                here, without = (
                    drafts.presence_003_2(s, t, q),
                    drafts.presence_003_2(s, _without(t, i), q),
                )
                if not anonymity * here < (anonymity + 1) * without:
                    return f"{_place(case)}, $v={vector_tex(v)}$, $s={vector_tex(s)}$"
        return None

    crowds = (case for case in _collections() if len(case[0]) > 1)
    return result(check(_collections(), fails), check(crowds, corrected_fails))


@statement("003-3-anonymity")
def anonymity_and_the_ratio_003() -> Tested:
    """003 §3, 004 §2: what A_p ≥ 1 says of the ratio, and what it does say."""

    def neighbours(t: Multiset, bits: int) -> Iterator[tuple[Vector, Multiset]]:
        for i, v in enumerate(t):
            for y in vectors(bits):
                if y != v:
                    yield y, tuple(sorted((*_without(t, i), y)))

    def fails(case: Case) -> str | None:
        t, bits, q = case
        anonymity = _anonymity(t, q)
        original = law(t, q)
        for y, modified in neighbours(t, bits):
            for s, chance in law(modified, q).items():
                if chance > LAMBDA * original[s]:
                    return (
                        f"{_place(case)}: $A_p = {tex(anonymity)}$, and when one record turns to "
                        f"${vector_tex(y)}$, $R = {tex(chance / original[s])}$ at "
                        f"$S = {vectors_tex(s)}$"
                    )
        return None

    def corrected_fails(case: Case) -> str | None:
        t, _, q = case
        shared = min(Counter(t).values()) >= 2
        if (_anonymity(t, q) >= 1) == shared:
            return None
        return f"{_place(case)}: $A_p = {tex(_anonymity(t, q))}$"

    anonymous = (case for case in _collections() if _anonymity(case[0], case[2]) >= 1)
    quiet = (case for case in _collections() if case[2] * len(case[0]) < 1)
    return result(check(anonymous, fails), check(quiet, corrected_fails), lam=tex(LAMBDA))
