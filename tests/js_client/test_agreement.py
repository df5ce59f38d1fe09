"""Python and JavaScript encode alike, and each opens what the other sealed."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from js_client.javascript import asked
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.schedule import Period, Schedule
from krand.wire.layers import plan_layer_info
from krand.wire.messages import ANALYST, MessageFormat, Null, Token, layers_at
from krand.wire.plan_signatures import FORMAT
from krand.wire.receipts import receipt_message, sign_receipt
from krand.wire.submissions import format_of
from mixed_plans import ANSWERS, QUESTIONS, Party, party_for, survey_for
from schedules import during
from seals import open_layer

pytestmark = pytest.mark.usefixtures("internals")
VECTORS = json.loads((Path(__file__).parents[1] / "wire" / "vectors.json").read_bytes())
ROUND = 2
OTHER_ANSWERS: tuple[dict[str, object], ...] = ({}, {"smokes": False, "pet": "cat"}, {"places": []})


@pytest.fixture(scope="module", params=[1, 3], ids=["one mixer", "three mixers"])
def chain(request: pytest.FixtureRequest) -> Party:
    """A plan with so many mixers."""
    return party_for(survey_for(request.param))


def named(plan: Plan) -> dict[str, Any]:
    return {"plan": plan.bytes.decode(), "hash": plan.hash}


def prepared_in_round(plan: Plan) -> dict[str, Any]:
    """What asks for a submission while the round is open."""
    now = 1000 * during(plan, ROUND)()
    return {"ask": "prepare", "answers": ANSWERS, "round": ROUND, "now": now, **named(plan)}


def signatures(chain: Party) -> list[dict[str, str]]:
    return [{"format": FORMAT, **asdict(signature)} for signature in chain.signatures]


@pytest.mark.check
def test_positions_agree(chain: Party) -> None:
    cases = [ANSWERS, *OTHER_ANSWERS]
    told = asked([{"ask": "encode", "answers": case, **named(chain.plan)} for case in cases])
    assert [each["positions"] for each in told] == [
        list(encode(chain.plan.layout, case)) for case in cases
    ]


def test_python_opens_what_javascript_sealed(chain: Party) -> None:
    plan = chain.plan
    question = prepared_in_round(plan)
    (made,) = asked([{**question, "signatures": signatures(chain)}])
    form = format_of(plan, ROUND)
    messages = form.read(bytes.fromhex(made["body"])).messages
    found, start = set(), 0
    for lane in plan.lanes:
        for _ in range(lane.messages):
            content = messages[start : start + form.message_length]
            start += form.message_length
            for hop in layers_at(plan, 1):
                content = open_layer(
                    chain.key_of(hop, ROUND), plan, ROUND, hop, lane.number, content
                )
            payload = MessageFormat(lane).decode(content)
            if isinstance(payload, Token):
                found.add(payload.position)
    assert sorted(found) == list(encode(plan.layout, ANSWERS))


def test_a_plan_of_one_quarter_is_for_its_rounds_alone() -> None:
    """Sealed for the key of the round that is open; rounds of other quarters are refused."""
    schedule = Schedule(every="month", starts=date(2027, 1, 1), promise=Period.QUARTER, first=4)
    party = party_for(replace(survey_for(3, rounds=1), rounds=6, schedule=schedule))
    plan, given = party.plan, {"signatures": signatures(party), **named(party.plan)}
    months = {number: datetime(2027, number, 2, tzinfo=UTC) for number in (3, 5, 7)}
    made = asked(
        [
            {
                "ask": "prepare",
                "answers": ANSWERS,
                "round": number,
                "now": 1000 * now.timestamp(),
                **given,
            }
            for number, now in months.items()
        ]
    )
    assert [each.get("code") for each in made] == ["invalid-round", None, "invalid-round"]
    form = format_of(plan, 5)
    content = form.read(bytes.fromhex(made[1]["body"])).messages[: form.message_length]
    for hop in layers_at(plan, 1):
        content = open_layer(party.key_of(hop, 5), plan, 5, hop, 0, content)
    assert isinstance(MessageFormat(plan.lanes[0]).decode(content), Token)


@pytest.mark.check
def test_another_package_opens_what_javascript_sealed(chain: Party) -> None:
    plan, lane = chain.plan, chain.plan.lanes[0]
    question = prepared_in_round(plan)
    (made,) = asked([{**question, "signatures": signatures(chain)}])
    form = format_of(plan, ROUND)
    sent = form.read(bytes.fromhex(made["body"])).messages[: form.message_length]
    hops = layers_at(plan, 1)[::-1]
    infos = [plan_layer_info(plan, hop, ROUND, lane.number) for hop in hops]
    opening = {
        "package": "other",
        "keys": [chain.key_of(hop, ROUND).private_bytes_raw().hex() for hop in hops],
        "infos": [info.hex() for info in infos],
        "sealed": sent.hex(),
    }
    plaintext = MessageFormat(lane).encode(Token(0)).hex()
    assert asked([{"ask": "open", **opening}]) == [plaintext]


@pytest.mark.check
def test_a_plan_without_all_signatures_is_refused(chain: Party) -> None:
    good = signatures(chain)
    forged = {**good[0], "signature": "00" * 64}
    question = prepared_in_round(chain.plan)
    lists = (good[1:], [forged, *good[1:]], [*good, forged])
    told = asked([{**question, "signatures": given} for given in lists])
    assert [each.get("code") for each in told] == ["wrong-signature"] * 3


@pytest.mark.check
def test_the_vectors_of_the_wire_agree() -> None:
    layers = [layer for case in VECTORS["accepted"] for layer in case["layers"]]
    assert layers
    questions = []
    for layer in layers:
        bound = bytes.fromhex(layer["info"])
        where = {"hash": bound[15:47].hex(), "round": int.from_bytes(bound[47:49])}
        questions.append(
            {"ask": "info", "hop": bound[14], "lane": int.from_bytes(bound[49:]), **where}
        )
    assert asked(questions) == [layer["info"] for layer in layers]
    assert ANALYST in {question["hop"] for question in questions}


def test_lanes_of_one_message_draw_nothing() -> None:
    """Where mixers add the noise, no bit is flipped; what is drawn is the id alone."""
    survey = replace(survey_for(1), questions=QUESTIONS[:2])
    plan = party_for(survey).plan
    assert {lane.messages for lane in plan.lanes} == {1}
    case = {"answers": {"smokes": True}, "round": 1, "invitation": None, "randomness": "ab" * 16}
    (told,) = asked([{"ask": "found", **case, **named(plan)}])
    payloads = zip(plan.lanes, (Token(0), Null()), strict=True)
    assert [message["plaintext"] for message in told["messages"]] == [
        MessageFormat(lane).encode(payload).hex() for lane, payload in payloads
    ]
    assert (told["id"], told["left"]) == ("ab" * 16, 0)


@pytest.mark.check
def test_a_receipt_of_the_collector_is_valid_for_its_plan_and_round(chain: Party) -> None:
    plan, key = chain.plan, chain.identities[0]
    public = key.public_key().public_bytes_raw().hex()
    good = sign_receipt(key, plan.hash, ROUND)
    other = Ed25519PrivateKey.generate().public_key().public_bytes_raw().hex()
    given = [
        (good, ROUND, public, True),
        (good, 1, public, False),
        (good, ROUND, other, False),
        (sign_receipt(key, "00" * 32, ROUND), ROUND, public, False),
        (key.sign(receipt_message(plan.hash, ROUND)[1:]).hex(), ROUND, public, False),
        (good[:-2], ROUND, public, False),
        (good, ROUND, "ff" * 32, False),
        ("", ROUND, public, False),
    ]
    told = asked(
        [
            {"ask": "receipt", "receipt": text, "round": number, "key": who, **named(plan)}
            for text, number, who, _ in given
        ]
    )
    assert told == [valid for *_, valid in given]
