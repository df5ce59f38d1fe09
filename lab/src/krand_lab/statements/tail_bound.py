"""The tail bound (3.17) and what it is a bound of (001 §3.4).

Deviations are compared as squares and exponentials by enclosing them between fractions, so that no
verdict rests on rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import count, product
from math import comb

from krand_lab import formulas as drafts
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import Range, Setting, settings
from krand_lab.statements.verdict import Cases, Equations, corrected, printed

CASES = Range(range(2, 7), range(1, 4), 20, most_reports={1: 6, 2: 4, 3: 3})
DEVIATIONS = tuple(Fraction(n, 2) for n in (2, 4, 6, 7, 8, 10))
"""β: the draft uses 3, 3.05 and 3.5."""
ALL_DEVIATIONS = ", ".join(map(tex, DEVIATIONS))
MANY, MANY_DENOMINATOR, MANY_BETA = 40, 20, Fraction(6)
STEPS = Range(range(2, 13), range(1, 7), 12)

Exponent = Callable[[int, int, Fraction, Fraction], Fraction]


def _with_deviations() -> Iterator[tuple[Setting, Fraction]]:
    """Every setting with every β."""
    return ((setting, beta) for setting in CASES for beta in DEVIATIONS)


def _many() -> Iterator[tuple[Setting, Fraction]]:
    """Many users of one bit, few of whom have it set."""
    for n, b in product(range(2, MANY + 1), range(3, MANY_DENOMINATOR + 1)):
        yield Setting(n, 1, Fraction(1, b)), MANY_BETA


def _words(case: Setting, beta: Fraction) -> str:
    return rf"{case}, $\beta={tex(beta)}$"


SMALL, MANY_USERS = Cases(_with_deviations, _words), Cases(_many, _words)


@printed("001-3.17-upper", SMALL)
def used_for_the_upper_tail(case: Setting, beta: Fraction) -> bool | str:
    """001 §3.4: (3.17) as a bound on P[R > λ]."""
    return _bounded(case, beta, upper=True, exponent=drafts.exact_tail_exponent_001_3_17)


@printed("001-3.17-upper-unreduced", MANY_USERS)
def unreduced_line_for_the_upper_tail(case: Setting, beta: Fraction) -> bool | str:
    """001 §3.4: the line above (3.17) as a bound on P[R > λ]."""
    return _bounded(case, beta, upper=True, exponent=drafts.exact_tail_exponent_001_3_17_unreduced)


@printed("001-3.17", SMALL)
def last_line_for_the_lower_tail(case: Setting, beta: Fraction) -> bool | str:
    """001 (3.17), as printed."""
    return _bounded(case, beta, upper=False, exponent=drafts.exact_tail_exponent_001_3_17)


@printed("001-3.17-lower", SMALL)
@corrected("001-3.17", SMALL)
@corrected("001-3.17-upper", SMALL)
@corrected("001-3.17-upper-unreduced", MANY_USERS)
def first_lines_for_the_lower_tail(case: Setting, beta: Fraction) -> bool | str:
    """001 §3.4: Maurer's inequality and the two lines above (3.17), as printed."""
    return _bounded(case, beta, upper=False, exponent=drafts.exact_tail_exponent_001_3_17_unreduced)


BETA_SQUARED = Fraction(9)


@printed("001-3.17-step", settings(STEPS))
def last_line_does_not_follow(case: Setting) -> Equations:
    arguments = case.crowd, case.bits, case.q, BETA_SQUARED
    above = drafts.exact_tail_exponent_001_3_17_unreduced(*arguments)
    names = (r"-\ln (3.17)", r"-\ln(\mathrm{the line above})")
    yield names, drafts.exact_tail_exponent_001_3_17(*arguments), above


@corrected("001-3.17-step", settings(STEPS))
def what_follows_from_the_line_above(case: Setting) -> Equations:
    n, bits, q = case.crowd, case.bits, case.q
    larger = drafts.exact_tail_exponent_001_3_17(n, bits, q, BETA_SQUARED)
    above = drafts.exact_tail_exponent_001_3_17_unreduced(n, bits, q, BETA_SQUARED)
    squares = BETA_SQUARED / 2 * n**2 * drafts.exact_variance_ratio_001(n, bits, q) / above
    power = n * drafts.exact_mean_ratio_001(n, bits, q) - (n - 1)
    yield BETA_SQUARED / 2 * (1 - (n - 1 + power**2) / squares), above
    yield max(above, larger), larger


def exceeds_exponential(value: Fraction, exponent: Fraction) -> bool:
    """Whether value > exp(-exponent), for exponent ≥ 0, without rounding.

    The series of exp(exponent) is cut off; what is left out is less than a geometric series. Terms
    are added until the enclosure decides, which it does since exp of a fraction other than 0 is
    irrational.
    """
    if value <= 0 or exponent == 0:
        return value > 1
    series, term = Fraction(0), Fraction(1)
    for n in count():
        series, term = series + term, term * exponent / (n + 1)
        if value * series > 1:
            return True
        ratio = exponent / (n + 2)
        if ratio < 1 and value * (series + term / (1 - ratio)) < 1:
            return False
    raise AssertionError  # the loop above has no end but its returns


@cache
def _bounded(case: Setting, beta: Fraction, *, upper: bool, exponent: Exponent) -> bool | str:
    """Whether exp(-exponent) bounds one tail beyond βσ."""
    n, bits, q = case.crowd, case.bits, case.q
    mean = n * drafts.exact_mean_ratio_001(n, bits, q)
    reach = beta**2 * n**2 * drafts.exact_variance_ratio_001(n, bits, q)
    tail = sum(
        (chance for x, chance in _law(case) if (x > mean) == upper and (x - mean) ** 2 > reach),
        Fraction(0),
    )
    bound = exponent(n, bits, q, beta**2)
    return not exceeds_exponential(tail, bound) or (
        rf": the tail is ${tex(tail)}$, more than $\exp\left({tex(-bound)}\right)$"
    )


@cache
def _law(case: Setting) -> tuple[tuple[Fraction, Fraction], ...]:
    """Law of X under D_m: for one bit by the number of ones, else by (3.11)."""
    n, q = case.crowd, case.q
    if case.bits > 1:
        return tuple(drafts.generating_function_001_3_11(n, case.bits, q).items())
    p = 1 - q
    values = (((n - ones) * q / p + ones * p / q, ones) for ones in range(n + 1))
    return tuple(  # P(S|D_m) = R·P(S|D)
        (x, comb(n, ones) * q**ones * p ** (n - ones) * x / n) for x, ones in values
    )
