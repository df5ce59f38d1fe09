"""Messages of real clients: whoever changes one, or reads it for something else, gets nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from krand.client.client import Client
from krand.client.ledger import Ledger
from krand.client.randomizer import message_lanes
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.survey.plan import Plan
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key
from krand.wire.messages import length_at
from krand.wire.rejections import Rejection
from plans import numerators_of, with_numerators, with_rooms
from seals import opened_in_lanes

POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=500)
SURVEY = Survey(id="habits", policy=POLICY, questions=(YesNo(name="smokes"), YesNo(name="drives")))
ANSWERS = {"smokes": True}
NOT_SEALED = Rejection.NOT_SEALED_FOR_THIS_KEY_OR_PLAN


@pytest.fixture(scope="module", params=[Linkage.BIT, Linkage.RECORD], ids=str)
def plan(request: pytest.FixtureRequest, key: X25519PrivateKey) -> Plan:
    copies = 2 if request.param is Linkage.RECORD else 1
    made = make_plan(replace(SURVEY, linkage=request.param, copies=copies))
    return made.sealed_for(key.public_key())


@pytest.fixture(scope="module")
def key() -> X25519PrivateKey:
    return generate_private_key()


@pytest.fixture
def messages(plan: Plan, key: X25519PrivateKey, tmp_path: Path) -> tuple[bytes, ...]:
    """What a client sends."""
    client = Client(plan, Ledger(tmp_path / "ledger"), expected_hash=plan.hash)
    return client.prepare(ANSWERS).messages


def rejections(
    plan: Plan, key: X25519PrivateKey, sealed: list[bytes], times: int = 1
) -> Counter[Rejection]:
    """Why the analyst refuses these messages, so many in a row of each lane; none may count."""
    lanes = [lane for lane in message_lanes(plan) for _ in range(times)]
    opened = opened_in_lanes(plan, key, sealed, lanes)
    assert opened.messages == len(sealed)
    assert opened.rejected.total() == len(sealed)
    return opened.rejected


def test_unchanged_messages_open(
    plan: Plan, key: X25519PrivateKey, messages: tuple[bytes, ...]
) -> None:
    """So that what follows is refused for its change alone."""
    opened = opened_in_lanes(plan, key, messages)
    assert opened.messages == len(messages) == plan.messages
    assert not opened.rejected


def test_every_single_bit_change_is_refused(
    plan: Plan, key: X25519PrivateKey, messages: tuple[bytes, ...]
) -> None:
    """Every bit of every message."""
    changed = [
        message[:place] + bytes([message[place] ^ 1 << bit]) + message[place + 1 :]
        for message in messages
        for place in range(len(message))
        for bit in range(8)
    ]
    assert rejections(plan, key, changed, 8 * len(messages[0])) == {NOT_SEALED: len(changed)}


def test_another_key_opens_nothing(plan: Plan, messages: tuple[bytes, ...]) -> None:
    """Only the key that the client sealed for."""
    found = rejections(plan, generate_private_key(), list(messages))
    assert found == {NOT_SEALED: len(messages)}


def test_another_plan_opens_nothing(
    plan: Plan, key: X25519PrivateKey, messages: tuple[bytes, ...]
) -> None:
    """Another survey, another noise, another promise: each is another plan."""
    others = (
        replace(plan, survey=replace(plan.survey, id="habits2")),
        with_numerators(plan, [numerator + 1 for numerator in numerators_of(plan)]),
        replace(plan, promise=replace(plan.promise, crowd=501)),
    )
    for other in others:
        assert length_at(other, 1) == length_at(plan, 1)
        assert rejections(other, key, list(messages)) == {NOT_SEALED: len(messages)}


def test_the_other_linkage_opens_nothing(
    plan: Plan, key: X25519PrivateKey, messages: tuple[bytes, ...]
) -> None:
    """Its messages have another length, or do not open."""
    record = plan.survey.linkage is Linkage.RECORD
    survey = replace(plan.survey, linkage=Linkage.BIT if record else Linkage.RECORD, copies=1)
    other = with_rooms(replace(plan, survey=survey), (len(messages), 1) if record else (0, 0))
    sealed = list(messages)[: other.lanes[0].messages]
    assert sealed
    found = opened_in_lanes(other, key, sealed, [other.lanes[0]] * len(sealed)).rejected
    assert found == {Rejection.WRONG_LENGTH: len(sealed)}
