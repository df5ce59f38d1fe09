"""The vectors of the reference hold for the client: from answers and random bytes to messages."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

import krand
from reference.vectors import identity, signature_by
from vectors import (
    CASES,
    VECTORS,
    client_of,
    only_known,
    opened,
    plan_of,
    plan_of_text,
    signatures_in,
)

HEAD_BYTES = 19


def check_prepared(case: dict[str, Any], client: krand.Client, answers: Any) -> None:
    """The client draws all bytes of the case and no more, and makes its messages of them."""
    with only_known(case["randomness"]):
        made = client.prepare(answers, case["round"], invitation=case["invitation"])
    found = [opened(case, place, sealed) for place, sealed in enumerate(made.messages)]
    assert found == [message["plaintext"] for message in case["messages"]]
    length = HEAD_BYTES + sum(map(len, made.messages))
    assert (made.id.hex(), length) == (case["id"], case["submission_length"])


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_the_client_makes_the_submission_of_a_case(case: dict[str, Any]) -> None:
    assert plan_of(case).hash == case["hash"]
    check_prepared(case, client_of(case), case["answers"])


def test_answers_in_another_language_give_the_same_messages() -> None:
    """A choice may be called there as another one is in the survey's own language."""
    for each in VECTORS["worded"]:
        case = CASES[each["case"]]
        plan = plan_of(case).in_language(each["language"])
        assert each["answers"] != case["answers"]
        check_prepared(case, client_of(case, plan=plan), each["answers"])


def test_refused_answers_name_their_question() -> None:
    """And nothing is kept."""
    for each in VECTORS["refused"]:
        client = client_of(CASES[each["case"]])
        with pytest.raises(krand.InvalidInput) as caught:
            client.prepare(each["answers"])
        assert caught.value.field == each["question"], each
        assert client.ledger.entries() == ()


@pytest.mark.parametrize("wrong", VECTORS["wrong_plans"], ids=lambda each: each["name"])
def test_a_wrong_plan_is_not_taken(wrong: dict[str, Any]) -> None:
    """Not when it is read, or not by a device: whatever its hash, and though all signed it."""
    case = CASES[wrong["case"]]
    text = case["plan"].replace(wrong["old"], wrong["new"])
    name = hashlib.sha256(text.encode()).digest()
    signed = [signature_by(identity(hop), name, name) for hop in (1, 2, 3)]
    with pytest.raises(krand.InvalidInput) as caught:
        client_of(case, plan=plan_of_text(text), signatures=signatures_in(signed))
    assert not caught.value.field.startswith("signature"), str(caught.value)


@pytest.mark.parametrize("given", VECTORS["signatures"], ids=lambda each: each["name"])
def test_a_device_takes_a_plan_with_all_signatures(given: dict[str, Any]) -> None:
    case, signatures = CASES[given["case"]], signatures_in(given["signatures"])
    if given["valid"]:
        assert client_of(case, signatures=signatures).plan.hash == case["hash"]
    else:
        with pytest.raises(krand.InvalidInput, match=r"signature of mixer [123] \(mixer [123]\)"):
            client_of(case, signatures=signatures)


def test_everything_that_a_client_does_has_a_case() -> None:
    """Kinds, groups, noises, linkages, mixers, rounds, invitations, and tokens that are dropped."""
    cases = VECTORS["cases"]
    plans = [json.loads(case["plan"]) for case in cases]
    kinds = {"yes_no", "choice", "pick_any", "number", "scale", "words", "together"}
    surveys = [plan["survey"] for plan in plans]
    asked = {question["type"] for survey in surveys for question in survey["question"]}
    assert asked | {key for survey in surveys for key in ("together",) if survey[key]} == kinds
    assert {plan["survey"]["linkage"] for plan in plans} == {"bit", "record"}
    trusts = [plan["survey"]["trust"] for plan in plans]
    found = {(trust["noise"], trust["mixers"]) for trust in trusts}
    assert found == {("devices", 1), ("mixers", 1), ("mixers", 2), ("mixers", 3)}
    assert {(case["round"], bool(case["invitation"])) for case in cases} >= {
        (258, False),
        (2, True),
    }
    sent = [sum(m["plaintext"][2:4] == "01" for m in case["messages"]) for case in cases]
    reported = [len(case["reported_positions"] or ()) for case in cases]
    assert any(more > fewer for more, fewer in zip(reported, sent, strict=True))


def test_a_plan_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    """A single changed byte is another plan, which is refused when it is read."""
    content = CASES["every kind"]["plan"].encode()
    other_number = content.replace(b'"epsilon":1,', b'"epsilon":1.0,')
    for changed in (content + b"\n", b" " + content, other_number):
        (tmp_path / "plan.json").write_bytes(changed)
        with pytest.raises(krand.InvalidInput, match="plan: must be unchanged since it was made"):
            krand.read_plan(tmp_path / "plan.json")
