"""What an observer of sealed messages sees: their number, length and order, never the answers."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from krand.accounting.division import Share, assess_shares
from krand.client.client import Client
from krand.client.ledger import Ledger
from krand.client.randomizer import message_lanes, payloads
from krand.planning.checking import verify_promise
from krand.planning.making import make_plan
from krand.promise import NOISE_GRID, Linkage, Policy
from krand.randomness.generator import secure_random
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.questions import Choice, PickAny
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key
from krand.wire.messages import MessageFormat, Token, length_at
from krand.wire.submissions import ID_LENGTH
from plans import numerators_of, plan_with_noise, with_rooms
from schedules import days, during

ALPHA = 1e-6
SUBMISSIONS = 20_000
SEALED = 200
ITEMS = [f"item {number}" for number in range(40)]
SURVEY = Survey(
    id="habits",
    policy=Policy(epsilon=1.0, delta=1e-6, minimum_crowd=1000),
    questions=(PickAny(name="items", choices=Choices(ITEMS), at_most=4),),
    rounds=SEALED,
    schedule=days(SEALED),
)
SILENT: dict[str, object] = {}
FULL: dict[str, object] = {"items": ITEMS[-4:]}
NOISE = NOISE_GRID // 50
"""Tokens come and go, and the plan has room for more than there ever are."""


@pytest.fixture(scope="module")
def apart() -> Plan:
    return plan_with_noise(SURVEY, NOISE)


@pytest.fixture(scope="module")
def linked() -> Plan:
    return plan_with_noise(replace(SURVEY, linkage=Linkage.RECORD, copies=3), NOISE)


def seen(plan: Plan, answers: dict[str, object], submissions: int) -> Counter[tuple[int, ...]]:
    """How often a submission consists of messages of these lengths; and the tokens vary."""
    forms, truth = [*map(MessageFormat, message_lanes(plan))], encode(plan.layout, answers)
    length = cache(lambda form, payload: len(form.encode(payload)))
    looks, tokens = Counter(), set()
    for _ in range(submissions):
        made = payloads(plan, truth, secure_random())
        looks[tuple(map(length, forms, made))] += 1
        tokens.add(sum(isinstance(payload, Token) for payload in made))
    if plan.survey.linkage is Linkage.BIT:
        assert len(tokens) >= 4  # otherwise there would be nothing to hide
    return looks


@pytest.mark.check
@pytest.mark.parametrize("answers", [SILENT, FULL], ids=["silent", "full"])
def test_all_submissions_look_alike(apart: Plan, answers: dict[str, object]) -> None:
    """20,000 in all, of people who say nothing and of people who say everything: one look.

    However the tokens come out: those that do not fit are dropped.
    """
    assert apart.messages < apart.layout.positions
    length = MessageFormat(apart.lanes[0]).plaintext_length
    look = (length,) * apart.messages
    assert seen(apart, answers, SUBMISSIONS // 2) == {look: SUBMISSIONS // 2}


@pytest.mark.parametrize("answers", [SILENT, FULL], ids=["silent", "full"])
def test_all_records_look_alike(linked: Plan, answers: dict[str, object]) -> None:
    """As many vectors as copies, all of one length."""
    look = (MessageFormat(linked.lanes[0]).plaintext_length,) * 3
    assert seen(linked, answers, 5_000) == {look: 5_000}


@pytest.mark.check
@pytest.mark.parametrize("linkage", ["apart", "linked"])
def test_sealed_submissions_look_alike(
    linkage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Two hundred of them, by real clients: number and length of the bytes that travel are one."""
    noisy: Plan = request.getfixturevalue(linkage)
    plan = noisy.sealed_for(generate_private_key().public_key())
    client = Client(plan, Ledger(tmp_path / "ledger"), expected_hash=plan.hash)
    looks = Counter()
    for number in range(1, SEALED + 1):
        client.now = during(plan, number)
        sent = client.prepare(FULL if number % 2 else SILENT, number)
        looks[len(sent.id), tuple(len(message) for message in sent.messages)] += 1
    look = ID_LENGTH, (length_at(plan, 1),) * plan.messages
    assert looks == {look: SEALED}


def test_of_too_many_tokens_every_choice_is_equally_likely() -> None:
    """Room for three of six, of any three, in any order; the noise is too small to disturb."""
    pick = PickAny(name="p", choices=Choices("abcdef"), at_most=6)
    roomy = plan_with_noise(replace(SURVEY, questions=(pick,)), 1)
    tight, draws = with_rooms(roomy, (3,)), 6_000
    found = Counter(tuple(payloads(tight, range(6), secure_random())) for _ in range(draws))
    every = [tuple(map(Token, kept)) for kept in permutations(range(6), 3)]
    assert set(found) <= set(every)
    assert stats.chisquare([found[kept] for kept in every]).pvalue > ALPHA


CHOICES = tuple(
    Choice(name=f"c{number}", choices=Choices([f"option {n}" for n in range(40)]))
    for number in range(5)
)
PICKS = (PickAny(name="p", choices=Choices([f"option {n}" for n in range(50)]), at_most=10),)
DELTA, CROWD = 1e-12, 100_000


@pytest.fixture(scope="module", params=[CHOICES, PICKS], ids=["5 of 40", "10 of 50"])
def demanding(request: pytest.FixtureRequest) -> Plan:
    policy = Policy(epsilon=1.0, delta=DELTA, minimum_crowd=CROWD)
    return make_plan(Survey(id="demanding", policy=policy, questions=request.param))


def tokens_law(plan: Plan, answered: bool) -> NDArray[np.float64]:
    """How likely one person has 0, 1, 2, … tokens, exactly: the most true ones, or none."""
    law = np.ones(1)
    for block in plan.blocks:
        law = np.convolve(law, block_law(block, answered))
    return law


def block_law(planned: PlannedBlock, answered: bool) -> NDArray[np.float64]:
    """The same for the tokens of one lane."""
    block, q = planned.block, planned.noise
    ones = block.most_ones if answered else 0
    laws = [
        stats.binom.pmf(np.arange(count + 1), count, p)
        for count, p in ((ones, 1 - q), (block.positions - ones, q))
    ]
    return np.convolve(*laws)


def sizes(plan: Plan) -> list[int]:
    """How many messages the client makes of 0, 1, 2, … tokens."""
    quiet = plan_with_noise(plan.survey, 1)  # so that there are exactly as many as are asked for
    quiet = with_rooms(quiet, [block.room for block in plan.blocks])
    every = range(plan.layout.positions + 1)
    return [len(payloads(quiet, range(tokens), secure_random())) for tokens in every]


def test_the_total_of_messages_betrays_nobody(demanding: Plan) -> None:
    """Everybody's messages are added up in the manifest: one person's answers must not show.

    Somebody who answers everything against somebody who answers nothing; the others' messages only
    blur it. With doubled submissions this was 29 and 1.5 times δ.
    """
    laws = {answered: Counter() for answered in (True, False)}
    for answered, law in laws.items():
        for size, mass in zip(sizes(demanding), tokens_law(demanding, answered), strict=True):
            law[size] += float(mass)
    full, silent = laws[True], laws[False]
    betrayed = sum(max(0.0, full[size] - math.e * silent[size]) for size in full)
    assert betrayed <= DELTA
    assert set(full) == {demanding.messages}


def test_dropped_tokens_are_part_of_the_promise(demanding: Plan) -> None:
    """P is at least the exact tail and small enough; what all of it costs stands in δ."""
    promise, crowd = demanding.promise, demanding.survey.policy.minimum_crowd
    exact = sum(float(block_law(each, True)[each.room + 1 :].sum()) for each in demanding.blocks)
    assert 0 < exact <= demanding.overflow <= DELTA / (1000 * crowd * (1 + math.e))
    shares = [Share(block.sensitivity, block.weight) for block in demanding.layout.blocks]
    ideal = assess_shares(demanding.survey.policy, shares, numerators_of(demanding)).delta
    lost = crowd * (1 + math.e) * demanding.overflow
    assert ideal + lost <= promise.delta * (1 + 1e-15) <= DELTA * (1 + 1e-15)
    assert verify_promise(demanding).delta <= ideal + 1.000001 * lost


def places(plan: Plan, truth: tuple[int, ...]) -> tuple[int, ...]:
    """Where the tokens of the true positions stand."""
    made = payloads(plan, truth, secure_random())
    return tuple(made.index(Token(position)) for position in truth)


def test_true_tokens_stand_anywhere() -> None:
    """Every ordered pair of places is equally likely for two true tokens among six messages.

    The noise is so small that no flip disturbs: about once in 10^5 runs.
    """
    pick = PickAny(name="p", choices=Choices("ab"), at_most=2)
    plan = plan_with_noise(replace(SURVEY, questions=(pick,)), 1)
    plan = with_rooms(plan, (6,))
    pairs, draws = list(permutations(range(6), 2)), 10_000
    found = Counter(places(plan, (0, 1)) for _ in range(draws))
    assert set(found) <= set(pairs)
    assert stats.chisquare([found[pair] for pair in pairs]).pvalue > ALPHA
    first = [sum(found[pair] for pair in pairs if pair[0] == place) for place in range(6)]
    assert stats.chisquare(first).pvalue > ALPHA
