"""Draft 002 on ratios of sums: Proposition 1.1 and the lemmas of section 4.

Section 3.1, which uses them, is in `maximal_bits`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, pairwise, product

from krand_lab.statements.verdict import Cases, printed

Vector = tuple[int, ...]

MAX_OUTCOMES = 4
MAX_GRAIN = 6
SUMMANDS_4_1, LARGEST_4_1 = 5, 3
SUMMANDS_4_2 = ((2, 5), (3, 3), (4, 2))
"""How many summands, and the largest of the whole numbers that are put in."""
SIZES_4_2 = "; ".join(f"$m = {m}$ with numbers up to {top}" for m, top in SUMMANDS_4_2)
LARGEST_4_3 = 4


# --- Proposition 1.1 --------------------------------------------------------------------------


def masses(outcomes: int, grain: int) -> Iterator[Vector]:
    """Every law on so many outcomes whose masses are multiples of 1/grain, zeros included."""
    for bars in combinations(range(grain + outcomes - 1), outcomes - 1):
        edges = (-1, *bars, grain + outcomes - 1)
        yield tuple(b - a - 1 for a, b in pairwise(edges))


def least_lambda(law: Vector, other: Vector, events: Iterable[Vector]) -> Fraction | None:
    """The least λ with P(S) ≤ λ P'(S) for all the events; None where no λ is large enough."""
    least = Fraction(0)
    for event in events:
        mass, other_mass = sum(law[s] for s in event), sum(other[s] for s in event)
        if mass and not other_mass:
            return None
        if other_mass:
            least = max(least, Fraction(mass, other_mass))
    return least


def _pairs_of_laws() -> Iterator[tuple[Vector, Vector]]:
    for outcomes, grain in product(range(1, MAX_OUTCOMES + 1), range(1, MAX_GRAIN + 1)):
        yield from product(masses(outcomes, grain), repeat=2)


@printed("002-proposition-1.1", Cases(_pairs_of_laws, lambda *laws: f"weights {laws}"))
def proposition_1_1(law: Vector, other: Vector) -> bool:
    """002 Proposition 1.1: differential privacy event by event and outcome by outcome."""
    places = range(len(law))
    events = (event for size in places for event in combinations(places, size + 1))
    singles = ((s,) for s in places)
    return least_lambda(law, other, singles) == least_lambda(law, other, events)


# --- Lemma 4.1 --------------------------------------------------------------------------------


def _summands() -> Iterator[tuple[Vector, ...]]:
    pairs = list(product(range(-LARGEST_4_1, LARGEST_4_1 + 1), range(1, LARGEST_4_1 + 1)))
    for summands in range(1, SUMMANDS_4_1 + 1):
        yield from combinations_with_replacement(pairs, summands)


@printed("002-lemma-4.1", Cases(_summands, lambda *pairs: f"$(a_i, b_i) = {pairs}$"))
def lemma_4_1(*pairs: Vector) -> bool:
    """002 Lemma 4.1: a ratio of sums is at most the largest of the ratios."""
    a, b = sum(x for x, _ in pairs), sum(y for _, y in pairs)
    return any(x * b >= a * y for x, y in pairs)  # a/b <= x/y, all denominators positive


# --- Lemma 4.2 --------------------------------------------------------------------------------


def falling_ratios(summands: int, largest: int) -> Iterator[tuple[Vector, Vector]]:
    """All x, y with entries from 1 to `largest` and x_1/y_1 ≥ x_2/y_2 ≥ …: (4.2), and (4.3) too."""
    values = list(product(range(1, largest + 1), repeat=summands))
    for x, y in product(values, values):
        if all(x[i] * y[i + 1] >= x[i + 1] * y[i] for i in range(summands - 1)):
            yield x, y


def _two_ratios() -> Iterator[tuple[Vector, ...]]:
    """All a, a', λ, μ that meet (4.2) and (4.3): the latter is (4.2) for a and a'."""
    for summands, largest in SUMMANDS_4_2:
        pairs = list(falling_ratios(summands, largest))
        yield from ((*first, *second) for first, second in product(pairs, pairs))


def _reversed() -> Iterator[tuple[Vector, ...]]:
    return (tuple(numbers[::-1] for numbers in case) for case in _two_ratios())


def _words_4_2(*case: Vector) -> str:
    return rf"$(a, a', \lambda, \mu) = {case}$"


@printed("002-lemma-4.2", Cases(_two_ratios, _words_4_2))
@printed("002-lemma-4.2-reversed", Cases(_reversed, _words_4_2))
def lemma_4_2(a: Vector, a_prime: Vector, lam: Vector, mu: Vector) -> bool:
    """002 Lemma 4.2: reweighting towards the larger ratios raises a ratio of sums.

    Its second remark: both conditions may be reversed together.
    """
    return _dot(a, lam) * _dot(a_prime, mu) >= _dot(a_prime, lam) * _dot(a, mu)


def _dot(x: Vector, y: Vector) -> int:
    """The sum of the products."""
    return sum(a * b for a, b in zip(x, y, strict=True))


def _monotone() -> Iterator[tuple[Vector, Vector]]:
    for summands, largest in SUMMANDS_4_2:
        values = range(1, largest + 1)
        yield from product(
            combinations_with_replacement(values[::-1], summands),
            combinations_with_replacement(values, summands),
        )


@printed("002-lemma-4.2-monotone", Cases(_monotone, _words_4_2))
def lemma_4_2_monotone(lam: Vector, mu: Vector) -> bool:
    """002 Lemma 4.2, first remark: λ falling and μ rising is enough for (4.2)."""
    pairs = combinations(range(len(lam)), 2)
    return all(lam[i] * mu[j] >= lam[j] * mu[i] for i, j in pairs)


# --- Lemma 4.3 --------------------------------------------------------------------------------


def _shared_terms() -> Iterator[Vector]:
    positive, any_number = range(1, LARGEST_4_3 + 1), range(LARGEST_4_3 + 1)
    for a, a1, b, b1, c, c1 in product(positive, positive, *[any_number] * 4):
        if a * c1 >= a1 * c and a * b1 <= a1 * b:  # (4.5); its third part follows
            for lam, mu in product(positive, positive):
                yield a, a1, b, b1, c, c1, lam, mu


@printed(
    "002-lemma-4.3",
    Cases(_shared_terms, lambda *case: rf"$(a, a', b, b', c, c', \lambda, \mu) = {case}$"),
)
def lemma_4_3(a: int, a1: int, b: int, b1: int, c: int, c1: int, lam: int, mu: int) -> bool:
    """002 Lemma 4.3: the comparison of ratios that share a term."""
    left = a * lam + b * mu, c * lam + a * mu
    right = a1 * lam + b1 * mu, c1 * lam + a1 * mu
    return left[0] * right[1] >= right[0] * left[1]
