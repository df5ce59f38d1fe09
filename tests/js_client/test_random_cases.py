"""Random cases: they are what they say, and Python and JavaScript agree on them.

Every disagreement is a mistake in one of them; docs/reference/formats.md decides which.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from client.by_hand import check_by_hand
from client.test_vectors import check_covers, usable_keys
from effort import LONG
from js_client.cases import askable, random_cases
from js_client.javascript import asked
from js_client.test_vectors import STATED
from krand.errors import InvalidInput
from krand.survey.document import document_of
from krand.survey.encoding import encode
from krand.survey.plan import Plan
from krand.survey.plan_file import parse_plan
from krand.wire.layers import LayerSealer
from krand.wire.messages import MessageFormat, layers_at
from krand.wire.submissions import format_of
from seals import open_layer
from survey.drawing import reworded
from wire.test_independent_hpke import open_sealed

in_javascript = pytest.mark.usefixtures("internals")
COUNT, SEED = (3_500, 2026) if LONG else (300, 18)
CONDITIONAL = 2_000 if LONG else 150
"""So many of them, at least, have questions with a condition."""
FEW = 150
EVERY = 20 if LONG else 15
"""One case in so many is also sealed and opened."""


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """As JavaScript reads them: through JSON."""
    return [json.loads(json.dumps(case)) for case in random_cases(COUNT, SEED)]


def test_many_surveys_have_conditions(cases: list[dict[str, Any]]) -> None:
    """And often an answer that is dropped, because its question was not asked."""
    conditional = [case for case in cases if "asked_if" in case["plan"]]
    assert len(conditional) >= CONDITIONAL
    surveys = [(parse_plan(case["plan"].encode()).survey, case["answers"]) for case in conditional]
    dropped = [set(answers) - askable(survey, answers) for survey, answers in surveys]
    assert sum(map(bool, dropped)) > CONDITIONAL // 3


@pytest.fixture(scope="module")
def few(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return cases[:FEW]


@pytest.fixture(scope="module")
def sample(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return cases[::EVERY]


def test_every_case_is_what_its_bytes_give(few: list[dict[str, Any]]) -> None:
    """Plans are valid, answers have their positions, and messages follow from the bytes."""
    for case in few:
        plan = parse_plan(case["plan"].encode())
        assert plan.hash == case["hash"]
        assert list(encode(plan.layout, case["answers"])) == case["true_positions"]
        check_by_hand(case)


def test_answers_that_are_to_be_refused_are(few: list[dict[str, Any]]) -> None:
    """By the question that is named; many kinds of them."""
    refused = [(case, each) for case in few for each in case["refused"]]
    assert len(refused) > FEW // 2
    for case, each in refused:
        with pytest.raises(InvalidInput) as caught:
            encode(parse_plan(case["plan"].encode()).layout, each["answers"])
        assert caught.value.field == each["question"], each["answers"]


def test_the_cases_cover_what_a_client_does(few: list[dict[str, Any]]) -> None:
    """Kinds, groups, sources of noise, linkages, mixers, invitations, later rounds."""
    check_covers(few)
    assert max(case["round"] for case in few) > 255


@pytest.mark.check
def test_the_seed_decides_everything(few: list[dict[str, Any]]) -> None:
    """`python -m js_client.cases COUNT SEED`, in tests, writes the same again, one case a line."""
    command = [sys.executable, "-m", "js_client.cases", "5", str(SEED)]
    tests = Path(__file__).parents[1]
    run = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in run.stdout.splitlines()] == few[:5]
    assert next(random_cases(1, SEED + 1))["plan"] != few[0]["plan"]


@pytest.mark.check
@in_javascript
@pytest.mark.loop
def test_positions_plaintexts_and_infos_agree(cases: list[dict[str, Any]]) -> None:
    told = asked([{"ask": "found", **case} for case in cases])
    for case, found in zip(cases, told, strict=True):
        assert found == {name: case[name] for name in STATED} | {"left": 0}, case["name"]


@in_javascript
@pytest.mark.loop
def test_surveys_in_other_languages_agree(cases: list[dict[str, Any]]) -> None:
    """The same questions, in the same words, and the same positions for the same answers."""
    questions = []
    for case in cases:
        survey = parse_plan(case["plan"].encode()).survey
        for language in survey.languages[1:]:
            said = reworded(survey, language, case["answers"])
            given = {"ask": "worded", "language": language, "answers": said}
            questions.append((case, survey.in_language(language), {**case, **given}))
    assert len(questions) > COUNT // 2
    told = asked([question for *_, question in questions])
    for (case, survey, _), found in zip(questions, told, strict=True):
        assert found["positions"] == case["true_positions"]
        assert found["title"] == (survey.about.title or None)
        questions_there = document_of(survey)["question"]
        for each in (*found["questions"], *questions_there):
            each.pop("asked_if", None)  # of a scale it names the number, with or without its label
        assert found["questions"] == questions_there


@in_javascript
@pytest.mark.loop
def test_refused_answers_name_the_same_question(cases: list[dict[str, Any]]) -> None:
    wrong = [(case, each) for case in cases for each in case["refused"]]
    assert len(wrong) > COUNT // 2
    told = asked([{"ask": "refusal", **case, "answers": each["answers"]} for case, each in wrong])
    for (case, each), found in zip(wrong, told, strict=True):
        expected = {"code": "invalid-answer", "field": each["question"]}
        assert found == expected, (case["name"], each["answers"])


def keys_of(case: dict[str, Any]) -> list[str]:
    """What opens the layers in the round of a case, the innermost first."""
    return [key["private_key"] for key in usable_keys(case)]


@in_javascript
@pytest.mark.loop
def test_python_and_the_second_hpke_open_what_javascript_sealed(
    sample: list[dict[str, Any]],
) -> None:
    """From the same random bytes the client makes the same messages, and seals them."""
    for case, body in zip(sample, asked([{"ask": "prepared", **c} for c in sample]), strict=True):
        plan = parse_plan(case["plan"].encode())
        form = format_of(plan, case["round"])
        submitted = form.read(bytes.fromhex(body))
        assert submitted.id.hex() == case["id"]
        length = form.message_length
        for place, message in enumerate(case["messages"]):
            sealed = submitted.messages[place * length : (place + 1) * length]
            expected = message["plaintext"]
            assert opened_by_krand(case, plan, message["lane"], sealed).hex() == expected
            assert opened_by_rfc(case, message["infos"], sealed).hex() == expected


def opened_by_krand(case: dict[str, Any], plan: Plan, lane: int, sealed: bytes) -> bytes:
    keys = dict(zip(reversed(layers_at(plan, 1)), keys_of(case), strict=True))
    for hop in layers_at(plan, 1):
        key = X25519PrivateKey.from_private_bytes(bytes.fromhex(keys[hop]))
        sealed = open_layer(key, plan, case["round"], hop, lane, sealed)
    return sealed


def opened_by_rfc(case: dict[str, Any], infos: list[str], sealed: bytes) -> bytes:
    for secret, info in zip(reversed(keys_of(case)), reversed(infos), strict=True):
        key = X25519PrivateKey.from_private_bytes(bytes.fromhex(secret))
        sealed = open_sealed(sealed, key, bytes.fromhex(info))
    return sealed


@pytest.mark.check
@in_javascript
@pytest.mark.loop
@pytest.mark.parametrize("package", ["own", "other"])
def test_javascript_opens_what_python_sealed(sample: list[dict[str, Any]], package: str) -> None:
    """With the package that the client uses, and with another one."""
    questions = [
        {"ask": "open", "package": package, **each} for case in sample for each in sealed_in(case)
    ]
    told = asked(questions)
    assert told == [message["plaintext"] for case in sample for message in case["messages"][:3]]


def sealed_in(case: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The first messages of a case, sealed by Python."""
    plan = parse_plan(case["plan"].encode())
    sealer = LayerSealer(plan, case["round"])
    for message in case["messages"][:3]:
        lane = plan.lanes[message["lane"]]
        payload = MessageFormat(lane).decode(bytes.fromhex(message["plaintext"]))
        sealed = sealer.seal(lane, payload)
        yield {"keys": keys_of(case), "infos": message["infos"], "sealed": sealed.hex()}
