"""Every promise of a small crowd, held against all its outcomes; large ones against two attacks.

Enumeration reaches only small crowds. The attacks need nothing but a pocket calculator: crowds have
up to 10^12 people, answers up to 10^6 bits, and a person is asked up to 10^4 times; what somebody
surely learns is less than δ.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from effort import LONG
from enumerated_crowds import (
    Case,
    answers,
    exact_delta,
    judge,
    random_case,
    worst_delta,
    worst_of_bits,
)
from krand.accounting.bounds import Effort
from krand.accounting.calibration import assess
from krand.accounting.mechanism import Mechanism
from krand.promise import AtMost, Block, ExactlyOne, FreeBits, Linkage, ResponseFormat

CROWDS = 20_000 if LONG else 120


@pytest.mark.check
@pytest.mark.loop
def test_promises_of_small_crowds_hold() -> None:
    """What is stated is at least the exact δ of random crowds, and mostly the exact δ itself.

    120 of them; `make long` takes 20,000.
    """
    excess = defaultdict(list)
    for number in range(CROWDS):
        chance = random.Random(number)
        found = judge(random_case(chance), chance)
        assert found.holds, (number, found)
        if found.truth[0] > 1e-12:
            excess[found.case.responses.linkage].append(found.stated / found.truth[1])
    print({str(linkage): statistics.median(found) for linkage, found in excess.items()})
    assert len(excess) == 2
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
    case = Case(responses, crowd, 0, float(q), math.log(lam))
    exact = worst_delta(crowd, answers(blocks), q, lam, copies)
    least, most = exact_delta(case, random.Random(1))
    assert least <= exact <= most
    assert most - least < 1e-10


def test_a_tie_of_epsilon_with_a_loss_is_rounded_up() -> None:
    """Six people, two bits, ε equal to the largest loss as a float: δ is tiny, and not 0."""
    q, epsilon = 0.0034926903224117784, 11.307168339413936
    found = assess(ResponseFormat(2), q, 6, epsilon).delta
    with localcontext(prec=60):
        lam = Fraction(Decimal(epsilon).exp())
    exact = worst_of_bits(6, [Fraction(q)] * 2, lam)
    assert 7e-16 < exact < 8e-16
    assert exact <= found < 1e-12


CHECKED = pytest.mark.check
RECORD = {"linkage": Linkage.RECORD}
HOPELESS = [
    pytest.param(ResponseFormat(10**6, **RECORD), 0.499, 10**6, 1.0, marks=CHECKED),
    pytest.param(ResponseFormat(10**6, rounds=10**4), 0.4, 3, 1.0, marks=CHECKED),
    pytest.param(ResponseFormat(10**6, rounds=10**4), 0.4, 3, 10.0, marks=CHECKED),
    (ResponseFormat(10_000, rounds=2, **RECORD), 203_004_219 / 2**32, 2, 1.0),
    *((ResponseFormat(bits), 1e-300, 100, 1.0) for bits in (1, 4)),
    *((ResponseFormat(bits, **RECORD), 1e-300, 100, 1.0) for bits in (1, 4)),
]


@pytest.mark.parametrize(("responses", "q", "crowd", "epsilon"), HOPELESS)
def test_what_protects_nobody_is_not_certified(
    responses: ResponseFormat, q: float, crowd: int, epsilon: float
) -> None:
    """A million bits, of which each report tells almost everything; ten thousand rounds of them;
    losses that leave the range of floats; next to no noise, which is answered all the same.

    P[more than half of the bits on one's own side] as a Gaussian is far from next to nothing.
    """
    assert assess(responses, q, crowd, epsilon).delta > (0.9 if crowd == 10**6 else 0.999)


@pytest.mark.check
@given(st.floats(1e-6, 0.4), st.integers(2, 8), st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_ties_of_linked_records(q: float, crowd: int, bits: int, loss: int) -> None:
    """At ε = j·ln(p/q), where outcomes tie, the promise still covers the exact δ."""
    assume(loss <= bits and crowd * bits <= 12)
    epsilon = loss * (math.log1p(-q) - math.log(q))
    assume(epsilon <= 100)
    responses = ResponseFormat(bits, linkage=Linkage.RECORD)
    case = Case(responses, crowd, 0, q, epsilon)
    least, _ = exact_delta(case, random.Random(1))
    assert case.promise().delta >= least


CASES = 600 if LONG else 16


@dataclass(frozen=True)
class Attacked:
    people: int
    bits: int
    copies: int
    rounds: int
    q: float
    epsilon: float
    linkage: Linkage
    effort: Effort


def random_attacked(number: int) -> Attacked:
    chance = random.Random(number)
    return Attacked(
        chance.choice((2, 3, 12, 800, 10**6, 10**9, 10**12)),
        chance.choice((1, 2, 5, 20, 40, 300, 1000, 10_000, 10**6)),
        chance.choice((1, 1, 2, 16, 100, 10_000)),
        chance.choice((1, 1, 2, 100, 10_000)),
        chance.choice((1e-12, 1e-9, 1e-5, 0.001, 0.01, 0.1, 0.25, 0.4, 0.45, 0.499, 0.49999)),
        chance.choice((0.001, 0.1, 1.0, 10.0, 40.0, 100.0)),
        chance.choice((Linkage.BIT, Linkage.RECORD)),
        chance.choice((Effort.NEAR, Effort.QUICK, Effort.QUICK, Effort.FULL)),
    )


def log_some(log_none: float) -> float:
    """log(1 - e^x) for x ≤ 0, with all its digits for chances near 0 and near 1."""
    if log_none < -1:
        return math.log1p(-math.exp(log_none))
    return math.log(-math.expm1(log_none)) if log_none < 0 else -math.inf


def all_ones_are_seen(case: Attacked) -> float:
    """Records: all others answer no to everything; does some report of every round say yes to all?

    The person says yes to everything, or no.
    """
    log_q, log_p = math.log(case.q), math.log1p(-case.q)
    foreign, own = log_some(case.bits * log_q), log_some(case.bits * log_p)
    without = log_some(case.copies * case.people * foreign)
    with_person = log_some(case.copies * ((case.people - 1) * foreign + own))
    return max(advantage(with_person, without, rounds, case) for rounds in (1, case.rounds))


def every_position_is_seen(case: Attacked) -> float:
    """Bits: all others say no; was every position of every round reported at least once?"""
    log_q, log_p = math.log(case.q), math.log1p(-case.q)
    without = log_some(case.copies * case.people * log_p)
    with_person = log_some(case.copies * ((case.people - 1) * log_p + log_q))
    positions = (1, case.bits, case.bits * case.rounds)
    return max(advantage(with_person, without, count, case) for count in positions)


def advantage(with_person: float, without: float, times: int, case: Attacked) -> float:
    """P - e^ε·P' for an event that has to happen so many times independently."""
    return math.exp(times * with_person) - math.exp(min(700.0, times * without + case.epsilon))


def assert_covered(case: Attacked) -> None:
    """The promise is not better than the attack."""
    record = case.linkage is Linkage.RECORD
    learned = all_ones_are_seen(case) if record else every_position_is_seen(case)
    responses = ResponseFormat(
        case.bits, linkage=case.linkage, copies=case.copies, rounds=case.rounds
    )
    mechanism = Mechanism(responses, case.people, case.epsilon)
    stated, _ = mechanism.delta(case.q, case.effort)
    assert stated >= learned * (1 - 1e-9) - 1e-15


def one_report(people: int, bits: int, q: float, epsilon: float, linkage: Linkage) -> Attacked:
    return Attacked(people, bits, 1, 1, q, epsilon, linkage, Effort.FULL)


EPSILONS = st.floats(math.log(1e-3), math.log(100.0)).map(lambda log: min(100.0, math.exp(log)))


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("linkage", [Linkage.BIT, pytest.param(Linkage.RECORD, marks=CHECKED)])
@settings(max_examples=100 if LONG else 8, deadline=None)
@given(st.integers(2, 10**7), st.integers(1, 60), st.floats(1e-9, 0.49), EPSILONS)
def test_no_promise_of_one_report_is_better_than_an_attack_allows(
    linkage: Linkage, people: int, bits: int, q: float, epsilon: float
) -> None:
    """Other crowds in every run; the test below has the same in every run."""
    assert_covered(one_report(people, bits, q, epsilon, linkage))


@pytest.mark.check
def test_a_large_epsilon_keeps_its_digits() -> None:
    """N = 1000, 20 linked bits, q = .01, ε = 40: "some report is all ones" alone gives .81."""
    case = one_report(1000, 20, 0.01, 40.0, Linkage.RECORD)
    found = assess(ResponseFormat(20, linkage=Linkage.RECORD), 0.01, 1000, 40.0)
    assert all_ones_are_seen(case) > 0.81
    assert found.delta >= all_ones_are_seen(case)
    assert found.eta >= found.delta * (1 - 1e-9)


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("number", range(CASES))
def test_no_promise_is_better_than_what_an_attacker_surely_learns(number: int) -> None:
    assert_covered(random_attacked(number))


def test_the_attacks_learn_something() -> None:
    """A bound above attacks that never succeed would show nothing."""
    cases = [random_attacked(number) for number in range(600)]
    records = [all_ones_are_seen(c) for c in cases if c.linkage is Linkage.RECORD]
    bits = [every_position_is_seen(c) for c in cases if c.linkage is Linkage.BIT]
    for learned in (records, bits):
        assert sum(chance > 0.9 for chance in learned) > 20
        assert sum(0 < chance < 0.9 for chance in learned) > 10
