"""Promises at extreme values, held against attacks that need nothing but a pocket calculator.

Enumeration reaches only small crowds. Here crowds have up to 10^12 people, answers up to 10^6 bits,
and a person is asked up to 10^4 times; what an attacker surely learns is a lower end of δ.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

import pytest

from effort import LONG
from krand import Assurance, Linkage, ResponseFormat
from krand.accounting.mechanism import Effort, Mechanism

CASES = 600 if LONG else 16


@dataclass(frozen=True)
class Case:
    people: int
    bits: int
    copies: int
    rounds: int
    q: float
    epsilon: float
    linkage: Linkage
    assurance: Assurance
    effort: Effort


def random_case(number: int) -> Case:
    chance = random.Random(number)
    return Case(
        chance.choice((2, 3, 12, 800, 10**6, 10**9, 10**12)),
        chance.choice((1, 2, 5, 20, 40, 300, 1000, 10_000, 10**6)),
        chance.choice((1, 1, 2, 16, 100, 10_000)),
        chance.choice((1, 1, 2, 100, 10_000)),
        chance.choice((1e-12, 1e-9, 1e-5, 0.001, 0.01, 0.1, 0.25, 0.4, 0.45, 0.499, 0.49999)),
        chance.choice((0.001, 0.1, 1.0, 10.0, 40.0, 100.0)),
        chance.choice((Linkage.BIT, Linkage.RECORD)),
        chance.choice((Assurance.CERTIFIED, Assurance.CERTIFIED, Assurance.OUTLIER)),
        chance.choice((Effort.NEAR, Effort.QUICK, Effort.QUICK, Effort.FULL)),
    )


def log_some(log_none: float) -> float:
    """log(1 - e^x) for x ≤ 0."""
    return math.log(-math.expm1(log_none)) if log_none < 0 else -math.inf


def log_other(log_chance: float) -> float:
    """log(1 - e^x) for a chance e^x that may be too small for a float."""
    return -math.exp(log_chance) if log_chance < -40 else log_some(log_chance)


def all_ones_are_seen(case: Case) -> float:
    """Records: all others answer no to everything; does some report of every round say yes to all?

    The person says yes to everything, or no.
    """
    log_q, log_p = math.log(case.q), math.log1p(-case.q)
    foreign, own = log_other(case.bits * log_q), log_other(case.bits * log_p)
    without = log_some(case.copies * case.people * foreign)
    with_person = log_some(case.copies * ((case.people - 1) * foreign + own))
    return max(advantage(with_person, without, rounds, case) for rounds in (1, case.rounds))


def every_position_is_seen(case: Case) -> float:
    """Bits: all others say no; was every position of every round reported at least once?"""
    log_q, log_p = math.log(case.q), math.log1p(-case.q)
    without = log_some(case.copies * case.people * log_p)
    with_person = log_some(case.copies * ((case.people - 1) * log_p + log_q))
    positions = (1, case.bits, case.bits * case.rounds)
    return max(advantage(with_person, without, count, case) for count in positions)


def advantage(with_person: float, without: float, times: int, case: Case) -> float:
    """P - e^ε·P' for an event that has to happen so many times independently."""
    return math.exp(times * with_person) - math.exp(min(700.0, times * without + case.epsilon))


@pytest.mark.check
@pytest.mark.loop
@pytest.mark.parametrize("number", range(CASES))
def test_no_promise_is_better_than_what_an_attacker_surely_learns(number: int) -> None:
    case = random_case(number)
    record = case.linkage is Linkage.RECORD
    learned = all_ones_are_seen(case) if record else every_position_is_seen(case)
    responses = ResponseFormat(
        case.bits, linkage=case.linkage, copies=case.copies, rounds=case.rounds
    )
    mechanism = Mechanism(responses, case.people, case.epsilon, case.assurance)
    assert mechanism.delta(case.q, case.effort).bounds.upper >= learned * (1 - 1e-9) - 1e-15


def test_the_attacks_learn_something() -> None:
    """A bound above attacks that never succeed would show nothing."""
    cases = [random_case(number) for number in range(600)]
    records = [all_ones_are_seen(c) for c in cases if c.linkage is Linkage.RECORD]
    bits = [every_position_is_seen(c) for c in cases if c.linkage is Linkage.BIT]
    for learned in (records, bits):
        assert sum(chance > 0.9 for chance in learned) > 20
        assert sum(0 < chance < 0.9 for chance in learned) > 10
