"""Surveys with mixers, from keys to the report: any number of people, and any number of mixers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from collecting import running
from command_line import run, told
from components import require
from survey_texts import question_text, survey_text

require("uvicorn")
require("starlette")

SURVEY = survey_text(
    "team",
    question_text("fair", "yes_no"),
    question_text("lunch", "choice", choices=["soup", "salad", "none"]),
    epsilon=4,
    delta=0.0001,
    trust={"noise": "mixers", "mixers": 9},
)
ANSWERS = [{"fair": True, "lunch": "soup"}] * 7 + [{"fair": False, "lunch": "salad"}] * 5


def signed_plan(at: Path, mixers: int) -> list[str]:
    """Keys, plan and signatures; the options that name the signatures."""
    (at / "survey.toml").write_text(
        SURVEY.replace("mixers = 9", f"mixers = {mixers}"), encoding="utf-8"
    )
    told("keygen -o key.pem", at=at)
    for hop in range(1, mixers + 1):
        rounds = 0 if hop == 1 else 1
        about = f"--store ./m{hop} --no-anchor --name m{hop} --rounds {rounds}"
        told(f"mix keygen {about} -o m{hop}.json", at=at)
    named = " ".join(f"--mixer m{hop}.json" for hop in range(1, mixers + 1))
    told(f"plan survey.toml --analyst-key key.pub.pem {named} -o plan.json", at=at)
    for hop in range(1, mixers + 1):
        told(f"mix sign plan.json --store ./m{hop} -o m{hop}.sig.json", at=at)
    return [f"--signature m{hop}.sig.json" for hop in range(1, mixers + 1)]


def submitted(at: Path, url: str, signatures: list[str], people: int) -> None:
    """So many people, each on a device of their own."""
    for number in range(people):
        (at / "answers.json").write_text(json.dumps(ANSWERS[number]), encoding="utf-8")
        given = f"--collector {url} --ledger ./ledger-{number} {' '.join(signatures)}"
        told(f"submit answers.json --plan plan.json --trust-this-plan {given}", at=at)


@pytest.mark.parametrize(("mixers", "people"), [(1, 1), (3, 12)])
def test_from_a_survey_file_to_a_verified_report(tmp_path: Path, mixers: int, people: int) -> None:
    """Twelve people, or one: the promise needs no crowd, and every check passes."""
    signatures = signed_plan(tmp_path, mixers)
    with running(tmp_path / "plan.json", tmp_path / "s", tmp_path / "log") as served:
        submitted(tmp_path, served.url, signatures, people)
        released = told(
            "release --plan plan.json --spool ./s --mixer-store ./m1 --close --yes -o ./mixed-1",
            at=tmp_path,
        )
    (batch,) = (entry["batch"] for entry in released["released"])
    for hop in range(2, mixers + 1):
        told(f"verify {Path(batch).with_suffix('.chain.json')} --plan plan.json", at=tmp_path)
        own = f"--store ./m{hop} --workers 1 -o ./mixed-{hop}"
        batch = told(f"mix run {batch} --plan plan.json {own}", at=tmp_path)["batch"]
    counted = told(
        f"tally {batch} --plan plan.json --key key.pem --workers 1 -o tally.json", at=tmp_path
    )
    assert (counted["people"], counted["rejected"]) == (people, {})
    told("estimate tally.json --plan plan.json -o results.json", at=tmp_path)
    told("report results.json -o report.html", at=tmp_path)
    chain = Path(batch).with_suffix(".chain.json")
    checked = told(f"verify plan.json tally.json results.json {chain}", at=tmp_path)
    missing = [e["name"] for f in checked["files"] for e in f["checks"] if e["state"] != "passed"]
    assert set(missing) == {"counted_again"}, checked
    _check_estimates(json.loads((tmp_path / "results.json").read_text()), people)


def _check_estimates(results: dict[str, Any], people: int) -> None:
    """Ten standard errors hold the truth: geometric noise has longer tails than the normal law."""
    fair = sum(bool(answers["fair"]) for answers in ANSWERS[:people])
    (row,) = next(entry for entry in results["questions"] if entry["name"] == "fair")["rows"]
    assert abs(row["count"] - fair) <= 10 * row["standard_error"]


def test_a_missing_signature_is_named(tmp_path: Path) -> None:
    """With the mixer it is of; nothing is stored on the device."""
    signatures = signed_plan(tmp_path, 2)
    (tmp_path / "answers.json").write_text(json.dumps(ANSWERS[0]), encoding="utf-8")
    line = "submit answers.json --plan plan.json --ledger ./ledger --collector http://127.0.0.1:1"
    for given, missing in (([], "mixer 1 (m1)"), (signatures[:1], "mixer 2 (m2)")):
        result = run(" ".join([line, *given]), "--json", at=tmp_path)
        assert result.exit_code == 2
        error = json.loads(result.stderr or result.stdout)
        assert missing in json.dumps(error)
