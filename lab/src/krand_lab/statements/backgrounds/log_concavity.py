"""Draft 003, Lemma 1: polynomials with real roots, none positive, have log-concave coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Tested, check, result, statement

SHIFTS = tuple(map(Fraction, ("0", "1", "2", "3", "1/2", "3/2", "1/3", "2/3")))
"""The values of the r_i, simpler ones first."""
MAX_DEGREE = 6
MAX_DEGREE_4_22 = 3
WHOLE_NUMBERS = tuple(map(Fraction, range(4)))


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


def _covered(max_degree: int) -> str:
    """The polynomials and indices up to this degree in words."""
    return (
        rf"All $n \le {max_degree}$, all choices of $r_1, \ldots, r_n$ with repetition from "
        rf"${', '.join(map(tex, SHIFTS))}$, all $0 \le i \le n$; coefficients whose index is out "
        "of range are 0."
    )


def _polynomials(max_degree: int) -> Iterator[Polynomial]:
    """All polynomials up to this degree and all indices, smaller degrees first."""
    for degree in range(1, max_degree + 1):
        for r in combinations_with_replacement(SHIFTS, degree):
            b = coefficients(r)
            yield from (Polynomial(r, b, i) for i in range(degree + 1))


@statement("003-lemma-1")
def lemma_1() -> Tested:
    """003 Lemma 1: the square of a coefficient is at least the product of its neighbours."""

    def fails(case: Polynomial) -> str | None:
        square, neighbours = case.near(0) ** 2, case.near(1) * case.near(-1)
        if square > neighbours if case.near(0) else square == neighbours:
            return None
        return f"{case}: ${tex(square)}$ against ${tex(neighbours)}$"

    return result(check(_polynomials(MAX_DEGREE), fails), covered=_covered(MAX_DEGREE))


@statement("003-4.17")
def equation_4_17() -> Tested:
    """003 (4.17): the start of the induction, with its strict sign."""

    def sides(r: tuple[Fraction, ...]) -> tuple[Fraction, Fraction]:
        """a_1² - a_0 a_2 by the coefficients, and r_1² + r_2² + r_1 r_2."""
        a = coefficients(r)
        return a[1] ** 2 - a[0] * a[2], r[0] ** 2 + r[1] ** 2 + r[0] * r[1]

    def fails(r: tuple[Fraction, ...]) -> str | None:
        left, right = sides(r)
        if left == right > 0:
            return None
        return f"$r = {tex_list(r)}$: the two expressions are ${tex(left)}$ and ${tex(right)}$"

    def fails_corrected(r: tuple[Fraction, ...]) -> str | None:
        left, right = sides(r)
        return None if left == right and (right > 0) == any(r) else f"$r = {tex_list(r)}$"

    pairs = list(combinations_with_replacement(SHIFTS, 2))
    return result(
        check(pairs, fails), check(pairs, fails_corrected), list=", ".join(map(tex, SHIFTS))
    )


def _breaks_4_22(r: Fraction, b: Sequence[Fraction], middle: Fraction) -> str | None:
    """Both sides of (4.22) with this middle term for b_(i-2), …, b_(i+1), where they differ."""
    before2, before, here, after = b
    left = (here * r + before) ** 2 - (after * r + here) * (before * r + before2)  # (4.21)
    right = r**2 * (here**2 - after * before) + r * middle + (before**2 - here * before2)
    return None if left == right else f"left ${tex(left)}$, right ${tex(right)}$"


@statement("003-4.22")
def equation_4_22() -> Tested:
    """003 (4.22): the induction step multiplied out."""

    def cases() -> Iterator[tuple[Polynomial, Fraction]]:
        for case in _polynomials(MAX_DEGREE_4_22):
            yield from ((case, r) for r in SHIFTS)

    def fails(case: tuple[Polynomial, Fraction]) -> str | None:
        polynomial, r = case
        b = [polynomial.near(offset) for offset in (-2, -1, 0, 1)]
        reason = _breaks_4_22(r, b, b[2] * b[1] - b[3] * b[1])
        return reason and f"$b$ from {polynomial}, then $r_{{n+1}} = {tex(r)}$: {reason}"

    def fails_corrected(numbers: tuple[Fraction, ...]) -> str | None:
        r, *b = numbers
        return _breaks_4_22(r, b, b[2] * b[1] - b[3] * b[0])

    return result(
        check(cases(), fails),
        check(product(WHOLE_NUMBERS, repeat=5), fails_corrected),
        covered=_covered(MAX_DEGREE_4_22),
        whole_numbers=len(WHOLE_NUMBERS),
        first_whole_numbers=tex(WHOLE_NUMBERS[0]),
        last_whole_numbers=tex(WHOLE_NUMBERS[-1]),
    )


@statement("003-4.29")
def inequality_4_29() -> Tested:
    """003 (4.26)–(4.29): the middle term of the induction step is not negative."""

    def fails(case: Polynomial) -> str | None:
        left, right = case.near(0) * case.near(-1), case.near(1) * case.near(-1)
        return None if left >= right else f"{case}: ${tex(left)} < {tex(right)}$"

    def fails_corrected(case: Polynomial) -> str | None:
        left, right = case.near(0) * case.near(-1), case.near(1) * case.near(-2)
        return None if left >= right else f"{case}: ${tex(left)} < {tex(right)}$"

    cases = list(_polynomials(MAX_DEGREE))
    return result(check(cases, fails), check(cases, fails_corrected), covered=_covered(MAX_DEGREE))
