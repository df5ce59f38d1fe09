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
from krand_lab.statements.verdict import Tested, check, result, statement

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


@statement("002-2.1-count")
def only_the_count_matters() -> Tested:
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

    return result(check(cases(), fails), denominator=NOISES_BY_OUTCOMES[-1].denominator)


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


def _is_maximal(x_1: int) -> Tested:
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
    return result(check(backgrounds, fails))


@statement("002-maximal-ones")
def all_ones_is_maximal() -> Tested:
    """002 §3.1: for x_1 = 1 the background of ones is the maximal one."""
    return _is_maximal(1)


@statement("002-maximal-zeros")
def all_zeros_is_maximal() -> Tested:
    """002 §3.1, the open TODO: for x_1 = 0 it is the background of zeros."""
    return _is_maximal(0)


# --- the claim --------------------------------------------------------------------------------


@statement("002-claim-3.2")
def claim_3_2() -> Tested:
    """002 (3.2): P(s)/P(s-1) is largest for the collection of ones."""

    def fails(place: Place) -> str | None:
        bits, q, ones, s = place
        now, before = step_ratio(count_weights(ones, bits - ones, q), s)
        top, bottom = step_ratio(count_weights(bits, 0, q), s)
        if (top * before > now * bottom) if ones < bits else (top * before == now * bottom):
            return None
        return rf"{place}: ${tex(Fraction(now, before))} \ge {tex(Fraction(top, bottom))}$"

    return result(check(places(1, 1), fails))


# --- its proof: the induction step (3.5) and the last step (3.6) ----------------------------------


@statement("002-3.5")
def step_3_5() -> Tested:
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

    return result(check(cases(), fails))


def _weights_3_6(place: Place) -> tuple[int, int, int]:
    """P(s), P(s-1), P(s-2) for n - 1 ones: λ_2, λ_1 = μ_2 and μ_1 in the proof of (3.6)."""
    all_ones = count_weights(place.bits - 1, 0, place.q)
    return at(all_ones, place.s), at(all_ones, place.s - 1), at(all_ones, place.s - 2)


def _places_of_ones(first_s: int) -> Iterator[Place]:
    """The places of (3.6), which speaks of n - 1 ones only."""
    return (p for p in places(2, first_s) if p.ones == p.bits - 1)


@statement("002-3.6")
def step_3_6() -> Tested:
    """002 (3.6): the last record should be a one as well."""

    def fails(place: Place) -> str | None:
        bits, q, _, s = place
        top, bottom = step_ratio(count_weights(bits, 0, q), s)
        now, before = step_ratio(count_weights(bits - 1, 1, q), s)
        if top * before > now * bottom:
            return None
        return rf"{place}: ${tex(Fraction(top, bottom))} \le {tex(Fraction(now, before))}$"

    return result(check(_places_of_ones(1), fails), denominator=NOISES[-1].denominator)


@statement("002-3.6-by-lemma-4.2")
def step_3_6_by_lemma_4_2() -> Tested:
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

    return result(
        check(_places_of_ones(2), fails),
        check(_places_of_ones(1), fails_corrected),
        denominator=NOISES[-1].denominator,
    )
