"""A device of a plan with mixers: nothing is flipped, and every submission looks the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, settings
from hypothesis import strategies as st

from krand.client.ledger import AlreadySubmitted, Submission
from krand.client.randomizer import message_lanes, payloads
from krand.client.transport import Reply
from krand.collector.opening import config_of
from krand.errors import InternalError, InvalidInput
from krand.randomness.generator import secure_random
from krand.survey import mechanisms
from krand.survey.encoding import encode
from krand.survey.plan import Mixing, Plan
from krand.survey.survey import Survey, Trust
from krand.testing import FakeCollector, small_plan
from krand.wire.layers import LaneOpener, length_at
from krand.wire.messages import Null, Payload, Token
from krand.wire.receipts import sign_receipt
from krand.wire.submissions import HEAD_LENGTH, SubmissionFormat, submission_bytes
from mixed_plans import ANSWERS, Party, party_for, survey_for, unproven_plan
from schedules import during
from seals import open_layer
from survey.drawing import answers, surveys

CHAINS = {mixers: party_for(survey_for(mixers)) for mixers in (1, 2, 3)}
CHAIN = CHAINS[3]


def opened(chain: Party, submission: Submission, round_number: int = 1) -> list[Payload]:
    """What all mixers and the analyst find in a submission, in its order."""
    plan, found = chain.plan, list[Payload]()
    for lane, message in zip(message_lanes(plan), submission.messages, strict=True):
        sealed = message
        for hop in range(2, plan.survey.trust.mixers + 1):
            key = chain.key_of(hop, round_number)
            sealed = open_layer(key, plan, round_number, hop, lane.number, sealed)
        found.append(LaneOpener(chain.analyst, plan, round_number).open(lane, sealed))
    return found


def by_lane(plan: Plan, made: list[Payload]) -> dict[int, list[Payload]]:
    found: dict[int, list[Payload]] = {lane.number: [] for lane in plan.lanes}
    for lane, payload in zip(message_lanes(plan), made, strict=True):
        found[lane.number].append(payload)
    return found


@st.composite
def mixed(draw: st.DrawFn) -> Survey:
    """A survey with questions of any kinds and groups, for mixers."""
    trust = Trust(noise=mechanisms.MIXERS, mixers=draw(st.integers(1, 3)))
    return replace(draw(surveys()), trust=trust)


@given(st.data())
def test_every_submission_has_the_same_shape(data: st.DataObject) -> None:
    """Lanes, numbers of messages and lengths depend on the plan alone, whatever the answers."""
    plan = unproven_plan(data.draw(mixed()))
    given_answers = data.draw(answers(plan.survey))
    ones = encode(plan.layout, given_answers)
    made = payloads(plan, ones, secure_random())
    assert len(made) == plan.messages
    lanes = by_lane(plan, made)
    assert [len(lanes[lane.number]) for lane in plan.lanes] == [x.messages for x in plan.lanes]
    tokens = [each.position for each in made if isinstance(each, Token)]
    assert sorted(tokens) == list(ones), "nothing is flipped, dropped or sent twice"
    for lane in plan.lanes:
        for payload in lanes[lane.number]:
            assert isinstance(payload, Null) or (
                isinstance(payload, Token) and lane.holds(payload.position)
            )


@pytest.mark.parametrize("mixers", CHAINS)
@given(data=st.data())
@settings(max_examples=5)
def test_sealed_submissions_have_one_length(mixers: int, data: st.DataObject) -> None:
    """What is sent is as long as the plan says, byte for byte, whatever the answers."""
    chain = CHAINS[mixers]
    given_answers = data.draw(answers(chain.plan.survey))
    made = chain.client().prepare(given_answers)
    assert [len(message) for message in made.messages] == [6 + 48 * mixers] * 5
    body = submission_bytes(1, made.id, made.messages)
    assert len(body) == config_of(chain.plan).format.length == HEAD_LENGTH + 5 * (6 + 48 * mixers)


def test_which_messages_of_a_lane_are_empty_is_random() -> None:
    """Two answers of three, and their order: all six arrangements, within five deviations."""
    plan, draws = CHAIN.plan, 3_000
    ones = encode(plan.layout, ANSWERS)
    seen: Counter[tuple[int | None, ...]] = Counter()
    for _ in range(draws):
        made = by_lane(plan, payloads(plan, ones, secure_random()))[2]
        seen[tuple(p.position if isinstance(p, Token) else None for p in made)] += 1
    assert len(seen) == 6
    deviation = (draws * (1 / 6) * (5 / 6)) ** 0.5
    assert all(abs(count - draws / 6) < 5 * deviation for count in seen.values()), seen


def test_more_answers_than_messages_are_never_cut() -> None:
    """A true answer fits its lane; one that does not is a bug, and nothing is sent."""
    assert CHAIN.plan.lanes[2].messages == 3
    with pytest.raises(InternalError, match="lane 2 has too few messages"):
        payloads(CHAIN.plan, (4, 5, 6, 7), secure_random())


@pytest.mark.parametrize("mixers", CHAINS)
@pytest.mark.parametrize("round_number", [1, 2])
def test_what_is_sealed_comes_through_the_chain(mixers: int, round_number: int) -> None:
    """Every hop opens its layer of that round; the analyst finds the true answers."""
    chain = CHAINS[mixers]
    made = chain.client(now=during(chain.plan, round_number)).prepare(ANSWERS, round_number)
    found = opened(chain, made, round_number)
    tokens = [each.position for each in found if isinstance(each, Token)]
    assert sorted(tokens) == list(encode(chain.plan.layout, ANSWERS))
    assert len(found) == chain.plan.messages


def test_a_collector_takes_submissions_of_its_plan() -> None:
    """With as many layers as the plan has mixers."""
    collector = FakeCollector(CHAIN.plan)
    CHAIN.client(transport=collector).submit(collector.url, ANSWERS)
    assert (collector.people, collector.refused) == (1, [])
    assert len(collector.messages()) == CHAIN.plan.messages
    assert config_of(CHAIN.plan, 2).format == SubmissionFormat(2, length_at(CHAIN.plan, 1), 5)
    apart = small_plan().sealed_for(CHAIN.analyst.public_key())
    assert config_of(apart).format == SubmissionFormat(1, 54, apart.messages)


def test_a_submission_of_another_version_is_refused() -> None:
    """There is version 1 alone."""
    form = config_of(CHAIN.plan).format
    made = CHAIN.client().prepare(ANSWERS)
    address = f"{FakeCollector.url}/v1/{CHAIN.plan.hash}/submissions"
    for version, status in ((0, 422), (1, 202), (2, 422)):
        collector = FakeCollector(CHAIN.plan)
        body = bytes((version,)) + submission_bytes(1, made.id, made.messages)[1:]
        assert len(body) == form.length
        assert collector.post(address, body).status == status
        assert collector.people == (status == 202)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_an_unsigned_plan_is_refused(missing: int) -> None:
    """One mixer that did not sign is enough, and its name is said."""
    given_signatures = [each for place, each in enumerate(CHAIN.signatures) if place != missing]
    with pytest.raises(InvalidInput, match=rf"signature of mixer {missing + 1} \(mixer"):
        CHAIN.client(signatures=given_signatures)
    with pytest.raises(InvalidInput, match="signature of mixer 1"):
        CHAIN.client(signatures=())


def test_another_plan_with_invented_mixers_is_refused() -> None:
    """By its hash, though its own mixers signed it."""
    other = party_for(survey_for(3))
    with pytest.raises(InvalidInput, match="plan: must have the hash that is expected"):
        other.client(expected_hash=CHAIN.plan.hash)


def test_a_plan_that_only_asks_for_mixers_is_refused() -> None:
    """Without laws of dummies nobody would add noise."""
    plan = replace(CHAIN.plan, mixing=Mixing())
    with pytest.raises(InvalidInput, match="plan: must be a plan in which mixers add the noise"):
        replace(CHAIN, plan=plan).client(signatures=())


def test_a_plan_of_devices_is_refused_with_dummies() -> None:
    """Dummies that nobody asked for are a plan that was put together by hand."""
    survey = replace(CHAIN.plan.survey, trust=Trust())
    plan = replace(CHAIN.plan, survey=survey)
    with pytest.raises(InvalidInput, match="plan: must be a plan in which mixers add the noise"):
        replace(CHAIN, plan=plan).client(signatures=())


def test_a_plan_without_the_analysts_key_is_refused() -> None:
    """There is nobody to seal for."""
    plan = replace(CHAIN.plan, analyst_key=None)
    with pytest.raises(InvalidInput, match="analyst_key: must be in the plan"):
        replace(CHAIN, plan=plan).client()


class Receipts(FakeCollector):
    """A collector that signs receipts with some key."""

    def __init__(self, plan: Plan, key: Ed25519PrivateKey | None) -> None:
        super().__init__(plan)
        self.key = key

    def post(self, url: str, body: bytes) -> Reply:
        reply = super().post(url, body)
        return reply if self.key is None else replace(reply, receipt=self._signed(self.key))

    def _signed(self, key: Ed25519PrivateKey) -> str:
        return sign_receipt(key, self.plan.hash, self.round)


@pytest.mark.parametrize("signer", ["nobody", "collector", "second mixer"])
def test_a_receipt_is_checked_with_the_collectors_key_in_the_plan(signer: str) -> None:
    """One by another is told as invalid, and what was accepted is not sent again."""
    keys = dict(zip(("collector", "second mixer"), CHAIN.identities, strict=False))
    collector = Receipts(CHAIN.plan, keys.get(signer))
    client = CHAIN.client(transport=collector)
    receipt = client.submit(collector.url, ANSWERS)
    expected = {"nobody": None, "collector": True, "second mixer": False}
    assert receipt.is_valid is expected[signer]
    assert (receipt.plan, receipt.round) == (CHAIN.plan.hash, 1)
    assert collector.people == 1
    with pytest.raises(AlreadySubmitted):
        client.submit(collector.url, ANSWERS)
