"""Every promise of a small crowd, held against all its outcomes; large ones against one attack."""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from effort import LONG
from enumerated_crowds import Case, answers, exact_delta, judge, random_case
from krand.accounting.calibration import assess
from krand.errors import InternalError, InvalidInput
from krand.promise import (
    Assurance,
    AtMost,
    Block,
    Bounds,
    ExactlyOne,
    FreeBits,
    Linkage,
    ResponseFormat,
)
from krand_lab.enumeration import exact_worst

CROWDS = 20_000 if LONG else 120


@pytest.mark.loop
def test_promises_of_small_crowds_hold() -> None:
    """upper ≥ exact ≥ lower for random crowds, and most upper ends are the exact δ.

    120 of them; `make long` takes 20,000.
    """
    excess = defaultdict(list)
    for number in range(CROWDS):
        chance = random.Random(number)
        found = judge(random_case(chance), chance)
        assert found.holds, (number, found)
        if found.truth[0] > 1e-12:
            kind = (found.case.responses.linkage, found.case.assurance)
            excess[kind].append(found.upper / found.truth[1])
    print({" ".join(kind): statistics.median(found) for kind, found in excess.items()})
    assert len(excess) == 4
    assert all(statistics.median(found) < 1.001 for found in excess.values())


@pytest.mark.parametrize("blocks", [(FreeBits(2),), (AtMost(1, 2),), (ExactlyOne(2), FreeBits(1))])
@pytest.mark.parametrize("copies", [1, 2])
def test_the_enumeration_agrees_with_the_rational_one(
    blocks: tuple[Block, ...], copies: int
) -> None:
    """Visiting arrays of floats and visiting multisets in whole numbers give the same δ."""
    q, lam, crowd = Fraction(1, 8), Fraction(3), 2
    responses = ResponseFormat(
        sum(b.options for b in blocks), linkage=Linkage.RECORD, copies=copies, structure=blocks
    )
    case = Case(responses, crowd, 0, float(q), math.log(lam), Assurance.CERTIFIED)
    worst = exact_worst(crowd, answers(blocks), q, lam, copies).value
    exact = max(worst.delta_forward, worst.delta_reverse)
    least, most = exact_delta(case, random.Random(1))
    assert least <= exact <= most
    assert most - least < 1e-10


@pytest.mark.check
def test_a_large_epsilon_keeps_its_digits() -> None:
    """N = 1000, 20 linked bits, q = .01, ε = 40: "some report is all ones" alone gives .81."""
    found = assess(ResponseFormat(20, linkage=Linkage.RECORD), 0.01, 1000, 40.0)
    assert all_ones(1000, 20, 0.01, 40.0) > 0.81
    assert found.delta.upper >= all_ones(1000, 20, 0.01, 40.0)
    assert found.eta.upper >= found.delta.upper * (1 - 1e-9)


def all_ones(crowd: int, bits: int, q: float, epsilon: float) -> float:
    """What the event "some report is all ones" tells, if everybody else answers all zeros."""
    log_q, log_p = bits * math.log(q), bits * math.log1p(-q)
    nobody = math.log1p(-math.exp(log_q))  # one person with zeros does not report all ones
    without = -math.expm1(crowd * nobody)
    own = math.log1p(-math.exp(log_p)) if log_p < 0 else -math.inf
    with_one = -math.expm1((crowd - 1) * nobody + own)
    return with_one - math.exp(epsilon) * without


EXAMPLES = 100 if LONG else 8
"""Other ones in every run; tests/accounting/test_extreme_attacks.py has the same in every run."""
LARGE = {
    "crowd": st.integers(2, 10**7),
    "bits": st.integers(1, 60),
    "q": st.floats(1e-9, 0.49),
    "epsilon": st.floats(math.log(1e-3), math.log(100.0)).map(
        lambda log: min(100.0, math.exp(log))
    ),
}


@pytest.mark.check
@pytest.mark.loop
@settings(max_examples=EXAMPLES, deadline=None)
@given(**LARGE)
def test_linked_records_are_never_promised_more_than_an_attack_allows(
    crowd: int, bits: int, q: float, epsilon: float
) -> None:
    """Whole records: δ is at least what "some report is all ones" tells."""
    found = assess(ResponseFormat(bits, linkage=Linkage.RECORD), q, crowd, epsilon).delta
    assert found.upper >= all_ones(crowd, bits, q, epsilon) * (1 - 1e-9)


@pytest.mark.loop
@settings(max_examples=EXAMPLES, deadline=None)
@given(**LARGE)
def test_single_bits_are_never_promised_more_than_an_attack_allows(
    crowd: int, bits: int, q: float, epsilon: float
) -> None:
    """Bits apart: δ is at least what "every position was reported once" tells."""
    nobody = crowd * math.log1p(-q)
    without = bits * math.log(-math.expm1(nobody))
    with_one = bits * math.log(-math.expm1(nobody - math.log1p(-q) + math.log(q)))
    attack = math.exp(with_one) - math.exp(without + epsilon)
    found = assess(ResponseFormat(bits), q, crowd, epsilon).delta
    assert found.upper >= attack * (1 - 1e-9)


def test_a_tie_of_epsilon_with_a_loss_is_rounded_up() -> None:
    """Six people, two bits, ε equal to the largest loss as a float: δ is tiny, and not 0."""
    q, epsilon = 0.0034926903224117784, 11.307168339413936
    found = assess(ResponseFormat(2), q, 6, epsilon).delta
    exact = worst_of_two_bits(6, Fraction(q), epsilon)
    assert 7e-16 < exact < 8e-16
    assert exact <= found.upper < 1e-12
    assert found.lower <= exact


def worst_of_two_bits(crowd: int, q: Fraction, epsilon: float) -> float:
    """The exact δ of two bits that are counted apart, over all numbers of ones of the others."""
    with localcontext(prec=60):
        lam = Fraction(Decimal(epsilon).exp())
    pairs = [_counts(crowd, ones, q) for ones in range(crowd)]
    pairs += [(one, zero) for zero, one in pairs]
    best = Fraction(0)
    for (a, b), (c, d) in product(pairs, repeat=2):
        total = sum(
            (
                max(Fraction(0), b[i] * d[j] - lam * a[i] * c[j])
                for i, j in product(range(len(a)), range(len(c)))
            ),
            Fraction(0),
        )
        best = max(best, total)
    return float(best)


def _counts(crowd: int, ones: int, q: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """The law of the count of ones if one more person answers 0, and if they answer 1."""
    law = [Fraction(1)]
    for i in range(crowd - 1):
        law = _with(law, 1 - q if i < ones else q)
    return _with(law, q), _with(law, 1 - q)


def _with(law: list[Fraction], one: Fraction) -> list[Fraction]:
    longer = [*law, Fraction(0)]
    return [
        (1 - one) * v + (one * longer[i - 1] if i else Fraction(0)) for i, v in enumerate(longer)
    ]


def test_answers_that_nobody_can_give_are_no_attack() -> None:
    """Two choices of two options, N = 2, q = .4: the lower end stays below the exact maximum."""
    blocks = (ExactlyOne(2), ExactlyOne(2))
    found = assess(
        ResponseFormat(4, linkage=Linkage.RECORD, structure=blocks), 0.4, 2, 1.1479
    ).delta
    worst = exact_worst(2, answers(blocks), Fraction(2, 5), Fraction(math.exp(1.1479))).value
    exact = max(worst.delta_forward, worst.delta_reverse)
    assert exact == pytest.approx(0.00728, rel=1e-3)
    assert 0.5 * exact < found.lower <= exact <= found.upper


def test_one_option_is_no_choice() -> None:
    """Exactly one of one option can be answered in one way only."""
    with pytest.raises(InvalidInput, match="at least 2"):
        ExactlyOne(1)


@pytest.mark.check
def test_records_of_a_million_bits_are_not_certified_for_nothing() -> None:
    """L = 10^6, q = .499, N = 10^6: each report alone tells almost everything."""
    found = assess(ResponseFormat(10**6, linkage=Linkage.RECORD), 0.499, 10**6, 1.0)
    # P[more than half of the bits on one's own side] as a Gaussian: far from next to nothing.
    assert found.delta.upper > 0.9


@pytest.mark.parametrize(
    ("value", "lower", "upper"), [(0.5, 0.6, 0.5), (0.1, 0.2, 0.1), (math.nan, 0.1, math.nan)]
)
def test_a_contradiction_is_a_bug_and_not_a_result(
    value: float, lower: float, upper: float
) -> None:
    """A lower end above an upper one raises, however the bounds are made."""
    with pytest.raises(InternalError):
        Bounds(value, lower, upper)
    with pytest.raises(InternalError):
        Bounds.around(value, lower, upper)


@pytest.mark.check
@given(st.floats(1e-6, 0.4), st.integers(2, 8), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_ties_of_linked_records(q: float, crowd: int, bits: int, loss: int) -> None:
    """At ε = j·ln(p/q), where outcomes tie, the promise still covers the exact δ."""
    assume(loss <= bits and crowd * bits <= 12)
    epsilon = loss * (math.log1p(-q) - math.log(q))
    assume(epsilon <= 100)
    responses = ResponseFormat(bits, linkage=Linkage.RECORD)
    case = Case(responses, crowd, 0, q, epsilon, Assurance.CERTIFIED)
    least, most = exact_delta(case, random.Random(1))
    found = case.assessment().delta
    assert found.upper >= least
    assert found.lower <= most


@pytest.mark.check
@pytest.mark.parametrize("epsilon", [1.0, 10.0])
def test_very_many_compositions_are_not_certified_for_nothing(epsilon: float) -> None:
    """Three people, a million bits, ten thousand rounds: whoever counts knows every answer."""
    found = assess(ResponseFormat(10**6, rounds=10**4), 0.4, 3, epsilon)
    assert found.delta.upper > 0.999


def test_rounds_of_long_records_are_not_certified_for_nothing() -> None:
    """Two people, 10,000 linked bits, two rounds, q = .047: losses leave the range of floats."""
    found = assess(
        ResponseFormat(10_000, linkage=Linkage.RECORD, rounds=2), 203_004_219 / 2**32, 2, 1.0
    )
    assert found.delta.upper > 0.999


@pytest.mark.parametrize("linkage", ["bit", "record"])
@pytest.mark.parametrize("bits", [1, 4])
def test_next_to_no_noise_protects_nobody(bits: int, linkage: str) -> None:
    """q = 1e-300 is answered, and the answer is that everything is told."""
    found = assess(ResponseFormat(bits, linkage=Linkage(linkage)), 1e-300, 100, 1.0)
    assert found.delta.upper > 0.999
