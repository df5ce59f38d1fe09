"""From answers to sealed messages and back: the law is the plan's, the look is always the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from krand.client.client import Client
from krand.client.ledger import Ledger, Submission
from krand.client.randomizer import (
    payloads,
    reported_positions,
    reported_vectors,
    shuffled,
)
from krand.client.sending import NotDelivered, UsedInvitation
from krand.client.transport import Reply
from krand.errors import InvalidInput
from krand.planning.making import make_plan
from krand.promise import Linkage, Policy
from krand.randomness.generator import SecureRandom, secure_random
from krand.survey.choices import Choices
from krand.survey.plan import Plan
from krand.survey.questions import Choice, YesNo
from krand.survey.survey import Survey
from krand.testing import FakeCollector, UnsafeMemoryLedger
from krand.wire.invitations import code_text, invited_id
from krand.wire.keys import generate_private_key
from krand.wire.messages import Null, Token, Vector, length_at
from krand.wire.submissions import submission_bytes
from plans import planned_by_test
from schedules import days, during
from seals import opened_in_lanes

QUESTIONS = (
    YesNo(name="smokes"),
    Choice(name="engine", choices=Choices(["a", "b", "c"])),
    YesNo(name="drives"),
)
POLICY = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=150)
KEY = generate_private_key()


def plan_for(linkage: Linkage, copies: int = 1) -> Plan:
    """Few people, hence much noise: its law shows quickly."""
    survey = Survey(id="habits", policy=POLICY, questions=QUESTIONS, linkage=linkage, copies=copies)
    return make_plan(survey).sealed_for(KEY.public_key())


def client_of(plan: Plan, ledger: Ledger | None = None, **options: Any) -> Client:
    """A new device, or one with this ledger."""
    return Client(plan, ledger or UnsafeMemoryLedger(), expected_hash=plan.hash, **options)


@pytest.fixture(scope="module")
def apart() -> Plan:
    return plan_for(Linkage.BIT)


@pytest.fixture(scope="module")
def linked() -> Plan:
    return plan_for(Linkage.RECORD, copies=3)


def far(count: int, draws: int, q: float) -> float:
    """How many standard deviations a count is from what the noise gives."""
    return float(abs(count - draws * q) / (draws * q * (1 - q)) ** 0.5)


def test_every_position_is_flipped_with_its_own_noise(apart: Plan) -> None:
    """True ones fall and zeros rise with q of their block, within five deviations."""
    truth, draws = (0, 2), 20_000
    ones = Counter(
        int(position)
        for _ in range(draws)
        for position in reported_positions(apart, truth, secure_random())
    )
    for block in apart.blocks:
        for position in apart.layout.positions_of(block.block):
            expected = 1 - block.noise if position in truth else block.noise
            assert far(ones[position], draws, expected) < 5, position


def test_records_are_flipped_bit_by_bit(linked: Plan) -> None:
    """All copies of a record, every bit with the one noise; padding stays 0."""
    truth, draws = (0, 2), 7_000
    rows = np.concatenate([reported_vectors(linked, truth, secure_random()) for _ in range(draws)])
    assert rows.shape == (3 * draws, 1)
    bits = np.unpackbits(rows, axis=1)
    assert not bits[:, linked.layout.positions :].any()
    for position in range(linked.layout.positions):
        expected = 1 - linked.blocks[0].noise if position in truth else linked.blocks[0].noise
        assert far(int(bits[:, position].sum()), 3 * draws, expected) < 5, position


def test_copies_are_randomized_independently(linked: Plan) -> None:
    """Two copies agree in a bit as often as two coins do, not always."""
    pairs = np.array([reported_vectors(linked, (), secure_random())[:2, 0] for _ in range(5_000)])
    first, second = (np.unpackbits(pairs[:, k : k + 1], axis=1)[:, :5] for k in (0, 1))
    q = linked.blocks[0].noise
    assert far(int((first & second).sum()), first.size, q * q) < 5


@pytest.mark.check
@pytest.mark.parametrize("truth", [(), (0,), (0, 2, 4)])
def test_number_and_kinds_of_messages_do_not_depend_on_the_answers(
    apart: Plan, truth: tuple[int, ...]
) -> None:
    """Always the plan's number; tokens and nulls in an order that says nothing."""
    first = Counter()
    for _ in range(3_000):
        made = payloads(apart, truth, secure_random())
        assert len(made) == apart.messages
        assert all(isinstance(one, (Token, Null)) for one in made)
        first[type(made[0])] += 1
    if truth:
        assert len(first) == 2


def test_a_record_is_sent_in_as_many_copies_as_planned(linked: Plan) -> None:
    """k vectors, whatever the answers."""
    made = payloads(linked, (1,), secure_random())
    assert [type(one) for one in made] == [Vector] * 3


@pytest.mark.parametrize("linkage", [Linkage.BIT, Linkage.RECORD])
def test_what_is_sealed_opens_to_what_was_reported(linkage: Linkage, tmp_path: Path) -> None:
    """With the analyzer's key and the plan; every message has one length."""
    plan = plan_for(linkage)
    sent = client_of(plan, Ledger(tmp_path / "ledger")).prepare({"smokes": True, "engine": "b"})
    assert {len(message) for message in sent.messages} == {length_at(plan, 1)}
    opened = opened_in_lanes(plan, KEY, sent.messages)
    assert opened.messages == plan.messages
    assert not opened.rejected
    assert len(sent.id) == 16


def test_changing_ones_mind_changes_nothing(apart: Plan, tmp_path: Path) -> None:
    """The first randomization stands: a second one would reveal more."""
    client = client_of(apart, Ledger(tmp_path / "ledger"))
    first = client.prepare({"smokes": True})
    assert client.prepare({"smokes": False}) == first
    client.acknowledge()
    with pytest.raises(InvalidInput, match="must not have been answered on this device before"):
        client.prepare({"smokes": True})


def test_answers_that_break_a_rule_are_refused_before_anything_is_stored(
    apart: Plan, tmp_path: Path
) -> None:
    """The ledger stays empty, so that a corrected answer can still be sent."""
    client = client_of(apart, Ledger(tmp_path / "ledger"))
    with pytest.raises(InvalidInput, match="engine"):
        client.prepare({"engine": "none of them"})
    assert client.ledger.entries() == ()


def invited(apart: Plan, rounds: int = 1) -> Plan:
    survey = replace(apart.survey, invitations=True, rounds=rounds, schedule=days(rounds))
    return replace(apart, survey=survey)


def test_an_invitation_decides_the_id_of_a_submission(apart: Plan) -> None:
    """Two devices with one code make one submission to the collector; rounds cannot be linked."""
    plan, text = invited(apart, rounds=2), code_text(bytes(range(16)))
    devices = [client_of(plan, now=during(plan)) for _ in range(2)]
    first, second = (device.prepare({"smokes": True}, invitation=text) for device in devices)
    assert first.id == second.id == invited_id(plan.hash, 1, bytes(range(16)))
    devices[0].now = during(plan, 2)
    later = devices[0].prepare({"smokes": True}, 2, invitation=text)
    assert later.id == invited_id(plan.hash, 2, bytes(range(16))) != first.id
    other = client_of(plan, now=during(plan))
    assert other.prepare({}, invitation=code_text(bytes(16))).id != first.id


def test_an_invitation_is_given_where_it_is_asked_for(apart: Plan) -> None:
    """And only there; nothing is stored before that is clear."""
    plan = invited(apart)
    client = client_of(plan)
    with pytest.raises(InvalidInput, match="invitation: must be given for this survey") as caught:
        client.prepare({})
    assert "behind # in the link" in caught.value.hint
    with pytest.raises(InvalidInput, match="invitation: must be a code of 22"):
        client.submit(FakeCollector.url, {}, invitation="AAAA")
    assert client.ledger.entries() == ()
    with pytest.raises(InvalidInput, match="invitation: must not be given"):
        client_of(apart).prepare({}, invitation=code_text(bytes(16)))


def test_after_a_wrong_code_the_same_messages_go_out_under_the_right_one(apart: Plan) -> None:
    """A second randomization would reveal more; the id of the wrong code would be refused again."""
    plan, right, wrong = invited(apart), code_text(bytes(range(16))), code_text(bytes(16))
    client = client_of(plan)
    first, second = (client.prepare({"smokes": True}, invitation=c) for c in (wrong, right))
    assert second.messages == first.messages
    assert second.id == invited_id(plan.hash, 1, bytes(range(16))) != first.id


def test_a_code_that_somebody_else_used_is_told_and_another_one_sends(apart: Plan) -> None:
    """Each time with the same messages; then the round is answered."""
    plan, used, fresh = invited(apart), code_text(bytes(16)), code_text(bytes(range(16)))
    collector = FakeCollector(plan)
    somebody, client = (client_of(plan, transport=collector) for _ in range(2))
    somebody.submit(collector.url, {"smokes": True}, invitation=used)
    for _ in range(2):
        with pytest.raises(UsedInvitation, match="can be sent with another code"):
            client.submit(collector.url, {"smokes": True}, invitation=used)
    assert [entry.acknowledged for entry in client.ledger.entries()] == [False]
    kept = client.prepare({}, invitation=fresh)
    client.submit(collector.url, {}, invitation=fresh)
    assert collector.people == 2
    assert {message for _, message in collector.messages()} >= set(kept.messages)
    assert [entry.acknowledged for entry in client.ledger.entries()] == [True]


class LosesAnswers:
    """Brings submissions to a collector, and loses so many of its answers."""

    def __init__(self, collector: FakeCollector, losses: int) -> None:
        self.collector, self.losses = collector, losses

    def post(self, url: str, body: bytes) -> Reply:
        reply = self.collector.post(url, body)
        if self.losses:
            self.losses -= 1
            raise OSError("no answer")
        return reply

    def wait(self, _: float) -> None:
        """No time passes."""


@pytest.mark.parametrize("losses", [1, 8], ids=["retry", "later"])
def test_after_an_answer_that_was_lost_known_is_success(apart: Plan, losses: int) -> None:
    """The device's own submission arrived: its code is not called used."""
    plan, code = invited(apart), code_text(bytes(16))
    collector = FakeCollector(plan)
    transport = LosesAnswers(collector, losses)
    client = client_of(plan, transport=transport)
    with suppress(NotDelivered):
        client.submit(collector.url, {"smokes": True}, invitation=code)
    if losses > 1:
        client.submit(collector.url, {"smokes": True}, invitation=code)
    assert collector.people == 1
    assert [entry.acknowledged for entry in client.ledger.entries()] == [True]


def test_a_code_that_another_process_delivered_with_is_not_called_used(apart: Plan) -> None:
    """Two processes share a ledger; the other one had its answer first."""
    plan, code = invited(apart), code_text(bytes(16))
    collector = FakeCollector(plan)
    ledger = UnsafeMemoryLedger()
    client = client_of(plan, ledger, transport=collector)
    made = client.prepare({"smokes": True}, invitation=code)
    assert ledger.begin(plan, 1, made.id)
    collector.post(f"{collector.url}/v1/{plan.hash}/submissions", body_of(made))
    ledger.acknowledge(plan, 1)
    assert not ledger.withdraw(plan, 1)
    client.deliver(collector.url, made)
    assert collector.people == 1


def body_of(made: Submission) -> bytes:
    return submission_bytes(1, made.id, made.messages)


class Given:
    """A generator that gives the words of a test, and counts how many are asked for at once."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, count: int, dtype: np.dtype[np.uint32]) -> NDArray[np.uint32]:
        taken, self.left = self.left[:count], self.left[count:]
        assert len(taken) == count
        return np.array(taken, dtype)


def test_a_position_is_flipped_by_a_word_below_the_numerator() -> None:
    """One word for each position, block after block; the numerator itself does not flip."""
    survey = Survey(id="s", policy=POLICY, questions=QUESTIONS)
    plan = planned_by_test(survey, (10, 20, 30))
    random = Given(9, 20, 19, 2**32 - 1, 0)
    found = reported_positions(plan, (4,), random)  # type: ignore[arg-type]
    assert plan.layout.positions == 5
    assert found.tolist() == [0, 2]
    assert random.left == []


def test_a_lane_is_shuffled_from_the_last_place_on() -> None:
    """Words that are too large are drawn again: 2^32 = 1 mod 3, and 2^32 = 0 mod 2 and 4."""
    random = Given(5, 2**32 - 1, 3, 4)
    # 5 mod 4 = 1: last and second change; refused; 3 mod 3 = 0: third and first; 4 mod 2 = 0.
    assert shuffled("abcd", random) == ["d", "c", "a", "b"]  # type: ignore[arg-type]
    assert random.left == []
    assert shuffled("a", random) == ["a"]  # type: ignore[arg-type]


def test_all_orders_are_equally_likely() -> None:
    """24 orders of four entries, within five deviations."""
    draws = 24_000
    seen = Counter("".join(shuffled("abcd", secure_random())) for _ in range(draws))
    assert len(seen) == 24
    assert all(far(count, draws, 1 / 24) < 5 for count in seen.values())


def test_fresh_entropy_is_mixed_in_before_anything_is_drawn(
    apart: Plan, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A device may have slept or been copied since it last drew."""
    called: list[str] = []
    for name in ("refresh", "words"):
        usual = getattr(SecureRandom, name)

        def noted(
            self: SecureRandom, *given: Any, name: str = name, usual: Callable[..., Any] = usual
        ) -> Any:
            called.append(name)
            return usual(self, *given)

        monkeypatch.setattr(SecureRandom, name, noted)
    for number in (1, 2):
        client_of(apart).prepare({})
        assert called[0] == "refresh"
        assert "words" in called, number
        called.clear()
