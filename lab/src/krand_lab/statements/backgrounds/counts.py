"""Draft 003 on counts of single bits: Theorem 4.1 and its algebra, and k copies (§4.2 and §5.2).

The lemma it rests on is in `log_concavity`, what does not follow from it in `tails`, and the
ordering of section 9 in `ordering`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product
from math import prod

from krand_lab import formulas as drafts
from krand_lab.enumeration import power, times
from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.ranges import count_weights, count_weights_by_outcomes, noises
from krand_lab.statements.verdict import corrected, lettered, printed

MAX_USERS, DENOMINATOR = 24, 9
MAX_USERS_LAW, DENOMINATOR_LAW = 7, 6
MAX_USERS_ALGEBRA, LARGEST_COEFFICIENT = 12, 3
COEFFICIENTS, NOISES_ALGEBRA = LARGEST_COEFFICIENT + 1, len(noises(DENOMINATOR_LAW))

Place = tuple[int, Fraction, int, int]
"""N, q, m set bits, and an outcome of i ones."""


def _places(max_users: int) -> Iterator[Place]:
    """All outcomes for 1 ≤ m ≤ N."""
    for users, q in product(range(1, max_users + 1), noises(DENOMINATOR)):
        yield from ((users, q, m, i) for m in range(1, users + 1) for i in range(users + 1))


def _laws() -> Iterator[tuple[int, Fraction, int]]:
    for users, q in product(range(2, MAX_USERS_LAW + 1), noises(DENOMINATOR_LAW)):
        yield from ((users, q, m) for m in range(1, users))


PLACES = lettered("N q m i", lambda: _places(MAX_USERS), equals=" = ")
INNER = PLACES.only(lambda users, q, m, i: m < users)
INNER_ALGEBRA = lettered(
    "N q m i", lambda: (p for p in _places(MAX_USERS_ALGEBRA) if p[2] < p[0]), equals=" = "
)
LAWS = lettered("N q m", _laws, equals=" = ")


def _weight(users: int, q: Fraction, m: int, i: int) -> int:
    """The draft's a_i^m, times b^N."""
    return count_weights(m, users - m, q)[i]


def _excess(users: int, q: Fraction, m: int, i: int) -> int:
    """(a_i^m)² - a_i^(m-1) a_i^(m+1), times b^(2N)."""
    before, here, after = (_weight(users, q, m + step, i) for step in (-1, 0, 1))
    return here**2 - before * after


@printed("003-theorem-4.1", PLACES)
def theorem_4_1(users: int, q: Fraction, m: int, i: int) -> bool:
    """003 Theorem 4.1: for every outcome R_i is largest when all bits of D are set."""
    ratio = Fraction(_weight(users, q, m - 1, i), _weight(users, q, m, i))
    return ratio <= Fraction(_weight(users, q, users - 1, i), _weight(users, q, users, i))


@printed("003-4.5", INNER)
def inequality_4_5(users: int, q: Fraction, m: int, i: int) -> bool | str:
    """003 (4.5): the ratio grows strictly with the number of set bits."""
    before, here, after = (_weight(users, q, m + step, i) for step in (-1, 0, 1))
    left, right = Fraction(here, after), Fraction(before, here)
    return left > right or rf": ${tex(left)} \le {tex(right)}$"


@corrected("003-4.5", INNER)
def inequality_4_5_corrected(users: int, q: Fraction, m: int, i: int) -> bool:
    excess = _excess(users, q, m, i)
    return excess > 0 if 0 < i < users else excess == 0


# --- its generating functions and its algebra ---------------------------------------------------


@printed("003-4.7", LAWS)
def law_4_7_to_4_9(users: int, q: Fraction, m: int) -> bool | str:
    """003 (4.7)–(4.9): the generating functions as printed, with the same factor twice."""
    as_printed = power(q.denominator - q.numerator, q.numerator, users)  # (p + qx)^N, all three
    for number, ones in (("4.8", m), ("4.7", m + 1), ("4.9", m - 1)):
        right = count_weights(ones, users - ones, q)
        if as_printed != list(right):
            scale = q.denominator**users
            return (
                f": ({number}) as printed has the coefficients "
                f"${tex_list(Fraction(w, scale) for w in as_printed)}$, the law is "
                f"${tex_list(Fraction(w, scale) for w in right)}$"
            )
    return True


@corrected("003-4.7", LAWS)
def law_4_7_to_4_9_corrected(users: int, q: Fraction, m: int) -> bool:
    return all(
        count_weights(ones, users - ones, q)
        == count_weights_by_outcomes((1,) * ones + (0,) * (users - ones), q)
        for ones in (m - 1, m, m + 1)
    )


@printed("003-4.15-algebra", INNER_ALGEBRA)
def algebra_after_4_15(users: int, q: Fraction, m: int, i: int) -> bool | str:
    """003 after (4.15): what the trivial algebraic transformations give."""
    rest = count_weights(m - 1, users - m - 1, q)  # Q, two users left out
    b = [Fraction(weight, q.denominator ** (users - 2)) for weight in rest]
    left = Fraction(_excess(users, q, m, i), q.denominator ** (2 * users))
    right = drafts.gap_003_4_15(b, i, q)
    return left == right or f": left ${tex(left)}$, right ${tex(right)}$"


def _any_coefficients() -> Iterator[tuple[Fraction, Sequence[Fraction]]]:
    """b_(i-2), …, b_(i+1): the algebra asks for no more."""
    numbers = [Fraction(b) for b in range(COEFFICIENTS)]
    return product(noises(DENOMINATOR_LAW), product(numbers, repeat=4))


@corrected("003-4.15-algebra", lettered("q b", _any_coefficients))
def algebra_after_4_15_corrected(q: Fraction, b: Sequence[Fraction]) -> bool:
    p, (b2, b1, b0, _) = 1 - q, b
    more = b0 * q**2 + 2 * q * p * b1 + b2 * p**2  # (4.13)–(4.15)
    same = b0 * q * p + (q**2 + p**2) * b1 + b2 * q * p
    fewer = b0 * p**2 + 2 * q * p * b1 + b2 * q**2
    return same**2 - fewer * more == drafts.gap_003_4_15_corrected(b, 2, q)


# --- k copies: 003 §5.2 -------------------------------------------------------------------------

COPIES_USERS, MAX_COPIES, COPIES_DENOMINATOR = 6, 4, 8


def _copies() -> Iterator[tuple[int, int, Fraction, int, int]]:
    """All outcomes j of k copies for 1 ≤ m ≤ N - 1."""
    sizes = product(range(2, COPIES_USERS + 1), range(2, MAX_COPIES + 1))
    for (users, copies), q in product(sizes, noises(COPIES_DENOMINATOR)):
        for m, j in product(range(1, users), range(copies * users + 1)):
            yield users, copies, q, m, j


COPIES = lettered("N k q m j", _copies, equals=" = ")


def _ratio(users: int, copies: int, q: Fraction, m: int, j: int) -> Fraction:
    """b_j^m / b_j^(m+1)."""
    top, bottom = (count_weights(copies * n, copies * (users - n), q)[j] for n in (m, m + 1))
    return Fraction(top, bottom)


def _products(users: int, copies: int, q: Fraction, m: int, j: int) -> list[Fraction]:
    """Every product of k of the a_i^m over the same of the a_i^(m+1), with indices of sum j."""
    top, bottom = (count_weights(n, users - n, q) for n in (m, m + 1))
    return [
        prod((Fraction(top[i], bottom[i]) for i in indices), start=Fraction(1))
        for indices in combinations_with_replacement(range(users + 1), copies)
        if sum(indices) == j
    ]


@printed("003-5.5", COPIES)
def copies_5_5(users: int, copies: int, q: Fraction, m: int, j: int) -> bool | str:
    """003 (5.5): with k copies the ratio still grows with the number of set bits."""
    left, right = (_ratio(users, copies, q, n, j) for n in (m, m - 1))
    return left > right or rf": ${tex(left)} \le {tex(right)}$"


@corrected("003-5.5", COPIES)
def copies_5_5_corrected(users: int, copies: int, q: Fraction, m: int, j: int) -> bool:
    left, right = (_ratio(users, copies, q, n, j) for n in (m, m - 1))
    return left > right if 0 < j < copies * users else left == right


@printed("003-5.5-products", COPIES)
def copies_5_5_products(users: int, copies: int, q: Fraction, m: int, j: int) -> bool | str:
    """003 before (5.5): the coefficients for k copies as products of those for one."""
    ratio, products = _ratio(users, copies, q, m, j), _products(users, copies, q, m, j)
    return ratio in products or (
        f": $b_j^m / b_j^{{m+1}} = {tex(ratio)}$, but the quotients of products with "
        f"indices of sum $j$ are ${', '.join(map(tex, products))}$"
    )


@corrected("003-5.5-products", COPIES)
def copies_5_5_powers(users: int, copies: int, q: Fraction, m: int, j: int) -> bool:
    power_of_one = reduce(times, [list(count_weights(m, users - m, q))] * copies)
    is_power = tuple(power_of_one) == count_weights(copies * m, copies * (users - m), q)
    ratio, products = _ratio(users, copies, q, m, j), _products(users, copies, q, m, j)
    return is_power and min(products) <= ratio <= max(products)
