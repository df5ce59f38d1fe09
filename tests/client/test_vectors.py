"""The end-to-end vectors hold for the client, and for the documented procedure done by hand."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from client.by_hand import check_by_hand
from client.vectors import KnownBytes, make_vectors, vectors_text
from krand.client.client import Client
from krand.client.ledger import Submission
from krand.errors import InvalidInput
from krand.randomness import generator
from krand.survey.encoding import encode
from krand.survey.plan_file import parse_plan
from krand.survey.questions import KINDS
from krand.testing import UnsafeMemoryLedger
from krand.wire.layers import SUITE
from krand.wire.plan_signatures import PlanSignature
from krand.wire.submissions import submission_bytes
from schedules import during
from wire.test_independent_hpke import info_of, seal

FILE = Path(__file__).parent / "vectors.json"
VECTORS: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
CASES: dict[str, dict[str, Any]] = {case["name"]: case for case in VECTORS["cases"]}
each_case = pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])


def client_of(case: dict[str, Any]) -> Client:
    """A device with nothing but what the case gives."""
    signed = [{key: each[key] for key in each if key != "format"} for each in case["signatures"]]
    signatures = [PlanSignature(**each) for each in signed]
    plan = parse_plan(case["plan"].encode())
    ledger = UnsafeMemoryLedger()
    now = during(plan, case["round"])
    return Client(plan, ledger, expected_hash=case["hash"], signatures=signatures, now=now)


def prepared(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> Submission:
    """What the client makes of the case's bytes, all of which it draws."""
    random = KnownBytes(bytes.fromhex(case["randomness"]))
    monkeypatch.setattr(generator, "secure_random", lambda: random)
    made = client_of(case).prepare(case["answers"], case["round"], invitation=case["invitation"])
    assert random.given == len(random.known)
    return made


def usable_keys(case: dict[str, Any]) -> list[dict[str, Any]]:
    """Those of the case's round, the innermost layer's first."""
    return [key for key in case["keys"] if key["round"] in (None, case["round"])]


def opened(case: dict[str, Any], message: dict[str, Any], sealed: bytes) -> str:
    """The plaintext, layer after layer, with the keys and infos of the case."""
    usable = usable_keys(case)
    assert len(usable) == len(message["infos"])
    for key, info in zip(reversed(usable), reversed(message["infos"]), strict=True):
        private = X25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key"]))
        sealed = SUITE.decrypt(sealed, private, bytes.fromhex(info))
    return sealed.hex()


@each_case
def test_the_client_makes_the_submission_of_a_case(
    case: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From answers and random bytes to messages that open as stated, id and length."""
    made = prepared(case, monkeypatch)
    assert made.id.hex() == case["id"]
    assert len(submission_bytes(case["round"], made.id, made.messages)) == case["submission_length"]
    for message, sealed in zip(case["messages"], made.messages, strict=True):
        assert opened(case, message, sealed) == message["plaintext"]


@each_case
def test_a_plan_has_its_hash_and_answers_have_their_positions(case: dict[str, Any]) -> None:
    """The file's text is the plan's bytes."""
    content = case["plan"].encode()
    assert hashlib.sha256(content).hexdigest() == case["hash"]
    assert list(encode(parse_plan(content).layout, case["answers"])) == case["true_positions"]


@each_case
def test_the_procedure_by_hand_gives_the_same_messages(case: dict[str, Any]) -> None:
    """Word by word, as formats.md says it: flips, then lanes, then the id."""
    check_by_hand(case)


@each_case
def test_a_layer_is_bound_to_hop_plan_round_and_lane(case: dict[str, Any]) -> None:
    """The analyst's layer is the innermost, then that of the last mixer; the collector has none."""
    mixers = json.loads(case["plan"])["survey"]["trust"]["mixers"]
    hops = [0, *range(mixers, 1, -1)]
    for message in case["messages"]:
        where = (case["hash"], case["round"], message["lane"])
        infos = [info_of(hop, *where) for hop in hops]
        assert message["infos"] == [info.hex() for info in infos]


@pytest.mark.parametrize(
    "refused", VECTORS["refused"], ids=lambda each: f"{each['case']}: {each['answers']}"[:60]
)
def test_refused_answers_name_their_question(refused: dict[str, Any]) -> None:
    """And nothing is kept."""
    client = client_of(CASES[refused["case"]])
    with pytest.raises(InvalidInput) as caught:
        client.prepare(refused["answers"])
    assert caught.value.field == refused["question"]
    assert client.ledger.entries() == ()


def test_answers_in_another_language_have_the_same_positions() -> None:
    """A choice may be called there as another one is in the survey's own language."""
    for each in VECTORS["worded"]:
        case = CASES[each["case"]]
        plan = parse_plan(case["plan"].encode()).in_language(each["language"])
        assert each["answers"] != case["answers"]
        assert list(encode(plan.layout, each["answers"])) == case["true_positions"]
        assert plan.hash == case["hash"]


def test_seals_with_known_keys_are_those_of_a_second_hpke() -> None:
    """Each opens with the library, and the next layer is around it."""
    for each in VECTORS["sealed"]:
        case = CASES[each["case"]]
        recipient, ephemeral, info, plaintext = (
            bytes.fromhex(each[key])
            for key in ("recipient_public_key", "ephemeral_private_key", "info", "plaintext")
        )
        sealed = seal(
            plaintext,
            X25519PublicKey.from_public_bytes(recipient),
            info,
            X25519PrivateKey.from_private_bytes(ephemeral),
        )
        assert sealed.hex() == each["sealed"]
        if each["hop"] == 0:
            assert each["plaintext"] == case["messages"][each["message"]]["plaintext"]
        (key,) = (key for key in usable_keys(case) if key["hop"] == each["hop"])
        private = X25519PrivateKey.from_private_bytes(bytes.fromhex(key["private_key"]))
        assert SUITE.decrypt(sealed, private, info) == plaintext
    for inner, outer in pairwise(VECTORS["sealed"]):
        assert outer["hop"] == 0 or outer["plaintext"] == inner["sealed"]
    ephemerals = [each["ephemeral_private_key"] for each in VECTORS["sealed"]]
    assert len(set(ephemerals)) == len(ephemerals) == 5


def check_covers(cases: list[dict[str, Any]]) -> None:
    """Every kind of question, groups, noises, mixers, linkages, with and without invitations."""
    plans = [json.loads(case["plan"]) for case in cases]
    surveys = [plan["survey"] for plan in plans]
    assert {q["type"] for survey in surveys for q in survey["question"]} == set(KINDS)
    assert {block["kind"] for plan in plans for block in plan["blocks"]} == {*KINDS, "together"}
    trusts = [survey["trust"] for survey in surveys]
    assert {trust["noise"] for trust in trusts} == {"devices", "mixers"}
    assert {trust["mixers"] for trust in trusts} == {1, 2, 3}
    assert {survey["linkage"] for survey in surveys} == {"bit", "record"}
    assert {case["invitation"] is None for case in cases} == {True, False}


def test_everything_that_a_client_does_is_covered() -> None:
    """Kinds, groups, noises, linkages, mixers, rounds, invitations, dropped tokens, two flips."""
    check_covers(VECTORS["cases"])
    assert {case["round"] for case in VECTORS["cases"]} == {1, 2, 3, 258}
    told = [(set(c["true_positions"]), set(c["reported_positions"] or ())) for c in CASES.values()]
    assert any(truth - reported for truth, reported in told)
    assert any(reported - truth for truth, reported in told)
    lost = [
        len(reported) - sum(m["plaintext"][2:4] == "01" for m in case["messages"])
        for case, (_, reported) in zip(CASES.values(), told, strict=True)
    ]
    assert sum(count > 0 for count in lost) >= 1
    assert any("ffffffff" in case["randomness"] for case in VECTORS["cases"])


@pytest.mark.check
def test_the_generator_makes_this_file() -> None:
    """Byte for byte, also as `make vectors` runs it."""
    assert make_vectors() == VECTORS
    assert vectors_text() == FILE.read_text(encoding="utf-8")
    command = [sys.executable, "-m", "client.vectors"]
    run = subprocess.run(command, cwd=FILE.parents[1], capture_output=True, text=True, check=True)
    assert run.stdout == vectors_text()
