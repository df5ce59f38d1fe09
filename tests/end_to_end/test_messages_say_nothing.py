"""What an observer of sealed messages sees: their number, length and order, never the answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path

import pytest
from scipy import stats

from krand.client.client import SUBMISSION_ID_LENGTH, Client
from krand.client.ledger import Ledger
from krand.client.randomizer import message_format, payloads
from krand.client.randomness import secure_random
from krand.privacy.guarantee import NOISE_GRID, Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.questions import PickAny, YesNo
from krand.survey.survey import Survey
from krand.survey.volume import OVERFLOW
from krand.wire.keys import generate_private_key
from krand.wire.messages import Token
from plans import plan_with_noise

ALPHA = 1e-6
SUBMISSIONS = 100_000
SEALED = 200
ITEMS = [f"item {number}" for number in range(40)]
SURVEY = Survey(
    "habits",
    Policy(epsilon=1.0, delta=1e-6, population=1000),
    (PickAny(name="items", choices=Choices(ITEMS), at_most=4),),
    rounds=SEALED,
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
    form, truth = message_format(plan), encode(plan.layout, answers)
    length = cache(lambda payload: len(form.encode(payload)))
    looks, tokens = Counter(), set()
    for _ in range(submissions):
        made = payloads(plan, truth, secure_random())
        looks[tuple(map(length, made))] += 1
        tokens.add(sum(isinstance(payload, Token) for payload in made))
    if plan.survey.linkage is Linkage.BIT:
        assert len(tokens) >= 4  # otherwise there would be nothing to hide
    return looks


@pytest.mark.parametrize("answers", [SILENT, FULL], ids=["silent", "full"])
def test_all_submissions_look_alike(apart: Plan, answers: dict[str, object]) -> None:
    """10^5 in all, of people who say nothing and of people who say everything: one look.

    A submission overflows less than once in 10^9, so all of them together once in 10^4 runs.
    """
    assert SUBMISSIONS * OVERFLOW <= 1e-4
    assert apart.messages < apart.layout.positions
    length = message_format(apart).plaintext_length
    look = (length,) * apart.messages
    assert seen(apart, answers, SUBMISSIONS // 2) == {look: SUBMISSIONS // 2}


@pytest.mark.parametrize("answers", [SILENT, FULL], ids=["silent", "full"])
def test_all_records_look_alike(linked: Plan, answers: dict[str, object]) -> None:
    """As many vectors as copies, all of one length."""
    look = (message_format(linked).plaintext_length,) * 3
    assert seen(linked, answers, 5_000) == {look: 5_000}


@pytest.mark.parametrize("linkage", ["apart", "linked"])
def test_sealed_submissions_look_alike(
    linkage: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Two hundred of them, by real clients: number and length of the bytes that travel are one."""
    plan: Plan = request.getfixturevalue(linkage)
    client = Client(plan, generate_private_key().public_key(), Ledger(tmp_path / "ledger"))
    looks = Counter()
    for number in range(1, SEALED + 1):
        sent = client.prepare(FULL if number % 2 else SILENT, number)
        looks[len(sent.id), tuple(len(message) for message in sent.messages)] += 1
    look = SUBMISSION_ID_LENGTH, (message_format(plan).sealed_length,) * plan.messages
    assert looks == {look: SEALED}


def test_an_overflow_takes_the_next_size_class_and_loses_nothing(apart: Plan) -> None:
    """Rare as it is, it must work: all tokens are sent, and no more room is taken than needed."""
    tight = replace(apart, messages=3)
    truth = encode(apart.layout, FULL)
    sizes = Counter()
    for _ in range(500):
        made = payloads(tight, truth, secure_random())
        sizes[len(made)] += 1
        tokens = {payload.position for payload in made if isinstance(payload, Token)}
        assert len(made) == 3 or len(tokens) > len(made) // 2
    assert set(sizes) == {3, 6, 12}


def places(plan: Plan, truth: tuple[int, ...]) -> tuple[int, ...]:
    """Where the tokens of the true positions stand."""
    made = payloads(plan, truth, secure_random())
    return tuple(made.index(Token(position)) for position in truth)


def test_true_tokens_stand_anywhere() -> None:
    """Every ordered pair of places is equally likely for two true tokens among six messages.

    The noise is so small that no flip disturbs: about once in 10^5 runs.
    """
    survey = replace(SURVEY, questions=(YesNo(name="a"), YesNo(name="b")))
    plan = replace(plan_with_noise(survey, 1), messages=6)
    pairs, draws = list(permutations(range(6), 2)), 10_000
    found = Counter(places(plan, (0, 1)) for _ in range(draws))
    assert set(found) <= set(pairs)
    assert stats.chisquare([found[pair] for pair in pairs]).pvalue > ALPHA
    first = [sum(found[pair] for pair in pairs if pair[0] == place) for place in range(6)]
    assert stats.chisquare(first).pvalue > ALPHA
