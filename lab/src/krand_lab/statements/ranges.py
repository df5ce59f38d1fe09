"""What statements share: noises, exact laws, moments, and words for vectors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from krand_lab.enumeration import Multiset, Vector, collection_law, power, times

# --- noises -----------------------------------------------------------------------------------


def noises(max_denominator: int) -> tuple[Fraction, ...]:
    """Every 0 < q < 1/2 with a denominator up to this one, smaller denominators first."""
    return tuple(
        Fraction(a, b)
        for b in range(3, max_denominator + 1)
        for a in range(1, (b + 1) // 2)
        if Fraction(a, b).denominator == b
    )


def noises_in_words(largest_denominator: int) -> str:
    """The range of `noises`, for a statement."""
    return (
        rf"all {len(noises(largest_denominator))} fractions $0 < q < 1/2$ with denominator at most "
        f"{largest_denominator}"
    )


def square_noises(largest_root: int) -> tuple[Fraction, ...]:
    """Every q = a²/(a² + b²), 0 < a < b: those for which √(pq) is a fraction, as 3σ needs it."""
    roots = ((a, b) for b in range(2, largest_root + 1) for a in range(1, b))
    found = {Fraction(a * a, a * a + b * b) for a, b in roots}
    return tuple(sorted(found, key=lambda q: (q.denominator, q.numerator)))


# --- laws -------------------------------------------------------------------------------------


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


@cache
def count_weights(ones: int, zeros: int, q: Fraction) -> tuple[int, ...]:
    """P(s = i) times b^n, i = 0..n: coefficients of (q + px)^ones (p + qx)^zeros (003 §4.2).

    With q = a/b every probability of n bits is a whole number over b^n, so that a law is a list of
    weights and only ratios become fractions.
    """
    flip, keep = q.numerator, q.denominator - q.numerator
    return tuple(times(power(flip, keep, ones), power(keep, flip, zeros)))


def count_weights_by_outcomes(bits: Sequence[int], q: Fraction) -> tuple[int, ...]:
    """The same by the definition 002 (2.1): the sum over all 2^n outcomes of the randomization."""
    flip, keep = q.numerator, q.denominator - q.numerator
    weights = [0] * (len(bits) + 1)
    for outcome in product((0, 1), repeat=len(bits)):
        flips = sum(x != y for x, y in zip(bits, outcome, strict=True))
        weights[sum(outcome)] += flip**flips * keep ** (len(bits) - flips)
    return tuple(weights)


def at(weights: Sequence[int], index: int) -> int:
    """The weight with this index, zero outside the support."""
    return weights[index] if 0 <= index < len(weights) else 0


def mean_and_variance(pairs: Iterable[tuple[Fraction, Fraction]]) -> tuple[Fraction, Fraction]:
    """Mean and variance of a law given as pairs (value, probability)."""
    mean = square = Fraction(0)
    for value, chance in pairs:
        mean, square = mean + value * chance, square + value**2 * chance
    return mean, square - mean**2


# --- words ------------------------------------------------------------------------------------


def vector_tex(vector: Vector) -> str:
    """A vector as its bits."""
    return "".join(map(str, vector))


def vectors_tex(vectors: Sequence[Vector]) -> str:
    r"""A collection in braces, like `\{00, 01\}`."""
    return r"\{" + ", ".join(map(vector_tex, vectors)) + r"\}"
