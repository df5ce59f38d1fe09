"""Equations that sum over the reports of N unit vectors, put to the exact test (003 "
"(7.12)–(7.21))."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from krand_lab import formulas as drafts
from krand_lab.enumeration import Multiset, Vector, vectors
from krand_lab.statements.collections.reports import (
    ALL_REPORTS,
    ResponseFormat,
    against,
    all_reports,
    one_outlier,
)
from krand_lab.statements.ranges import (
    law,
    noises,
    noises_in_words,
    unequal,
    vector_tex,
    vectors_tex,
    where,
)
from krand_lab.statements.verdict import Tested, check, result, statement

USERS = 6
BITS = 3
DENOMINATOR = 9


def _original(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return law(((1,) * bits,) * len(s), q)[s]


def _modified(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return law(one_outlier(len(s), (0,) * bits, (1,) * bits), q)[s]


def _ratio(s: Multiset, bits: int, q: Fraction) -> Fraction:
    return _modified(s, bits, q) / _original(s, bits, q)


@statement("003-7.12")
def modified_collection_003() -> Tested:
    """003 (7.12): the probability of the reports by conditioning on one of them."""
    printed = against(lambda s, _, q: drafts.probability_modified_003_7_12(s, q), _modified)
    right = against(lambda s, _, q: drafts.probability_modified_003_7_12_corrected(s, q), _modified)
    return result(printed, right)


@statement("003-7.13")
def ratio_of_conditionings_003() -> Tested:
    """003 (7.13): the ratio of two such sums, with probabilities of multisets."""

    def distinct(s: Multiset, bits: int, q: Fraction) -> Fraction:
        return drafts.ratio_002_3_1(s, ((1,) * bits,) * len(s), (0,) * bits, q)

    printed = against(lambda s, _, q: drafts.ratio_003_7_13(s, q), _ratio)
    return result(printed, against(distinct, _ratio))


@statement("003-7.14")
def arrangements_003() -> Tested:
    """003 (7.14): the probability of the reports of N unit vectors."""
    printed = against(lambda s, _, q: drafts.weight_003_7_14(s, q), _original)
    right = against(lambda s, _, q: drafts.probability_003_7_14_corrected(s, q), _original)
    return result(printed, right)


@statement("003-7.17")
def ratio_of_arrangements_003() -> Tested:
    """003 (7.16) and (7.17): the ratio as a mean over the reports."""

    def fails(case: ResponseFormat) -> str | None:
        s, bits, q = case
        place, exact = where(N=len(s), L=bits, q=q, S=vectors_tex(s)), _ratio(s, bits, q)
        return unequal(f"(7.16) at {place}", drafts.ratio_003_7_16(s, q), exact) or unequal(
            f"(7.17) at {place}", drafts.ratio_003_7_17(s, q), exact
        )

    return result(check(all_reports(), fails))


@statement("003-7.18")
def two_kinds_of_reports_003() -> Tested:
    """003 (7.18): the ratio when every report is all zeros or all ones."""

    Case = tuple[int, int, Fraction, int]

    def cases() -> Iterator[Case]:
        for n in range(1, USERS + 1):
            for bits in range(1, BITS + 1):
                for q in noises(DENOMINATOR):
                    yield from ((n, bits, q, k) for k in range(n + 1))

    def exact(case: Case) -> Fraction:
        n, bits, q, k = case
        return drafts.ratio_003_7_17([(0,) * bits] * k + [(1,) * bits] * (n - k), q)

    def fails(case: Case) -> str | None:
        n, bits, q, k = case
        printed = drafts.ratio_003_7_18(k, n - k, bits, q)
        return unequal(where(N=n, L=bits, q=q, K=k), printed, exact(case))

    def corrected_fails(case: Case) -> str | None:
        n, bits, q, k = case
        printed = drafts.ratio_003_7_18_corrected(k, n - k, bits, q)
        return unequal(where(N=n, L=bits, q=q, K=k), printed, exact(case))

    return result(
        check(cases(), fails),
        check(cases(), corrected_fails),
        noises_in_words=noises_in_words(DENOMINATOR),
    )


@statement("003-7.21")
def ratio_of_unequal_records_003() -> Tested:
    """003 (7.20) and (7.21): any record x is turned to zeros among unit vectors."""

    def cases() -> Iterator[tuple[Multiset, int, Fraction, Vector]]:
        for s, bits, q in all_reports():
            yield from ((s, bits, q, x) for x in vectors(bits))

    def fails(case: tuple[Multiset, int, Fraction, Vector]) -> str | None:
        s, bits, q, x = case
        exact = _modified(s, bits, q) / law(one_outlier(len(s), x, (1,) * bits), q)[s]
        place = where(N=len(s), L=bits, q=q, x=vector_tex(x), S=vectors_tex(s))
        return unequal(place, drafts.ratio_003_7_21(s, x, q), exact)

    return result(check(cases(), fails), reports=ALL_REPORTS[:-1])
