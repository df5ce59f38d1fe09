"""The proof of the claim (3.2) in draft 002: the induction step (3.5) and the last step (3.6)."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab.statements.backgrounds.maximal_bits import (
    MAX_BITS,
    NOISES,
    RANGE,
    Place,
    places,
    step_ratio,
)
from krand_lab.statements.bit_counts import at, count_weights
from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["step_3_5", "step_3_6", "step_3_6_by_lemma_4_2"]


def step_3_5() -> Verdict:
    """002 (3.5): the induction step, with the conditions (4.5) under which Lemma 4.3 gives it."""

    def cases() -> Iterator[tuple[Place, int]]:
        for place in places(2, 1):
            if place.ones < place.bits:
                yield from ((place, y_n) for y_n in (0, 1))

    def fails(case: tuple[Place, int]) -> str | None:
        (bits, q, ones, s), y_n = case
        mixed, all_ones = count_weights(ones, bits - 1 - ones, q), count_weights(bits - 1, 0, q)
        b1, a1, c1 = (at(mixed, s - i) for i in range(3))
        b, a, c = (at(all_ones, s - i) for i in range(3))
        if not (a > 0 < a1 and a * c1 >= a1 * c and a * b1 <= a1 * b and b * c1 >= b1 * c):
            return f"{case[0]}: (4.5) does not hold"
        with_ones = count_weights(bits - 1 + y_n, 1 - y_n, q)
        with_mixed = count_weights(ones + y_n, bits - ones - y_n, q)
        (top, bottom), (now, before) = step_ratio(with_ones, s), step_ratio(with_mixed, s)
        if top * before >= now * bottom:
            return None
        left, right = Fraction(now, before), Fraction(top, bottom)
        return rf"{case[0]}, $y_n = {y_n}$: ${tex(left)} > {tex(right)}$"

    statement = Statement(
        key="002-3.5",
        source="002 (3.5)",
        says=(
            r"For $1 \le s \le n$ the ratio $P(s)/P(s-1)$ of $(\tilde{y}, y_n)$ is at most that of "
            r"$(1, \ldots, 1, y_n)$, by Lemma 4.3; at $s = n$ with $b = b' = 0$, and similarly at "
            r"$s = 1$."
        ),
        covered=(
            rf"All $2 \le n \le {MAX_BITS}$, all $1 \le s \le n$, $y_n = 0$ and 1, {RANGE}; the "
            "inequality and the three conditions (4.5) of the lemma."
        ),
        comment=(
            r"The draft's step is right. Lemma 4.3 allows zeros for $b, b', c, c'$: at $s = n$ "
            r"it is used with $b = b' = 0$, at $s = 1$ with $c = c' = 0$, and the two conditions "
            r"that remain are the induction hypothesis. The numbers $a, a'$ are "
            r"$P[A = s - 1]$ for $n - 1$ records, which is positive for $1 \le s \le n$."
        ),
    )
    return Verdict(statement, check(cases(), fails))


def _weights_3_6(place: Place) -> tuple[int, int, int]:
    """P(s), P(s-1), P(s-2) for n - 1 ones: λ_2, λ_1 = μ_2 and μ_1 in the proof of (3.6)."""
    all_ones = count_weights(place.bits - 1, 0, place.q)
    return at(all_ones, place.s), at(all_ones, place.s - 1), at(all_ones, place.s - 2)


def _places_of_ones(first_s: int) -> Iterator[Place]:
    """The places of (3.6), which speaks of n - 1 ones only."""
    return (p for p in places(2, first_s) if p.ones == p.bits - 1)


def step_3_6() -> Verdict:
    """002 (3.6): the last record should be a one as well."""

    def fails(place: Place) -> str | None:
        bits, q, _, s = place
        top, bottom = step_ratio(count_weights(bits, 0, q), s)
        now, before = step_ratio(count_weights(bits - 1, 1, q), s)
        if top * before > now * bottom:
            return None
        return rf"{place}: ${tex(Fraction(top, bottom))} \le {tex(Fraction(now, before))}$"

    statement = Statement(
        key="002-3.6",
        source="002 (3.6)",
        says=(
            r"For $1 \le s \le n$ the ratio $P(s)/P(s-1)$ of $(1, \ldots, 1, 1)$ is at least that "
            r"of $(1, \ldots, 1, 0)$."
        ),
        covered=(
            rf"All $2 \le n \le {MAX_BITS}$, all $1 \le s \le n$, all $q = a/b < 1/2$ with "
            rf"$b \le {NOISES[-1].denominator}$. Checked as a strict inequality."
        ),
        comment=(
            r"Lemma 4.2 with $a = (p, q)$, $a' = (q, p)$, $\lambda = (P(s-1), P(s))$ and "
            r"$\mu = (P(s-2), P(s-1))$ for $n - 1$ ones has the direction that is claimed: "
            r"$p/q \ge q/p$ is (4.3), and $\lambda_1/\mu_1 \ge \lambda_2/\mu_2$ says that the "
            r"binomial law is log-concave. At $s = 1$ the two sides are $P(1)/P(0) + p/q$ and "
            r"$P(1)/P(0) + q/p$."
        ),
    )
    return Verdict(statement, check(_places_of_ones(1), fails))


def step_3_6_by_lemma_4_2() -> Verdict:
    """002 after (3.6): whether Lemma 4.2 may be used for every s but 1."""

    def fails(place: Place) -> str | None:
        now, before, two_before = _weights_3_6(place)
        if min(now, before, two_before) > 0 and before**2 >= now * two_before:
            return None
        scale = place.q.denominator ** (place.bits - 1)
        values = [Fraction(w, scale) for w in (before, now, two_before, before)]
        return (
            rf"$n = {place.bits}$, $q = {tex(place.q)}$, $s = {place.s}$: $\lambda = "
            rf"{tex_list(values[:2])}$ and $\mu = {tex_list(values[2:])}$ are not all positive"
        )

    def fails_corrected(place: Place) -> str | None:
        now, before, two_before = _weights_3_6(place)
        if before > 0 and before**2 >= now * two_before:
            return None
        return f"{place}: {before}, {now}, {two_before}"

    statement = Statement(
        key="002-3.6-by-lemma-4.2",
        source="002 after (3.6)",
        says=(
            r"(3.6) follows from Lemma 4.2 unless $s = 1$, in which case it follows from a simple "
            "direct argument."
        ),
        covered=(
            rf"All $2 \le n \le {MAX_BITS}$, all $2 \le s \le n$, all $q = a/b < 1/2$ with "
            rf"$b \le {NOISES[-1].denominator}$: whether the conditions of the lemma, all numbers "
            "positive and (4.2), are met."
        ),
        comment=(
            r"A gap at $s = n$ only, where $P[A(1, \ldots, 1) = n] = 0$ for $n - 1$ records and "
            r"$\lambda_2 = 0$, which the lemma excludes. The inequality (3.6) is right there too."
        ),
        corrected=(
            r"Lemma 4.2 holds for $\lambda_i, \mu_i \ge 0$ if the denominators are positive and "
            r"(4.2) is read as $\lambda_i \mu_j \ge \lambda_j \mu_i$, with the same proof. In this "
            r"form it gives (3.6) for all $1 \le s \le n$, also at $s = 1$ (conditions checked for "
            r"the same $n$ and $q$ and all $1 \le s \le n$)."
        ),
    )
    return Verdict(
        statement,
        check(_places_of_ones(2), fails),
        check(_places_of_ones(1), fails_corrected),
    )
