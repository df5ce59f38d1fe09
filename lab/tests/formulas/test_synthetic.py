"""Probabilities and ratios of synthetic collections (002 §2–3, 003 §7–8) against enumeration."""

from __future__ import annotations

from fractions import Fraction
from math import factorial

from hypothesis import given, settings
from hypothesis import strategies as st

from krand_lab import formulas as drafts
from krand_lab.enumeration import Vector, collection_law, report_law, vectors

NOISES = st.fractions(Fraction(1, 30), Fraction(29, 60), max_denominator=60)
VECTORS = st.tuples(st.integers(0, 1), st.integers(0, 1))
COLLECTIONS = st.lists(VECTORS, min_size=1, max_size=3)
ZEROS, ONES = (0, 0), (1, 1)
Q = Fraction(1, 4)


@given(VECTORS, NOISES)
def test_report_probability(x: Vector, q: Fraction) -> None:
    """P[R(x) = y] counts the flips; of ones and zeros it is 003 (7.5) and (7.4)."""
    assert {y: drafts.report_probability_002_2(x, y, q) for y in vectors(2)} == report_law(x, q)
    for y in vectors(2):
        assert drafts.report_probability_002_2(ZEROS, y, q) == drafts.report_of_zeros_003_7_4(
            2, sum(y), q
        )
        assert drafts.report_probability_002_2(ONES, y, q) == drafts.report_of_ones_003_7_5(
            2, sum(y), q
        )


@settings(max_examples=40)
@given(COLLECTIONS, VECTORS, NOISES)
def test_collections_of_002(collection: list[Vector], first: Vector, q: Fraction) -> None:
    """(2.1) is the law of the multiset of reports, and π by (3.1) the ratio of two of them."""
    modified = [first, *collection[1:]]
    law, changed = collection_law(collection, q), collection_law(modified, q)
    for s, chance in law.items():
        assert drafts.collection_probability_002_2_1(collection, s, q) == chance
        assert drafts.ratio_002_3(s, collection, modified, q) == changed[s] / chance
        assert drafts.ratio_002_3_1(s, collection, first, q) == changed[s] / chance


@given(st.integers(2, 5), st.data(), NOISES)
def test_one_bit_of_002(crowd: int, data: st.DataObject, q: Fraction) -> None:
    """The one-bit ratio of 002 §3.1, the recursion (3.4) and the step of n-1 ones are exact."""
    ones = data.draw(st.integers(0, crowd - 1))
    others = [Fraction(0), Fraction(0), *drafts.generating_function_003_4_2(crowd - 1, ones, q), 0]
    with_zero = drafts.generating_function_003_4_2(crowd, ones, q)
    with_one = drafts.generating_function_003_4_2(crowd, ones + 1, q)
    all_ones = drafts.generating_function_003_4_2(crowd - 1, crowd - 1, q)
    for s in range(crowd + 1):
        two_before, before, here = map(Fraction, others[s : s + 3])
        assert drafts.ratio_one_bit_002_3(before, here, q) == with_zero[s] / with_one[s]
        if s > 0:
            assert (
                drafts.step_002_3_4(two_before, before, here, q) == with_zero[s] / with_zero[s - 1]
            )
            assert (
                drafts.step_002_3_4(two_before, before, here, 1 - q)
                == with_one[s] / with_one[s - 1]
            )
        if 0 < s < crowd:
            step = drafts.step_all_ones_002_3_6(crowd, s, q)
            assert step == all_ones[s] / all_ones[s - 1]


@settings(max_examples=40)
@given(COLLECTIONS, VECTORS, NOISES)
def test_arrangements_of_003(reports: list[Vector], x: Vector, q: Fraction) -> None:
    """The weights of (7.14), (7.15) and (7.20) are wrong by the repeats, their ratios right."""
    n, s = len(reports), tuple(sorted(reports))
    original = collection_law([ONES] * n, q)[s]
    modified = collection_law([ONES] * (n - 1) + [ZEROS], q)[s]
    other = collection_law([ONES] * (n - 1) + [x], q)[s]
    repeats = 1
    for v in set(reports):
        repeats *= factorial(reports.count(v))
    assert drafts.weight_003_7_14(reports, q) == repeats * original
    assert drafts.weight_modified_003_7_15(reports, q) == repeats * modified
    assert drafts.weight_003_7_20(reports, x, q) == repeats * other
    assert drafts.probability_003_7_14_corrected(reports, q) == original
    assert drafts.probability_modified_003_7_12_corrected(reports, q) == modified
    assert (
        drafts.ratio_003_7_16(reports, q)
        == drafts.ratio_003_7_17(reports, q)
        == modified / original
    )
    assert drafts.ratio_003_7_21(reports, x, q) == modified / other


# --- anonymity: 003 §3, 004 §2; that of presence is a statement ----------------------------------


@settings(max_examples=40)
@given(COLLECTIONS, NOISES)
def test_anonymity(collection: list[Vector], q: Fraction) -> None:
    """A_p is the least of all quotients, taken from the enumerated laws, and at most p^(-L)."""
    quotients = []
    for i, v in enumerate(collection):
        others = collection_law([*collection[:i], *collection[i + 1 :]], q)
        for s, own in report_law(v, q).items():
            quotients.append(sum(c for r, c in others.items() if s in r) / own)
    assert drafts.anonymity_003_3(collection, q) == min(quotients)
    assert drafts.anonymity_003_3(collection, q) <= (1 - q) ** -2
