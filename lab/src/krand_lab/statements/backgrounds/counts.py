"""Draft 003 on counts of single bits: Theorem 4.1 and its algebra.

The lemma it rests on is in `log_concavity`, what does not follow from it in `tails`, k copies in
`counts_copies`, and the ordering of section 9 in `ordering`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import NamedTuple

from krand_lab.statements.backgrounds.counts_copies import copies_5_5, copies_5_5_products
from krand_lab.statements.backgrounds.log_concavity import (
    equation_4_17,
    equation_4_22,
    inequality_4_29,
    lemma_1,
)
from krand_lab.statements.backgrounds.ordering import (
    conjecture_9_3,
    equation_9_5,
    inequality_9_8,
    limiting_binomials_9_4,
)
from krand_lab.statements.backgrounds.tails import delta_of_all_equal, tail_of_all_equal
from krand_lab.statements.bit_counts import (
    at,
    count_weights,
    count_weights_by_outcomes,
    noises,
    power,
)
from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = [
    "STATEMENTS",
    "algebra_after_4_15",
    "inequality_4_5",
    "law_4_7_to_4_9",
    "theorem_4_1",
]

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


def theorem_4_1() -> Verdict:
    """003 Theorem 4.1: for every outcome R_i is largest when all bits of D are set."""

    def fails(place: Place) -> str | None:
        ratio = Fraction(_weight(place, place.m - 1), _weight(place, place.m))
        top = Fraction(_weight(place, place.users - 1), _weight(place, place.users))
        return None if ratio <= top else f"{place}: $R_i = {tex(ratio)} > {tex(top)}$"

    statement = Statement(
        key="003-theorem-4.1",
        source="003 Theorem 4.1",
        says=(
            r"A set bit of $D$ is modified to 0. For every $i$ the ratio $R_i = "
            r"P(s = i | D_m) / P(s = i | D)$ is largest when $D$ contains $N$ set bits."
        ),
        covered=(
            rf"All $N \le {MAX_USERS}$, all $1 \le m \le N$ set bits, all $0 \le i \le N$, "
            + _NOISES.format(NOISES[-1].denominator)
            + "."
        ),
        comment=(
            r"Let $a_i^m$ be the law of $s$ for $m$ set bits, and $b_j$ the law of the count of "
            r"$N - 2$ bits of which $m - 1$ are set. Then $(a_i^m)^2 - a_i^{m-1} a_i^{m+1} = "
            r"(p^2 - q^2)^2 (b_{i-1}^2 - b_i b_{i-2}) \ge 0$ by Lemma 1, so that $R_i = "
            r"a_i^{m-1} / a_i^m$ grows with $m$. The theorem speaks of each outcome by itself. It "
            r"does not make the tail $P[R > \lambda]$ or $\delta$ largest for this $D$, because "
            r"the law of $i$ changes with $D$ as well: see the two statements on tails."
        ),
    )
    return Verdict(statement, check(_places(MAX_USERS), fails))


def inequality_4_5() -> Verdict:
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

    statement = Statement(
        key="003-4.5",
        source="003 (4.5), (4.6)",
        says=r"For any $i$: $\frac{a_i^m}{a_i^{m+1}} > \frac{a_i^{m-1}}{a_i^m}$.",
        covered=_inner(MAX_USERS),
        comment=(
            r"At $i = 0$ each user contributes a factor $p$ or $q$ and the ratio is $p/q$ for "
            r"every $m$; at $i = N$ it is $q/p$. In between $b_{i-1}^2 > b_i b_{i-2}$ by Newton's "
            r"inequality. So the largest ratio of all, $p/q$, is reached for every $D$."
        ),
        corrected=(
            r"The inequality is strict for $0 < i < N$ and an equality for $i = 0$ and $i = N$ "
            "(checked on the same range)."
        ),
    )
    cases = list(_inner_places(MAX_USERS))
    return Verdict(statement, check(cases, fails), check(cases, fails_corrected))


# --- its generating functions and its algebra ---------------------------------------------------


def law_4_7_to_4_9() -> Verdict:
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

    statement = Statement(
        key="003-4.7",
        source="003 (4.7)–(4.9)",
        says=(
            r"$G_{m+1}(x) = (p + qx)^{m+1} (p + qx)^{N-m-1}$, $G_m(x) = (p + qx)^m "
            r"(p + qx)^{N-m}$ and $G_{m-1}(x) = (p + qx)^{m-1} (p + qx)^{N-m+1}$ are the "
            r"generating functions of $s$."
        ),
        covered=(
            rf"All $2 \le N \le {MAX_USERS_LAW}$, all $1 \le m \le N - 1$, "
            + _NOISES.format(NOISES_LAW[-1].denominator)
            + "."
        ),
        comment=(
            "A slip of the pen, also in the definition of $Q$ that follows: as printed the three "
            "functions are one and the same. From (4.10) on the draft uses the right ones."
        ),
        corrected=(
            r"$G_m(x) = (q + px)^m (p + qx)^{N-m}$ and $Q(x) = (q + px)^{m-1} (p + qx)^{N-m-1}$ "
            r"(checked on the same range against the sum over all $2^N$ outcomes of the flips)."
        ),
    )
    return Verdict(statement, check(cases(), fails), check(cases(), fails_corrected))


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


def algebra_after_4_15() -> Verdict:
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
    statement = Statement(
        key="003-4.15-algebra",
        source="003 after (4.15)",
        says=r"$(a_i^m)^2 - a_i^{m-1} a_i^{m+1} = (p^2 - q^2)^2 (b_i^2 - b_{i+1} b_{i-1})$.",
        covered=_inner(MAX_USERS_ALGEBRA),
        comment=(
            r"The indices are too large by one. No harm is done, since Lemma 1 holds for every "
            r"index. The corrected identity has degree at most 2 in each $b$ and at most 4 in "
            rf"$q$; it holds at {len(COEFFICIENTS)} values of each $b$ and {len(NOISES_ALGEBRA)} "
            r"values of $q$ in all combinations, and this proves it."
        ),
        corrected=(
            r"$(a_i^m)^2 - a_i^{m-1} a_i^{m+1} = (p^2 - q^2)^2 (b_{i-1}^2 - b_i b_{i-2})$ "
            rf"(checked with (4.13)–(4.15) for whole numbers from {COEFFICIENTS[0]} to "
            rf"{COEFFICIENTS[-1]} in place of the $b$, "
            + _NOISES.format(NOISES_ALGEBRA[-1].denominator)
            + ")."
        ),
    )
    return Verdict(
        statement,
        check(_inner_places(MAX_USERS_ALGEBRA), fails),
        check(product(NOISES_ALGEBRA, any_coefficients), fails_corrected),
    )


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    theorem_4_1,
    tail_of_all_equal,
    delta_of_all_equal,
    inequality_4_5,
    law_4_7_to_4_9,
    algebra_after_4_15,
    lemma_1,
    equation_4_17,
    equation_4_22,
    inequality_4_29,
    copies_5_5,
    copies_5_5_products,
    conjecture_9_3,
    limiting_binomials_9_4,
    equation_9_5,
    inequality_9_8,
)
"""All statements of draft 003 on counts in its order, those of the other modules included."""
