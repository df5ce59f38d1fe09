"""Probabilities and ratios of synthetic collections (002 §2–3, 003 §7–8) against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
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


def test_a_report_of_each_user() -> None:
    """As many reports as users are needed."""
    with pytest.raises(InvalidInput, match="reports"):
        drafts.collection_probability_002_2_1([ZEROS, ONES], [ZEROS], Q)


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


def test_conditioning_of_003_by_hand() -> None:
    """(7.12) drops the last report, and (7.13) counts the repeated report twice."""
    zero, one = (0,), (1,)
    law = collection_law([one, one, zero], Q)
    assert drafts.probability_modified_003_7_12([zero, one], Q) == (1 - Q) * (1 - Q)
    assert drafts.probability_modified_003_7_12([zero], Q) == 0
    # S = {0, 0, 1}: weights 2·2·(p/q)², 1·1·(q/p)², in place of 2 and 1.
    odds = (1 - Q) / Q
    assert drafts.ratio_003_7_13([zero, zero, one], Q) == (4 * odds + 1 / odds) / 5
    exact = law[zero, zero, one] / collection_law([one] * 3, Q)[zero, zero, one]
    assert exact == (2 * odds + 1 / odds) / 3
    assert drafts.ratio_003_7_13([zero, one], Q) == drafts.ratio_003_7_17([zero, one], Q)


def test_numbers_as_well_as_fractions() -> None:
    """Floating-point noise gives the same values as the fraction."""
    for l1, l2, x in product(vectors(2), repeat=3):
        exact = drafts.ratio_of_two_003_7_9_corrected(l1, l2, x, Fraction(1, 5))
        assert drafts.ratio_of_two_003_7_9_corrected(l1, l2, x, 0.2) == pytest.approx(float(exact))
    assert drafts.ratio_003_7_17([ZEROS, ONES], 0.25) == pytest.approx((9 + 1 / 9) / 2)
    assert drafts.collection_probability_002_2_1([ZEROS], [ONES], 0.25) == 0.0625


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


def test_small_collections_by_hand() -> None:
    """Nobody hides one user; two who agree have 1, three of them 1 + q; a stranger q/p."""
    q = Fraction(1, 4)
    zero, one = (0,), (1,)
    assert drafts.anonymity_003_3([zero], q) == 0
    assert drafts.anonymity_003_3([zero, zero], q) == 1
    assert drafts.anonymity_003_3([zero, zero, zero], q) == 1 + q
    assert drafts.anonymity_003_3([zero, one], q) == q / (1 - q)
    assert drafts.presence_003_2(zero, [], q) == 0
    assert drafts.presence_003_2(zero, [zero, one], q) == 1 - q * (1 - q)


def test_anonymity_of_numbers() -> None:
    """Floating-point noise gives the same values, and A_p needs a collection."""
    collection = [(0, 1), (1, 1), (0, 0)]
    exact = drafts.anonymity_003_3(collection, Fraction(1, 5))
    assert drafts.anonymity_003_3(collection, 0.2) == pytest.approx(float(exact))
    with pytest.raises(InvalidInput, match="collection"):
        drafts.anonymity_003_3([], 0.2)
