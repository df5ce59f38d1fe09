"""The equations for R of whole vectors, held against every multiset of reports.

000 §2.1.1, 001 §2–3.1, 003 §6.1.1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.vector_cases import (
    Range,
    Setting,
    law_of_reports,
    outcomes,
    reports_in_words,
    unequal,
)
from krand_lab.statements.verdict import Tested, check, result, statement

ANY_BACKGROUND = Range(range(2, 6), range(1, 4), 4, most_reports={1: 5, 2: 4, 3: 2})
ZEROS = Range(range(2, 9), range(1, 4), 6, most_reports={1: 8, 2: 5, 3: 4})


@statement("000-2.1")
def conditioning_on_one_report() -> Tested:
    """000 (2.1): the probability of S by the report of one user."""

    def fails(case: tuple[Setting, Vector, Vector, Multiset]) -> str | None:
        setting, x, y, reports = case
        true = law_of_reports((*(x,) * (setting.crowd - 1), y), setting.q)[reports]
        printed = drafts.collection_probability_000_2_1(Counter(reports), x, y, setting.q)
        where = f"{setting}, {reports_in_words(reports)}"
        return unequal(where, (r"\sum_i \ldots", r"P(S|D' + y)"), printed, true)

    cases = (
        (setting, x, y, reports)
        for setting, x in _backgrounds()
        for y in vectors(setting.bits)
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
    )
    return result(
        check(cases, fails),
    )


@statement("000-2.5")
def ratio_of_neighbouring_counts() -> Tested:
    """000 (2.4)–(2.5) and 001 (2.3): the multinomial coefficients divide out."""

    def fails(case: tuple[Setting, Vector, Multiset, Vector]) -> str | None:
        setting, x, reports, v = case
        law, counts = law_of_reports((x,) * (setting.crowd - 1), setting.q), Counter(reports)
        true = law[_less_one(reports, v)] / law[_less_one(reports, setting.zeros)]
        printed = [
            drafts.count_ratio_000_2_4(counts, v, x, setting.q),
            drafts.count_ratio_001_2_3(counts, v, x, setting.q),
        ]
        if x == setting.zeros:
            printed.append(drafts.count_ratio_000_2_5(counts, v, setting.q))
        if x == setting.ones:
            printed.append(drafts.count_ratio_003_6_5(counts, v, setting.q))
        where = f"{setting}, {reports_in_words(reports)}"
        names = (r"\frac{s_i}{s_1} \cdot \frac{p(v_1|x)}{p(v_i|x)}", r"\frac{P}{P}")
        return next(filter(None, (unequal(where, names, value, true) for value in printed)), None)

    cases = (
        (setting, x, reports, v)
        for setting, x in _backgrounds()
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
        if setting.zeros in reports
        for v in sorted({*reports} - {setting.zeros})
    )
    return result(
        check(cases, fails),
    )


@statement("001-2.4")
def ratio_for_any_homogeneous_background() -> Tested:
    """001 (2.4): R from the histogram of vectors, whatever single vector the others hold."""

    def fails(case: tuple[Setting, Vector, Multiset]) -> str | None:
        setting, x, reports = case
        others = (x,) * (setting.crowd - 1)
        modified = law_of_reports((*others, setting.ones), setting.q)[reports]
        original = law_of_reports((*others, setting.zeros), setting.q)[reports]
        printed = drafts.ratio_001_2_4(Counter(reports), x, setting.q)
        where = f"{setting}, {reports_in_words(reports)}"
        return unequal(where, ("(2.4)", "R"), printed, modified / original)

    cases = (
        (setting, x, reports)
        for setting, x in _backgrounds()
        for reports in law_of_reports((x,) * setting.crowd, setting.q)
    )
    return result(
        check(cases, fails),
    )


@statement("000-2.7")
def ratio_from_counts_of_vectors() -> Tested:
    """000 (2.7), 001 (3.1) and 003 (6.7)."""
    formulas: tuple[tuple[str, Callable[[Counter[Vector], Fraction], Fraction]], ...] = (
        ("001~(3.1)", drafts.ratio_001_3_1),
        ("1/000~(2.7)", lambda counts, q: 1 / drafts.ratio_000_2_7(counts, q)),
        ("003~(6.7)", lambda counts, q: drafts.ratio_003_6_7(_mirrored(counts), q)),
    )

    def fails(case: tuple[Setting, Multiset, Fraction]) -> str | None:
        setting, reports, true = case
        where = f"{setting}, {reports_in_words(reports)}"
        failures = (
            unequal(where, (name, "R"), formula(Counter(reports), setting.q), true)
            for name, formula in formulas
        )
        return next(filter(None, failures), None)

    return result(
        check(_zeros_cases(), fails),
    )


@statement("000-2.10")
def ratio_from_set_bits() -> Tested:
    """000 (2.9)–(2.11), 001 (3.2)–(3.6) and 003 (6.9)–(6.10)."""
    formulas: tuple[tuple[str, Callable[[tuple[int, ...], Fraction], Fraction]], ...] = (
        ("001~(3.4)", drafts.ratio_001_3_4),
        ("001~(3.6)", drafts.ratio_001_3_6),
        ("1/000~(2.10)", lambda histogram, q: 1 / drafts.ratio_000_2_10(histogram, q)),
        ("000~(2.11)", drafts.inverse_ratio_000_2_11),
        ("003~(6.10)", lambda histogram, q: drafts.ratio_003_6_10(histogram[::-1], q)),
    )

    def fails(case: tuple[Setting, Multiset, Fraction]) -> str | None:
        setting, reports, true = case
        histogram = drafts.set_bit_histogram_001_3_3(reports, setting.bits)
        where = f"{setting}, {reports_in_words(reports)}"
        failures = (
            unequal(where, (name, "R"), formula(histogram, setting.q), true)
            for name, formula in formulas
        )
        return next(filter(None, failures), None)

    return result(
        check(_zeros_cases(), fails),
    )


@statement("000-2.1.1-sufficient")
def set_bits_are_sufficient() -> Tested:
    """000 §2.1.1 and 001 §3: nothing is lost by counting set bits."""

    def fails(case: Setting) -> str | None:
        seen: dict[tuple[int, ...], set[Fraction]] = defaultdict(set)
        for s in outcomes(case):
            seen[drafts.set_bit_histogram_001_3_3(s.reports, case.bits)].add(s.ratio)
        several = [histogram for histogram, ratios in seen.items() if len(ratios) > 1]
        return f"{case}: $T = {several[0]}$ has several ratios" if several else None

    return result(
        check(ZEROS, fails),
    )


@statement("001-3.1-maximum")
def largest_ratio_is_that_of_local_privacy() -> Tested:
    """001 §3.1: the largest R, and where it is reached."""

    def fails(case: Setting) -> str | None:
        largest = max(s.ratio for s in outcomes(case))
        at = [s.reports for s in outcomes(case) if s.ratio == largest]
        if at != [(case.ones,) * case.crowd]:
            return f"{case}: the largest ratio is reached at {reports_in_words(at[0])}"
        limit = drafts.largest_ratio_001_1_3(case.bits, case.q)
        return unequal(case, (r"\max R", "(p/q)^L"), largest, limit)

    return result(
        check(ZEROS, fails),
    )


def _backgrounds() -> Iterator[tuple[Setting, Vector]]:
    """Every setting of the smaller range with every vector that all others may hold."""
    return ((setting, x) for setting in ANY_BACKGROUND for x in vectors(setting.bits))


def _zeros_cases() -> Iterator[tuple[Setting, Multiset, Fraction]]:
    """Every setting with a background of zeros, every outcome and its ratio."""
    return ((setting, s.reports, s.ratio) for setting in ZEROS for s in outcomes(setting))


def _less_one(reports: Multiset, v: Vector) -> Multiset:
    """The multiset without one report v."""
    at = reports.index(v)
    return reports[:at] + reports[at + 1 :]


def _mirrored(counts: Counter[Vector]) -> Counter[Vector]:
    """The counts with zeros and ones exchanged."""
    return Counter({tuple(1 - bit for bit in v): count for v, count in counts.items()})
