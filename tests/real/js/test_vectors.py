"""The vectors of the reference hold for the JavaScript client, in node and in chromium."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vectors import CASES, VECTORS, opened

Ask = Callable[[list[dict[str, Any]]], list[Any]]
STATED = ("true_positions", "reported_positions", "messages", "id", "submission_length")
HEAD_BYTES = 19


def named(case: str) -> dict[str, Any]:
    return {key: CASES[case][key] for key in ("plan", "hash", "round")}


def test_cases_give_what_they_state(ask: Ask) -> None:
    """Positions, reported positions, plaintexts, infos, id, length; and all bytes are drawn."""
    told = ask([{"ask": "found", **case} for case in CASES.values()])
    for case, found in zip(CASES.values(), told, strict=True):
        assert found == {name: case[name] for name in STATED} | {"left": 0}, case["name"]


def test_the_client_prepares_the_submission_of_a_case(ask: Ask) -> None:
    """While the platform's generator gives the bytes of the case; signatures are checked."""
    bodies = ask([{"ask": "prepared", **case} for case in CASES.values()])
    for case, body in zip(CASES.values(), map(bytes.fromhex, bodies), strict=True):
        assert len(body) == case["submission_length"]
        assert body[:HEAD_BYTES].hex() == f"01{case['round']:04x}{case['id']}"
        length = (len(body) - HEAD_BYTES) // len(case["messages"])
        for place, message in enumerate(case["messages"]):
            sealed = body[HEAD_BYTES + place * length :][:length]
            assert opened(case, place, sealed) == message["plaintext"]


def test_answers_are_understood_or_refused_as_stated(ask: Ask) -> None:
    """In another language, too; a refusal names the question."""
    questions = [{**CASES[each["case"]], **each, "ask": "worded"} for each in VECTORS["worded"]]
    for each, found in zip(VECTORS["worded"], ask(questions), strict=True):
        assert found["positions"] == CASES[each["case"]]["true_positions"]
        assert found["own"] == CASES[each["case"]]["answers"]
    wrong = VECTORS["refused"]
    given = [{**named(each["case"]), "answers": each["answers"]} for each in wrong]
    told = ask([{"ask": "refusal", **question} for question in given])
    expected = [{"code": "invalid-answer", "field": each["question"]} for each in wrong]
    assert told == expected


def test_wrong_plans_signatures_and_codes_are_refused(ask: Ask) -> None:
    """Each as stated, and the right ones are taken."""
    plans = [
        CASES[each["case"]]["plan"].replace(each["old"], each["new"])
        for each in VECTORS["wrong_plans"]
    ]
    told = ask([{"ask": "wrongPlan", "plan": plan} for plan in plans])
    names = [each["name"] for each in VECTORS["wrong_plans"]]
    assert {n: code for n, code in zip(names, told, strict=True) if code != "wrong-plan"} == {}
    right = [case["plan"] for case in CASES.values()]
    assert set(ask([{"ask": "wrongPlan", "plan": plan} for plan in right])) == {None}
    given = VECTORS["signatures"]
    told = ask([{"ask": "wrongSignatures", **named(each["case"]), **each} for each in given])
    expected = {each["name"]: None if each["valid"] else "wrong-signature" for each in given}
    assert dict(zip(expected, told, strict=True)) == expected
    invitations = VECTORS["invitations"]
    where = {"hash": VECTORS["plan_hash"], "rounds": [1, 258]}
    told = ask([{"ask": "ids", "code": each["code"], **where} for each in invitations])
    assert told == [each["ids"] for each in invitations]


def test_the_given_ephemeral_keys_make_the_given_seals(ask: Ask) -> None:
    """All layers of a message at once, byte for byte."""
    names = list(dict.fromkeys(layer["case"] for layer in VECTORS["sealed"]))
    layers = [[each for each in VECTORS["sealed"] if each["case"] == name] for name in names]
    questions = [
        {
            "ask": "sealedWith",
            **named(name),
            "lane": CASES[name]["messages"][0]["lane"],
            "plaintext": CASES[name]["messages"][0]["plaintext"],
            "ephemerals": [layer["ephemeral_private_key"] for layer in own],
        }
        for name, own in zip(names, layers, strict=True)
    ]
    assert ask(questions) == [{"sealed": own[-1]["sealed"], "left": 0} for own in layers]
