"""Random cases are what they say, so that another client can be held to them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from client.by_hand import check_by_hand
from js_client.cases import random_cases
from krand.errors import InvalidInput
from krand.survey.encoding import encode
from krand.survey.plan_file import parse_plan
from krand.survey.questions import KINDS

COUNT, SEED = 150, 17


@pytest.fixture(scope="module")
def cases() -> list[dict[str, Any]]:
    """As another client reads them: through JSON."""
    return [json.loads(json.dumps(case)) for case in random_cases(COUNT, SEED)]


def test_every_case_is_what_its_bytes_give(cases: list[dict[str, Any]]) -> None:
    """Plans are valid, answers have their positions, and messages follow from the bytes."""
    for case in cases:
        plan = parse_plan(case["plan"].encode())
        assert plan.hash == case["hash"]
        assert list(encode(plan.layout, case["answers"])) == case["true_positions"]
        check_by_hand(case)


def test_refused_answers_are_refused(cases: list[dict[str, Any]]) -> None:
    """By the question that is named; many kinds of them."""
    refused = [(case, each) for case in cases for each in case["refused"]]
    assert len(refused) > COUNT // 2
    for case, each in refused:
        with pytest.raises(InvalidInput) as caught:
            encode(parse_plan(case["plan"].encode()).layout, each["answers"])
        assert caught.value.field == each["question"], each["answers"]


def test_the_cases_cover_what_a_client_does(cases: list[dict[str, Any]]) -> None:
    """Kinds, groups, sources of noise, linkages, mixers, invitations, later rounds."""
    plans = [json.loads(case["plan"]) for case in cases]
    assert {block["kind"] for plan in plans for block in plan["blocks"]} == {*KINDS, "together"}
    trusts = [plan["survey"].get("trust", {"noise": "devices", "mixers": 1}) for plan in plans]
    assert {trust["noise"] for trust in trusts} == {"devices", "mixers", "both"}
    assert {trust["mixers"] for trust in trusts} == {1, 2, 3}
    assert {plan["survey"]["linkage"] for plan in plans} == {"bit", "record"}
    assert {case["invitation"] is None for case in cases} == {True, False}
    assert max(case["round"] for case in cases) > 255


def test_the_seed_decides_everything(cases: list[dict[str, Any]]) -> None:
    """`python -m js_client.cases COUNT SEED`, in tests, writes the same again, one case a line."""
    command = [sys.executable, "-m", "js_client.cases", "5", str(SEED)]
    tests = Path(__file__).parents[1]
    run = subprocess.run(command, cwd=tests, capture_output=True, text=True, check=True)
    assert [json.loads(line) for line in run.stdout.splitlines()] == cases[:5]
    assert next(random_cases(1, SEED + 1))["plan"] != cases[0]["plan"]
