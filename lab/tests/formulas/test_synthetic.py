"""Probabilities and ratios of synthetic collections (002 §2–3, 003 §7–8) against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import factorial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand_lab.enumeration import Vector, collection_law, report_law, vectors
from krand_lab.formulas import examples, synthetic
from krand_lab.formulas.counts import generating_function_003_4_2
from krand_lab.formulas.examples import (
    mean_ratio_003_7_1,
    probability_003_8_1,
    probability_modified_003_8_2,
    probability_modified_003_8_3,
    ratio_003_8_4,
    ratio_003_8_6,
    ratio_003_8_7,
    ratio_003_8_8,
    ratio_of_two_003_7_2,
    ratio_of_two_003_7_2_divided,
    ratio_of_two_003_7_3,
    ratio_of_two_003_7_6,
    ratio_of_two_003_7_7,
    ratio_of_two_003_7_7_corrected,
    ratio_of_two_003_7_8,
    ratio_of_two_003_7_9,
    ratio_of_two_003_7_9_corrected,
    report_of_ones_003_7_5,
    report_of_zeros_003_7_4,
)
from krand_lab.formulas.synthetic import (
    collection_probability_002_2_1,
    probability_003_7_14_corrected,
    probability_modified_003_7_12,
    probability_modified_003_7_12_corrected,
    ratio_002_3,
    ratio_002_3_1,
    ratio_003_7_13,
    ratio_003_7_16,
    ratio_003_7_17,
    ratio_003_7_18,
    ratio_003_7_18_corrected,
    ratio_003_7_21,
    ratio_one_bit_002_3,
    report_probability_002_2,
    step_002_3_4,
    step_all_ones_002_3_6,
    weight_003_7_14,
    weight_003_7_20,
    weight_modified_003_7_15,
)

NOISES = st.fractions(Fraction(1, 30), Fraction(29, 60), max_denominator=60)
VECTORS = st.tuples(st.integers(0, 1), st.integers(0, 1))
COLLECTIONS = st.lists(VECTORS, min_size=1, max_size=3)
ZEROS, ONES = (0, 0), (1, 1)
Q = Fraction(1, 4)


@given(VECTORS, NOISES)
def test_report_probability(x: Vector, q: Fraction) -> None:
    """P[R(x) = y] counts the flips; of ones and zeros it is 003 (7.5) and (7.4)."""
    assert {y: report_probability_002_2(x, y, q) for y in vectors(2)} == report_law(x, q)
    for y in vectors(2):
        assert report_probability_002_2(ZEROS, y, q) == report_of_zeros_003_7_4(2, sum(y), q)
        assert report_probability_002_2(ONES, y, q) == report_of_ones_003_7_5(2, sum(y), q)


@settings(max_examples=40)
@given(COLLECTIONS, VECTORS, NOISES)
def test_collections_of_002(collection: list[Vector], first: Vector, q: Fraction) -> None:
    """(2.1) is the law of the multiset of reports, and π by (3.1) the ratio of two of them."""
    modified = [first, *collection[1:]]
    law, changed = collection_law(collection, q), collection_law(modified, q)
    for s, chance in law.items():
        assert collection_probability_002_2_1(collection, s, q) == chance
        assert ratio_002_3(s, collection, modified, q) == changed[s] / chance
        assert ratio_002_3_1(s, collection, first, q) == changed[s] / chance


def test_a_report_of_each_user() -> None:
    """As many reports as users are needed."""
    with pytest.raises(InvalidInput, match="reports"):
        collection_probability_002_2_1([ZEROS, ONES], [ZEROS], Q)


@given(st.integers(2, 5), st.data(), NOISES)
def test_one_bit_of_002(crowd: int, data: st.DataObject, q: Fraction) -> None:
    """The one-bit ratio of 002 §3.1, the recursion (3.4) and the step of n-1 ones are exact."""
    ones = data.draw(st.integers(0, crowd - 1))
    others = [Fraction(0), Fraction(0), *generating_function_003_4_2(crowd - 1, ones, q), 0]
    with_zero = generating_function_003_4_2(crowd, ones, q)
    with_one = generating_function_003_4_2(crowd, ones + 1, q)
    all_ones = generating_function_003_4_2(crowd - 1, crowd - 1, q)
    for s in range(crowd + 1):
        two_before, before, here = map(Fraction, others[s : s + 3])
        assert ratio_one_bit_002_3(before, here, q) == with_zero[s] / with_one[s]
        if s > 0:
            assert step_002_3_4(two_before, before, here, q) == with_zero[s] / with_zero[s - 1]
            assert step_002_3_4(two_before, before, here, 1 - q) == with_one[s] / with_one[s - 1]
        if 0 < s < crowd:
            step = step_all_ones_002_3_6(crowd, s, q)
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
    assert weight_003_7_14(reports, q) == repeats * original
    assert weight_modified_003_7_15(reports, q) == repeats * modified
    assert weight_003_7_20(reports, x, q) == repeats * other
    assert probability_003_7_14_corrected(reports, q) == original
    assert probability_modified_003_7_12_corrected(reports, q) == modified
    assert ratio_003_7_16(reports, q) == ratio_003_7_17(reports, q) == modified / original
    assert ratio_003_7_21(reports, x, q) == modified / other


def test_conditioning_of_003_by_hand() -> None:
    """(7.12) drops the last report, and (7.13) counts the repeated report twice."""
    zero, one = (0,), (1,)
    law = collection_law([one, one, zero], Q)
    assert probability_modified_003_7_12([zero, one], Q) == (1 - Q) * (1 - Q)
    assert probability_modified_003_7_12([zero], Q) == 0
    # S = {0, 0, 1}: weights 2·2·(p/q)², 1·1·(q/p)², in place of 2 and 1.
    odds = (1 - Q) / Q
    assert ratio_003_7_13([zero, zero, one], Q) == (4 * odds + 1 / odds) / 5
    exact = law[zero, zero, one] / collection_law([one] * 3, Q)[zero, zero, one]
    assert exact == (2 * odds + 1 / odds) / 3
    assert ratio_003_7_13([zero, one], Q) == ratio_003_7_17([zero, one], Q)


def test_two_kinds_of_reports() -> None:
    """(7.18) counts K and M twice; corrected it is (7.17)."""
    reports = [ZEROS, ZEROS, ZEROS, ONES]
    assert ratio_003_7_18_corrected(3, 1, 2, Q) == ratio_003_7_17(reports, Q)
    assert ratio_003_7_18(3, 1, 2, Q) == Fraction(9 * 9, 4) + Fraction(1, 36)
    assert ratio_003_7_18(1, 0, 2, Q) == ratio_003_7_18_corrected(1, 0, 2, Q)


@given(VECTORS, VECTORS, VECTORS, VECTORS, NOISES)
def test_two_reports(l1: Vector, l2: Vector, x: Vector, z: Vector, q: Fraction) -> None:
    """(7.2), (7.3), (7.6) and the corrected (7.7), (7.9) are exact; (7.7)–(7.9) agree, wrongly."""
    s = tuple(sorted((l1, l2)))
    zero = collection_law([ZEROS, x], q)[s]
    general = zero / collection_law([z, x], q)[s]
    assert ratio_of_two_003_7_2(l1, l2, z, x, q) == general
    assert ratio_of_two_003_7_2_divided(l1, l2, z, x, q) == general
    exact = zero / collection_law([ONES, x], q)[s]
    assert ratio_of_two_003_7_3(l1, l2, x, q) == ratio_of_two_003_7_6(l1, l2, x, q) == exact
    assert ratio_of_two_003_7_7_corrected(l1, l2, x, q) == exact
    assert ratio_of_two_003_7_9_corrected(l1, l2, x, q) == exact
    printed = ratio_of_two_003_7_7(l1, l2, x, q)
    assert ratio_of_two_003_7_8(l1, l2, x, q) == ratio_of_two_003_7_9(l1, l2, x, q) == printed
    assert (printed == exact) == (sum(l1) == sum(l2))


@given(st.integers(1, 8), NOISES)
def test_mean_ratio(bits: int, q: Fraction) -> None:
    """(7.1) is 1."""
    assert mean_ratio_003_7_1(bits, q) == 1


@pytest.mark.parametrize("crowd", [1, 2, 4])
def test_one_zero_among_equals(crowd: int) -> None:
    """(8.1)–(8.3) are exact but for s = 0, where they are N times too large; (8.4)–(8.8) always."""
    for s in vectors(2):
        reports = tuple(sorted((ZEROS, *(s,) * (crowd - 1))))
        original = collection_law([ONES] * crowd, Q)[reports]
        modified = collection_law([ONES] * (crowd - 1) + [ZEROS], Q)[reports]
        case, factor = (crowd, 2, sum(s), Q), 1 if any(s) else crowd
        assert probability_003_8_1(*case) == factor * original
        assert probability_modified_003_8_2(*case) == factor * modified
        assert probability_modified_003_8_3(*case) == factor * modified
        for form in (ratio_003_8_4, ratio_003_8_6, ratio_003_8_7, ratio_003_8_8):
            assert form(*case) == modified / original


@pytest.mark.parametrize("module", [synthetic, examples])
def test_names_are_documented_and_distinct(module: object) -> None:
    """Each module lists its formulas once, each with a docstring and the number of its draft."""
    names: list[str] = module.__all__  # type: ignore[attr-defined]
    assert len(set(names)) == len(names)
    for name in names:
        assert any(f"_{document}_" in name for document in ("002", "003"))
        assert getattr(module, name).__doc__


def test_numbers_as_well_as_fractions() -> None:
    """Floating-point noise gives the same values as the fraction."""
    for l1, l2, x in product(vectors(2), repeat=3):
        exact = ratio_of_two_003_7_9_corrected(l1, l2, x, Fraction(1, 5))
        assert ratio_of_two_003_7_9_corrected(l1, l2, x, 0.2) == pytest.approx(float(exact))
    assert ratio_003_7_17([ZEROS, ONES], 0.25) == pytest.approx((9 + 1 / 9) / 2)
    assert collection_probability_002_2_1([ZEROS], [ONES], 0.25) == 0.0625
