"""Draft 003, section 5.2: with k copies of single bits the ratio still grows with the set bits."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import reduce
from itertools import combinations_with_replacement, product
from math import prod
from typing import NamedTuple

from krand_lab.statements.bit_counts import count_weights, noises, times
from krand_lab.statements.notation import tex
from krand_lab.statements.verdict import Tested, check, result, statement

MAX_USERS = 6
MAX_COPIES = 4
NOISES = noises(8)

_COVERED = (
    rf"All $2 \le N \le {MAX_USERS}$, all $2 \le k \le {MAX_COPIES}$, all $1 \le m \le N - 1$, all "
    rf"$0 \le j \le kN$, all $q = a/b < 1/2$ with $b \le {NOISES[-1].denominator}$"
)


class Copies(NamedTuple):
    """An outcome of j ones among kN reports of N users, m of whom have the bit set."""

    users: int
    copies: int
    q: Fraction
    m: int
    j: int

    def __str__(self) -> str:
        """The place in words."""
        return (
            f"$N = {self.users}$, $k = {self.copies}$, $q = {tex(self.q)}$, $m = {self.m}$, "
            f"$j = {self.j}$"
        )

    def ratio(self, m: int) -> Fraction:
        """b_j^m / b_j^(m+1)."""
        k, users = self.copies, self.users
        top = count_weights(k * m, k * (users - m), self.q)
        bottom = count_weights(k * (m + 1), k * (users - m - 1), self.q)
        return Fraction(top[self.j], bottom[self.j])

    def products(self, m: int) -> Iterator[Fraction]:
        """Every product of k of the a_i^m over the same of the a_i^(m+1), with indices of sum j."""
        top = count_weights(m, self.users - m, self.q)
        bottom = count_weights(m + 1, self.users - m - 1, self.q)
        for indices in combinations_with_replacement(range(self.users + 1), self.copies):
            if sum(indices) == self.j:
                yield prod((Fraction(top[i], bottom[i]) for i in indices), start=Fraction(1))


def _copies() -> Iterator[Copies]:
    """All outcomes of k copies for 1 ≤ m ≤ N - 1."""
    for users, copies, q in product(range(2, MAX_USERS + 1), range(2, MAX_COPIES + 1), NOISES):
        for m, j in product(range(1, users), range(copies * users + 1)):
            yield Copies(users, copies, q, m, j)


@statement("003-5.5")
def copies_5_5() -> Tested:
    """003 (5.5): with k copies the ratio still grows with the number of set bits."""

    def fails(case: Copies) -> str | None:
        left, right = case.ratio(case.m), case.ratio(case.m - 1)
        return None if left > right else rf"{case}: ${tex(left)} \le {tex(right)}$"

    def fails_corrected(case: Copies) -> str | None:
        left, right = case.ratio(case.m), case.ratio(case.m - 1)
        inside = 0 < case.j < case.copies * case.users
        return None if (left > right if inside else left == right) else str(case)

    cases = list(_copies())
    return result(check(cases, fails), check(cases, fails_corrected))


@statement("003-5.5-products")
def copies_5_5_products() -> Tested:
    """003 before (5.5): the coefficients for k copies as products of those for one."""

    def fails(case: Copies) -> str | None:
        ratio, products = case.ratio(case.m), list(case.products(case.m))
        if ratio in products:
            return None
        return (
            f"{case}: $b_j^m / b_j^{{m+1}} = {tex(ratio)}$, but the quotients of products with "
            f"indices of sum $j$ are ${', '.join(map(tex, products))}$"
        )

    def fails_corrected(case: Copies) -> str | None:
        one_copy = count_weights(case.m, case.users - case.m, case.q)
        power = reduce(times, [one_copy] * case.copies)
        is_power = power == count_weights(
            case.copies * case.m, case.copies * (case.users - case.m), case.q
        )
        ratio, products = case.ratio(case.m), list(case.products(case.m))
        return None if is_power and min(products) <= ratio <= max(products) else str(case)

    cases = list(_copies())
    return result(check(cases, fails), check(cases, fails_corrected))
