"""R of one copy and of k copies, held against every outcome (001 (8.5)–(8.8), (8.20)–(8.22))."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.statements.vector_cases import (
    Outcome,
    Range,
    Setting,
    outcomes,
    reports_in_words,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

ONE_COPY = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})
COPIES = Range(range(2, 7), range(1, 4), 4, range(1, 5), most_reports={1: 8, 2: 6, 3: 4})


@statement("001-8.5")
def probability_of_the_original() -> Tested:
    """001 (8.5)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        value = drafts.probability_original_001_8_5(s.set_bits, setting.bits, setting.q)
        return unequal(_where(*case), (r"N! \prod_i p(s_i|0)", "P(S|D)"), value, s.original)

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        repeats = tuple(Counter(s.reports).values())
        value = drafts.probability_original_001_8_5_corrected(
            s.set_bits, repeats, setting.bits, setting.q
        )
        return unequal(_where(*case), ("(8.5)", "P(S|D)"), value, s.original)

    return result(
        check(_outcomes(ONE_COPY), printed),
        check(_outcomes(ONE_COPY), corrected),
    )


@statement("001-8.6")
def ratio_without_the_excess() -> Tested:
    """001 (8.6)–(8.8)."""

    def fails(case: tuple[Setting, Outcome]) -> str | None:
        setting, s = case
        arguments = s.set_bits, setting.bits, setting.q
        return unequal(
            _where(*case), ("(8.6)", "R"), drafts.ratio_001_8_6(*arguments), s.ratio
        ) or unequal(_where(*case), ("(8.8)", "R"), drafts.ratio_001_8_8(*arguments), s.ratio)

    return result(
        check(_outcomes(ONE_COPY), fails),
    )


@statement("001-8.20")
def misprint_in_the_ratio_of_copies() -> Tested:
    """001 (8.20)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "(8.20)", drafts.copies_ratio_001_8_20)

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "e_k / C", drafts.copies_ratio_001_8_21_corrected)

    return result(
        check(_outcomes(COPIES), printed),
        check(_outcomes(COPIES), corrected),
    )


@statement("001-8.21")
def factorial_missing_in_the_ratio_of_copies() -> Tested:
    """001 (8.21)–(8.22)."""

    def printed(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "(8.21)", drafts.copies_ratio_001_8_21) or _ratio_differs(
            case, "(8.22)", drafts.copies_ratio_001_8_22
        )

    def corrected(case: tuple[Setting, Outcome]) -> str | None:
        return _ratio_differs(case, "e_k / C", drafts.copies_ratio_001_8_21_corrected)

    return result(
        check(_outcomes(COPIES), printed),
        check(_outcomes(COPIES), corrected),
    )


def _outcomes(cases: Range) -> Iterator[tuple[Setting, Outcome]]:
    """Every setting of the range with every outcome."""
    return ((setting, s) for setting in cases for s in outcomes(setting))


def _where(setting: Setting, s: Outcome) -> str:
    """The case in words."""
    return f"{setting}, {reports_in_words(s.reports)}"


def _ratio_differs(
    case: tuple[Setting, Outcome],
    name: str,
    formula: Callable[[tuple[int, ...], int, int, Fraction], Fraction],
) -> str | None:
    """What contradicts a formula for R(S^k), if anything."""
    setting, s = case
    value = formula(s.set_bits, setting.bits, setting.copies, setting.q)
    return unequal(_where(*case), (name, "R(S^k)"), value, s.ratio)
