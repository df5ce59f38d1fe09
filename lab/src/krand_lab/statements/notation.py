"""Exact numbers as LaTeX, for counterexamples."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction


def tex(number: Fraction | int) -> str:
    r"""A whole number as it is, another one as \frac{a}{b} with the sign in front."""
    if number.denominator == 1:
        return str(number.numerator)
    sign = "-" if number < 0 else ""
    return rf"{sign}\frac{{{abs(number.numerator)}}}{{{number.denominator}}}"


def tex_list(numbers: Iterable[Fraction | int]) -> str:
    """Numbers in round brackets, as a point or a list of masses."""
    return "(" + ", ".join(map(tex, numbers)) + ")"


def where(equals: str = "=", **values: Fraction | int | str) -> str:
    """The case in words, like `$N=2$, $q=\\frac{1}{3}$`; a string stands for itself."""
    parts = (f"${k}{equals}{v if isinstance(v, str) else tex(v)}$" for k, v in values.items())
    return ", ".join(parts)
