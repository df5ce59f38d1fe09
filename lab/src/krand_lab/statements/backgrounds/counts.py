"""Draft 003 on counts of single bits: Theorem 4.1 and its algebra.

The lemma it rests on is in `log_concavity`, what does not follow from it in `tails`, k copies in
`counts_copies`, and the ordering of section 9 in `ordering`.
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
    power,
)
from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Tested, check, result, statement

MAX_USERS = 24
NOISES = noises(9)
MAX_USERS_LAW = 7
NOISES_LAW = noises(6)
MAX_USERS_ALGEBRA = 12
COEFFICIENTS = range(4)
NOISES_ALGEBRA = noises(6)

_NOISES = r"all $q = a/b < 1/2$ with $b \le {}$"


class Place(NamedTuple):
    """An outcome of i ones, and a collection of N single bits of which m are set."""

    users: int
    q: Fraction
    m: int
    i: int

    def __str__(self) -> str:
        """The place in words."""
        return f"$N = {self.users}$, $q = {tex(self.q)}$, $m = {self.m}$, $i = {self.i}$"


def _places(max_users: int) -> Iterator[Place]:
    """All outcomes for 1 ≤ m ≤ N."""
    for users, q in product(range(1, max_users + 1), NOISES):
        for m, i in product(range(1, users + 1), range(users + 1)):
            yield Place(users, q, m, i)


def _inner_places(max_users: int) -> Iterator[Place]:
    """Those with a neighbour on either side, 1 ≤ m ≤ N - 1."""
    return (place for place in _places(max_users) if place.m < place.users)


def _inner(max_users: int) -> str:
    """The inner places in words."""
    return (
        rf"All $N \le {max_users}$, all $1 \le m \le N - 1$, all $0 \le i \le N$, "
        + _NOISES.format(NOISES[-1].denominator)
        + "."
    )


def _weight(place: Place, m: int) -> int:
    """The draft's a_i^m, times b^N."""
    return count_weights(m, place.users - m, place.q)[place.i]


def _excess(place: Place) -> int:
    """(a_i^m)² - a_i^(m-1) a_i^(m+1), times b^(2N)."""
    return _weight(place, place.m) ** 2 - _weight(place, place.m - 1) * _weight(place, place.m + 1)


# --- Theorem 4.1 ------------------------------------------------------------------------------


@statement("003-theorem-4.1")
def theorem_4_1() -> Tested:
    """003 Theorem 4.1: for every outcome R_i is largest when all bits of D are set."""

    def fails(place: Place) -> str | None:
        ratio = Fraction(_weight(place, place.m - 1), _weight(place, place.m))
        top = Fraction(_weight(place, place.users - 1), _weight(place, place.users))
        return None if ratio <= top else f"{place}: $R_i = {tex(ratio)} > {tex(top)}$"

    return result(check(_places(MAX_USERS), fails), noises=_NOISES.format(NOISES[-1].denominator))


@statement("003-4.5")
def inequality_4_5() -> Tested:
    """003 (4.5): the ratio grows strictly with the number of set bits."""

    def fails(place: Place) -> str | None:
        if _excess(place) > 0:
            return None
        left, right = (
            Fraction(_weight(place, m), _weight(place, m + 1)) for m in (place.m, place.m - 1)
        )
        return rf"{place}: ${tex(left)} \le {tex(right)}$"

    def fails_corrected(place: Place) -> str | None:
        inside = 0 < place.i < place.users
        return None if (_excess(place) > 0 if inside else _excess(place) == 0) else str(place)

    cases = list(_inner_places(MAX_USERS))
    return result(check(cases, fails), check(cases, fails_corrected), inner=_inner(MAX_USERS))


# --- its generating functions and its algebra ---------------------------------------------------


@statement("003-4.7")
def law_4_7_to_4_9() -> Tested:
    """003 (4.7)–(4.9): the generating functions as printed, with the same factor twice."""

    def cases() -> Iterator[tuple[int, Fraction, int]]:
        for users, q in product(range(2, MAX_USERS_LAW + 1), NOISES_LAW):
            yield from ((users, q, m) for m in range(1, users))

    def fails(case: tuple[int, Fraction, int]) -> str | None:
        users, q, m = case
        printed = power(q.denominator - q.numerator, q.numerator, users)  # (p + qx)^N, all three
        for number, ones in (("4.8", m), ("4.7", m + 1), ("4.9", m - 1)):
            right = count_weights(ones, users - ones, q)
            if printed != right:
                scale = q.denominator**users
                return (
                    f"$N = {users}$, $q = {tex(q)}$, $m = {m}$: ({number}) as printed has the "
                    f"coefficients ${tex_list(Fraction(w, scale) for w in printed)}$, the law is "
                    f"${tex_list(Fraction(w, scale) for w in right)}$"
                )
        return None

    def fails_corrected(case: tuple[int, Fraction, int]) -> str | None:
        users, q, m = case
        for ones in (m - 1, m, m + 1):
            bits = (1,) * ones + (0,) * (users - ones)
            if count_weights(ones, users - ones, q) != count_weights_by_outcomes(bits, q):
                return f"$N = {users}$, $q = {tex(q)}$, {ones} set bits"
        return None

    return result(
        check(cases(), fails),
        check(cases(), fails_corrected),
        noises=_NOISES.format(NOISES_LAW[-1].denominator),
    )


class Coefficients(NamedTuple):
    """Four neighbouring coefficients of Q; the algebra asks for no more."""

    b_i_minus_2: int
    b_i_minus_1: int
    b_i: int
    b_i_plus_1: int

    def printed(self) -> int:
        """The second factor as the draft has it."""
        return self.b_i**2 - self.b_i_plus_1 * self.b_i_minus_1

    def right(self) -> int:
        """The second factor as it should be."""
        return self.b_i_minus_1**2 - self.b_i * self.b_i_minus_2

    def left_side(self, q: Fraction) -> Fraction:
        """(a_i^m)² - a_i^(m-1) a_i^(m+1) by (4.13)–(4.15)."""
        p = 1 - q
        b2, b1, b0, _ = self
        more = b0 * q**2 + 2 * q * p * b1 + b2 * p**2
        same = b0 * q * p + (q**2 + p**2) * b1 + b2 * q * p
        fewer = b0 * p**2 + 2 * q * p * b1 + b2 * q**2
        return same**2 - fewer * more


@statement("003-4.15-algebra")
def algebra_after_4_15() -> Tested:
    """003 after (4.15): what the trivial algebraic transformations give."""

    def fails(place: Place) -> str | None:
        users, q, m, i = place
        law_of_rest = count_weights(m - 1, users - m - 1, q)  # Q, two users left out
        b = Coefficients(*(at(law_of_rest, i + offset) for offset in (-2, -1, 0, 1)))
        scale = q.denominator ** (2 * users)
        left = Fraction(_excess(place), scale)
        right = (1 - 2 * q) ** 2 * Fraction(b.printed() * q.denominator**4, scale)
        return None if left == right else f"{place}: left ${tex(left)}$, right ${tex(right)}$"

    def fails_corrected(case: tuple[Fraction, Coefficients]) -> str | None:
        q, b = case
        if b.left_side(q) == ((1 - q) ** 2 - q**2) ** 2 * b.right():
            return None
        return f"$q = {tex(q)}$, $b = {tex_list(b)}$"

    any_coefficients = [Coefficients(*b) for b in product(COEFFICIENTS, repeat=4)]
    return result(
        check(_inner_places(MAX_USERS_ALGEBRA), fails),
        check(product(NOISES_ALGEBRA, any_coefficients), fails_corrected),
        inner=_inner(MAX_USERS_ALGEBRA),
        coefficients=len(COEFFICIENTS),
        noises_algebra=len(NOISES_ALGEBRA),
        first_coefficients=COEFFICIENTS[0],
        last_coefficients=COEFFICIENTS[-1],
        noises=_NOISES.format(NOISES_ALGEBRA[-1].denominator),
    )
