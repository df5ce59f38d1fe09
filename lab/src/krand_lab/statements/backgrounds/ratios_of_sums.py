"""Draft 002 on ratios of sums: Proposition 1.1 and the lemmas of section 4.

Section 3.1, which uses them, is in `maximal_bits` and `maximal_bits_proof`.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import NamedTuple

from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Tested, check, result, statement

Vector = tuple[int, ...]

MAX_OUTCOMES = 4
MAX_GRAIN = 6
SUMMANDS_4_1 = 5
NUMERATORS_4_1 = range(-3, 4)
DENOMINATORS_4_1 = range(1, 4)
SUMMANDS_4_2 = ((2, 5), (3, 3), (4, 2))
"""How many summands, and the largest of the whole numbers that are put in."""
LARGEST_4_3 = 4


# --- Proposition 1.1 --------------------------------------------------------------------------


def masses(outcomes: int, grain: int) -> Iterator[Vector]:
    """Every law on so many outcomes whose masses are multiples of 1/grain, zeros included."""
    for bars in combinations(range(grain + outcomes - 1), outcomes - 1):
        edges = (-1, *bars, grain + outcomes - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def least_lambda(law: Vector, other: Vector, events: Iterator[Vector]) -> Fraction | None:
    """The least λ with P(S) ≤ λ P'(S) for all the events; None where no λ is large enough."""
    least = Fraction(0)
    for event in events:
        mass, other_mass = sum(law[s] for s in event), sum(other[s] for s in event)
        if mass and not other_mass:
            return None
        if other_mass:
            least = max(least, Fraction(mass, other_mass))
    return least


@statement("002-proposition-1.1")
def proposition_1_1() -> Tested:
    """002 Proposition 1.1: differential privacy event by event and outcome by outcome."""

    def cases() -> Iterator[tuple[Vector, Vector]]:
        for outcomes, grain in product(range(1, MAX_OUTCOMES + 1), range(1, MAX_GRAIN + 1)):
            laws = list(masses(outcomes, grain))
            yield from product(laws, laws)

    def fails(case: tuple[Vector, Vector]) -> str | None:
        law, other = case
        size = len(law)
        singles = ((s,) for s in range(size))
        events = (event for r in range(1, size + 1) for event in combinations(range(size), r))
        by_outcome, by_event = least_lambda(law, other, singles), least_lambda(law, other, events)
        if by_outcome == by_event:
            return None
        return (
            f"weights ${tex_list(law)}$ against ${tex_list(other)}$: the least $\\lambda$ is "
            f"{by_outcome} by outcomes and {by_event} by events"
        )

    return result(check(cases(), fails))


# --- Lemma 4.1 --------------------------------------------------------------------------------


@statement("002-lemma-4.1")
def lemma_4_1() -> Tested:
    """002 Lemma 4.1: a ratio of sums is at most the largest of the ratios."""

    def cases() -> Iterator[tuple[tuple[int, int], ...]]:
        pairs = list(product(NUMERATORS_4_1, DENOMINATORS_4_1))
        for summands in range(1, SUMMANDS_4_1 + 1):
            yield from combinations_with_replacement(pairs, summands)

    def fails(case: tuple[tuple[int, int], ...]) -> str | None:
        a, b = sum(pair[0] for pair in case), sum(pair[1] for pair in case)
        if any(x * b >= a * y for x, y in case):  # a/b <= x/y, all denominators positive
            return None
        largest = max(Fraction(x, y) for x, y in case)
        return f"$(a_i, b_i) = {case}$: ${tex(Fraction(a, b))} > {tex(largest)}$"

    low, high = NUMERATORS_4_1[0], NUMERATORS_4_1[-1]
    return result(
        check(cases(), fails), low=low, high=high, last_denominators_4_1=DENOMINATORS_4_1[-1]
    )


# --- Lemma 4.2 --------------------------------------------------------------------------------


class TwoRatios(NamedTuple):
    """The numbers that Lemma 4.2 speaks of; a_prime is a'."""

    a: Vector
    a_prime: Vector
    lam: Vector
    mu: Vector


def falling_ratios(summands: int, largest: int) -> Iterator[tuple[Vector, Vector]]:
    """All x, y with entries from 1 to `largest` and x_1/y_1 ≥ x_2/y_2 ≥ …: (4.2), and (4.3) too."""
    values = list(product(range(1, largest + 1), repeat=summands))
    for x, y in product(values, values):
        if all(x[i] * y[i + 1] >= x[i + 1] * y[i] for i in range(summands - 1)):
            yield x, y


def _lemma_4_2_cases() -> Iterator[TwoRatios]:
    """Everything that meets (4.2) and (4.3): the latter is (4.2) for a and a'."""
    for summands, largest in SUMMANDS_4_2:
        pairs = list(falling_ratios(summands, largest))
        for (a, a_prime), (lam, mu) in product(pairs, pairs):
            yield TwoRatios(a, a_prime, lam, mu)


def _breaks_4_1(case: TwoRatios) -> str | None:
    """The two sides of (4.1) where it fails."""
    top, bottom = _dot(case.a, case.lam), _dot(case.a, case.mu)
    top_prime, bottom_prime = _dot(case.a_prime, case.lam), _dot(case.a_prime, case.mu)
    if top * bottom_prime >= top_prime * bottom:
        return None
    return (
        f"$a = {tex_list(case.a)}$, $a' = {tex_list(case.a_prime)}$, "
        rf"$\lambda = {tex_list(case.lam)}$, $\mu = {tex_list(case.mu)}$: "
        f"${tex(Fraction(top, bottom))} < {tex(Fraction(top_prime, bottom_prime))}$"
    )


def _dot(x: Vector, y: Vector) -> int:
    """The sum of the products."""
    return sum(a * b for a, b in zip(x, y, strict=True))


def _sizes(count: str) -> str:
    """The range of Lemma 4.2 in words."""
    return "; ".join(f"${count} = {m}$ with numbers up to {top}" for m, top in SUMMANDS_4_2)


_SAYS_4_1 = (
    r"$\frac{a_1 \lambda_1 + \ldots + a_m \lambda_m}{a_1 \mu_1 + \ldots + a_m \mu_m} \ge "
    r"\frac{a'_1 \lambda_1 + \ldots + a'_m \lambda_m}{a'_1 \mu_1 + \ldots + a'_m \mu_m}$"
)


@statement("002-lemma-4.2")
def lemma_4_2() -> Tested:
    """002 Lemma 4.2: reweighting towards the larger ratios raises a ratio of sums."""
    return result(check(_lemma_4_2_cases(), _breaks_4_1), sizes=_sizes("m"))


@statement("002-lemma-4.2-monotone")
def lemma_4_2_monotone() -> Tested:
    """002 Lemma 4.2, first remark: λ falling and μ rising is enough for (4.2)."""

    def cases() -> Iterator[tuple[Vector, Vector]]:
        for summands, largest in SUMMANDS_4_2:
            values = range(1, largest + 1)
            yield from product(
                combinations_with_replacement(values[::-1], summands),
                combinations_with_replacement(values, summands),
            )

    def fails(case: tuple[Vector, Vector]) -> str | None:
        lam, mu = case
        pairs = combinations(range(len(lam)), 2)
        if all(lam[i] * mu[j] >= lam[j] * mu[i] for i, j in pairs):
            return None
        return rf"$\lambda = {tex_list(lam)}$, $\mu = {tex_list(mu)}$"

    return result(check(cases(), fails), sizes=_sizes("m"))


@statement("002-lemma-4.2-reversed")
def lemma_4_2_reversed() -> Tested:
    """002 Lemma 4.2, second remark: both conditions may be reversed together."""
    reversed_cases = (
        TwoRatios(*(numbers[::-1] for numbers in case)) for case in _lemma_4_2_cases()
    )
    return result(check(reversed_cases, _breaks_4_1), sizes=_sizes("m"))


# --- Lemma 4.3 --------------------------------------------------------------------------------


@statement("002-lemma-4.3")
def lemma_4_3() -> Tested:
    """002 Lemma 4.3: the comparison of ratios that share a term."""

    def cases() -> Iterator[Vector]:
        positive, any_number = range(1, LARGEST_4_3 + 1), range(LARGEST_4_3 + 1)
        for a, a1, b, b1, c, c1 in product(positive, positive, *[any_number] * 4):
            if a * c1 >= a1 * c and a * b1 <= a1 * b:  # (4.5); its third part follows
                for lam, mu in product(positive, positive):
                    yield a, a1, b, b1, c, c1, lam, mu

    def fails(case: Vector) -> str | None:
        a, a1, b, b1, c, c1, lam, mu = case
        left = a * lam + b * mu, c * lam + a * mu
        right = a1 * lam + b1 * mu, c1 * lam + a1 * mu
        if left[0] * right[1] >= right[0] * left[1]:
            return None
        return (
            rf"$(a, a', b, b', c, c', \lambda, \mu) = {case}$: "
            f"${tex(Fraction(*left))} < {tex(Fraction(*right))}$"
        )

    return result(check(cases(), fails))
