"""Moments of the terms of R, held against every outcome (001 (8.9)–(8.19), (8.23)–(8.29))."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

from krand_lab import formulas as drafts
from krand_lab.statements.bit_counts import noises
from krand_lab.statements.notation import tex
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    mean_and_variance,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

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


@statement("001-8.19")
def moments_by_generating_functions() -> Tested:
    """001 (8.9)–(8.19)."""

    def fails(case: Setting) -> str | None:
        bits, q = case.bits, case.q
        odds = (1 - q) / q
        printed = (
            (drafts.mean_y_zero_001_8_9(bits, q), _power_mean(1, 0, bits, q, odds**2)),
            (drafts.square_y_zero_001_8_10(bits, q), _power_mean(1, 0, bits, q, odds**4)),
            (drafts.mean_y_one_001_8_15(bits, q), _power_mean(0, 1, bits, q, odds**2)),
            (drafts.square_y_one_001_8_16(bits, q), _power_mean(0, 1, bits, q, odds**4)),
            (drafts.mean_x_zero_001_8_11(bits, q), Fraction(1)),
            (drafts.mean_x_zero_001_8_11(bits, q), _moments(1, 0, bits, q)[0]),
            (drafts.square_x_zero_001_8_12(bits, q) - 1, _moments(1, 0, bits, q)[1]),
            (drafts.variance_x_zero_001_8_13(bits, q), _moments(1, 0, bits, q)[1]),
            (drafts.mean_x_one_001_8_17(bits, q), _moments(0, 1, bits, q)[0]),
            (
                drafts.square_x_one_001_8_18(bits, q),
                _moments(0, 1, bits, q)[1] + _moments(0, 1, bits, q)[0] ** 2,
            ),
            (drafts.variance_x_one_001_8_19(bits, q), _moments(0, 1, bits, q)[1]),
        )
        failures = (unequal(case, ("(8)", "X"), left, right) for left, right in printed)
        return next(filter(None, failures), None)

    return result(
        check(Range(range(1, 2), range(1, LONGEST + 1), MIXTURE_DENOMINATOR), fails),
    )


@statement("001-8.24")
def sum_of_set_bits() -> Tested:
    """001 (8.24)."""

    def printed(case: Mixture) -> str | None:
        return _other_law(case, drafts.set_bits_law_001_8_24(*case.arguments))

    def corrected(case: Mixture) -> str | None:
        return _other_law(case, drafts.set_bits_law_001_8_24_corrected(*case.arguments))

    return result(
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
        mixtures_covered=_mixtures_covered(),
    )


@statement("001-8.25")
def mean_number_of_set_bits() -> Tested:
    """001 (8.25)."""

    def printed(case: Mixture) -> str | None:
        return unequal(
            case,
            ("m q^L + r p^L", r"\mathrm{E} L_r"),
            drafts.mean_set_bits_001_8_25(*case.arguments),
            _mean_set_bits(case),
        )

    def corrected(case: Mixture) -> str | None:
        return unequal(
            case,
            ("mLq + rLp", r"\mathrm{E} L_r"),
            drafts.mean_set_bits_001_8_25_corrected(*case.arguments),
            _mean_set_bits(case),
        )

    return result(
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
        mixtures_covered=_mixtures_covered(),
    )


@statement("001-8.29")
def moments_of_one_term() -> Tested:
    """001 (8.26), (8.27), (8.29)."""

    def fails(case: Mixture) -> str | None:
        mean, variance = _moments(*case.arguments)
        odds = (1 - case.q) / case.q
        for base in (Fraction(1, 2), Fraction(2), odds**2, odds**4):
            true = _power_mean(*case.arguments, base)
            value = drafts.powers_of_set_bits_001_8_26(base, *case.arguments)
            failure = unequal(case, ("(8.26)", r"\mathrm{E} c^{L_r}"), value, true)
            if failure:
                return failure
        return (
            unequal(
                case, ("(8.27)", ""), drafts.mean_x_r_001_8_27(case.ones, case.bits, case.q), mean
            )
            or unequal(
                case,
                ("(8.28)", ""),
                drafts.square_x_r_001_8_28(*case.arguments),
                variance + mean**2,
            )
            or unequal(
                case, ("(8.29)", ""), drafts.variance_x_r_001_8_29(*case.arguments), variance
            )
        )

    return result(check(_mixtures(), fails), mixtures_covered=_mixtures_covered())


@statement("001-8.28")
def square_missing_in_the_second_moment() -> Tested:
    """001 (8.28)."""

    def printed(case: Mixture) -> str | None:
        return _second_moment_differs(case, drafts.square_x_r_001_8_28_middle)

    def corrected(case: Mixture) -> str | None:
        return _second_moment_differs(case, drafts.square_x_r_001_8_28_middle_corrected)

    return result(
        check(_mixtures(), printed),
        check(_mixtures(), corrected),
        mixtures_covered=_mixtures_covered(),
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
