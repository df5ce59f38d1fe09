"""What does not follow from 003 Theorem 4.1: that the all-equal collection has the worst tail.

One bit, N users, m ones among the N - 1 others; the user in question holds 0 or 1. Both
directions count, so each number is the larger of the two. A statement about every λ ≥ 1 is
decided at finitely many λ:

    η   is a step function, continuous from the right, with its steps at the values of R and 1/R;
    δ   is straight between them in each direction, and the larger of the two directions may have
        one more corner where they cross. Between neighbouring corners all is straight.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import pairwise, product
from math import ceil
from typing import NamedTuple

from krand_lab.enumeration import Exact, exact_one_bit
from krand_lab.statements.notation import tex, where
from krand_lab.statements.ranges import count_weights, noises
from krand_lab.statements.verdict import Cases, Count, Tested, result, statement

MAX_USERS = 10
DENOMINATOR = 9


class Pair(NamedTuple):
    """Neighbours of one bit: so many ones among the N - 1 others, and y = 0, y' = 1."""

    users: int
    ones: int
    q: Fraction

    def exact(self, lam: Fraction) -> Exact:
        """The four numbers at λ."""
        return _exact(self, lam)

    def eta(self, lam: Fraction) -> Fraction:
        """The larger of P[R > λ | D_m] and P[1/R > λ | D]."""
        return max(self.exact(lam).eta_forward, self.exact(lam).eta_reverse)

    def delta(self, lam: Fraction) -> Fraction:
        """The larger of the two δ."""
        return max(self.exact(lam).delta_forward, self.exact(lam).delta_reverse)

    def smaller(self) -> Pair:
        """The all-equal pair that is left when the rarer kind among the others stays away."""
        return Pair(self.users - min(self.ones, self.users - 1 - self.ones), 0, self.q)


@cache
def _exact(pair: Pair, lam: Fraction) -> Exact:
    """The four numbers, computed once."""
    return exact_one_bit(pair.users, pair.ones, pair.q, lam)


@cache
def steps(pair: Pair) -> frozenset[Fraction]:
    """1, and the values of R and 1/R from there on."""
    d = count_weights(pair.ones, pair.users - pair.ones, pair.q)
    d_m = count_weights(pair.ones + 1, pair.users - pair.ones - 1, pair.q)
    ratios = [Fraction(x, y) for x, y in zip(d_m, d, strict=True)]
    return frozenset({Fraction(1), *(max(r, 1 / r) for r in ratios)})


def corners(pair: Pair) -> frozenset[Fraction]:
    """The steps, and where the δ of the two directions cross in between."""

    def gap(lam: Fraction) -> Fraction:
        return pair.exact(lam).delta_forward - pair.exact(lam).delta_reverse

    crossings = set()
    for low, high in pairwise(sorted(steps(pair))):
        if gap(low) * gap(high) < 0:
            crossings.add(low + (high - low) * gap(low) / (gap(low) - gap(high)))
    return steps(pair) | crossings


Comparison = tuple[Pair, Fraction, Fraction, Fraction]
"""A mixed background, λ, a number of it, and what is said to be at least as large."""


def _compared(make: Callable[[], Iterable[Comparison]]) -> Count:
    def words(pair: Pair, lam: Fraction, value: Fraction, bound: Fraction) -> str:
        place = where(" = ", N=pair.users, q=pair.q, m=pair.ones, **{r"\lambda": lam})
        return f"{place}: ${tex(value)}$ against ${tex(bound)}$ for the all-equal background"

    return Cases(make, words).count(lambda pair, lam, value, bound: value <= bound)


def _mixed_pairs() -> Iterator[Pair]:
    """Every background with both ones and zeros."""
    for users, q in product(range(3, MAX_USERS + 1), noises(DENOMINATOR)):
        yield from (Pair(users, ones, q) for ones in range(1, users - 1))


def _largest_factor(comparisons: Iterable[Comparison]) -> str:
    """By how much the bound is exceeded at most, rounded up to two decimals."""
    factor = max(value / bound for _, _, value, bound in comparisons if bound)
    return f"{ceil(100 * factor) / 100:.2f}"


# --- η ----------------------------------------------------------------------------------------


def _eta_comparisons() -> Iterator[Comparison]:
    """η of each background against η of the all-equal one."""
    for pair in _mixed_pairs():
        equal = Pair(pair.users, 0, pair.q)
        for lam in sorted(steps(pair) | steps(equal)):
            yield pair, lam, pair.eta(lam), equal.eta(lam)


def _eta_conversions() -> Iterator[Comparison]:
    """(1 - λ'/λ) η(λ) against δ(λ') of the smaller all-equal pair, at the worst λ of each step."""
    for pair in _mixed_pairs():
        smaller = pair.smaller()
        for low, high in pairwise(sorted(steps(pair))):  # η is constant on [low, high)
            for lam in sorted(corners(smaller)):
                if lam < high:
                    value = (1 - lam / high) * pair.eta(low)
                    yield pair, lam, value, smaller.delta(lam)


@statement("003-theorem-4.1-tail")
def tail_of_all_equal() -> Tested:
    """Whether the all-equal collection has the largest tail η, as Theorem 4.1 may suggest."""
    comparisons = list(_eta_comparisons())
    return result(
        _compared(lambda: comparisons),
        _compared(_eta_conversions),
        largest_factor=_largest_factor(comparisons),
    )


# --- δ ----------------------------------------------------------------------------------------


def _delta_comparisons(smaller: bool) -> Iterator[Comparison]:
    """δ of each background against δ of the all-equal one, of N users or of those that are left."""
    for pair in _mixed_pairs():
        bound = pair.smaller() if smaller else Pair(pair.users, 0, pair.q)
        for lam in sorted(steps(pair) | corners(bound)):
            yield pair, lam, pair.delta(lam), bound.delta(lam)


@statement("003-theorem-4.1-delta")
def delta_of_all_equal() -> Tested:
    """Whether the all-equal collection has the largest δ, as Theorem 4.1 may suggest."""
    comparisons = list(_delta_comparisons(smaller=False))
    return result(
        _compared(lambda: comparisons),
        _compared(lambda: _delta_comparisons(smaller=True)),
        largest_factor=_largest_factor(comparisons),
    )
