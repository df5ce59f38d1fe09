"""P[s ∈ R(T)] and A_p of 003 and 004 against the law of all multisets of reports."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.errors import InvalidInput
from krand_lab.enumeration import Vector, collection_law, report_law, vectors
from krand_lab.formulas.anonymity import anonymity_003_3, presence_003_2

NOISES = st.fractions(Fraction(1, 30), Fraction(29, 60), max_denominator=60)
COLLECTIONS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=3)


@settings(max_examples=40)
@given(COLLECTIONS, NOISES)
def test_presence(collection: list[Vector], q: Fraction) -> None:
    """P[s ∈ R(T)] is the probability of all multisets of reports that hold s."""
    law = collection_law(collection, q)
    for s in vectors(2):
        assert presence_003_2(s, collection, q) == sum(c for r, c in law.items() if s in r)


@settings(max_examples=40)
@given(COLLECTIONS, NOISES)
def test_anonymity(collection: list[Vector], q: Fraction) -> None:
    """A_p is the least of all quotients, taken from the enumerated laws, and at most p^(-L)."""
    quotients = []
    for i, v in enumerate(collection):
        others = collection_law([*collection[:i], *collection[i + 1 :]], q)
        for s, own in report_law(v, q).items():
            quotients.append(sum(c for r, c in others.items() if s in r) / own)
    assert anonymity_003_3(collection, q) == min(quotients)
    assert anonymity_003_3(collection, q) <= (1 - q) ** -2


def test_small_collections_by_hand() -> None:
    """Nobody hides one user; two who agree have 1, three of them 1 + q; a stranger q/p."""
    q = Fraction(1, 4)
    zero, one = (0,), (1,)
    assert anonymity_003_3([zero], q) == 0
    assert anonymity_003_3([zero, zero], q) == 1
    assert anonymity_003_3([zero, zero, zero], q) == 1 + q
    assert anonymity_003_3([zero, one], q) == q / (1 - q)
    assert presence_003_2(zero, [], q) == 0
    assert presence_003_2(zero, [zero, one], q) == 1 - q * (1 - q)


def test_numbers_as_well_as_fractions() -> None:
    """Floating-point noise gives the same values, and A_p needs a collection."""
    collection = [(0, 1), (1, 1), (0, 0)]
    exact = anonymity_003_3(collection, Fraction(1, 5))
    assert anonymity_003_3(collection, 0.2) == pytest.approx(float(exact))
    with pytest.raises(InvalidInput, match="collection"):
        anonymity_003_3([], 0.2)
