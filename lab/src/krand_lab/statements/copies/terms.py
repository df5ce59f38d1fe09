"""Moments of the terms of R, held against every outcome (001 (8.9)–(8.19), (8.23)–(8.29))."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from krand_lab.formulas.copies import (
    mean_set_bits_001_8_25,
    mean_set_bits_001_8_25_corrected,
    mean_x_one_001_8_17,
    mean_x_r_001_8_27,
    mean_x_zero_001_8_11,
    mean_y_one_001_8_15,
    mean_y_zero_001_8_9,
    powers_of_set_bits_001_8_26,
    set_bits_law_001_8_24,
    set_bits_law_001_8_24_corrected,
    square_x_one_001_8_18,
    square_x_r_001_8_28,
    square_x_r_001_8_28_middle,
    square_x_r_001_8_28_middle_corrected,
    square_x_zero_001_8_12,
    square_y_one_001_8_16,
    square_y_zero_001_8_10,
    variance_x_one_001_8_19,
    variance_x_r_001_8_29,
    variance_x_zero_001_8_13,
)
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    mean_and_variance,
    unequal,
)
from krand_lab.statements.verdict import Statement, Verdict, check

__all__ = ["STATEMENTS"]

LONGEST = 6
MOST_REPORTS = 4
MIXTURE_BITS = 3
MIXTURE_DENOMINATOR = 6


@dataclass(frozen=True, slots=True)
class Mixture:
    """A subset of k reports: m come from zeros and r from ones."""

    zeros: int
    ones: int
    bits: int
    q: Fraction

    def __str__(self) -> str:
        """The case in words, with formulas."""
        return f"$m={self.zeros}$, $r={self.ones}$, $L={self.bits}$, $q={tex(self.q)}$"

    @property
    def arguments(self) -> tuple[int, int, int, Fraction]:
        """In the order that the formulas take."""
        return self.zeros, self.ones, self.bits, self.q


def moments_by_generating_functions() -> Verdict:
    """001 (8.9)–(8.19)."""

    def fails(case: Setting) -> str | None:
        bits, q = case.bits, case.q
        odds = (1 - q) / q
        printed = (
            (mean_y_zero_001_8_9(bits, q), _power_mean(1, 0, bits, q, odds**2)),
            (square_y_zero_001_8_10(bits, q), _power_mean(1, 0, bits, q, odds**4)),
            (mean_y_one_001_8_15(bits, q), _power_mean(0, 1, bits, q, odds**2)),
            (square_y_one_001_8_16(bits, q), _power_mean(0, 1, bits, q, odds**4)),
            (mean_x_zero_001_8_11(bits, q), Fraction(1)),
            (mean_x_zero_001_8_11(bits, q), _moments(1, 0, bits, q)[0]),
            (square_x_zero_001_8_12(bits, q) - 1, _moments(1, 0, bits, q)[1]),
            (variance_x_zero_001_8_13(bits, q), _moments(1, 0, bits, q)[1]),
            (mean_x_one_001_8_17(bits, q), _moments(0, 1, bits, q)[0]),
            (
                square_x_one_001_8_18(bits, q),
                _moments(0, 1, bits, q)[1] + _moments(0, 1, bits, q)[0] ** 2,
            ),
            (variance_x_one_001_8_19(bits, q), _moments(0, 1, bits, q)[1]),
        )
        failures = (unequal(case, ("(8)", "X"), left, right) for left, right in printed)
        return next(filter(None, failures), None)

    return Verdict(
        Statement(
            key="001-8.19",
            source="001 (8.1)–(8.3) and (8.9)–(8.19)",
            says=r"The moments of $Y_0$, $X_0$, $Y_1$, $X_1$ from the generating functions "
            r"$M_0(t) = (p + q e^t)^L$ and $M_1(t) = (q + p e^t)^L$; those of $X_0$ and $X_1$ are "
            r"the same as in Appendix I.",
            covered=rf"every report of zeros and of ones, for all $1 \le L \le {LONGEST}$ and all "
            rf"fractions $0 < q < \frac{{1}}{{2}}$ with denominators up to {MIXTURE_DENOMINATOR}",
            comment=r"$\mathrm{E} c^{L_0} = M_0(\ln c) = (p + qc)^L$, with $c = (p/q)^2$ and "
            r"$(p/q)^4$.",
        ),
        check(Range(range(1, 2), range(1, LONGEST + 1), MIXTURE_DENOMINATOR), fails),
    )


def sum_of_set_bits() -> Verdict:
    """001 (8.24)."""

    def printed(case: Mixture) -> str | None:
        return _other_law(case, set_bits_law_001_8_24(*case.arguments))

    def corrected(case: Mixture) -> str | None:
        return _other_law(case, set_bits_law_001_8_24_corrected(*case.arguments))

    return Verdict(
        Statement(
            key="001-8.24",
            source="001 (8.24)",
            says=r"The number of set bits in $m$ reports of zeros and $r$ of ones is $L_r = m "
            r"\cdot L_0 + r \cdot L_1$.",
            covered=_mixtures_covered(),
            corrected=r"$L_r$ is the sum of $m$ independent variables like $L_0$ and $r$ like "
            r"$L_1$: $\mathrm{Bin}(mL, q) + \mathrm{Bin}(rL, p)$. Checked over the same range.",
            comment=r"The mean is the same, the law is not: $2 L_0$ is always even. (8.26) is the "
            r"generating function of the sum, so nothing that follows is affected.",
        ),
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
    )


def mean_number_of_set_bits() -> Verdict:
    """001 (8.25)."""

    def printed(case: Mixture) -> str | None:
        return unequal(
            case,
            ("m q^L + r p^L", r"\mathrm{E} L_r"),
            mean_set_bits_001_8_25(*case.arguments),
            _mean_set_bits(case),
        )

    def corrected(case: Mixture) -> str | None:
        return unequal(
            case,
            ("mLq + rLp", r"\mathrm{E} L_r"),
            mean_set_bits_001_8_25_corrected(*case.arguments),
            _mean_set_bits(case),
        )

    return Verdict(
        Statement(
            key="001-8.25",
            source="001 (8.25)",
            says=r"$\mathrm{E} L_r = m \cdot q^L + r \cdot p^L$.",
            covered=_mixtures_covered(),
            corrected=r"$\mathrm{E} L_r = mLq + rLp$. Checked over the same range.",
            comment=r"Right for $L = 1$ only. The draft does not use it.",
        ),
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
    )


def moments_of_one_term() -> Verdict:
    """001 (8.26), (8.27), (8.29)."""

    def fails(case: Mixture) -> str | None:
        mean, variance = _moments(*case.arguments)
        odds = (1 - case.q) / case.q
        for base in (Fraction(1, 2), Fraction(2), odds**2, odds**4):
            true = _power_mean(*case.arguments, base)
            value = powers_of_set_bits_001_8_26(base, *case.arguments)
            failure = unequal(case, ("(8.26)", r"\mathrm{E} c^{L_r}"), value, true)
            if failure:
                return failure
        return (
            unequal(case, ("(8.27)", ""), mean_x_r_001_8_27(case.ones, case.bits, case.q), mean)
            or unequal(
                case, ("(8.28)", ""), square_x_r_001_8_28(*case.arguments), variance + mean**2
            )
            or unequal(case, ("(8.29)", ""), variance_x_r_001_8_29(*case.arguments), variance)
        )

    return Verdict(
        Statement(
            key="001-8.29",
            source="001 (8.26), (8.27), the end of (8.28), (8.29)",
            says=r"$X_r = \left(\frac{q}{p}\right)^{kL} \left(\frac{p}{q}\right)^{2 L_r}$ has "
            r"$\mathrm{E} X_r = \phi^{rL}$ and $\mathrm{Var} X_r = \phi^{mL} \left(\frac{q^5 + "
            r"p^5}{(qp)^2}\right)^{rL} - \phi^{2rL}$.",
            covered=_mixtures_covered() + r"; (8.26) at $e^t = \frac{1}{2}, 2, "
            r"\left(\frac{p}{q}\right)^2, \left(\frac{p}{q}\right)^4$",
            comment=r"$X_r$ is a product of $m$ independent variables like $X_0$ and $r$ like "
            r"$X_1$. (8.27) and (8.28) print $M_k$ where $M_r$ is meant.",
        ),
        check(_mixtures(), fails),
    )


def square_missing_in_the_second_moment() -> Verdict:
    """001 (8.28)."""

    def printed(case: Mixture) -> str | None:
        return _second_moment_differs(case, square_x_r_001_8_28_middle)

    def corrected(case: Mixture) -> str | None:
        return _second_moment_differs(case, square_x_r_001_8_28_middle_corrected)

    return Verdict(
        Statement(
            key="001-8.28",
            source="001 (8.28), the middle",
            says=r"$\mathrm{E} X_r^2 = \left(\frac{q}{p}\right)^{kL} \left(p + q \left("
            r"\frac{p}{q}\right)^4\right)^{mL} \left(q + p \left(\frac{p}{q}\right)^4\right)"
            r"^{rL}$.",
            covered=_mixtures_covered(),
            corrected=r"The first factor is $\left(\frac{q}{p}\right)^{2kL}$. Checked over the "
            r"same range.",
            comment="A misprint: the end of the line is right.",
        ),
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
    )


def _mixtures() -> Iterator[Mixture]:
    """Every mixture, short vectors and few reports first."""
    return (
        Mixture(k - ones, ones, bits, q)
        for bits in range(1, MIXTURE_BITS + 1)
        for k in range(1, MOST_REPORTS + 1)
        if bits * k <= MIXTURE_BITS * 2
        for q in noises(MIXTURE_DENOMINATOR)
        for ones in range(k + 1)
    )


def _mixtures_covered() -> str:
    """The range of the mixtures in words."""
    return (
        rf"every multiset of reports of $m$ zeros and $r$ ones, for all $1 \le L \le "
        rf"{MIXTURE_BITS}$, $1 \le m + r \le {MOST_REPORTS}$ with $L(m + r) \le "
        rf"{MIXTURE_BITS * 2}$, and all fractions $0 < q < \frac{{1}}{{2}}$ with denominators "
        f"up to {MIXTURE_DENOMINATOR}"
    )


@cache
def _law(zeros: int, ones: int, bits: int, q: Fraction) -> dict[int, Fraction]:
    """Law of the number of set bits in all reports, from every multiset of them."""
    law: dict[int, Fraction] = defaultdict(Fraction)
    users = ((0,) * bits,) * zeros + ((1,) * bits,) * ones
    for reports, chance in law_of_reports(users, q).items():
        law[sum(map(sum, reports))] += chance
    return dict(law)


def _other_law(case: Mixture, law: dict[int, Fraction]) -> str | None:
    """What contradicts a law of the number of set bits, if anything."""
    true = _law(*case.arguments)
    for value in sorted(true):
        failure = unequal(
            case,
            (f"P[m L_0 + r L_1 = {value}]", f"P[L_r = {value}]"),
            law.get(value, Fraction(0)),
            true[value],
        )
        if failure:
            return failure
    return None


def _mean_set_bits(case: Mixture) -> Fraction:
    """E[L_r], from every multiset of reports."""
    return sum((value * chance for value, chance in _law(*case.arguments).items()), Fraction(0))


def _power_mean(zeros: int, ones: int, bits: int, q: Fraction, base: Fraction) -> Fraction:
    """E[c^(L_r)]."""
    law = _law(zeros, ones, bits, q).items()
    return sum((base**value * chance for value, chance in law), Fraction(0))


@cache
def _moments(zeros: int, ones: int, bits: int, q: Fraction) -> tuple[Fraction, Fraction]:
    """Mean and variance of X_r."""
    odds, k = (1 - q) / q, zeros + ones
    law = _law(zeros, ones, bits, q).items()
    return mean_and_variance((odds ** (2 * value - k * bits), chance) for value, chance in law)


def _second_moment_differs(
    case: Mixture, formula: Callable[[int, int, int, Fraction], Fraction]
) -> str | None:
    """What contradicts a formula for E[X_r²], if anything."""
    mean, variance = _moments(*case.arguments)
    value = formula(*case.arguments)
    return unequal(case, ("(8.28)", r"\mathrm{E} X_r^2"), value, variance + mean**2)


STATEMENTS: tuple[Callable[[], Verdict], ...] = (
    moments_by_generating_functions,
    sum_of_set_bits,
    mean_number_of_set_bits,
    moments_of_one_term,
    square_missing_in_the_second_moment,
)
