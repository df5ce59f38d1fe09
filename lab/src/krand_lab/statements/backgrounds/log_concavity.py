"""Draft 003, Lemma 1: polynomials with real roots, none positive, have log-concave coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Cases, corrected, each, lettered, printed

SHIFTS = tuple(map(Fraction, ("0", "1", "2", "3", "1/2", "3/2", "1/3", "2/3")))
"""The values of the r_i, simpler ones first."""
ALL_SHIFTS = ", ".join(map(tex, SHIFTS))
MAX_DEGREE = 6
MAX_DEGREE_4_22 = 3
LARGEST_NUMBER = 3
WHOLE_NUMBERS = LARGEST_NUMBER + 1


class Polynomial(NamedTuple):
    """∏ (r_i + x) by its r_i and its coefficients, and an index of the latter."""

    r: tuple[Fraction, ...]
    b: tuple[Fraction, ...]
    i: int

    def __str__(self) -> str:
        """The polynomial in words."""
        return f"$r = {tex_list(self.r)}$, coefficients ${tex_list(self.b)}$, $i = {self.i}$"

    def near(self, offset: int) -> Fraction:
        """b_(i + offset), 0 out of range."""
        index = self.i + offset
        return self.b[index] if 0 <= index < len(self.b) else Fraction(0)


def coefficients(r: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Coefficients of ∏ (r_i + x), the constant one first: (4.20) over and over."""
    result = [Fraction(1)]
    for shift in r:
        times_shift, times_x = [shift * b for b in result], [Fraction(0), *result]
        result = [a + b for a, b in zip([*times_shift, Fraction(0)], times_x, strict=True)]
    return tuple(result)


def _polynomials(max_degree: int) -> Iterator[Polynomial]:
    """All polynomials up to this degree and all indices, smaller degrees first."""
    for degree in range(1, max_degree + 1):
        for r in combinations_with_replacement(SHIFTS, degree):
            b = coefficients(r)
            yield from (Polynomial(r, b, i) for i in range(degree + 1))


POLYNOMIALS = each(lambda: _polynomials(MAX_DEGREE))
PAIRS = Cases(
    lambda: ((r,) for r in combinations_with_replacement(SHIFTS, 2)),
    lambda r: f"$r = {tex_list(r)}$",
)
STEPS = Cases(
    lambda: product(_polynomials(MAX_DEGREE_4_22), SHIFTS),
    lambda polynomial, r: f"$b$ from {polynomial}, then $r_{{n+1}} = {tex(r)}$",
)


@printed("003-lemma-1", POLYNOMIALS)
def lemma_1(case: Polynomial) -> bool:
    """003 Lemma 1: the square of a coefficient is at least the product of its neighbours."""
    square, neighbours = case.near(0) ** 2, case.near(1) * case.near(-1)
    return square > neighbours if case.near(0) else square == neighbours


def _sides_4_17(r: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
    """a_1² - a_0 a_2 by the coefficients, and r_1² + r_2² + r_1 r_2."""
    a = coefficients(r)
    return a[1] ** 2 - a[0] * a[2], r[0] ** 2 + r[1] ** 2 + r[0] * r[1]


@printed("003-4.17", PAIRS)
def equation_4_17(r: tuple[Fraction, ...]) -> bool | str:
    """003 (4.17): the start of the induction, with its strict sign."""
    left, right = _sides_4_17(r)
    return left == right > 0 or f": the two expressions are ${tex(left)}$ and ${tex(right)}$"


@corrected("003-4.17", PAIRS)
def equation_4_17_corrected(r: tuple[Fraction, ...]) -> bool:
    left, right = _sides_4_17(r)
    return left == right and (right > 0) == any(r)


def _holds_4_22(r: Fraction, b: Sequence[Fraction], middle: Fraction) -> bool | str:
    """Whether (4.22) holds with this middle term for b_(i-2), …, b_(i+1), or its two sides."""
    before2, before, here, after = b
    left = (here * r + before) ** 2 - (after * r + here) * (before * r + before2)  # (4.21)
    right = r**2 * (here**2 - after * before) + r * middle + (before**2 - here * before2)
    return left == right or f": left ${tex(left)}$, right ${tex(right)}$"


@printed("003-4.22", STEPS)
def equation_4_22(polynomial: Polynomial, r: Fraction) -> bool | str:
    """003 (4.22): the induction step multiplied out."""
    b = [polynomial.near(offset) for offset in (-2, -1, 0, 1)]
    return _holds_4_22(r, b, b[2] * b[1] - b[3] * b[1])


@corrected(
    "003-4.22",
    lettered("r a b c d", lambda: product(map(Fraction, range(WHOLE_NUMBERS)), repeat=5)),
)
def equation_4_22_corrected(r: Fraction, *b: Fraction) -> bool | str:
    return _holds_4_22(r, b, b[2] * b[1] - b[3] * b[0])


@printed("003-4.29", POLYNOMIALS)
def inequality_4_29(case: Polynomial) -> bool | str:
    """003 (4.26)–(4.29): the middle term of the induction step is not negative."""
    left, right = case.near(0) * case.near(-1), case.near(1) * case.near(-1)
    return left >= right or f": ${tex(left)} < {tex(right)}$"


@corrected("003-4.29", POLYNOMIALS)
def inequality_4_29_corrected(case: Polynomial) -> bool:
    return case.near(0) * case.near(-1) >= case.near(1) * case.near(-2)
