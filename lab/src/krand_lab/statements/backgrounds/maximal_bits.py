"""Draft 002, section 3.1: which background of single bits makes the privacy ratio largest.

A(y) is the number of ones after randomization. Sizes, noises, numbers of ones and counts s are
enumerated; that nothing but the number of ones in y matters is a statement of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from krand_lab.statements.bit_counts import (
    at,
    count_weights,
    count_weights_by_outcomes,
    noises,
)
from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "MAX_BITS",
    "NOISES",
    "RANGE",
    "Place",
    "all_ones_is_maximal",
    "all_zeros_is_maximal",
    "claim_3_2",
    "only_the_count_matters",
    "places",
    "privacy_ratio",
    "step_ratio",
]

MAX_BITS = 24
NOISES = noises(9)
MAX_BITS_BY_OUTCOMES = 7
NOISES_BY_OUTCOMES = noises(6)

RANGE = (
    rf"all $q = a/b < 1/2$ with $b \le {NOISES[-1].denominator}$, all numbers of ones in the "
    r"background"
)
"""Noises and backgrounds in words; sizes and counts differ from statement to statement."""


class Place(NamedTuple):
    """A number s of observed ones, and a collection of single bits by its number of ones."""

    bits: int
    q: Fraction
    ones: int
    s: int

    def __str__(self) -> str:
        """The place in words."""
        return f"$n = {self.bits}$, $q = {tex(self.q)}$, {self.ones} ones, $s = {self.s}$"


def places(first_bits: int, first_s: int) -> Iterator[Place]:
    """All numbers of ones and all s from the first one to n."""
    for bits, q in product(range(first_bits, MAX_BITS + 1), NOISES):
        for ones, s in product(range(bits + 1), range(first_s, bits + 1)):
            yield Place(bits, q, ones, s)


def step_ratio(weights: tuple[int, ...], s: int) -> tuple[int, int]:
    """P(s) and P(s-1), the two terms of the ratio in (3.2)."""
    return at(weights, s), at(weights, s - 1)


def only_the_count_matters() -> Verdict:
    """002 (2.1) for single bits: the law of A(y) depends on the number of ones in y alone."""

    def cases() -> Iterator[tuple[Fraction, tuple[int, ...]]]:
        for bits, q in product(range(1, MAX_BITS_BY_OUTCOMES + 1), NOISES_BY_OUTCOMES):
            for y in product((0, 1), repeat=bits):
                yield q, y

    def fails(case: tuple[Fraction, tuple[int, ...]]) -> str | None:
        q, y = case
        by_count = count_weights(sum(y), len(y) - sum(y), q)
        by_outcomes = count_weights_by_outcomes(y, q)
        if by_count == by_outcomes:
            return None
        return f"$q = {tex(q)}$, $y = {tex_list(y)}$: {by_outcomes} and not {by_count}"

    statement = Statement(
        key="002-2.1-count",
        source="002 (2.1), §3.1",
        says=(
            r"For $L = 1$ the law of $A(y)$ is that of the number of ones in $R(y)$; it depends on "
            r"$y$ only through its number of ones $m$ and has the generating function "
            r"$(q + px)^m (p + qx)^{n-m}$."
        ),
        covered=(
            rf"All $y$ of $n \le {MAX_BITS_BY_OUTCOMES}$ bits, all $q = a/b < 1/2$ with "
            rf"$b \le {NOISES_BY_OUTCOMES[-1].denominator}$, by the sum (2.1) over all $2^n$ "
            "outcomes."
        ),
        comment=(
            "The reports are independent, so their generating functions multiply, in any order. "
            "This is why the other statements on single bits run over the number of ones only."
        ),
    )
    return Verdict(statement, check(cases(), fails))


# --- the ratio itself -------------------------------------------------------------------------


def privacy_ratio(ones: int, others: int, x_1: int, s: int, q: Fraction) -> Fraction:
    """π(s, x, 1 - x_1) with so many ones among the other records (002 §3.1)."""
    background = count_weights(ones, others - ones, q)
    now, before = step_ratio(background, s)
    flip, keep = q.numerator, q.denominator - q.numerator
    report_one, report_zero = (keep, flip) if x_1 else (flip, keep)
    return Fraction(
        report_zero * before + report_one * now,  # R(1 - x_1) is 1 where R(x_1) is 0
        report_one * before + report_zero * now,
    )


def _is_maximal(x_1: int) -> Verdict:
    """Whether the background that agrees with x_1 makes π(s, x, 1 - x_1) largest for every s."""

    def fails(place: Place) -> str | None:
        others = place.bits - 1
        value = privacy_ratio(place.ones, others, x_1, place.s, place.q)
        largest = privacy_ratio(others * x_1, others, x_1, place.s, place.q)
        inside = 0 < place.s < place.bits and place.ones != others * x_1
        if value < largest or (value == largest and not inside):
            return None
        return rf"{place}, $x_1 = {x_1}$: ${tex(value)} \ge {tex(largest)}$"

    backgrounds = (place for place in places(1, 0) if place.ones < place.bits)
    return Verdict(_MAXIMAL[x_1], check(backgrounds, fails))


_MAXIMAL = {
    1: Statement(
        key="002-maximal-ones",
        source="002 §3.1",
        says=(
            r"If the record $x_1 = 1$ is modified to 0, then for each $s$ the privacy ratio "
            r"$\pi(s, \tilde{x}, 0)$ is largest when the other $n - 1$ records are all 1."
        ),
        covered=(
            rf"All $n \le {MAX_BITS}$, all $0 \le s \le n$, {RANGE}. Checked with the addition "
            r"that every other background is strictly smaller for $0 < s < n$."
        ),
        comment=(
            r"With $u = P[A(\tilde{x}) = s] / P[A(\tilde{x}) = s-1]$ the ratio is "
            r"$(q + pu)/(p + qu)$, which rises with $u$, so that the claim (3.2) for $n - 1$ "
            r"records decides for $0 < s < n$. At $s = 0$ and $s = n$ all backgrounds give the "
            r"same, $p/q$ and $q/p$. Hence the maximum over $s$ is $p/q$ for every background: "
            "differential privacy without an allowance for rare outcomes gains nothing from the "
            "crowd, and the comparison of backgrounds matters only outcome by outcome."
        ),
    ),
    0: Statement(
        key="002-maximal-zeros",
        source="002 §3.1, TODO",
        says=(
            r"The draft asks: what about when $x_1 = 0$? The answer that is tested: for each $s$ "
            r"the ratio $\pi(s, \tilde{x}, 1)$ is largest when the other $n - 1$ records are all 0."
        ),
        covered=(
            rf"All $n \le {MAX_BITS}$, all $0 \le s \le n$, {RANGE}. Checked with the addition "
            r"that every other background is strictly smaller for $0 < s < n$."
        ),
        comment=(
            r"Exchange the names of 0 and 1 everywhere: $s$ becomes $n - s$ and the case "
            r"$x_1 = 1$ becomes the case $x_1 = 0$. The worst background always agrees with the "
            "record before it is modified."
        ),
    ),
}


def all_ones_is_maximal() -> Verdict:
    """002 §3.1: for x_1 = 1 the background of ones is the maximal one."""
    return _is_maximal(1)


def all_zeros_is_maximal() -> Verdict:
    """002 §3.1, the open TODO: for x_1 = 0 it is the background of zeros."""
    return _is_maximal(0)


# --- the claim --------------------------------------------------------------------------------


def claim_3_2() -> Verdict:
    """002 (3.2): P(s)/P(s-1) is largest for the collection of ones."""

    def fails(place: Place) -> str | None:
        bits, q, ones, s = place
        now, before = step_ratio(count_weights(ones, bits - ones, q), s)
        top, bottom = step_ratio(count_weights(bits, 0, q), s)
        if (top * before > now * bottom) if ones < bits else (top * before == now * bottom):
            return None
        return rf"{place}: ${tex(Fraction(now, before))} \ge {tex(Fraction(top, bottom))}$"

    statement = Statement(
        key="002-claim-3.2",
        source="002 (3.2)",
        says=(
            r"For $s \in \{1, \ldots, n\}$ and every $y$: "
            r"$\frac{P[A(1, \ldots, 1) = s]}{P[A(1, \ldots, 1) = s-1]} \ge "
            r"\frac{P[A(y) = s]}{P[A(y) = s-1]}$."
        ),
        covered=(
            rf"All $n \le {MAX_BITS}$, all $1 \le s \le n$, {RANGE}. Checked with the addition "
            r"that the inequality is strict unless $y$ consists of ones."
        ),
        comment=(
            r"A shorter proof: take a record 0 out of $y$ and let $b_0, \ldots, b_{n-1}$ be the "
            r"law of the other $n - 1$ counts. Putting 1 instead of 0 in its place changes the "
            r"ratio $P(s)/P(s-1)$ from $\frac{p b_s + q b_{s-1}}{p b_{s-1} + q b_{s-2}}$ to "
            r"$\frac{q b_s + p b_{s-1}}{q b_{s-1} + p b_{s-2}}$, and the cross-multiplied "
            r"difference is $(p^2 - q^2)(b_{s-1}^2 - b_s b_{s-2})$. It is positive for "
            r"$1 \le s \le n$, because $\sum_i b_i x^i$ has only real negative roots and so "
            r"$b_{s-1}^2 > b_s b_{s-2}$ (Newton). Replace the zeros one by one. In other words "
            r"each 1 multiplies the generating function by $(q + px)/(p + qx)$, which keeps the "
            "likelihood ratio monotone."
        ),
    )
    return Verdict(statement, check(places(1, 1), fails))
