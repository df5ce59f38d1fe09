"""What statements share: ranges, exact laws, and words for vectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache

from krand_lab.enumeration import Multiset, Vector, collection_law
from krand_lab.statements.bit_counts import noises

__all__ = [
    "Place",
    "count_law",
    "counts",
    "law",
    "noises_in_words",
    "places",
    "square_noises",
    "squares",
    "squares_in_words",
    "vector_tex",
    "vectors_tex",
]

Place = tuple[int, Fraction]
"""N and q."""


def noises_in_words(largest_denominator: int) -> str:
    """The range of `noises`, for a statement."""
    return (
        rf"all {len(noises(largest_denominator))} fractions $0 < q < 1/2$ with denominator at most "
        f"{largest_denominator}"
    )


def square_noises(largest_root: int) -> tuple[Fraction, ...]:
    """Every q = a²/(a² + b²), 0 < a < b: those for which √(pq) is a fraction, as 3σ needs it."""
    return tuple(
        sorted(
            {
                Fraction(a * a, a * a + b * b)
                for b in range(2, largest_root + 1)
                for a in range(1, b)
            },
            key=lambda q: (q.denominator, q.numerator),
        )
    )


def places(users: int, denominator: int) -> Iterator[Place]:
    """Every N up to `users` with every noise."""
    return ((n, q) for n in range(1, users + 1) for q in noises(denominator))


def counts(users: int, denominator: int) -> Iterator[tuple[int, Fraction, int]]:
    """Every place with every count from 0 to N."""
    return ((n, q, i) for n, q in places(users, denominator) for i in range(n + 1))


def squares(largest_n: int, largest_root: int) -> Iterator[Place]:
    """Every square N = n² with every noise for which √(pq) is a fraction: √(pqN) is one, too."""
    return ((n * n, q) for n in range(1, largest_n + 1) for q in square_noises(largest_root))


def squares_in_words(largest_n: int, largest_root: int) -> str:
    """The range of `squares`, for a statement."""
    return (
        rf"$N = n^2$ with $1 \le n \le {largest_n}$ and all "
        rf"{len(square_noises(largest_root))} noises $q = a^2/(a^2+b^2)$ with "
        rf"$0 < a < b \le {largest_root}$, so that nothing is rounded"
    )


@cache
def law(collection: Multiset, q: Fraction, copies: int = 1) -> dict[Multiset, Fraction]:
    """The exact law of the multiset of reports, kept: several statements look at the same one."""
    return collection_law(collection, q, copies)


@cache
def count_law(crowd: int, ones: int, q: Fraction, copies: int = 1) -> tuple[Fraction, ...]:
    """P(0), P(1), …, P(kN) for the observed ones of a collection of bits, by enumeration."""
    reports = law(((0,),) * (crowd - ones) + ((1,),) * ones, q, copies)
    chances = [Fraction(0)] * (copies * crowd + 1)
    for s, chance in reports.items():
        chances[sum(bit for (bit,) in s)] += chance
    return tuple(chances)


def vector_tex(vector: Vector) -> str:
    """A vector as its bits."""
    return "".join(map(str, vector))


def vectors_tex(vectors: Sequence[Vector]) -> str:
    r"""A collection in braces, like `\{00, 01\}`."""
    return r"\{" + ", ".join(map(vector_tex, vectors)) + r"\}"
