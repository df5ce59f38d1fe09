"""Python and JavaScript make the same of any survey, answers and random bytes, and are counted.

Every disagreement is a mistake in one of them; docs/reference/formats.md decides which.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import krand
import steps
import world
from effort import EFFORT
from javascript import asked
from krand.testing import (
    MIXED_SURVEY,
    FakeChain,
    FakeCollector,
    unsafe_exact_plan,
)
from lanes import lanes_of
from origin import running_origin
from real.js.drawing import answers_of, survey_of, wrong_answers
from reference.hpke import open_sealed
from reference.message import code_text, hops_from, layer_info
from reference.vectors import identity, opening_key, public
from vectors import client_of, lane_like, only_known, plan_of

COUNT, SEED = 120 * EFFORT, 18 if EFFORT == 1 else None
FLIPS = [1, 2**32 // 1000, 2**32 // 20, 2**32 // 4, 2**31 - 1]
RANDOMNESS = 2**16
PEOPLE: tuple[dict[str, Any], ...] = (
    {"smokes": True, "pet": "dog"},
    {"smokes": False, "pet": "dog"},
    {"pet": "cat"},
    {},
)


def plan_for(chance: Random, text: str) -> krand.Plan:
    """The survey with noise of devices or mixers that nobody has proven, and with known keys."""
    own = krand.Mixer(name="mixer 1", identity=public(identity(1)))
    plan = unsafe_exact_plan(krand.parse_survey(text))
    plan = plan.with_parties(
        (own,), krand.Analyst(key=public(opening_key(0, 1)), identity=public(identity(0)))
    )
    is_record = plan.survey.linkage is krand.Linkage.RECORD
    if is_record or chance.random() < 0.5:
        common, blocks = chance.choice(FLIPS), plan.layout.blocks
        numerators = tuple(common if is_record else chance.choice(FLIPS) for _ in blocks)
        if is_record:
            return replace(plan, numerators=numerators)
        rooms = (min(block.most_ones + 2, block.positions + 2) for block in blocks)
        pairs = zip(plan.lanes, rooms, strict=True)
        lanes = tuple(replace(lane, messages=room) for lane, room in pairs)
        return replace(plan, numerators=numerators, lanes=lanes)
    noisy, mixers = world.plan("mixers"), chance.randint(1, 3)
    trust = krand.Trust(noise=noisy.survey.trust.noise, mixers=mixers)
    survey = plan.survey.changed(trust=trust)
    blocks = [
        {name: getattr(block, name) for name in ("name", "offset", "positions", "most_ones")}
        for block in plan.layout.blocks
    ]
    lanes = tuple(
        lane_like(number=number, law=0, padding=100 * (lane["messages"] > 1), **lane)
        for number, lane in enumerate(lanes_of(survey, blocks, None))
    )
    parties = tuple(
        krand.Mixer(
            name=f"mixer {hop}",
            identity=public(identity(hop)),
            url=f"https://mixer-{hop}.example",
            keys=(public(opening_key(hop, 1)),) if hop > 1 else (),
        )
        for hop in range(1, mixers + 1)
    )
    return replace(
        plan, survey=survey, lanes=lanes, numerators=(), laws=noisy.laws[:1], mixers=parties
    )


def drawn_cases() -> list[dict[str, Any]]:
    """Plans with answers, some of them wrong, and random bytes with words at the ends of range."""
    chance, found = Random(SEED), list[dict[str, Any]]()
    for number in range(COUNT):
        text, questions = survey_of(chance, f"drawn-{number}")
        plan = plan_for(chance, text)
        content = bytearray(chance.randbytes(RANDOMNESS))
        for _ in range(chance.choice((0, 0, 5, 50))):
            place = 8 * chance.randrange(50)  # no two in a row: clients refuse what repeats itself
            content[place : place + 4] = chance.choice((bytes(4), b"\xff" * 4, b"\xff\xff\xff\xfe"))
        answers = answers_of(chance, questions)
        code = code_text(chance.randbytes(16)) if plan.survey.invitations else None
        found.append(
            {
                "plan": plan.bytes.decode(),
                "hash": plan.hash,
                "round": 1,
                "invitation": code,
                "answers": answers,
                "randomness": bytes(content).hex(),
                "wrong": [wrong_answers(chance, questions, answers) for _ in range(2)],
            }
        )
    return json.loads(json.dumps(found))


def test_both_make_the_same_of_random_surveys() -> None:
    """Plaintexts and id from the same bytes; the same refusals, which name the same question."""
    cases = drawn_cases()
    told = asked([{"ask": "found", **case} for case in cases])
    mixed = 0
    for case, found in zip(cases, told, strict=True):
        plan = plan_of(case)
        own = [identity(hop) for hop in range(1, len(plan.mixers) + 1)]
        name = bytes.fromhex(plan.hash)
        signed = [{"plan": plan.hash, "mixer": public(key)} for key in own]
        for each, key in zip(signed, own, strict=True):
            each["signature"] = key.sign(b"krand plan\0" + name).hex()
        case["signatures"] = signed
        used = len(case["randomness"]) - 2 * found["left"]
        with only_known(case["randomness"][:used]):
            made = client_of(case).prepare(case["answers"], invitation=case["invitation"])
        hops = hops_from(plan.survey.trust.mixers, 1)
        mixed += bool(plan.laws)
        assert made.id.hex() == found["id"], case
        for message, sealed in zip(found["messages"], made.messages, strict=True):
            for hop in hops:
                info = layer_info(hop, name, 1, message["lane"])
                sealed = open_sealed(sealed, opening_key(hop, 1), info) or b""
            assert sealed.hex() == message["plaintext"], case["plan"]
    assert 0 < mixed < len(cases)
    wrong = [(case, answers) for case in cases for answers in case["wrong"]]
    told = asked([{"ask": "refusal", **case, "answers": answers} for case, answers in wrong])
    refused = 0
    for (case, answers), found in zip(wrong, told, strict=True):
        try:
            client_of(case).prepare(answers, invitation=case["invitation"])
            assert "positions" in found, (found, answers, case["plan"])
        except krand.InvalidInput as error:
            refused += 1
            expected = {"code": "invalid-answer", "field": error.field}
            assert found == expected, (answers, case["plan"])
    assert refused > len(wrong) // 3


def test_answers_from_node_are_counted() -> None:
    """Every message opens, and the tokens are the positions of all people's answers."""
    text = krand.testing.SMALL_SURVEY
    key = krand.generate_private_key()
    plan = steps.named(unsafe_exact_plan(krand.parse_survey(text)), key)
    collector = FakeCollector(plan, 1, steps.signed(plan))
    with running_origin({}, collector) as origin:
        where = {"ask": "submit", "url": origin.url, "hash": plan.hash}
        told = asked([{**where, "answers": answers} for answers in PEOPLE])
    assert [receipt["status"] for receipt in told] == ["accepted"] * len(PEOPLE)
    assert (collector.people, collector.refused) == (len(PEOPLE), [])
    counts: Counter[int] = Counter()
    for lane, sealed in collector.messages():
        plaintext = open_sealed(
            sealed, key, layer_info(0, bytes.fromhex(plan.hash), 1, lane.number)
        )
        assert plaintext is not None
        if plaintext[1]:
            counts[int.from_bytes(plaintext[2:], "big")] += 1
    assert counts == {0: 1, 1: 1, 2: 2}


def test_mixers_pass_on_what_node_and_python_sent(tmp_path: Path) -> None:
    """To the last message: no message is refused, and only dummies are added to the counts."""
    chain = FakeChain(krand.make_plan(krand.parse_survey(MIXED_SURVEY)))
    plan = chain.plan
    signatures = [
        {"format": "krand-plan-signature-1", "plan": each.plan, "mixer": each.mixer}
        | {"signature": each.signature}
        for each in chain.signatures
    ]
    given = {"plan": plan.bytes.decode(), "hash": plan.hash, "signatures": signatures}
    made = asked([{"ask": "prepare", "answers": each, "round": 1, **given} for each in PEOPLE])
    for body in made:
        sent = bytes.fromhex(body["body"])
        reply = chain.collector.post(f"{chain.url}/v1/plans/{plan.hash}/submissions", sent)
        assert reply.status == 202
    for answers in PEOPLE:
        chain.client().submit(answers)
    tally = krand.tally_batches(plan, [chain.release(tmp_path)], chain.key)
    assert (tally.people, tally.rejected) == (2 * len(PEOPLE), {})
    for place, count in enumerate((2, 2, 4, 0)):
        (lane,) = (lane for lane in plan.lanes if lane.holds(place))
        most = 2 * plan.law_of(lane).reach * len(chain.parties)
        assert count <= tally.counts[place] <= count + most
