"""Draft 003, Lemma 1: polynomials with real roots, none positive, have log-concave coefficients."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import NamedTuple

from krand_lab.statements.notation import tex, tex_list
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["coefficients", "equation_4_17", "equation_4_22", "inequality_4_29", "lemma_1"]

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


def lemma_1() -> Verdict:
    """003 Lemma 1: the square of a coefficient is at least the product of its neighbours."""

    def fails(case: Polynomial) -> str | None:
        square, neighbours = case.near(0) ** 2, case.near(1) * case.near(-1)
        if square > neighbours if case.near(0) else square == neighbours:
            return None
        return f"{case}: ${tex(square)}$ against ${tex(neighbours)}$"

    statement = Statement(
        key="003-lemma-1",
        source="003 Lemma 1",
        says=(
            r"If $Q(x) = \sum_{i=0}^n a_i x^i = a_n \prod_i (r_i + x)$ with all $r_i \ge 0$, then "
            r"$a_i^2 - a_{i+1} a_{i-1} \ge 0$."
        ),
        covered=(
            _covered(MAX_DEGREE)
            + r" Checked with the addition that the inequality is strict exactly where "
            r"$a_i \ne 0$. The factor $a_n$ does not matter."
        ),
        comment=(
            r"True, and known since Newton: $a_i^2 \ge a_{i+1} a_{i-1} (1 + \frac{1}{i})"
            r"(1 + \frac{1}{n-i})$ for every polynomial with real roots only. The draft's "
            r"induction works once (4.22) and (4.29) are corrected, see there. With $z$ zeros "
            r"among the $r_i$ the coefficients $a_0, \ldots, a_{z-1}$ vanish and all others are "
            "positive, hence the addition."
        ),
    )
    return Verdict(statement, check(_polynomials(MAX_DEGREE), fails))


def equation_4_17() -> Verdict:
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

    statement = Statement(
        key="003-4.17",
        source="003 (4.17)",
        says=(
            r"For $n = 2$: $a_1^2 - a_0 a_2 = (r_1 + r_2)^2 - r_1 r_2 = r_1^2 + r_2^2 + r_1 r_2 "
            r"> 0$, since $r_1 > 0$ and $r_2 > 0$."
        ),
        covered=(
            rf"All $r_1, r_2$ from ${', '.join(map(tex, SHIFTS))}$, as the lemma allows "
            r"$r_i \ge 0$."
        ),
        comment=(
            "A slip without consequences: the lemma claims no more than (4.17) with the sign "
            r"$\ge$. In the theorem the $r_i$ are $q/p$ and $p/q$, both positive."
        ),
        corrected=(
            r"$a_1^2 - a_0 a_2 = r_1^2 + r_2^2 + r_1 r_2 \ge 0$, and it is 0 only for "
            r"$r_1 = r_2 = 0$ (checked on the same range)."
        ),
    )
    pairs = list(combinations_with_replacement(SHIFTS, 2))
    return Verdict(statement, check(pairs, fails), check(pairs, fails_corrected))


def _breaks_4_22(r: Fraction, b: Sequence[Fraction], middle: Fraction) -> str | None:
    """Both sides of (4.22) with this middle term for b_(i-2), …, b_(i+1), where they differ."""
    before2, before, here, after = b
    left = (here * r + before) ** 2 - (after * r + here) * (before * r + before2)  # (4.21)
    right = r**2 * (here**2 - after * before) + r * middle + (before**2 - here * before2)
    return None if left == right else f"left ${tex(left)}$, right ${tex(right)}$"


def equation_4_22() -> Verdict:
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

    statement = Statement(
        key="003-4.22",
        source="003 (4.22)",
        says=(
            r"$a_i^2 - a_{i+1} a_{i-1} = r^2 (b_i^2 - b_{i+1} b_{i-1}) + "
            r"r (b_i b_{i-1} - b_{i+1} b_{i-1}) + (b_{i-1}^2 - b_i b_{i-2})$."
        ),
        covered=_covered(MAX_DEGREE_4_22) + " The last $r$ is from the same numbers.",
        comment=(
            r"One index is wrong in the middle term. The corrected identity has degree at most 2 "
            rf"in each letter and holds at {len(WHOLE_NUMBERS)} values of each in all "
            "combinations, which proves it."
        ),
        corrected=(
            r"The middle term is $r (b_i b_{i-1} - b_{i+1} b_{i-2})$ (checked for all whole "
            rf"numbers from {tex(WHOLE_NUMBERS[0])} to {tex(WHOLE_NUMBERS[-1])} in place of "
            r"$r, b_{i-2}, b_{i-1}, b_i, b_{i+1}$)."
        ),
    )
    return Verdict(
        statement,
        check(cases(), fails),
        check(product(WHOLE_NUMBERS, repeat=5), fails_corrected),
    )


def inequality_4_29() -> Verdict:
    """003 (4.26)–(4.29): the middle term of the induction step is not negative."""

    def fails(case: Polynomial) -> str | None:
        left, right = case.near(0) * case.near(-1), case.near(1) * case.near(-1)
        return None if left >= right else f"{case}: ${tex(left)} < {tex(right)}$"

    def fails_corrected(case: Polynomial) -> str | None:
        left, right = case.near(0) * case.near(-1), case.near(1) * case.near(-2)
        return None if left >= right else f"{case}: ${tex(left)} < {tex(right)}$"

    statement = Statement(
        key="003-4.29",
        source="003 (4.26)–(4.29)",
        says=(
            r"$b_i b_{i-1} \ge b_{i+1} b_{i-1}$, because all $b_i$ are positive and "
            r"$b_i^2 b_{i-1}^2 \ge b_{i+1} b_{i-1} b_i b_{i-2}$."
        ),
        covered=_covered(MAX_DEGREE),
        comment=(
            r"As printed it would say that the coefficients fall. It fails for the polynomial of "
            r"the theorem too: $(q + px)^2$ has $b_1 < b_2$ as soon as $q < 1/3$. What (4.28) "
            r"gives after division by $b_i b_{i-1}$ is the corrected inequality, and this is what "
            r"the corrected (4.22) needs. Where $b_i b_{i-1} = 0$ one cannot divide: but the zeros "
            r"among the coefficients are those below some index and those above $n$, so that "
            r"$b_{i-2} = 0$ in the first case and $b_{i+1} = 0$ in the second, and the right side "
            r"is 0."
        ),
        corrected=r"$b_i b_{i-1} \ge b_{i+1} b_{i-2}$ (checked on the same range).",
    )
    cases = list(_polynomials(MAX_DEGREE))
    return Verdict(statement, check(cases, fails), check(cases, fails_corrected))
