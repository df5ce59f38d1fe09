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
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["copies_5_5", "copies_5_5_products"]

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


def copies_5_5() -> Verdict:
    """003 (5.5): with k copies the ratio still grows with the number of set bits."""

    def fails(case: Copies) -> str | None:
        left, right = case.ratio(case.m), case.ratio(case.m - 1)
        return None if left > right else rf"{case}: ${tex(left)} \le {tex(right)}$"

    def fails_corrected(case: Copies) -> str | None:
        left, right = case.ratio(case.m), case.ratio(case.m - 1)
        inside = 0 < case.j < case.copies * case.users
        return None if (left > right if inside else left == right) else str(case)

    statement = Statement(
        key="003-5.5",
        source="003 (5.5)",
        says=(
            r"With $k$ copies the ratio grows with the number of set bits: "
            r"$\frac{b_j^m}{b_j^{m+1}} > \frac{b_j^{m-1}}{b_j^m}$ for every $j$."
        ),
        covered=_COVERED + ".",
        comment=(
            r"The draft's proof fails, see the next statement. A right one: let $c_j(n)$ be the "
            r"coefficient of $x^j$ in $(q + px)^n (p + qx)^{kN-n}$. By Theorem 4.1 for $kN$ single "
            r"bits $r(n) = c_j(n) / c_j(n+1)$ grows with $n$, strictly for $0 < j < kN$. Since "
            r"$b_j^m = c_j(km)$, the ratio $b_j^m / b_j^{m+1}$ is the product $r(km) \cdot "
            r"r(km+1) \cdot \ldots \cdot r(km+k-1)$, and $b_j^{m-1} / b_j^m$ is the same product "
            r"with each argument smaller by $k$."
        ),
        corrected=(
            r"The inequality is strict for $0 < j < kN$ and an equality for $j = 0$, where both "
            r"sides are $(p/q)^k$, and for $j = kN$, where both are $(q/p)^k$ (checked on the "
            "same range)."
        ),
    )
    cases = list(_copies())
    return Verdict(statement, check(cases, fails), check(cases, fails_corrected))


def copies_5_5_products() -> Verdict:
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

    statement = Statement(
        key="003-5.5-products",
        source="003 before (5.5)",
        says=(
            r"Each coefficient $b_j^m$ is a product of $a_i^m$ with the same indices $i$ for all "
            r"$m$, so that $\frac{b_j^m}{b_j^{m+1}} = \frac{\prod a_i^m}{\prod a_i^{m+1}}$."
        ),
        covered=_COVERED + "; all choices of $k$ indices with sum $j$.",
        comment=(
            r"The coefficients of a $k$-th power are sums of such products. The quotient of two "
            "sums is an average of the quotients of their terms, but the weights of this average "
            r"change with $m$, so that the growth of each term does not carry over by itself. The "
            "conclusion (5.5) is nevertheless right up to strictness at the ends."
        ),
        corrected=(
            r"$b_j^m = \sum \prod a_i^m$ over all $k$ indices with sum $j$; hence "
            r"$b_j^m / b_j^{m+1}$ lies between the least and the largest of the quotients of "
            "products (both checked on the same range)."
        ),
    )
    cases = list(_copies())
    return Verdict(statement, check(cases, fails), check(cases, fails_corrected))
