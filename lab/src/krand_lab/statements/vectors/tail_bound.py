"""The tail bound (3.17) and what it is a bound of (001 §3.4).

Deviations are compared as squares and exponentials by enclosing them between fractions, so that no
verdict rests on rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import count
from math import comb

from krand_lab.formulas.vector_laws import generating_function_001_3_11
from krand_lab.formulas.vector_moments import (
    exact_mean_ratio_001,
    exact_tail_exponent_001_3_17,
    exact_tail_exponent_001_3_17_unreduced,
    exact_variance_ratio_001,
)
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import Range, Setting, exceeds, unequal
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS", "exceeds_exponential"]

CASES = Range(range(2, 7), range(1, 4), 20, most_reports={1: 6, 2: 4, 3: 3})
DEVIATIONS = tuple(Fraction(n, 2) for n in (2, 4, 6, 7, 8, 10))
"""β: the draft uses 3, 3.05 and 3.5."""
MANY = range(2, 41)
MANY_BETA = Fraction(6)
MANY_DENOMINATORS = range(3, 21)
STEPS = Range(range(2, 13), range(1, 7), 12)

Exponent = Callable[[int, int, Fraction, Fraction], Fraction]
Case = tuple[Setting, Fraction]


def used_for_the_upper_tail() -> Verdict:
    """001 §3.4: (3.17) as a bound on P[R > λ]."""

    def printed(case: Case) -> str | None:
        return _fails(case, upper=True, exponent=exact_tail_exponent_001_3_17)

    def corrected(case: Case) -> str | None:
        return _fails(case, upper=False, exponent=exact_tail_exponent_001_3_17_unreduced)

    return Verdict(
        Statement(
            key="001-3.17-upper",
            source="001 §3.4 and (3.17), as they are used",
            says=r"Under $D_m$, $P[R > \mathrm{E} R + \beta \sigma] \le \exp\left("
            r"-\frac{\beta^2}{2}\left[1 - \frac{(N-1) + \phi^L}{(N-1)\phi^L + (\phi^2 + \phi - "
            r"1)^L}\right]\right)$.",
            covered=_covered(),
            corrected=r"The inequality bounds the other tail, without the misprint of the last "
            r"line: $P[R < \mathrm{E} R - \beta \sigma] \le \exp\left(-\frac{\beta^2 \sigma^2}{2 "
            r"\sum_i \mathrm{E} X_i^2}\right)$, $\sigma^2$ being the variance of $X = \sum_i X_i$. "
            r"Checked over the same range.",
            comment=r"The draft wants $P[R(T) > e^\epsilon] \le \eta$, sets out from an inequality "
            r"of Maurer (2003) for $P[\mathrm{E}(S) - S > t]$, where $S$ is a sum of non-negative "
            r"variables, and compares the result with $P[R \ge \lambda]$. A sum of non-negative "
            r"variables with rare large terms has a light lower and a heavy upper tail. So the "
            r"bound says nothing about privacy.",
        ),
        check(_cases(), printed),
        check(_cases(), corrected),
    )


def unreduced_line_for_the_upper_tail() -> Verdict:
    """001 §3.4: the line above (3.17) as a bound on P[R > λ]."""

    def printed(case: Case) -> str | None:
        return _fails(case, upper=True, exponent=exact_tail_exponent_001_3_17_unreduced)

    def corrected(case: Case) -> str | None:
        return _fails(case, upper=False, exponent=exact_tail_exponent_001_3_17_unreduced)

    cases = [(Setting(n, 1, Fraction(1, b)), MANY_BETA) for n in MANY for b in MANY_DENOMINATORS]
    return Verdict(
        Statement(
            key="001-3.17-upper-unreduced",
            source="001 §3.4, the line above (3.17), as it is used",
            says=r"Under $D_m$, $P[R > \mathrm{E} R + \beta \sigma] \le \exp\left("
            r"-\frac{\beta^2 \sigma^2}{2[(N-1)\phi^L + (\phi^2 + \phi - 1)^L]}\right)$.",
            covered=rf"all ${MANY[0]} \le N \le {MANY[-1]}$, $L = 1$, $q = \frac{{1}}{{b}}$ for "
            rf"all ${MANY_DENOMINATORS[0]} \le b \le {MANY_DENOMINATORS[-1]}$, $\beta = "
            rf"{tex(MANY_BETA)}$",
            corrected=r"It bounds $P[R < \mathrm{E} R - \beta \sigma]$. Checked over the same "
            r"range.",
            comment=r"Also without the misprint of the last line the upper tail is not bounded. "
            r"Failures need large $\beta$: the line above (3.17) is so loose that none was found "
            r"at $\beta = 3$ and $\beta = 3.5$, which the draft uses.",
        ),
        check(cases, printed),
        check(cases, corrected),
    )


def first_lines_for_the_lower_tail() -> Verdict:
    """001 §3.4: Maurer's inequality and the two lines above (3.17), as printed."""

    def fails(case: Case) -> str | None:
        return _fails(case, upper=False, exponent=exact_tail_exponent_001_3_17_unreduced)

    return Verdict(
        Statement(
            key="001-3.17-lower",
            source="001 §3.4, the lines above (3.17)",
            says=r"$P[\mathrm{E}(S) - S > \beta\sigma] \le \exp\left(-\frac{\beta^2((N-1)"
            r"(\phi^L - 1) + (\phi^2 + \phi - 1)^L - \phi^{2L})}{2[(N-1)\phi^L + (\phi^2 + \phi - "
            r"1)^L]}\right)$ for the sum $S$ of the contributions $X_0$ and $X_1$.",
            covered=_covered(),
            comment=r"For $x \ge 0$, $e^{-x} \le 1 - x + \frac{x^2}{2}$, hence $\mathrm{E} "
            r"e^{-\theta X_i} \le \exp\left(-\theta \mathrm{E} X_i + \frac{\theta^2}{2} \mathrm{E} "
            r"X_i^2\right)$ for independent $X_i \ge 0$. By Markov's inequality $P[\mathrm{E} S "
            r"- S \ge t] \le \exp\left(-\theta t + \frac{\theta^2}{2} \sum_i \mathrm{E} "
            r"X_i^2\right)$; $\theta = t / \sum_i \mathrm{E} X_i^2$ gives the line. The draft "
            r"omits that the $X_i$ must not be negative, which they are not. Here $S$ is the sum "
            r"$X$, not the collection.",
        ),
        check(_cases(), fails),
    )


def last_line_does_not_follow() -> Verdict:
    """001 (3.17) against the line above it."""
    beta_squared = Fraction(9)

    def printed(case: Setting) -> str | None:
        arguments = case.crowd, case.bits, case.q, beta_squared
        return unequal(
            case,
            (r"-\ln (3.17)", r"-\ln(\mathrm{the line above})"),
            exact_tail_exponent_001_3_17(*arguments),
            exact_tail_exponent_001_3_17_unreduced(*arguments),
        )

    def corrected(case: Setting) -> str | None:
        n, bits, q = case.crowd, case.bits, case.q
        larger = exact_tail_exponent_001_3_17(n, bits, q, beta_squared)
        right = exact_tail_exponent_001_3_17_unreduced(n, bits, q, beta_squared)
        squares = beta_squared / 2 * n**2 * exact_variance_ratio_001(n, bits, q) / right
        power = n * exact_mean_ratio_001(n, bits, q) - (n - 1)
        reduced = beta_squared / 2 * (1 - (n - 1 + power**2) / squares)
        return unequal(case, (r"\phi^{2L}", "above"), reduced, right) or exceeds(
            case, ("above", "(3.17)"), right, larger
        )

    return Verdict(
        Statement(
            key="001-3.17-step",
            source="001 (3.17)",
            says=r"$\frac{(N-1)(\phi^L - 1) + (\phi^2 + \phi - 1)^L - \phi^{2L}}{(N-1)\phi^L + "
            r"(\phi^2 + \phi - 1)^L} = 1 - \frac{(N-1) + \phi^L}{(N-1)\phi^L + (\phi^2 + \phi - "
            r"1)^L}$.",
            covered=rf"both sides times $\frac{{\beta^2}}{{2}}$ for $\beta = 3$, for {STEPS}",
            corrected=r"The numerator on the right is $(N-1) + \phi^{2L}$. As printed the right "
            r"side is larger, so (3.17) claims a smaller probability than the line above it "
            r"proves. Both are checked over the same range.",
            comment=r"A slip with weight: for $N = 1000$, $L = 5$, $q = .1692$, $\beta = 3$ the "
            r"line above gives .0459 and (3.17) gives .0111. For fixed $N$ and $q$ both tend to "
            r"$\exp(-\beta^2/2)$ as $L$ grows, as the draft says.",
        ),
        check(STEPS, printed),
        check(STEPS, corrected),
    )


def last_line_for_the_lower_tail() -> Verdict:
    """001 (3.17), as printed."""

    def printed(case: Case) -> str | None:
        return _fails(case, upper=False, exponent=exact_tail_exponent_001_3_17)

    def corrected(case: Case) -> str | None:
        return _fails(case, upper=False, exponent=exact_tail_exponent_001_3_17_unreduced)

    return Verdict(
        Statement(
            key="001-3.17",
            source="001 (3.17)",
            says=r"$P[\mathrm{E}(S) - S > \beta\sigma] \le \exp\left(-\frac{\beta^2}{2}\left[1 - "
            r"\frac{(N-1) + \phi^L}{(N-1)\phi^L + (\phi^2 + \phi - 1)^L}\right]\right)$.",
            covered=_covered(),
            corrected=r"With $\phi^{2L}$ for $\phi^L$ in the numerator it is the line above it, "
            r"which holds. Checked over the same range.",
            comment=r"So the slip of the last step makes (3.17) false even for the tail it names. "
            r"In the smallest case $X$ is symmetric about its mean, both tails are equal, and "
            r"three deviations are reached with small probability on either side.",
        ),
        check(_cases(), printed),
        check(_cases(), corrected),
    )


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
def _fails(case: Case, *, upper: bool, exponent: Exponent) -> str | None:
    """What contradicts the bound exp(-exponent) on one tail beyond βσ, if anything."""
    setting, beta = case
    n, bits, q = setting.crowd, setting.bits, setting.q
    mean = n * exact_mean_ratio_001(n, bits, q)
    reach = beta**2 * n**2 * exact_variance_ratio_001(n, bits, q)
    tail = sum(
        (chance for x, chance in _law(setting) if (x > mean) == upper and (x - mean) ** 2 > reach),
        Fraction(0),
    )
    bound = exponent(n, bits, q, beta**2)
    if not exceeds_exponential(tail, bound):
        return None
    return (
        rf"{setting}, $\beta={tex(beta)}$: the tail is ${tex(tail)}$, more than "
        rf"$\exp\left({tex(-bound)}\right)$"
    )


@cache
def _law(case: Setting) -> tuple[tuple[Fraction, Fraction], ...]:
    """Law of X under D_m: for one bit by the number of ones, else by (3.11)."""
    n, q = case.crowd, case.q
    if case.bits > 1:
        return tuple(generating_function_001_3_11(n, case.bits, q).items())
    p = 1 - q
    values = (((n - ones) * q / p + ones * p / q, ones) for ones in range(n + 1))
    return tuple(  # P(S|D_m) = R·P(S|D)
        (x, comb(n, ones) * q**ones * p ** (n - ones) * x / n) for x, ones in values
    )


def _cases() -> Iterator[Case]:
    """Every setting with every β."""
    return ((setting, beta) for setting in CASES for beta in DEVIATIONS)


def _covered() -> str:
    """The range of these cases in words."""
    betas = ", ".join(map(tex, DEVIATIONS))
    return rf"the exact law of $X$ under $D_m$, for {CASES}, each with $\beta = {betas}$"


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    first_lines_for_the_lower_tail,
    last_line_does_not_follow,
    last_line_for_the_lower_tail,
    used_for_the_upper_tail,
    unreduced_line_for_the_upper_tail,
)
