"""A person's device: one randomization for each round, one code, one plan, and fresh entropy."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

import krand
from krand.testing import FakeCollector, UnsafeMemoryLedger, small_plan
from reference.message import code_text, hops_from, invited_id
from vectors import CASES, client_of, during, plan_of

OWN, INVITED = CASES["every kind"], CASES["an invitation"]
TWO = CASES["an invitation, two mixers, second round"]
CHAIN = CASES["three mixers, third round"]
WRONG, RIGHT = code_text(bytes(16)), code_text(bytes(range(16)))
ANSWERS = {"smokes": True}


@pytest.mark.parametrize("case", [OWN, CHAIN, CASES["copies of a record, round 258"]])
def test_every_submission_looks_the_same(case: dict[str, Any]) -> None:
    """Number and lengths of messages depend on the plan alone, and collectors take them."""
    layers = len(hops_from(plan_of(case).survey.trust.mixers, 1))
    collector = FakeCollector(plan_of(case), case["round"])
    shapes = set()
    for answers in ({}, case["answers"]):
        made = client_of(case).prepare(answers, case["round"])
        shapes.add(tuple(map(len, made.messages)))
        client_of(case, url=collector.url, transport=collector).submit(answers, case["round"])
    (lengths,) = shapes
    plaintext = len(case["messages"][0]["plaintext"]) // 2
    assert set(lengths) == {plaintext + 48 * layers}
    assert len(lengths) == plan_of(case).messages == len(case["messages"])
    assert (collector.people, collector.refused) == (2, [])


def test_changing_ones_mind_changes_nothing() -> None:
    """The first randomization stands: a second one would reveal more."""
    client = client_of(OWN)
    with pytest.raises(krand.InvalidInput, match="colour"):
        client.prepare({"colour": "none of them"})
    assert client.ledger.entries() == ()
    first = client.prepare(ANSWERS)
    again = client.prepare({"smokes": False})
    assert (again, again.kept, first.kept) == (first, True, False)
    client.acknowledge(1)
    with pytest.raises(krand.AlreadySubmitted, match="must not have been answered on this device"):
        client.prepare(ANSWERS)


def test_an_invitation_decides_the_id_and_only_the_id() -> None:
    """Two devices with one code make one submission; after a wrong code the messages stay."""
    plan, code = plan_of(TWO), bytes(range(16))
    name = bytes.fromhex(plan.hash)
    first, second = client_of(TWO), client_of(TWO)
    wrong = first.prepare({}, 2, invitation=WRONG)
    right = first.prepare({}, 2, invitation=RIGHT)
    assert right.messages == wrong.messages
    assert right.id == invited_id(name, 2, code) != wrong.id
    assert second.prepare({}, 2, invitation=RIGHT).id == right.id
    first.now = during(plan, 1)
    assert first.prepare({}, 1, invitation=RIGHT).id == invited_id(name, 1, code) != right.id


def test_an_invitation_is_given_where_it_is_asked_for() -> None:
    """And only there; nothing is stored before that is clear."""
    client = client_of(INVITED)
    with pytest.raises(krand.InvalidInput, match="invitation: must be given for this survey"):
        client.prepare({})
    with pytest.raises(krand.InvalidInput, match="invitation: must be a code of 22"):
        client.submit({}, invitation="AAAA")
    assert client.ledger.entries() == ()
    with pytest.raises(krand.InvalidInput, match="invitation: must not be given"):
        client_of(OWN).prepare({}, invitation=WRONG)


def test_a_code_that_somebody_else_used_is_told_and_another_one_sends() -> None:
    """Each time with the same messages; then the round is answered."""
    collector = FakeCollector(plan_of(INVITED))
    somebody, client = (
        client_of(INVITED, url=collector.url, transport=collector) for _ in range(2)
    )
    somebody.submit(ANSWERS, invitation=WRONG)
    for _ in range(2):
        with pytest.raises(krand.UsedInvitation, match="can be sent with another code"):
            client.submit(ANSWERS, invitation=WRONG)
    assert [entry.acknowledged for entry in client.ledger.entries()] == [False]
    kept = client.prepare({}, invitation=RIGHT)
    client.submit({}, invitation=RIGHT)
    assert collector.people == 2
    assert {message for _, message in collector.messages()} >= set(kept.messages)
    assert [entry.acknowledged for entry in client.ledger.entries()] == [True]


class Between:
    """Brings submissions to a collector; something happens before they arrive, or afterwards."""

    def __init__(self, collector: FakeCollector, **happens: Callable[[], object]) -> None:
        self.collector, self.happens = collector, happens

    def post(self, url: str, body: bytes) -> Any:
        self.happens.get("before", int)()
        reply = self.collector.post(url, body)
        self.happens.get("after", int)()
        return reply

    def wait(self, _: float) -> None:
        """No time passes."""


@pytest.mark.parametrize("losses", [1, 8], ids=["retry", "later"])
def test_after_an_answer_that_was_lost_known_is_success(losses: int) -> None:
    """The device's own submission arrived: its code is not called used."""
    collector, left = FakeCollector(plan_of(INVITED)), [OSError("no answer")] * losses

    def lose() -> None:
        if left:
            raise left.pop()

    client = client_of(INVITED, url=collector.url, transport=Between(collector, after=lose))
    with suppress(krand.NotDelivered):
        client.submit(ANSWERS, invitation=WRONG)
    if losses > 1:
        client.submit(ANSWERS, invitation=WRONG)
    assert collector.people == 1
    assert [entry.acknowledged for entry in client.ledger.entries()] == [True]


def test_a_code_that_another_process_delivered_with_is_not_called_used() -> None:
    """Two programs share a ledger, and the other one has its answer first."""
    collector, ledger = FakeCollector(plan_of(INVITED)), UnsafeMemoryLedger()
    given: dict[str, Any] = {"url": collector.url, "transport": collector}
    other = client_of(INVITED, ledger, **given)

    def overtake() -> None:
        other.deliver(other.prepare({}, invitation=WRONG))

    client = client_of(
        INVITED, ledger, **given | {"transport": Between(collector, before=overtake)}
    )
    client.submit(ANSWERS, invitation=WRONG)
    assert (collector.people, collector.repeated) == (1, 1)
    assert [entry.acknowledged for entry in ledger.entries()] == [True]


def test_a_plan_that_is_not_the_published_one_is_refused() -> None:
    """Another hash, no laws of dummies, dummies that nobody asked for, no key of the analyst."""
    plan = plan_of(CHAIN)
    no_laws = replace(plan, laws=())
    by_devices = replace(plan, survey=plan.survey.changed(trust=krand.Trust(noise="devices")))
    for wrong, rule in (
        (replace(plan, survey=plan.survey.changed(expected=2000)), "signature of mixer 1"),
        (no_laws, "law: must name one of 0 laws"),
        (by_devices, "numerators: must be "),
        (replace(plan, analyst=None), "analyst: must be in a plan"),
    ):
        with pytest.raises(krand.InvalidInput, match=rule):
            client_of(CHAIN, plan=wrong)
        with pytest.raises(krand.InvalidInput, match="plan: must have the hash that is expected"):
            client_of(CHAIN, plan=wrong, expected_hash=plan.hash)
    assert client_of(CHAIN, expected_hash=plan.hash.upper()).plan is plan
    with pytest.raises(krand.InvalidInput, match="analyst"):
        client_of(OWN, plan=small_plan())
