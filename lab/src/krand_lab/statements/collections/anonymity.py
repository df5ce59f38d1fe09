"""Definitions of privacy and anonymity, put to the exact test (002 §5, 003 §2–3, 004)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations

from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.formulas.anonymity import anonymity_003_3, presence_003_2
from krand_lab.statements.collections.reports import multisets, places, places_in_words
from krand_lab.statements.notation import tex
from krand_lab.statements.ranges import (
    count_law,
    law,
    vector_tex,
    vectors_tex,
    where,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "anonymity_and_the_ratio_003",
    "factor_epsilon_003",
    "presence_of_a_report_003",
    "record_taken_away_003",
]

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
    return anonymity_003_3(t, q)


def _place(case: Case) -> str:
    t, bits, q = case
    return where(N=len(t), L=bits, q=q, T=vectors_tex(t))


def factor_epsilon_003() -> Verdict:
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

    statement = Statement(
        key="003-3-factor",
        source="003 §3, 004 §2, 002 §5",
        says=(
            r"A query is $\epsilon$-differentially private if "
            r"$P[A(x) \in S] \le \epsilon \cdot P[A(x') \in S]$ for all $S$. Put to the test on "
            r"one bit with $\frac{p}{q} = 1 + \epsilon \le e^{\epsilon}$, which is private in the "
            "usual sense."
        ),
        covered=(
            rf"$\epsilon$ from 0.1 to 0.{TENTHS} in steps of 0.1, $1 \le N \le {USERS}$, every "
            "pair of neighbouring collections in both directions, all sets of counts."
        ),
        comment=(
            r"A slip: 002 (1.1) has $\exp(\epsilon)$. With a factor $\epsilon < 1$ no query at all "
            r"is private: take for $S$ all outcomes, then it says $1 \le \epsilon$."
        ),
        corrected=(
            r"$P[A(x) \in S] \le e^{\epsilon} P[A(x') \in S]$; over the same range it holds even "
            r"with $1 + \epsilon$ for $e^{\epsilon}$, and so without a rounded number."
        ),
    )
    printed = check(cases(), lambda case: worst(case, case[1]))
    return Verdict(statement, printed, check(cases(), lambda case: worst(case, 1 + case[1])))


def presence_of_a_report_003() -> Verdict:
    """003 §2, 004 §1: the probability that s is among the reports."""

    def fails(case: Case) -> str | None:
        t, bits, q = case
        for s in vectors(bits):
            exact = sum((c for reports, c in law(t, q).items() if s in reports), Fraction(0))
            printed = presence_003_2(s, t, q)
            if printed != exact:
                place = f"{_place(case)}, $s={vector_tex(s)}$"
                return f"{place}: printed ${tex(printed)}$, exact ${tex(exact)}$"
        return None

    statement = Statement(
        key="003-2-presence",
        source="003 §2, 004 §1",
        says=(
            r"$P[s \in R(T)] = 1 - \prod_{v \in T} [1 - q^{L-m(v,s)}(1-q)^{m(v,s)}]$, where "
            "$m(v,s)$ counts the equal bits."
        ),
        covered=f"{RANGE} and every $s$; against the law of all multisets of reports.",
        comment="The reports are independent: the probabilities of not being $s$ multiply.",
    )
    return Verdict(statement, check(_collections(), fails))


def _without(t: Multiset, i: int) -> Multiset:
    return (*t[:i], *t[i + 1 :])


def record_taken_away_003() -> Verdict:
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
                here, without = presence_003_2(s, t, q), presence_003_2(s, _without(t, i), q)
                if not anonymity * here < (anonymity + 1) * without:
                    return f"{_place(case)}, $v={vector_tex(v)}$, $s={vector_tex(s)}$"
        return None

    statement = Statement(
        key="003-3-record-taken-away",
        source="003 §3, 004 §2",
        says=(
            r"$R$ is $\epsilon$-differentially private if "
            r"$\log \frac{P[R(T) \in S]}{P[R(T_v) \in S]} \le \epsilon$ for any set $S$, where "
            r"$T_v$ is $T$ without $v$. Put to the test: there is such an $\epsilon$."
        ),
        covered=f"{RANGE}; $S$ is an event of the reports.",
        comment=(
            r"$R(T)$ has $N$ reports and $R(T_v)$ has $N-1$: an observer who counts them tells the "
            r"two apart, and no $\epsilon$ is large enough. The other sections compare collections "
            r"of one size. For the events that one report $s$ occurs the ratio is bounded, and "
            r"that is what $A_p$ says: $P[s \in R(T)] = P[s \in R(T_v)] + P[s = R(v)] "
            r"(1 - P[s \in R(T_v)])$, and $P[s = R(v)] \le \frac{1}{A_p} P[s \in R(T_v)]$."
        ),
        corrected=(
            r"$\frac{P[s \in R(T)]}{P[s \in R(T_v)]} < 1 + \frac{1}{A_p}$ for every $v$ and $s$, "
            r"checked over the same range for $N \ge 2$."
        ),
    )
    crowds = (case for case in _collections() if len(case[0]) > 1)
    return Verdict(statement, check(_collections(), fails), check(crowds, corrected_fails))


def anonymity_and_the_ratio_003() -> Verdict:
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

    statement = Statement(
        key="003-3-anonymity",
        source="003 §3, 004 §2",
        says=(
            r"Anonymity is $A_p = \min_{v,s} \frac{P[s \in R(T_v)]}{P[s = R(v)]}$. The drafts do "
            r"not say what it promises. Put to the test: $A_p \ge 1$, that every report is at "
            rf"least as likely to come from somebody else, keeps $R \le {tex(LAMBDA)}$."
        ),
        covered=(
            rf"{RANGE} with $A_p \ge 1$; every neighbour of $T$ and every multiset of reports."
        ),
        comment=(
            r"It does not bound $R$. Where all $N \ge 2$ users hold the same bit, $A_p \ge 1$ for "
            r"every $q$, while $R$ reaches $\frac{p}{q}$, beyond any $\lambda$ as $q$ falls. Nor "
            r"can $A_p$ be large: with $s = v$ it is at most $p^{-L}$."
        ),
        corrected=(
            r"For $q < \frac{1}{N}$, $A_p \ge 1$ if and only if every record of $T$ occurs at "
            r"least twice. A record $v$ that occurs once has at $s = v$ at most $(N-1)qp^{L-1} < "
            r"p^L$ from the others; one that occurs twice has its double. Checked over the same "
            r"collections, whatever $A_p$, for these $q$. That is what is called 2-anonymity of a "
            "table, and says nothing of noise."
        ),
    )
    anonymous = (case for case in _collections() if _anonymity(case[0], case[2]) >= 1)
    quiet = (case for case in _collections() if case[2] * len(case[0]) < 1)
    return Verdict(statement, check(anonymous, fails), check(quiet, corrected_fails))
