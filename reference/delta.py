"""δ of one lane, exactly: sums of fractions over all that the analyst can see.

A pair is what the analyst sees with one person's answer, and with another one instead: for every
outcome its two probabilities. δ(ε) is the sum of P - e^ε·Q over the outcomes where that is
positive. It follows from the law of the ratios P/Q alone; ratios of independent counts multiply.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from math import comb

Pair = Iterable[tuple[Fraction, Fraction]]
Ratios = dict[Fraction | None, Fraction]
"""The probability of every ratio P/Q under P; None is the outcome that Q cannot have."""
TERMS = 60


def power_of_e(epsilon: Fraction) -> Fraction:
    """e^ε, rounded down, so that δ is rounded up: the first terms of its series, all positive."""
    total, term = Fraction(0), Fraction(1)
    for place in range(1, TERMS):
        total += term
        term *= epsilon / place
    return total


def dummy_pair(weights: list[int]) -> Pair:
    """A count with Z dummies, or one more: Z on 0 … 2R with these weights."""
    total, before = sum(weights), 0
    for weight in weights:
        yield Fraction(weight, total), Fraction(before, total)
        before = weight
    yield Fraction(0), Fraction(before, total)


def binomial(people: int, q: Fraction) -> list[Fraction]:
    """How many of so many people report 1 with probability q each."""
    return [comb(people, k) * q**k * (1 - q) ** (people - k) for k in range(people + 1)]


def convolved(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    """The law of the sum of two independent counts."""
    found = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            found[i + j] += a * b
    return found


def flip_pair(ones: int, zeros: int, q: Fraction) -> Pair:
    """A count of flipped bits of other people, and one bit that is 1, or 0 instead."""
    others = convolved(binomial(ones, 1 - q), binomial(zeros, q))
    return zip(convolved(others, [q, 1 - q]), convolved(others, [1 - q, q]), strict=True)


def ratios_of(pair: Pair) -> Ratios:
    """The law of P/Q under P."""
    found: Ratios = {}
    for p, q in pair:
        if p:
            ratio = p / q if q else None
            found[ratio] = found.get(ratio, Fraction(0)) + p
    return found


def composed(one: Ratios, other: Ratios) -> Ratios:
    """The law of the ratio of two independent views of the same person."""
    found: Ratios = {}
    for a, p in one.items():
        for b, q in other.items():
            ratio = None if a is None or b is None else a * b
            found[ratio] = found.get(ratio, Fraction(0)) + p * q
    return found


def delta_of(ratios: Ratios, epsilon: Fraction) -> Fraction:
    """δ(ε): P - e^ε·Q is P·(1 - e^ε/ratio)."""
    factor = power_of_e(epsilon)
    return sum(
        (p if ratio is None else p * (1 - factor / ratio))
        for ratio, p in ratios.items()
        if ratio is None or ratio > factor
    ) + Fraction(0)


def dummies_delta(weights: list[int], moves: int, epsilon: Fraction) -> Fraction:
    """Of a lane in which one person moves so many counts by one, each with dummies of this law."""
    alone = ratios_of(dummy_pair(weights))
    together = alone
    for _ in range(moves - 1):
        together = composed(together, alone)
    return delta_of(together, epsilon)


def flips_delta(ones: int, zeros: int, q: Fraction, epsilon: Fraction) -> Fraction:
    """Of a yes/no question among others of whom so many have a 1 and a 0: the worse direction."""
    pair = list(flip_pair(ones, zeros, q))
    swapped = [(b, a) for a, b in pair]
    return max(delta_of(ratios_of(each), epsilon) for each in (pair, swapped))


def decimal_up(value: Fraction, digits: int = 20) -> str:
    """The fraction with so many digits after the first one, rounded up."""
    if not value:
        return "0"
    exponent = 0
    while value * Fraction(10) ** -exponent < 1:
        exponent -= 1
    scaled = value * Fraction(10) ** (digits - exponent)
    text = str(-(-scaled.numerator // scaled.denominator))
    return f"{text[0]}.{text[1:]}e{exponent + len(text) - digits - 1}"
